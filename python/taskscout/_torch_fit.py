"""Training of a module together with the task map: mini-batches first, then L-BFGS with the map solved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import nn

from ._parts import TrainingData
from .errors import InputError

#: Rows of a mini-batch.
MINI_BATCH = 250
#: Passes over all rows at most while a start is annealed: more would learn few rows by heart.
MOST_EPOCHS = 40
#: Longest gradient while a start is annealed.
CLIP = 10.0
#: Steps of a fit that only adds the targets' rows to those of the sources.
FINISH_STEPS = 30
#: Descent ends when a step lowers the summed squared error by less than so many noise variances.
TOLERANCE = 0.2


@dataclass(frozen=True)
class Settings:
    """How a module is trained."""

    starts: int
    steps: int
    polish: int
    learning_rate: float
    penalty: float | None
    batch: int
    threads: int


@dataclass(frozen=True)
class Rows:
    """Rows, the task of each, and the features of tasks."""

    x: torch.Tensor
    y: torch.Tensor
    task: torch.Tensor
    features: torch.Tensor
    batch: int

    @staticmethod
    def of(data: TrainingData, batch: int) -> Rows:
        """The rows of a fit."""
        # Copies: arrays of the native half are not for others to write to.
        x, y, task = (torch.tensor(array) for array in (data.X, data.Y, data.task))
        return Rows(x, y, task, torch.tensor(data.task_features), batch)

    @property
    def labels(self) -> int:
        """Rows times outputs."""
        return int(self.y.numel())

    def parts(self) -> Iterator[slice]:
        """Rows that a module takes at a time."""
        for start in range(0, len(self.x), self.batch):
            yield slice(start, start + self.batch)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many threads inside an operation: small ones wait for each other longer than they work."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def forward(module: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """A module's numbers, checked."""
    made: torch.Tensor = module(x)
    if made.ndim != 2 or len(made) != len(x):
        raise InputError(f"the module made {tuple(made.shape)} of {tuple(x.shape)}: it must give n × k of n × inputs")
    return made


def prior_penalty(module: nn.Module, rows: Rows) -> float:
    """The penalty at which the weights as they are explain as much as the labels have."""
    weight = sum(float((p.detach() ** 2).sum()) for p in module.parameters())
    count = sum(p.numel() for p in module.parameters())
    mean_square = float((rows.y.double() ** 2).mean())
    return float(max(mean_square * count / max(weight, 1e-300), 1e-12))


def solve_map(module: nn.Module, rows: Rows, penalty: float) -> torch.Tensor:
    """`B` for a given module, by ridge regression on statistics under it: features × k × outputs."""
    tasks, features = rows.features.shape
    gram = moment = None
    with torch.no_grad():
        for part in rows.parts():
            phi, task = forward(module, rows.x[part]).double(), rows.task[part]
            outer = (phi[:, :, None] * phi[:, None, :]).flatten(1)
            cross = (phi[:, :, None] * rows.y[part].double()[:, None, :]).flatten(1)
            if gram is None or moment is None:
                gram = torch.zeros(tasks, outer.shape[1], dtype=torch.float64)
                moment = torch.zeros(tasks, cross.shape[1], dtype=torch.float64)
            gram.index_add_(0, task, outer)
            moment.index_add_(0, task, cross)
    if gram is None or moment is None:
        raise InputError("there are no rows to train on: tell the study some first")
    k = round(gram.shape[1] ** 0.5)
    pairs = (rows.features[:, :, None] * rows.features[:, None, :]).flatten(1)
    normal = (pairs.T @ gram).reshape(features, features, k, k).permute(0, 2, 1, 3).reshape(features * k, -1)
    right = (rows.features.T @ moment).reshape(features * k, -1)
    solved: torch.Tensor = torch.linalg.solve(normal + penalty * torch.eye(len(normal), dtype=torch.float64), right)
    return solved.reshape(features, k, -1)


def embeddings(rows: Rows, task_map: torch.Tensor) -> torch.Tensor:
    """`c_w` of every task: tasks × k × outputs, in single precision."""
    return torch.einsum("tp,pko->tko", rows.features, task_map).float()


