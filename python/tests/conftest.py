"""What the tests share: a small world, the command, and a PostgreSQL server of the tests' own."""

from __future__ import annotations

import faulthandler
import os
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import taskscout as ts

ROOT = Path(__file__).resolve().parents[2]
#: For processes of the tests' own: the package that is tested, wherever it is.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(ts.__file__).resolve().parents[1])}
INPUTS = ["vx", "vy", "pwm"]
#: Seconds that the interpreter has to end after the last test.
LEAVE_S = 60


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails the run for threads that would keep the interpreter from ending."""
    own = [thread for thread in threading.enumerate() if not thread.daemon and thread is not threading.main_thread()]
    for thread in own:
        thread.join(timeout=5)
    left = [thread.name for thread in own if thread.is_alive()]
    if left and session.exitstatus == pytest.ExitCode.OK:
        print(f"\nthreads that no test ended: {', '.join(left)}: shut down the executors that a test makes")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_unconfigure() -> None:
    """Ends an interpreter that cannot end by itself, with the place of every thread."""
    faulthandler.dump_traceback_later(LEAVE_S, exit=True)


def collect(task: dict[str, float], n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a task; a function of a module, so that other processes find it."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    y = task["wind"] * x[:, 0] + task["payload"] * (x[:, 1] - x[:, 2]) + 0.1 * rng.normal(size=n)
    return x, y


def new_study(**settings: object) -> ts.Study:
    """A study with thirty rows of its target."""
    said = {
        "space": ts.Box(wind=(-5, 5, "m/s"), payload=(0, 2)),
        "inputs": INPUTS,
        "outputs": ["force"],
        "targets": ["tomorrow"],
        **settings,
    }
    study = ts.create_study(**said)
    study.tell_target("tomorrow", *collect({"wind": 2.0, "payload": 1.0}, 30, 1))
    return study


@pytest.fixture
def study() -> ts.Study:
    return new_study()


@pytest.fixture(scope="session")
def command() -> Callable[..., str]:
    """The `taskscout` command as a function of its arguments."""
    path = os.environ.get("TASKSCOUT_COMMAND", str(ROOT / "target" / "debug" / "taskscout"))
    if not Path(path).exists():
        pytest.skip("the command is not built: run `cargo build --workspace`")

    def run(*arguments: str) -> str:
        done = subprocess.run([path, *arguments], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a new PostgreSQL server on loopback, ended after the tests."""
    folders = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    folders += [Path(found).parent for found in [shutil.which("initdb")] if found]
    programs = next((folder for folder in folders if (folder / "pg_ctl").exists()), None)
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    folder = Path(tempfile.mkdtemp(prefix="taskscout-postgres-"))
    # `initdb` refuses to run as root.
    as_user: list[str] = []
    if os.geteuid() == 0:
        if subprocess.run(["chown", "postgres", folder], capture_output=True).returncode != 0:
            pytest.skip("root, and no user `postgres` to run the server as")
        as_user = ["runuser", "-u", "postgres", "--"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def run(program: str, *arguments: str) -> None:
        # The server lives on after this command: it must not keep pipes open.
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        line = [*as_user, str(programs / program), *arguments]
        subprocess.run(line, cwd=folder, check=True, timeout=120, **quiet)

    data = str(folder / "data")
    run("initdb", "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync", "--locale=C")
    options = f"-c listen_addresses=127.0.0.1 -c fsync=off -p {port} -k {folder}"
    run("pg_ctl", "-D", data, "-l", str(folder / "log"), "-o", options, "-w", "-t", "30", "start")
    try:
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "-D", data, "-m", "immediate", "-t", "10", "stop")
        shutil.rmtree(folder, ignore_errors=True)
