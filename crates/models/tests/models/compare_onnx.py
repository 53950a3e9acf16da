"""Runs ONNX graphs with onnxruntime and compares with what taskscout predicts.

Takes the path of a JSON list of cases; beside it lie CASE.onnx and the files CASE.x, CASE.y and
CASE.std of doubles. Prints a JSON list with the largest difference of every case: absolute, and
relative for numbers above 1 (single precision has seven digits, wherever the point is).
"""

import json
import pathlib
import sys

import numpy as np
import onnxruntime


def difference(folder: pathlib.Path, case: dict) -> dict:
    def read(end: str, columns: int) -> np.ndarray:
        return np.fromfile(folder / f"{case['case']}.{end}", dtype="<f8").reshape(-1, columns)

    session = onnxruntime.InferenceSession(
        str(folder / f"{case['case']}.onnx"), providers=["CPUExecutionProvider"]
    )
    kind = np.float64 if case.get("double") else np.float32
    x = read("x", case["inputs"]).astype(kind)
    y, std = session.run(["y", "y_std"], {"x": x})
    assert y.dtype == kind and y.shape == (len(x), case["outputs"]), (y.dtype, y.shape)
    # A single row must work too: the number of rows is not part of the graph.
    one = session.run(["y"], {"x": x[:1]})[0]
    found = np.concatenate([y, std, one])
    expected = np.concatenate([read("y", case["outputs"]), read("std", case["outputs"]), y[:1]])
    absolute = np.abs(found - expected)
    relative = absolute / np.maximum(1.0, np.abs(expected))
    meta = session.get_modelmeta()
    assert meta.producer_name == "taskscout" and "study" in meta.custom_metadata_map
    return {
        "case": case["case"],
        "absolute": float(absolute.max()),
        "difference": float(relative.max()),
    }


def main() -> None:
    path = pathlib.Path(sys.argv[1])
    cases = json.loads(path.read_text())
    print(json.dumps([difference(path.parent, case) for case in cases]))


if __name__ == "__main__":
    main()