def residual_of(module: nn.Module, rows: Rows, embedded: torch.Tensor, part: slice | torch.Tensor) -> torch.Tensor:
    """The summed squared error of some rows."""
    predicted = (forward(module, rows.x[part])[:, :, None] * embedded[rows.task[part]]).sum(1)
    return ((rows.y[part] - predicted) ** 2).sum()


def residual(module: nn.Module, rows: Rows, penalty: float) -> float:
    """The summed squared error with the task map solved."""
    embedded = embeddings(rows, solve_map(module, rows, penalty))
    with torch.no_grad():
        return sum(float(residual_of(module, rows, embedded, part)) for part in rows.parts())


def anneal(module: nn.Module, rows: Rows, penalty: float, settings: Settings) -> float:
    """Noisy steps on both factors; the summed squared error after them."""
    count = len(rows.x)
    batches = -(-count // MINI_BATCH)
    epochs = min(max(settings.steps // batches, 1), MOST_EPOCHS)
    if settings.steps == 0:
        return residual(module.eval(), rows, penalty)
    task_map = solve_map(module.eval(), rows, penalty).float().requires_grad_()
    features = rows.features.float()
    parameters = [*module.train().parameters(), task_map]
    optimiser = torch.optim.Adam(parameters, lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs * batches)
    for _ in range(epochs):
        order = torch.randperm(count)
        for first in range(0, count, MINI_BATCH):
            batch = order[first : first + MINI_BATCH]
            embedded = torch.einsum("tp,pko->tko", features, task_map).index_select(0, rows.task[batch])
            predicted = (forward(module, rows.x[batch])[:, :, None] * embedded).sum(1)
            loss = ((rows.y[batch] - predicted) ** 2).mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, CLIP)
            optimiser.step()
            schedule.step()
    return residual(module.eval(), rows, penalty)


def descend(
    module: nn.Module, rows: Rows, penalty: float, settings: Settings, *, updates: int
) -> tuple[nn.Module, float]:
    """Steps on all rows with the task map solved, the penalty set anew from the data so many times."""
    module.eval()
    steps = settings.polish if updates else min(FINISH_STEPS, settings.polish)
    for update in range(updates + 1):
        limit = steps if update == updates else max(steps // 3, 1)
        _lbfgs(module, rows, penalty, limit)
        steps = max(steps - limit, 1)
        if update < updates and settings.penalty is None:
            penalty = min(_penalty_of(module, rows, penalty), 10.0 * penalty)
    return module, penalty


def _penalty_of(module: nn.Module, rows: Rows, penalty: float) -> float:
    """The penalty that noise and weights ask for."""
    task_map = solve_map(module, rows, penalty)
    weight = sum(float((p.detach() ** 2).sum()) for p in module.parameters()) + float((task_map**2).sum())
    used = min(sum(p.numel() for p in module.parameters()) + task_map.numel(), 0.5 * rows.labels)
    noise = residual(module, rows, penalty) / (rows.labels - used)
    return float(noise * used / max(weight, 1e-300))


def _lbfgs(module: nn.Module, rows: Rows, penalty: float, steps: int) -> None:
    parameters = list(module.parameters())
    tolerance = TOLERANCE * residual(module, rows, penalty) / rows.labels**2
    optimiser = torch.optim.LBFGS(
        parameters,
        max_iter=steps,
        history_size=10,
        tolerance_grad=0.0,
        tolerance_change=tolerance,
        line_search_fn="strong_wolfe",
    )

    def closure() -> torch.Tensor:
        """The objective; by the envelope theorem, its gradient is that with the map held."""
        optimiser.zero_grad()
        task_map = solve_map(module, rows, penalty)
        embedded = embeddings(rows, task_map)
        weight = torch.stack([(p**2).sum() for p in parameters]).sum()
        total = penalty * weight / rows.labels
        total.backward()
        value = total.detach() + penalty * float((task_map**2).sum()) / rows.labels
        for part in rows.parts():
            error = residual_of(module, rows, embedded, part) / rows.labels
            error.backward()
            value = value + error.detach()
        return value

    optimiser.step(closure)
