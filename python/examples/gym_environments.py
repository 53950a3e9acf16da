"""Environments of Gymnasium with hidden parameters: which ones to run next?

Another target is drawn for every seed. Prints errors on it, in standard deviations of the outputs: with the target's
few rows alone, with steps of random environments, and with as many steps of those that taskscout asks for. Run it with
`python gym_environments.py [NAME] [SEEDS] [FIRST SEED] [PROCESSES]`; `hopper` needs MuJoCo, `quadrotor` RotorPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import exp, log
from statistics import fmean
from typing import Any

import gymnasium
import numpy as np
from quadrotor import Quadrotor

import taskscout as ts
from taskscout import gym


@dataclass(frozen=True)
class World:
    """An environment, its tasks, and what is learnt of it."""

    make: Callable[..., Any]
    ranges: dict[str, tuple[float, float]]
    label: Callable[[gym.Step], Any]
    noise: float
    target_rows: int = 200
    budget: int = 200
    rounds: int = 4
    episode: int = 20


def _with(name: str, **settings: float) -> Any:
    environment = gymnasium.make(name)
    for key, value in settings.items():
        setattr(environment.unwrapped, key, value)
    return environment


def pendulum(g: float = 10.0, m: float = 1.0, l: float = 1.0) -> Any:  # noqa: E741
    """A pendulum with a motor."""
    return _with("Pendulum-v1", g=g, m=m, l=l)


def cart_pole(
    gravity: float = 9.8, cart: float = 1.0, pole: float = 0.1, length: float = 0.5, force: float = 10.0
) -> Any:
    """A pole on a cart."""
    moments = {"total_mass": cart + pole, "polemass_length": pole * length}
    own = {"gravity": gravity, "masscart": cart, "masspole": pole, "length": length, "force_mag": force}
    return _with("CartPole-v1", **own, **moments)


def acrobot(first: float = 1.0, second: float = 1.0, length: float = 1.0) -> Any:
    """Two links with a motor between them."""
    own = {"LINK_MASS_1": first, "LINK_MASS_2": second, "LINK_LENGTH_1": length, "LINK_COM_POS_1": length / 2}
    return _with("Acrobot-v1", **own)


def mountain_car(force: float = 0.001, gravity: float = 0.0025) -> Any:
    """A car in a valley."""
    return _with("MountainCar-v0", force=force, gravity=gravity)


def hopper(gravity: float = 9.81, mass: float = 1.0, damping: float = 1.0, wind: float = 0.0) -> Any:
    """A hopping leg in dense air that moves."""
    environment = gymnasium.make("Hopper-v5")
    model: Any = environment.unwrapped.model  # type: ignore[attr-defined]
    model.opt.gravity[2] = -gravity
    model.body_mass[1] *= mass
    model.dof_damping[:] *= damping
    model.opt.density = 24.0
    model.opt.wind[0] = wind
    return environment


def change(places: Sequence[int], seconds: float, step: gym.Step) -> Any:
    """How fast some of the observations change."""
    return (step.next[list(places)] - step.observation[list(places)]) / seconds


def missed_force(step: gym.Step) -> Any:
    """The force that the quadrotor's nominal model misses."""
    return step.info["force"]


WORLDS = {
    "pendulum": World(
        pendulum,
        {"g": (5, 15), "m": (0.5, 2), "l": (0.7, 1.5)},
        partial(change, (2,), 0.05),
        noise=2.0,
    ),
    "cart-pole": World(
        cart_pole,
        {"gravity": (4, 15), "cart": (0.5, 2), "pole": (0.05, 0.5), "length": (0.3, 1), "force": (5, 15)},
        partial(change, (1, 3), 0.02),
        noise=2.0,
    ),
    "acrobot": World(
        acrobot,
        {"first": (0.5, 2), "second": (0.5, 2), "length": (0.6, 1.5)},
        partial(change, (4, 5), 0.2),
        noise=0.5,
    ),
    "mountain-car": World(
        mountain_car,
        {"force": (0.0005, 0.002), "gravity": (0.001, 0.005)},
        partial(change, (1,), 1.0),
        noise=0.0003,
    ),
    "hopper": World(
        hopper,
        {"gravity": (5, 15), "mass": (0.5, 2), "damping": (0.5, 3), "wind": (-20, 20)},
        partial(change, (5, 6, 7, 8, 9, 10), 0.008),
        noise=10.0,
        budget=300,
        episode=50,
    ),
    "quadrotor": World(
        Quadrotor,
        {"wind_x": (-8, 8), "wind_y": (-8, 8), "frame": (0.5, 3), "rotors": (0.5, 2)},
        missed_force,
        noise=0.1,
        episode=50,
    ),
}


def target(world: World, seed: int) -> dict[str, float]:
    """A target inside of the ranges, another one for every seed."""
    rng = np.random.default_rng(10_000 + seed)
    inner = {name: (low + 0.1 * (high - low), high - 0.1 * (high - low)) for name, (low, high) in world.ranges.items()}
    return {name: float(rng.uniform(*ends)) for name, ends in inner.items()}


def compared(world: World, seeds: range, processes: int = 1, **settings: Any) -> ts.Results:
    """Passive and aware collection on targets that nobody knows the parameters of."""
    measured = gym.collect(world.make, label=world.label, noise=world.noise, episode=world.episode)
    inputs, outputs = measured.columns()
    return ts.sweep(
        measured,
        space=ts.Box(**world.ranges),
        inputs=inputs,
        outputs=outputs,
        targets=partial(target, world),
        seeds=seeds,
        budget=world.budget,
        rounds=world.rounds,
        target_rows=world.target_rows,
        truth=gym.collect(world.make, label=world.label, episode=world.episode),
        executor=partial(ProcessPoolExecutor, processes) if processes > 1 else None,
        **settings,
    )


def main(names: list[str], seeds: range, processes: int) -> None:
    """Prints a line for every environment: geometric means, and the ratio of aware to passive at 90 %."""
    print("environment  alone  passive  aware  aware/passive")
    for name in names:
        results = compared(WORLDS[name], seeds, processes)
        logs: dict[str, list[float]] = {}
        for row in results.last():
            logs.setdefault(row["strategy"], []).append(log(row["returned_loss"]) / 2)
        alone, passive, aware = (exp(fmean(logs[strategy])) for strategy in ("target-only", "passive", "aware"))
        print(f"{name:11}  {alone:.3f}  {passive:7.3f}  {aware:5.3f}  {results.compare()}", flush=True)


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else "all"
    count, first, workers = (int(value) for value in [*sys.argv[2:5], *("10", "0", "1")[len(sys.argv[2:5]) :]])
    classic = ["pendulum", "cart-pole", "acrobot", "mountain-car"]
    main(classic if chosen == "all" else [chosen], range(first, first + count), workers)
