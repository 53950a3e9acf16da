"""The Python side of the benchmark `logs`: answers one line for every line it reads.

    python pandas_logs.py FILE...

reads flight logs as research code does, pandas for the table and ast.literal_eval for every list,
says `ready <pandas version>`, and then understands

    time PASSES   -> seconds of wall time and of processor time of one pass (mean of PASSES) over all files
    result        -> all numbers of the first file: time, inputs and outputs, row after row
"""

import ast
import sys
import time

import numpy as np
import pandas as pd


def load(path):
    table = pd.read_csv(path)
    # Every column of lists is converted, as the published loader does.
    for column in table.columns[1:]:
        if isinstance(table[column][0], str):
            table[column] = table[column].apply(ast.literal_eval)
    stack = lambda column: np.array(table[column].tolist())
    x = np.hstack([stack("v"), stack("q"), stack("pwm") / 1000.0])
    return table["t"].to_numpy(), x, stack("fa")


def main():
    files = sys.argv[1:]
    print("ready", pd.__version__, flush=True)
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "time":
            passes = int(arguments[0])
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(passes):
                for path in files:
                    load(path)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            print(repr(wall / passes), repr(cpu / passes), flush=True)
        elif command == "result":
            t, x, y = load(files[0])
            print(*map(repr, np.column_stack([t, x, y]).ravel().tolist()), flush=True)
        else:
            sys.exit(f"pandas_logs.py: unknown command {command!r}")


if __name__ == "__main__":
    main()
