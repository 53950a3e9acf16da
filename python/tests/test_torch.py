"""Modules of PyTorch as representations."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ENVIRONMENT, INPUTS, ROOT, collect, new_study

import taskscout as ts

torch = pytest.importorskip("torch", reason="PyTorch is not installed: its modules are NOT TESTED")
from torch import nn  # noqa: E402

SETTINGS: dict[str, Any] = {"input_features": "identity", "scaling": "none", "k": 2}


def chain() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8, bias=False), nn.ReLU(), nn.Linear(8, 2, bias=False))


class Residual(nn.Module):
    """No plain chain of layers."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.straight = nn.Linear(3, 2, bias=False)
        self.bent = nn.Linear(3, 2)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Any) -> Any:
        return self.straight(x) + 0.1 * self.dropout(torch.tanh(self.bent(x)))


def error(model: ts.Model) -> float:
    x = np.random.default_rng(99).normal(size=(500, 3))
    truth = 2.0 * x[:, 0] + x[:, 1] - x[:, 2]
    return float(np.sqrt(np.mean((model.predict(x) - truth) ** 2)))


def quick(module: nn.Module, **settings: Any) -> ts.torch.Representation:
    return ts.torch.Representation(module, **{"starts": 2, "steps": 400, **settings})


def test_a_chain_of_layers_is_trained_and_saved(tmp_path: Path) -> None:
    module = chain()
    before = [parameter.detach().clone() for parameter in module.parameters()]
    study = new_study(trainer=quick(module), **SETTINGS).run(collect, budget=150, rounds=2)
    model = study.model()
    assert error(model) < 0.06
    assert all(torch.equal(*pair) for pair in zip(before, module.parameters(), strict=True))
    model.save(tmp_path / "model.safetensors")
    x = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(ts.load_model(tmp_path / "model.safetensors").predict(x), model.predict(x))


def test_any_module_is_trained_and_a_study_goes_on_as_it_was(tmp_path: Path) -> None:
    storage = tmp_path / "s.db"
    study = new_study(trainer=quick(Residual()), storage=storage, **SETTINGS).run(collect, budget=100, rounds=2)
    assert error(study.model()) < 0.1
    with pytest.raises(ts.InputError, match="`torch-Residual` is not registered"):
        ts.load_study(storage=storage)
    loaded = ts.load_study(storage=storage, parts=[quick(Residual())])
    x = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_array_equal(loaded.model().predict(x), study.model().predict(x))


def test_the_seed_decides_unless_weights_are_kept() -> None:
    rng = np.random.default_rng(0)
    x, task = rng.normal(size=(300, 3)), rng.integers(0, 4, 300)
    data = ts.TrainingData.of_rows(x, np.maximum(x[:, 0], 0) * (1 + task), task, seed=3)

    def learnt(module: nn.Module, **settings: Any) -> np.ndarray:
        return quick(module, starts=1, steps=20, polish=1, **settings).fit(data)(x[:5])

    def draw(seed: int) -> nn.Module:
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))

    np.testing.assert_array_equal(learnt(draw(1)), learnt(draw(2)))
    kept = [learnt(draw(seed), pretrained=True) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(kept[0], kept[1])
    assert not np.allclose(kept[0], kept[2])


def test_a_loop_of_ones_own() -> None:
    seen: list[int] = []

    def loop(module: nn.Module, data: ts.TrainingData) -> None:
        seen.append(len(data.X))
        with torch.no_grad():
            module.weight.copy_(torch.tensor([[1.0, 0, 0], [0, 1, -1]]))

    study = new_study(trainer=quick(nn.Linear(3, 2, bias=False), train=loop), **SETTINGS).run(collect, budget=100)
    assert error(study.model()) < 0.06
    assert seen[0] == 100


def test_a_fixed_module() -> None:
    module = nn.Linear(3, 2, bias=False)
    with torch.no_grad():
        module.weight.copy_(torch.tensor([[2.0, 0, 0], [0, 1, -1]]))
    trainer = quick(module, train=False)
    assert error(new_study(trainer=trainer, **SETTINGS).run(collect, budget=100).model()) < 0.06
    x = np.random.default_rng(0).normal(size=(20_000, 3))
    y = x @ [2.0, 1.0, -1.0]
    learnt = trainer.fit(ts.TrainingData.of_rows(x, y, np.zeros(len(x))))
    statistics = learnt.statistics(x, y)
    assert statistics.count == 20_000
    phi = learnt(x)
    np.testing.assert_allclose(statistics.gram, phi.T @ phi)
    np.testing.assert_allclose(statistics.moment[:, 0], phi.T @ y)
    with pytest.raises(ts.InputError, match="X has 20000 rows and Y has 5"):
        learnt.statistics(x, y[:5])


def test_the_map_is_the_best_for_the_module() -> None:
    from taskscout import _torch_fit as fit

    rng = np.random.default_rng(0)
    x, task = rng.normal(size=(600, 3)), rng.integers(0, 5, 600)
    features = rng.normal(size=(5, 2))
    y = np.stack([x[:, 0] * features[task, 0], x[:, 1] * features[task, 1]], axis=1)
    rows = fit.Rows.of(ts.TrainingData.of_rows(x, y, task, features), batch=97)
    module = nn.Linear(3, 2, bias=False)
    with torch.no_grad():
        module.weight.copy_(torch.tensor([[1.0, 0, 0], [0, 1.0, 0]]))
    found = fit.solve_map(module, rows, 1e-9).numpy()
    truth = np.zeros((2, 2, 2))
    truth[0, 0, 0] = truth[1, 1, 1] = 1.0
    np.testing.assert_allclose(found, truth, atol=1e-5)
    assert fit.residual(module, rows, 1e-9) < 1e-6


def test_an_exception_of_a_module_comes_out() -> None:
    class Broken(nn.Module):
        def forward(self, x: Any) -> Any:
            raise KeyError("no such layer")

    study = new_study(trainer=quick(Broken(), train=False), **SETTINGS)
    with pytest.raises(KeyError, match="no such layer"):
        study.run(collect, budget=100).model()
    assert study.status().source_rows == 100


def test_bad_modules_are_refused() -> None:
    with pytest.raises(ts.InputError, match=r"give a torch\.nn\.Module"):
        ts.torch.Representation(INPUTS)  # type: ignore[arg-type]
    with pytest.raises(ts.InputError, match="starts is 0"):
        quick(chain(), starts=0)
    study = new_study(trainer=quick(nn.Linear(3, 1), train=False), **SETTINGS)
    with pytest.raises(ts.InputError, match="gives 1 numbers, but k is 2"):
        study.run(collect, budget=100).model()
    study = new_study(trainer=quick(nn.Flatten(0), train=False), **SETTINGS)
    with pytest.raises(ts.InputError, match="it must give n × k of n × inputs"):
        study.run(collect, budget=100).model()


def test_the_example_reaches_the_loss_of_our_network() -> None:
    line = [sys.executable, str(ROOT / "python" / "examples" / "torch_mlp.py"), "1", "1"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    ratio = float(done.stdout.splitlines()[1].split()[3])
    # One draw of either, of the first round only.
    assert 0.5 < ratio < 1.5
