"""A study begun in Python goes on in the command and back, whatever the store."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import INPUTS, collect, new_study

import taskscout as ts


def write(path: Path, rows: tuple[np.ndarray, np.ndarray]) -> str:
    table = np.column_stack(rows)
    lines = [",".join([*INPUTS, "force"])]
    lines += [",".join(repr(float(value)) for value in row) for row in table]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def campaign(address: str, folder: Path, command: Callable[..., str]) -> ts.Study:
    """Item by item, one here and one there."""
    study = new_study(name="tunnel", storage=address)
    place = ["--store", address, "--study", "tunnel"]
    asked = study.ask(120)
    for item in asked:
        rows = collect(dict(item.task), item.n, study.item_seed(item))
        if item.id % 2 == 0:
            study.tell(item, *rows)
        else:
            command("study", *place, "tell", str(item.id), write(folder / f"{item.id}.csv", rows))
    # The command asks, Python measures what it finds open.
    said = json.loads(command("study", *place, "--json", "ask", "--budget", "150"))
    planned = {item["id"]: item["n"] for item in said["plan"]["items"]}
    assert {item.id: item.n for item in study.open_items()} == planned
    for item in study.open_items():
        study.tell(item, *collect(dict(item.task), item.n, study.item_seed(item)))
    status = json.loads(command("study", *place, "--json", "status"))
    assert status["source_rows"] == study.status().source_rows == 270
    # Both have the same model.
    command("study", *place, "model", "--out", str(folder / "model.safetensors"))
    x = np.eye(3)
    assert np.array_equal(ts.load_model(folder / "model.safetensors").predict(x), study.model().predict(x))
    return study


def test_sqlite(tmp_path: Path, command: Callable[..., str]) -> None:
    mixed = campaign(f"sqlite:///{tmp_path / 'tunnel.db'}", tmp_path, command)
    alone = new_study()
    for budget in (120, 150):
        for item in alone.ask(budget):
            alone.tell(item, *collect(dict(item.task), item.n, alone.item_seed(item)))
    x = np.eye(3)
    assert np.array_equal(alone.model().predict(x), mixed.model().predict(x))


def test_postgres(tmp_path: Path, command: Callable[..., str], postgres: str) -> None:
    study = campaign(postgres, tmp_path, command)
    assert ts.list_studies(postgres) == ["tunnel"]
    with pytest.raises(ts.InputError):
        ts.load_study("valley", postgres)
    assert study.status().rounds == 2


def test_a_study_of_the_command_goes_on_here(tmp_path: Path, command: Callable[..., str]) -> None:
    address = str(tmp_path / "flights.db")
    command(
        "study", "--store", address, "new", "--name", "flights", "--parameter", "wind=-5:5:m/s", "--parameter",
        "payload=0:2", "--inputs", ",".join(INPUTS), "--outputs", "force", "--target", "tomorrow", "--seed", "7",
    )  # fmt: skip
    study = ts.load_study("flights", address)
    assert (study.parameters, study.inputs, study.seed) == (["wind", "payload"], INPUTS, 7)
    study.tell_target(None, *collect({"wind": 2.0, "payload": 1.0}, 30, 1))
    study.run(collect, budget=100, rounds=2)
    assert "200 source rows in 2 rounds" in command("study", "--store", address, "status")


def test_a_run_leaves_what_somebody_else_measures(tmp_path: Path, command: Callable[..., str]) -> None:
    address = str(tmp_path / "tunnel.db")
    study = new_study(name="tunnel", storage=address)
    first, *others = study.ask(100)
    command("study", "--store", address, "--author", "ada", "start", str(first.id))
    study.run(collect, budget=100, rounds=1)
    assert [item.id for item in study.open_items()] == [first.id]
    assert study.open_items(free=True) == []
    assert study.status().source_rows == sum(item.n for item in others)
