from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import taskscout as ts
from taskscout import gym

gymnasium = pytest.importorskip("gymnasium")


def pendulum(g: float = 10.0, m: float = 1.0) -> Any:
    environment = gymnasium.make("Pendulum-v1", g=g)
    environment.unwrapped.m = m
    return environment


def acceleration(step: gym.Step) -> float:
    return float((step.next[2] - step.observation[2]) / 0.05)


def gentle(observation: Any, rng: np.random.Generator) -> Any:
    return rng.uniform(-1, 1, size=1)


def test_rows_are_those_of_the_environment() -> None:
    rows = gym.collect(pendulum, gentle, label=acceleration)
    x, y = rows({"g": 9.0, "m": 2.0}, 300, 4)
    assert x.shape == (300, 4)
    # θ̈ = 3g/2l sin θ + 3/ml² u, with l = 1; speeds are cut off at 8.
    slow = np.abs(x[:, 2]) < 7
    assert y[slow, 0] == pytest.approx(1.5 * 9.0 * x[slow, 1] + 1.5 * x[slow, 3], abs=1e-4)
    again, _ = pickle.loads(pickle.dumps(rows))({"g": 9.0, "m": 2.0}, 300, 4)
    assert np.array_equal(x, again)
    assert not np.array_equal(x, rows({"g": 9.0, "m": 2.0}, 300, 5)[0])


def test_labels_and_columns() -> None:
    after = gym.collect(pendulum, label="next")
    change = gym.collect(pendulum, label="difference")
    rest = gym.collect(pendulum, label="next", nominal=lambda observation, action: observation)
    (x, y), (_, dy), (_, residual) = (rows({"g": 9.0}, 50, 1) for rows in (after, change, rest))
    assert y - x[:, :3] == pytest.approx(dy)
    assert residual == pytest.approx(dy)
    noisy = gym.collect(pendulum, label="next", noise=0.1)({"g": 9.0}, 50, 1)[1]
    assert 0.05 < np.std(noisy - y) < 0.2
    names = ["observation0", "observation1", "observation2", "action0"]
    assert change.columns() == (names, ["output0", "output1", "output2"])
    with pytest.raises(ts.InputError, match="label is 'best'"):
        gym.collect(pendulum, label="best")
    with pytest.raises(ts.InputError, match="through is 'magic'"):
        gym.collect(pendulum, through="magic")


class Counter(gymnasium.Env):
    """Counts up by what the options of its reset say; two actions, of which the second doubles it."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.pace, self.state = options["pace"], 0.0
        return np.array([self.state]), {}

    def step(self, action: Any) -> Any:
        self.state += self.pace * (2 if action == 1 else 1)
        return np.array([self.state]), 0.0, self.state > 10, False, {}


def test_tasks_through_options_and_discrete_actions() -> None:
    rows = gym.collect(Counter, through="options")
    x, y = rows({"pace": 0.5}, 60, 3)
    assert set(map(tuple, x[:, 1:])) == {(1.0, 0.0), (0.0, 1.0)}
    assert y[:, 0] == pytest.approx(0.5 * x[:, 1] + x[:, 2])
    # Episodes that ended began anew.
    assert (x[:, 0] == 0).sum() > 1


def test_a_study_finds_the_acceleration_of_an_unknown_pendulum() -> None:
    rows = gym.collect(pendulum, gentle, label=acceleration, noise=0.3)
    inputs, outputs = rows.columns()

    def finished(executor: Any) -> np.ndarray:
        study = ts.create_study(
            space=ts.Box(g=(5, 15), m=(0.5, 2)),
            inputs=inputs,
            outputs=outputs,
            targets=["found"],
            input_features="affine",
            task_features="affine",
        )
        study.tell_target("found", *rows({"g": 12.0, "m": 1.5}, 20, 1))
        study.run(rows, budget=300, rounds=2, executor=executor)
        x, y = gym.collect(pendulum, gentle, label=acceleration)({"g": 12.0, "m": 1.5}, 300, 2)
        predicted = study.model().predict(x)
        slow = np.abs(x[:, 2]) < 7
        assert np.sqrt(np.mean((predicted - y[:, 0])[slow] ** 2)) < 0.3
        return predicted

    with ThreadPoolExecutor(3) as pool:
        assert np.array_equal(finished(None), finished(pool))


class Ramp(gymnasium.Env):
    """Goes up by a step until the top, where the episode ends."""

    observation_space = gymnasium.spaces.Box(-1e3, 1e3, (1,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, height: float = 1.0) -> None:
        self.height = height
        self.at = 0.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.height = (options or {}).get("height", 1.0 if options is not None else self.height)
        self.at = float(self.np_random.integers(3))
        return np.array([self.at]), {}

    def step(self, action: int) -> Any:
        self.at += self.height * (1 + action)
        return np.array([self.at]), 0.0, self.at > 8 * self.height, False, {"at": self.at}


def ramps(mode: str, height: float = 1.0) -> Any:
    kinds = gymnasium.vector.AutoresetMode
    return gymnasium.vector.SyncVectorEnv([lambda: Ramp(height)] * 3, autoreset_mode=kinds[mode])


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP", "DISABLED"])
@pytest.mark.parametrize("through", ["factory", "options"])
def test_rows_of_vectors_are_steps_and_no_resets(mode: str, through: Any) -> None:
    def make(height: float = 1.0) -> Any:
        return ramps(mode, height)

    def up(observation: Any, rng: np.random.Generator) -> Any:
        return int(rng.integers(2))

    rows = gym.collect(make, up, through=through)
    x, y = rows({"height": 2.0}, 301, 7)
    assert x.shape == (301, 3)
    # A reset would be a jump down; every row goes up by one or two steps, as the action says.
    np.testing.assert_allclose(y[:, 0], 2.0 * (1 + x[:, 2]))
    # Episodes end and begin again, and their last steps are rows too.
    assert (x[:, 0] > 14.0).sum() > 5
    assert (x[:, 0] < 3.0).sum() > 20
    np.testing.assert_array_equal(x, rows({"height": 2.0}, 301, 7)[0])
    assert rows.columns() == (["observation0", "action0", "action1"], ["output0"])


def test_a_vector_of_gymnasium_gives_the_rows_of_its_environments() -> None:
    def make(g: float = 10.0) -> Any:
        return gymnasium.make_vec("Pendulum-v1", num_envs=4, vectorization_mode="sync", g=g)

    x, y = gym.collect(make, label=acceleration, episode=20)({"g": 9.0}, 200, 4)
    slow = np.abs(x[:, 2]) < 7
    assert y[slow, 0] == pytest.approx(1.5 * 9.0 * x[slow, 1] + 3.0 * x[slow, 3], abs=1e-3)
