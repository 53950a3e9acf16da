"""Estimators in the manner of scikit-learn: functions of several tasks, learnt together.

`task` says which task each row is of: an array of labels, as `groups` are in scikit-learn. Without it all rows are of
one task. Needs scikit-learn.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import numpy.typing as npt

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, RegressorMixin, TransformerMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import r2_score
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
except ImportError as error:
    raise ImportError("the estimators of taskscout need scikit-learn: install `scikit-learn`") from error

from . import _native
from ._frames import contiguous
from .errors import InputError, OperationError

Array = npt.NDArray[np.float64]


class _OfTasks(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """What the estimators share: rows by task, and linear functions of them."""

    #: Whether tasks that were not seen in training have a function too.
    _knows_new_tasks = False

    def _checked(self, X: Any, y: Any, task: Any) -> tuple[Array, Array, npt.NDArray[np.intp]]:
        """Rows, labels as a matrix, and the place of each row's task among the tasks."""
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=2)
        self._flat = y.ndim == 1
        y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        labels = np.zeros(len(X), dtype=int) if task is None else column_or_1d(task)
        if len(labels) != len(X):
            raise InputError(f"X has {len(X)} rows and task has {len(labels)}: say for every row which task it is of")
        self.tasks_, place = np.unique(labels, return_inverse=True)
        self._unnamed = task is None
        return X, y, place

    def _places(self, X: Array, task: Any) -> npt.NDArray[np.intp]:
        """The place of each row's task; the number of tasks for one that was not seen."""
        if task is None:
            if len(self.tasks_) > 1:
                raise InputError(f"there are {len(self.tasks_)} tasks: say for every row which one it is of")
            return np.zeros(len(X), dtype=np.intp)
        labels = np.broadcast_to(task, (len(X),)) if np.ndim(task) == 0 else column_or_1d(task)
        if len(labels) != len(X):
            raise InputError(f"X has {len(X)} rows and task has {len(labels)}: say for every row which task it is of")
        place = np.searchsorted(self.tasks_, labels)
        known = self.tasks_[np.minimum(place, len(self.tasks_) - 1)] == labels
        if not known.all() and not self._knows_new_tasks:
            new = labels[np.flatnonzero(~known)[0]]
            raise InputError(f"the task {new!r} was not seen in training: fit with rows of it")
        return np.where(known, place, len(self.tasks_))

    def predict(self, X: Any, task: Any = None) -> Array:
        """Predicts rows of the given tasks; `task` is an array of labels, or one label for all rows."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        place = self._places(X, task)
        coefficients, intercepts = self._functions()
        predicted = np.einsum("ni,noi->no", X, coefficients[place]) + intercepts[place]
        return np.asarray(predicted[:, 0] if self._flat else predicted)

    def _functions(self) -> tuple[Array, Array]:
        """Coefficients and intercepts of all tasks, that of new tasks last where there is one."""
        return self.coef_, self.intercept_

    def score(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None) -> float:
        """R² of the predictions."""
        return float(r2_score(y, self.predict(X, task), sample_weight=sample_weight))


def _by_task(place: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], list[int]]:
    """An order that puts the rows of a task together, and the rows of each."""
    return np.argsort(place, kind="stable"), [int(count) for count in np.bincount(place)]


def _spread(values: Array) -> Array:
    """Standard deviations, 1 where there is none."""
    deviation = values.std(axis=0)
    return np.where(deviation > 1e-12 * np.abs(values).max(axis=0, initial=0.0), deviation, 1.0)


class SharedRepresentation(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _OfTasks):  # type: ignore[misc]
    """One representation for all tasks, `φ(x) = Bᵀx` with k numbers, and a head for each task.

    Parameters
    ----------
    k : int, optional
        Numbers of the representation; from the data if not given.
    penalty : float, optional
        The penalty on both factors, for columns in standard deviations; from the data if not given.

    Attributes
    ----------
    tasks_ : labels of the tasks, in rising order.
    components_ : the representation, k × inputs.
    coef_, intercept_ : the function of each task, tasks × outputs × inputs and tasks × outputs.

    Examples
    --------
    >>> import numpy as np
    >>> import taskscout as ts
    >>> rng = np.random.default_rng(0)
    >>> X, task = rng.normal(size=(300, 5)), np.repeat([0, 1, 2], 100)
    >>> y = X @ [1.0, 2.0, 0.0, 0.0, 1.0] * (task + 1) + 0.1 * rng.normal(size=300)
    >>> model = ts.SharedRepresentation(k=1).fit(X, y, task=task)
    >>> model.transform(X).shape, bool(model.score(X, y, task=task) > 0.98)
    ((300, 1), True)
    """

    def __init__(self, k: int | None = None, *, penalty: float | None = None) -> None:
        self.k = k
        self.penalty = penalty

    def fit(self, X: Any, y: Any, task: Any = None) -> Self:
        """Learns the representation and the heads."""
        X, y, place = self._checked(X, y, task)
        count = np.bincount(place)[:, np.newaxis]
        # Every task has a constant of its own: what is left are slopes, in standard deviations.
        centres = [np.zeros((len(self.tasks_), values.shape[1])) for values in (X, y)]
        for centre, values in zip(centres, (X, y), strict=True):
            np.add.at(centre, place, values)
            centre /= count
        inputs, labels = X - centres[0][place], y - centres[1][place]
        self.scale_, spread = _spread(inputs), _spread(labels)
        self.mean_ = X.mean(axis=0)
        order, sizes = _by_task(place)
        rows = contiguous((inputs / self.scale_)[order]), contiguous((labels / spread)[order])
        basis, heads, noise, self.spectrum_ = self._factors(*rows, sizes)
        self.components_ = basis.T
        self.noise_ = noise * spread**2
        self.coef_ = heads * spread[:, np.newaxis] / self.scale_
        self.intercept_ = centres[1] - np.einsum("ti,toi->to", centres[0], self.coef_)
        self._n_features_out = len(self.components_)
        return self

    def _factors(self, X: Array, y: Array, sizes: list[int]) -> tuple[Array, Array, float, list[float]]:
        """The fit on rows in standard deviations, one task after the other."""
        k = None if self.k is None else int(self.k)
        if self.penalty is not None:
            return _native.fit_shared(X, y, sizes, k, float(self.penalty))
        try:
            return _native.fit_shared(X, y, sizes, k, None)
        except OperationError:
            # Labels that are noise would have an infinite penalty.
            warnings.warn(
                "the labels say too little to choose a penalty, so 1 is used: give one, or more rows",
                ConvergenceWarning,
                stacklevel=3,
            )
            return _native.fit_shared(X, y, sizes, k, 1.0)

    def transform(self, X: Any) -> Array:
        """The representation of rows: n × k."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray((X - self.mean_) / self.scale_ @ self.components_.T)

    def fit_transform(self, X: Any, y: Any = None, task: Any = None) -> Array:
        """Learns, and returns the representation of the same rows."""
        return self.fit(X, y, task).transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.required = True
        return tags


