"""Optimal designs over arrays of candidates: which tasks, how often, and how far from the best that can be."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _native
from ._figures import Bar, Figure, bars
from ._frames import Rows, column_names, contiguous, matrix, numbers
from ._ordered import Cost, Search, price
from ._records import html_table
from .errors import InputError

if TYPE_CHECKING:
    import pandas

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PlannedTask:
    """A task of a design."""

    row: int
    """Its row among the candidates."""
    n: int
    """Whole samples."""
    weight: float
    """Its share of the budget before rounding."""
    cost: float
    """What its samples cost, the switch included; of a function, what the plan costs more with it than up to it."""
    similarity: float | None
    """Cosine between its embedding and the nearest target's."""
    risk_share: float
    """Its part in the value of the design; the parts sum to one."""


@dataclass(frozen=True)
class Design:
    """A plan of whole samples, with a bound that no plan can be below.

    >>> import taskscout as ts
    >>> design = ts.optimal_design([[1.0, 0.0], [0.0, 1.0]], target=[1.0, 1.0], budget=10)
    >>> design.counts, round(design.objective, 6), design.gap < 1e-3
    (array([5, 5]), 4.0, True)
    """

    plan: tuple[PlannedTask, ...]
    """The tasks, by falling share, or in their order where the cost is a function of it."""
    weights: Array
    """The share of every candidate before rounding."""
    counts: npt.NDArray[np.int64]
    """The samples of every candidate."""
    objective: float
    """The criterion's value times the budget, before rounding."""
    lower_bound: float | None
    """What no design can be below."""
    plan_objective: float
    """The value after rounding."""
    spent: float
    """What the plan costs, switches included."""

    @property
    def gap(self) -> float | None:
        """How far the value may be above the optimum, relatively."""
        return None if self.lower_bound is None else (self.objective - self.lower_bound) / self.objective

    def rows(self) -> list[dict[str, Any]]:
        """The tasks as rows of a table."""
        return [vars(task).copy() for task in self.plan]

    def to_pandas(self) -> pandas.DataFrame:
        """The tasks as a frame of pandas."""
        import pandas

        return pandas.DataFrame(self.rows())

    def figure(self) -> Figure:
        """Samples of each task beside its part in the value."""
        made = [Bar(f"row {task.row}", task.n, task.risk_share) for task in self.plan]
        return bars("Samples of the design", "samples", "part in the value", made)

    def _repr_html_(self) -> str:
        bound = "" if self.gap is None else f", at most {100 * max(self.gap, 0.0):.2g} % above the best"
        value = f"<p>value {self.objective:.4g}{bound}; spent {self.spent:g}</p>"
        return html_table(self.rows()) + value + self.figure().svg


def optimal_design(
    candidates: Rows,
    *,
    budget: float,
    target: Rows | None = None,
    weights: npt.ArrayLike | None = None,
    criterion: Literal["trace", "max-eigenvalue"] = "trace",
    cost: npt.ArrayLike | str | Cost | None = None,
    switch_cost: float = 0.0,
    given: Rows | None = None,
    capacity: Sequence[int | None] | None = None,
    max_tasks: int | None = None,
    min_samples: int = 1,
    required: Sequence[int] = (),
    forbidden: Sequence[int] = (),
    tolerance: float = 1e-4,
) -> Design:
    """Plans which candidates to sample, and how often.

    Candidates are rows of embeddings (or of features of tasks), n × k; a frame's columns are all used, but for the one
    named by `cost`. `target` is a row or several, with `weights`; without one, all directions matter alike. `given`
    are rows that were measured already. `cost` is what a sample of each candidate costs, `switch_cost` what every task
    of the plan costs beside its samples, `capacity` how many samples each candidate has left.

    `cost` may also be a function of the ordered plan, `cost([(row, samples), ...])`: what it costs in all to visit
    these rows in this order. Tasks, order and samples are then found by a search, and there is no lower bound. The
    function must not fall when samples are added, and is called some thousand times.

    >>> import taskscout as ts
    >>> design = ts.optimal_design([[1.0, 0.0], [0.0, 1.0], [0.1, 0.1]], target=[3.0, 1.0], budget=40)
    >>> [(task.row, task.n) for task in design.plan]
    [(0, 30), (1, 10)]
    """
    names = column_names(candidates)
    if isinstance(cost, str):
        if names is None:
            raise InputError(f"cost is the column {cost!r}, but candidates have no names: give an array of costs")
        cost_values: Any = matrix(candidates, [cost], "candidates")[:, 0]
        names = [name for name in names if name != cost]
    else:
        cost_values = None if callable(cost) else cost
    if names is None:
        table = numbers(candidates, "candidates")
        if table.ndim != 2:
            raise InputError(f"candidates have the shape {table.shape}: give an array of the shape (n, k)")
        names = [str(i) for i in range(table.shape[1])]
    rows = matrix(candidates, names, "candidates")
    options = {
        "criterion": criterion,
        "budget": float(budget),
        "switch_cost": float(switch_cost),
        "max_tasks": max_tasks,
        "min_samples": int(min_samples),
        "capacities": None if capacity is None else [None if left is None else int(left) for left in capacity],
        "required": [int(row) for row in required],
        "forbidden": [int(row) for row in forbidden],
        "tolerance": float(tolerance),
    }
    wanted = None if target is None else _rows(target, names, "target")
    known = None if given is None else _rows(given, names, "given")
    shares = None if weights is None else _vector(weights, 0 if wanted is None else len(wanted), "weights")
    costs = None if cost_values is None else _vector(cost_values, len(rows), "cost")
    there = None if known is None else contiguous(known.T @ known)

    def plan(need: Array | None, **changes: Any) -> dict[str, Any]:
        changed = json.dumps({**options, **changes})
        said: dict[str, Any] = json.loads(_native.plan_design(rows, need, shares, costs, there, changed))
        return said

    if not callable(cost):
        return _design(plan(wanted), len(rows))
    if switch_cost > 0.0:
        raise InputError("the cost is a function and a switch cost is given: let the function say what switches cost")
    if wanted is not None:
        return _ordered(partial(plan, wanted), cost, options, len(rows))
    # All directions that the candidates show stay wanted when some of them are left out.
    directions = _directions(np.delete(rows, list(forbidden), axis=0))
    design = _ordered(partial(plan, directions), cost, options, len(rows))
    scale = float(len(directions))
    return replace(design, objective=scale * design.objective, plan_objective=scale * design.plan_objective)


