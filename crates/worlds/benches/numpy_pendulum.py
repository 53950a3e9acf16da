"""The Python side of the benchmark `pendulum`: answers one line for every line it reads.

    python numpy_pendulum.py STEPS W1 W2 W3 W4 W5

simulates one pendulum as research code in Python does, a method call a step on small numpy arrays,
says `ready <numpy version>`, and then understands

    time PASSES   -> seconds of wall time and of processor time of one pass (mean of PASSES): a run
                     of STEPS steps under the random policy, with noise
    result        -> angles and velocities, in turns, of a run under the controller without a model
                     from 1 rad at rest, without noise
"""

import sys
import time

import numpy as np

MASS_KG, LENGTH_M, NOMINAL_GRAVITY_M_S2 = 1.0, 0.5, 9.81
INERTIA_KG_M2 = MASS_KG * LENGTH_M**2
STEP_S, NOISE, EXCITATION_STEPS = 0.01, 0.5, 10


class Pendulum:
    def __init__(self, task):
        self.wind = 2.0 * np.asarray(task[:2])
        self.gravity = 9.0 + task[2]
        self.damping = (task[3] + 1.0) / 2.0, (task[4] + 1.0) / 2.0

    def residual(self, state):
        angle, velocity = state
        direction = np.array([np.cos(angle), np.sin(angle)])
        air = self.wind - LENGTH_M * velocity * direction
        force = (air @ air) * air + 0.5 * air
        torque = LENGTH_M * (force @ direction)
        torque -= self.damping[0] * velocity + self.damping[1] * velocity * abs(velocity)
        return torque + MASS_KG * LENGTH_M * (self.gravity - NOMINAL_GRAVITY_M_S2) * np.sin(angle)

    def derivative(self, state, torque, noise):
        nominal = MASS_KG * LENGTH_M * NOMINAL_GRAVITY_M_S2 * np.sin(state[0])
        acceleration = (nominal + torque + self.residual(state)) / INERTIA_KG_M2 + noise
        return np.array([state[1], acceleration])

    def step(self, state, torque, noise):
        k1 = self.derivative(state, torque, noise)
        k2 = self.derivative(state + 0.5 * STEP_S * k1, torque, noise)
        k3 = self.derivative(state + 0.5 * STEP_S * k2, torque, noise)
        k4 = self.derivative(state + STEP_S * k3, torque, noise)
        return state + STEP_S / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    def run(self, start, steps, noise, pushes, rng):
        """States, torques, residuals and labels of every step, as our side records them."""
        states = np.empty((steps, 2))
        torques, residuals, labels = np.empty(steps), np.empty(steps), np.empty(steps)
        state, push = np.asarray(start, dtype=float), 0.0
        for index in range(steps):
            if pushes and index % EXCITATION_STEPS == 0:
                push = 0.1 * np.clip(rng.standard_normal(), -3.0, 3.0)
            xi = noise * rng.standard_normal()
            angle, velocity = state
            torque = INERTIA_KG_M2 * (-3.0 * velocity - 2.25 * angle) + 40.0 * push
            torque -= MASS_KG * LENGTH_M * NOMINAL_GRAVITY_M_S2 * np.sin(angle)
            residual = self.residual(state)
            states[index], torques[index] = state, torque
            residuals[index], labels[index] = residual, residual + xi
            state = self.step(state, torque, xi)
        return states, torques, residuals, labels


def main():
    steps, pendulum = int(sys.argv[1]), Pendulum([float(w) for w in sys.argv[2:7]])
    rng = np.random.default_rng(0)
    print("ready", np.__version__, flush=True)
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "time":
            passes = int(arguments[0])
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(passes):
                pendulum.run([0.0, 0.0], steps, NOISE, True, rng)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            print(repr(wall / passes), repr(cpu / passes), flush=True)
        elif command == "result":
            states, *_ = pendulum.run([1.0, 0.0], steps, 0.0, False, rng)
            print(*map(repr, states.ravel().tolist()), flush=True)
        else:
            sys.exit(f"numpy_pendulum.py: unknown command {command!r}")


if __name__ == "__main__":
    main()
