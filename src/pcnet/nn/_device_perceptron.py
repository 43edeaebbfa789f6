"""Θ(X) of many runs on a GPU: all runs in every kernel, and no dense copy of sparse features for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from pcnet.graph import CSR, made_once
from pcnet.nn._dropout import DeviceDraws
from pcnet.nn._module import device_vector

Precision = Literal["float32", "tf32", "bfloat16"]

#: Share of non-zeros from which multiplying all of X is faster than gathering what is there, and how large X must be.
DENSE, LARGE = 0.05, 2**20
#: Bytes of written-out features that are too many.
TOO_LARGE = 2**32
#: Whether torch multiplies numbers of sixteen bits into float32 (since 2.8).
WIDENS = "dtype" in torch.ops.aten.mm.overloads()
#: Tells dropout before a propagation from that of the layers before it.
AFTER = 15


class DevicePerceptron(torch.autograd.Function):
    """The same map as on the CPU, with dropout decided inside the kernels: forward keeps the hidden layers alone.

    `rates` has a dropout rate of each run for every layer and, last, one for what comes out.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor | CSR,
        rates: tuple[tuple[float, ...], ...],
        draws: DeviceDraws | None,
        activation: str | None,
        precision: Precision,
        *parameters: Tensor,
    ) -> Tensor:
        from pcnet.nn import device as kernels

        depth = len(parameters) // 2
        weights, biases = parameters[:depth], parameters[depth:]
        device, runs, n = weights[0].device, len(rates), x.shape[0]
        draws = draws or DeviceDraws.idle(runs, device)
        drops = [
            kernels.Dropout(device_vector(own, device) if any(own) else None, layer if layer < depth else AFTER)
            for layer, own in enumerate(zip(*rates, strict=True))
        ]
        relu = activation is not None
        storage = torch.bfloat16 if precision == "bfloat16" else torch.float32
        features = None if drops[0] else dense_features(x, precision)
        bare: Tensor | None = None
        unscale: Tensor | None = None
        if features is not None:
            (h, unscale), bare = features.times(weights[0]), biases[0]
        elif isinstance(x, CSR):
            dtype = storage if depth > 1 else torch.float32
            out = torch.empty(n, runs, weights[0].shape[2], dtype=dtype, device=device).permute(1, 0, 2)
            h = kernels.input_layer(
                x, weights[0].to(storage), biases[0], draws, out,
                relu=relu and depth > 1, dropout=drops[0], dropout_out=drops[1],
            )  # fmt: skip
        else:
            h, bare = kernels.masked(_spread(x, runs), draws, drops[0]) @ weights[0], biases[0]
        hidden = [h] if depth > 1 else []
        for layer in range(1, depth):
            last = layer == depth - 1
            h = kernels.output_layer(
                h, bare, unscale, weights[layer], biases[layer], draws, _dot(precision),
                relu=relu, dropout=drops[layer], dropout_out=drops[depth] if last else kernels.Dropout(),
            )  # fmt: skip
            if not last:
                # A middle layer comes without its ReLU and dropout, which the next one begins with.
                hidden.append(h)
                bare, unscale = torch.zeros_like(biases[layer]), None
        if depth == 1 and bare is not None:
            h = h if unscale is None else h * unscale.view(-1, 1, 1)
            h = kernels.masked(h + bare.unsqueeze(1), draws, drops[1])
        ctx.x, ctx.features, ctx.draws, ctx.drops, ctx.relu, ctx.precision = x, features, draws, drops, relu, precision
        ctx.save_for_backward(*weights, *hidden)
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Any, ...]:
        from pcnet.nn import device as kernels

        x, features, draws, drops = ctx.x, ctx.features, ctx.draws, ctx.drops
        depth = (len(ctx.saved_tensors) + 1) // 2
        weights, hidden = ctx.saved_tensors[:depth], ctx.saved_tensors[depth:]
        grad_weights: list[Tensor] = [weights[0]] * depth
        grad_biases: list[Tensor] = [weights[0]] * depth
        g, rest, unscale = grads[0], None, None
        split = features is not None and features.split
        for layer in range(depth - 1, 0, -1):
            (g, rest, unscale), shares = kernels.hidden_backward(
                g, hidden[layer - 1], weights[layer], draws, _dot(ctx.precision), relu=ctx.relu, dropout=drops[layer],
                dropout_out=drops[depth] if layer == depth - 1 else kernels.Dropout(), split=split and layer == 1,
            )  # fmt: skip
            grad_weights[layer], grad_biases[layer], grad_biases[layer - 1] = shares
        if depth == 1:
            g = kernels.masked(g, draws, drops[1])
            grad_biases[0] = g.sum(dim=1)
            if split:
                g, rest, unscale = halves(g)
        grad_x = None
        if features is not None:
            grad_weights[0] = features.transposed_times(g, rest, unscale)
        elif isinstance(x, CSR):
            grad_weights[0] = kernels.input_weight_grad(x, g, draws, drops[0])
        else:
            grad_weights[0] = kernels.masked(_spread(x, len(g)), draws, drops[0]).mT @ g
        if ctx.needs_input_grad[0]:
            if rest is not None and unscale is not None:
                g = (g.float() + rest) * unscale.view(-1, 1, 1)
            back = g.float() @ weights[0].mT
            grad_x = kernels.masked(back, draws, drops[0]).sum(dim=0)
        return grad_x, None, None, None, None, *grad_weights, *grad_biases


