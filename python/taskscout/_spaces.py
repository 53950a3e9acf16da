"""Where tasks may be chosen: boxes, balls and tables of candidates."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np

from ._frames import column, column_names, listed, numbers
from .errors import InputError

Settings: TypeAlias = dict[str, Any]


class Box:
    """All values of some parameters between bounds, with a unit if you like.

    >>> Box(wind=(-5, 5, "m/s"), payload=(0, 2))
    Box(wind=(-5, 5, 'm/s'), payload=(0, 2))
    """

    def __init__(self, **ranges: tuple[float, float] | tuple[float, float, str]) -> None:
        if not ranges:
            raise InputError("the box has no parameters: give their ranges, as in Box(wind=(-5, 5))")
        for name, limits in ranges.items():
            if not isinstance(limits, Sequence) or isinstance(limits, str) or len(limits) not in (2, 3):
                raise InputError(f"the range of `{name}` is {limits!r}: give (low, high) or (low, high, unit)")
            low, high = (as_number(limit, f"a bound of `{name}`") for limit in limits[:2])
            if not low < high or math.isinf(high - low):
                raise InputError(f"the range of `{name}` is {limits!r}: give a finite low end below a finite high end")
        self.ranges = ranges

    @contextmanager
    def settings(self) -> Iterator[Settings]:
        """What the settings of a study say of it."""
        parameters = []
        for name, limits in self.ranges.items():
            low, high = (float(value) for value in limits[:2])
            unit = str(limits[2]) if len(limits) == 3 else None
            parameters.append({"name": name, "low": low, "high": high, "unit": unit})
        yield {"parameters": parameters}

    def __repr__(self) -> str:
        return f"Box({', '.join(f'{name}={limits!r}' for name, limits in self.ranges.items())})"


@dataclass(frozen=True)
class Ball:
    """All vectors of a length up to `radius`; their entries are called w0, w1 and so on.

    >>> Ball(3)
    Ball(dim=3, radius=1.0)
    """

    dim: int
    radius: float = 1.0

    @contextmanager
    def settings(self) -> Iterator[Settings]:
        """What the settings of a study say of it."""
        yield {"space": {"kind": "ball", "dim": int(self.dim), "radius": float(self.radius)}}


@dataclass(frozen=True)
class Candidates:
    """A table of tasks that can be measured: a frame, a mapping of columns, or the path of a CSV or Parquet file.

    `columns` are the parameters of a task (all columns of numbers that serve nothing else if not given), `name` is
    the column of names (`name`, `task` or `id` if there is one), `cost` that of what a sample costs, and `left` that
    of how many rows a task can give (nothing for no limit).

    >>> import taskscout as ts
    >>> table = ts.Candidates({"name": ["calm", "breeze"], "wind": [0.0, 4.2]})
    >>> ts.create_study(space=table, inputs=["speed"], outputs=["drag"], targets=["mine"]).parameters
    ['wind']
    """

    table: Any
    columns: Sequence[str] | None = None
    name: str | None = None
    cost: str | None = None
    left: str | None = None
    units: Mapping[str, str] = field(default_factory=dict)

    @contextmanager
    def settings(self) -> Iterator[Settings]:
        """What the settings of a study say of it; the table of a frame is there as long as the context."""
        said: Settings = {
            "columns": None if self.columns is None else list(self.columns),
            "name": self.name,
            "cost": self.cost,
            "left": self.left,
            "units": dict(self.units),
        }
        if isinstance(self.table, str | os.PathLike):
            yield {**said, "candidates": os.path.abspath(os.fspath(self.table))}
            return
        with TemporaryDirectory(prefix="taskscout-") as folder:
            path = os.path.join(folder, "candidates.csv")
            self._write(path)
            yield {**said, "candidates": path}

    def _write(self, path: str) -> None:
        known = column_names(self.table)
        if known is None:
            raise InputError(
                f"candidates are {type(self.table).__name__}: give a frame, a mapping of columns such as "
                "{'wind': [0, 5, 10]}, or the path of a table"
            )
        wanted = [*(self.columns or []), *(name for name in (self.name, self.cost, self.left) if name)]
        texts = {name: self._cells(name) for name in dict.fromkeys([*known, *wanted])}
        lengths = {len(cells) for cells in texts.values()}
        if lengths == {0} or not lengths:
            raise InputError("the table of candidates has no rows: give one for every task that can be measured")
        if len(lengths) > 1:
            raise InputError(f"columns of the candidates have different lengths: {sorted(lengths)}")
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(texts)
            writer.writerows(zip(*texts.values(), strict=True))

    def _cells(self, name: str) -> list[str]:
        """The cells of a column: numbers to the last digit, words as they are."""
        values = column(self.table, name, "the table of candidates")
        array = np.asarray(values)
        if name == self.name or array.dtype.kind in "USTMm" or _has_words(array):
            if name in (self.columns or ()) or name == self.cost:
                raise InputError(f"column `{name}` of the candidates is not made of numbers: convert it first")
            return [str(value) for value in array]
        cells = numbers(values, f"column `{name}` of the candidates")
        used = name == self.cost or (self.columns is None and name != self.left) or name in (self.columns or ())
        bad = np.flatnonzero(~np.isfinite(cells))
        if used and len(bad) > 0:
            raise InputError(
                f"row {bad[0]}, column `{name}` of the candidates is {cells[bad[0]]}: "
                "repair or remove the row, or name the `columns` that are parameters"
            )
        return ["" if not np.isfinite(value) else _text(float(value)) for value in cells]


def _text(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _has_words(array: np.ndarray[Any, Any]) -> bool:
    return array.dtype.kind == "O" and any(isinstance(value, str) for value in array.flat)


Space: TypeAlias = Box | Ball | Candidates


@dataclass(frozen=True)
class Target:
    """A task that you care about, with its parameters where they are known, and how much it matters.

    >>> Target("tomorrow", {"wind": 3.1}, weight=2.0).name
    'tomorrow'
    """

    name: str
    parameters: Mapping[str, float] | Sequence[float] | None = None
    weight: float | None = None

    def settings(self, names: Sequence[str] | None) -> Settings:
        """What the settings of a study say of it."""
        values = None if self.parameters is None else in_order(self.parameters, names, f"target `{self.name}`")
        return {"name": self.name, "parameters": values, "weight": self.weight}


@dataclass(frozen=True)
class Column:
    """A column of rows: its name, its unit, and what is subtracted and divided by before learning.

    >>> Column("force", unit="N").unit
    'N'
    """

    name: str
    unit: str | None = None
    offset: float | None = None
    scale: float | None = None

    def settings(self) -> Settings:
        """What the settings of a study say of it."""
        return {"name": self.name, "unit": self.unit, "offset": self.offset, "scale": self.scale}


def in_order(values: Mapping[str, float] | Sequence[float], names: Sequence[str] | None, what: str) -> list[float]:
    """Parameters in the order of the study's columns."""
    if not isinstance(values, Mapping):
        if isinstance(values, str) or not np.iterable(values):
            raise InputError(f"{what} is {values!r}: give its parameters, by name or in their order")
        return [as_number(value, f"a parameter of {what}") for value in np.ravel(values)]
    if names is None:
        raise InputError(
            f"{what} has parameters by name, but the order of the candidates' columns is not known: "
            "name them, as in Candidates(table, columns=[...]), or give a list"
        )
    unknown = [name for name in values if name not in names]
    missing = [name for name in names if name not in values]
    if unknown or missing:
        raise InputError(f"{what} has the parameters {listed(values)}, but tasks have {listed(names)}")
    return [as_number(values[name], f"`{name}` of {what}") for name in names]


def as_number(value: Any, what: str) -> float:
    """A single number."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} is {value!r}: give a number") from None
