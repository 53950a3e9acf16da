"""Writes PX4 logs (ULog) of a simulated quadrotor in several winds, for docs/how-to/px4-logs-to-model.md.

    python3 make_flights.py FOLDER [ROWS]

A flight has three topics at rates of their own, as PX4 logs them: velocity (50 Hz), attitude (50 Hz, a little later) and
motors (100 Hz). The wind drags; how much, nobody logs. A table `tasks.csv` beside the flights has what the pilot wrote down.
"""

import math
import random
import struct
import sys
from pathlib import Path

MASS, GRAVITY, THRUST = 1.5, 9.81, 9.0
FLIGHTS = [("monday_1", "large", 0.0), ("monday_2", "large", 3.0), ("monday_3", "large", 6.0), ("tuesday_1", "small", 0.0),
           ("tuesday_2", "small", 4.0), ("tuesday_3", "small", 8.0), ("today", "large", 4.5)]


def drag(wind, propellers, vx, vz):
    """The force that nobody logs, downwards in newtons."""
    rough = 0.25 if propellers == "large" else 0.15
    return -(rough + 0.06 * wind) * vz - 0.05 * wind * vx - 0.1 * vz * abs(vz)


class Log:
    def __init__(self):
        self.bytes = bytearray(b"ULog\x01\x12\x35" + struct.pack("<BQ", 1, 1_000_000))
        self.message("B", bytes(40))

    def message(self, kind, content):
        self.bytes.extend(struct.pack("<HB", len(content), ord(kind)) + content)

    def row(self, topic, micros, *values):
        self.message("D", struct.pack(f"<HQ{len(values)}f", topic, micros, *values))


def flight(wind, propellers, rows, seed):
    rng = random.Random(seed)
    log = Log()
    log.message("F", b"vehicle_local_position:uint64_t timestamp;float vx;float vy;float vz;")
    log.message("F", b"vehicle_attitude:uint64_t timestamp;float[4] q;")
    log.message("F", b"actuator_motors:uint64_t timestamp;float[4] control;")
    for number, name in enumerate([b"vehicle_local_position", b"vehicle_attitude", b"actuator_motors"]):
        log.message("A", struct.pack("<BH", 0, number) + name)
    vx, vz, motor, phase = 0.0, 0.0, 0.0, rng.uniform(0, 6)
    for step in range(2 * rows):
        t = 0.01 * step
        wanted = 1.5 * math.sin(0.9 * t + phase) + 0.8 * math.sin(2.3 * t)
        if step % 2 == 0:  # the controller has half the rate of the motors
            motor = (MASS * GRAVITY + 3.0 * (vz - wanted)) / (4 * THRUST) + 0.01 * rng.gauss(0, 1)
        vx = 2.0 * math.sin(0.5 * t + phase)
        tilt = 0.1 * math.cos(0.5 * t + phase)
        micros = 1_000_000 + 10_000 * step
        log.row(2, micros, *[motor] * 4)
        if step % 2 == 0:
            log.row(0, micros + 300, vx + 0.01 * rng.gauss(0, 1), 0.0, vz + 0.0003 * rng.gauss(0, 1))
            log.row(1, micros + 900, math.cos(tilt / 2), 0.0, math.sin(tilt / 2), 0.0)
        vz += 0.01 * (GRAVITY + (drag(wind, propellers, vx, vz) - 4 * THRUST * motor) / MASS)
    return log.bytes


def main():
    folder, rows = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1500
    folder.mkdir(parents=True, exist_ok=True)
    table = ["recording,propellers,wind [m/s]"]
    for seed, (name, propellers, wind) in enumerate(FLIGHTS):
        # Of today there are but a few seconds.
        (folder / f"{name}.ulg").write_bytes(flight(wind, propellers, 100 if name == "today" else rows, seed))
        table.append(f"{name},{propellers},{wind}")
    (folder / "tasks.csv").write_text("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
