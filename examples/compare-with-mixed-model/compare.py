"""Compares `taskscout learn` with mixed models of statsmodels on the same rows of tables.

Robots (a label) with tools (a second label) carry loads (a parameter, in a table beside the logs). The torque is a sum of
friction, drag and gravity, whose sizes depend on the load, on the robot, on the tool, and a little on the recording itself.
Of one recording there are 25 rows. A mixed model has the effects of load, robot and tool on every feature as fixed effects,
and the recording's own coefficients as random effects, which is what one would write down. Two are fitted: on the inputs,
and on the inputs with their squares and product.

    pip install numpy pandas statsmodels
    python compare.py --seeds 10
"""

import argparse
import json
import math
import pathlib
import subprocess
import tempfile
import warnings

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

ROBOTS, TOOLS = ["ant", "bee", "cat"], ["cup", "grip"]
INPUTS = ["speed", "angle"]
LINEAR = ["speed", "angle"]
QUADRATIC = [*LINEAR, "I(speed**2)", "I(angle**2)", "speed:angle"]


def world(seed, rows=120, own=25, test=400):
    """Recordings with their facts, the target's rows to learn from, and rows without noise that judge."""
    rng = np.random.default_rng(seed)
    of_all, of_load = rng.normal(size=4), rng.normal(size=4)
    of_robot = {robot: 0.7 * rng.normal(size=4) for robot in ROBOTS}
    of_tool = {tool: 0.5 * rng.normal(size=4) for tool in TOOLS}
    facts, tables = [], {}
    for at in range(13):
        robot, tool, load = ROBOTS[at % 3], TOOLS[(at // 3) % 2], float(rng.uniform(0, 2))
        name = "new" if at == 12 else f"run{at:02}"
        c = of_all + load * of_load + of_robot[robot] + of_tool[tool] + 0.15 * rng.normal(size=4)
        n = own + test if name == "new" else rows
        speed, angle = rng.normal(size=n), rng.uniform(-1, 1, n)
        noise = 0.5 * rng.normal(size=n) * (np.arange(n) < (own if name == "new" else n))
        torque = c[0] + c[1] * speed + c[2] * np.sin(2 * angle) + 0.5 * c[3] * speed * np.abs(speed) + noise
        tables[name] = pd.DataFrame({"speed": speed, "angle": angle, "torque": torque})
        facts.append({"recording": name, "robot": robot, "tool": tool, "load": load})
    target = tables.pop("new")
    return pd.DataFrame(facts), tables, target.iloc[:own], target.iloc[own:]


def taskscout(command, facts, tables, own, test):
    """Mean squared error of the model."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        logs = folder / "logs"
        logs.mkdir()
        for recording, table in {**tables, "new": own}.items():
            table.to_csv(logs / f"{recording}.csv", index=False)
        facts.rename(columns={"load": "load [kg]"}).to_csv(logs / "tasks.csv", index=False)
        test.to_csv(folder / "test.csv", index=False)
        columns = ["--inputs", ",".join(INPUTS), "--outputs", "torque"]
        subprocess.run([command, "learn", logs, "--target", "new", *columns, "--out", folder / "out"], check=True, capture_output=True)
        model = folder / "out" / "model.safetensors"
        said = subprocess.run([command, "predict", model, "--inputs", folder / "test.csv", "--json"], check=True, capture_output=True, text=True)
    found = np.array([row["torque"] for row in json.loads(said.stdout)["predictions"]])
    return float(np.mean((found - test["torque"]) ** 2))


def mixed_model(facts, tables, own, test, features):
    """Mean squared error of a mixed model: what load, robot and tool do to features is fixed, the recording's own random."""
    known = facts.set_index("recording")
    parts = [table.assign(recording=name, **known.loc[name]) for name, table in {**tables, "new": own}.items()]
    rows = pd.concat(parts, ignore_index=True)
    formula = f"torque ~ (load + C(robot) + C(tool)) * ({' + '.join(features)})"
    own_slopes = f"~ {' + '.join(LINEAR)}"
    fit = smf.mixedlm(formula, rows, groups=rows["recording"], re_formula=own_slopes).fit(method=["lbfgs"], maxiter=200)
    fixed = fit.predict(test.assign(recording="new", **known.loc["new"]))
    random = fit.random_effects["new"].to_numpy()
    found = fixed + np.column_stack([np.ones(len(test)), test[LINEAR]]) @ random
    return float(np.mean((found - test["torque"]) ** 2))


def alone(own, test):
    """Ridge regression on the target's own rows, with inputs, squares and product."""
    def design(table):
        speed, angle = table["speed"], table["angle"]
        return np.column_stack([np.ones(len(table)), speed, angle, speed**2, angle**2, speed * angle])
    x = design(own)
    c = np.linalg.solve(x.T @ x + 0.5 * np.eye(x.shape[1]), x.T @ own["torque"])
    return float(np.mean((design(test) @ c - test["torque"]) ** 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--command", default="taskscout")
    asked = parser.parse_args()
    warnings.filterwarnings("ignore")
    ratios = []
    print("mean squared error on rows without noise: taskscout, mixed model (linear), mixed model (quadratic), target alone")
    for seed in range(asked.first, asked.first + asked.seeds):
        data = world(seed)
        mixed = [mixed_model(*data, features) for features in (LINEAR, QUADRATIC)]
        found = np.array([taskscout(asked.command, *data), *mixed, alone(*data[2:])])
        ratios.append(found[0] / found[1:])
        print(f"seed {seed}: {' '.join(f'{one:.4f}' for one in found)}", flush=True)
    logs = np.log(ratios)
    spread = 1.96 * logs.std(axis=0, ddof=1) / math.sqrt(len(logs))
    for name, mean, half in zip(["linear mixed model", "quadratic mixed model", "target alone"], logs.mean(axis=0), spread):
        low, high = math.exp(mean - half), math.exp(mean + half)
        print(f"taskscout's error over that of the {name}: {math.exp(mean):.2f} (95 %: {low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
