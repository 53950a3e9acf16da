from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import INPUTS, collect, new_study

import taskscout as ts


def test_ask_and_tell_learn_the_target(study: ts.Study) -> None:
    for _ in range(3):
        for item in study.ask(200):
            assert set(item.task) == {"wind", "payload"}
            receipt = study.tell(item, *collect(dict(item.task), item.n, study.item_seed(item)))
            assert receipt.rows == item.n
            assert not receipt.already
    mean, std = study.model("tomorrow").predict(np.eye(3), return_std=True)
    assert mean == pytest.approx([2.0, 1.0, -1.0], abs=0.1)
    assert std == pytest.approx([0.1, 0.1, 0.1], abs=0.05)
    status = study.status()
    assert (status.rounds, status.source_rows, status.targets) == (3, 600, {"tomorrow": 30})


def test_the_same_rows_count_once(study: ts.Study) -> None:
    item = study.ask(40)[0]
    rows = collect(dict(item.task), item.n, 3)
    first = study.tell(item, *rows)
    again = study.tell(item.id, *rows)
    assert again.already
    assert again.batch == first.batch
    assert study.status().source_rows == item.n


def test_a_plan_is_a_sequence_and_a_table(study: ts.Study) -> None:
    plan = study.ask(100)
    assert plan.budget == 100
    assert len(plan) == len(list(plan))
    assert list(plan.to_pandas().columns)[:4] == ["id", "task", "wind", "payload"]
    assert plan._repr_html_().count("<tr>") == len(plan) + 1


def test_rows_are_retracted_failed_noted_and_taken_back(study: ts.Study) -> None:
    first, second, *_ = study.ask(100)
    receipt = study.tell(first, *collect(dict(first.task), first.n, 3))
    study.fail(second, "the fan broke")
    study.note("a storm outside")
    assert study.undo().kind == "noted"
    assert study.undo().kind == "failed"
    assert [batch.rows for batch in study.retract(receipt)] == [first.n]
    assert study.status().source_rows == 0
    assert [event.kind for event in study.history() if event.undone] == ["failed", "noted"]
    with pytest.raises(ts.InputError, match="either a batch or an item"):
        study.retract()


def test_a_forbidden_task_has_to_be_one_of_the_table() -> None:
    winds = ts.Candidates({"name": ["calm", "storm"], "wind": [1.0, 20.0]})
    rows = {"inputs": ["x"], "outputs": ["y"], "targets": ["tomorrow"]}
    with pytest.raises(ts.InputError, match="did you mean `storm`"):
        ts.create_study(space=winds, **rows, forbidden=["strom"])
    with pytest.raises(ts.InputError, match="cannot be had"):
        ts.create_study(space=winds, **rows, target_rows=False, target_sample_cost=3.0)


def test_another_task_than_planned_may_come(study: ts.Study) -> None:
    item = study.ask(100)[0]
    study.tell(item, *collect({"wind": 1.0, "payload": 1.0}, 10, 4), task={"wind": 1.0, "payload": 1.0})
    study.add({"payload": 0.5, "wind": 3.0}, *collect({"wind": 3.0, "payload": 0.5}, 10, 5))
    assert study.status().source_rows == 20
    with pytest.raises(ts.InputError, match="tasks have `wind`, `payload`"):
        study.add({"wind": 3.0}, *collect({"wind": 3.0, "payload": 0.5}, 10, 6))
    with pytest.raises(ts.InputError, match="outside the space"):
        study.add([99.0, 0.0], *collect({"wind": 3.0, "payload": 0.5}, 10, 6))


def test_costs_hold_for_the_study_and_for_one_plan() -> None:
    study = new_study(switch_cost=30, unit="minutes")
    assert study.status().unit == "minutes"
    assert sum(item.n + 30 for item in study.ask(400)) <= 400
    assert len(study.ask(400, switch_cost=0.0, max_tasks=2)) == 2


