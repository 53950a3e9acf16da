"""The loop of ask, measure and tell, with measurements in any executor.

One process, the coordinator, asks and tells; workers only measure. Rows are told in the order of the items, and every
item has a seed of its own, so neither the number of workers nor the order in which they finish changes the study.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from ._records import Item, Receipt
from .errors import InputError

if TYPE_CHECKING:
    from ._study import Study

#: `collect(task, n, seed)`: the rows of a task.
Collect: TypeAlias = Callable[[dict[str, float], int, int], Any]
#: `callback(study, item, receipt)`, after an item was told.
Callback: TypeAlias = "Callable[[Study, Item, Receipt], object]"

#: Seconds between looks at signals: on some systems a wait without end cannot be interrupted.
LOOK = 0.5


def run(
    study: Study,
    collect: Collect,
    budget: int,
    rounds: int,
    executor: Executor | Callable[[], Executor] | None,
    max_in_flight: int | None,
    callbacks: Sequence[Callback],
    retries: int,
    progress: bool | None,
) -> None:
    """See `Study.run`."""
    if max_in_flight is not None and max_in_flight < 1:
        raise InputError(f"max_in_flight is {max_in_flight}: give at least 1, or nothing for no limit")
    if retries < 0:
        raise InputError(f"retries is {retries}: give at least 0")
    if not callable(collect):
        raise InputError(f"collect is {collect!r}: give a function of (task, n, seed) that returns (X, Y)")
    with _pool(executor) as pool, _bar(progress) as count:

        def tell(item: Item, rows: Any) -> None:
            receipt = _tell(study, item, rows)
            for callback in callbacks:
                callback(study, item, receipt)
            count(receipt.rows)

        while True:
            items: Sequence[Item] = study.open_items(free=True)
            if not items:
                if study.status().rounds >= rounds:
                    return
                items = study.ask(budget).items
            seeds = {item.id: study.item_seed(item) for item in items}
            limit = len(items) if max_in_flight is None else max_in_flight
            _Round(pool, collect, seeds, retries).measure(items, limit, tell)


def _tell(study: Study, item: Item, rows: Any) -> Receipt:
    """Tells what `collect` returned."""
    try:
        if not isinstance(rows, tuple):
            return study.tell(item, rows)
        if len(rows) not in (2, 3):
            raise InputError(f"collect returned {len(rows)} values: return (X, Y), or (X, Y, task)")
        return study.tell(item, rows[0], rows[1], task=rows[2] if len(rows) == 3 else None)
    except InputError as error:
        error.add_note(f"in the rows that collect returned for item {item.id} of study {study.name!r}")
        raise


class _Pool:
    """An executor, which is made anew where it broke and can be."""

    def __init__(self, executor: Executor | None, make: Callable[[], Executor] | None) -> None:
        self.make = make
        self.executor = make() if make is not None else executor

    def renew(self) -> bool:
        """Whether there is a new one in place of a broken one."""
        if self.make is None:
            return False
        if self.executor is not None:
            self.executor.shutdown(wait=False, cancel_futures=True)
        self.executor = self.make()
        return True


@contextmanager
def _pool(executor: Executor | Callable[[], Executor] | None) -> Iterator[_Pool]:
    if executor is not None and not hasattr(executor, "submit"):
        if not callable(executor):
            raise InputError(
                f"executor is {executor!r}: give a concurrent.futures.Executor, or a function that makes one"
            )
        pool = _Pool(None, executor)
        try:
            yield pool
        finally:
            if pool.executor is not None:
                pool.executor.shutdown(wait=False, cancel_futures=True)
        return
    # One that was handed over stays open for whoever made it.
    yield _Pool(executor, None)  # type: ignore[arg-type]


class _Round:
    """The measurements of one plan."""

    def __init__(self, pool: _Pool, collect: Collect, seeds: Mapping[int, int], retries: int) -> None:
        self.pool = pool
        self.collect = collect
        self.seeds = seeds
        self.retries = retries
        self.tries: dict[int, int] = {}
        self.running: dict[Future[Any], Item] = {}
        self.came: dict[int, Any] = {}

    def measure(self, items: Sequence[Item], limit: int, tell: Callable[[Item, Any], None]) -> None:
        """Measures and tells all items; what came is told, whatever ends it."""
        waiting = deque(items)
        untold = deque(items)
        try:
            while untold:
                while waiting and len(self.running) < limit and self._start(waiting[0]):
                    waiting.popleft()
                while untold and untold[0].id in self.came:
                    # Taken off first: rows that are refused are not told again on the way out.
                    item = untold.popleft()
                    tell(item, self.came.pop(item.id))
                if untold and self.running:
                    waiting.extendleft(reversed(self._finished()))
        except BaseException:
            for future, item in self.running.items():
                if not future.cancel() and future.done() and future.exception() is None:
                    self.came[item.id] = future.result()
            for item in untold:
                if item.id in self.came:
                    tell(item, self.came.pop(item.id))
            raise

    def _start(self, item: Item) -> bool:
        """Begins to measure an item; measures it here and now where there is no executor."""
        arguments = (dict(item.task), item.n, self.seeds[item.id])
        executor = self.pool.executor
        if executor is None:
            # So that what follows is told before the next is measured.
            if self.came:
                return False
            while True:
                try:
                    self.came[item.id] = self.collect(*arguments)
                    return True
                except Exception as error:
                    self._count(item, error)
        try:
            self.running[executor.submit(self.collect, *arguments)] = item
        except BrokenExecutor:
            if not self.pool.renew() or self.pool.executor is None:
                raise
            self.running[self.pool.executor.submit(self.collect, *arguments)] = item
        return True

    def _finished(self) -> list[Item]:
        """Waits until something is finished; the items that are to be tried again."""
        done: set[Future[Any]] = set()
        while not done:
            done, _ = wait(self.running, timeout=LOOK, return_when=FIRST_COMPLETED)
        again: list[Item] = []
        failure: Exception | None = None
        # In the order of the items, so that the same exception surfaces where several came at once.
        for future in sorted(done, key=lambda future: self.running[future].id):
            item = self.running.pop(future)
            try:
                self.came[item.id] = future.result()
            except Exception as error:
                if failure is None:
                    failure = self._retried(item, error, again)
        if failure is not None:
            raise failure
        return again

    def _retried(self, item: Item, error: Exception, again: list[Item]) -> Exception | None:
        """Puts an item among those to be tried again; the exception if it may not be."""
        try:
            # A worker that died takes the work of others with it, which is not their fault.
            if isinstance(error, BrokenExecutor) and self.pool.make is None:
                error.add_note("give `executor` as a function that makes one, so that a broken one can be replaced")
                self.tries[item.id] = self.retries
            self._count(item, error)
        except Exception as final:
            return final
        again.append(item)
        return None

    def _count(self, item: Item, error: Exception) -> None:
        """Counts a try that failed; raises the exception after the last."""
        self.tries[item.id] = self.tries.get(item.id, 0) + 1
        if self.tries[item.id] > self.retries:
            error.add_note(
                f"while item {item.id} was measured ({item.n} samples at {dict(item.task)}); it stays open, "
                "so `run` can be called again"
            )
            raise error


@contextmanager
def _bar(progress: bool | None) -> Iterator[Callable[[int], None]]:
    """A progress bar in rows: where it is asked for, or on a terminal where tqdm is installed."""
    if progress is False or (progress is None and not sys.stderr.isatty()):
        yield lambda rows: None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if progress:
            raise InputError("progress needs tqdm: install it, or leave progress out") from None
        yield lambda rows: None
        return
    with tqdm(unit=" rows") as bar:
        yield lambda rows: bar.update(rows) and None
