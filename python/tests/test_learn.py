"""One model from a folder of logs, as the command learns it."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import taskscout as ts

COLUMNS = {"inputs": ["speed", "angle"], "outputs": ["torque"]}


@pytest.fixture(scope="module")
def carts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Carts of two makers with loads that a table beside the logs knows; torque grows with the load."""
    folder = tmp_path_factory.mktemp("carts")
    rng = np.random.default_rng(5)
    facts = ["recording,maker,load [kg]"]
    for at, (maker, load) in enumerate(
        [("ant", 0.0), ("ant", 1.0), ("ant", 2.0), ("bee", 0.5), ("bee", 1.5), ("ant", 1.5)]
    ):
        name = f"run{at}" if at < 5 else "new"
        x = rng.normal(size=(80 if at < 5 else 14, 2))
        torque = (1 + load) * x[:, 0] + (0.5 if maker == "ant" else -0.5) * x[:, 1] + 0.1 * rng.normal(size=len(x))
        rows = "\n".join(",".join(map(repr, map(float, row))) for row in np.column_stack([x, torque]))
        (folder / f"{name}.csv").write_text(f"speed,angle,torque\n{rows}\n")
        facts.append(f"{name},{maker},{load}")
    (folder / "tasks.csv").write_text("\n".join(facts) + "\n")
    return folder


def test_a_model_of_the_target_with_what_it_rests_on(carts: Path, tmp_path: Path) -> None:
    learnt = ts.learn(carts, "new", **COLUMNS, units={"torque": "Nm"}, out=tmp_path / "run")
    assert np.allclose(learnt.model.predict([[1.0, 0.0], [0.0, 1.0]]), [2.5, 0.5], atol=0.25)
    assert learnt.summary["target_rows"] == 14
    assert len(learnt.recordings) == 5 and learnt.plan
    assert learnt.summary["outputs"][0]["unit"] == "Nm"
    error = learnt.rmse("torque")
    assert error is not None and 0.02 < error < 0.5 and error == learnt.rmse()
    with pytest.raises(KeyError, match="torque"):
        learnt.rmse("force")
    assert "run0" in str(learnt) and learnt.verdict in str(learnt)
    assert learnt.html().startswith("<!") and "iframe" in learnt._repr_html_()
    again = pickle.loads(pickle.dumps(learnt.model))
    assert again.predict([[1.0, 2.0]]) == learnt.model.predict([[1.0, 2.0]])
    names = {"model.safetensors", "summary.json", "plan.csv", "report.html"}
    assert {file.name for file in (tmp_path / "run").iterdir()} == names
    with pytest.raises(ts.InputError, match="force"):
        ts.learn(carts, "new", **COLUMNS, out=tmp_path / "run")


def test_it_is_what_the_command_learns(carts: Path, command: Callable[..., str]) -> None:
    learnt = ts.learn(carts, "new", **COLUMNS, labels=["maker"], parameters=[], target_rows=12, seed=3)
    options = ["--inputs", "speed,angle", "--outputs", "torque", "--n-target", "12", "--seed", "3"]
    facts = ["--labels", "maker", "--parameters", "none"]
    said = json.loads(command("learn", str(carts), "--target", "new", *options, *facts, "--json"))
    assert said == learnt.summary
    assert math.isclose(said["outputs"][0]["held_out_rmse"], learnt.rmse() or 0.0)


def test_mistakes_are_named(carts: Path) -> None:
    with pytest.raises(ts.InputError, match="new"):
        ts.learn(carts, "nwe", **COLUMNS)
    with pytest.raises(ts.InputError, match="`phi` mlp"):
        ts.learn(carts, "new", **COLUMNS, phi="mlp")
    with pytest.raises(TypeError, match=r"\['speed'\]"):
        ts.learn(carts, "new", inputs="speed", outputs=["torque"])
    with pytest.raises(ts.InputError, match="spede"):
        ts.learn(carts, "new", inputs=["spede"], outputs=["torque"])
