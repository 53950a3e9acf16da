"""Rows from environments of Gymnasium: what a policy sees and does, and what comes of it.

A task is a set of parameters of the environment: its gravity, a mass, a wind. Rows are steps: inputs are the
observation and the action, outputs the next observation, its change, or whatever you compute from a step. Needs an
environment with the interface of Gymnasium; the library itself is not imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .errors import InputError

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Step:
    """One step of an environment."""

    observation: Array
    """What was seen before."""
    action: Array
    """What was done; of discrete actions, 1 at the place of the one that was chosen."""
    next: Array
    """What was seen after."""
    reward: float
    """The reward."""
    info: Mapping[str, Any]
    """What the environment says beside."""


#: `policy(observation, rng)`: an action.
Policy: TypeAlias = Callable[[Any, np.random.Generator], Any]
#: What the outputs of a row are.
Label: TypeAlias = Literal["next", "difference"] | Callable[[Step], Any]


@dataclass(frozen=True)
class Collector:
    """A function of `(task, n, seed)` for `Study.run`; made by `collect`.

    It can be pickled where the functions in it can, so it works in other processes.
    """

    make: Callable[..., Any]
    policy: Policy | None = None
    through: Literal["factory", "options"] = "factory"
    label: Label = "difference"
    nominal: Callable[[Array, Array], Any] | None = None
    noise: float = 0.0
    episode: int = 200

    def __call__(self, task: Mapping[str, float], n: int, seed: int) -> tuple[Array, Array]:
        """Measures n steps of a task."""
        rng = np.random.default_rng(seed)
        environment = self.make(**task) if self.through == "factory" else self.make()
        options = dict(task) if self.through == "options" else None
        try:
            environment.action_space.seed(int(rng.integers(2**31)))
            walk = self._vector_steps if hasattr(environment, "num_envs") else self._steps
            steps = list(islice(walk(environment, options, rng), n))
        finally:
            environment.close()
        inputs = np.stack([np.concatenate([step.observation, step.action]) for step in steps])
        labels = np.stack([self._label(step) for step in steps])
        return inputs, labels + self.noise * rng.normal(size=labels.shape)

    def _steps(self, environment: Any, options: Any, rng: np.random.Generator) -> Iterator[Step]:
        observation, left = None, 0
        start: int | None = int(rng.integers(2**31))
        while True:
            if left == 0:
                observation, _info = environment.reset(seed=start, options=options)
                # The environment goes on with its own generator.
                start, left = None, self.episode
            action = environment.action_space.sample() if self.policy is None else self.policy(observation, rng)
            after, reward, terminated, truncated, info = environment.step(action)
            acted = _acted(environment.action_space, action)
            yield Step(_flat(observation), acted, _flat(after), float(reward), info)
            observation, left = after, 0 if terminated or truncated else left - 1

    def _vector_steps(self, environment: Any, options: Any, rng: np.random.Generator) -> Iterator[Step]:
        """Steps of all environments of a vector, one after the other."""
        count, space = environment.num_envs, environment.single_action_space
        # Modes are an enumeration: 'NextStep', 'SameStep', 'Disabled'.
        mode = str(getattr(environment.metadata.get("autoreset_mode"), "value", "NextStep"))
        start: int | None = int(rng.integers(2**31))
        observations: Any = None
        left, over = 0, np.zeros(count, dtype=bool)
        while True:
            # An environment that resets itself does so without options, and one that is disabled not at all.
            if left == 0 or (over.any() and (options is not None or mode == "Disabled")):
                observations, _info = environment.reset(seed=start, options=options)
                start, left, over = None, self.episode, np.zeros(count, dtype=bool)
            actions = environment.action_space.sample()
            if self.policy is not None:
                actions = np.stack([np.asarray(self.policy(seen, rng)) for seen in observations])
            after, rewards, terminated, truncated, info = environment.step(actions)
            ended = np.asarray(terminated) | np.asarray(truncated)
            # After an end, the next step of this mode is the reset: it ignores the action.
            resets = over if mode == "NextStep" else np.zeros(count, dtype=bool)
            for i in np.flatnonzero(~resets):
                last = mode == "SameStep" and ended[i]
                seen = info["final_obs"][i] if last else after[i]
                about = {key: value[i] for key, value in info.items() if isinstance(value, np.ndarray)}
                yield Step(_flat(observations[i]), _acted(space, actions[i]), _flat(seen), float(rewards[i]), about)
            # What is over has been reset already where that happens in the same step.
            over = ended & ~resets if mode != "SameStep" or options is not None else np.zeros(count, dtype=bool)
            observations, left = after, left - 1

    def _label(self, step: Step) -> Array:
        if callable(self.label):
            return _flat(self.label(step))
        base: Any = 0.0
        if self.nominal is not None:
            base = self.nominal(step.observation, step.action)
        elif self.label == "difference":
            base = step.observation
        return np.asarray(step.next - np.asarray(base, dtype=float))

    def columns(self, task: Mapping[str, float] | None = None) -> tuple[list[str], list[str]]:
        """Names for the inputs and outputs of a study, from a single step of the default environment or of a task."""
        if task is None and self.through == "factory":
            task = {}
        single = Collector(self.make, None, self.through, self.label, self.nominal, 0.0, 1)
        x, y = single(task or {}, 1, 0)
        environment = self.make(**(task or {})) if self.through == "factory" else self.make()
        space = getattr(environment, "single_observation_space", environment.observation_space)
        seen = len(_flat(space.sample()))
        environment.close()
        inputs = [f"observation{i}" for i in range(seen)] + [f"action{i}" for i in range(x.shape[1] - seen)]
        return inputs, [f"output{i}" for i in range(y.shape[1])]


def collect(
    make: Callable[..., Any],
    policy: Policy | None = None,
    *,
    through: Literal["factory", "options"] = "factory",
    label: Label = "difference",
    nominal: Callable[[Array, Array], Any] | None = None,
    noise: float = 0.0,
    episode: int = 200,
) -> Collector:
    """A function for `Study.run` that measures steps of an environment.

    `make(**task)` makes an environment with the parameters of a task, or, with `through="options"`, `make()` makes one
    that takes them in `reset(options=task)`. `policy(observation, rng)` chooses actions, at random if it is not given.
    Outputs are the next observation, its change (`difference`), what a `nominal(observation, action)` model of it
    leaves over, or a function of the `Step`. `noise` is added to them, as a sensor would. An episode ends after so many
    steps, or when the environment says so.

    `make` may make a vector of environments, as `gymnasium.make_vec` does: rows come from all of them. Steps in which
    one only resets itself are left out.

    >>> import numpy as np
    >>> import gymnasium, taskscout as ts
    >>> def make(g=10.0):
    ...     return gymnasium.make("Pendulum-v1", g=g)
    >>> steps = ts.gym.collect(make)
    >>> X, Y = steps({"g": 9.0}, 5, seed=0)
    >>> X.shape, Y.shape
    ((5, 4), (5, 3))
    """
    if through not in ("factory", "options"):
        raise InputError(f"through is {through!r}: use 'factory' or 'options'")
    if not callable(label) and label not in ("next", "difference"):
        raise InputError(f"label is {label!r}: use 'next', 'difference', or a function of a step")
    if callable(label) and nominal is not None:
        raise InputError("a label of your own and a nominal model are given: subtract the model in the label")
    if episode < 1 or not noise >= 0.0:
        raise InputError(f"episode is {episode} and noise is {noise}: give at least 1 and at least 0")
    return Collector(make, policy, through, label, nominal, float(noise), int(episode))


def _flat(values: Any) -> Array:
    return np.asarray(values, dtype=float).ravel()


def _acted(space: Any, action: Any) -> Array:
    """An action as numbers."""
    choices = getattr(space, "n", None)
    if choices is None:
        return _flat(action)
    first = int(getattr(space, "start", 0))
    return np.asarray(np.arange(int(choices)) == int(action) - first, dtype=float)
