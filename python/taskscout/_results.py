"""Results of experiments and sweeps: tidy rows, a table, figures, and strategies compared pair by pair."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from ._figures import Figure
from .errors import InputError

if TYPE_CHECKING:
    import pandas

#: Columns of `results.csv` that are no numbers, or whole ones; all others are numbers.
TEXT = ("experiment", "oracle", "strategy", "target", "predictor", "task", "stage", "reason")
WHOLE = ("seed", "round", "budget", "tasks", "long_term_tasks", "item", "n")
#: How long things took is different every time.
SECONDS = ("collect_s", "train_s", "design_s")
#: Student's t at 95 % for 1, 2, … degrees of freedom.
T_95 = (6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812)


@dataclass(frozen=True)
class Comparison:
    """The errors of one strategy over those of another, on the same targets and seeds.

    Errors are root-mean-square errors of what was returned after the last round; the ratio is a geometric mean.
    """

    strategy: str
    """The one whose errors are above the line."""
    reference: str
    """The one whose errors are below it."""
    ratio: float
    """Below 1 where the strategy is better."""
    low: float
    """The lower end of an interval of 90 % for the ratio; 0 with a single pair."""
    high: float
    """Its upper end."""
    wins: int
    """Pairs in which the strategy is better."""
    pairs: int
    """Targets and seeds that both have."""

    def __str__(self) -> str:
        return (
            f"{self.strategy}/{self.reference} {self.ratio:.2f} ({self.low:.2f} to {self.high:.2f}), "
            f"better in {self.wins} of {self.pairs}"
        )


class Results:
    """What came of an experiment or a sweep: rows, a table, figures, and a page.

    Made by `reproduce` and `sweep`. `str(results)` is the table; notebooks show table and figure.

    >>> import taskscout as ts
    >>> results = ts.reproduce("bilinear", seeds=2, strategies=["passive", "aware"], budget_scale=0.1, target_rows=200)
    >>> results.compare("aware", "passive").pairs
    2
    >>> results.figure()
    <Figure 'loss'>
    """

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]],
        summary: dict[str, Any],
        table: str,
        figures: Mapping[str, Figure],
        page: str,
        *,
        plans: Sequence[Mapping[str, Any]] = (),
        notes: Sequence[str] = (),
        folder: Path | None = None,
    ) -> None:
        self._rows = [dict(row) for row in rows]
        self._plans = [dict(row) for row in plans]
        self._page = page
        self.summary = summary
        """Means and budgets by strategy, as `summary.json` has them."""
        self.table = table
        """The comparison as text."""
        self.figures = dict(figures)
        """The figures by name; `loss` is the error against the budget."""
        self.notes = list(notes)
        """What a reader must know."""
        self.folder = folder
        """Where the results are, if they were to be kept."""

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Trials that gave no result: strategy, target, seed and error."""
        failed: list[dict[str, Any]] = self.summary.get("failed", [])
        return failed

    def rows(self) -> list[dict[str, Any]]:
        """A row for every strategy, target, seed and round; the same whoever computed it."""
        return [dict(row) for row in self._rows]

    def plans(self) -> list[dict[str, Any]]:
        """Which tasks were asked for and why: a row for every item of every plan."""
        return [dict(row) for row in self._plans]

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a frame of pandas."""
        import pandas

        return pandas.DataFrame(self._rows)

    def figure(self) -> Figure:
        """The error against the budget, of the first target where there are several."""
        return next(iter(self.figures.values()))

    def last(self) -> list[dict[str, Any]]:
        """The rows of the last rounds."""
        ends: dict[tuple[Any, ...], dict[str, Any]] = {}
        for row in self._rows:
            key = (row["strategy"], row.get("target"), row["seed"])
            if key not in ends or row["round"] >= ends[key]["round"]:
                ends[key] = row
        return [dict(row) for row in ends.values()]

    def compare(self, strategy: str = "aware", reference: str = "passive") -> Comparison:
        """Compares what two strategies returned at the end, pair by pair."""
        errors: dict[str, dict[tuple[Any, Any], float]] = {}
        for row in self.last():
            if row["returned_loss"] is not None:
                pair = (row.get("target"), row["seed"])
                errors.setdefault(row["strategy"], {})[pair] = math.sqrt(row["returned_loss"])
        for name in (strategy, reference):
            if name not in errors:
                known = ", ".join(f"`{other}`" for other in errors)
                raise InputError(f"there are no results of `{name}`: there are those of {known}")
        above, below = errors[strategy], errors[reference]
        pairs = [pair for pair in above if pair in below and above[pair] > 0.0 and below[pair] > 0.0]
        if not pairs:
            raise InputError(f"`{strategy}` and `{reference}` have no target and seed in common")
        logs = [math.log(above[pair] / below[pair]) for pair in pairs]
        half = math.inf if len(logs) == 1 else _t95(len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
        middle = fmean(logs)
        return Comparison(
            strategy,
            reference,
            math.exp(middle),
            math.exp(middle - half),
            math.exp(middle + half),
            sum(log < 0.0 for log in logs),
            len(logs),
        )

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes a page with tables and figures."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._page)

    def __str__(self) -> str:
        return self.table

    def __repr__(self) -> str:
        strategies = dict.fromkeys(row["strategy"] for row in self._rows)
        runs = len(self.last())
        return f"<Results of {runs} runs: {', '.join(strategies)}>"

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<pre>{escape(self.table)}</pre>{notes}{self.figure().svg}"


def read_table(text: str) -> list[dict[str, Any]]:
    """The rows of a CSV file of results or plans, without seconds."""

    def value(name: str, cell: str) -> Any:
        if name == "parameters":
            return [float(number) for number in cell.split()]
        if name in TEXT:
            return cell or None
        if cell == "":
            return None
        return int(cell) if name in WHOLE else float(cell)

    return [
        {name: value(name, cell) for name, cell in row.items() if name not in SECONDS}
        for row in csv.DictReader(StringIO(text))
    ]


def write_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Result rows as `results.csv` has them; seconds are nought."""
    rows = list(rows)
    with_target = any(row.get("target") is not None for row in rows)
    names = ["experiment", "oracle", "strategy", "seed", *(["target"] if with_target else []), "round", "budget"]
    names += ["test_loss", "returned_loss", "predictor", "subspace_similarity", "relevance", "tasks"]
    names += ["long_term_tasks", *SECONDS]
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        cells = [0.0 if name in SECONDS else row.get(name) for name in names]
        writer.writerow(["" if cell is None else cell for cell in cells])
    return text.getvalue()


def _t95(freedom: int) -> float:
    if freedom <= len(T_95):
        return T_95[freedom - 1]
    # The first terms of its expansion around the normal distribution; right to the third decimal from here on.
    z, n = 1.6448536, float(freedom)
    return z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n * n)
