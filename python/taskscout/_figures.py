"""Pictures, drawn as the command draws them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _native
from .errors import InputError

#: Bars that a picture shows at most.
MOST_BARS = 24


@dataclass(frozen=True)
class Figure:
    """A picture as SVG: notebooks show it, and `save` writes it.

    >>> import taskscout as ts
    >>> design = ts.optimal_design([[1.0, 0.0], [0.0, 1.0]], target=[1.0, 1.0], budget=10)
    >>> design.figure()
    <Figure 'Samples of the design'>
    """

    title: str
    """What it shows."""
    svg: str = field(repr=False)
    """The picture itself."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it as an SVG file.

        >>> import tempfile, pathlib
        >>> place = pathlib.Path(tempfile.mkdtemp()) / "samples.svg"
        >>> Figure("Nothing", "<svg></svg>").save(place)
        >>> place.read_text()
        '<svg></svg>'
        """
        name = os.fspath(path)
        if not name.lower().endswith(".svg"):
            raise InputError(f"a figure is saved as SVG, but the file is called {name!r}: end its name in .svg")
        with open(name, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def __repr__(self) -> str:
        return f"<Figure {self.title!r}>"

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True)
class Bar:
    """A named value, and a second one beside it."""

    name: str
    value: float
    second: float | None = None
    group: str = ""


def bars(title: str, value: str, second: str, shown: Sequence[Bar]) -> Figure:
    """Named values as bars, at most so many."""
    kept = [vars(bar) for bar in shown[:MOST_BARS]]
    more = len(shown) - len(kept)
    words = f"{title}, without {more} more" if more > 0 else title
    has_second = any(bar["second"] is not None for bar in kept)
    data = {"title": words, "value_title": value, "second_title": second if has_second else "", "bars": kept}
    return Figure(title, _native.draw("bars", json.dumps(data), _plain(title)))


def named(task: str, parameters: dict[str, Any]) -> str:
    """What a bar of a task is called: by its parameters, where it has some."""
    if not parameters:
        return task
    return ", ".join(f"{name} {value:.4g}" for name, value in parameters.items())


def _plain(title: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in title.lower())