class PartialPooling(_OfTasks):
    """A linear function for each task, drawn towards what all tasks have in common, as far as the data say.

    Tasks that were not seen get what is common.

    Parameters
    ----------
    effective_rows : float
        Rows that any number of rows of one task count for at most.

    Attributes
    ----------
    tasks_ : labels of the tasks, in rising order.
    coef_, intercept_ : the function of each task, tasks × outputs × inputs and tasks × outputs.
    common_coef_, common_intercept_ : what tasks have in common, outputs × inputs and outputs.

    Examples
    --------
    >>> import numpy as np
    >>> import taskscout as ts
    >>> rng = np.random.default_rng(0)
    >>> X, task = rng.normal(size=(300, 5)), np.repeat([0, 1, 2], 100)
    >>> y = X @ [1.0, 2.0, 0.0, 0.0, 1.0] * (1 + 0.1 * task) + 0.1 * rng.normal(size=300)
    >>> model = ts.PartialPooling().fit(X, y, task=task)
    >>> model.predict(X[:2], task="a task that was not seen").shape
    (2,)
    """

    _knows_new_tasks = True

    def __init__(self, *, effective_rows: float = 150.0) -> None:
        self.effective_rows = effective_rows

    def fit(self, X: Any, y: Any, task: Any = None) -> Self:
        """Learns the functions of all tasks."""
        X, y, place = self._checked(X, y, task)
        mean, scale = X.mean(axis=0), _spread(X)
        middle, spread = y.mean(axis=0), _spread(y)
        order, sizes = _by_task(place)
        rows = np.column_stack([np.ones(len(X)), (X - mean) / scale])
        own, common = _native.fit_pooled(
            contiguous(rows[order]),
            contiguous(((y - middle) / spread)[order]),
            sizes,
            float(self.effective_rows),
        )
        functions = np.concatenate([own, common[np.newaxis]]) * spread[:, np.newaxis]
        slopes = functions[:, :, 1:] / scale
        constants = functions[:, :, 0] + middle - slopes @ mean
        self.coef_, self.common_coef_ = slopes[:-1], slopes[-1]
        self.intercept_, self.common_intercept_ = constants[:-1], constants[-1]
        return self

    def _functions(self) -> tuple[Array, Array]:
        return (
            np.concatenate([self.coef_, self.common_coef_[np.newaxis]]),
            np.concatenate([self.intercept_, self.common_intercept_[np.newaxis]]),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
