"""Sweeps over seeds and targets."""

from __future__ import annotations

import os
import signal
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import INPUTS, collect

import taskscout as ts

SETTINGS: dict[str, Any] = {
    "space": ts.Box(wind=(-5, 5), payload=(0, 2)),
    "inputs": INPUTS,
    "outputs": ["force"],
    "targets": {"calm": {"wind": 0.5, "payload": 1.0}, "storm": {"payload": 0.4, "wind": 4.0}},
    "budget": 40,
    "target_rows": 15,
    "test_rows": 100,
}


def dies_once(task: dict[str, float], n: int, seed: int) -> Any:
    mark = Path(os.environ["TASKSCOUT_TEST_MARK"])
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return collect(task, n, seed)


def tables(results: ts.Results) -> tuple[Any, ...]:
    return results.rows(), str(results), [figure.svg for figure in results.figures.values()]


def test_sixty_runs_are_the_same_on_one_and_two_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = {**SETTINGS, "seeds": 10, "strategies": ["passive", "aware"]}
    with ProcessPoolExecutor(1) as pool:
        alone = ts.sweep(collect, **many, executor=pool)
    # 2 targets × 10 seeds × 3 contenders.
    assert len(alone.last()) == 60
    with ProcessPoolExecutor(2) as pool:
        assert tables(ts.sweep(collect, **many, executor=pool)) == tables(alone)
    # A worker that is killed in the middle changes nothing.
    monkeypatch.setenv("TASKSCOUT_TEST_MARK", str(tmp_path / "mark"))

    def make() -> Executor:
        return ProcessPoolExecutor(2)

    assert tables(ts.sweep(dies_once, **many, executor=make, retries=1)) == tables(alone)
    assert (tmp_path / "mark").exists()


def test_what_a_sweep_shows(tmp_path: Path) -> None:
    results = ts.sweep(collect, **{**SETTINGS, "rounds": 2}, seeds=[3, 5])
    rows = results.rows()
    assert len(rows) == 2 * 2 * (1 + 2 + 2)
    assert list(results.figures) == ["loss calm", "loss storm"]
    assert {row["seed"] for row in rows} == {3, 5}
    ends = {row["budget"] for row in results.last() if row["strategy"] == "aware"}
    assert ends == {80}
    assert "target storm" in str(results)
    assert "seconds" not in str(results)
    results.report(tmp_path / "report.html")
    assert "<svg" in (tmp_path / "report.html").read_text()
    compared = results.compare()
    assert compared.pairs == 4
    assert compared.low < compared.ratio < compared.high
    swapped = results.compare("passive", "aware")
    assert swapped.ratio == pytest.approx(1 / compared.ratio)
    # The rows of the target alone are worse than with sources.
    assert results.compare("passive", "target-only").ratio < 1.2
    with pytest.raises(ts.InputError, match="there are no results of `agnostic`"):
        results.compare("agnostic")
    frame = results.to_pandas()
    assert frame.shape[0] == len(rows)
    assert "collect_s" not in frame.columns
    assert "<svg" in results._repr_html_()


def test_targets_of_seeds_and_truths_without_noise() -> None:
    def target(seed: int) -> dict[str, float]:
        return {"wind": float(seed), "payload": 1.0}

    def truth(task: dict[str, float], n: int, seed: int) -> Any:
        x = np.random.default_rng(seed).normal(size=(n, 3))
        return x, task["wind"] * x[:, 0] + task["payload"] * (x[:, 1] - x[:, 2])

    said = {**SETTINGS, "targets": target, "truth": truth, "budget": 100}
    with ThreadPoolExecutor(2) as pool:
        results = ts.sweep(collect, **said, seeds=range(1, 3), executor=pool)
    assert len(results.last()) == 6
    assert "target" not in results.rows()[0]
    # Only noise of the measured rows is left.
    assert all(row["returned_loss"] < 0.01 for row in results.last() if row["strategy"] == "aware")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"targets": {}}, "give parameters by name"),
        ({"targets": {"calm": {"wind": 1.0}}}, "the target 'calm' has the parameters `wind`"),
        ({"targets": {"wind": 1.0, "paylod": 1.0}}, "the target has the parameters"),
        ({"seeds": []}, "give how many"),
        ({"seeds": [1, 1]}, "different whole numbers"),
        ({"strategies": []}, "give a list of names"),
        ({"strategies": "aware"}, "give a list of names"),
        ({"strategies": ["awre"]}, "awre"),
        ({"strategies": ["aware", "aware"]}, "has a name twice"),
        ({"strategies": ["target-only"]}, "which is there anyway"),
        ({"budget": 0}, "budget is 0"),
        ({"rounds": 1.5}, "rounds is 1.5"),
        ({"truth": lambda task, n, seed: (1, 2, 3)}, "collect returned 3 values for the target"),
        ({"kk": 3}, "kk"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises((ts.InputError, TypeError), match=sentence.replace("`", ".")):
        ts.sweep(collect, **{**SETTINGS, "seeds": 1, **settings})


def test_an_exception_of_collect_says_in_which_run() -> None:
    def breaks(task: dict[str, float], n: int, seed: int) -> Any:
        raise OSError("no bus")

    with pytest.raises(OSError, match="no bus") as raised:
        ts.sweep(breaks, **SETTINGS, seeds=1)
    assert raised.value.__notes__ == ["in the run target-only on calm seed 0"]


class Calm(ts.Strategy):
    """Always the same task."""

    def plan(self, context: ts.PlanContext) -> Any:
        yield {"wind": 1.0, "payload": 1.0}, context.budget, "it is calm there"


def test_strategies_may_be_your_own() -> None:
    with ProcessPoolExecutor(2) as pool:
        results = ts.sweep(collect, **SETTINGS, seeds=1, strategies=["passive", Calm()], executor=pool)
    own = [row for row in results.rows() if row["strategy"] == "Calm"]
    assert [row["tasks"] for row in own] == [1, 1]
