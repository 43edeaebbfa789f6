"""Adam, AdamW and gradient descent for many runs, each with rates of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from pcnet.training._run import TrainingSettings, rate_of

BETAS, EPSILON = (0.9, 0.999), 1e-8
#: What torch's kernels are told besides weights, gradients, rates and moments.
_SGD: dict[str, Any] = {
    "momentum_buffer_list": [],
    "momentum": 0.0,
    "dampening": 0.0,
    "nesterov": False,
    "is_first_step": False,
}
_ADAM: dict[str, Any] = {
    "max_exp_avg_sqs": [],
    "beta1": BETAS[0],
    "beta2": BETAS[1],
    "eps": EPSILON,
    "amsgrad": False,
}
Groups = dict[str, list[nn.Parameter]]


class OptimizerState:
    """Parameters with the run as first axis, their running means of g and g², and the number of steps made."""

    def __init__(self, groups: Groups, settings: Sequence[TrainingSettings]) -> None:
        self.parameters = [parameter for group in groups.values() for parameter in group]
        #: Learning rate and decay of each parameter, in each run.
        self.rates = [
            [(rate_of(own.lr, name), rate_of(own.wd, name)) for own in settings]
            for name, group in groups.items()
            for _ in group
        ]
        self.means, self.squares = ([torch.zeros_like(parameter) for parameter in self.parameters] for _ in range(2))
        self.steps = torch.zeros((), dtype=torch.float32)

    def _moments(self) -> dict[str, Tensor]:
        named = (("mean", self.means), ("square", self.squares))
        return {f"{name}.{place}": tensor for name, tensors in named for place, tensor in enumerate(tensors)}

    def tensors(self, runs: Sequence[int]) -> dict[str, Tensor]:
        """What a checkpoint, or a smaller block, needs of some of the runs."""
        return {"steps": self.steps} | {name: tensor[list(runs)] for name, tensor in self._moments().items()}

    def adopt(self, state: dict[str, Tensor]) -> None:
        """Take over a state of as many runs."""
        for name, tensor in {"steps": self.steps, **self._moments()}.items():
            tensor.copy_(state[name])


class RunOptimizer(OptimizerState):
    """m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², w ← w − lr · m̂ / (√v̂ + ε), for every run at once.

    That is Adam, which adds wd·w to g first; AdamW takes lr·wd·w off w instead, and "sgd" is w ← w − lr · (g + wd·w).
    Torch's fused kernels, which its own optimisers call too, make one pass over memory; its optimiser classes would
    spend more time on bookkeeping than on arithmetic for many small groups.
    """

    def __init__(self, groups: Groups, settings: Sequence[TrainingSettings]) -> None:
        super().__init__(groups, settings)
        #: For each group and run: the run, the places of its parameters, and their update once gradients are known.
        self._updates: list[tuple[int, range, Callable[..., None]]] = []
        start = 0
        for members in filter(None, groups.values()):
            places = range(start, start + len(members))
            for run, own in enumerate(settings):
                self._updates.append((run, places, self._update(run, places, own.optimizer)))
            start = places.stop

    def _update(self, run: int, places: range, kind: str) -> Callable[..., None]:
        weights, means, squares = (
            [tensors[place].detach()[run] for place in places]
            for tensors in (self.parameters, self.means, self.squares)
        )
        lr, decay = self.rates[places.start][run]
        rates: dict[str, Any] = {"lr": lr, "weight_decay": decay, "maximize": False}
        if kind == "sgd":
            return partial(torch._fused_sgd_, weights, **rates, **_SGD)
        kernel = torch._fused_adam_ if kind == "adam" else torch._fused_adamw_
        steps = [self.steps] * len(places)
        return partial(kernel, weights, exp_avgs=means, exp_avg_sqs=squares, state_steps=steps, **rates, **_ADAM)

    @torch.no_grad()
    def step(self) -> None:
        """Apply the gradients and drop them."""
        self.steps += 1
        grads = [(torch.zeros_like(p) if p.grad is None else p.grad).unbind(0) for p in self.parameters]
        for run, places, update in self._updates:
            update(grads=[grads[place][run] for place in places])
        for parameter in self.parameters:
            parameter.grad = None
