"""Θ(X) of many runs on a GPU: all runs in every kernel, and no dense copy of sparse features."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pcnet.graph import CSR
from pcnet.nn._dropout import DeviceDraws, device_vector


class DevicePerceptron(torch.autograd.Function):
    """The same map as on the CPU, with dropout decided inside the kernels: forward keeps the hidden layers alone."""

    @staticmethod
    def forward(
        ctx: Any,
        dense: Tensor | None,
        x: Tensor | CSR,
        rates: tuple[tuple[float, ...], ...],
        draws: DeviceDraws | None,
        activation: str | None,
        *parameters: Tensor,
    ) -> Tensor:
        from pcnet.nn import _triton

        depth = len(parameters) // 2
        weights, biases = parameters[:depth], parameters[depth:]
        layers = _Layers(rates, draws, activation is not None, weights[0].device)
        if isinstance(x, CSR):
            h = _triton.input_layer(
                x,
                weights[0],
                biases[0],
                layers.rates(0),
                layers.rates(1),
                layers.seeds,
                layers.epoch,
                relu=layers.relu and depth > 1,
                drop=layers.drops(0),
                drop_hidden=depth > 1 and layers.drops(1),
            )
        else:
            h = torch.baddbmm(biases[0].unsqueeze(1), layers.masked(_spread(x, len(rates)), 0), weights[0])
            h = layers.activated(h, 1) if depth > 1 else h
        hidden = [h]
        for layer in range(1, depth):
            h = torch.baddbmm(biases[layer].unsqueeze(1), h, weights[layer])
            if layer < depth - 1:
                h = layers.activated(h, layer + 1)
                hidden.append(h)
        ctx.x, ctx.layers = x, layers
        ctx.save_for_backward(*weights, *(hidden if depth > 1 else []))
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        from pcnet.nn import _triton

        x, layers = ctx.x, ctx.layers
        depth = (len(ctx.saved_tensors) + 1) // 2
        weights, hidden = ctx.saved_tensors[:depth], ctx.saved_tensors[depth:]
        grad_weights: list[Tensor] = [weights[0]] * depth
        grad_biases: list[Tensor] = [weights[0]] * depth
        g = grads[0].contiguous()
        if depth == 1:
            grad_biases[0] = g.sum(dim=1)
        for layer in range(depth - 1, 0, -1):
            g, grad_weights[layer], grad_biases[layer], grad_biases[layer - 1] = _triton.hidden_backward(
                g,
                hidden[layer - 1],
                weights[layer],
                layers.rates(layer),
                layers.seeds,
                layers.epoch,
                layer,
                relu=layers.relu,
                drop=layers.drops(layer),
            )
        grad_x = None
        if isinstance(x, CSR):
            grad_weights[0] = _triton.input_weight_grad(
                x, g, layers.rates(0), layers.seeds, layers.epoch, drop=layers.drops(0)
            )
        else:
            grad_weights[0] = layers.masked(_spread(x, len(g)), 0).mT @ g
            if ctx.needs_input_grad[0]:
                grad_x = layers.masked(g @ weights[0].mT, 0).sum(dim=0)
        return grad_x, None, None, None, None, *grad_weights, *grad_biases


class _Layers:
    """Dropout and activation between layers; layer l's dropout acts on what enters it."""

    def __init__(
        self, rates: tuple[tuple[float, ...], ...], draws: DeviceDraws | None, relu: bool, device: torch.device
    ) -> None:
        self._rates = [device_vector(column, device) for column in zip(*rates, strict=True)]
        self._drops = [any(column) for column in zip(*rates, strict=True)]
        self.relu = relu
        draws = draws or DeviceDraws.idle(len(rates), device)
        self.seeds, self.epoch = draws.seeds, draws.epoch

    def rates(self, layer: int) -> Tensor:
        return self._rates[min(layer, len(self._rates) - 1)]

    def drops(self, layer: int) -> bool:
        return self._drops[layer]

    def masked(self, x: Tensor, layer: int) -> Tensor:
        """x where it was kept, scaled."""
        from pcnet.nn import _triton

        return _triton.masked(x, self.rates(layer), self.seeds, self.epoch, layer) if self.drops(layer) else x

    def activated(self, z: Tensor, layer: int) -> Tensor:
        return self.masked(z.clamp_min_(0) if self.relu else z, layer)


def _spread(x: Tensor, runs: int) -> Tensor:
    return x.expand(runs, *x.shape).contiguous()
