"""A study as a generator of the gest-api, so that libEnsemble, Xopt and Optimas drive it. Needs `gest-api`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

try:
    from gest_api.generator import Generator
    from gest_api.vocs import VOCS, ContinuousVariable
except ImportError as error:
    raise ImportError("the generator of taskscout needs the gest-api: install `gest-api`") from error

from ._records import Item
from ._spaces import Box
from ._study import Study, create_study
from .errors import InputError

#: What points are called by.
ID = "_id"


class StudyGenerator(Generator):  # type: ignore[misc]
    """Suggests tasks to measure one row of, and takes the rows.

    The variables of the VOCS are the parameters of tasks; its observables are the inputs and outputs of rows, which the
    evaluation of a point fills in. Give a study, or the names of inputs and outputs and other settings of
    `create_study`: then one is made over the ranges of the variables.

    A point that comes back with its `_id` is a row of the plan; one without is a row that nobody asked for. Rows are
    told in the order in which they were suggested, so the order in which they come changes nothing; those behind a row
    that is missing are told with the next `suggest`, or with `finalize`.

    >>> from gest_api.vocs import VOCS
    >>> vocs = VOCS(variables={"wind": [-5, 5]}, observables={"speed": "f8", "drag": "f8"})
    >>> generator = StudyGenerator(vocs, inputs=["speed"], outputs=["drag"], targets=["tomorrow"])
    >>> len(generator.suggest(8))
    8
    """

    returns_id = True

    def __init__(self, vocs: VOCS, study: Study | None = None, *, batch: int = 100, **settings: Any) -> None:
        if study is None:
            ranges: dict[str, Any] = {}
            for name, variable in vocs.variables.items():
                if not isinstance(variable, ContinuousVariable):
                    raise InputError(f"the variable `{name}` is no range: give a study over a table of candidates")
                ranges[name] = (float(variable.domain[0]), float(variable.domain[1]))
            study = create_study(space=Box(**ranges), **settings)
        elif settings:
            raise InputError("a study and settings of a new one are given: leave the settings out")
        self.study = study
        """The study: it takes rows of targets, and has the model."""
        self.batch = batch
        """Points where nobody says how many."""
        self._next = 0
        self._points: dict[int, Item] = {}
        self._missing: dict[int, set[int]] = {}
        self._came: dict[int, dict[int, Sequence[float]]] = {}
        super().__init__(vocs)

    def _validate_vocs(self, vocs: VOCS) -> None:
        measured = {*vocs.observables, *vocs.objectives, *vocs.constraints}
        for what, needed, there in [
            ("variables", set(self.study.parameters), set(vocs.variables)),
            ("observables", {*self.study.inputs, *self.study.outputs}, measured),
        ]:
            if missing := sorted(needed - there):
                raise InputError(f"the {what} of the VOCS lack {', '.join(missing)}: name them")

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        """Points to measure a row of: exactly as many as asked for."""
        wanted = self.batch if num_points is None else int(num_points)
        self.finalize()
        points = []
        for item in self.study.ask(wanted):
            self._missing[item.id] = set()
            self._came[item.id] = {}
            for _ in range(item.n):
                self._points[self._next] = item
                self._missing[item.id].add(self._next)
                points.append({**item.task, ID: self._next})
                self._next += 1
        if len(points) != wanted:
            raise InputError(f"a plan of {len(points)} points was made, not of {wanted}: tasks have no more rows left")
        return points

    def ingest(self, results: Iterable[dict[str, Any]]) -> None:
        """Takes rows: inputs and outputs of points, by their names."""
        added: dict[tuple[float, ...], list[Sequence[float]]] = {}
        columns = [*self.study.inputs, *self.study.outputs]
        for result in results:
            missing = [name for name in columns if name not in result]
            if missing:
                raise InputError(f"a result lacks {', '.join(missing)}: the evaluation must fill them in")
            row = [float(np.asarray(result[name]).item()) for name in columns]
            point = result.get(ID)
            if point is None:
                task = tuple(float(np.asarray(result[name]).item()) for name in self.study.parameters)
                added.setdefault(task, []).append(row)
                continue
            item = self._points.get(int(point))
            if item is None:
                raise InputError(f"there is no point {point}: leave `{ID}` out where the generator did not suggest it")
            # One that came before stays as it was.
            if int(point) in self._missing[item.id]:
                self._missing[item.id].discard(int(point))
                self._came[item.id][int(point)] = row
        for task, rows in added.items():
            self.study.add(task, *self._split(rows))
        for identity in sorted(self._came):
            if self._missing[identity]:
                break
            self._tell(identity)

    def finalize(self) -> None:
        """Tells all rows that came, whether or not others are missing."""
        for identity in sorted(self._came):
            self._tell(identity)

    def _tell(self, identity: int) -> None:
        rows = self._came[identity]
        if rows:
            self.study.tell(identity, *self._split([rows[point] for point in sorted(rows)]))
            self._came[identity] = {}
        if not self._missing[identity]:
            del self._came[identity]

    def _split(self, rows: Sequence[Sequence[float]]) -> tuple[Any, Any]:
        table = np.asarray(rows, dtype=float)
        inputs = len(self.study.inputs)
        return table[:, :inputs], table[:, inputs:]


__all__ = ["StudyGenerator"]
