"""A PyTorch module against the network of taskscout, in the world of the experiment `mlp`.

`y = φ(x)ᵀ B w + noise`: φ is a network with 10 inputs and one hidden layer, B is ill-conditioned on purpose, and tasks
lie in a ball of 79 dimensions. A study with the trainer `neural` collects; then a PyTorch module of the same shape
learns from the same rows, in a study of its own. The loss is the mean squared error of the returned predictor of the
target, against the truth without noise.

Run `python torch_mlp.py [SEEDS] [ROUNDS]`; 8 rounds are those of the experiment.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import nn

import taskscout as ts

Array = npt.NDArray[np.float64]
INPUTS, SOURCES, K, HIDDEN = 10, 79, 4, [10, 10]
TARGET_ROWS, GROWTH, FIRST = 8000, 1.1, 5.0
NAMES = [f"x{i}" for i in range(INPUTS)]


class World:
    """The truth: a network and a task map."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        columns = SOURCES + 1
        task_map = rng.uniform(size=(K, columns))
        task_map[:, columns // 3 : -1] = task_map[:, -1:]
        task_map += 0.1 * rng.uniform(size=task_map.shape)
        task_map[:, -1] = task_map[:, 0]
        self.task_map: Array = task_map / np.linalg.norm(task_map, axis=0)
        self.first: Array = np.sqrt(2 / INPUTS) * rng.normal(size=(INPUTS, 10))
        self.last: Array = np.sqrt(2 / 10) * rng.normal(size=(10, K))
        self.test: Array = rng.normal(size=(20_000, INPUTS))
        self.last /= np.sqrt(np.mean(self.phi(self.test) ** 2))

    def phi(self, x: Array) -> Array:
        """The true representation."""
        return np.asarray(np.maximum(x @ self.first, 0.0) @ self.last)

    def rows(self, embedding: Array, n: int, seed: int) -> tuple[Array, Array]:
        """Noisy rows of a task with this embedding."""
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(n, INPUTS))
        return x, self.phi(x) @ embedding + rng.normal(size=n)

    def collect(self, task: Mapping[str, float], n: int, seed: int) -> tuple[Array, Array]:
        """Rows of a source task."""
        return self.rows(self.task_map[:, :SOURCES] @ np.array(list(task.values())), n, seed)

    def loss(self, model: ts.Model) -> float:
        """The mean squared error on the target, against the truth."""
        truth = self.phi(self.test) @ self.task_map[:, -1]
        return float(np.mean((np.asarray(model.predict(self.test)) - truth) ** 2))

    def budget(self, round: int) -> int:
        """Samples of a round."""
        condition = np.linalg.cond(self.task_map[:, :SOURCES])
        return int(FIRST * INPUTS * K**2 * condition * GROWTH**round)


def study(world: World, seed: int, trainer: Any) -> ts.Study:
    """A study of the world, with the rows of its target."""
    made = ts.create_study(
        space=ts.Ball(SOURCES), inputs=NAMES, outputs=["y"], targets=["target"], trainer=trainer, k=K, seed=seed,
        input_features="identity", scaling="none",
    )  # fmt: skip
    made.tell_target("target", *world.rows(world.task_map[:, -1], TARGET_ROWS, 1000 + seed))
    return made


def network() -> nn.Module:
    """10-10-10-4 without bias, as the experiment has it."""
    widths = [INPUTS, *HIDDEN, K]
    layers: list[nn.Module] = []
    for wide, narrow in pairwise(widths):
        layers += [nn.Linear(wide, narrow, bias=False), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def compare(seed: int, rounds: int) -> tuple[float, float]:
    """Returned losses: with the network of taskscout, and with PyTorch on the same rows."""
    world = World(0)
    shape = {"hidden": HIDDEN, "activation": "relu", "bias": False}
    ours = study(world, seed, {"kind": "neural", "network": shape})
    theirs = study(world, seed, ts.torch.Representation(network()))
    for round in range(rounds):
        for item in ours.ask(world.budget(round)):
            rows = world.collect(item.task, item.n, ours.item_seed(item))
            ours.tell(item, *rows)
            theirs.add(item.task, *rows)
    return world.loss(ours.model()), world.loss(theirs.model())


def main(seeds: int, rounds: int) -> None:
    """Prints a table."""
    print(f"seed  neural   torch    torch/neural  seconds ({rounds} rounds)")
    found = []
    for seed in range(seeds):
        start = time.perf_counter()
        losses = compare(seed, rounds)
        found.append(losses)
        ours, theirs = losses
        seconds = time.perf_counter() - start
        print(f"{seed:4}  {ours:.5f}  {theirs:.5f}  {theirs / ours:12.3f}  {seconds:7.0f}", flush=True)
    ours, theirs = np.mean(found, axis=0)
    print(f"mean  {ours:.5f}  {theirs:.5f}  {theirs / ours:12.3f}")


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    main(*(numbers + [1, 8][len(numbers) :]))
