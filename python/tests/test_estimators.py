from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import taskscout as ts
from taskscout.estimators import PartialPooling, SharedRepresentation


@parametrize_with_checks([SharedRepresentation(), SharedRepresentation(k=1), PartialPooling()])
def test_checks_of_scikit_learn(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def world(tasks: int, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Tasks whose slopes lie in two directions of ten, with constants of their own."""
    truth = np.random.default_rng(7)
    directions, heads = np.linalg.qr(truth.normal(size=(10, 2)))[0], truth.normal(size=(40, 2))
    constants = truth.normal(size=40)
    rng = np.random.default_rng(seed)
    task = rng.permutation(np.repeat(np.arange(tasks), n))
    x = rng.normal(size=(len(task), 10)) + 3.0
    y = np.einsum("ni,ni->n", x, (heads @ directions.T)[task]) + constants[task] + 0.3 * rng.normal(size=len(task))
    return x, y, task, directions


def test_a_shared_representation_beats_a_fit_for_each_task() -> None:
    x, y, task, directions = world(30, 15)
    test_x, test_y, test_task, _ = world(30, 200, seed=1)
    model = SharedRepresentation(k=2).fit(x, y, task=task)
    shared = np.mean((model.predict(test_x, task=test_task) - test_y) ** 2)
    alone = np.mean(
        [
            np.mean(
                (Ridge(0.1).fit(x[task == t], y[task == t]).predict(test_x[test_task == t]) - test_y[test_task == t])
                ** 2
            )
            for t in range(30)
        ]
    )
    assert shared < 0.5 * alone
    assert model.score(test_x, test_y, task=test_task) > 0.9
    assert model.transform(x).shape == (450, 2)
    # The directions are found.
    found = np.linalg.qr((model.components_ / model.scale_).T)[0]
    assert np.linalg.svd(found.T @ directions)[1].min() > 0.95
    assert SharedRepresentation().fit(x, y, task=task).components_.shape == (2, 10)


def test_partial_pooling_draws_tasks_together_and_knows_new_ones() -> None:
    rng = np.random.default_rng(3)
    slopes = np.array([1.0, -2.0, 0.5]) + 0.1 * rng.normal(size=(20, 3))
    task = np.repeat([f"flight {t:02}" for t in range(20)], 4)
    place = np.repeat(np.arange(20), 4)
    x = rng.normal(size=(80, 3))
    y = np.einsum("ni,ni->n", x, slopes[place]) + 5.0 + 0.3 * rng.normal(size=80)
    model = PartialPooling().fit(x, y, task=task)
    assert np.abs(model.coef_[:, 0] - slopes).mean() < 0.2
    assert model.common_coef_[0] == pytest.approx([1.0, -2.0, 0.5], abs=0.2)
    assert model.predict(x[:2], task="tomorrow") == pytest.approx(
        x[:2] @ model.common_coef_[0] + model.common_intercept_[0]
    )


@pytest.mark.parametrize("estimator", [SharedRepresentation(k=2), PartialPooling()])
def test_clone_pickle_and_several_outputs(estimator: Any) -> None:
    x, y, task, _ = world(10, 30)
    both = np.column_stack([y, -2 * y])
    model = clone(estimator).fit(x, both, task=task)
    again = pickle.loads(pickle.dumps(model))
    predicted = again.predict(x, task=task)
    assert predicted.shape == both.shape
    assert np.array_equal(predicted, model.predict(x, task=task))
    # The order of rows does not matter.
    order = np.random.default_rng(0).permutation(len(x))
    shuffled = clone(estimator).fit(x[order], both[order], task=task[order])
    assert shuffled.predict(x, task=task) == pytest.approx(predicted, abs=1e-6)


def test_it_is_a_step_of_a_pipeline() -> None:
    x, y, task, _ = world(10, 30)
    pipeline = make_pipeline(SharedRepresentation(k=2), Ridge())
    pipeline.fit(x, y, sharedrepresentation__task=task)
    assert pipeline.predict(x).shape == y.shape


def test_labels_without_signal_get_a_warning_and_small_slopes() -> None:
    rng = np.random.default_rng(0)
    x, y = 100 + rng.normal(size=(100, 2)), np.random.default_rng(3).normal(size=100)
    with pytest.warns(ConvergenceWarning, match="say too little"):
        model = SharedRepresentation().fit(x, y)
    assert np.abs(model.coef_).max() < 0.3


def test_what_does_not_fit_is_named() -> None:
    x, y, task, _ = world(10, 30)
    model = SharedRepresentation(k=2).fit(x, y, task=task)
    with pytest.raises(ts.InputError, match="there are 10 tasks"):
        model.predict(x)
    with pytest.raises(ts.InputError, match=r"task .*99.* was not seen"):
        model.predict(x, task=99)
    with pytest.raises(ts.InputError, match="task has 2"):
        model.predict(x, task=[1, 2])
    with pytest.raises(ts.InputError, match="task has 2"):
        SharedRepresentation().fit(x, y, task=[1, 2])
    with pytest.raises(ts.InputError, match="k"):
        SharedRepresentation(k=99).fit(x, y, task=task)
    assert ts.SharedRepresentation is SharedRepresentation
    with pytest.raises(AttributeError, match="no attribute 'Optimiser'"):
        _ = ts.Optimiser
