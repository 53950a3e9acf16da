"""Parts of a study of one's own: features, spaces, strategies and trainers, as classes to derive from.

An object of such a class is given to `create_study` in the place of a name. A storage keeps names, not code: whoever
loads the study gives the same parts again.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from . import _native
from ._frames import contiguous, numbers
from ._spaces import in_order
from .errors import InputError

Array: TypeAlias = npt.NDArray[np.float64]
#: A task: its parameters by name or in order.
Task: TypeAlias = Mapping[str, float] | Sequence[float] | Array
#: A line of a plan: a task, how many samples, and why.
Line: TypeAlias = tuple[Task, int] | tuple[Task, int, str]
#: What the native half takes: kind, name, settings as JSON, and a function.
NativePart: TypeAlias = tuple[str, str, str, Callable[..., Any]]


class Features(ABC):
    """A feature map: rows in, rows of features out; for inputs (`input_features`) or tasks (`task_features`).

    >>> class Drag(Features):
    ...     input_dim, dim = 1, 2
    ...     def __call__(self, X):
    ...         return np.hstack([X, X * abs(X)])
    >>> Drag().name
    'Drag'
    """

    input_dim: int
    """Length of a row."""
    dim: int
    """Length of a row of features."""

    @property
    def name(self) -> str:
        """What a storage knows it by: the name of the class, unless you say otherwise."""
        return type(self).__name__

    @abstractmethod
    def __call__(self, X: Array) -> npt.ArrayLike:
        """The features of rows: n × input_dim in, n × dim out. The same rows must give the same features."""


class TaskSpace(ABC):
    """A set of tasks that can be measured, where neither a box nor a table describes it.

    Designs look for the best task among 4,096 that `sample` draws.

    >>> class Disc(TaskSpace):
    ...     parameters = ["x", "y"]
    ...     def sample(self, n, rng):
    ...         angle, radius = rng.uniform(0, 2 * np.pi, n), np.sqrt(rng.uniform(size=n))
    ...         return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    ...     def contains(self, task):
    ...         return bool(task @ task <= 1.0)
    >>> Disc().contains(np.array([1.0, 1.0]))
    False
    """

    parameters: Sequence[str]
    """The names of a task's parameters."""

    @property
    def name(self) -> str:
        """What a storage knows it by: the name of the class, unless you say otherwise."""
        return type(self).__name__

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> npt.ArrayLike:
        """Tasks drawn uniformly: n × parameters. All randomness must come from `rng`."""

    @abstractmethod
    def contains(self, task: Array) -> bool:
        """Whether a task is in the space."""


@dataclass(frozen=True)
class PlanContext:
    """What a strategy of one's own may look at."""

    parameters: Sequence[str]
    """The names of a task's parameters."""
    round: int
    """The round to plan, from 0."""
    budget: int
    """Samples to plan."""
    seed: int
    """The seed of the study."""
    warming_up: bool
    """Whether too little is known to choose by it."""
    active_rounds: int
    """Rounds since the warm-up ended."""
    rows: Sequence[tuple[dict[str, float], int]]
    """Source tasks with the rows that they gave, or that are under way."""
    left: npt.NDArray[np.int64] | None
    """Samples that each of the candidates has left, if there are limits."""
    need: Array | None
    """`A`, what the targets need of each pair of directions: k × k; None before the first model."""
    given: Array | None
    """The information that is there already: k × k."""
    task_map: Array | None
    """`B`, from features of tasks to embeddings: outputs × k × features; None before the first model."""
    targets: Array | None
    """The embeddings of the targets, several outputs one after the other; None before the first model."""
    _site: _native.TaskSite = field(repr=False)

    @cached_property
    def rng(self) -> np.random.Generator:
        """A generator of this round: the same study makes the same draws."""
        return np.random.default_rng([self.seed, self.round])

    @cached_property
    def candidates(self) -> Array | None:
        """All tasks, n × parameters, where there is a table of them."""
        return self._site.tasks()

    @cached_property
    def names(self) -> list[str] | None:
        """The names of the candidates."""
        return self._site.names()

    def sample(self, n: int) -> Array:
        """Tasks drawn uniformly from the space: n × parameters."""
        return self._site.sample(int(n), int(self.rng.integers(2**63)))

    def features(self, tasks: npt.ArrayLike) -> Array:
        """The features of tasks: n × parameters in, n × features out."""
        return self._site.features(contiguous(np.atleast_2d(numbers(tasks, "tasks"))))

    def embed(self, tasks: npt.ArrayLike) -> Array:
        """The embeddings of tasks: n × outputs × k."""
        if self.task_map is None:
            raise InputError("there is no model yet: set `needs_model = True`, and use `warming_up` until there is one")
        return np.asarray(np.einsum("okp,np->nok", self.task_map, self.features(tasks)))


