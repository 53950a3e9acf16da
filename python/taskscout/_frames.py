"""Arrays and frames as what the native half takes: float64 matrices, row after row.

pandas, polars and pyarrow are recognised by where their classes come from, so none of them is imported.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .errors import InputError

Matrix: TypeAlias = npt.NDArray[np.float64]

#: Rows: whatever numpy takes, or a frame of pandas, polars or pyarrow, or a mapping of columns.
Rows: TypeAlias = Any


def column_names(values: object) -> list[str] | None:
    """The columns of a frame or a mapping; None for everything else."""
    if isinstance(values, Mapping):
        return [str(name) for name in values]
    library = type(values).__module__.partition(".")[0]
    if library == "pyarrow":
        schema = getattr(values, "schema", None)
        return None if schema is None else list(schema.names)
    if library in ("pandas", "polars") and hasattr(values, "columns"):
        return [str(name) for name in values.columns]
    return None


def column(values: Any, name: str, what: str) -> Any:
    """A column of a frame, as an array."""
    known = column_names(values) or []
    if name not in known:
        # A capital is no reason not to be near.
        alike = {other.casefold(): other for other in known}
        near = difflib.get_close_matches(name.casefold(), alike, n=1)
        hint = f"did you mean `{alike[near[0]]}`?" if near else f"its columns are {listed(known)}"
        raise InputError(f"{what} has no column `{name}`: {hint}")
    found = values[name]
    # Of two columns with one name pandas gives a frame.
    if getattr(found, "ndim", 1) != 1:
        raise InputError(f"{what} has several columns `{name}`: rename all but one")
    return found


def listed(names: Iterable[str]) -> str:
    """Names in a sentence."""
    return ", ".join(f"`{name}`" for name in names)


def numbers(values: Any, what: str) -> npt.NDArray[np.float64]:
    """Any array of numbers as float64; what is masked or missing becomes NaN."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(float), np.nan)
    if hasattr(values, "to_numpy") and type(values).__module__.startswith("pandas"):
        try:
            # Nullable columns have their own sign for what is missing.
            return np.asarray(values.to_numpy(dtype=float, na_value=np.nan))
        except (TypeError, ValueError) as error:
            raise InputError(f"{what} is not made of numbers: {error}") from None
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            raise InputError(f"{what} has complex numbers: give real ones")
        if array.dtype.kind in "USMmV":
            raise InputError(f"{what} is not made of numbers, but of {array.dtype}: convert it first")
        return np.asarray(array, dtype=float)
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} is not made of numbers: {error}") from None


def contiguous(array: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """An array as Rust reads it: row after row, aligned; the same one where it is so already."""
    # What was sent by another process may begin in the middle of a word.
    return np.require(array, dtype=np.float64, requirements=["C_CONTIGUOUS", "ALIGNED"])


def matrix(values: Rows, names: Sequence[str], what: str) -> Matrix:
    """Rows of some named columns: by their names in a frame, in their order in an array."""
    if column_names(values) is not None:
        columns = [numbers(column(values, name, what), f"column `{name}` of {what}") for name in names]
        array = np.column_stack(columns)
    else:
        array = numbers(values, what)
        if array.ndim == 1 and len(names) == 1:
            array = array[:, np.newaxis]
        if array.ndim != 2 or array.shape[1] != len(names):
            raise InputError(
                f"{what} has the shape {array.shape}, but a column is needed for each of {listed(names)}: "
                f"give an array of the shape (n, {len(names)}), or a frame with these columns"
            )
    if array.shape[0] == 0:
        raise InputError(f"{what} has no rows: give at least one")
    check_finite(array, names, what)
    return contiguous(array)


def check_finite(array: Matrix, names: Sequence[str], what: str) -> None:
    """Refuses what is not finite, with its place."""
    # A sum is finite only if all of its terms are; that of large ones need not be.
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.add.reduce(array, axis=None)
    if np.isfinite(total):
        return
    places = np.argwhere(~np.isfinite(array))
    if len(places) == 0:
        return
    row, at = places[0]
    more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
    raise InputError(
        f"row {row}, column `{names[at]}` of {what} is {array[row, at]}{more}: "
        "every value must be finite, so repair or remove the row"
    )


def samples(x: Rows, y: Rows | None, inputs: Sequence[str], outputs: Sequence[str]) -> tuple[Matrix, Matrix]:
    """Inputs and outputs of the same rows; both from one frame where no outputs are given."""
    if y is None:
        if column_names(x) is None:
            raise InputError("no outputs are given: give Y, or a frame that has the outputs as columns")
        y = x
    left, right = matrix(x, inputs, "X"), matrix(y, outputs, "Y")
    if len(left) != len(right):
        raise InputError(f"X has {len(left)} rows and Y has {len(right)}: give one of each for every sample")
    return left, right
