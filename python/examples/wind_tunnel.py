"""A campaign in a wind tunnel: a table of settings with costs, two workers, and a model for the robot.

Run it with `python wind_tunnel.py FOLDER`; run it again and it goes on where it was.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt

import taskscout as ts

Array = npt.NDArray[np.float64]

#: Fan settings that the tunnel has, and the minutes that a row of each takes.
SETTINGS = {
    "name": ["off", "low", "middle", "high", "gusty", "storm"],
    "speed": [0.0, 2.0, 4.0, 6.0, 5.0, 12.0],
    "turbulence": [0.0, 0.1, 0.1, 0.2, 0.9, 0.5],
    "minutes": [1.0, 1.0, 1.0, 1.5, 2.0, 6.0],
}


def measure(task: dict[str, float], n: int, seed: int) -> tuple[Array, Array]:
    """The tunnel: forces on a model aircraft at random attitudes."""
    rng = np.random.default_rng(seed)
    attitude = rng.uniform(-1.0, 1.0, size=(n, 3))
    drag = 0.2 * task["speed"] * (1.0 + attitude[:, 0] ** 2)
    lift = task["speed"] * attitude[:, 1] - task["turbulence"] * attitude[:, 2]
    noise = 0.1 * rng.normal(size=(n, 2))
    return attitude, np.column_stack([drag, lift]) + noise


def main(folder: Path) -> None:
    """Measures, learns, and saves the model of tomorrow's wind."""
    study = ts.create_study(
        name="tunnel",
        space=ts.Candidates(SETTINGS, columns=["speed", "turbulence"], name="name", cost="minutes"),
        inputs=["roll", "pitch", "yaw"],
        outputs=[ts.Column("drag", unit="N"), ts.Column("lift", unit="N")],
        targets=["tomorrow"],
        storage=folder / "tunnel.db",
        load_if_exists=True,
        switch_cost=20.0,
        unit="minutes",
    )
    study.tell_target("tomorrow", *measure({"speed": 5.0, "turbulence": 0.3}, 40, seed=1))
    with ThreadPoolExecutor(2) as pool:
        study.run(measure, budget=300, rounds=3, executor=pool)
    print(study.status())
    model = study.model("tomorrow")
    model.save(folder / "tomorrow.safetensors")
    test, forces = measure({"speed": 5.0, "turbulence": 0.3}, 500, seed=2)
    error = np.sqrt(np.mean((model.predict(test) - forces) ** 2, axis=0))
    print(f"error on new rows: drag {error[0]:.3f} N, lift {error[1]:.3f} N (noise 0.1 N)")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
