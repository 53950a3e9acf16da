"""How fast the package is beside numpy, and what it costs beside the native half.

Prints the time of `Statistics.update` over that of numpy's `X.T @ X` in the same process, by number of rows and inputs,
and the microseconds that `ask` and `tell` take beside the native calls. Build the package with optimisation first:
`pip install .`. Run `python overhead.py [REPETITIONS]`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np

import taskscout as ts


def seconds(*calls: Callable[[], object], repetitions: int) -> list[float]:
    """The least time of each call; they take turns, so that a busy moment meets all of them."""
    best = [float("inf")] * len(calls)
    for _ in range(repetitions):
        for place, call in enumerate(calls):
            began = perf_counter()
            call()
            best[place] = min(best[place], perf_counter() - began)
    return best


def statistics(rows: int, inputs: int, repetitions: int) -> None:
    """Sums of squares of rows, by numpy and by taskscout."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(rows, inputs)), rng.normal(size=rows)
    product, update = seconds(
        lambda: x.T @ x,
        lambda: ts.Statistics(inputs).update(x, y),
        repetitions=repetitions,
    )
    shape = f"{rows} × {inputs}"
    print(f"{shape:>14}: numpy {1e3 * product:8.2f} ms, update {1e3 * update:8.2f} ms, ratio {update / product:.2f}")


def ask_and_tell(rounds: int) -> None:
    """What the package adds to the native calls, in microseconds."""
    x, y = np.ones((20, 3)), np.ones((20, 1))

    def study() -> ts.Study:
        return ts.create_study(
            space=ts.Box(wind=(-5, 5), payload=(0, 2)),
            inputs=["vx", "vy", "pwm"],
            outputs=["force"],
            targets=["tomorrow"],
            strategy="passive",
        )

    spent: dict[str, list[float]] = {"ask": [], "tell": []}
    native: dict[str, list[float]] = {"ask": [], "tell": []}
    ours, theirs = study(), study()
    limits = json.dumps({"forbidden": []})
    for _ in range(rounds):
        began = perf_counter()
        plan = ours.ask(20)
        spent["ask"].append(perf_counter() - began)
        began = perf_counter()
        said = theirs._native.ask(20, limits)
        native["ask"].append(perf_counter() - began)
        items = json.loads(said)["plan"]["items"]
        began = perf_counter()
        ours.tell(plan[0], x, y)
        spent["tell"].append(perf_counter() - began)
        began = perf_counter()
        theirs._native.tell(items[0]["id"], x, y, None, None)
        native["tell"].append(perf_counter() - began)
        for item in plan[1:]:
            ours.fail(item)
        for item in items[1:]:
            theirs._native.fail(item["id"], "", False)
        x += 1e-3
    for name in spent:
        whole, inner = (1e6 * median(times) for times in (spent[name], native[name]))
        print(f"{name}: {whole:.0f} µs, of which the native call takes {inner:.0f} µs; overhead {whole - inner:.0f} µs")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    for size in ((100_000, 200), (100_000, 50), (10_000, 200), (1_000, 20)):
        statistics(*size, repetitions=count)
    ask_and_tell(10 * count)
