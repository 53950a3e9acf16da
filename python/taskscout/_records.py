"""What studies hand out: plans, receipts, where they stand, what happened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any, overload

from ._figures import Bar, Figure, bars, named
from .errors import InputError

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Item:
    """One line of a plan: measure `n` samples of a task."""

    id: int
    """Its number, unique in the study."""
    task: Mapping[str, float]
    """The task's parameters, by name."""
    n: int
    """Samples to measure."""
    stage: str
    """The stage that asks: warm-up, explore or exploit."""
    reason: str
    """Why this task."""
    similarity: float | None = None
    """Cosine between the task's embedding and the nearest target's, where known."""
    name: str = ""
    """What the task is called in the study."""


class Plan(Sequence[Item]):
    """What to measure next, in order; shows itself as a table in notebooks.

    >>> import taskscout as ts
    >>> study = ts.create_study(space=ts.Box(wind=(-5, 5)), inputs=["speed"], outputs=["drag"], targets=["mine"])
    >>> plan = study.ask(10)
    >>> plan.budget, plan.round, plan[0].stage
    (10, 0, 'warm-up')
    """

    def __init__(self, items: Sequence[Item], round: int, short: int, behind: int | None) -> None:
        self.items = tuple(items)
        self.round = round
        """The round, from 0."""
        self.short = short
        """Samples of the budget that no task has left."""
        self.behind = behind
        """Entries that the model behind it did not know of, where another process was training."""

    @property
    def budget(self) -> int:
        """Samples in all."""
        return sum(item.n for item in self.items)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __repr__(self) -> str:
        return f"<Plan of round {self.round}: {self.budget} samples of {len(self)} tasks>"

    def rows(self) -> list[dict[str, Any]]:
        """The items as rows of a table, with a column for each parameter."""
        rows = []
        for item in self.items:
            said = asdict(item)
            parameters = said.pop("task")
            rows.append(
                {
                    "id": said["id"],
                    "task": said["name"],
                    **parameters,
                    "n": said["n"],
                    "stage": said["stage"],
                    "similarity": said["similarity"],
                    "reason": said["reason"],
                }
            )
        return rows

    def to_pandas(self) -> pandas.DataFrame:
        """The items as a frame of pandas."""
        import pandas

        return pandas.DataFrame(self.rows())

    def figure(self) -> Figure:
        """Samples of each task, the most first; colours are stages."""
        shown = sorted(self.items, key=lambda item: -item.n)
        made = [Bar(named(item.name, dict(item.task)), item.n, item.similarity, item.stage) for item in shown]
        return bars(f"Samples of round {self.round}", "samples", "similarity to the target", made)

    def _repr_html_(self) -> str:
        return html_table(self.rows()) + (self.figure().svg if self.items else "")


@dataclass(frozen=True)
class Receipt:
    """What became of rows that were told."""

    batch: str
    """The batch, which `retract` takes."""
    rows: int
    """How many."""
    already: bool
    """Whether the same rows had been told before, so that nothing changed."""

    @classmethod
    def of(cls, said: dict[str, Any]) -> Receipt:
        """A receipt as the native half writes it."""
        return cls(batch=str(said["batch"]["id"]), rows=said["batch"]["rows"], already=said["already"])


@dataclass(frozen=True)
class Batch:
    """Rows that were told and can be retracted."""

    id: str
    of: str
    rows: int
    time: datetime
    author: str
    source: str | None

    @classmethod
    def of_json(cls, said: dict[str, Any]) -> Batch:
        """A batch as the native half writes it."""
        ((kind, what),) = said["of"].items()
        return cls(
            str(said["id"]),
            f"{kind} {what}",
            said["rows"],
            _time(said["time_us"]),
            said["author"],
            said["source"],
        )


@dataclass(frozen=True)
class Event:
    """A line of the history."""

    version: int
    time: datetime
    author: str
    kind: str
    what: str
    undone: bool

    @classmethod
    def of_json(cls, said: dict[str, Any]) -> Event:
        """A line as the native half writes it."""
        return cls(
            said["version"],
            _time(said["time_us"]),
            said["author"],
            said["kind"],
            said["what"],
            said["undone"],
        )


@dataclass(frozen=True)
class Status:
    """Where a study stands; `str(status)` says it in words."""

    study: str
    version: int
    strategy: str
    trainer: str
    rounds: int
    spent: float
    unit: str
    source_rows: int
    targets: dict[str, int]
    """The rows of each target."""
    items: dict[str, int]
    """How many items there are in each state."""
    next: str
    """What to do next."""
    text: str = field(repr=False)

    @classmethod
    def of(cls, said: dict[str, Any], text: str) -> Status:
        """A status as the native half writes it."""
        plain = ("study", "version", "strategy", "trainer", "rounds", "spent", "unit", "source_rows", "next")
        targets = {target["name"]: target["rows"] for target in said["targets"]}
        return cls(**{key: said[key] for key in plain}, targets=targets, items=said["items"], text=text)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text)}</pre>"


