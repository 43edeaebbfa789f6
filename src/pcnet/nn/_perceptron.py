"""Θ(X): the map from features to what is propagated."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from pcnet._checks import whole_number
from pcnet.errors import PcnetError
from pcnet.graph import CSR
from pcnet.nn._device_perceptron import DevicePerceptron
from pcnet.nn._dropout import DeviceDraws, Draws, check_rate, draws_from_torch
from pcnet.nn._runs import RunModule
from pcnet.propagate import product

Activation = Literal["relu"] | None
Keep = NDArray[np.bool_] | None


class Perceptron(RunModule):
    """Θ(X) = W_L δ_L(σ(… W_1 δ_1(X) + b_1 …)) + b_L, δ_l dropout, σ the ReLU or nothing.

    `weights[l]` is (d_l, d_{l+1}); with a leading axis of length R the module is R perceptrons side by side and maps to
    (R, n, d_L). X is a dense (n, d_0) tensor or a `CSR`; of a sparse X only the non-zeros are dropped and multiplied.
    """

    per_run: ClassVar[tuple[str, ...]] = ("rates",)
    common: ClassVar[tuple[str, ...]] = ("activation",)

    def __init__(
        self, widths: Sequence[int], dropout: Sequence[float] | None = None, activation: Activation = None
    ) -> None:
        super().__init__()
        widths = [whole_number("A layer's width", width, least=1) for width in widths]
        layers = list(itertools.pairwise(widths))
        rates = (0.0,) * len(layers) if dropout is None else tuple(dropout)
        if not layers or len(rates) != len(layers):
            raise PcnetError(
                f"{len(widths)} widths make {len(layers)} layers and {len(rates)} dropout rates are given; "
                "there must be at least two widths, and one rate for each layer."
            )
        for rate in rates:
            check_rate("dropout", rate)
        if activation not in ("relu", None):
            raise PcnetError(f"The activation can be 'relu' or None, not {activation!r}.")
        self.activation = activation
        #: rates[r][l]: dropout before layer l in run r.
        self.rates: tuple[tuple[float, ...], ...] = (rates,)
        self.weights = nn.ParameterList([nn.Parameter(torch.empty(width_in, width)) for width_in, width in layers])
        self.biases = nn.ParameterList([nn.Parameter(torch.empty(width)) for _, width in layers])
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Uniform in ±1/√d_l, as `torch.nn.Linear` does."""
        for weight, bias in zip(self.weights, self.biases, strict=True):
            bound = weight.shape[-2] ** -0.5
            for parameter in (weight, bias):
                nn.init.uniform_(parameter, -bound, bound, generator=generator)

    @torch.compiler.disable
    def forward(self, x: Tensor | CSR, draws: Draws | DeviceDraws | None = None) -> Tensor:
        """Θ(X); dropout happens in training mode and takes its bits from `draws`."""
        self._check_input(x)
        stacked = self.runs is not None
        weights, biases = ([p if stacked else p.unsqueeze(0) for p in group] for group in (self.weights, self.biases))
        rates = self.rates
        if not self.training:
            if self.activation is None and not torch.is_grad_enabled():
                z = _collapsed(x, weights, biases)
                return z if stacked else z[0]
            rates = tuple((0.0,) * len(weights) for _ in rates)
        elif draws is None:
            draws = draws_from_torch(len(rates), weights[0].device)
        dense = None if isinstance(x, CSR) else x
        function = DevicePerceptron if weights[0].is_cuda else _Perceptron
        z = function.apply(dense, x, rates, draws, self.activation, *weights, *biases)
        return z if stacked else z[0]

    def _check_input(self, x: Tensor | CSR) -> None:
        width = self.weights[0].shape[-2]
        if len(x.shape) != 2 or x.shape[1] != width:
            raise PcnetError(f"The features have shape {tuple(x.shape)}; the model expects (nodes, {width}).")
        if x.dtype != self.weights[0].dtype:
            raise PcnetError(
                f"The features are {x.dtype}, the weights {self.weights[0].dtype}; convert one with .to()."
            )


