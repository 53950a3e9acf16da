"""A quadrotor of RotorPy in wind, as an environment: what force does its nominal model miss?

Needs RotorPy (`pip install rotorpy`). `gym_environments.py quadrotor` compares strategies on it.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: Seconds between rows, commands between two rows, and rows for which a velocity is wanted.
STEP, COMMANDS, HOLD = 0.05, 5, 20
#: The largest velocities that are wanted, along and up, in metres a second, and how fast commands go there.
FASTEST, CLIMB, RATE = 5.0, 1.5, 4.0
#: The gain of the velocity controller; with RotorPy's own of 10 the vehicle turns over.
GAIN = 4.0


class Quadrotor(gymnasium.Env[Any, Any]):
    """A Hummingbird that flies at velocities drawn at random, in a steady wind.

    It sees its velocity, the direction of its thrust and its rotor speeds; `info["force"]` is the force, in newtons,
    that thrust and weight do not explain: drag of frame and rotors, and what the air flow does to the thrust.
    """

    def __init__(self, wind_x: float = 0.0, wind_y: float = 0.0, frame: float = 1.0, rotors: float = 1.0) -> None:
        from rotorpy.vehicles.hummingbird_params import quad_params
        from rotorpy.vehicles.multirotor import Multirotor

        changed = dict(quad_params)
        for name, factor in {"c_Dx": frame, "c_Dy": frame, "c_Dz": frame, "k_d": rotors, "k_z": rotors}.items():
            changed[name] = factor * quad_params[name]
        # Motor noise would come from a generator that no seed reaches.
        changed |= {"k_v": GAIN, "motor_noise_std": 0.0}
        integrator = {"method": "RK23", "rtol": 1e-2}
        self.model: Any = Multirotor(changed, control_abstraction="cmd_vel", integrator_kwargs=integrator)
        self.wind = np.array([wind_x, wind_y, 0.0])
        self.hover = float(np.sqrt(self.model.mass * self.model.g / (4 * self.model.k_eta)))
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (10,))
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (3,))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begins at rest."""
        super().reset(seed=seed)
        self.state: dict[str, Array] = {
            "x": np.zeros(3),
            "v": np.zeros(3),
            "q": np.array([0.0, 0.0, 0.0, 1.0]),
            "w": np.zeros(3),
            "wind": self.wind,
            "rotor_speeds": np.full(4, self.hover),
        }
        self.left, self.wanted, self.command = 0, np.zeros(3), np.zeros(3)
        return self._seen(), {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Flies on; an action is a velocity as a part of the largest, and wanted for some steps."""
        if self.left == 0:
            self.left, self.wanted = HOLD, np.asarray(action, dtype=float) * [FASTEST, FASTEST, CLIMB]
        self.left -= 1
        force = self._missed()
        most = RATE * STEP / COMMANDS
        for _ in range(COMMANDS):
            self.command = self.command + np.clip(self.wanted - self.command, -most, most)
            self.state = self.model.step(self.state, {"cmd_v": self.command}, STEP / COMMANDS)
            self.state["wind"] = self.wind
        return self._seen(), 0.0, False, False, {"force": force}

    def _thrust_direction(self) -> Array:
        x, y, z, w = self.state["q"]
        return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])

    def _seen(self) -> Array:
        speeds = self.state["rotor_speeds"] / self.hover
        return np.concatenate([self.state["v"], self._thrust_direction(), speeds])

    def _missed(self) -> Array:
        model, state = self.model, self.state
        acceleration = model.statedot(state, {"cmd_v": self.command}, STEP)["vdot"]
        thrust = model.k_eta * np.sum(state["rotor_speeds"] ** 2) * self._thrust_direction()
        return np.asarray(model.mass * acceleration - model.weight - thrust)
