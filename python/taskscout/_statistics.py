"""Sufficient statistics of rows: all that linear models need, of any number of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from ._frames import contiguous, numbers
from .errors import InputError

Array = npt.NDArray[np.float64]


class Statistics:
    """`Σ xxᵀ`, `Σ xy`, `Σ y²` and the number of rows; those of disjoint rows merge by addition.

    Workers make them of their files and send them home: they pickle, and only statistics travel, never rows.

    >>> import numpy as np
    >>> statistics = Statistics(inputs=2)
    >>> statistics.update(np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([3.0, 5.0]))
    >>> statistics.gram
    array([[2., 2.],
           [2., 4.]])
    """

    def __init__(self, inputs: int, outputs: int = 1) -> None:
        if inputs < 1 or outputs < 1:
            raise InputError(f"statistics of {inputs} inputs and {outputs} outputs: give at least one of each")
        self._native = _native.Statistics(int(inputs), int(outputs))

    def update(self, X: npt.ArrayLike, y: npt.ArrayLike) -> None:
        """Adds rows; all of them or, where a value is not finite, none. Contiguous float64 arrays are not copied."""
        inputs, outputs = self._prepared(X, self.inputs, "X"), self._prepared(y, self.outputs, "y")
        if len(inputs) != len(outputs):
            raise InputError(f"X has {len(inputs)} rows and y has {len(outputs)}: give one of each for every sample")
        self._native.update(inputs, outputs)

    @staticmethod
    def _prepared(values: npt.ArrayLike, width: int, what: str) -> Array:
        array = numbers(values, what)
        if array.ndim == 1 and width == 1:
            array = array[:, np.newaxis]
        if array.ndim != 2 or array.shape[1] != width:
            raise InputError(f"{what} has the shape {array.shape}: give an array of the shape (n, {width})")
        return contiguous(array)

    def merge(self, other: Statistics) -> Statistics:
        """Adds the statistics of other rows, and returns itself."""
        self._native.merge(other._native)
        return self

    def __add__(self, other: Statistics) -> Statistics:
        if not isinstance(other, Statistics):
            return NotImplemented
        total = Statistics(self.inputs, self.outputs)
        return total.merge(self).merge(other)

    def __radd__(self, other: int) -> Statistics:
        # `sum` begins with 0.
        if isinstance(other, int) and other == 0:
            return self + Statistics(self.inputs, self.outputs)
        return NotImplemented

    @property
    def count(self) -> int:
        """Rows so far."""
        return self._native.shape()[0]

    @property
    def inputs(self) -> int:
        """Columns of X."""
        return self._native.shape()[1]

    @property
    def outputs(self) -> int:
        """Columns of y."""
        return self._native.shape()[2]

    @property
    def gram(self) -> Array:
        """`Σ xxᵀ`."""
        return self._native.gram()

    @property
    def moment(self) -> Array:
        """`Σ xy`, a column for each output."""
        return self._native.moment()

    @property
    def squares(self) -> Array:
        """`Σ y²`, one number for each output."""
        return self._native.squares()

    def ridge(self) -> tuple[Array, Array]:
        """Ridge regression with a penalty from the data: coefficients (inputs × outputs) and noise variances."""
        coefficients, noise = self._native.ridge()
        return coefficients, np.asarray(noise)

    def __getstate__(self) -> str:
        return self._native.to_json()

    def __setstate__(self, state: str) -> None:
        self._native = _native.Statistics.from_json(state)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Statistics) and self.__getstate__() == other.__getstate__()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Statistics of {self.count} rows, {self.inputs} inputs, {self.outputs} outputs>"
