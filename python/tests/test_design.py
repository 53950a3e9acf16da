from __future__ import annotations

from itertools import pairwise, permutations, product

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


def ring(distance: float) -> tuple[np.ndarray, np.ndarray]:
    """Tasks on a line of places, in a mixed order, and where they are."""
    rng = np.random.default_rng(5)
    places = distance * rng.permutation(8).astype(float)
    return rng.normal(size=(8, 3)), places


def test_a_cost_of_the_ordered_plan_pays_for_the_way() -> None:
    candidates, places = ring(3.0)

    def cost(plan: list[tuple[int, int]]) -> float:
        ways = [abs(places[a] - places[b]) for (a, _), (b, _) in pairwise(plan)]
        return sum(n for _, n in plan) + sum(ways)

    design = ts.optimal_design(candidates, budget=200, cost=cost)
    lines = [(task.row, task.n) for task in design.plan]
    assert design.spent == pytest.approx(cost(lines))
    assert 198 <= design.spent <= 200
    assert sum(task.cost for task in design.plan) == pytest.approx(design.spent)
    assert design.lower_bound is None
    visited = [places[task.row] for task in design.plan]
    assert visited in (sorted(visited), sorted(visited, reverse=True))
    assert design.counts.sum() == sum(n for _, n in lines)
    # The value is that of the counts; ways that cost leave less for samples.
    information = (candidates * design.counts[:, np.newaxis]).T @ candidates
    assert design.plan_objective == pytest.approx(200 * np.trace(np.linalg.inv(information)))
    free = ts.optimal_design(candidates, budget=200)
    assert design.plan_objective > free.plan_objective * (1 - 1e-9)


def test_a_cost_that_only_counts_samples_is_the_plain_design() -> None:
    candidates, _ = ring(1.0)
    plain = ts.optimal_design(candidates, target=[1.0, 0.5, 0.0], budget=300)
    by_function = ts.optimal_design(
        candidates, target=[1.0, 0.5, 0.0], budget=300, cost=lambda plan: sum(n for _, n in plan)
    )
    assert by_function.spent == 300
    assert by_function.plan_objective == pytest.approx(plain.plan_objective, rel=1e-3)


def test_dear_ways_leave_tasks_out_and_warm_ups_come_first() -> None:
    candidates, places = ring(40.0)

    def cost(plan: list[tuple[int, int]]) -> float:
        way = sum(abs(places[a] - places[b]) for (a, _), (b, _) in pairwise(plan))
        # The first task takes an hour to warm up; task 3 has it done already.
        return sum(n for _, n in plan) + way + (0.0 if plan[0][0] == 3 else 60.0)

    # The task that is warm comes first.
    near = ts.optimal_design(candidates, budget=600, cost=cost, required=[3])
    assert near.plan[0].row == 3
    assert len(near.plan) < 5
    assert near.spent <= 600
    # Where ways cost nothing, more is left for samples.
    places[:] = 0.0
    free = ts.optimal_design(candidates, budget=600, cost=cost, required=[3])
    assert free.plan_objective < near.plan_objective


def test_the_search_is_near_the_best_of_all_small_plans() -> None:
    rng = np.random.default_rng(8)
    candidates, places = rng.normal(size=(4, 2)), np.array([0.0, 5.0, 1.0, 3.0])

    def cost(plan: list[tuple[int, int]]) -> float:
        return sum(n for _, n in plan) + sum(abs(places[a] - places[b]) for (a, _), (b, _) in pairwise(plan))

    best = np.inf
    for counts in product(range(21), repeat=4):
        lines = [(row, n) for row, n in enumerate(counts) if n > 0]
        if len(lines) > 1 and sum(counts) <= 20 and min(cost(list(order)) for order in permutations(lines)) <= 20:
            information = (candidates * np.array(counts)[:, np.newaxis]).T @ candidates
            if np.linalg.matrix_rank(information) == 2:
                best = min(best, 20 * np.trace(np.linalg.inv(information)))
    found = ts.optimal_design(candidates, budget=20, cost=cost)
    assert best * (1 - 1e-9) <= found.plan_objective < 1.05 * best


def test_bad_costs_of_plans() -> None:
    candidates, _ = ring(1.0)
    with pytest.raises(ts.InputError, match="pays for no plan"):
        ts.optimal_design(candidates, budget=50, cost=lambda plan: 100.0)
    with pytest.raises(ts.InputError, match="is nan: it must be a finite number"):
        ts.optimal_design(candidates, budget=50, cost=lambda plan: float("nan"))
    with pytest.raises(ts.InputError, match="let the function say"):
        ts.optimal_design(candidates, budget=50, cost=lambda plan: 1.0, switch_cost=3)
    with pytest.raises(ts.InputError, match="hardly grows"):
        ts.optimal_design(candidates, budget=50, cost=lambda plan: float(len(plan)))
    with pytest.raises(ZeroDivisionError):
        ts.optimal_design(candidates, budget=50, cost=lambda plan: 1 / 0)
    few = ts.optimal_design(candidates, budget=50, cost=lambda plan: float(len(plan)), capacity=[4] * 8)
    assert few.counts.max() == 4
