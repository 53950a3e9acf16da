"""The experiments of the paper and of experiment files, with trials in any executor."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from . import _native
from ._executors import Executors, Job, Work, bar, check, opened
from ._figures import Figure
from ._results import Results, read_table
from .errors import InputError, TaskscoutError

#: What a trial wrote: names and contents of files. A sentence where it failed.
Files = list[tuple[str, bytes]] | str


def reproduce(
    experiment: str | os.PathLike[str],
    *,
    seeds: int | range | None = None,
    strategies: Sequence[str] | None = None,
    targets: int | Sequence[str | Sequence[float]] | None = None,
    quick: bool = False,
    as_published: Literal["code", "text"] | None = None,
    oracle: str | None = None,
    schedule: Literal["paper", "adaptive"] | None = None,
    budget_scale: float | None = None,
    target_rows: int | None = None,
    matrix_seed: int | None = None,
    k_star: int | None = None,
    joint_targets: bool = False,
    target_distribution: bool = False,
    data: str | os.PathLike[str] | None = None,
    phi: str | None = None,
    task_features: str | None = None,
    save_task: bool = False,
    save_models: bool = False,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    force: bool = False,
    executor: Executors = None,
    max_in_flight: int | None = None,
    retries: int = 0,
    progress: bool | None = None,
) -> Results:
    """Runs an experiment of the paper (`bilinear`, `fourier`, `mlp`, `pendulum`, `drone`) or of a `.toml` file.

    It is what `taskscout reproduce` and `taskscout run` do, with the same options and the same results. A trial, one
    strategy with one seed on one target, runs in a worker of the executor; without one, in as many threads as there
    are cores. Only this process writes. Results depend neither on the number of workers nor on the order in which they
    finish, nor on workers that die, if `executor` is a function that makes executors.

    `seeds` is how many, from the file's first one on, or a range. `targets` is a number of targets in synthetic worlds,
    or a list: of names of tasks, or of parameters. `target_rows` are those that the learner has from the start.
    Without `out` nothing is kept on disk; with it, a run that was stopped goes on with `resume=True`.

    >>> import taskscout as ts
    >>> results = ts.reproduce("bilinear", seeds=1, strategies=["passive"], budget_scale=0.1, target_rows=200)
    >>> [row["strategy"] for row in results.last()]
    ['target-only', 'passive']
    """
    check(max_in_flight, retries)
    first, count = _seeds(seeds)
    settings = {
        "experiment": os.fspath(experiment),
        "seed": first,
        "seeds": count,
        "strategies": None if strategies is None else _names(strategies),
        "quick": quick,
        "as_published": as_published,
        "oracle": oracle,
        "schedule": schedule,
        "budget_scale": budget_scale,
        "n_target": target_rows,
        "matrix_seed": matrix_seed,
        "targets": targets if isinstance(targets, int) else None,
        "target": [] if targets is None or isinstance(targets, int) else [_target(one) for one in targets],
        "k_star": k_star,
        "joint_targets": joint_targets,
        "target_distribution": target_distribution,
        "data": None if data is None else os.fspath(data),
        "phi": phi,
        "task_features": task_features,
        "save_task": save_task,
        "save_models": save_models,
    }
    said = {key: value for key, value in settings.items() if value is not None}
    with _folder(out) as folder:
        about = _run(said, folder, resume, force, (executor, max_in_flight, retries, progress))
        return _results(about, Path(folder), kept=out is not None)


def _run(
    settings: dict[str, Any],
    folder: str,
    resume: bool,
    force: bool,
    where: tuple[Executors, int | None, int, bool | None],
) -> dict[str, Any]:
    executor, limit, retries, progress = where
    place = {"out": folder, "resume": resume, "force": force}
    run = _native.ExperimentRun(json.dumps({**settings, **place}))
    try:
        pending = run.pending()
        text = json.dumps(settings)
        again = "; with `out`, `resume=True` goes on with what was finished"
        jobs = [Job(at, _trial, (text, name), f"while the trial {name} ran{again}") for at, name in enumerate(pending)]
        failures: list[tuple[str, str]] = []
        with opened(executor or _threads) as pool, bar(progress, "trials", len(jobs)) as count:

            def take(at: int, files: Files) -> None:
                if isinstance(files, str):
                    failures.append((pending[at], files))
                else:
                    run.keep(pending[at], files)
                count(1)

            Work(pool, retries).do(jobs, limit, take)
        about: dict[str, Any] = json.loads(run.finish(failures))
        return about
    finally:
        # Whatever ended it, another call may use the folder.
        run.close()


def _trial(settings: str, name: str) -> Files:
    """Runs a trial in a worker: the files that it wrote, or why it failed."""
    try:
        with tempfile.TemporaryDirectory(prefix="taskscout-") as folder:
            written = _runner(settings).run(name, folder)
            return [(file, (Path(folder) / file).read_bytes()) for file in written]
    except TaskscoutError as error:
        return str(error)


@lru_cache(maxsize=1)
def _runner(settings: str) -> _native.TrialRunner:
    """What runs trials; a worker prepares an experiment once."""
    return _native.TrialRunner(settings)


def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1)


@contextmanager
def _folder(out: str | os.PathLike[str] | None) -> Iterator[str]:
    if out is not None:
        yield os.fspath(out)
        return
    with tempfile.TemporaryDirectory(prefix="taskscout-") as folder:
        yield str(Path(folder) / "run")


def _results(about: dict[str, Any], folder: Path, *, kept: bool) -> Results:
    def read(name: str) -> str:
        return (folder / name).read_text(encoding="utf-8")

    figures = {}
    for path in [*sorted(folder.glob("loss*.svg")), *sorted((folder / "figures").glob("*.svg"))]:
        figures[path.stem] = Figure(path.stem, path.read_text(encoding="utf-8"))
    return Results(
        read_table(read("results.csv")),
        about["summary"],
        about["table"],
        figures,
        read("report.html"),
        plans=read_table(read("plans.csv")),
        notes=about["notes"],
        folder=folder if kept else None,
    )


def _seeds(seeds: int | range | None) -> tuple[int | None, int | None]:
    """The first seed and how many."""
    if seeds is None or isinstance(seeds, int):
        return None, seeds
    if not isinstance(seeds, range) or seeds.step != 1 or len(seeds) == 0 or seeds.start < 0:
        raise InputError(f"seeds is {seeds!r}: give a number, or a range such as range(10, 20)")
    return seeds.start, len(seeds)


def _names(names: Sequence[str]) -> list[str]:
    if isinstance(names, str):
        raise InputError(f"strategies is the text {names!r}: give a list of names")
    return [str(name) for name in names]


def _target(target: str | Sequence[float]) -> str:
    return target if isinstance(target, str) else ",".join(repr(float(value)) for value in target)
