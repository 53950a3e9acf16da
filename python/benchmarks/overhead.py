"""How fast the package is beside numpy, and what it costs beside the native half.

Prints the time of `Statistics.update` over that of numpy's `X.T @ X` in the same process, by number of rows and inputs,
and the microseconds that `ask` and `tell` take beside the native calls. Times are those of the processor, so that other
programs do not count; set OPENBLAS_NUM_THREADS=1 and RAYON_NUM_THREADS=1, because idle threads of numpy count too.
Build the package with optimisation first: `pip install .`. Run `python overhead.py [REPETITIONS]`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

import numpy as np

import taskscout as ts


def seconds(*calls: Callable[[], object], repetitions: int) -> list[float]:
    """The least time of each call; they take turns, so that a busy moment meets all of them."""
    best = [float("inf")] * len(calls)
    for _ in range(repetitions):
        for place, call in enumerate(calls):
            began = process_time()
            call()
            best[place] = min(best[place], process_time() - began)
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


def study() -> ts.Study:
    """A small study without rows."""
    return ts.create_study(
        space=ts.Box(wind=(-5, 5), payload=(0, 2)),
        inputs=["vx", "vy", "pwm"],
        outputs=["force"],
        targets=["tomorrow"],
        strategy="passive",
    )


class Repeated:
    """A native half that gives the same answers at once."""

    def __init__(self, plan: str, receipt: str) -> None:
        self.plan, self.receipt = plan, receipt

    def ask(self, *_arguments: Any) -> str:
        """The same plan."""
        return self.plan

    def tell(self, *_arguments: Any) -> str:
        """The same receipt."""
        return self.receipt


def without_native(rounds: int) -> None:
    """What the Python half takes by itself, in microseconds."""
    x, y = np.ones((20, 3)), np.ones((20, 1))
    ours = study()
    plan = ours._native.ask(20, json.dumps({"forbidden": []}))
    receipt = ours._native.tell(json.loads(plan)["plan"]["items"][0]["id"], x, y, None, None)
    ours._native = Repeated(plan, receipt)  # type: ignore[assignment]
    times: dict[str, list[float]] = {"ask": [], "tell": []}
    for _ in range(rounds):
        began = process_time()
        items = ours.ask(20)
        asked = process_time()
        ours.tell(items[0], x, y)
        times["ask"].append(asked - began)
        times["tell"].append(process_time() - asked)
    for name, spent in times.items():
        print(f"{name}: {1e6 * median(spent):.0f} µs in Python, where the native half answers at once")


def ask_and_tell(rounds: int) -> None:
    """What `ask` and `tell` take beside the native calls, in microseconds; the order of calls counts too."""
    x, y = np.ones((20, 3)), np.ones((20, 1))
    spent: dict[str, list[float]] = {"ask": [], "tell": []}
    native: dict[str, list[float]] = {"ask": [], "tell": []}
    ours, theirs = study(), study()
    limits = json.dumps({"forbidden": []})
    for _ in range(rounds):
        began = process_time()
        plan = ours.ask(20)
        spent["ask"].append(process_time() - began)
        began = process_time()
        said = theirs._native.ask(20, limits)
        native["ask"].append(process_time() - began)
        items = json.loads(said)["plan"]["items"]
        began = process_time()
        ours.tell(plan[0], x, y)
        spent["tell"].append(process_time() - began)
        began = process_time()
        theirs._native.tell(items[0]["id"], x, y, None, None)
        native["tell"].append(process_time() - began)
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
    without_native(20 * count)
