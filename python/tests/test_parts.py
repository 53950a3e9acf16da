"""Parts of one's own: features, spaces, strategies and trainers that are written in Python."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import INPUTS, collect, new_study

import taskscout as ts


class Squares(ts.Features):
    """A constant, the values and their squares: what `quadratic` has, without products."""

    input_dim, dim = 3, 7

    def __init__(self) -> None:
        self.rows = 0
        self.broken = False

    def __call__(self, X: np.ndarray) -> np.ndarray:
        if self.broken:
            raise ZeroDivisionError("the sensor table has a hole")
        self.rows += len(X)
        return np.hstack([np.ones((len(X), 1)), X, X**2])


class Circle(ts.TaskSpace):
    """Winds of one speed from all directions."""

    parameters = ("east", "north")

    def __init__(self, speed: float = 3.0) -> None:
        self.speed = speed

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        angle = rng.uniform(0, 2 * np.pi, n)
        return self.speed * np.stack([np.cos(angle), np.sin(angle)], axis=1)

    def contains(self, task: np.ndarray) -> bool:
        return abs(float(np.hypot(*task)) - self.speed) < 1e-6


class Thirds(ts.Strategy):
    """A third of the budget from the middle, the rest from where the need is largest."""

    needs_model = True

    def __init__(self) -> None:
        self.seen: list[ts.PlanContext] = []

    def plan(self, context: ts.PlanContext) -> Iterable[Any]:
        self.seen.append(context)
        first = context.budget // 3
        tasks = context.sample(50)
        if context.need is None:
            best = tasks[0]
        else:
            embeddings = context.embed(tasks)
            values = np.einsum("nok,kl,nol->n", embeddings, context.need, embeddings)
            best = tasks[int(np.argmax(values))]
        yield {"payload": 1.0, "wind": 0.0}, first, "the middle"
        yield best, context.budget - first


class Principal(ts.Trainer):
    """The leading directions of the least-squares solutions of the tasks."""

    needs_rows = False

    def fit(self, data: ts.TrainingData, start: Any | None) -> np.ndarray:
        ridge = data.gram + 1e-3 * np.eye(data.gram.shape[1])
        solutions = np.linalg.solve(ridge, data.moment)[:, :, 0]
        directions = np.linalg.svd(solutions, full_matrices=False)[2]
        return directions[: data.k or 2].T


class Bend(ts.Trainer):
    """No learning at all: the first input, and the difference of the others, as numbers of one's own."""

    def __init__(self) -> None:
        self.fits: list[tuple[int, int, bool]] = []

    def fit(self, data: ts.TrainingData, start: Any | None) -> Any:
        assert data.X.shape == (len(data.task), 4)
        assert data.Y.shape == (len(data.task), 1)
        assert data.task.max() + 1 == len(data.task_features)
        self.fits.append((len(data.X), len(data.task_features), start is not None))

        class Phi:
            dim = 2

            def __call__(self, X: np.ndarray) -> np.ndarray:
                return np.stack([X[:, 1], X[:, 2] - X[:, 3]], axis=1)

        return Phi()


def error(model: ts.Model) -> float:
    rng = np.random.default_rng(99)
    x = rng.normal(size=(500, 3))
    truth = 2.0 * x[:, 0] + x[:, 1] - x[:, 2]
    return float(np.sqrt(np.mean((model.predict(x) - truth) ** 2)))


def test_features_of_ones_own_are_used() -> None:
    features = Squares()
    study = new_study(input_features=features, scaling="none").run(collect, budget=200, rounds=2)
    assert features.rows >= 430
    assert error(study.model()) < 0.1
    # A copy of ours learns the same.
    ours = {"kind": "monomials", "input_dim": 3}
    ours["exponents"] = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [2, 0, 0], [0, 2, 0], [0, 0, 2]]
    same = new_study(input_features=ours, scaling="none").run(collect, budget=200, rounds=2)
    x = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(study.model().predict(x), same.model().predict(x), rtol=1e-6)


def test_an_exception_comes_with_its_traceback_and_the_study_goes_on(tmp_path: Path) -> None:
    features = Squares()
    study = new_study(input_features=features, storage=tmp_path / "s.db")
    item = study.ask(40)[0]
    rows = collect(item.task, item.n, 1)
    features.broken = True
    with pytest.raises(ZeroDivisionError, match="a hole") as caught:
        study.tell(item, *rows)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].filename == __file__
    assert frames[-1].line == 'raise ZeroDivisionError("the sensor table has a hole")'
    assert study.status().source_rows == 0
    features.broken = False
    assert study.tell(item, *rows).rows == item.n
    model = study.model()
    features.broken = True
    with pytest.raises(ZeroDivisionError):
        model.predict(np.zeros((2, 3)))


