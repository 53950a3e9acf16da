"""The numpy side of the benchmark `statistics`: answers one line for every line it reads.

    python numpy_gram.py ROWS FEATURES

makes the same numbers as the Rust side, says `ready <numpy version>`, and then understands

    time PASSES   -> seconds of wall time and of processor time of one pass (mean of PASSES)
    result        -> packed lower triangle of X'X row by row, then X'y, separated by spaces
"""

import sys
import time

import numpy as np

BLOCK_ROWS = 10_000


def uniform(index):
    """SplitMix64 of each index, as a number in [-1, 1): every entry is known by its place alone."""
    with np.errstate(over="ignore"):
        z = (index + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0


def rows(n, d):
    """Inputs, row-major, and one output: the first input plus a tenth of noise."""
    x, y = np.empty((n, d)), np.empty(n)
    for start in range(0, n, BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, n)
        index = np.arange(start * (d + 1), stop * (d + 1), dtype=np.uint64)
        values = uniform(index).reshape(stop - start, d + 1)
        x[start:stop] = values[:, :d]
        y[start:stop] = values[:, 0] + 0.1 * values[:, d]
    return x, y


def main():
    n, d = int(sys.argv[1]), int(sys.argv[2])
    x, y = rows(n, d)
    print("ready", np.__version__, flush=True)
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "time":
            passes = int(arguments[0])
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(passes):
                x.T @ x
                x.T @ y
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            print(repr(wall / passes), repr(cpu / passes), flush=True)
        elif command == "result":
            gram, moment = x.T @ x, x.T @ y
            values = np.concatenate([gram[np.tril_indices(d)], moment])
            print(*map(repr, values.tolist()), flush=True)
        else:
            sys.exit(f"numpy_gram.py: unknown command {command!r}")


if __name__ == "__main__":
    main()
