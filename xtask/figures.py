"""Measures the main figures of the documentation and writes docs/results/measured.md from them.

    cargo xtask figures            everything, which takes hours
    cargo xtask figures NAME ...   these only
    cargo xtask figures --list     what there is
    cargo xtask figures --page     the page again, from what has been measured

Each measurement is one command; what its summary says is kept in docs/results/measured.json, so that single ones can be
measured again. Standard library only.
"""

import argparse
import datetime
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
STORE = RESULTS / "measured.json"
FLIGHTS = os.environ.get("TASKSCOUT_FLIGHTS")

HELD_OUT = ["--matrix-seed", "100", "--truths", "8", "--seeds", "2"]

# Name, the command's arguments.
RUNS = {
    "bilinear": ["reproduce", "bilinear"],
    "bilinear-truths": ["reproduce", "bilinear", *HELD_OUT],
    "bilinear-own-schedule": ["reproduce", "bilinear", *HELD_OUT, "--schedule", "adaptive"],
    "bilinear-800": ["reproduce", "bilinear", "--n-target", "800"],
    "bilinear-as-published": ["reproduce", "bilinear", "--as-published"],
    "fourier": ["reproduce", "fourier"],
    "fourier-truths": ["reproduce", "fourier", *HELD_OUT],
    "fourier-own-schedule": ["reproduce", "fourier", *HELD_OUT, "--schedule", "adaptive"],
    "fourier-800": ["reproduce", "fourier", "--n-target", "800"],
    "fourier-as-published": ["reproduce", "fourier", "--as-published"],
    "mlp": ["reproduce", "mlp"],
    "mlp-truths": ["reproduce", "mlp", *HELD_OUT],
    "mlp-own-schedule": ["reproduce", "mlp", *HELD_OUT, "--schedule", "adaptive"],
    "mlp-as-published": ["reproduce", "mlp", "--as-published"],
    "drones": ["run", "experiments/drones.toml", *HELD_OUT],
    "drones-quarter": ["run", "experiments/drones.toml", *HELD_OUT, "--budget-scale", "0.25", "--n-target", "400"],
    "winds": ["run", "experiments/winds.toml", *HELD_OUT],
    "pendulum": ["reproduce", "pendulum"],
    "pendulum-200": ["reproduce", "pendulum", "--n-target", "200"],
}
FLIGHT_TARGETS = ["custom_figure8_L1_35wind_z", "rflysim_random_baseline_30wind_x", "rflysim_random_baseline_20wind_z"]
# Pictures that pages show, with the run that draws them.
PICTURES = {"bilinear-loss.svg": ("bilinear", "loss.svg")}
FORECAST = ["cargo", "test", "-p", "taskscout-lab", "--test", "it", "--", "forecast::coverage_of_all", "--ignored", "--nocapture"]


def command(arguments):
    """The command as the repository has it now."""
    return [str(ROOT / "target" / "release" / "taskscout"), *arguments]


