"""Compares `taskscout learn` with what one would take from scikit-learn, on the same rows of flight logs.

For each target, a flight and an axis: 25 rows of its first 60 % may be learnt from, its last 40 % judge. Boosted trees, a
Gaussian process and a quadratic ridge regression are pooled over the other flights of the vehicle with the wind as an
input, each with and without a residual that is fitted to the same 25 rows.

    pip install numpy scikit-learn
    taskscout simulate flights --out flights
    python compare.py flights hawk_figure8_pid_35wind_x wren_random_pid_20wind_z
"""

import argparse
import ast
import csv
import json
import math
import pathlib
import subprocess
import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

FANS = {0: 0, 10: 1.3, 20: 2.5, 30: 3.7, 35: 4.2, 40: 4.9, 50: 6.1, 70: 8.5, 100: 12.1}
TRAIN = 0.6


def wind(condition):
    """Metres a second of a condition: `nowind`, `35wind`, `70p20sint`."""
    percent = float(condition.split("p")[0].replace("wind", "").replace("no", "0") or 0)
    return float(np.interp(percent, list(FANS), list(FANS.values())))


def read(path):
    """Inputs and forces of a flight."""
    rows = []
    with open(path) as log:
        for row in csv.DictReader(log):
            v, q, pwm, force = (ast.literal_eval(row[name]) for name in ("v", "q", "pwm", "fa"))
            rows.append([*v, *q, *(one / 1000 for one in pwm), *force])
    table = np.array(rows)
    return table[:, :11], table[:, 11:]


def with_wind(inputs, speed):
    return np.column_stack([inputs, np.full(len(inputs), speed)])


def pooled_models(inputs, force, rng):
    """The three models of the vehicle's other flights."""
    yield "boosted trees", HistGradientBoostingRegressor(max_iter=300, learning_rate=0.06, random_state=0).fit(inputs, force)
    some = rng.choice(len(inputs), min(1200, len(inputs)), replace=False)
    kernel = ConstantKernel() * RBF(np.ones(inputs.shape[1])) + WhiteKernel(0.3)
    tuned = make_pipeline(StandardScaler(), GaussianProcessRegressor(kernel, normalize_y=True))
    tuned.fit(inputs[some[:500]], force[some[:500]])
    process = GaussianProcessRegressor(tuned[-1].kernel_, normalize_y=True, optimizer=None)
    yield "Gaussian process", make_pipeline(StandardScaler(), process).fit(inputs[some], force[some])
    ridge = make_pipeline(StandardScaler(), PolynomialFeatures(2), RidgeCV(np.logspace(-3, 5, 17)))
    yield "quadratic ridge", ridge.fit(inputs, force)


def residual_model(name):
    """What learns the rest from the target's own rows."""
    if name == "boosted trees":
        return HistGradientBoostingRegressor(max_iter=30, min_samples_leaf=5, random_state=0)
    if name == "Gaussian process":
        kernel = ConstantKernel() * RBF(3.0) + WhiteKernel(0.3)
        return make_pipeline(StandardScaler(), GaussianProcessRegressor(kernel, random_state=0))
    return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 5, 15)))


def scikit_learn(flights, flight, axis, drawn):
    """Mean squared errors of the six, in the mean over draws of the target's rows."""
    vehicle, _, _, condition = flight.split("_")
    others = [name for name in flights if name != flight and name.startswith(f"{vehicle}_")]
    parts = [(with_wind(x, wind(name.split("_")[3])), y[:, axis]) for name in others for x, y in [flights[name]]]
    inputs, force = (np.concatenate(part) for part in zip(*parts))
    x, y = flights[flight]
    split, speed = int(TRAIN * len(x)), wind(condition)
    losses = {}
    for name, model in pooled_models(inputs, force, np.random.default_rng(0)):
        test = with_wind(x[split:], speed)
        expected = model.predict(test)
        losses[name] = float(np.mean((expected - y[split:, axis]) ** 2))
        corrected = []
        for rows in drawn:
            left = y[rows, axis] - model.predict(with_wind(x[rows], speed))
            residual = residual_model(name).fit(x[rows], left)
            corrected.append(np.mean((expected + residual.predict(x[split:]) - y[split:, axis]) ** 2))
        losses[f"{name} + residual"] = float(np.mean(corrected))
    return losses


def taskscout(command, folder, target, seeds, n, options):
    """Mean squared errors of taskscout's model and of the target alone, in the mean over seeds, and the rows that were drawn."""
    found, drawn = [], []
    for seed in seeds:
        line = [command, "learn", folder, "--target", target, "--n-target", str(n), "--test-share", str(1 - TRAIN),
                "--seed", str(seed), "--json", *options]
        summary = json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)
        output = summary["outputs"][0]
        found.append([output["held_out_rmse"] ** 2, output["target_only_rmse"] ** 2])
        drawn.append(summary["drawn_rows"])
    return *np.mean(found, axis=0), drawn


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="flight logs in the Neural-Fly format")
    parser.add_argument("targets", nargs="+", help="a flight and an axis, such as hawk_figure8_pid_35wind_x")
    parser.add_argument("--rows", type=int, default=25, help="rows of the target")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--command", default="taskscout")
    parser.add_argument("--option", action="append", default=[], help="passed on to taskscout learn, such as --option=--phi=linear")
    asked = parser.parse_args()
    warnings.filterwarnings("ignore")
    flights = {path.stem: read(path) for path in sorted(pathlib.Path(asked.folder).glob("*_*_*_*.csv"))}
    against = {"best of six": [], "target alone": []}
    for target in asked.targets:
        flight, axis = target.rsplit("_", 1)
        seeds = range(asked.seeds)
        own, alone, drawn = taskscout(asked.command, asked.folder, target, seeds, asked.rows, asked.option)
        six = scikit_learn(flights, flight, "xyz".index(axis), drawn)
        print(f"{target}: taskscout {own:.4g}, target alone {alone:.4g}")
        for name, loss in sorted(six.items(), key=lambda item: item[1]):
            print(f"    {name:30} {loss:.4g}  (taskscout / it: {own / loss:.2f})")
            against.setdefault(name, []).append(own / loss)
        against["best of six"].append(own / min(six.values()))
        against["target alone"].append(own / alone)
    print("\ntaskscout's loss over the other's, geometric mean:")
    for name, ratios in against.items():
        print(f"    {name:30} {math.exp(np.mean(np.log(ratios))):.3f}  (worst {max(ratios):.2f})")


if __name__ == "__main__":
    main()