def _collapsed(x: Tensor | CSR, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> Tensor:
    """Layers without a non-linearity are one matrix, as wide as the last of them: X (W_1 ⋯ W_L) + b."""
    rows = [bias.unsqueeze(1) for bias in biases]
    if weights[0].is_cuda:
        weight, bias = _collapsed_layers(weights, rows)
    else:
        each = zip(zip(*weights, strict=True), zip(*rows, strict=True), strict=True)
        pairs = [_collapsed_layers([_aligned(w) for w in ws], [_aligned(b) for b in bs]) for ws, bs in each]
        weight, bias = (torch.stack(parts) for parts in zip(*pairs, strict=True))
    if not isinstance(x, CSR):
        return torch.stack([x @ _aligned(own) for own in weight]) + bias
    runs, width_in, width = weight.shape
    columns = product(x, weight.permute(1, 0, 2).reshape(width_in, runs * width))
    return (columns.view(-1, runs, width) + bias.squeeze(1)).permute(1, 0, 2)


def _collapsed_layers(weights: Sequence[Tensor], biases: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    weight, bias = weights[0], biases[0]
    for following, offset in zip(weights[1:], biases[1:], strict=True):
        weight, bias = _narrow_product(weight, following), bias @ following + offset
    return weight, bias


class _Perceptron(torch.autograd.Function):
    """A few runs after the other, forwards and back.

    The hidden layers of a few runs fit in the processor's cache, those of all runs together do not; and each run's
    numbers are the same whichever runs stand beside it.
    """

    @staticmethod
    def forward(
        ctx: Any,
        dense: Tensor | None,
        x: Tensor | CSR,
        rates: tuple[tuple[float, ...], ...],
        draws: Draws | None,
        activation: Activation,
        *parameters: Tensor,
    ) -> Tensor:
        depth = len(parameters) // 2
        weights, biases = parameters[:depth], parameters[depth:]
        weight_of, bias_of = [w.unbind(0) for w in weights], [b.unbind(0) for b in biases]
        # Runs stand side by side in a row, which is how they are propagated.
        out = weights[-1].new_empty(x.shape[0], len(rates), weights[-1].shape[-1]).permute(1, 0, 2)
        # tape[run][layer]: what was kept of the layer's input and, but for the first layer, that input.
        tape: list[list[tuple[Keep, Tensor]]] = []

        def keep(run: int, layer: int, shape: tuple[int, ...]) -> Keep:
            rate = rates[run][layer]
            return draws.keep(run, shape, rate) if rate and draws is not None else None

        for runs in _groups(len(rates), x):
            kept = [keep(run, 0, (x.nnz,) if isinstance(x, CSR) else (x.shape[0], x.shape[1])) for run in runs]
            first = _input_products(x, kept, [rates[run][0] for run in runs], weights[0][runs.start : runs.stop])
            first += biases[0][runs.start : runs.stop].unsqueeze(1)
            for run, own, kept_of_input in zip(runs, first.unbind(0), kept, strict=True):
                z = _aligned(own)
                records: list[tuple[Keep, Tensor]] = [(kept_of_input, z)]
                for layer in range(1, depth):
                    hidden = z.clamp_min_(0) if activation else z
                    kept_here = keep(run, layer, (hidden.shape[0], hidden.shape[1]))
                    records.append((kept_here, _mask(hidden, kept_here)))
                    z = _narrow_product(hidden, weight_of[layer][run] / (1 - rates[run][layer]))
                    z += bias_of[layer][run]
                out[run] = z
                tape.append(records)
        ctx.x, ctx.rates, ctx.activation, ctx.tape = x, rates, activation, tape
        ctx.save_for_backward(*weights)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        x, weights = ctx.x, ctx.saved_tensors
        grad_weights = [torch.empty_like(weight) for weight in weights]
        grad_biases = [weight.new_empty(weight.shape[0], weight.shape[2]) for weight in weights]
        grad_x = torch.zeros_like(x) if ctx.needs_input_grad[0] else None
        for runs in _groups(len(ctx.rates), x):
            at_first = weights[0].new_empty(len(runs), x.shape[0], weights[0].shape[2])
            for run, g_first in zip(runs, at_first.unbind(0), strict=True):
                g = grads[0][run].contiguous()
                for layer in reversed(range(1, len(weights))):
                    scale = 1 / (1 - ctx.rates[run][layer])
                    keep, hidden = ctx.tape[run][layer]
                    torch.sum(g, dim=0, out=grad_biases[layer][run])
                    torch.mul((g.t() @ hidden).t(), scale, out=grad_weights[layer][run])
                    g = g @ (weights[layer][run].t() * scale)
                    # Where a ReLU was closed or a unit dropped, `hidden` is zero.
                    _mask(g, (hidden > 0).numpy() if ctx.activation else keep)
                torch.sum(g, dim=0, out=grad_biases[0][run])
                g_first.copy_(g)
            kept = [ctx.tape[run][0][0] for run in runs]
            rates = [ctx.rates[run][0] for run in runs]
            grad_weights[0][runs.start : runs.stop] = _input_products_transposed(x, kept, rates, at_first)
            if grad_x is not None:
                for run, keep, rate, g in zip(runs, kept, rates, at_first.unbind(0), strict=True):
                    grad_x += _mask(g @ (weights[0][run].t() / (1 - rate)), keep)
        return grad_x, None, None, None, None, *grad_weights, *grad_biases


#: Entries of the features, and nodes, that are worth a call of their own.
GROUP = 160_000


def _groups(runs: int, x: Tensor | CSR) -> list[range]:
    """Runs whose first layers are computed in one call: several on a small graph, one on a large graph."""
    size = max(1, GROUP // (x.nnz + x.shape[0])) if isinstance(x, CSR) else 1
    return [range(start, min(start + size, runs)) for start in range(0, runs, size)]


def _mask(x: Tensor, keep: Keep) -> Tensor:
    """x ∘ keep, in place. NumPy multiplies floats by booleans several times faster than torch."""
    if keep is not None:
        np.multiply(x.numpy(), keep, out=x.numpy())
    return x


def _dropped(values: Tensor, kept: Sequence[Keep], rates: Sequence[float]) -> Tensor:
    """δ(values) of each run, one after the other."""
    out = values.new_empty(len(kept), len(values))
    for row, keep, rate in zip(out.numpy(), kept, rates, strict=True):
        np.multiply(values.numpy(), np.float64(1 / (1 - rate)).astype(row.dtype), out=row)
        if keep is not None:
            np.multiply(row, keep, out=row)
    return out.view(-1)


def _input_products(x: Tensor | CSR, kept: Sequence[Keep], rates: Sequence[float], weight: Tensor) -> Tensor:
    """δ(X)·W of some runs. Sparse features of several runs are the diagonal blocks of one matrix."""
    runs, features, width = weight.shape
    if isinstance(x, CSR):
        many = x.repeated(runs)
        values = _dropped(x.values, kept, rates) if any(rates) else many.values
        return product(many, weight.reshape(runs * features, width), values).view(runs, -1, width)
    each = zip(kept, rates, weight, strict=True)
    return torch.stack([_mask(x / (1 - rate), keep) @ _aligned(own) for keep, rate, own in each])


def _input_products_transposed(x: Tensor | CSR, kept: Sequence[Keep], rates: Sequence[float], g: Tensor) -> Tensor:
    """δ(X)ᵀ·g of some runs, with the transpose of a sparse X that was made once."""
    runs, nodes, width = g.shape
    if isinstance(x, CSR):
        many = x.transposed.repeated(runs)
        values = many.values
        if any(rates):
            order = x.to_transposed.numpy()
            values = _dropped(x.transposed.values, [None if keep is None else keep[order] for keep in kept], rates)
        return product(many, g.reshape(runs * nodes, width), values).view(runs, -1, width)
    each = zip(kept, rates, g, strict=True)
    return torch.stack([_mask(x / (1 - rate), keep).t() @ _aligned(own) for keep, rate, own in each])


def _aligned(x: Tensor) -> Tensor:
    """x, at a round address. BLAS rounds differently at others: a run's bits would depend on its place in the stack."""
    return x if x.data_ptr() % 64 == 0 or x.is_cuda else x.clone()


def _narrow_product(x: Tensor, weight: Tensor) -> Tensor:
    """x·W for few columns. On the CPU, torch multiplies the transposes several times faster than the factors."""
    if x.device.type != "cpu":
        return x @ weight
    return (weight.mT.contiguous() @ x.mT).mT