class Strategy(ABC):
    """A rule for choosing tasks.

    >>> class Favourite(Strategy):
    ...     def plan(self, context):
    ...         return [({"wind": 3.0}, context.budget, "the favourite")]
    """

    needs_model: bool = False
    """Whether planning needs a model after the warm-up."""

    @property
    def name(self) -> str:
        """What a storage knows it by: the name of the class, unless you say otherwise."""
        return type(self).__name__

    @abstractmethod
    def plan(self, context: PlanContext) -> Iterable[Line]:
        """What to collect with the budget: tasks, how many samples of each, and why."""


@dataclass(frozen=True)
class TrainingData:
    """What a trainer of one's own learns from: rows, or statistics of the rows of each task.

    Inputs are features of inputs, in the study's scaling.

    >>> data = TrainingData.of_rows([[1.0], [2.0], [3.0]], [1.0, 2.0, 6.0], [0, 0, 1])
    >>> data.count
    array([2, 1])
    """

    k: int | None
    """Numbers of the representation that the study wants; yours to choose where None."""
    seed: int
    """What all randomness of the fit must come from."""
    task_features: Array
    """The features of tasks: tasks × features. A target with unknown parameters has one of its own."""
    X: npt.NDArray[np.float32]
    """Inputs of all rows; empty where statistics are asked for."""
    Y: npt.NDArray[np.float32]
    """Outputs of all rows."""
    task: npt.NDArray[np.int64]
    """The task of each row."""
    gram: Array
    """`Σ xxᵀ` of each task: tasks × inputs × inputs; empty where rows are asked for."""
    moment: Array
    """`Σ xy` of each task: tasks × inputs × outputs."""
    count: npt.NDArray[np.int64]
    """Rows of each task."""

    @staticmethod
    def of_rows(
        X: npt.ArrayLike,
        Y: npt.ArrayLike,
        task: npt.ArrayLike,
        task_features: npt.ArrayLike | None = None,
        *,
        k: int | None = None,
        seed: int = 0,
    ) -> TrainingData:
        """Rows of your own, to train without a study.

        `task` counts tasks from 0; each has a feature of its own if none are given.
        """
        x, y = (np.asarray(values, dtype=np.float32) for values in (X, Y))
        y = y[:, np.newaxis] if y.ndim == 1 else y
        tasks = np.asarray(task, dtype=np.int64)
        if not (x.ndim == y.ndim == 2 and x.shape[:1] == y.shape[:1] == tasks.shape and len(x) > 0):
            raise InputError(f"X, Y and task have the shapes {x.shape}, {y.shape} and {tasks.shape}: give rows of each")
        features = np.eye(tasks.max() + 1) if task_features is None else numbers(task_features, "task_features")
        if features.ndim != 2 or tasks.min() < 0 or tasks.max() >= len(features):
            raise InputError(f"task_features have the shape {features.shape}: give a row for each of the tasks")
        nothing = np.zeros((0, 0, 0))
        count = np.bincount(tasks, minlength=len(features))
        return TrainingData(k, seed, features, x, y, tasks, nothing, nothing, count)


