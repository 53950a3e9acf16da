"""Pendulum-v1 of Gymnasium with hidden gravity, mass and length: which pendulums to swing next?

Prints the error on the target over some seeds: with the target's few rows alone, with steps of random pendulums,
and with as many steps of those that taskscout asks for. Run it with `python pendulum_gym.py [SEEDS]`.
"""

from __future__ import annotations

import sys
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

import taskscout as ts
from taskscout import gym

TARGET = {"g": 12.0, "m": 0.7, "l": 1.2}
TARGET_ROWS, BUDGET, ROUNDS = 20, 300, 4


def make(g: float = 10.0, m: float = 1.0, l: float = 1.0) -> Any:  # noqa: E741
    """A pendulum with parameters of its own."""
    environment = gymnasium.make("Pendulum-v1", g=g)
    environment.unwrapped.m = m  # type: ignore[attr-defined]
    environment.unwrapped.l = l  # type: ignore[attr-defined]
    return environment


def acceleration(step: gym.Step) -> float:
    """The angular acceleration, which is what a controller needs to know."""
    return float((step.next[2] - step.observation[2]) / 0.05)


MEASURED = gym.collect(make, label=acceleration, noise=2.0, episode=20)
TRUE = gym.collect(make, label=acceleration, episode=20)


def error(strategy: str, seed: int) -> tuple[float, float]:
    """Root-mean-square error on the target, with source rows and without."""
    inputs, outputs = MEASURED.columns()
    study = ts.create_study(
        space=ts.Box(g=(5, 15), m=(0.5, 2), l=(0.7, 1.5)),
        inputs=inputs,
        outputs=outputs,
        targets=["mine"],
        input_features="affine",
        task_features="quadratic",
        strategy=strategy,
        seed=seed,
    )
    x, y = MEASURED(TARGET, TARGET_ROWS, 1000 + seed)
    study.tell_target("mine", x, y)
    study.run(MEASURED, budget=BUDGET, rounds=ROUNDS)
    test, truth = TRUE(TARGET, 2000, 2000 + seed)
    alone = ts.Statistics(inputs=x.shape[1] + 1)
    alone.update(_with_constant(x), y)
    coefficients, _ = alone.ridge()
    return _rms(study.model().predict(test) - truth[:, 0]), _rms((_with_constant(test) @ coefficients - truth)[:, 0])


def _with_constant(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.column_stack([np.ones(len(x)), x])


def _rms(values: npt.NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(values**2)))


def main(seeds: int) -> None:
    """Prints the table."""
    rows = []
    print("seed  target alone  passive  aware")
    for seed in range(seeds):
        passive, alone = error("passive", seed)
        aware, _ = error("aware", seed)
        rows.append((alone, passive, aware))
        print(f"{seed:4}  {alone:12.3f}  {passive:7.3f}  {aware:5.3f}")
    alone, passive, aware = np.mean(rows, axis=0)
    wins = sum(aware < passive for _, passive, aware in rows)
    print(f"mean  {alone:12.3f}  {passive:7.3f}  {aware:5.3f}  (aware is below passive in {wins} of {seeds})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