def test_candidates_come_from_frames_and_files(tmp_path: Path) -> None:
    import pandas

    frame = pandas.DataFrame(
        {
            "name": ["calm", "breeze", "gale", "storm"],
            "wind": [0.1, 2.5, 5.0, 10.0],
            "payload": [0.0, 2.0, 0.0, 1.0],
            "minutes": [1.0, 1.0, 2.0, 5.0],
            "left": [100, None, None, 50],
            "comment": ["", 'by the door, "open"', "", ""],
        }
    )
    rows = {"inputs": INPUTS, "outputs": ["force"], "targets": ["tomorrow"], "k": 1}
    space = ts.Candidates(frame, columns=["wind", "payload"], cost="minutes", left="left")
    study = ts.create_study(space=space, **rows)
    assert study.parameters == ["wind", "payload"]
    plan = study.ask(60)
    assert {item.name for item in plan} <= set(frame["name"])
    assert all(item.task["wind"] in frame["wind"].to_list() for item in plan)
    study.add("storm", *collect({"wind": 10.0, "payload": 1.0}, 5, 1))
    # The same from a file gives the same plan.
    frame.to_csv(tmp_path / "tasks.csv", index=False)
    again = ts.create_study(
        space=ts.Candidates(tmp_path / "tasks.csv", columns=["wind", "payload"], cost="minutes", left="left"),
        **rows,
    )
    assert [vars(item) for item in again.ask(60)] == [vars(item) for item in plan]
    with pytest.raises(ts.InputError, match="no column `winds`: did you mean `wind`"):
        ts.create_study(space=ts.Candidates(frame, columns=["winds"]), **rows)
    frame.loc[2, "wind"] = np.nan
    with pytest.raises(ts.InputError, match="row 2, column `wind` of the candidates is nan"):
        ts.create_study(space=ts.Candidates(frame, columns=["wind", "payload"]), **rows)


def test_a_ball_and_a_known_target() -> None:
    study = ts.create_study(
        space=ts.Ball(3),
        inputs=["a", "b"],
        outputs=["c"],
        targets=[ts.Target("east", {"w2": 0.0, "w0": 1.0, "w1": 0.0})],
    )
    assert study.parameters == ["w0", "w1", "w2"]
    assert all(np.linalg.norm(list(item.task.values())) <= 1 + 1e-9 for item in study.ask(30))


def test_a_study_in_a_file_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    study = new_study(name="tunnel", storage="sqlite:///tunnel.db")
    item = study.ask(100)[0]
    study.tell(item, *collect(dict(item.task), item.n, 3))
    assert (tmp_path / "tunnel.db").exists()
    assert ts.list_studies("sqlite:///tunnel.db") == ["tunnel"]
    for again in (
        ts.load_study("tunnel", tmp_path / "tunnel.db"),
        ts.load_study(storage="tunnel.db"),
        pickle.loads(pickle.dumps(study)),
        new_study(name="tunnel", storage="tunnel.db", load_if_exists=True),
    ):
        assert again.status().source_rows == item.n
        assert [one.id for one in again.open_items()] == [one.id for one in study.open_items()]
    with pytest.raises(ts.InputError, match="tunnel"):
        new_study(name="tunnel", storage="tunnel.db")
    with pytest.raises(ts.InputError, match="with the outputs `force`, not `lift`"):
        new_study(name="tunnel", storage="tunnel.db", load_if_exists=True, outputs=["lift"])
    with pytest.raises(ts.TaskscoutError):
        ts.load_study("tunnel", "nowhere.db")
    assert not (tmp_path / "nowhere.db").exists()
    with pytest.raises(ts.InputError, match="in memory"):
        pickle.dumps(new_study())


