from __future__ import annotations

import numpy as np
import pytest

import taskscout as ts


def value(candidates: np.ndarray, weights: np.ndarray, target: np.ndarray) -> float:
    """`tr(Σ(q)⁻¹ A)`, computed here."""
    information = (candidates * weights[:, np.newaxis]).T @ candidates
    return float(target @ np.linalg.solve(information, target))


def test_a_design_is_optimal_and_says_so() -> None:
    rng = np.random.default_rng(3)
    candidates = rng.normal(size=(200, 4))
    target = rng.normal(size=4)
    design = ts.optimal_design(candidates, target=target, budget=1000)
    assert design.weights.sum() == pytest.approx(1.0)
    assert design.counts.sum() == sum(task.n for task in design.plan) == 1000
    assert design.lower_bound is not None
    assert design.lower_bound <= design.objective
    assert design.gap is not None
    assert design.gap < 1e-3
    # Elfving: the value is the square of the smallest sum of |v| with candidates'v = target; no random design is below.
    ridge = 1e-12 * np.eye(4)
    for _ in range(50):
        weights = rng.dirichlet(np.ones(200))
        information = (candidates * weights[:, np.newaxis]).T @ candidates + ridge
        assert target @ np.linalg.solve(information, target) >= design.lower_bound
    assert design.objective < value(candidates, np.full(200, 1 / 200), target)
    assert "<table>" in design._repr_html_()
    assert list(design.to_pandas()["row"]) == [task.row for task in design.plan]


def test_costs_switches_limits_and_given_rows() -> None:
    winds = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    even = ts.optimal_design(winds, target=[1.0, 1.0], budget=100)
    assert even.counts.tolist() == [50, 50, 0]
    dear = ts.optimal_design(winds, target=[1.0, 1.0], budget=100, switch_cost=60)
    assert dear.counts.tolist() == [0, 0, 40]
    assert dear.spent == 100
    costly = ts.optimal_design(winds, target=[1.0, 1.0], budget=100, cost=[1.0, 4.0, 100.0])
    assert costly.counts[0] + 4 * costly.counts[1] <= 100
    known = ts.optimal_design(winds, target=[1.0, 1.0], budget=100, given=np.tile([1.0, 0.0], (100, 1)))
    assert known.counts.tolist() == [0, 100, 0]
    few = ts.optimal_design(winds, target=[1.0, 1.0], budget=100, capacity=[20, None, None])
    assert few.counts[0] <= 20
    assert ts.optimal_design(winds, budget=100, forbidden=[2], required=[1]).counts[2] == 0


def test_frames_have_names_and_a_column_of_costs() -> None:
    import pandas

    frame = pandas.DataFrame({"a": [1.0, 0.0, 0.5], "b": [0.0, 1.0, 0.5], "minutes": [1.0, 1.0, 9.0]})
    target = pandas.DataFrame({"b": [1.0], "a": [1.0]})
    design = ts.optimal_design(frame, target=target, cost="minutes", budget=100)
    assert design.counts.tolist() == [50, 50, 0]


def test_what_does_not_fit_is_refused() -> None:
    winds = np.eye(3)
    for settings, words in [
        ({"candidates": winds[0]}, r"shape \(3,\)"),
        ({"target": [1.0, 2.0]}, r"target has the shape \(1, 2\)"),
        ({"cost": [1.0]}, r"cost has the shape \(1,\): give 3"),
        ({"cost": "minutes"}, "candidates have no names"),
        ({"cost": [1.0, -1.0, 1.0]}, "of candidate 1 is -1"),
        ({"budget": 0}, "budget"),
        ({"criterion": "best"}, "unknown variant `best`"),
        ({"candidates": [[1.0, np.nan]]}, "row 0, column `1` of candidates is nan"),
        ({"candidates": winds[:2], "target": [0.0, 0.0, 1.0]}, "out of reach"),
        ({"weights": [1.0]}, r"weights has the shape \(1,\): give 0"),
    ]:
        with pytest.raises(ts.InputError, match=words):
            ts.optimal_design(**{"candidates": winds, "budget": 10, **settings})
