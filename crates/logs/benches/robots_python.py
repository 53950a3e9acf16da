"""The Python side of the benchmark `robots`: answers one line for every line it reads.

    python robots_python.py FORMAT LARGE SMALL

reads logs with the format's own library (pyulog, pymavlink, pyarrow), says `ready <its version>`, and then understands

    time PASSES   -> seconds of wall time and of processor time of one pass (mean of PASSES) over the large log
    result        -> all numbers of the small log: of each series its times, then its columns

    python robots_python.py write-lerobot FOLDER

writes a LeRobot data set of version 3 to measure with.
"""

import importlib.metadata
import json
import sys
import time
from pathlib import Path

import numpy as np


def ulog(path):
    from pyulog import ULog

    series = []
    for data in ULog(path).data_list:
        columns = [data.data["timestamp"] / 1e6]
        text = {field.field_name.split("[")[0] for field in data.field_data if field.type_str == "char"}
        for name, values in data.data.items():
            if name != "timestamp" and "_padding" not in name and name.split("[")[0] not in text:
                columns.append(values)
        series.append((f"{data.name}#{data.multi_id}" if data.multi_id else data.name, columns))
    return series


def dataflash(path):
    from pymavlink.DFReader import DFReader_binary

    reader = DFReader_binary(path)
    rows, instances = {}, {}
    while (message := reader.recv_msg()) is not None:
        fmt = message.fmt
        if fmt.columns[0] != "TimeUS":
            continue
        numbers = [name for name, letter in zip(fmt.columns, fmt.format) if letter not in "nNZa"]
        values = [getattr(message, name) for name in numbers]
        key = fmt.name
        if fmt.instance_field is not None and (instance := getattr(message, fmt.instance_field)):
            key = f"{key}#{instance}"
        rows.setdefault(key, []).append(values)
    series = []
    for name, values in rows.items():
        columns = np.array(values, dtype=float).T
        series.append((name, [columns[0] / 1e6, *columns[1:]]))
    return series


def lerobot(folder):
    import pyarrow.parquet as pq

    series = []
    for path in sorted(Path(folder, "data").rglob("*.parquet")):
        table = pq.read_table(path)
        columns = [table["timestamp"].to_numpy()]
        for name in sorted(set(table.column_names) - {"timestamp"}):
            column = table[name].combine_chunks()
            if hasattr(column, "flatten") and "list" in str(column.type):
                values = column.flatten().to_numpy().reshape(len(column), -1)
                columns.extend(values.T)
            else:
                columns.append(column.to_numpy(zero_copy_only=False))
        series.append((str(path), columns))
    return series


READERS = {"ulog": (ulog, "pyulog"), "dataflash": (dataflash, "pymavlink"), "lerobot": (lerobot, "pyarrow")}


def write_lerobot(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, width, files = 50_000, 14, 4
    random = np.random.default_rng(1)
    folder = Path(folder)
    (folder / "meta").mkdir(parents=True)
    listed = {name: {"dtype": "float32", "shape": [width], "names": None} for name in ("observation.state", "action")}
    single = {name: {"dtype": dtype, "shape": [1], "names": None} for name, dtype in [("timestamp", "float32"), ("frame_index", "int64"), ("episode_index", "int64"), ("index", "int64"), ("task_index", "int64")]}
    about = {"codebase_version": "v3.0", "fps": 50, "features": listed | single}
    (folder / "meta" / "info.json").write_text(json.dumps(about))
    for number in range(files):
        values = lambda: pa.FixedSizeListArray.from_arrays(pa.array(random.normal(size=rows * width).astype("float32")), width)
        frame = np.arange(rows) % 500
        index = np.arange(rows) + number * rows
        table = pa.table({
            "observation.state": values(), "action": values(), "timestamp": (frame / 50).astype("float32"),
            "frame_index": frame, "episode_index": index // 500, "index": index, "task_index": np.zeros(rows, dtype="int64"),
        })
        path = folder / "data" / "chunk-000" / f"file-{number:03d}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path)


def main():
    if sys.argv[1] == "write-lerobot":
        write_lerobot(sys.argv[2])
        return
    read, library = READERS[sys.argv[1]]
    large, small = sys.argv[2:4]
    # The libraries print what they find odd; answers go to a place of their own.
    answers, sys.stdout = sys.stdout, sys.stderr
    answer = lambda *words: print(*words, file=answers, flush=True)
    read(small)
    answer("ready", library, importlib.metadata.version(library))
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "time":
            passes = int(arguments[0])
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(passes):
                read(large)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            answer(repr(wall / passes), repr(cpu / passes))
        elif command == "result":
            numbers = [column for _, columns in sorted(read(small), key=lambda one: one[0]) for column in columns]
            answer(*map(repr, np.concatenate(numbers).astype(float).tolist()))
        else:
            sys.exit(f"robots_python.py: unknown command {command!r}")


if __name__ == "__main__":
    main()