@dataclass(frozen=True)
class Interval:
    """An expectation, and where nine of ten cases lie."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class ForecastPoint:
    """The errors that a further budget leads to, by how it is spent."""

    budget: int
    design: Interval
    passive: Interval
    target_rows: Interval | None


@dataclass(frozen=True)
class Forecast:
    """What further budget is expected to bring: root-mean-square errors on labels without noise.

    `str(forecast)` says it in words; notebooks show the figure.

    >>> import taskscout as ts
    >>> study = ts.create_study(space=ts.Box(wind=(-5, 5)), inputs=["speed"], outputs=["drag"], targets=["mine"])
    >>> receipt = study.tell_target("mine", [[0.0], [1.0], [2.0], [3.1]], [0.0, 2.1, 4.0, 6.0])
    >>> receipt = study.add({"wind": 3.0}, [[0.0], [1.0], [2.0]], [0.1, 3.0, 5.9])
    >>> study.forecast([100]).further["mine"][0].budget
    100
    """

    unit: str
    spent: float
    error_unit: str
    now: dict[str, Interval]
    """The error of each target now."""
    under_way: dict[str, Interval]
    """The error of each target once what is under way has come; empty where nothing is."""
    under_way_cost: float
    """What the items that are under way still cost; every further budget comes on top of it."""
    further: dict[str, list[ForecastPoint]]
    """The error of each target after further budgets."""
    stop: bool
    """Whether another batch is not worth it."""
    sentence: str
    text: str = field(repr=False)
    svg: str | None = field(repr=False)

    @classmethod
    def of(cls, said: dict[str, Any], text: str, svg: str | None) -> Forecast:
        """A forecast as the native half writes it."""

        def point(at: dict[str, Any]) -> ForecastPoint:
            rows = at["target_rows"]
            return ForecastPoint(
                at["budget"],
                Interval(**at["design"]),
                Interval(**at["passive"]),
                None if rows is None else Interval(**rows),
            )

        targets = said["targets"]
        return cls(
            unit=said["unit"],
            spent=said["spent"],
            error_unit=said["error_unit"],
            now={target["name"]: Interval(**target["now"]) for target in targets},
            under_way={
                target["name"]: Interval(**target["under_way"]) for target in targets if target["under_way"] is not None
            },
            under_way_cost=0.0 if said["under_way"] is None else said["under_way"]["cost"],
            further={target["name"]: [point(at) for at in target["further"]] for target in targets},
            stop=said["advice"]["stop"],
            sentence=said["sentence"],
            text=text,
            svg=svg,
        )

    def __str__(self) -> str:
        return self.text

    def figure(self) -> Figure:
        """The errors that further budgets lead to."""
        if self.svg is None:
            raise InputError("the forecast has no figure, because nothing can be foreseen yet: tell rows first")
        return Figure("Forecast", self.svg)

    def rows(self) -> list[dict[str, Any]]:
        """A row for every target, further budget and way to spend it; budget 0 is now, and what is under way."""
        found: list[dict[str, Any]] = []

        def add(target: str, budget: int, spent_on: str, error: Interval | None) -> None:
            if error is not None:
                found.append({"target": target, "budget": budget, "spent_on": spent_on, **asdict(error)})

        for target, points in self.further.items():
            add(target, 0, "nothing", self.now[target])
            add(target, 0, "what is under way", self.under_way.get(target))
            for point in points:
                add(target, point.budget, "design", point.design)
                add(target, point.budget, "passive", point.passive)
                add(target, point.budget, "target rows", point.target_rows)
        return found

    def to_pandas(self) -> pandas.DataFrame:
        """The expected errors as a frame of pandas."""
        import pandas

        return pandas.DataFrame(self.rows())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the figure as an SVG file."""
        self.figure().save(path)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text)}</pre>{self.svg or ''}"


def html_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a table for notebooks."""

    def cell(value: Any) -> str:
        if value is None:
            return ""
        return escape(f"{value:.4g}" if isinstance(value, float) else str(value))

    if not rows:
        return "<p>nothing</p>"
    head = "".join(f"<th>{escape(str(name))}</th>" for name in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{cell(value)}</td>" for value in row.values()) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _time(microseconds: int) -> datetime:
    return datetime.fromtimestamp(microseconds / 1e6, tz=UTC)