def test_forecasts_and_models_are_saved(study: ts.Study, tmp_path: Path) -> None:
    study.run(collect, budget=200, rounds=1)
    forecast = study.forecast([100, 400])
    points = forecast.further["tomorrow"]
    assert [point.budget for point in points] == [100, 400]
    assert forecast.now["tomorrow"].low <= forecast.now["tomorrow"].mean <= forecast.now["tomorrow"].high
    assert forecast.sentence in str(forecast)
    svg = forecast.figure().svg
    assert svg is not None
    assert svg.startswith("<svg")
    model = study.model()
    x, _ = collect({"wind": 0.0, "payload": 0.0}, 20, 8)
    model.save(tmp_path / "model.safetensors")
    for again in (ts.load_model(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.predict(x), model.predict(x))
        assert again.inputs == INPUTS
    study.report(tmp_path / "study.html")
    assert "tomorrow" in (tmp_path / "study.html").read_text()
    study.export(tmp_path / "all")
    assert any((tmp_path / "all").iterdir())


def test_a_model_runs_in_onnx(study: ts.Study, tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    study.run(collect, budget=200, rounds=1)
    model = study.model("tomorrow")
    model.to_onnx(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
    x, _ = collect({"wind": 0.0, "payload": 0.0}, 20, 8)
    (first,) = session.get_inputs()
    kind = np.float64 if "double" in first.type else np.float32
    said = session.run(None, {first.name: x.astype(kind)})
    mean, std = model.predict(x, return_std=True)
    assert said[0].ravel() == pytest.approx(mean, abs=1e-4)
    assert said[1].ravel() == pytest.approx(std, abs=1e-4)


def test_bad_settings_are_value_errors() -> None:
    assert issubclass(ts.InputError, ValueError)
    assert issubclass(ts.InputError, ts.TaskscoutError)
    rows = {"inputs": ["a"], "outputs": ["b"], "targets": ["t"]}
    for settings, words in [
        ({"space": ts.Box(wind=(0, 1)), "strategy": "bold"}, "no strategy `bold`"),
        ({"space": ts.Box(wind=(0, 1)), "trainer": "torch"}, "no trainer `torch`"),
        ({"space": ts.Box(wind=(0, 1)), "inputs": "speed"}, "give a list of names"),
        ({"space": ts.Box(wind=(0, 1)), "seed": -1}, "seed is -1"),
        ({"space": ts.Box(wind=(0, 1)), "targets": [ts.Target("t", [1, 2])]}, "has 2 parameters"),
        ({"space": "box"}, "give Box, Ball or Candidates"),
    ]:
        with pytest.raises(ValueError, match=words):
            ts.create_study(**{**rows, **settings})
    study = ts.create_study(space=ts.Box(wind=(0, 1)), **rows)
    with pytest.raises(ts.InputError, match=r"budget is 2\.5"):
        study.ask(2.5)
    with pytest.raises(ts.InputError, match="no item 7"):
        study.tell(7, [[1.0]], [1.0])
    with pytest.raises(ts.InputError, match="no target `today`: the targets are t"):
        study.tell_target("today", [[1.0]], [1.0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda study: ts.Box(wind=(5, -5)), r"range of `wind` is \(5, -5\): give a finite low end below"),
        (lambda study: ts.Box(wind=(0, float("nan"))), "range of `wind`"),
        (lambda study: ts.Box(wind=(0, float("inf"))), "range of `wind`"),
        (lambda study: ts.Box(wind=("low", "high")), "a bound of `wind` is 'low': give a number"),
        (lambda study: new_study(targets="tomorrow"), "targets is 'tomorrow': give a list"),
        (lambda study: study.add(None, np.eye(3), np.ones(3)), "the task is None: give its parameters"),
        (lambda study: study.add({"wind": "strong", "payload": 1}, np.eye(3), np.ones(3)), "`wind` of the task"),
        (lambda study: study.add("calm", np.eye(3), np.ones(3)), "no task is called 'calm': give its parameters"),
        (lambda study: study.run(collect, budget=10, rounds="3"), "rounds is '3': give a whole number"),
        (lambda study: study.run(lambda task, n, seed: [1, 2], budget=10), r"returned a list: return a tuple \(X, Y\)"),
    ],
)
def test_mistakes_are_named_as_python_has_them(study: ts.Study, call: Any, words: str) -> None:
    with pytest.raises(ts.InputError, match=words):
        call(study)
    assert study.status().source_rows == 0


@pytest.mark.filterwarnings("error")
def test_large_numbers_are_no_reason_to_warn(study: ts.Study) -> None:
    inputs = np.full((4, 3), 1e308)
    with pytest.raises(ts.InputError, match="inf"):
        # Their squares are not finite.
        study.add([1.0, 1.0], inputs, np.ones(4))
