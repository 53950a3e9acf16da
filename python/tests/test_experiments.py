"""Experiments of the command, with trials in executors."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import taskscout as ts
from taskscout import _experiments

#: Small enough for a test, with everything in it.
SMALL = {"seeds": 2, "strategies": ["passive", "aware"], "budget_scale": 0.1, "target_rows": 200}
TOGETHER = {"targets": 3, "joint_targets": True, "seeds": 1}


@pytest.fixture(scope="module")
def alone() -> ts.Results:
    with ThreadPoolExecutor(1) as pool:
        return ts.reproduce("bilinear", **SMALL, executor=pool)


def same(results: ts.Results, other: ts.Results) -> bool:
    tables = [(one.rows(), one.plans(), str(one), one.figure().svg) for one in (results, other)]
    return tables[0] == tables[1]


def test_workers_change_nothing(alone: ts.Results) -> None:
    assert len(alone.last()) == 2 * 3
    assert {row["strategy"] for row in alone.rows()} == {"target-only", "passive", "aware"}
    assert alone.folder is None
    assert same(ts.reproduce("bilinear", **SMALL), alone)
    # A forked process has none of its parent's threads, and must make its own.
    for method in ("fork", "spawn"):
        with ProcessPoolExecutor(2, mp_context=get_context(method)) as pool:
            assert same(ts.reproduce("bilinear", **SMALL, executor=pool), alone), method


def test_it_is_what_the_command_gives(alone: ts.Results, command: Callable[..., str], tmp_path: Path) -> None:
    options = ["--seeds", "2", "--strategies", "passive,aware", "--budget-scale", "0.1", "--n-target", "200"]
    command("reproduce", "bilinear", *options, "--out", str(tmp_path / "run"))
    rows = _experiments.read_table((tmp_path / "run" / "results.csv").read_text())
    assert rows == alone.rows()
    assert _experiments.read_table((tmp_path / "run" / "plans.csv").read_text()) == alone.plans()


def dies_once(mark: str, settings: str, name: str) -> Any:
    """Ends its process the first time that it is called."""
    if not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return _TRIAL(settings, name)


_TRIAL = _experiments._trial


def test_a_killed_worker_changes_nothing(alone: ts.Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "mark"
    monkeypatch.setattr(_experiments, "_trial", partial(dies_once, str(mark)))
    pools: list[Executor] = []

    def make() -> Executor:
        pools.append(ProcessPoolExecutor(2))
        return pools[-1]

    assert same(ts.reproduce("bilinear", **SMALL, executor=make, retries=1), alone)
    assert mark.exists()
    assert len(pools) == 2


def test_a_run_that_was_stopped_goes_on(alone: ts.Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "run"
    done: list[str] = []

    def stops(settings: str, name: str) -> Any:
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(name)
        return _TRIAL(settings, name)

    monkeypatch.setattr(_experiments, "_trial", stops)
    monkeypatch.setattr(_experiments, "_threads", partial(ThreadPoolExecutor, 1))
    with pytest.raises(KeyboardInterrupt):
        ts.reproduce("bilinear", **SMALL, out=out)
    monkeypatch.setattr(_experiments, "_trial", _TRIAL)
    with pytest.raises(ts.InputError, match="holds a run already: give `resume` to go on"):
        ts.reproduce("bilinear", **SMALL, out=out)
    results = ts.reproduce("bilinear", **SMALL, out=out, resume=True)
    assert same(results, alone)
    assert results.folder == out
    assert (out / "report.html").exists()


def test_trials_that_fail_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(settings: str, name: str) -> Any:
        return "the disk is full" if name == "aware-1" else _TRIAL(settings, name)

    monkeypatch.setattr(_experiments, "_trial", fails)
    results = ts.reproduce("bilinear", **SMALL)
    assert results.failed == [{"strategy": "aware", "seed": 1, "error": "the disk is full"}]
    assert len(results.last()) == 5
    monkeypatch.setattr(_experiments, "_trial", lambda settings, name: "no power")
    with pytest.raises(ts.OperationError, match=r"every trial failed, .*no power"):
        ts.reproduce("bilinear", **SMALL)


def test_targets_and_models(tmp_path: Path) -> None:
    few = {**SMALL, "strategies": ["aware"], **TOGETHER}
    results = ts.reproduce("bilinear", **few, out=tmp_path / "run", save_models=True)
    assert len({row["target"] for row in results.rows()}) == 3
    assert len(list((tmp_path / "run" / "models").glob("aware-*.safetensors"))) == 3
    point = {"targets": [[0.0, 0.0, 1.0, 0.5, 0.0]], "seeds": range(3, 4), "strategies": ["passive"]}
    pendulum = ts.reproduce("pendulum", **point, quick=True)
    assert {row["seed"] for row in pendulum.rows()} == {3}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"experiment": "biliner"}, "there is no experiment `biliner`: give one of bilinear"),
        ({"experiment": "no.toml"}, "no.toml"),
        ({"seeds": 0}, "`seeds` is 0: run 1 to"),
        ({"seeds": range(0, 4, 2)}, "give a number, or a range such as"),
        ({"seeds": -1}, "a setting does not fit"),
        ({"strategies": "aware"}, "give a list of names"),
        ({"strategies": ["awre"]}, "awre"),
        ({"budget_scale": -1.0}, "`budget_scale` is -1: give a positive number"),
        ({"schedule": "never"}, "give `paper` or `adaptive`"),
        ({"targets": ["x"]}, "target"),
        ({"executor": 3}, "give a concurrent.futures.Executor"),
        ({"retries": -1}, "retries is -1"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ts.InputError, match=sentence.replace("`", ".")) as raised:
        ts.reproduce(**{"experiment": "bilinear", **SMALL, **settings})
    assert "--" not in str(raised.value)
    assert "\n" not in str(raised.value)
