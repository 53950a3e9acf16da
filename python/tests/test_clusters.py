"""Executors of clusters, as far as one machine can run them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import ENVIRONMENT, collect, new_study
from test_run import SETTINGS, answer, dies_once
from test_sweep import SETTINGS as SWEEP
from test_sweep import tables

import taskscout as ts

#: What workers need to find the functions of the tests.
TESTS = str(Path(__file__).parent)


@pytest.fixture(autouse=True)
def found_by_workers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([ENVIRONMENT["PYTHONPATH"], TESTS]))
    monkeypatch.setenv("TASKSCOUT_TEST_MARK", str(tmp_path / "mark"))


def submitit_executor(folder: Path) -> Any:
    submitit = pytest.importorskip("submitit", reason="submitit is not installed: its executors are NOT TESTED")
    executor = submitit.LocalExecutor(folder / "jobs")
    executor.update_parameters(timeout_min=2)
    return executor


def executorlib_executor(folder: Path) -> Any:
    executorlib = pytest.importorskip(
        "executorlib", reason="executorlib is not installed: its executors are NOT TESTED"
    )
    return executorlib.SingleNodeExecutor(max_workers=2, block_allocation=True, hostname_localhost=True)


@contextmanager
def closing_executor(executor: Any) -> Iterator[Any]:
    """Shuts an executor down where it can be: executorlib's threads keep the interpreter from ending otherwise."""
    try:
        yield executor
    finally:
        if hasattr(executor, "shutdown"):
            executor.shutdown()


def broken_fan(task: dict[str, float], n: int, seed: int) -> Any:
    raise OSError("the fan does not turn")


@pytest.mark.parametrize("make", [submitit_executor, executorlib_executor])
def test_executors_of_slurm_change_nothing(make: Callable[[Path], Any], tmp_path: Path) -> None:
    alone = answer(new_study().run(collect, **SETTINGS))
    with closing_executor(make(tmp_path)) as executor:
        assert answer(new_study().run(collect, executor=executor, max_in_flight=2, **SETTINGS)) == alone
        study = new_study()
        with pytest.raises(Exception, match="the fan does not turn") as caught:
            # One job at a time: executorlib waits without end for jobs that were cancelled while they queued.
            study.run(broken_fan, executor=executor, budget=100, max_in_flight=1)
    assert any("stays open" in note for note in caught.value.__notes__)
    assert study.status().source_rows == 0
    # A function that makes executors serves too.
    assert study.run(collect, executor=lambda: make(tmp_path), budget=100).status().source_rows == 100


def test_a_job_that_dies_is_done_again(tmp_path: Path) -> None:
    alone = answer(new_study().run(collect, **SETTINGS))
    executor = submitit_executor(tmp_path)
    study = new_study().run(dies_once, executor=executor, max_in_flight=2, retries=1, **SETTINGS)
    assert (tmp_path / "mark").exists()
    assert answer(study) == alone


def test_a_sweep_in_jobs_is_the_same(tmp_path: Path) -> None:
    alone = ts.sweep(collect, **SWEEP, seeds=1)
    with executorlib_executor(tmp_path) as executor:
        assert tables(ts.sweep(collect, **SWEEP, seeds=1, executor=executor)) == tables(alone)


MPI = """
import sys
from mpi4py.futures import MPIPoolExecutor
from conftest import collect, new_study
from test_run import SETTINGS, answer

if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        assert executor.num_workers == 2, executor.num_workers
        study = new_study().run(collect, executor=executor, **SETTINGS)
    sys.stdout.write(answer(study).hex())
"""


def test_processes_of_mpi_change_nothing(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="mpi4py is not installed: executors of MPI are NOT TESTED")
    beside = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    if mpiexec is None:
        pytest.skip("there is no mpiexec: executors of MPI are NOT TESTED")
    program = tmp_path / "program.py"
    program.write_text(MPI)
    # The first process coordinates, the others measure.
    line = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(program)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert bytes.fromhex(done.stdout) == answer(new_study().run(collect, **SETTINGS))