def seconds(who=resource.RUSAGE_CHILDREN):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def measure(name, arguments, unnamed=()):
    """Runs one command and gives what its summary says; the page does not name all of its arguments."""
    folder = ROOT / "target" / "figures" / name
    full = [*arguments, *unnamed, "--out", str(folder), "--force"]
    before = seconds()
    subprocess.run(command(full), cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    spent = seconds() - before
    summary = json.loads((folder / "summary.json").read_text())
    for picture, (run, drawn) in PICTURES.items():
        if run == name:
            shutil.copy(folder / drawn, ROOT / "docs" / "images" / picture)
    parts = summary.get("targets") or [summary]
    return {
        "command": "taskscout " + " ".join(arguments),
        "date": datetime.date.today().isoformat(),
        "cpu_seconds": round(spent, 1),
        "parts": [part_of(part) for part in parts],
    }


def part_of(summary):
    keys = ("returned_loss", "returned_budget_ratio", "final_loss", "budget_ratio", "regret")
    strategies = {
        name: {key: found.get(key) for key in keys}
        for name, found in summary["strategies"].items()
    }
    return {
        "name": summary.get("name") or summary.get("target") or summary.get("experiment", ""),
        "seeds": summary.get("seeds"),
        "strategies": strategies,
        "floor_loss": summary.get("floor_loss"),
        "floor_budget_ratio": summary.get("floor_budget_ratio"),
    }


def forecast():
    """The table of forecasts that hold, as the test prints it."""
    run = subprocess.run(FORECAST, cwd=ROOT, check=True, capture_output=True, text=True)
    rows = [line for line in run.stdout.splitlines() if line.startswith("|")]
    return {"command": " ".join(FORECAST), "date": datetime.date.today().isoformat(), "rows": rows}


def loss(value):
    if not value:
        return "–"
    return f"{value['mean']:.3g} ± {value['sem']:.2g}"


def ratio(value):
    if not value or value.get("mean") is None:
        return "–"
    low, high = value.get("low"), value.get("high")
    interval = "" if low is None or high is None else f" ({100 * low:.1f}–{100 * high:.1f})"
    return f"{100 * value['mean']:.1f} %{interval}"


def section(name, found):
    lines = [f"## {name}", "", f"`{found['command']}`, {found['date']}"]
    if "rows" in found:
        head = ["| world | way | cases | held | above | returned held | ratio |", "|---|---|---|---|---|---|---|"]
        return [*lines, "", *head, *found["rows"], ""]
    lines[-1] += f", {found['cpu_seconds']:.0f} CPU seconds"
    for part in found["parts"]:
        floor = part.get("floor_loss")
        share = part.get("floor_budget_ratio")
        note = f"{part['name']}, {part['seeds']} seeds"
        if floor is not None:
            note += f"; floor {floor:.3g}" + (f" and {100 * share:.1f} % of passive's budget" if share else "")
        lines += ["", note + ":", ""]
        lines += ["| strategy | returned loss | budget | shared loss | shared: budget | regret |", "|---|---|---|---|---|---|"]
        for strategy, values in part["strategies"].items():
            regret = values.get("regret")
            cells = [
                strategy,
                loss(values["returned_loss"]),
                ratio(values["returned_budget_ratio"]),
                loss(values["final_loss"]),
                ratio(values["budget_ratio"]),
                "–" if regret is None else f"{regret:.2f}",
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


def write_page(store):
    lines = [
        "# Measured figures",
        "",
        "This page is written by `cargo xtask figures`, which runs the command of each section and takes the figures from its",
        "summary. `cargo xtask figures NAME` measures one section again. Losses are means over seeds with their standard error; *budget* is",
        "the part of passive's budget at which a strategy reaches passive's final loss, with a 90 % interval. Ground truths from",
        "matrix seed 100 on served no choice of settings. The other pages of results say what the figures mean, and have those that",
        "were measured once.",
        "",
    ]
    order = [*RUNS, "flights", "forecast"]
    for name in sorted(store, key=lambda name: order.index(name) if name in order else len(order)):
        lines += section(name, store[name])
    (RESULTS / "measured.md").write_text("\n".join(lines).rstrip() + "\n")


def main():
    parser = argparse.ArgumentParser(prog="cargo xtask figures", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to measure [default: everything]")
    parser.add_argument("--list", action="store_true", help="what there is")
    parser.add_argument("--page", action="store_true", help="write the page again, without measuring")
    given = parser.parse_args()
    known = [*RUNS, "flights", "forecast"]
    if given.list:
        print("\n".join(known))
        return 0
    unknown = [name for name in given.names if name not in known]
    if unknown:
        print(f"figures: there is no figure `{unknown[0]}`: {', '.join(known)}", file=sys.stderr)
        return 2
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    if not given.page:
        subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    for name in [] if given.page else given.names or known:
        if name == "flights" and not FLIGHTS:
            print("figures: flights are left out: TASKSCOUT_FLIGHTS names no folder of them", flush=True)
            continue
        print(f"figures: {name}", flush=True)
        if name == "forecast":
            store[name] = forecast()
        elif name == "flights":
            targets = [word for target in FLIGHT_TARGETS for word in ("--target", target)]
            store[name] = measure(name, ["reproduce", "drone", "--n-target", "25", *targets], ["--data", FLIGHTS])
        else:
            store[name] = measure(name, RUNS[name])
        STORE.write_text(json.dumps(store, indent=1) + "\n")
        write_page(store)
    write_page(store)
    return 0


if __name__ == "__main__":
    sys.exit(main())
