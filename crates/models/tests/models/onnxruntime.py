"""Runs ONNX graphs with onnxruntime and compares with what taskscout predicts.

Takes the path of a JSON list of cases; beside it lie CASE.onnx and the files CASE.x, CASE.y and
CASE.std of doubles. Prints a JSON list with the largest absolute difference of every case.
"""

import json
import pathlib
import sys

import numpy as np
import onnxruntime


def difference(folder: pathlib.Path, case: dict) -> float:
    def read(end: str, columns: int) -> np.ndarray:
        return np.fromfile(folder / f"{case['case']}.{end}", dtype="<f8").reshape(-1, columns)

    session = onnxruntime.InferenceSession(
        str(folder / f"{case['case']}.onnx"), providers=["CPUExecutionProvider"]
    )
    x = read("x", case["inputs"]).astype(np.float32)
    y, std = session.run(["y", "y_std"], {"x": x})
    assert y.dtype == np.float32 and y.shape == (len(x), case["outputs"]), (y.dtype, y.shape)
    # A single row must work too: the number of rows is not part of the graph.
    one = session.run(["y"], {"x": x[:1]})[0]
    errors = [
        np.abs(y - read("y", case["outputs"])).max(),
        np.abs(std - read("std", case["outputs"])).max(),
        np.abs(one - y[:1]).max(),
    ]
    meta = session.get_modelmeta()
    assert meta.producer_name == "taskscout" and "study" in meta.custom_metadata_map
    return float(max(errors))


def main() -> None:
    path = pathlib.Path(sys.argv[1])
    cases = json.loads(path.read_text())
    found = [{"case": case["case"], "difference": difference(path.parent, case)} for case in cases]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
