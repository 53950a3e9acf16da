"""Modules of PyTorch as representations: trained by taskscout, by a loop of your own, or not at all.

The model and the objective are those of the trainer `neural`: `y = φ(x)ᵀ B ψ(w)`, with the task map `B` solved for
every `φ`,

`J(θ) = min_B Σ ‖y − φ_θ(x)ᵀ B ψ(w)‖² + λ(‖B‖² + ‖θ‖²)`.

Several starts are annealed by mini-batch steps on both factors; the best goes on by L-BFGS on all rows.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from ._parts import Array, Perceptron, Trainer, TrainingData
from ._statistics import Statistics
from ._torch_fit import Rows, Settings, anneal, descend, forward, prior_penalty, threads
from .errors import InputError

#: A loop of your own: trains a module in place.
Loop: TypeAlias = Callable[[nn.Module, TrainingData], None]


class Learnt:
    """A module as a function of arrays; what a fit of `Representation` returns."""

    def __init__(self, module: nn.Module, inputs: int, penalty: float | None, settings: Settings) -> None:
        self.module = module.eval()
        """The module."""
        self.penalty = penalty
        """The penalty that it was trained with."""
        self._settings = settings
        with torch.no_grad():
            made = forward(module, torch.zeros(1, inputs))
        self.dim = made.shape[1]
        """Numbers of a row."""
        self.perceptron = _perceptron(module)
        """The same as layers, where it is a plain chain of them: such models can be saved."""

    def __call__(self, X: npt.ArrayLike) -> Array:
        """The representation of rows, in batches."""
        parts = [part.numpy().astype(float) for part in self._parts(X)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dim))

    def statistics(self, X: npt.ArrayLike, Y: npt.ArrayLike) -> Statistics:
        """Statistics of rows under the representation, in batches: one is held at a time."""
        y = np.asarray(Y, dtype=float)
        y = y[:, np.newaxis] if y.ndim == 1 else y
        count = len(np.asarray(X))
        if count != len(y):
            raise InputError(f"X has {count} rows and Y has {len(y)}: give one of each for every sample")
        total = Statistics(self.dim, y.shape[1])
        start = 0
        for part in self._parts(X):
            total.update(part.numpy().astype(float), y[start : start + len(part)])
            start += len(part)
        return total

    def _parts(self, X: npt.ArrayLike) -> Iterator[torch.Tensor]:
        x = np.asarray(X)
        size = self._settings.batch
        for start in range(0, len(x), size):
            part = torch.as_tensor(np.array(x[start : start + size], dtype=np.float32))
            with torch.no_grad(), threads(self._settings.threads):
                made = forward(self.module, part)
            yield made


class Representation(Trainer):
    """A PyTorch module as the representation of a study: `create_study(..., trainer=Representation(module))`.

    The module takes n × inputs and gives n × k numbers in single precision; inputs are the study's input features. With
    `train=True` it is trained by taskscout, from several draws of its weights that the study's seed decides; with
    `pretrained`, the first start has the weights as they are. `train` may be a loop of your own, `train(module, data)`,
    which trains a copy of the module in place; with `train=False` it is used as it is. The module that you give is
    never changed.

    `steps` of mini-batches and then at most `polish` steps on all rows are taken; `penalty` is `λ`, from the data if
    it is not given. Rows pass through the module in batches, on so many `threads`: of small modules one is fastest.
    Every fit begins anew, so a study that is loaded again goes on as if it had never been closed.

    >>> from torch import nn
    >>> Representation(nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))).name
    'torch-Sequential'
    """

    def __init__(
        self,
        module: nn.Module,
        *,
        train: bool | Loop = True,
        pretrained: bool = False,
        starts: int = 8,
        steps: int = 3000,
        polish: int = 60,
        learning_rate: float = 0.03,
        penalty: float | None = None,
        batch: int = 8192,
        threads: int = 1,
        name: str | None = None,
    ) -> None:
        if not isinstance(module, nn.Module):
            raise InputError(f"the module is {type(module).__name__}: give a torch.nn.Module")
        for key, value in {"starts": starts, "polish": polish, "batch": batch, "threads": threads}.items():
            if value < 1:
                raise InputError(f"{key} is {value}: give at least 1")
        if penalty is not None and not 0 < penalty < np.inf:
            raise InputError(f"penalty is {penalty}: it must be positive and finite")
        self.module = module
        """The module as it was given."""
        self.train, self._pretrained = train, pretrained
        self._settings = Settings(starts, steps, polish, learning_rate, penalty, batch, threads)
        self._name = name or f"torch-{type(module).__name__}"
        self.alone = train is not False

    @property
    def name(self) -> str:
        """What a storage knows it by: `torch-` and the class of the module, unless you say otherwise."""
        return self._name

    def fit(self, data: TrainingData, start: Any | None = None) -> Learnt:
        """Trains a copy of the module, from what a fit of the same module returned if that is given."""
        given = self.module if start is None else start.module
        module = copy.deepcopy(given)
        penalty = self._settings.penalty
        # Draws inside do not change those of the program.
        with torch.random.fork_rng(devices=[]), threads(self._settings.threads):
            torch.manual_seed(data.seed & (2**63 - 1))
            if callable(self.train):
                self.train(module.train(), data)
            elif self.train:
                module, penalty = self._train(module, data, start)
        learnt = Learnt(module, data.X.shape[1], penalty, self._settings)
        if data.k is not None and learnt.dim < data.k:
            raise InputError(f"the module gives {learnt.dim} numbers, but k is {data.k}: give it as many outputs")
        return learnt

    def _train(self, module: nn.Module, data: TrainingData, start: Learnt | None) -> tuple[nn.Module, float]:
        rows = Rows.of(data, self._settings.batch)
        if start is not None and start.penalty is not None:
            # Rows of targets are few beside those of sources.
            return descend(module, rows, start.penalty, self._settings, updates=0)
        best: tuple[float, nn.Module, float] | None = None
        for attempt in range(self._settings.starts):
            tried = copy.deepcopy(module)
            if attempt > 0 or not self._pretrained:
                tried.apply(_draw_again)
            penalty = self._settings.penalty or prior_penalty(tried, rows)
            residual = anneal(tried, rows, penalty, self._settings)
            if np.isfinite(residual) and (best is None or residual < best[0]):
                best = (residual, tried, penalty)
        if best is None:
            raise InputError("no start of the module stays finite: rescale the data, or lower `learning_rate`")
        return descend(best[1], rows, best[2], self._settings, updates=1)


def _draw_again(module: nn.Module) -> None:
    reset = getattr(module, "reset_parameters", None)
    if type(module) is nn.Linear:
        # As the networks of taskscout begin; PyTorch's own draws are smaller.
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    elif callable(reset):
        reset()


def _perceptron(module: nn.Module) -> Perceptron | None:
    """A chain of full layers with one activation between them, as layers; None if it is anything else."""
    chain = list(module.children()) if isinstance(module, nn.Sequential) else [module]
    layers, between = chain[::2], chain[1::2]
    kinds = {type(one) for one in between}
    full = all(type(layer) is nn.Linear for layer in layers)
    if not full or len(layers) != len(between) + 1 or not (kinds <= {nn.ReLU} or kinds == {nn.Tanh}):
        return None

    def values(parameter: Any) -> Array | None:
        return None if parameter is None else parameter.detach().numpy().astype(float)

    made = [(values(layer.weight.T), values(layer.bias)) for layer in layers]
    return Perceptron([(w, b) for w, b in made if w is not None], "tanh" if kinds == {nn.Tanh} else "relu")
