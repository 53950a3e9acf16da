from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from conftest import ENVIRONMENT, collect

import taskscout as ts


def frames() -> list[object]:
    import pandas
    import polars
    import pyarrow

    x, y = collect({"wind": 1.0, "payload": 1.0}, 40, 3)
    # In another order, and with a column that nobody asked for.
    columns = {"force": y, "pwm": x[:, 2], "time": np.arange(40), "vy": x[:, 1], "vx": x[:, 0]}
    return [columns, pandas.DataFrame(columns), polars.DataFrame(columns), pyarrow.table(columns)]


@pytest.mark.parametrize("kind", range(4), ids=["mapping", "pandas", "polars", "pyarrow"])
def test_frames_are_read_by_the_names_of_columns(kind: int, study: ts.Study) -> None:
    frame = frames()[kind]
    x, y = collect({"wind": 1.0, "payload": 1.0}, 40, 3)
    receipt = study.add([1.0, 1.0], frame)
    # The same rows as arrays are the same batch.
    assert study.add([1.0, 1.0], x, y).batch == receipt.batch
    assert study.add([1.0, 1.0], x, y[:, np.newaxis]).already


def misaligned(array: np.ndarray) -> np.ndarray:
    """The same numbers, beginning in the middle of a word."""
    place = np.zeros(array.nbytes + 1, dtype=np.uint8)[1:].view()
    place[:] = np.frombuffer(array.tobytes(), dtype=np.uint8)
    shifted = np.frombuffer(place, dtype=np.float64).reshape(array.shape)
    assert not shifted.flags.aligned
    return shifted


def test_lists_float32_read_only_and_strided_arrays_are_taken(study: ts.Study) -> None:
    x, y = collect({"wind": 1.0, "payload": 1.0}, 40, 3)
    first = study.add([1.0, 1.0], x, y)
    assert study.add([1.0, 1.0], x.tolist(), y.tolist()).batch == first.batch
    assert study.add([1.0, 1.0], np.asfortranarray(x), y).batch == first.batch
    assert study.add([1.0, 1.0], np.repeat(x, 2, axis=0)[::2], y).batch == first.batch
    assert study.add([1.0, 1.0], misaligned(x), misaligned(y)).batch == first.batch
    assert study.add([1.0, 1.0], x.astype(">f8"), y).batch == first.batch
    x.setflags(write=False)
    assert study.add([1.0, 1.0], x, y).batch == first.batch
    assert not study.add([1.0, 1.0], x.astype(np.float32), y).already


def test_what_does_not_fit_is_named(study: ts.Study) -> None:
    import pandas

    x, y = collect({"wind": 1.0, "payload": 1.0}, 10, 3)
    task = [1.0, 1.0]
    bad = x.copy()
    bad[4, 1] = np.nan
    frame = pandas.DataFrame({"vx": x[:, 0], "Vy": x[:, 1], "pwm": x[:, 2], "force": y})
    missing = pandas.DataFrame({"vx": x[:, 0], "vy": x[:, 1], "pwm": pandas.array([1, None] * 5)})
    for rows, words in [
        ((bad, y), "row 4, column `vy` of X is nan"),
        ((np.where(x > 0, np.inf, x), y), r"of X is inf \(and \d+ more\)"),
        ((np.ma.masked_greater(x, 0), y), "of X is nan"),
        ((x, y[:9]), "X has 10 rows and Y has 9"),
        ((x[:, :2], y), r"shape \(10, 2\), but a column is needed for each of `vx`, `vy`, `pwm`"),
        ((x.ravel(), y), r"shape \(30,\)"),
        ((x, np.stack([y, y], axis=1)), r"Y has the shape \(10, 2\)"),
        ((x[:0], y[:0]), "X has no rows"),
        ((x.astype(complex), y), "complex"),
        ((x.astype(str), y), "not made of numbers"),
        (([[1, 2, 3], [4, 5]], y[:2]), "not made of numbers"),
        (([[10**400, 2, 3]], y[:1]), "not made of numbers: int too large"),
        ((x,), "no outputs are given"),
        ((frame,), "X has no column `vy`: did you mean `Vy`"),
        ((frame.drop(columns="Vy"),), "its columns are `vx`, `pwm`, `force`"),
        (({"speed": y},), "no column `vx`: its columns are `speed`"),
        ((missing, y), "row 1, column `pwm` of X is nan"),
    ]:
        with pytest.raises(ts.InputError, match=words):
            study.add(task, *rows)
    assert study.status().source_rows == 0


def test_no_library_of_frames_is_imported() -> None:
    program = (
        "import sys, taskscout; "
        "sys.exit(any(name in sys.modules for name in ('pandas', 'polars', 'pyarrow', 'sklearn', 'tqdm')))"
    )
    assert subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT).returncode == 0