@runtime_checkable
class Representation(Protocol):
    """A representation of one's own: a function of rows with `dim` numbers of each."""

    dim: int
    """Numbers of a row."""

    def __call__(self, X: Array) -> npt.ArrayLike:
        """The representation of rows: n × inputs in, n × dim out. The same rows must give the same numbers."""


@dataclass(frozen=True)
class Perceptron:
    """A network of full layers as a representation; models with it can be saved and exported.

    `layers` are weights (inputs × outputs) with a bias, or None; `activation`, `relu` or `tanh`, is between them.

    >>> Perceptron([(np.ones((3, 2)), None)]).activation
    'relu'
    """

    layers: Sequence[tuple[npt.ArrayLike, npt.ArrayLike | None]]
    activation: str = "relu"


class Trainer(ABC):
    """Learns a representation; heads, task map, guard and uncertainty on top of it are the study's.

    A fit is made of the sources alone first, and then with rows of targets from there: `start` is what the fit of the
    sources returned. It is made again without parts of the targets' rows, to judge it on them.

    >>> class Everything(Trainer):
    ...     needs_rows = False
    ...     def fit(self, data, start):
    ...         return np.eye(data.gram.shape[1])
    >>> Everything().name
    'Everything'
    """

    needs_rows: bool = True
    """Whether it learns from rows. One that learns from statistics returns a matrix."""
    alone: bool = False
    """Whether it can learn from the rows of a target alone, as one task with the single feature 1."""

    @property
    def name(self) -> str:
        """What a storage knows it by: the name of the class, unless you say otherwise."""
        return type(self).__name__

    @abstractmethod
    def fit(self, data: TrainingData, start: Any | None) -> Representation | Perceptron | npt.ArrayLike:
        """Learns a representation: a function with a `dim`, a `Perceptron`, or a matrix (inputs × k)."""


Part: TypeAlias = Features | TaskSpace | Strategy | Trainer


def native_part(part: Part, parameters: Sequence[str]) -> NativePart:
    """A part as the native half takes it; `parameters` are the names of a task's parameters, known when it is used."""
    match part:
        case Features():
            about = {"input_dim": _size(part, "input_dim"), "dim": _size(part, "dim")}
            return "features", part.name, json.dumps(about), _FeaturesCall(part)
        case TaskSpace():
            about = {"dim": len(part.parameters)}
            return "space", part.name, json.dumps(about), _SpaceCall(part)
        case Strategy():
            return "strategy", part.name, json.dumps({"needs_model": part.needs_model}), _PlanCall(part, parameters)
        case Trainer():
            kind = {"needs_rows": part.needs_rows, "alone": part.alone}
            return "trainer", part.name, json.dumps(kind), _FitCall(part)
    raise InputError(
        f"a part is {type(part).__name__}: derive its class from Features, TaskSpace, Strategy or Trainer of taskscout"
    )


def _size(part: Features, key: str) -> int:
    value = getattr(part, key, None)
    if not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"`{key}` of `{part.name}` is {value!r}: give a whole number of at least 1")
    return int(value)


def _shaped(values: Any, shape: tuple[int, int], what: str) -> Array:
    array = numbers(values, what)
    if array.shape != shape:
        raise InputError(f"{what} have the shape {array.shape}: it must be {shape}")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad) > 0:
        row, column = bad[0]
        raise InputError(f"{what} have {array[row, column]} in row {row}, column {column}: they must be finite")
    return contiguous(array)


@dataclass(frozen=True)
class _FeaturesCall:
    part: Features

    def __call__(self, X: Array) -> Array:
        return _shaped(self.part(X), (len(X), self.part.dim), f"the features of `{self.part.name}`")


@dataclass(frozen=True)
class _SpaceCall:
    part: TaskSpace

    def __call__(self, what: str, value: Any, seed: int) -> Any:
        if what == "contains":
            return bool(self.part.contains(value[0]))
        drawn = self.part.sample(value, np.random.default_rng(seed))
        return _shaped(drawn, (value, len(self.part.parameters)), f"the tasks of `{self.part.name}`")


