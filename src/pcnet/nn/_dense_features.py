"""X·W and Xᵀ·G on tensor cores, for features of which too many are not zero to gain from that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.nn.functional import pad

from pcnet.graph import CSR

Precision = Literal["float32", "tf32", "bfloat16"]

#: Share of non-zeros from which multiplying all of X is faster than gathering what is there, and how large X must be.
DENSE, LARGE = 0.05, 2**20
#: Bytes of written-out features that are too many.
TOO_LARGE = 2**32
#: Whether torch multiplies numbers of sixteen bits into float32 (since 2.8).
WIDENS = "dtype" in torch.ops.aten.mm.overloads()


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


_written_out: WeakKeyDictionary[CSR, dict[Precision, DenseFeatures]] = WeakKeyDictionary()


def dense_features(x: Tensor | CSR, precision: Precision) -> DenseFeatures | None:
    """X for tensor cores, made once for sparse features; None where gathering non-zeros is the better way."""
    if precision == "float32" and not WIDENS:
        return None
    if isinstance(x, Tensor):
        return DenseFeatures(x, precision)
    cells = x.shape[0] * x.shape[1]
    if cells < LARGE or x.nnz < DENSE * cells or 20 * cells > TOO_LARGE:
        return None
    known = _written_out.setdefault(x, {})
    if precision not in known:
        known[precision] = DenseFeatures(x.to_dense(), precision)
    return known[precision]


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
