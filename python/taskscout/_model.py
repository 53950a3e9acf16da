"""Trained models of a target: predictions with uncertainty, files, ONNX."""

from __future__ import annotations

import json
import os
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from . import _native
from ._frames import Rows, matrix

Array = npt.NDArray[np.float64]


class Model:
    """The model of one target, complete in itself.

    Inputs and predictions are in the units of the study's columns. Made by `Study.model` and `load_model`.

    >>> import taskscout as ts
    >>> study = ts.create_study(space=ts.Box(wind=(-5, 5)), inputs=["speed"], outputs=["drag"], targets=["mine"])
    >>> receipt = study.tell_target("mine", [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 4.0, 6.0])
    >>> model = study.model()
    >>> model.predict([[4.0]]).round(3)
    array([8.])
    """

    def __init__(self, native: _native.Model) -> None:
        self._native = native
        about: dict[str, Any] = json.loads(native.about())
        self.provenance: dict[str, Any] = about["provenance"]
        """Where it comes from: study, strategy, target, rows, and why the guard chose this predictor."""
        self.inputs: list[str] = about["inputs"] or [f"x{i}" for i in range(about["input_dim"])]
        """The names of its inputs."""
        self.outputs: list[str] = about["outputs"] or [f"y{i}" for i in range(about["output_dim"])]
        """The names of its outputs."""

    @property
    def target(self) -> str:
        """The target that it predicts."""
        return str(self.provenance["target"])

    @property
    def reason(self) -> str:
        """Why the guard chose this predictor."""
        return str(self.provenance["reason"])

    @overload
    def predict(self, X: Rows, return_std: Literal[False] = False) -> Array: ...
    @overload
    def predict(self, X: Rows, return_std: Literal[True]) -> tuple[Array, Array]: ...
    @overload
    def predict(self, X: Rows, return_std: bool) -> Array | tuple[Array, Array]: ...
    def predict(self, X: Rows, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Predicts rows: an array of n values, or of n × outputs where there are several outputs.

        With `return_std`, also the standard deviation of a new, noisy observation.
        """
        mean, std, _ = self._native.predict(matrix(X, self.inputs, "X"))
        return (self._shaped(mean), self._shaped(std)) if return_std else self._shaped(mean)

    def predict_mean_std(self, X: Rows) -> tuple[Array, Array]:
        """Predicts rows, with the standard deviation of the mean itself: what more target rows would reduce."""
        mean, _, std = self._native.predict(matrix(X, self.inputs, "X"))
        return self._shaped(mean), self._shaped(std)

    def _shaped(self, values: Array) -> Array:
        return values[:, 0] if len(self.outputs) == 1 else values

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves it as a safetensors file, for `load_model` and `taskscout predict`."""
        self._native.save(os.fspath(path))

    def to_onnx(self, path: str | os.PathLike[str], *, std: bool = True) -> None:
        """Writes it as an ONNX graph, with the standard deviation as a second output unless `std` is false."""
        self._native.save_onnx(os.fspath(path), std)

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_bytes, (self._native.to_bytes(),)

    def __repr__(self) -> str:
        return f"<Model of target {self.target!r}: {self.reason}>"


def _of_bytes(content: bytes) -> Model:
    return Model(_native.Model.from_bytes(content))


def load_model(path: str | os.PathLike[str]) -> Model:
    """Reads a model that `Model.save` or the command saved.

    >>> import tempfile, taskscout as ts
    >>> study = ts.create_study(space=ts.Box(wind=(-5, 5)), inputs=["speed"], outputs=["drag"], targets=["mine"])
    >>> receipt = study.tell_target("mine", [[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 4.0, 6.0])
    >>> path = tempfile.mkdtemp() + "/mine.safetensors"
    >>> study.model().save(path)
    >>> ts.load_model(path).target
    'mine'
    """
    return Model(_native.Model.load(os.fspath(path)))
