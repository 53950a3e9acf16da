"""A mass on a spring, as a simulator that taskscout asks for data.

Copy this file and put your own simulator in `force` and `sample`; `main` can stay as it is.

A task is (stiffness, damping), each from -1 to 1. A row's inputs are position and velocity, its output
is the acceleration of the mass, measured with some noise.
"""

import json
import random
import sys

NOISE = 0.05  # standard deviation of the measured acceleration, m/s^2
STEP_S = 0.02
MASS_KG = 0.5

# A target that only this program knows: in spring.toml it has a name and no task.
HIDDEN = {"old-damper": (-0.4, 0.7)}


def force(x, v, stiffness, damping):
    """The spring hardens when it is stretched, the damper when it is moved fast."""
    k = 4.0 + 2.0 * stiffness
    c = 0.5 + 0.4 * damping
    return -k * x - 0.8 * k * x**3 - c * v - 0.1 * c * v**3


def sample(task, count, rng):
    """Rows of a shaken mass: it starts again every ten steps."""
    stiffness, damping = task
    rows = []
    for step in range(count):
        if step % 10 == 0:
            x, v = rng.uniform(-1, 1), rng.uniform(-2, 2)
        a = force(x, v, stiffness, damping) / MASS_KG
        rows.append({"x": [x, v], "y": a + rng.gauss(0, NOISE)})
        v += STEP_S * (a + rng.gauss(0, 5))
        x += STEP_S * v
    return rows


def answer(request):
    task = request.get("task")
    if task is None:
        name = request.get("target")
        if name not in HIDDEN:
            return [{"error": f"there is no target {name}"}]
        task = HIDDEN[name]
    # The same seed, the same rows: then a run can be repeated.
    return sample(task, request["count"], random.Random(request["seed"]))


def main():
    for line in sys.stdin:
        for row in answer(json.loads(line)):
            print(json.dumps(row))
        sys.stdout.flush()  # or taskscout waits for rows that sit in a buffer


if __name__ == "__main__":
    main()