def collapsed_on_device(x: Tensor | CSR, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> Tensor:
    """X (W_1 ⋯ W_L) + b of every run, as columns of one product; (R, n, width), nodes outermost in memory."""
    weight, bias = weights[0], biases[0].unsqueeze(1)
    for following, offset in zip(weights[1:], biases[1:], strict=True):
        weight, bias = weight @ following, torch.baddbmm(offset.unsqueeze(1), bias, following)
    runs, width_in, width = weight.shape
    columns, offsets = weight.permute(1, 0, 2).reshape(width_in, runs * width), bias.reshape(-1)
    if isinstance(x, CSR):
        from pcnet.propagate import kernels

        z = kernels.product(x, columns, x.values, offsets)
    else:
        z = torch.addmm(offsets, x, columns)
    return z.view(-1, runs, width).permute(1, 0, 2)


def _dot(precision: Precision) -> str:
    """How kernels multiply small matrices on tensor cores: three times, to float32, or once."""
    return "tf32x3" if precision == "float32" else "tf32"


def _spread(x: Tensor, runs: int) -> Tensor:
    return x.expand(runs, *x.shape).contiguous()


class DenseFeatures:
    """X written out, in a form whose products are as exact as `precision` says.

    The fastest products are those of numbers with sixteen bits, eleven of them digits. In float32 X = X₁ + X₂ and
    W = W₁ + W₂ are leading digits and rest, both scaled into the range of such numbers by a power of two, for each run
    its own, and X W = X₁ W₁ + X₂ W₁ + X₁ W₂ up to 2⁻²²: three products in one, [X₁ X₂ X₁] · [W₁; W₁; W₂].
    """

    def __init__(self, x: Tensor, precision: Precision) -> None:
        self.features, self.split = x.shape[1], precision == "float32"
        x = x.to(torch.bfloat16) if precision == "bfloat16" else x
        # Rows of whole 16-byte words: others are multiplied at a fraction of the speed.
        x = pad(x, (0, -x.shape[1] % 8))
        self.padded = x.shape[1]
        self.x = x
        if self.split:
            leading, rest, self.unscale = halves(x.unsqueeze(0))
            self.x = torch.cat([leading[0], rest[0], leading[0]], dim=1)

    def times(self, weight: Tensor) -> tuple[Tensor, Tensor | None]:
        """X·W of R runs in one product, (R, n, width) with nodes outermost in memory; and its scale, if it has one."""
        from pcnet.nn import device as kernels

        runs, _, width = weight.shape
        factors = self.x.new_zeros if self.padded > self.features else self.x.new_empty
        columns = factors(runs * width, self.x.shape[1])
        unscale = kernels.factors(weight, columns, self.unscale if self.split else None)
        return multiply(self.x, columns.t()).view(-1, runs, width).permute(1, 0, 2), unscale

    def transposed_times(self, grad: Tensor, rest: Tensor | None, unscale: Tensor | None) -> Tensor:
        """Xᵀ·G of R runs, (R, features, width). In float32 G is `grad` + `rest`, each run's scaled."""
        from pcnet.nn import device as kernels

        runs, n, width = grad.shape
        columns = grad.permute(1, 0, 2).reshape(n, runs * width).to(self.x.dtype)
        if rest is None or unscale is None:
            found = multiply(self.x.t(), columns)
            return found[: self.features].float().view(self.features, runs, width).permute(1, 0, 2)
        first = multiply(self.x[:, : 2 * self.padded].t(), columns)
        second = multiply(self.x[:, : self.padded].t(), rest.permute(1, 0, 2).reshape(n, runs * width))
        return kernels.collect(first, second, unscale, self.unscale, (runs, self.features, width))


def halves(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """x (R, …) as (leading + rest) · unscale, the former of sixteen bits and unscale a power of two for each run."""
    largest = torch.linalg.vector_norm(x, torch.inf, dim=(1, 2))
    scale = torch.exp2(13 - torch.floor(torch.log2(largest.clamp_min(2.0**-100))))
    scaled = x * scale.view(-1, 1, 1)
    leading = scaled.half()
    return leading, (scaled - leading).half(), 1 / scale


def multiply(a: Tensor, b: Tensor) -> Tensor:
    """a·b on tensor cores; two factors of float16 make float32."""
    if a.dtype == torch.float16:
        return torch.mm(a, b, out_dtype=torch.float32)
    with _eleven_digits():
        return a @ b


def dense_features(x: Tensor | CSR, precision: Precision) -> DenseFeatures | None:
    """X for tensor cores, made once for sparse features; None where gathering non-zeros is the better way."""
    if precision == "float32" and not WIDENS:
        return None
    if isinstance(x, Tensor):
        return DenseFeatures(x, precision)
    cells = x.shape[0] * x.shape[1]
    if cells < LARGE or x.nnz < DENSE * cells or 20 * cells > TOO_LARGE:
        return None
    return _written_out(x, precision)


@made_once
def _written_out(x: CSR, precision: Precision) -> DenseFeatures:
    return DenseFeatures(x.to_dense(), precision)


@contextmanager
def _eleven_digits() -> Iterator[None]:
    """Let products of float32 matrices use tensor cores, which read eleven binary digits of a factor."""
    settings = torch.backends.cuda.matmul
    name, value = ("fp32_precision", "tf32") if hasattr(settings, "fp32_precision") else ("allow_tf32", True)
    before = getattr(settings, name)
    setattr(settings, name, value)
    try:
        yield
    finally:
        setattr(settings, name, before)