def _directions(rows: Array) -> Array:
    """Directions at right angles that the rows show, one a row."""
    _, values, directions = np.linalg.svd(rows, full_matrices=False)
    return contiguous(directions[values > 1e-10 * values[0]])


def _ordered(plan: Callable[..., dict[str, Any]], cost: Cost, options: dict[str, Any], count: int) -> Design:
    """The design for a cost that is a function of the ordered plan."""
    forbidden, required = options["forbidden"], options["required"]

    def changes(samples: int, allowed: Sequence[int] | None, most: int | None) -> dict[str, Any]:
        outside = forbidden if allowed is None else sorted(set(range(count)) - set(allowed))
        return {"budget": float(samples), "forbidden": outside, "max_tasks": most}

    def solve(
        samples: int, allowed: Sequence[int] | None, most: int | None
    ) -> tuple[list[tuple[int, int]], float] | None:
        try:
            said = plan(**changes(samples, allowed, most))
        except InputError:
            # Too few tasks or samples to reach what is needed.
            return None
        return [(task["row"], task["n"]) for task in said["tasks"]], said["plan_objective"] / samples

    nominal = 1000
    capacities = options["capacities"]
    if capacities is not None and None not in capacities:
        nominal = min(nominal, sum(capacities))
    # Settings that do not fit are refused as they always are.
    plan(budget=float(nominal))
    if not 0.0 < options["budget"] < np.inf:
        raise InputError(f"budget is {options['budget']}: it must be positive and finite")
    search = Search(solve, cost, options["budget"], capacities)
    found = search.best(nominal, options["max_tasks"], required)
    rows = [row for row, _ in found.lines]
    design = _design(plan(**changes(found.samples, rows, None)), count)
    tasks = {task.row: task for task in design.plan}
    upto = [0.0, *(price(cost, found.lines[: end + 1]) for end in range(len(rows)))]
    scale = options["budget"] / found.samples
    return replace(
        design,
        plan=tuple(replace(tasks[row], cost=upto[i + 1] - upto[i]) for i, row in enumerate(rows)),
        objective=design.objective * scale,
        plan_objective=design.plan_objective * scale,
        lower_bound=None,
        spent=found.spent,
    )


def _rows(values: Rows, names: list[str], what: str) -> Array:
    """One row or several."""
    if column_names(values) is None:
        array = numbers(values, what)
        values = array[np.newaxis, :] if array.ndim == 1 else array
    return matrix(values, names, what)


def _vector(values: Any, length: int, what: str) -> Array:
    array = numbers(values, what)
    if array.shape != (length,):
        raise InputError(f"{what} has the shape {array.shape}: give {length} numbers")
    return contiguous(array)


def _design(said: dict[str, Any], count: int) -> Design:
    keys = ("row", "n", "weight", "cost", "similarity", "risk_share")
    plan = tuple(PlannedTask(**{key: task[key] for key in keys}) for task in said["tasks"])
    weights, counts = np.zeros(count), np.zeros(count, dtype=np.int64)
    for task in plan:
        weights[task.row], counts[task.row] = task.weight, task.n
    return Design(
        plan=plan,
        weights=weights,
        counts=counts,
        objective=said["objective"],
        lower_bound=said["lower_bound"],
        plan_objective=said["plan_objective"],
        spent=said["spent"],
    )
