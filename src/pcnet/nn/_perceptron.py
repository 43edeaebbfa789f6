"""Θ(X): the map from features to what is propagated."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from pcnet._checks import one_of, whole_number
from pcnet.errors import PcnetError
from pcnet.graph import CSR
from pcnet.nn._device_perceptron import AFTER, DevicePerceptron, Precision, collapsed_on_device
from pcnet.nn._dropout import DeviceDraws, Draws, check_rate, draws_from_torch, drop
from pcnet.nn._module import RunModule
from pcnet.nn._products import aligned
from pcnet.propagate import product

Activation = Literal["relu", "elu"] | None
Keep = NDArray[np.bool_] | None
#: For each run, a dropout rate before every layer; where maps are applied, also one for what comes out.
Rates = tuple[tuple[float, ...], ...]


class Perceptron(RunModule):
    """Θ(X) = W_L δ_L(σ(… W_1 δ_1(X) + b_1 …)) + b_L, δ_l dropout, σ the ReLU, the ELU or nothing.

    `weights[l]` is (d_l, d_{l+1}); with a leading axis of length R the module is R perceptrons side by side and maps to
    (R, n, d_L). X is a dense (n, d_0) tensor or a `CSR`; of a sparse X only the non-zeros are dropped and multiplied.
    Without `bias` there is no b_l.
    """

    per_run: ClassVar[tuple[str, ...]] = ("rates",)
    common: ClassVar[tuple[str, ...]] = ("activation", "precision")

    def __init__(
        self,
        widths: Sequence[int],
        dropout: Sequence[float] | None = None,
        activation: Activation = None,
        precision: Precision = "float32",
        bias: bool = True,
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
        one_of("activation", activation, ("relu", "elu", None))
        one_of("precision", precision, get_args(Precision))
        self.activation = activation
        #: How exactly a GPU multiplies; the CPU knows float32 alone.
        self.precision = precision
        #: rates[r][l]: dropout before layer l in run r.
        self.rates: Rates = (rates,)
        self.weights = nn.ParameterList([nn.Parameter(torch.empty(width_in, width)) for width_in, width in layers])
        self.biases = nn.ParameterList([nn.Parameter(torch.empty(width)) for _, width in layers if bias])
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Uniform in ±1/√d_l, as `torch.nn.Linear` does."""
        for layer, weight in enumerate(self.weights):
            bound = weight.shape[-2] ** -0.5
            for parameter in (weight, *self.biases[layer : layer + 1]):
                nn.init.uniform_(parameter, -bound, bound, generator=generator)

    def forward(
        self, x: Tensor | CSR, draws: Draws | DeviceDraws | None = None, drop_out: tuple[float, ...] | None = None
    ) -> Tensor:
        """Θ(X); dropout happens in training mode and takes its bits from `draws`.

        `drop_out` are rates of each run for what comes out.
        """
        # To a compiler this is Python's affair; to say so before one is at work would take a second to load it.
        theta = torch.compiler.disable(self._mapped) if torch.compiler.is_compiling() else self._mapped
        return theta(x, draws, drop_out)

    def _mapped(self, x: Tensor | CSR, draws: Draws | DeviceDraws | None, drop_out: tuple[float, ...] | None) -> Tensor:
        self._check_input(x)
        stacked = self.runs is not None
        weights, biases = ([p if stacked else p.unsqueeze(0) for p in group] for group in (self.weights, self.biases))
        biases = biases or [weight.new_zeros(weight.shape[0], weight.shape[2]) for weight in weights]
        after = drop_out or (0.0,) * len(self.rates)
        rates = tuple((*own, last) for own, last in zip(self.rates, after, strict=True))
        if not self.training:
            # Multiplying X is dearer than multiplying weights, but on a small graph with many features.
            worth = weights[0].is_cuda or not isinstance(x, CSR) or x.nnz > 16 * x.shape[1]
            if self.activation is None and not torch.is_grad_enabled() and worth:
                z = _collapsed(x, weights, biases)
                return z if stacked else z[0]
            rates = tuple((0.0,) * len(own) for own in rates)
        elif draws is None:
            draws = draws_from_torch(len(rates), weights[0].device)
        if not weights[0].is_cuda:
            z = _Perceptron.apply(x, rates, draws, self.activation, *weights, *biases)
            z = drop(z, tuple(own[-1] for own in rates), draws, AFTER)
        elif self.activation == "elu":
            z = _layer_by_layer(x, rates, draws, self.precision, weights, biases)
        else:
            z = DevicePerceptron.apply(x, rates, draws, self.activation, self.precision, *weights, *biases)
        return z if stacked else z[0]

    def _check_input(self, x: Tensor | CSR) -> None:
        width = self.weights[0].shape[-2]
        if len(x.shape) != 2 or x.shape[1] != width:
            raise PcnetError(f"The features have shape {tuple(x.shape)}; the model expects (nodes, {width}).")
        if x.dtype != self.weights[0].dtype:
            raise PcnetError(
                f"The features are {x.dtype}, the weights {self.weights[0].dtype}; convert one with .to()."
            )
        if x.device.type == "cuda" and x.dtype != torch.float32:
            raise PcnetError(f"On a GPU layers compute in float32, not {x.dtype}; convert the model with .float().")


