"""A wind tunnel that is not there: it measures what a plan asks for, and crashes on purpose.

    python3 tunnel.py hover hover.csv     the few rows that there are of tomorrow's condition
    python3 tunnel.py measure monday.csv  measures the items of a checklist and fills in the column `file`
    python3 tunnel.py serve               measures what it is asked for on standard input (`study work`)

Copy this file and put your own rig in `force`. It needs nothing but Python.
"""

import csv
import json
import os
import random
import sys

NOISE_N = 0.05  # standard deviation of a measured force
TOMORROW = (7.0, 0.8)  # wind in m/s and payload in kg: nobody in the lab knows them


def force(wind, payload, vx, vy, pwm):
    """The force on the drone, in newtons."""
    return 4 + 0.1 * wind + 0.3 * wind * (vx - vy) + payload * (pwm - 1500) / 200


def rows(task, count, rng):
    wind, payload = task
    for _ in range(count):
        vx, vy, pwm = rng.uniform(-3, 3), rng.uniform(-3, 3), rng.uniform(1300, 1700)
        yield vx, vy, pwm, force(wind, payload, vx, vy, pwm) + rng.gauss(0, NOISE_N)


def write(path, task, count, seed):
    """Rows as a table; the name appears only when all of them are there."""
    with open(path + ".part", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["vx", "vy", "pwm", "force"])
        table.writerows(rows(task, count, random.Random(seed)))
    os.replace(path + ".part", path)


def measure(path):
    """Fills a checklist in, item by item. Halfway through, the first time, the fan stops."""
    with open(path, newline="") as file:
        lines = list(csv.DictReader(file))
    crash = None if os.path.exists("fan-repaired") else len(lines) // 2
    for at, line in enumerate(lines):
        if line["file"] or line["failed"]:
            continue
        if at == crash:
            open("fan-repaired", "w").close()
            sys.exit(f"tunnel: the fan stopped at item {line['item']}; repair it and start again")
        line["file"] = f"item{line['item']}.csv"
        task = (float(line["wind"]), float(line["payload"]))
        write(line["file"], task, int(line["n"]), int(line["item"]))
        with open(path + ".part", "w", newline="") as file:
            table = csv.DictWriter(file, lines[0].keys())
            table.writeheader()
            table.writerows(lines)
        os.replace(path + ".part", path)


def serve():
    """One request a line, one row a line. Some requests crash the first time that they come."""
    for line in sys.stdin:
        request = json.loads(line)
        mark = f"crashed-{request['seed']}"
        if request["seed"] % 3 == 0 and not os.path.exists(mark):
            open(mark, "w").close()
            sys.exit("tunnel: the fan stopped again")
        # The same seed, the same rows: whoever measures an item again gets what was lost.
        rng = random.Random(request["seed"])
        for vx, vy, pwm, newtons in rows(request["task"], request["count"], rng):
            print(json.dumps({"x": [vx, vy, pwm], "y": newtons}))
        sys.stdout.flush()  # or taskscout waits for rows that sit in a buffer


def main():
    match sys.argv[1:]:
        case ["hover", path]:
            write(path, TOMORROW, 12, 1000)
        case ["calibrate", path]:
            write(path, (0.0, 0.0), 25, 2000)
        case ["measure", path]:
            measure(path)
        case ["serve"]:
            serve()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
