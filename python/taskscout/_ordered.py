"""Designs whose cost is a function of the ordered plan: a search over sets of tasks, orders and numbers of samples.

For every number of tasks, the design of so many tasks is solved as if only samples cost. The order that costs least is
sought, and then the most samples that the budget pays for in it. The best of these plans loses tasks while that helps.
What is found is no certified optimum: a function can be anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

from .errors import InputError

#: What a plan costs: rows of candidates with their samples, in the order in which they are visited.
Cost: TypeAlias = Callable[[list[tuple[int, int]]], float]
#: Solves a design of so many samples, over some rows or all, with so many tasks at most: the tasks, their samples and
#: the value; None where there is none.
Solve: TypeAlias = Callable[[int, Sequence[int] | None, int | None], tuple[list[tuple[int, int]], float] | None]

#: Tasks of which every order is tried.
ALL_ORDERS = 6
#: Samples of a plan at most.
MOST_SAMPLES = 10**9


@dataclass(frozen=True)
class OrderedPlan:
    """Tasks in their order, and what they are for."""

    lines: list[tuple[int, int]]
    samples: int
    value: float
    spent: float


def price(cost: Cost, lines: list[tuple[int, int]]) -> float:
    """What a plan costs, checked."""
    said = cost(list(lines))
    try:
        value = float(said)
    except (TypeError, ValueError):
        value = math.nan
    if not (math.isfinite(value) and value >= 0.0):
        raise InputError(f"the cost of the plan {lines} is {said!r}: it must be a finite number of at least 0")
    return value


def best_order(cost: Cost, lines: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The order that costs least: of all for a few tasks, else by inserting tasks and turning stretches around."""
    if len(lines) <= ALL_ORDERS:
        return list(min(permutations(lines), key=lambda order: price(cost, list(order))))
    order: list[tuple[int, int]] = []
    for line in lines:
        places = [[*order[:i], line, *order[i:]] for i in range(len(order) + 1)]
        order = min(places, key=lambda tried: price(cost, tried))
    spent, better = price(cost, order), True
    while better:
        better = False
        for i in range(len(order) - 1):
            for j in range(i + 2, len(order) + 1):
                tried = order[:i] + order[i:j][::-1] + order[j:]
                costs = price(cost, tried)
                if costs < spent * (1.0 - 1e-12):
                    order, spent, better = tried, costs, True
    return order


class Search:
    """The search for a plan within a budget."""

    def __init__(self, solve: Solve, cost: Cost, budget: float, capacity: Sequence[int | None] | None) -> None:
        self.solve, self.cost, self.budget, self.capacity = solve, cost, budget, capacity

    def ordered(self, samples: int, rows: Sequence[int], order: Sequence[int] = ()) -> OrderedPlan | None:
        """The design of so many samples over some rows, in an order if one is given, else in the best one."""
        solved = self.solve(samples, rows, None)
        if solved is None:
            return None
        lines, value = solved
        if order:
            # Few samples may go to other tasks than many.
            place = {row: index for index, row in enumerate(order)}
            lines.sort(key=lambda line: (place.get(line[0], len(place)), line[0]))
        else:
            lines = best_order(self.cost, lines)
        return OrderedPlan(lines, samples, value, price(self.cost, lines))

    def most(self, rows: Sequence[int], nominal: int) -> OrderedPlan | None:
        """The plan over some rows with the most samples that the budget pays for."""
        limit = self._limit(rows)
        typical = self.ordered(min(nominal, limit), rows)
        if typical is None:
            return None
        order = [row for row, _ in typical.lines]
        best, high = self._bracket(rows, order, limit)
        while best is not None and high - best.samples > 1:
            middle = (best.samples + high) // 2
            plan = self.ordered(middle, rows, order)
            if plan is not None and plan.spent <= self.budget:
                best = plan
            else:
                high = middle
        if best is None:
            return None
        # With so many samples another order may be cheaper.
        last = self.ordered(best.samples, rows)
        return last if last is not None and last.spent < best.spent else best

    def _bracket(self, rows: Sequence[int], order: Sequence[int], limit: int) -> tuple[OrderedPlan | None, int]:
        """A plan that the budget pays for, and a number of samples that it does not pay for."""
        best: OrderedPlan | None = None
        samples = min(len(rows), limit)
        while True:
            plan = self.ordered(samples, rows, order)
            if plan is not None and plan.spent > self.budget:
                return best, samples
            best = plan or best
            if samples == limit and limit == MOST_SAMPLES:
                raise InputError("the cost hardly grows with samples: give `capacity`, or let samples cost")
            if samples == limit:
                return best, limit + 1
            samples = min(2 * samples, limit)

    def _limit(self, rows: Sequence[int]) -> int:
        if self.capacity is None:
            return MOST_SAMPLES
        left = [self.capacity[row] for row in rows]
        known = [count for count in left if count is not None]
        return sum(known) if len(known) == len(left) else MOST_SAMPLES

    def best(self, samples: int, most_tasks: int | None, required: Sequence[int]) -> OrderedPlan:
        """The best plan over all numbers of tasks."""
        found: OrderedPlan | None = None
        tasks = most_tasks
        while tasks is None or tasks >= max(len(required), 1):
            solved = self.solve(samples, None, tasks)
            if solved is None:
                break
            rows = sorted({row for row, _ in solved[0]} | set(required))
            found = _better(found, self.most(rows, samples))
            tasks = len(rows) - 1
        if found is None:
            raise InputError(
                f"the budget of {self.budget:g} pays for no plan that reaches what is needed: raise it, or lower costs"
            )
        return self._without(found, samples, required)

    def _without(self, found: OrderedPlan, samples: int, required: Sequence[int]) -> OrderedPlan:
        """Leaves tasks out while that helps."""
        while True:
            rows = [row for row, _ in found.lines]
            tried: OrderedPlan | None = None
            for left_out in (row for row in rows if row not in required and len(rows) > 1):
                tried = _better(tried, self.most(sorted(row for row in rows if row != left_out), samples))
            if tried is None or tried.value >= found.value * (1.0 - 1e-9):
                return found
            found = tried


def _better(one: OrderedPlan | None, other: OrderedPlan | None) -> OrderedPlan | None:
    if one is None or other is None:
        return one or other
    return other if other.value < one.value else one