def test_what_features_return_is_checked() -> None:
    class Short(Squares):
        def __call__(self, X: np.ndarray) -> np.ndarray:
            return X

    class Holes(Squares):
        def __call__(self, X: np.ndarray) -> np.ndarray:
            made = super().__call__(X)
            made[1, 2] = np.nan
            return made

    with pytest.raises(ts.InputError, match=r"features of `Short` have the shape \(30, 3\): it must be \(30, 7\)"):
        new_study(input_features=Short())
    with pytest.raises(ts.InputError, match="`Holes` have nan in row 1, column 2"):
        new_study(input_features=Holes())
    wrong = Squares()
    wrong.input_dim = 2
    with pytest.raises(ts.InputError, match="take 2 inputs, but 3 are named"):
        new_study(input_features=wrong)


def test_a_model_with_code_predicts_but_is_not_saved(tmp_path: Path) -> None:
    model = new_study(input_features=Squares()).run(collect, budget=100).model()
    for save in (model.save, model.to_onnx):
        with pytest.raises(ts.InputError, match="`Squares` is code of your own"):
            save(tmp_path / "model")


def test_a_loaded_study_says_what_it_needs(tmp_path: Path) -> None:
    storage = tmp_path / "s.db"
    settings = {"input_features": Squares(), "strategy": Thirds(), "storage": storage}
    study = new_study(**settings).run(collect, budget=60, rounds=2)
    for parts, missing in [([], "Squares"), ([Squares()], "Thirds"), ([Thirds()], "Squares")]:
        with pytest.raises(ts.InputError, match=f"`{missing}` is not registered.*one of its `parts`"):
            ts.load_study(storage=storage, parts=parts)
    loaded = ts.load_study(storage=storage, parts=[Thirds(), Squares()])
    x = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_array_equal(loaded.model().predict(x), study.model().predict(x))
    assert [item.task for item in loaded.ask(30)] == [item.task for item in study.open_items()]
    again = ts.create_study(
        space=ts.Box(wind=(-5, 5, "m/s"), payload=(0, 2)),
        inputs=INPUTS,
        outputs=["force"],
        targets=["tomorrow"],
        load_if_exists=True,
        **settings,
    )
    assert again.status().rounds == 3
    settings["strategy"].seen.clear()
    assert pickle.loads(pickle.dumps(again)).status().rounds == 3


def test_a_space_of_ones_own() -> None:
    def gusts(task: dict[str, float], n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(n, 2))
        return x, x @ [task["east"], task["north"]] + 0.1 * rng.normal(size=n)

    def begin() -> ts.Study:
        study = ts.create_study(space=Circle(), inputs=["a", "b"], outputs=["y"], targets=["t"], k=2)
        study.tell_target("t", *gusts({"east": 3 * 0.6, "north": 3 * 0.8}, 20, 1))
        return study.run(gusts, budget=100, rounds=3)

    study = begin()
    assert study.parameters == ["east", "north"]
    tasks = [np.hypot(*item["parameters"]) for item in study.items()]
    np.testing.assert_allclose(tasks, 3.0)
    assert study.items() == begin().items()
    with pytest.raises(ts.InputError, match="`Circle` does not contain it"):
        study.add({"east": 1.0, "north": 1.0}, *gusts({"east": 1.0, "north": 1.0}, 5, 2))
    prediction = float(study.model().predict([[1.0, 1.0]])[0])
    assert abs(prediction - 3 * 1.4) < 0.3


def test_a_space_that_raises() -> None:
    class Broken(Circle):
        def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
            raise OSError("the turntable is off")

    study = ts.create_study(space=Broken(), inputs=["a"], outputs=["y"], targets=["t"])
    with pytest.raises(OSError, match="turntable"):
        study.ask(10)
    assert study.status().rounds == 0


def test_a_strategy_of_ones_own() -> None:
    strategy = Thirds()
    study = new_study(strategy=strategy).run(collect, budget=61, rounds=3)
    first, *_, last = strategy.seen
    assert first.need is None
    assert first.warming_up
    assert last.need is not None
    assert last.task_map is not None
    # A constant, both parameters, and what is chosen beside them.
    assert last.task_map.shape[2] in (3, 6, 10)
    assert len(last.task_map) == 1
    assert last.rows[0] == ({"wind": 0.0, "payload": 1.0}, 40)
    items = study.items()
    assert [item["n"] for item in items[:2]] == [20, 41]
    assert items[0]["reason"].startswith("the middle")
    assert items[1]["reason"].startswith("chosen by Thirds")


