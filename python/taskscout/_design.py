"""Optimal designs over arrays of candidates: which tasks, how often, and how far from the best that can be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _native
from ._frames import Rows, column_names, contiguous, matrix, numbers
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
    """What its samples cost, the switch included."""
    similarity: float | None
    """Cosine between its embedding and the nearest target's."""
    risk_share: float
    """Its part in the value of the design; the parts sum to one."""


@dataclass(frozen=True)
class Design:
    """A plan of whole samples, with a bound that no plan can be below."""

    plan: tuple[PlannedTask, ...]
    """The tasks, by falling share."""
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

    def _repr_html_(self) -> str:
        bound = "" if self.gap is None else f", at most {100 * max(self.gap, 0.0):.2g} % above the best"
        return f"{html_table(self.rows())}<p>value {self.objective:.4g}{bound}; spent {self.spent:g}</p>"


def optimal_design(
    candidates: Rows,
    *,
    budget: float,
    target: Rows | None = None,
    weights: npt.ArrayLike | None = None,
    criterion: Literal["trace", "max-eigenvalue"] = "trace",
    cost: npt.ArrayLike | str | None = None,
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
    """
    names = column_names(candidates)
    if isinstance(cost, str):
        if names is None:
            raise InputError(f"cost is the column {cost!r}, but candidates have no names: give an array of costs")
        cost_values: Any = matrix(candidates, [cost], "candidates")[:, 0]
        names = [name for name in names if name != cost]
    else:
        cost_values = cost
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
    said = json.loads(
        _native.plan_design(
            rows,
            wanted,
            None if weights is None else _vector(weights, 0 if wanted is None else len(wanted), "weights"),
            None if cost_values is None else _vector(cost_values, len(rows), "cost"),
            None if known is None else contiguous(known.T @ known),
            json.dumps(options),
        )
    )
    return _design(said, len(rows))


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
