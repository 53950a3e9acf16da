"""Work in any executor: results come in the order of the work, whoever did it and whenever it was done.

Workers only compute; one process, the coordinator, takes results. A worker that dies is replaced where that can be
done, and its work is done again. Executors are those of `concurrent.futures`, and others whose `submit` gives jobs
with `done` and `result`, as submitit's are.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from .errors import InputError

#: An executor, a function that makes executors, or nothing to work here and now.
Executors: TypeAlias = Executor | Callable[[], Executor] | None

#: Seconds between looks at signals: on some systems a wait without end cannot be interrupted.
LOOK = 0.5
#: Seconds between looks at jobs that cannot be waited for together.
GLANCE = 0.02


@dataclass(frozen=True)
class Job:
    """A call to be made by a worker."""

    id: int
    """Its place in the order in which results are taken."""
    function: Callable[..., Any]
    """What is called."""
    arguments: tuple[Any, ...]
    """What it is called with."""
    about: str
    """Words for an exception of it."""


class Pool:
    """An executor, which is made anew where it broke and can be."""

    def __init__(self, executor: Executor | None, make: Callable[[], Executor] | None) -> None:
        self.make = make
        self.executor = make() if make is not None else executor

    def renew(self) -> bool:
        """Whether there is a new one in place of a broken one."""
        if self.make is None:
            return False
        self.close()
        self.executor = self.make()
        return True

    def close(self) -> None:
        """Shuts the executor down; those of clusters may have nothing to shut down."""
        if self.executor is not None and hasattr(self.executor, "shutdown"):
            self.executor.shutdown(wait=False, cancel_futures=True)


@contextmanager
def opened(executor: Executors) -> Iterator[Pool]:
    """A pool of an executor; one that a function made is shut down at the end."""
    if executor is not None and not hasattr(executor, "submit"):
        if not callable(executor):
            raise InputError(
                f"executor is {executor!r}: give a concurrent.futures.Executor, or a function that makes one"
            )
        pool = Pool(None, executor)
        try:
            yield pool
        finally:
            pool.close()
        return
    # One that was handed over stays open for whoever made it.
    yield Pool(executor, None)  # type: ignore[arg-type]


def check(max_in_flight: int | None, retries: int) -> None:
    """Refuses limits that cannot be."""
    if max_in_flight is not None and max_in_flight < 1:
        raise InputError(f"max_in_flight is {max_in_flight}: give at least 1, or nothing for no limit")
    if retries < 0:
        raise InputError(f"retries is {retries}: give at least 0")


class Work:
    """Jobs under way."""

    def __init__(self, pool: Pool, retries: int) -> None:
        self.pool = pool
        self.retries = retries
        self.tries: dict[int, int] = {}
        self.running: dict[Future[Any], Job] = {}
        self.came: dict[int, Any] = {}

    def do(self, jobs: Sequence[Job], limit: int | None, take: Callable[[int, Any], None]) -> None:
        """Does all jobs and takes their results in order; what came is taken, whatever ends it."""
        waiting = deque(jobs)
        left = deque(jobs)
        most = len(jobs) if limit is None else limit
        try:
            while left:
                while waiting and len(self.running) < most and self._start(waiting[0]):
                    waiting.popleft()
                while left and left[0].id in self.came:
                    # Taken off first: a result that is refused is not taken again on the way out.
                    job = left.popleft()
                    take(job.id, self.came.pop(job.id))
                if left and self.running:
                    waiting.extendleft(reversed(self._finished()))
        except BaseException:
            for future, job in self.running.items():
                if _is_finished(future) and future.exception() is None:
                    self.came[job.id] = future.result()
            for job in left:
                if job.id in self.came:
                    take(job.id, self.came.pop(job.id))
            raise

    def _start(self, job: Job) -> bool:
        """Begins a job; does it here and now where there is no executor."""
        executor = self.pool.executor
        if executor is None:
            # So that what came is taken before the next begins.
            if self.came:
                return False
            while True:
                try:
                    self.came[job.id] = job.function(*job.arguments)
                    return True
                except Exception as error:
                    self._count(job, error)
        try:
            self.running[executor.submit(job.function, *job.arguments)] = job
        except BrokenExecutor:
            if not self.pool.renew() or self.pool.executor is None:
                raise
            self.running[self.pool.executor.submit(job.function, *job.arguments)] = job
        return True

    def _finished(self) -> list[Job]:
        """Waits until something is finished; the jobs that are to be tried again."""
        done: set[Future[Any]] = set()
        while not done:
            done = _done_of(self.running)
        again: list[Job] = []
        failure: Exception | None = None
        # In their order, so that the same exception surfaces where several came at once.
        for future in sorted(done, key=lambda future: self.running[future].id):
            job = self.running.pop(future)
            try:
                self.came[job.id] = future.result()
            except Exception as error:
                if failure is None:
                    failure = self._retried(job, error, again)
        if failure is not None:
            raise failure
        return again

    def _retried(self, job: Job, error: Exception, again: list[Job]) -> Exception | None:
        """Puts a job among those to be tried again; the exception if it may not be."""
        try:
            # A worker that died takes the work of others with it, which is not their fault.
            if isinstance(error, BrokenExecutor) and self.pool.make is None:
                error.add_note("give `executor` as a function that makes one, so that a broken one can be replaced")
                self.tries[job.id] = self.retries
            self._count(job, error)
        except Exception as final:
            return final
        again.append(job)
        return None

    def _count(self, job: Job, error: Exception) -> None:
        """Counts a try that failed; raises the exception after the last."""
        self.tries[job.id] = self.tries.get(job.id, 0) + 1
        if self.tries[job.id] > self.retries:
            error.add_note(job.about)
            raise error


def _done_of(running: Collection[Future[Any]]) -> set[Future[Any]]:
    """What is finished, after a while if nothing is yet."""
    if all(isinstance(future, Future) for future in running):
        done, _ = wait(running, timeout=LOOK, return_when=FIRST_COMPLETED)
        return done
    done = {future for future in running if future.done()}
    if not done:
        time.sleep(GLANCE)
    return done


def _is_finished(future: Any) -> bool:
    """Whether work came to an end; what has not begun is cancelled."""
    if isinstance(future, Future):
        return not future.cancel() and future.done()
    if not future.done():
        future.cancel()
        return False
    return True


@contextmanager
def bar(progress: bool | None, unit: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A progress bar: where it is asked for, or on a terminal where tqdm is installed."""
    if progress is False or (progress is None and not sys.stderr.isatty()):
        yield lambda count: None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if progress:
            raise InputError("progress needs tqdm: install it, or leave progress out") from None
        yield lambda count: None
        return
    with tqdm(unit=f" {unit}", total=total) as shown:
        yield lambda count: shown.update(count) and None