def _collapsed(x: Tensor | CSR, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> Tensor:
    """Layers without a non-linearity are one matrix, as wide as the last of them: X (W_1 ⋯ W_L) + b."""
    if weights[0].is_cuda:
        return collapsed_on_device(x, weights, biases)
    weight, bias = weights[0], biases[0].unsqueeze(1)
    for following, offset in zip(weights[1:], biases[1:], strict=True):
        weight, bias = _stacked_products([weight, bias], following)
        bias = bias + offset.unsqueeze(1)
    if not isinstance(x, CSR):
        return torch.stack([x @ aligned(own) for own in weight]) + bias
    runs, width_in, width = weight.shape
    columns = product(x, weight.permute(1, 0, 2).reshape(width_in, runs * width))
    return (columns.view(-1, runs, width) + bias.permute(1, 0, 2)).permute(1, 0, 2)


def _layer_by_layer(
    x: Tensor | CSR, rates: Rates, draws: Any, precision: Precision, weights: Sequence[Tensor], biases: Sequence[Tensor]
) -> Tensor:
    """On a GPU, layers with ELUs between them: fused kernels know ReLUs only, so torch computes all but the first."""
    opening, *between, after = zip(*rates, strict=True)
    first = tuple((rate, 0.0) for rate in opening)
    z: Tensor = DevicePerceptron.apply(x, first, draws, None, precision, weights[0], biases[0])
    for layer, own in enumerate(between, start=1):
        z = drop(torch.nn.functional.elu(z), own, draws, layer)
        z = torch.baddbmm(biases[layer].unsqueeze(1), z, weights[layer])
    return drop(z, after, draws, AFTER)


def _stacked_products(left: Sequence[Tensor], right: Tensor) -> list[Tensor]:
    """Each of `left` times `right`, run by run.

    One call each: BLAS rounds a batch differently from a single matrix, and results differently that start at an
    address that is not round, as they all do here where their rows are filled up to a multiple of 16.
    """
    runs, inner, width = right.shape
    filled = right.new_zeros(runs, -(-width // 16) * 16, inner)
    filled[:, :width] = right.mT
    products = [right.new_empty(runs, filled.shape[1], each.shape[1]) for each in left]
    for factors, results in zip(left, products, strict=True):
        for own, factor, result in zip(filled, factors, results, strict=True):
            torch.mm(aligned(own), aligned(factor).t(), out=result)
    return [results[:, :width].mT for results in products]


class _Perceptron(torch.autograd.Function):
    """One run after the other, forwards and back.

    A run's hidden layer fits in the processor's cache, those of all runs together do not; and each run's numbers are
    the same whichever runs stand beside it.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor | CSR, rates: Rates, draws: Draws | None, activation: Activation, *parameters: Tensor
    ) -> Tensor:
        depth = len(parameters) // 2
        weights, biases = parameters[:depth], parameters[depth:]
        weight_of, bias_of = [w.unbind(0) for w in weights], [b.unbind(0) for b in biases]
        # Runs stand side by side in a row, which is how they are propagated.
        out = weights[-1].new_empty(x.shape[0], len(rates), weights[-1].shape[-1]).permute(1, 0, 2)
        tape: list[list[tuple[Keep, Tensor | None]]] = []
        for run, run_rates in enumerate(rates):
            records: list[tuple[Keep, Tensor | None]] = []
            hidden: Tensor | None = None
            for layer, rate in enumerate(run_rates[:depth]):
                weight, bias = weight_of[layer][run], bias_of[layer][run]
                shape = (x.nnz,) if isinstance(x, CSR) and layer == 0 else (x.shape[0], weight.shape[0])
                keep = draws.keep(run, shape, rate) if rate and draws is not None else None
                scale = 1 / (1 - rate)
                records.append((keep, hidden))
                if hidden is None:
                    z = _input_product(x, keep, scale, weight)
                else:
                    _mask(hidden, keep)
                    # For few columns, torch multiplies the transposes several times faster than the factors.
                    z = ((weight * scale).t().contiguous() @ hidden.t()).t()
                z += bias
                hidden = z
                if layer < depth - 1 and activation is not None:
                    hidden = z.clamp_min_(0) if activation == "relu" else torch.nn.functional.elu_(z)
            out[run] = z
            tape.append(records)
        ctx.x, ctx.rates, ctx.activation, ctx.tape = x, rates, activation, tape
        ctx.save_for_backward(*weights)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        weights = ctx.saved_tensors
        grad_weights = [torch.empty_like(weight) for weight in weights]
        grad_biases = [weight.new_empty(weight.shape[0], weight.shape[2]) for weight in weights]
        grad_x = torch.zeros_like(ctx.x) if ctx.needs_input_grad[0] else None
        for run, run_rates in enumerate(ctx.rates):
            g = grads[0][run].contiguous()
            for layer in reversed(range(len(weights))):
                scale = 1 / (1 - run_rates[layer])
                keep, hidden = ctx.tape[run][layer]
                torch.sum(g, dim=0, out=grad_biases[layer][run])
                if hidden is None:
                    _input_product_transposed(ctx.x, keep, scale, g, out=grad_weights[layer][run])
                    if grad_x is not None:
                        grad_x += _mask(g @ (weights[layer][run].t() * scale), keep)
                else:
                    torch.mul((g.t() @ hidden).t(), scale, out=grad_weights[layer][run])
                    g = g @ (weights[layer][run].t() * scale)
                    if ctx.activation == "elu":
                        # The derivative is e^z = ELU(z) + 1 where z < 0.
                        g *= hidden.clamp_max(0).add_(1)
                    # Where a ReLU was closed or a unit dropped, `hidden` is zero.
                    _mask(g, (hidden > 0).numpy() if ctx.activation == "relu" else keep)
        return grad_x, None, None, None, *grad_weights, *grad_biases


def _mask(x: Tensor, keep: Keep) -> Tensor:
    """x ∘ keep, in place. NumPy multiplies floats by booleans several times faster than torch."""
    if keep is not None:
        np.multiply(x.numpy(), keep, out=x.numpy())
    return x


def _dropped(values: Tensor, keep: Keep, scale: float) -> Tensor:
    return values if keep is None else _mask(values * scale, keep)


def _input_product(x: Tensor | CSR, keep: Keep, scale: float, weight: Tensor) -> Tensor:
    """δ(X)·W."""
    if isinstance(x, CSR):
        return product(x, weight, _dropped(x.values, keep, scale))
    return _dropped(x, keep, scale) @ aligned(weight)


def _input_product_transposed(x: Tensor | CSR, keep: Keep, scale: float, g: Tensor, out: Tensor) -> None:
    """δ(X)ᵀ·g, with the transpose of a sparse X that was made once."""
    if isinstance(x, CSR):
        twin = None if keep is None else keep[x.to_transposed.numpy()]
        out.copy_(product(x.transposed, g, _dropped(x.transposed.values, twin, scale)))
    else:
        out.copy_(_dropped(x, keep, scale).t() @ g)
