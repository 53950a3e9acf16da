from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from test_frames import misaligned

import taskscout as ts


def rows(n: int, d: int = 5, m: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return rng.normal(size=(n, d)), rng.normal(size=(n, m))


def test_they_are_those_of_numpy() -> None:
    x, y = rows(5000)
    statistics = ts.Statistics(5, 2)
    statistics.update(x, y)
    assert statistics.count == 5000
    np.testing.assert_allclose(statistics.gram, x.T @ x, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(statistics.moment, x.T @ y, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(statistics.squares, (y**2).sum(axis=0), rtol=1e-12)


def test_shards_add_up_as_a_tree() -> None:
    x, y = rows(8000)
    whole = ts.Statistics(5, 2)
    whole.update(x, y)

    def shard(part: int) -> ts.Statistics:
        one = ts.Statistics(5, 2)
        one.update(x[part::8], y[part::8])
        return one

    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(shard, range(8)))
    parts = [pickle.loads(pickle.dumps(part)) for part in parts]
    while len(parts) > 1:
        parts = [left + right for left, right in zip(parts[::2], parts[1::2], strict=True)]
    assert parts[0].count == whole.count
    scale = np.abs(whole.gram).max()
    assert np.abs(parts[0].gram - whole.gram).max() <= 1e-12 * scale
    assert np.abs(parts[0].moment - whole.moment).max() <= 1e-12 * scale


def test_rows_are_not_copied_and_any_array_is_taken() -> None:
    x, y = rows(100)
    first = ts.Statistics(5, 2)
    first.update(x, y)
    for other_x, other_y in [
        (x.tolist(), y.tolist()),
        (np.asfortranarray(x), y),
        (misaligned(x), misaligned(y)),
        (np.repeat(x, 2, axis=0)[::2], y),
    ]:
        other = ts.Statistics(5, 2)
        other.update(other_x, other_y)
        assert other == first
    x.setflags(write=False)
    first.update(x, y)
    assert first.count == 200


def test_bad_rows_change_nothing() -> None:
    x, y = rows(3000)
    statistics = ts.Statistics(5, 2)
    statistics.update(x, y)
    before = pickle.dumps(statistics)
    bad = x.copy()
    bad[2999, 3] = np.nan
    worse = y.copy()
    worse[7, 1] = -np.inf
    for wrong, words in [
        ((bad, y), "row 2999, input 3"),
        ((x, worse), "row 7, output 1"),
        ((x * 1e200, y), "rescale"),
        ((x[:, :4], y), r"X has the shape \(3000, 4\)"),
        ((x, y[:, 0]), r"y has the shape \(3000,\)"),
        ((x, y[:-1]), "X has 3000 rows and y has 2999"),
    ]:
        with pytest.raises(ts.TaskscoutError, match=words):
            statistics.update(*wrong)
    assert pickle.dumps(statistics) == before
    with pytest.raises(ts.InputError, match="statistics to merge"):
        statistics.merge(ts.Statistics(4, 2))


def test_ridge_finds_the_coefficients() -> None:
    x, _ = rows(2000)
    truth = np.array([1.0, -2.0, 0.0, 0.5, 3.0])
    statistics = ts.Statistics(5)
    statistics.update(x, x @ truth + 0.1 * np.random.default_rng(0).normal(size=2000))
    coefficients, noise = statistics.ridge()
    assert coefficients[:, 0] == pytest.approx(truth, abs=0.02)
    assert noise == pytest.approx([0.01], rel=0.2)


def test_a_full_merge_with_itself_does_not_wait_for_itself() -> None:
    x, y = rows(10)
    statistics = ts.Statistics(5, 2)
    statistics.update(x, y)
    statistics.merge(statistics)
    assert statistics.count == 20


def test_sums_begin_with_nothing_and_only_statistics_add_up() -> None:
    parts = []
    for part in range(3):
        one = ts.Statistics(2)
        one.update(np.random.default_rng(part).normal(size=(50, 2)), np.ones(50))
        parts.append(one)
    assert sum(parts) == parts[0] + parts[1] + parts[2]
    with pytest.raises(TypeError, match="unsupported operand"):
        parts[0] + 3  # type: ignore[operator]
