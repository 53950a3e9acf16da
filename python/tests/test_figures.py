"""Pictures, and what notebooks show."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from conftest import collect, new_study

import taskscout as ts


def drawn(figure: ts.Figure) -> str:
    """The picture, which is well-formed and shows itself."""
    ET.fromstring(figure.svg)
    assert figure._repr_svg_() == figure.svg
    return figure.svg


def test_studies_plans_and_forecasts_show_themselves(study: ts.Study, tmp_path: Path) -> None:
    assert "<svg" not in study._repr_html_()
    plan = study.ask(60)
    assert "warm-up" in drawn(plan.figure())
    assert plan._repr_html_().count("<svg") == 1
    study.run(collect, budget=60, rounds=2)
    picture = drawn(study.figure())
    assert "wind" in picture
    assert study._repr_html_().count("<svg") == 1
    frame = study.to_pandas()
    assert {"item", "state", "wind", "payload"} <= set(frame.columns)
    assert frame["collected"].sum() == study.status().source_rows

    forecast = study.forecast([50, 100])
    drawn(forecast.figure())
    assert forecast._repr_html_().count("<svg") == 1
    rows = forecast.to_pandas()
    assert set(rows["budget"]) == {0, 50, 100}
    assert (rows["low"] <= rows["mean"]).all()
    assert {"nothing", "design", "passive", "target rows"} >= set(rows["spent_on"])
    forecast.save(tmp_path / "forecast.svg")
    assert (tmp_path / "forecast.svg").read_text() == forecast.figure().svg


def test_designs_show_themselves(tmp_path: Path) -> None:
    candidates = np.random.default_rng(0).normal(size=(200, 3))
    design = ts.optimal_design(candidates, target=[1.0, 0.0, 0.5], budget=100)
    figure = design.figure()
    assert f"row {design.plan[0].row}" in drawn(figure)
    assert design._repr_html_().count("<svg") == 1
    figure.save(str(tmp_path / "design.svg"))
    assert (tmp_path / "design.svg").read_text() == figure.svg
    with pytest.raises(ts.InputError, match=r"end its name in \.svg"):
        figure.save(tmp_path / "design.png")


def test_many_bars_are_counted() -> None:
    study = new_study(strategy="passive")
    plan = study.ask(400)
    plan = ts.Plan([*plan.items] * 30, 0, 0, None)
    assert f"without {len(plan) - 24} more" in drawn(plan.figure())
