"""The loop of ask, measure and tell, with measurements in any executor.

One process, the coordinator, asks and tells; workers only measure. Rows are told in the order of the items, and every
item has a seed of its own, so neither the number of workers nor the order in which they finish changes the study.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ._executors import Executors, Job, Work, bar, check, opened
from ._records import Item, Receipt
from .errors import InputError

if TYPE_CHECKING:
    from ._study import Study

#: `collect(task, n, seed)`: the rows of a task.
Collect: TypeAlias = Callable[[dict[str, float], int, int], Any]
#: `callback(study, item, receipt)`, after an item was told.
Callback: TypeAlias = "Callable[[Study, Item, Receipt], object]"


def run(
    study: Study,
    collect: Collect,
    budget: int,
    rounds: int,
    executor: Executors,
    max_in_flight: int | None,
    callbacks: Sequence[Callback],
    retries: int,
    progress: bool | None,
) -> None:
    """See `Study.run`."""
    check(max_in_flight, retries)
    check_collect(collect)
    with opened(executor) as pool, bar(progress, "rows") as count:
        while True:
            items: Sequence[Item] = study.open_items(free=True)
            if not items:
                if study.status().rounds >= rounds:
                    return
                items = study.ask(budget).items
            planned = {item.id: item for item in items}

            def tell(item: int, rows: Any, planned: dict[int, Item] = planned) -> None:
                receipt = _tell(study, planned[item], rows)
                for callback in callbacks:
                    callback(study, planned[item], receipt)
                count(receipt.rows)

            jobs = [_job(study, collect, item) for item in items]
            Work(pool, retries).do(jobs, max_in_flight, tell)


def check_collect(collect: Any) -> None:
    """Refuses what cannot be called."""
    if not callable(collect):
        raise InputError(f"collect is {collect!r}: give a function of (task, n, seed) that returns (X, Y)")


def _job(study: Study, collect: Collect, item: Item) -> Job:
    task = dict(item.task)
    about = (
        f"while item {item.id} was measured ({item.n} samples at {task}); it stays open, so `run` can be called again"
    )
    return Job(item.id, collect, (task, item.n, study.item_seed(item)), about)


def _tell(study: Study, item: Item, rows: Any) -> Receipt:
    """Tells what `collect` returned."""
    try:
        if isinstance(rows, list):
            raise InputError("collect returned a list: return a tuple (X, Y), or a frame with all columns")
        if not isinstance(rows, tuple):
            return study.tell(item, rows)
        if len(rows) not in (2, 3):
            raise InputError(f"collect returned {len(rows)} values: return (X, Y), or (X, Y, task)")
        return study.tell(item, rows[0], rows[1], task=rows[2] if len(rows) == 3 else None)
    except InputError as error:
        error.add_note(f"in the rows that collect returned for item {item.id} of study {study.name!r}")
        raise
