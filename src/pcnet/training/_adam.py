"""Adam for many runs, each with rates of its own."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from pcnet.training._settings import TrainingSettings, rate_of

BETAS, EPSILON = (0.9, 0.999), 1e-8


class RunAdam:
    """m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², w ← w − lr · m̂ / (√v̂ + ε), for every run at once.

    Adam adds wd·w to g first, AdamW takes lr·wd·w off w instead. Parameters have the run as their first axis. Torch's
    fused kernel, which its own optimisers call too, makes one pass over memory; its optimiser classes would spend more
    time on bookkeeping than on arithmetic for so many small groups.
    """

    def __init__(self, groups: dict[str, list[nn.Parameter]], settings: Sequence[TrainingSettings]) -> None:
        self.groups, self.settings = groups, settings
        self.parameters = [parameter for group in groups.values() for parameter in group]
        self.means = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.squares = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.steps = torch.zeros((), dtype=torch.float32)

    @torch.no_grad()
    def step(self) -> None:
        """Apply the gradients and drop them."""
        self.steps += 1
        grads = [parameter.grad if parameter.grad is not None else torch.zeros_like(parameter) for parameter in self.parameters]
        by_run = [[t.unbind(0) for t in tensors] for tensors in (self.parameters, grads, self.means, self.squares)]
        start = 0
        for group, members in self.groups.items():
            stop = start + len(members)
            for run, settings in enumerate(self.settings):
                update = torch._fused_adam_ if settings.optimizer == "adam" else torch._fused_adamw_
                update(
                    *([views[run] for views in tensors[start:stop]] for tensors in by_run),
                    [],
                    [self.steps] * len(members),
                    lr=rate_of(settings.lr, group),
                    beta1=BETAS[0],
                    beta2=BETAS[1],
                    weight_decay=rate_of(settings.wd, group),
                    eps=EPSILON,
                    amsgrad=False,
                    maximize=False,
                )
            start = stop
        for parameter in self.parameters:
            parameter.grad = None

    def tensors(self) -> dict[str, Tensor]:
        """The state that a checkpoint needs."""
        state = {"steps": self.steps}
        for name, tensors in (("mean", self.means), ("square", self.squares)):
            state |= {f"{name}.{place}": tensor for place, tensor in enumerate(tensors)}
        return state

    def adopt(self, state: dict[str, Tensor], runs: Sequence[int] | None = None) -> None:
        """Take over a state, of all its runs or of some."""
        self.steps.copy_(state["steps"])
        for name, tensors in (("mean", self.means), ("square", self.squares)):
            for place, tensor in enumerate(tensors):
                source = state[f"{name}.{place}"]
                tensor.copy_(source if runs is None else source[list(runs)])
