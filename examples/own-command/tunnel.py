"""A body on a turntable in a wind tunnel, as a simulator that taskscout asks for data.

A task is a wind (east, north) in m/s. A row's inputs are the body's velocity, its output is the force on it.
"""

import json
import random
import sys


def sample(wind, count, rng):
    east, north = wind
    for _ in range(count):
        v = [rng.uniform(-1, 1), rng.uniform(-1, 1)]
        force = 0.4 * east + (0.3 * north - 1.0) * v[0] - 0.2 * east * v[1] - 0.5 * v[0] * abs(v[0])
        yield {"x": v, "y": force + rng.gauss(0, 0.05)}


for line in sys.stdin:
    request = json.loads(line)
    for row in sample(request["task"], request["count"], random.Random(request["seed"])):
        print(json.dumps(row))
    sys.stdout.flush()
