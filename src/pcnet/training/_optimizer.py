"""Adam, AdamW and gradient descent for many runs, each with rates of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from pcnet.training._run import TrainingSettings, rate_of

BETAS, EPSILON = (0.9, 0.999), 1e-8
_WITHOUT_MOMENTUM: dict[str, Any] = {
    "momentum_buffer_list": [],
    "momentum": 0.0,
    "dampening": 0.0,
    "nesterov": False,
    "is_first_step": False,
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
        self.means = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.squares = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.steps = torch.zeros((), dtype=torch.float32)

    def tensors(self, runs: Sequence[int]) -> dict[str, Tensor]:
        """What a checkpoint, or a smaller block, needs of some of the runs."""
        state = {"steps": self.steps}
        for name, tensors in (("mean", self.means), ("square", self.squares)):
            state |= {f"{name}.{place}": tensor[list(runs)] for place, tensor in enumerate(tensors)}
        return state

    def adopt(self, state: dict[str, Tensor]) -> None:
        """Take over a state of as many runs."""
        self.steps.copy_(state["steps"])
        for name, tensors in (("mean", self.means), ("square", self.squares)):
            for place, tensor in enumerate(tensors):
                tensor.copy_(state[f"{name}.{place}"])


class RunOptimizer(OptimizerState):
    """m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², w ← w − lr · m̂ / (√v̂ + ε), for every run at once.

    That is Adam, which adds wd·w to g first; AdamW takes lr·wd·w off w instead, and "sgd" is w ← w − lr · (g + wd·w).
    Torch's fused kernels, which its own optimisers call too, make one pass over memory; its optimiser classes would
    spend more time on bookkeeping than on arithmetic for many small groups.
    """

    def __init__(self, groups: Groups, settings: Sequence[TrainingSettings]) -> None:
        super().__init__(groups, settings)
        self._updates = list(self._plan(groups, settings))

    def _plan(
        self, groups: Groups, settings: Sequence[TrainingSettings]
    ) -> Iterator[tuple[int, range, Callable[..., None]]]:
        """For each group and run: the run, the places of its parameters, and their update once gradients are known."""
        start = 0
        for members in filter(None, groups.values()):
            places = range(start, start + len(members))
            for run, own in enumerate(settings):
                weights, means, squares = (
                    [tensors[place].detach()[run] for place in places]
                    for tensors in (self.parameters, self.means, self.squares)
                )
                lr, decay = self.rates[start][run]
                rates = {"lr": lr, "weight_decay": decay, "maximize": False}
                if own.optimizer == "sgd":
                    update = functools.partial(torch._fused_sgd_, weights, **rates, **_WITHOUT_MOMENTUM)
                else:
                    update = functools.partial(
                        torch._fused_adam_ if own.optimizer == "adam" else torch._fused_adamw_,
                        weights,
                        exp_avgs=means,
                        exp_avg_sqs=squares,
                        max_exp_avg_sqs=[],
                        state_steps=[self.steps] * len(members),
                        beta1=BETAS[0],
                        beta2=BETAS[1],
                        eps=EPSILON,
                        amsgrad=False,
                        **rates,
                    )
                yield run, places, update
            start = places.stop

    @torch.no_grad()
    def step(self) -> None:
        """Apply the gradients and drop them."""
        self.steps += 1
        grads = [p.grad if p.grad is not None else torch.zeros_like(p) for p in self.parameters]
        by_run = [grad.unbind(0) for grad in grads]
        for run, places, update in self._updates:
            update(grads=[by_run[place][run] for place in places])
        for parameter in self.parameters:
            parameter.grad = None
