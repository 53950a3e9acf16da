"""Studies: campaigns that ask what to measure, take rows, learn and forecast; the same as the command's."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _native, _run
from ._figures import Bar, Figure, bars, named
from ._frames import Rows, listed, samples
from ._model import Model
from ._parts import Features, NativePart, Part, Strategy, TaskSpace, Trainer, native_part
from ._records import Batch, Event, Forecast, Item, Plan, Receipt, Status
from ._spaces import Ball, Box, Candidates, Column, Target, in_order
from ._spaces import Space as OurSpace
from .errors import InputError

if TYPE_CHECKING:
    import pandas

Storage: TypeAlias = str | os.PathLike[str]
Space: TypeAlias = OurSpace | TaskSpace


class Study:
    """A campaign: ask what to measure, tell what came, use the model.

    Made by `create_study` and `load_study`. With a storage, everything is on disk before a call returns, and the
    `taskscout` command works on the same study.

    >>> import numpy as np
    >>> import taskscout as ts
    >>> def collect(task, n, seed):
    ...     rng = np.random.default_rng(seed)
    ...     x = rng.normal(size=(n, 1))
    ...     return x, task["wind"] * x[:, 0] + 0.1 * rng.normal(size=n)
    >>> study = ts.create_study(
    ...     space=ts.Box(wind=(-5, 5)), inputs=["speed"], outputs=["drag"], targets=["tomorrow"]
    ... )
    >>> receipt = study.tell_target("tomorrow", *collect({"wind": 3.0}, 20, seed=1))
    >>> for item in study.ask(40):
    ...     receipt = study.tell(item, *collect(item.task, item.n, study.item_seed(item)))
    >>> study.run(collect, budget=40, rounds=2).status().source_rows
    80
    >>> bool(abs(study.model("tomorrow").predict([[1.0]])[0] - 3.0) < 0.2)
    True
    >>> [event.kind for event in study.history()][:3]
    ['created', 'scaled', 'target-told']
    """

    def __init__(
        self, native: _native.Study, storage: str | None, parts: Sequence[Part], parameters: list[str]
    ) -> None:
        self._native = native
        self._storage = storage
        self._parts = tuple(parts)
        about = json.loads(native.definition())
        self.name: str = native.name()
        """What it is called."""
        self.parameters: list[str] = [column["name"] for column in about["parameters"]]
        """The parameters of a task."""
        parameters[:] = self.parameters
        self.inputs: list[str] = [column["name"] for column in about["inputs"]]
        """The inputs of a row."""
        self.outputs: list[str] = [column["name"] for column in about["outputs"]]
        """The outputs of a row."""
        self.seed: int = about["seed"]
        """What all draws derive from."""

    @property
    def targets(self) -> list[str]:
        """The names of the targets."""
        return list(self.status().targets)

    def ask(
        self,
        budget: int,
        *,
        sample_cost: float | None = None,
        switch_cost: float | None = None,
        smallest_batch: int | None = None,
        max_tasks: int | None = None,
        episode: int | None = None,
        forbidden: Sequence[str] = (),
    ) -> Plan:
        """Asks what to measure next for a budget, in samples or in units of cost.

        The other settings are for this plan only; the study's own are used where they are not given.
        """
        limits = _said(
            sample_cost=sample_cost,
            switch_cost=switch_cost,
            smallest_batch=smallest_batch,
            max_tasks=max_tasks,
            episode=episode,
            forbidden=list(forbidden),
        )
        asked = json.loads(self._native.ask(_count(budget, "budget"), json.dumps(limits)))
        plan = asked["plan"]
        items = [self._item(item) for item in plan["items"]]
        return Plan(items, plan["round"], plan.get("short", 0), asked["behind"])

    def _item(self, said: dict[str, Any]) -> Item:
        task = dict(zip(self.parameters, said["task"]["parameters"], strict=True))
        return Item(
            said["id"],
            task,
            said["n"],
            said["stage"],
            said["reason"],
            said["similarity"],
            str(said["task"]["id"]),
        )

    def tell(
        self,
        item: Item | int,
        X: Rows,
        Y: Rows | None = None,
        *,
        task: Mapping[str, float] | Sequence[float] | None = None,
        source: str | None = None,
    ) -> Receipt:
        """Tells rows of an item: fewer or more than asked for are welcome, the same ones twice count once.

        X and Y are arrays, or frames whose columns are found by name; a frame may hold both. Give the parameters as
        `task` where another one than planned was really set.
        """
        x, y = samples(X, Y, self.inputs, self.outputs)
        set_to = None if task is None else in_order(task, self.parameters, "the task")
        return Receipt.of(json.loads(self._native.tell(_id(item), x, y, set_to, source)))

    def tell_target(self, name: str | None, X: Rows, Y: Rows | None = None, *, source: str | None = None) -> Receipt:
        """Tells rows of a target, of the only one if the name is None."""
        x, y = samples(X, Y, self.inputs, self.outputs)
        return Receipt.of(json.loads(self._native.tell_target(name, x, y, source)))

    def add(
        self,
        task: str | Mapping[str, float] | Sequence[float],
        X: Rows,
        Y: Rows | None = None,
        *,
        name: str | None = None,
        source: str | None = None,
    ) -> Receipt:
        """Adds rows that nobody asked for, of a task by its name in the table of candidates or by its parameters."""
        x, y = samples(X, Y, self.inputs, self.outputs)
        if isinstance(task, str):
            name, parameters = task, None
        else:
            parameters = in_order(task, self.parameters, "the task")
        try:
            return Receipt.of(json.loads(self._native.add(name, parameters, x, y, source)))
        except InputError as error:
            if parameters is not None or "no task is called" not in str(error):
                raise
            raise InputError(f"no task is called {name!r}: give its parameters, by name or in their order") from None

    def add_target(self, target: str | Target) -> None:
        """Names a new target."""
        wanted = target if isinstance(target, Target) else Target(target)
        self._native.add_target(json.dumps(wanted.settings(self.parameters)))

    def fail(self, item: Item | int, reason: str = "no reason given", *, retry: bool = False) -> None:
        """Gives an item up, or back to be tried again."""
        self._native.fail(_id(item), reason, retry)

    def retract(self, batch: Receipt | Batch | str | None = None, *, item: Item | int | None = None) -> list[Batch]:
        """Forgets rows that turned out to be wrong: a batch, or all rows of an item."""
        if (batch is None) == (item is None):
            raise InputError("give either a batch or an item to retract")
        name: str | None
        match batch:
            case Receipt():
                name = batch.batch
            case Batch():
                name = batch.id
            case _:
                name = batch
        said = self._native.retract(name, None if item is None else _id(item))
        return [Batch.of_json(one) for one in json.loads(said)]

    def undo(self) -> Event:
        """Takes the last change back, and says which it was."""
        return Event.of_json(json.loads(self._native.undo()))

    def note(self, text: str) -> None:
        """Writes something down."""
        self._native.note(text)

    def status(self) -> Status:
        """Where the study stands, and what to do next."""
        said, text = self._native.status()
        return Status.of(json.loads(said), text)

    def items(self) -> list[dict[str, Any]]:
        """Every item ever planned, with its state."""
        items: list[dict[str, Any]] = json.loads(self._native.items())
        return items

    def open_items(self, *, free: bool = False) -> list[Item]:
        """The items that rows are still missing of; `n` is what is missing.

        With `free`, without those that somebody measures now, as `taskscout study start` says.
        """
        closed = ("told", "failed", "running") if free else ("told", "failed")
        found = []
        for said in self.items():
            if said["state"] not in closed:
                task = {"id": said["task"], "parameters": said["parameters"]}
                missing = max(said["n"] - said["collected"], 1)
                about = {"id": said["item"], "task": task, "n": missing, "similarity": None}
                found.append(self._item({**said, **about}))
        return found

    def batches(self) -> list[Batch]:
        """The rows that were told and can be retracted."""
        return [Batch.of_json(one) for one in json.loads(self._native.batches())]

    def history(self) -> list[Event]:
        """What happened, when and by whom."""
        return [Event.of_json(one) for one in json.loads(self._native.history())]

    def forecast(self, budgets: Iterable[int] = ()) -> Forecast:
        """What further budgets would bring, and whether to stop."""
        said, text, svg = self._native.forecast([_count(budget, "budget") for budget in budgets])
        return Forecast.of(json.loads(said), text, svg)

    def model(self, target: str | None = None) -> Model:
        """The model of a target, of the only one if none is named."""
        return Model(self._native.model(target))

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes a page with the plan, the forecast, the model and the history."""
        page = self._native.report()
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)

    def export(self, folder: str | os.PathLike[str], *, parquet: bool = False) -> None:
        """Writes settings, plans, history and all rows into a new folder."""
        self._native.export(os.fspath(folder), parquet)

    def item_seed(self, item: Item | int) -> int:
        """The seed for an item's rows: from the study's seed and the item, the same in every process."""
        return self._native.item_seed(_id(item))

    def run(
        self,
        collect: _run.Collect,
        *,
        budget: int,
        rounds: int = 1,
        executor: Executor | Callable[[], Executor] | None = None,
        max_in_flight: int | None = None,
        callbacks: Sequence[_run.Callback] = (),
        retries: int = 0,
        progress: bool | None = None,
    ) -> Study:
        """Asks, measures and tells until the study has so many rounds; begins with open items that nobody measures.

        `collect(task, n, seed)` measures n samples of a task, a dictionary of parameters, and returns `(X, Y)`, a
        frame with all columns, or `(X, Y, task)` where another task was really set. It runs in the executor, if one
        is given; only this process touches the study. Rows are told in the order of the items, so the study does not
        depend on the number of workers.

        An exception of `collect` ends the run with its own traceback, after `retries` more tries with the same seed.
        What came is told, the item stays open, and `run` can be called again. Give a function that makes executors
        where workers may die: a broken one is replaced then, and the item tried again.
        """
        _run.run(
            self,
            collect,
            _count(budget, "budget"),
            _count(rounds, "rounds"),
            executor,
            max_in_flight,
            callbacks,
            retries,
            progress,
        )
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self._storage is None:
            raise InputError("a study in memory cannot be pickled: create it with a storage")
        return _load, (self.name, self._storage, self._parts)

    def __repr__(self) -> str:
        status = self.status()
        return f"<Study {self.name!r}: {status.rounds} rounds, {status.source_rows} source rows; next: {status.next}>"

    def figure(self) -> Figure:
        """Rows of each task so far, the most first; colours are the stages that asked for them."""
        rows: dict[tuple[str, str], int] = {}
        names: dict[str, str] = {}
        for item in self.items():
            task = str(item["task"])
            names[task] = named(task, dict(zip(self.parameters, item["parameters"], strict=True)))
            if item["collected"] > 0:
                rows[task, item["stage"]] = rows.get((task, item["stage"]), 0) + item["collected"]
        most = sorted(rows.items(), key=lambda entry: -entry[1])
        return bars("Rows of each task", "rows", "", [Bar(names[task], n, None, stage) for (task, stage), n in most])

    def to_pandas(self) -> pandas.DataFrame:
        """Every item ever planned as a frame of pandas, with a column for each parameter."""
        import pandas

        rows = []
        for item in self.items():
            parameters = dict(zip(self.parameters, item["parameters"], strict=True))
            rows.append({**{key: value for key, value in item.items() if key != "parameters"}, **parameters})
        return pandas.DataFrame(rows)

    def _repr_html_(self) -> str:
        shown = self.figure().svg if any(item["collected"] > 0 for item in self.items()) else ""
        return self.status()._repr_html_() + shown


