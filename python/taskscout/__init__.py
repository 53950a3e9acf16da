"""taskscout: which tasks should I collect data from next, so that a shared representation works on mine?

>>> import taskscout as ts
>>> study = ts.create_study(
...     space=ts.Box(wind=(-5, 5)), inputs=["speed"], outputs=["drag"], targets=["tomorrow"]
... )
>>> study.ask(40).budget
40
"""

from typing import TYPE_CHECKING, Any

from . import gym
from ._design import Design, PlannedTask, optimal_design
from ._experiments import reproduce
from ._figures import Figure
from ._learn import Learnt, learn
from ._model import Model, load_model
from ._native import __version__
from ._parts import Features, Perceptron, PlanContext, Representation, Strategy, TaskSpace, Trainer, TrainingData
from ._records import Batch, Event, Forecast, ForecastPoint, Interval, Item, Plan, Receipt, Status
from ._results import Comparison, Results
from ._spaces import Ball, Box, Candidates, Column, Target
from ._statistics import Statistics
from ._study import Study, create_study, list_studies, load_study
from ._sweep import sweep
from .errors import InputError, OperationError, TaskscoutError

if TYPE_CHECKING:
    from . import torch as torch
    from .estimators import PartialPooling, SharedRepresentation

__all__ = [
    "Ball",
    "Batch",
    "Box",
    "Candidates",
    "Column",
    "Comparison",
    "Design",
    "Event",
    "Features",
    "Figure",
    "Forecast",
    "ForecastPoint",
    "InputError",
    "Interval",
    "Item",
    "Learnt",
    "Model",
    "OperationError",
    "PartialPooling",
    "Perceptron",
    "Plan",
    "PlanContext",
    "PlannedTask",
    "Receipt",
    "Representation",
    "Results",
    "SharedRepresentation",
    "Statistics",
    "Status",
    "Strategy",
    "Study",
    "Target",
    "TaskSpace",
    "TaskscoutError",
    "Trainer",
    "TrainingData",
    "__version__",
    "create_study",
    "gym",
    "learn",
    "list_studies",
    "load_model",
    "load_study",
    "optimal_design",
    "reproduce",
    "sweep",
]


def __getattr__(name: str) -> Any:
    """Estimators need scikit-learn and modules need PyTorch, so they are imported where they are used."""
    if name == "torch":
        import importlib

        return importlib.import_module(".torch", __name__)
    if name in ("PartialPooling", "SharedRepresentation"):
        from . import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