def test_a_strategy_sees_candidates() -> None:
    class Cheapest(ts.Strategy):
        def plan(self, context: ts.PlanContext) -> Iterable[Any]:
            assert context.names == ["calm", "storm"]
            assert context.candidates is not None
            np.testing.assert_array_equal(context.features(context.candidates)[:, 0], 1.0)
            return [(context.candidates[0], context.budget)]

    space = ts.Candidates({"name": ["calm", "storm"], "wind": [0.0, 12.0]})
    study = ts.create_study(space=space, inputs=["v"], outputs=["f"], targets=["t"], strategy=Cheapest())
    assert study.ask(7)[0].name == "calm"


def test_a_part_that_calls_its_study_does_not_wait_for_itself() -> None:
    class Curious(ts.Strategy):
        study: ts.Study

        def plan(self, context: ts.PlanContext) -> Iterable[Any]:
            return [([0.0, 1.0], self.study.status().rounds)]

    strategy = Curious()
    strategy.study = study = new_study(strategy=strategy)
    with pytest.raises(ts.InputError, match="a part of the study calls the study"):
        study.ask(10)
    assert study.status().rounds == 0


def test_bad_plans_are_refused() -> None:
    class Wild(ts.Strategy):
        line: Any = None

        def plan(self, context: ts.PlanContext) -> Iterable[Any]:
            return [self.line]

    strategy = Wild()
    study = new_study(strategy=strategy)
    for line, problem in [
        (({"wind": 0.0}, 3), "has the parameters `wind`"),
        (([0.0, 1.0], 0), "asks for 0 samples"),
        (([0.0, 9.0], 3), "outside the space"),
        ([0.0, 1.0], r"give \(task, samples\)"),
    ]:
        strategy.line = line
        with pytest.raises(ts.InputError, match=problem):
            study.ask(10)
    strategy.line = ([0.0, 1.0], 10)
    assert study.ask(10).budget == 10


def test_a_trainer_of_statistics() -> None:
    study = new_study(trainer=Principal(), input_features="affine", k=2).run(collect, budget=150, rounds=3)
    assert error(study.model()) < 0.1
    assert study.model().provenance["oracle"] == "Principal"


def test_a_trainer_of_rows(tmp_path: Path) -> None:
    trainer = Bend()
    settings = {"input_features": "affine", "scaling": "none", "k": 2}
    study = new_study(trainer=trainer, **settings).run(collect, budget=150, rounds=2)
    model = study.model()
    assert error(model) < 0.06
    # Sources alone, all rows from there, and without each of four folds of the target's rows.
    rows = [fit[::2] for fit in trainer.fits[-6:]]
    assert rows == [(300, False), (330, True), (322, True), (322, True), (323, True), (323, True)]
    with pytest.raises(ts.InputError, match="code of your own"):
        model.save(tmp_path / "model")


def test_a_perceptron_is_saved(tmp_path: Path) -> None:
    class Fixed(ts.Trainer):
        def fit(self, data: ts.TrainingData, start: Any | None) -> ts.Perceptron:
            hidden = np.array([[1.0, -1.0, 0, 0], [0, 0, 1.0, -1.0], [0, 0, -1.0, 1.0]])
            out = np.array([[1.0, 0], [-1.0, 0], [0, 1.0], [0, -1.0]])
            return ts.Perceptron([(hidden, np.zeros(4)), (out, None)])

    study = new_study(trainer=Fixed(), input_features="identity", scaling="none", k=2).run(collect, budget=150)
    model = study.model()
    assert error(model) < 0.06
    model.save(tmp_path / "model.safetensors")
    x = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(ts.load_model(tmp_path / "model.safetensors").predict(x), model.predict(x))


def test_a_network_of_ours_with_settings() -> None:
    trainer = {"kind": "neural", "network": {"hidden": [6], "activation": "relu", "bias": False}}
    study = new_study(trainer=trainer, input_features="identity", k=2).run(collect, budget=150)
    assert error(study.model()) < 0.3
    with pytest.raises(ts.InputError, match="`exact`, which takes none"):
        new_study(trainer={"kind": "exact", "penalty": 3})
    with pytest.raises(ts.InputError, match="has no kind"):
        new_study(trainer={"hidden": [6]})


def test_names_of_ours_are_taken() -> None:
    class Passive(Thirds):
        name = "passive"

    with pytest.raises(ts.InputError, match="`passive` is the name of a built-in part: give yours another `name`"):
        new_study(strategy=Passive())