def create_study(
    *,
    space: Space,
    inputs: Sequence[str | Column],
    outputs: Sequence[str | Column],
    targets: Sequence[str | Target] = (),
    name: str = "study",
    storage: Storage | None = None,
    load_if_exists: bool = False,
    strategy: str | Strategy | None = None,
    trainer: str | Mapping[str, Any] | Trainer | None = None,
    k: int | None = None,
    seed: int = 0,
    task_features: str | Mapping[str, Any] | Features | None = None,
    input_features: str | Mapping[str, Any] | Features | None = None,
    scaling: str | None = None,
    unit: str | None = None,
    sample_cost: float | None = None,
    switch_cost: float | None = None,
    smallest_batch: int | None = None,
    max_tasks: int | None = None,
    most_of_a_task: int | None = None,
    episode: int | None = None,
    forbidden: Sequence[str] = (),
    target_rows: bool | None = None,
    target_sample_cost: float | None = None,
    author: str | None = None,
) -> Study:
    """Begins a study.

    `storage` is a path or `sqlite:///tunnel.db` (three slashes before a relative path, four before an absolute one),
    or `postgresql://user@host/database`; without one the study lives in memory. With `load_if_exists`, a study of
    this name goes on. Features are `auto` (chosen by what was measured), `identity`, `affine`, `quadratic`, `cubic`,
    or a mapping with a `kind`; so may be a trainer with settings, as in
    `{"kind": "neural", "network": {"hidden": [16]}}`. Space, features, strategy and trainer may also be objects of
    classes of your own. `target_rows=False` says that no more rows of the targets can be had, `target_sample_cost`
    what one costs.

    >>> import taskscout as ts
    >>> study = ts.create_study(
    ...     space=ts.Box(wind=(-5, 5, "m/s"), payload=(0, 2, "kg")),
    ...     inputs=["vx", "vy"],
    ...     outputs=[ts.Column("force", unit="N")],
    ...     targets=["tomorrow"],
    ... )
    >>> study.parameters
    ['wind', 'payload']
    """
    names = _parameter_names(space)
    given = (space, task_features, input_features, strategy, trainer)
    parts = [part for part in given if isinstance(part, Part)]
    trainer_name, trainer_settings = _named_trainer(trainer)
    if isinstance(targets, str | Target):
        raise InputError(f"targets is {targets!r}: give a list of targets")
    wanted = [target if isinstance(target, Target) else Target(target) for target in targets]
    with _space_settings(space) as tasks:
        settings = _said(
            name=name,
            strategy=strategy.name if isinstance(strategy, Strategy) else strategy,
            trainer=trainer_name,
            trainer_settings=trainer_settings,
            k=k,
            seed=_count(seed, "seed"),
            tasks=_said(**tasks, features=_feature_settings(task_features)),
            rows=_said(
                inputs=_columns(inputs, "inputs"),
                outputs=_columns(outputs, "outputs"),
                features=_feature_settings(input_features),
                scaling=scaling,
            ),
            targets=[_said(**target.settings(names)) for target in wanted],
            collection=_said(
                unit=unit,
                sample_cost=sample_cost,
                switch_cost=switch_cost,
                smallest_batch=smallest_batch,
                max_tasks=max_tasks,
                most_of_a_task=most_of_a_task,
                episode=episode,
                forbidden=list(forbidden),
                target_rows=target_rows,
                target_sample_cost=target_sample_cost,
            ),
        )
        address = _address(storage)
        try:
            natives, known = _native_parts(parts)
            native = _native.Study.create(json.dumps(settings), address, author, natives)
            return Study(native, address, parts, known)
        except InputError:
            if not load_if_exists or address is None or name not in list_studies(address):
                raise
    study = load_study(name, address, author=author, parts=parts)
    _check_same(study, names, settings["rows"])
    return study


