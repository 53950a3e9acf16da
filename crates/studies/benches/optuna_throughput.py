"""Rounds a second of Optuna: so many processes ask and tell so many times on one study.

    python3 optuna_throughput.py ADDRESS PROCESSES ROUNDS
"""

import importlib.util
import subprocess
import sys
import time

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
NAME = "bench"


def driver():
    """The driver of PostgreSQL that is there, the faster one first."""
    return "psycopg2" if importlib.util.find_spec("psycopg2") else "psycopg"


def work(address, name, rounds):
    study = optuna.load_study(
        study_name=name, storage=address, sampler=optuna.samplers.RandomSampler()
    )
    for _ in range(rounds):
        trial = study.ask()
        wind, payload = trial.suggest_float("wind", -1, 1), trial.suggest_float("payload", -1, 1)
        study.tell(trial, wind + payload)


def main():
    address, processes, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if len(sys.argv) > 4:
        return work(address, sys.argv[4], rounds)
    address = address.replace("postgresql://", f"postgresql+{driver()}://")
    name = f"{NAME}-{time.time_ns()}"
    study = optuna.create_study(study_name=name, storage=address)
    began = time.perf_counter()
    command = [sys.executable, __file__, address, str(processes), str(rounds), name]
    children = [subprocess.Popen(command) for _ in range(processes)]
    for child in children:
        if child.wait() != 0:
            sys.exit("a process failed")
    seconds = time.perf_counter() - began
    trials = study.get_trials(states=[optuna.trial.TrialState.COMPLETE])
    if len(trials) != processes * rounds:
        sys.exit(f"{len(trials)} trials are complete, not {processes * rounds}")
    print(processes * rounds / seconds)


main()
