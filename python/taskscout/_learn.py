"""One model from a folder of logs: which recordings help a target, and what to record next."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native
from ._model import Model


class Learnt:
    """What `learn` found: a model, and what it rests on.

    `str(learnt)` is what the command prints; notebooks show the report.
    """

    def __init__(self, model: Model, summary: dict[str, Any], text: str, html: str) -> None:
        self.model: Model = model
        """The model of all outputs of the target."""
        self.summary: dict[str, Any] = summary
        """What was found: the keys of `summary.json`."""
        self._text = text
        self._html = html

    @property
    def recordings(self) -> list[dict[str, Any]]:
        """The other recordings, those that added most first: similarity, what each added, and why."""
        return list(self.summary["recordings"])

    @property
    def plan(self) -> list[dict[str, Any]]:
        """The next recordings, in the order to make them."""
        return list(self.summary["plan"])

    @property
    def verdict(self) -> str:
        """All of it in a sentence or two."""
        return str(self.summary["verdict"])

    def rmse(self, output: str | None = None) -> float | None:
        """Root mean squared error of an output (by default the first) on rows of the target that were not seen."""
        for one in self.summary["outputs"]:
            if output in (None, one["output"]):
                found: float | None = one["held_out_rmse"]
                return found
        names = ", ".join(one["output"] for one in self.summary["outputs"])
        raise KeyError(f"there is no output {output!r}: give one of {names}")

    def html(self) -> str:
        """The report as one HTML file."""
        return self._html

    def _repr_html_(self) -> str:
        # A page of its own styles: in a frame, so that they do not touch the notebook.
        page = self._html.replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{page}" width="100%" height="600" frameborder="0"></iframe>'

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Learnt for {self.summary['target']!r}: {self.verdict}>"


def learn(
    data: str | os.PathLike[str],
    target: str,
    *,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    task: str | None = None,
    time: str | None = None,
    name_pattern: str | None = None,
    tasks: str | os.PathLike[str] | None = None,
    labels: Sequence[str] | None = None,
    parameters: Sequence[str] | None = None,
    target_rows: int | None = None,
    test_share: float = 0.0,
    phi: str = "auto",
    effective_rows: float | None = None,
    scale_by: str | None = None,
    units: Mapping[str, str] | None = None,
    constants: Mapping[str, float] | None = None,
    times: str | None = None,
    interpolate: bool = False,
    tolerance: float | None = None,
    skip_bad_rows: bool = False,
    comment: str | None = None,
    plan: int = 3,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> Learnt:
    """Learns one model for a target, a recording of a folder of logs, from all recordings of it.

    It is what `taskscout learn` does, with the same options and the same model. Logs are those that the command reads:
    tables (CSV, TSV, Parquet), flights, PX4 ULog, ArduPilot dataflash, LeRobot, MCAP and rosbag2. `inputs` and
    `outputs` are columns of tables, or expressions over the columns of robots' logs, in which `constants` are named
    numbers.

    `labels` and `parameters` are those to pool over, all by default, none with an empty list. `target_rows` is how many
    rows of the target to learn from, drawn with `seed`; all by default. With `out`, the command's files are written.

    >>> import pathlib, tempfile, taskscout as ts
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, load, rows in [("a", 0, 60), ("b", 1, 60), ("c", 2, 60), ("new", 1.5, 12)]:
    ...     speeds = [((i * 7) % 20 - 10) / 10 for i in range(rows)]
    ...     lines = [f"{speed},{-(1 + load) * speed + 0.01 * (i % 3)}" for i, speed in enumerate(speeds)]
    ...     _ = (folder / f"{name}.csv").write_text("\\n".join(["speed,force", *lines]))
    >>> _ = (folder / "tasks.csv").write_text("recording,load [kg]\\na,0\\nb,1\\nc,2\\nnew,1.5\\n")
    >>> learnt = ts.learn(folder, "new", inputs=["speed"], outputs=["force"])
    >>> learnt.model.predict([[1.0]]).round(1)
    array([-2.5])
    >>> sorted(one["recording"] for one in learnt.recordings)
    ['a', 'b', 'c']
    """
    settings = {
        "data": os.fspath(data),
        "target": target,
        "inputs": _list("inputs", inputs),
        "outputs": _list("outputs", outputs),
        "task": task,
        "time": time,
        "skip_bad_rows": skip_bad_rows,
        "comment": comment,
        "times": times,
        "interpolate": interpolate,
        "tolerance": tolerance,
        "constants": {name: float(value) for name, value in (constants or {}).items()},
        "name_pattern": name_pattern,
        "tasks": None if tasks is None else os.fspath(tasks),
        "labels": _chosen("labels", labels),
        "parameters": _chosen("parameters", parameters),
        "n_target": target_rows,
        "test_share": test_share,
        "phi": phi,
        "effective_rows": effective_rows,
        "scale_by": scale_by,
        "units": dict(units or {}),
        "plan": plan,
        "seed": seed,
        "out": None if out is None else os.fspath(out),
        "force": force,
    }
    model, summary, text, html = _native.learn_logs(json.dumps(settings))
    return Learnt(Model(model), json.loads(summary), text, html)


def _list(name: str, values: Sequence[str]) -> list[str]:
    """A list of texts; a single text would be taken for its letters."""
    if isinstance(values, str):
        raise TypeError(f"`{name}` is a text: give a list, such as [{values!r}]")
    return list(values)


def _chosen(name: str, values: Sequence[str] | None) -> list[str]:
    """As the command has it: nothing is all of them, and none has a word."""
    if values is None:
        return []
    return _list(name, values) or ["none"]