def load_study(
    name: str | None = None,
    storage: Storage | None = None,
    *,
    author: str | None = None,
    parts: Sequence[Part] = (),
) -> Study:
    """Opens a study of a storage, the only one if no name is given.

    A study with parts of your own needs them again as `parts`; it says by name which are missing.

    >>> import tempfile, taskscout as ts
    >>> place = tempfile.mkdtemp() + "/tunnel.db"
    >>> columns = {"inputs": ["speed"], "outputs": ["drag"], "targets": ["mine"]}
    >>> study = ts.create_study(space=ts.Box(wind=(-5, 5)), **columns, name="tunnel", storage=place)
    >>> ts.load_study("tunnel", place).status().rounds
    0
    """
    address = _address(storage)
    if address is None:
        raise InputError("a study in memory cannot be loaded: give its storage")
    natives, known = _native_parts(parts)
    return Study(_native.Study.load(address, name, author, natives), address, parts, known)


def _load(name: str, storage: str, parts: Sequence[Part]) -> Study:
    return load_study(name, storage, parts=parts)


def list_studies(storage: Storage) -> list[str]:
    """The names of the studies of a storage.

    >>> import tempfile, taskscout as ts
    >>> place = tempfile.mkdtemp() + "/tunnel.db"
    >>> columns = {"inputs": ["speed"], "outputs": ["drag"], "targets": ["mine"]}
    >>> study = ts.create_study(space=ts.Box(wind=(-5, 5)), **columns, name="tunnel", storage=place)
    >>> ts.list_studies(place)
    ['tunnel']
    """
    address = _address(storage)
    heads = json.loads(_native.list_studies(address or ""))
    return [str(head["study"]) for head in heads]


