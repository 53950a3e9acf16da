"""Environments of Gymnasium with hidden parameters: which ones to run next?

Another target is drawn for every seed. Prints errors on it, in standard deviations of the outputs: with the target's
few rows alone, with steps of random environments, and with as many steps of those that taskscout asks for. Run it with
`python gym_environments.py [NAME] [SEEDS] [FIRST SEED]`; `hopper` needs MuJoCo.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

import taskscout as ts
from taskscout import gym

Array = npt.NDArray[np.float64]

#: Student's t at 95 % for 9 degrees of freedom.
T_95 = 1.83


@dataclass(frozen=True)
class World:
    """An environment, its tasks, and what is learnt of it."""

    make: Callable[..., Any]
    ranges: dict[str, tuple[float, float]]
    label: Callable[[gym.Step], Any]
    noise: float
    target_rows: int = 30
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


WORLDS = {
    "pendulum": World(
        pendulum,
        {"g": (5, 15), "m": (0.5, 2), "l": (0.7, 1.5)},
        lambda step: (step.next[2] - step.observation[2]) / 0.05,
        noise=2.0,
    ),
    "cart-pole": World(
        cart_pole,
        {"gravity": (4, 15), "cart": (0.5, 2), "pole": (0.05, 0.5), "length": (0.3, 1), "force": (5, 15)},
        lambda step: (step.next[[1, 3]] - step.observation[[1, 3]]) / 0.02,
        noise=2.0,
    ),
    "acrobot": World(
        acrobot,
        {"first": (0.5, 2), "second": (0.5, 2), "length": (0.6, 1.5)},
        lambda step: (step.next[4:] - step.observation[4:]) / 0.2,
        noise=0.5,
    ),
    "hopper": World(
        hopper,
        {"gravity": (5, 15), "mass": (0.5, 2), "damping": (0.5, 3), "wind": (-20, 20)},
        lambda step: (step.next[5:] - step.observation[5:]) / 0.008,
        noise=10.0,
        target_rows=40,
        budget=300,
        episode=50,
    ),
}


def errors(world: World, seed: int) -> tuple[float, float, float]:
    """Errors on a target: with its rows alone (least squares), after passive and after aware collection."""
    rng = np.random.default_rng(10_000 + seed)
    inner = {name: (low + 0.1 * (high - low), high - 0.1 * (high - low)) for name, (low, high) in world.ranges.items()}
    target = {name: float(rng.uniform(*ends)) for name, ends in inner.items()}
    measured = gym.collect(world.make, label=world.label, noise=world.noise, episode=world.episode)
    true = gym.collect(world.make, label=world.label, episode=world.episode)
    x, y = measured(target, world.target_rows, 1000 + seed)
    test, truth = true(target, 1000, 2000 + seed)
    inputs, outputs = measured.columns()

    def error(predicted: Array) -> float:
        return float(np.sqrt(np.mean(((predicted.reshape(truth.shape) - truth) / truth.std(axis=0)) ** 2)))

    def returned(strategy: str) -> float:
        study = ts.create_study(
            space=ts.Box(**world.ranges),
            inputs=inputs,
            outputs=outputs,
            targets=["mine"],
            strategy=strategy,
            seed=seed,
        )
        study.tell_target("mine", x, y)
        study.run(measured, budget=world.budget, rounds=world.rounds)
        return error(study.model().predict(test))

    alone = np.linalg.lstsq(_with_constant(x), y, rcond=None)[0]
    return error(_with_constant(test) @ alone), returned("passive"), returned("aware")


def _with_constant(x: Array) -> Array:
    return np.column_stack([np.ones(len(x)), x])


def main(names: list[str], seeds: range) -> None:
    """Prints a line for every environment: geometric means, and the ratio of aware to passive at 90 %."""
    print("environment  alone  passive  aware  aware/passive")
    for name in names:
        logs = np.log([errors(WORLDS[name], seed) for seed in seeds])
        alone, passive, aware = np.exp(logs.mean(axis=0))
        ratio = logs[:, 2] - logs[:, 1]
        half = T_95 * ratio.std(ddof=1) / np.sqrt(len(ratio)) if len(ratio) > 1 else np.inf
        low, middle, high = np.exp([ratio.mean() - half, ratio.mean(), ratio.mean() + half])
        better = f"aware is better in {(ratio < 0).sum()} of {len(ratio)}"
        numbers = f"{alone:.3f}  {passive:7.3f}  {aware:5.3f}  {middle:.2f} ({low:.2f} to {high:.2f})"
        print(f"{name:11}  {numbers}  {better}", flush=True)


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else "all"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    classic = ["pendulum", "cart-pole", "acrobot"]
    main(classic if chosen == "all" else [chosen], range(first, first + count))
