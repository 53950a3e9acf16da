from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import INPUTS, collect

gest_api = pytest.importorskip("gest_api.vocs")
from taskscout.generator import StudyGenerator  # noqa: E402


def vocs() -> Any:
    return gest_api.VOCS(
        variables={"wind": [-5.0, 5.0], "payload": [0.0, 2.0]},
        objectives={},
        observables=dict.fromkeys([*INPUTS, "force"], "f8"),
    )


def evaluated(point: dict[str, Any]) -> dict[str, Any]:
    x, y = collect({name: float(point[name]) for name in ("wind", "payload")}, 1, int(point["_id"]))
    return {**point, **dict(zip(INPUTS, x[0], strict=True)), "force": y[0]}


def new_generator() -> StudyGenerator:
    generator = StudyGenerator(vocs(), inputs=INPUTS, outputs=["force"], targets=["tomorrow"])
    generator.study.tell_target("tomorrow", *collect({"wind": 2.0, "payload": 1.0}, 30, 1))
    return generator


def test_points_are_suggested_and_rows_taken() -> None:
    generator = new_generator()
    for _ in range(3):
        points = generator.suggest(80)
        assert len({point["_id"] for point in points}) == len(points) == 80
        generator.ingest(evaluated(point) for point in points)
    assert generator.study.status().source_rows == 240
    assert generator.study.model().predict(np.eye(3)) == pytest.approx([2.0, 1.0, -1.0], abs=0.15)
    assert len(generator.suggest()) == 100


def test_the_order_of_results_changes_nothing() -> None:
    answers = []
    for seed in range(3):
        generator = new_generator()
        for _ in range(2):
            results = [evaluated(point) for point in generator.suggest(60)]
            np.random.default_rng(seed).shuffle(results)  # type: ignore[arg-type]
            for start in range(0, 60, 7):
                generator.ingest(results[start : start + 7])
        answers.append(generator.study.model().predict(np.eye(3)).tobytes())
    assert len(set(answers)) == 1


def test_rows_of_others_and_unfinished_items() -> None:
    generator = new_generator()
    points = [evaluated(point) for point in generator.suggest(40)]
    generator.ingest(points[:3])
    generator.ingest(points[:3])
    assert generator.study.status().source_rows == 0
    generator.finalize()
    assert generator.study.status().source_rows == 3
    theirs = {key: value for key, value in points[5].items() if key != "_id"}
    generator.ingest([theirs])
    assert generator.study.status().source_rows == 4
    with pytest.raises(ValueError, match="no point 999"):
        generator.ingest([{**points[5], "_id": 999}])
    with pytest.raises(ValueError, match="a result lacks force"):
        generator.ingest([{key: value for key, value in points[5].items() if key != "force"}])
    with pytest.raises(ValueError, match="observables of the VOCS lack"):
        StudyGenerator(gest_api.VOCS(variables={"wind": [0, 1]}), inputs=["a"], outputs=["b"], targets=["c"])


def simulated(point: dict[str, Any], libE_info: dict[str, Any], **_: Any) -> dict[str, Any]:
    """What libEnsemble's workers call."""
    done = evaluated({**point, "_id": libE_info["H_rows"][0]})
    return {name: done[name] for name in (*INPUTS, "force")}


def test_libensemble_runs_a_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("libensemble")
    from libensemble import Ensemble
    from libensemble.alloc_funcs.start_only_persistent import only_persistent_gens
    from libensemble.specs import AllocSpecs, ExitCriteria, GenSpecs, LibeSpecs, SimSpecs

    monkeypatch.chdir(tmp_path)
    generator = new_generator()
    ensemble = Ensemble(
        libE_specs=LibeSpecs(comms="threads", nworkers=2, disable_log_files=True, final_gen_send=True),
        gen_specs=GenSpecs(generator=generator, vocs=vocs(), batch_size=60, initial_batch_size=60),
        sim_specs=SimSpecs(simulator=simulated, vocs=vocs()),
        alloc_specs=AllocSpecs(alloc_f=only_persistent_gens, user={"give_sim_work_first": True}),
        exit_criteria=ExitCriteria(sim_max=120),
    )
    _, _, flag = ensemble.run()
    assert flag == 0
    generator.finalize()
    assert generator.study.status().source_rows == 120
    assert generator.study.model().predict(np.eye(3)) == pytest.approx([2.0, 1.0, -1.0], abs=0.3)