def _said(**settings: Any) -> dict[str, Any]:
    """Settings without those that say nothing."""
    return {key: value for key, value in settings.items() if value is not None}


def _native_parts(parts: Sequence[Part]) -> tuple[list[NativePart], list[str]]:
    """Parts for the native half, and a list that takes the names of parameters when they are known."""
    names: list[str] = []
    # The same features may be those of tasks and of inputs.
    different = list({id(part): part for part in parts}.values())
    return [native_part(part, names) for part in different], names


def _feature_settings(features: str | Mapping[str, Any] | Features | None) -> Any:
    return {"kind": features.name} if isinstance(features, Features) else features


def _named_trainer(trainer: str | Mapping[str, Any] | Trainer | None) -> tuple[str | None, dict[str, Any] | None]:
    match trainer:
        case Trainer():
            return trainer.name, None
        case Mapping():
            settings = dict(trainer)
            kind = settings.pop("kind", None)
            if not isinstance(kind, str):
                raise InputError('the trainer has no kind: say which it is, as in {"kind": "neural"}')
            return kind, settings
    return trainer, None


@contextmanager
def _space_settings(space: Space) -> Iterator[dict[str, Any]]:
    if isinstance(space, TaskSpace):
        yield {"space": {"kind": space.name}, "columns": list(space.parameters)}
        return
    with space.settings() as settings:
        yield settings