@dataclass(frozen=True)
class _PlanCall:
    part: Strategy
    parameters: Sequence[str]

    def __call__(
        self,
        about: str,
        site: _native.TaskSite,
        need: Array | None,
        given: Array | None,
        maps: list[Array] | None,
        targets: list[list[float]] | None,
    ) -> list[tuple[list[float], int, str]]:
        said = json.loads(about)
        rows = said.pop("rows")
        names = list(self.parameters)
        left = said.pop("left")
        context = PlanContext(
            **said,
            parameters=names,
            rows=[(dict(zip(names, task, strict=True)), count) for task, count in rows],
            left=None if left is None else np.asarray(left),
            need=need,
            given=given,
            task_map=None if maps is None else np.stack(maps),
            targets=None if targets is None else np.asarray(targets, dtype=float),
            _site=site,
        )
        return [self._line(line, names) for line in self.part.plan(context)]

    def _line(self, line: Line, names: Sequence[str]) -> tuple[list[float], int, str]:
        what = f"a line of the plan of `{self.part.name}`"
        if not isinstance(line, tuple) or len(line) not in (2, 3):
            raise InputError(f"{what} is {line!r}: give (task, samples) or (task, samples, reason)")
        task = in_order(line[0], names, what)  # type: ignore[arg-type]
        n = line[1]
        if not isinstance(n, int | np.integer) or n < 1:
            raise InputError(f"{what} asks for {n!r} samples: give a whole number of at least 1")
        return task, int(n), str(line[2]) if len(line) == 3 else f"chosen by {self.part.name}"


@dataclass(frozen=True)
class _FitCall:
    part: Trainer

    def __call__(self, k: int | None, seed: int, arrays: Any, start: Any) -> tuple[Any, str, Any]:
        features, rows, statistics = arrays
        empty = np.zeros
        x, y, task = rows or (empty((0, 0), np.float32), empty((0, 0), np.float32), empty(0, np.int64))
        gram, moment, count = statistics or (empty((0, 0, 0)), empty((0, 0, 0)), np.bincount(task))
        data = TrainingData(k, seed, features, x, y, task, gram, moment, count)
        learnt = self.part.fit(data, start)
        return (learnt, *_learnt(learnt, self.part.name))


def _learnt(learnt: Any, name: str) -> tuple[str, Any]:
    """What a trainer learnt, in the form that the native half uses."""
    learnt = getattr(learnt, "perceptron", None) or learnt
    if isinstance(learnt, Perceptron):
        if learnt.activation not in ("relu", "tanh"):
            raise InputError(f"the activation of a Perceptron is {learnt.activation!r}: use 'relu' or 'tanh'")
        what = f"a layer of `{name}`"
        layers = [
            (contiguous(np.atleast_2d(numbers(w, what))), None if b is None else contiguous(numbers(b, what).ravel()))
            for w, b in learnt.layers
        ]
        return learnt.activation, layers
    if callable(learnt):
        dim = getattr(learnt, "dim", None)
        if not isinstance(dim, int | np.integer) or dim < 1:
            raise InputError(f"`dim` of what `{name}` learnt is {dim!r}: give the numbers of its representation")
        return "function", (int(dim), _RepresentationCall(learnt, int(dim), name))
    matrix = numbers(learnt, f"the matrix of `{name}`")
    if matrix.ndim != 2:
        raise InputError(f"the matrix of `{name}` has the shape {matrix.shape}: give inputs × k")
    return "matrix", contiguous(matrix)


@dataclass(frozen=True)
class _RepresentationCall:
    representation: Representation
    dim: int
    name: str

    def __call__(self, X: Array) -> Array:
        return _shaped(self.representation(X), (len(X), self.dim), f"the representation of `{self.name}`")
