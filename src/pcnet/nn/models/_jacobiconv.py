"""JacobiConv (Wang & Zhang, ICML 2022), and the linear models with other bases that it was compared with."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from pcnet.graph import SelfLoops
from pcnet.nn.conv import JacobiConv
from pcnet.nn.conv._jacobi_conv import BasisName, Sign, damping_is_learned
from pcnet.nn.models._filter_net import FilterNetSettings


@dataclass(frozen=True)
class JacobiConvSettings(FilterNetSettings):
    """Z_{:,c} = Σ_{k=0..K} θ_{c,k} (Π_{l<k} γ_l) P_k(S) (δ(X) W + b)_{:,c}: linear but for the dropout.

    With `hidden`, two layers with a ReLU between them stand before the filter.
    """

    method: ClassVar[str] = "jacobiconv"
    self_loops: ClassVar[SelfLoops] = "keep"

    hidden: int | None = None
    drop_hidden: float = 0.0
    drop_prop: float = 0.5
    K: int = 10
    a: float = 1.0
    b: float = 1.0
    alpha: float = 1.0
    basis: BasisName = "jacobi"
    sign: Sign = "published"
    frozen: bool = False

    @property
    def groups(self) -> tuple[str, ...]:
        return (*super().groups, *(("alpha",) if damping_is_learned(self.basis, self.frozen) else ()))

    def conv(self, classes: int) -> JacobiConv:
        return JacobiConv(
            self.K, self.a, self.b, self.alpha, classes, basis=self.basis, sign=self.sign, frozen=self.frozen
        )

    @property
    def filter_key(self) -> tuple[Hashable, ...]:
        return self.K, self.a, self.b, self.basis, self.sign, self.frozen