def _columns(columns: Sequence[str | Column], what: str) -> list[Any]:
    if isinstance(columns, str):
        raise InputError(f"{what} is the text {columns!r}: give a list of names")
    return [_said(**column.settings()) if isinstance(column, Column) else column for column in columns]


def _parameter_names(space: Space) -> list[str] | None:
    match space:
        case Box():
            return list(space.ranges)
        case Ball():
            return [f"w{i}" for i in range(space.dim)]
        case Candidates():
            return None if space.columns is None else list(space.columns)
        case TaskSpace():
            return list(space.parameters)
    raise InputError(f"the space is {type(space).__name__}: give Box, Ball or Candidates, or a TaskSpace of your own")


def _check_same(study: Study, parameters: list[str] | None, rows: dict[str, Any]) -> None:
    """Refuses to go on with a study of other columns."""

    def names(columns: list[Any]) -> list[str]:
        return [column["name"] if isinstance(column, dict) else column for column in columns]

    pairs = [
        ("inputs", study.inputs, names(rows["inputs"])),
        ("outputs", study.outputs, names(rows["outputs"])),
    ]
    if parameters is not None:
        pairs.append(("parameters", study.parameters, parameters))
    for what, there, wanted in pairs:
        if there != wanted:
            raise InputError(
                f"the study `{study.name}` is there already with the {what} {listed(there)}, not {listed(wanted)}: "
                "give it another name"
            )


def _address(storage: Storage | None) -> str | None:
    return None if storage is None else os.fspath(storage)


def _id(item: Item | int) -> int:
    return item.id if isinstance(item, Item) else _count(item, "item")


def _count(value: Any, what: str) -> int:
    """A whole number of at least 0, as numpy and Python have them."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        number = -1
    if number < 0 or number != value:
        raise InputError(f"{what} is {value!r}: give a whole number of at least 0")
    return number
