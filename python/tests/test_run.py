from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import traceback
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import takewhile
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from conftest import ENVIRONMENT, collect, new_study

import taskscout as ts

SETTINGS = {"budget": 120, "rounds": 3}


def answer(study: ts.Study) -> bytes:
    """All that the study learnt, to the last bit."""
    return study.model().predict(np.random.default_rng(0).normal(size=(50, 3))).tobytes()


@pytest.fixture(scope="module")
def alone() -> bytes:
    return answer(new_study().run(collect, **SETTINGS))


def slow_first(task: dict[str, float], n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The lower the seed the later."""
    time.sleep(0.02 * (seed % 5))
    return collect(task, n, seed)


def dies_once(task: dict[str, float], n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Ends its process the first time that it measures a strong wind."""
    mark = Path(os.environ["TASKSCOUT_TEST_MARK"])
    if task["wind"] > 4 and not mark.exists():
        mark.touch()
        os._exit(1)
    return collect(task, n, seed)


def always_dies(task: dict[str, float], n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    os._exit(1)


def processes(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_number_of_workers_changes_nothing(workers: int, alone: bytes) -> None:
    with ThreadPoolExecutor(workers) as pool:
        assert answer(new_study().run(slow_first, executor=pool, **SETTINGS)) == alone
        assert answer(new_study().run(slow_first, executor=pool, max_in_flight=2, **SETTINGS)) == alone


class Shuffled(Executor):
    """Finishes what it was given in any order, as soon as that is enough."""

    def __init__(self, enough: int) -> None:
        self.enough = enough
        self.given: list[tuple[Future[object], object]] = []

    def submit(self, work, /, *arguments, **named):  # type: ignore[no-untyped-def]
        future: Future[object] = Future()
        future.set_running_or_notify_cancel()
        self.given.append((future, lambda: work(*arguments, **named)))
        if len(self.given) == self.enough:
            random.Random(len(self.given)).shuffle(self.given)
            for waiting, call in self.given:
                waiting.set_result(call())
            self.given = []
        return future


def test_the_order_in_which_workers_finish_changes_nothing(alone: bytes) -> None:
    items = len(new_study().ask(120))
    assert items > 3
    study = new_study().run(collect, executor=Shuffled(items), budget=120, rounds=1)
    assert study.status().source_rows == 120
    assert answer(study.run(collect, **SETTINGS)) == alone


def test_processes_measure(alone: bytes) -> None:
    with processes(2) as pool:
        assert answer(new_study().run(collect, executor=pool, **SETTINGS)) == alone


def test_a_worker_that_dies_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: bytes) -> None:
    monkeypatch.setenv("TASKSCOUT_TEST_MARK", str(tmp_path / "mark"))
    study = new_study().run(dies_once, executor=lambda: processes(2), retries=1, **SETTINGS)
    assert (tmp_path / "mark").exists()
    assert answer(study) == alone


def test_a_broken_executor_is_said_and_the_study_goes_on(alone: bytes) -> None:
    study = new_study()
    with processes(1) as pool, pytest.raises(BrokenProcessPool) as caught:
        study.run(always_dies, executor=pool, retries=3, **SETTINGS)
    assert any("function that makes one" in note for note in caught.value.__notes__)
    assert answer(study.run(collect, **SETTINGS)) == alone


@pytest.mark.parametrize("workers", [0, 1])
def test_an_exception_surfaces_with_its_own_traceback(workers: int, alone: bytes) -> None:
    def broken_fan(task: dict[str, float], n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        if task["wind"] < -4:
            raise OSError("the fan does not turn")
        return collect(task, n, seed)

    study = new_study()
    pool = ThreadPoolExecutor(workers) if workers else None
    with pytest.raises(OSError, match="the fan does not turn") as caught:
        study.run(broken_fan, executor=pool, **SETTINGS)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].name == "broken_fan"
    assert any("stays open" in note for note in caught.value.__notes__)
    # What came is there, what failed is open, and the rest gives what it would have given.
    told = study.status().source_rows
    assert told > 0
    assert study.open_items()
    study.run(collect, **SETTINGS)
    assert study.status().source_rows == 360


def test_what_fails_is_tried_again_with_the_same_seed(alone: bytes) -> None:
    seeds: dict[int, int] = {}

    def flaky(task: dict[str, float], n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        seeds[seed] = seeds.get(seed, 0) + 1
        if seeds[seed] < 3:
            raise TimeoutError
        return collect(task, n, seed)

    with pytest.raises(TimeoutError):
        new_study().run(flaky, retries=1, **SETTINGS)
    seeds.clear()
    assert answer(new_study().run(flaky, retries=2, **SETTINGS)) == alone
    seeds.clear()
    with ThreadPoolExecutor(2) as pool:
        assert answer(new_study().run(flaky, retries=2, executor=pool, **SETTINGS)) == alone


def test_rows_that_do_not_fit_are_refused_with_their_item() -> None:
    study = new_study()
    for bad, words in [
        (lambda task, n, seed: (np.full((n, 3), np.nan), np.zeros(n)), "row 0, column `vx` of X is nan"),
        (lambda task, n, seed: (np.zeros((n, 3)),), "collect returned 1 values"),
        (lambda task, n, seed: None, "no outputs are given"),
    ]:
        with pytest.raises(ts.InputError, match=words) as caught:
            study.run(bad, budget=100, rounds=1)
        assert "item 0" in caught.value.__notes__[0]
    assert study.status().source_rows == 0
    with processes(1) as pool, pytest.raises(Exception, match=r"pickle|local object"):
        study.run(lambda task, n, seed: None, executor=pool, budget=100, rounds=1)
    assert study.run(collect, budget=100, rounds=1).status().source_rows == 100


def test_callbacks_see_every_item_and_frames_may_come() -> None:
    import pandas

    def framed(task: dict[str, float], n: int, seed: int) -> object:
        x, y = collect(task, n, seed)
        return pandas.DataFrame({"force": y, "vx": x[:, 0], "vy": x[:, 1], "pwm": x[:, 2]})

    seen = []
    study = new_study()
    study.run(framed, budget=100, rounds=2, callbacks=[lambda study, item, receipt: seen.append(receipt.rows)])
    assert sum(seen) == 200
    assert study.status().rounds == 2
    # There are as many rounds already.
    study.run(framed, budget=100, rounds=2, callbacks=[lambda study, item, receipt: seen.append(0)])
    assert 0 not in seen


def test_another_task_than_planned_may_be_measured() -> None:
    def near(task: dict[str, float], n: int, seed: int) -> object:
        wind = 0.9 * task["wind"]
        return *collect({**task, "wind": wind}, n, seed), {**task, "wind": wind}

    assert new_study().run(near, budget=100, rounds=1).status().source_rows == 100


def test_bad_settings_of_a_run() -> None:
    study = new_study()
    for settings, words in [
        ({"max_in_flight": 0}, "max_in_flight is 0"),
        ({"retries": -1}, "retries is -1"),
        ({"executor": 3}, "executor is 3"),
    ]:
        with pytest.raises(ts.InputError, match=words):
            study.run(collect, budget=100, **settings)


INTERRUPTED = """
import os, sys, time
sys.path.insert(0, sys.argv[2])
from concurrent.futures import ThreadPoolExecutor
from conftest import collect, new_study

def forever(task, n, seed):
    if task["wind"] > 4:
        return collect(task, n, seed)
    os.write(1, b"measuring\\n")  # at once, since others write too
    time.sleep(0.1 if sys.argv[3] == "pool" else 60)
    return forever(task, n, seed)

study = new_study(name="tunnel", storage=sys.argv[1])
pool = ThreadPoolExecutor(16) if sys.argv[3] == "pool" else None
try:
    study.run(forever, budget=100, rounds=1, executor=pool)
except KeyboardInterrupt:
    os.write(1, f"interrupted {study.status().source_rows}\\n".encode())
    os._exit(0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("kind", ["pool", "serial"])
def test_ctrl_c_ends_a_run_and_what_came_stays(tmp_path: Path, kind: str) -> None:
    store = str(tmp_path / "tunnel.db")
    line = [sys.executable, "-c", INTERRUPTED, store, str(Path(__file__).parent), kind]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "measuring\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=30)
    # Alone, the first task that takes for ever stops all that follow.
    plan = new_study(name="tunnel").ask(100)
    done = filter if kind == "pool" else takewhile
    rows = sum(item.n for item in done(lambda item: item.task["wind"] > 4, plan))
    assert rows > 0
    assert f"interrupted {rows}" in rest.splitlines()
    study = ts.load_study("tunnel", store)
    assert study.run(collect, budget=100, rounds=1).status().source_rows == 100


class Interrupted(Executor):
    """Finishes at once what it is given, until somebody presses Ctrl-C."""

    given = 0

    def submit(self, work, /, *arguments, **named):  # type: ignore[no-untyped-def]
        self.given += 1
        if self.given == 3:
            raise KeyboardInterrupt
        future: Future[object] = Future()
        future.set_running_or_notify_cancel()
        future.set_result(work(*arguments, **named))
        return future


def test_what_was_finished_is_told_when_a_run_is_interrupted() -> None:
    study = new_study()
    with pytest.raises(KeyboardInterrupt):
        study.run(collect, executor=Interrupted(), budget=120, rounds=1)
    assert len(study.items()) > 3
    assert [item.id for item in study.open_items()] == list(range(2, len(study.items())))
