"""Sweeps: strategies compared on a simulator of one's own, over seeds and targets."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from . import _native
from ._executors import Executors, Job, Work, bar, check, opened
from ._figures import Figure
from ._frames import samples
from ._parts import Strategy
from ._results import Results, read_table, write_table
from ._run import Collect, check_collect
from ._spaces import in_order
from ._study import Space, Study, create_study
from .errors import InputError

#: Targets by name, one without a name, or another one for every seed.
Targets: TypeAlias = Mapping[str, Mapping[str, float]] | Mapping[str, float] | Callable[[int], Mapping[str, float]]

#: What the target's rows alone give, before anything is collected.
TARGET_ONLY = "target-only"
#: The share of all rows that makes a task one of the main ones.
MAIN = 0.01


@dataclass(frozen=True)
class _Sweep:
    """What all runs have in common."""

    collect: Collect
    truth: Collect
    settings: Mapping[str, Any]
    budget: int
    rounds: int
    target_rows: int
    test_rows: int
    name: str


@dataclass(frozen=True)
class _Case:
    """One run: a strategy, a seed, and a target."""

    strategy: str | Strategy
    seed: int
    target: str | None
    task: Mapping[str, float]
    place: int
    """The place of the target among all."""


def sweep(
    collect: Collect,
    *,
    space: Space,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    targets: Targets,
    seeds: int | range | Sequence[int] = 10,
    strategies: Sequence[str | Strategy] = ("passive", "aware"),
    budget: int,
    rounds: int = 1,
    target_rows: int = 30,
    test_rows: int = 1000,
    truth: Collect | None = None,
    name: str = "sweep",
    executor: Executors = None,
    max_in_flight: int | None = None,
    retries: int = 0,
    progress: bool | None = None,
    **settings: Any,
) -> Results:
    """Compares strategies on a simulator of your own: a study for every strategy, target and seed.

    `collect(task, n, seed)` measures, as for `Study.run`. `targets` are the parameters of a target, several by name,
    or a function that gives those of a seed; studies do not get to know them. Every study has `target_rows` rows of
    its target and runs `rounds` rounds. After each its model is judged on `test_rows` rows that `truth`, which may be
    `collect` without noise, measures of the target; all strategies see the same rows. `returned_loss` is the mean
    squared error with every output in its standard deviations. `strategies` are names, or objects of classes of your
    own. Other settings are those of `create_study`.

    A run is one call in a worker of the executor, so `collect` and the space must be picklable for processes. Results
    depend neither on the number of workers nor on the order in which they finish.

    >>> import numpy as np
    >>> import taskscout as ts
    >>> def collect(task, n, seed):
    ...     rng = np.random.default_rng(seed)
    ...     x = rng.normal(size=(n, 2))
    ...     return x, task["wind"] * x[:, 0] + x[:, 1] + 0.1 * rng.normal(size=n)
    >>> results = ts.sweep(
    ...     collect, space=ts.Box(wind=(-5, 5)), inputs=["vx", "vy"], outputs=["force"],
    ...     targets={"calm": {"wind": 0.5}, "storm": {"wind": 4.0}}, seeds=2, budget=40,
    ... )
    >>> len(results.last())  # 2 targets, 2 seeds, and target-only beside passive and aware
    12
    """
    check(max_in_flight, retries)
    check_collect(collect)
    common = _Sweep(
        collect,
        collect if truth is None else truth,
        {"space": space, "inputs": list(inputs), "outputs": list(outputs), **settings},
        _positive(budget, "budget"),
        _positive(rounds, "rounds"),
        _positive(target_rows, "target_rows"),
        _positive(test_rows, "test_rows"),
        name,
    )
    if isinstance(strategies, str) or not strategies:
        raise InputError(f"strategies is {strategies!r}: give a list of names")
    names = [TARGET_ONLY, *map(_name, strategies)]
    if len(set(names)) < len(names):
        raise InputError(f"strategies has a name twice, or {TARGET_ONLY!r}, which is there anyway: {names[1:]}")
    # What is wrong with the settings is said here, not by a worker.
    studies = [_study(common, strategy, 0) for strategy in strategies]
    cases = _cases(strategies, _seed_list(seeds), targets, studies[0].parameters)
    jobs = [Job(place, _run, (common, case), f"in the run {_words(case)}") for place, case in enumerate(cases)]
    found: list[dict[str, Any]] = []
    with opened(executor) as pool, bar(progress, "runs", len(jobs)) as count:

        def take(_place: int, rows: list[dict[str, Any]]) -> None:
            found.extend(rows)
            count(1)

        Work(pool, retries).do(jobs, max_in_flight, take)
    return _results(common, found, seeds=len(_seed_list(seeds)))


def _cases(
    strategies: Sequence[str | Strategy], seeds: Sequence[int], targets: Targets, parameters: Sequence[str]
) -> list[_Case]:
    cases = []
    for seed in seeds:
        for place, (name, task) in enumerate(_targets(targets, seed)):
            what = "the target" if name is None else f"the target {name!r}"
            known = dict(zip(parameters, in_order(task, list(parameters), what), strict=True))
            cases += [_Case(strategy, seed, name, known, place) for strategy in (TARGET_ONLY, *strategies)]
    return cases


def _targets(targets: Targets, seed: int) -> list[tuple[str | None, Mapping[str, float]]]:
    if callable(targets):
        return [(None, targets(seed))]
    if not isinstance(targets, Mapping) or not targets:
        raise InputError(
            f"targets is {targets!r}: give parameters by name, several targets by name, or a function of the seed"
        )
    if all(isinstance(task, Mapping) for task in targets.values()):
        return [(str(name), task) for name, task in targets.items()]  # type: ignore[misc]
    return [(None, targets)]  # type: ignore[list-item]


def _run(common: _Sweep, case: _Case) -> list[dict[str, Any]]:
    """One run, in a worker: a row for every round."""
    study = _study(common, None if case.strategy == TARGET_ONLY else case.strategy, case.seed)
    task = dict(case.task)
    known = _measured(study, common.collect(task, common.target_rows, _draw(case, 0)))
    test, truth = _measured(study, common.truth(task, common.test_rows, _draw(case, 1)))
    scale = truth.std(axis=0)
    scale[scale == 0.0] = 1.0
    study.tell_target("target", *known)

    def row(at: int) -> dict[str, Any]:
        predicted = study.model().predict(test).reshape(truth.shape)
        tasks: dict[str, int] = {}
        for item in study.items():
            if item["collected"] > 0:
                tasks[str(item["task"])] = tasks.get(str(item["task"]), 0) + item["collected"]
        rows = sum(tasks.values())
        return {
            "experiment": common.name,
            "oracle": study.status().trainer,
            "strategy": _name(case.strategy),
            "seed": case.seed,
            "target": case.target,
            "round": at,
            "budget": rows,
            "test_loss": None,
            "returned_loss": float(np.mean(((predicted - truth) / scale) ** 2)),
            "tasks": len(tasks),
            "long_term_tasks": sum(n >= MAIN * rows for n in tasks.values()),
        }

    if case.strategy == TARGET_ONLY:
        return [row(0)]
    found = []
    for at in range(common.rounds):
        study.run(common.collect, budget=common.budget, rounds=at + 1, progress=False)
        found.append(row(at))
    return found


def _study(common: _Sweep, strategy: str | Strategy | None, seed: int) -> Study:
    said: dict[str, Any] = {**common.settings, "targets": ["target"], "seed": seed, "name": common.name}
    if strategy is not None:
        said["strategy"] = strategy
    return create_study(**said)


def _measured(study: Study, rows: Any) -> tuple[Any, Any]:
    pair = rows if isinstance(rows, tuple) else (rows, None)
    if len(pair) != 2:
        raise InputError(f"collect returned {len(pair)} values for the target: return (X, Y)")
    return samples(pair[0], pair[1], study.inputs, study.outputs)


def _draw(case: _Case, purpose: int) -> int:
    """A seed for rows of the target: the same for all strategies."""
    return int(np.random.SeedSequence([case.seed, case.place, purpose]).generate_state(1)[0])


def _results(common: _Sweep, rows: Sequence[Mapping[str, Any]], seeds: int) -> Results:
    settings = {
        "budget": common.budget,
        "rounds": common.rounds,
        "target_rows": common.target_rows,
        "test_rows": common.test_rows,
        "seeds": seeds,
    }
    # By target, strategy and seed, as the command writes them.
    targets = list(dict.fromkeys(row["target"] for row in rows))
    names = list(dict.fromkeys(row["strategy"] for row in rows))
    key = {id(row): (targets.index(row["target"]), names.index(row["strategy"]), row["seed"]) for row in rows}
    table = write_table(sorted(rows, key=lambda row: (*key[id(row)], row["round"])))
    about, figures, page = _native.summarise(table, json.dumps(settings))
    said = json.loads(about)
    drawn = {f"loss {target}".strip(): Figure(f"Loss {target}".strip(), svg) for target, svg in figures}
    return Results(read_table(table), said["summary"], said["table"], drawn, page)


def _words(case: _Case) -> str:
    target = "" if case.target is None else f" on {case.target}"
    return f"{_name(case.strategy)}{target} seed {case.seed}"


def _name(strategy: str | Strategy) -> str:
    return strategy if isinstance(strategy, str) else strategy.name


def _seed_list(seeds: int | range | Sequence[int]) -> list[int]:
    found = list(range(seeds)) if isinstance(seeds, int) else [int(seed) for seed in seeds]
    if not found or len(set(found)) < len(found) or min(found) < 0:
        raise InputError(f"seeds is {seeds!r}: give how many, or different whole numbers of at least 0")
    return found


def _positive(value: int, what: str) -> int:
    if not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{what} is {value!r}: give a whole number of at least 1")
    return int(value)
