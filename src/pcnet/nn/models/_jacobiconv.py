"""JacobiConv (Wang & Zhang, ICML 2022), and the linear models with other bases that it was compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pcnet.nn.conv import JacobiConv
from pcnet.nn.conv._jacobi_conv import BasisName, Sign, damping_is_learned
from pcnet.nn.models._filter_net import FilterNet, FilterNetSettings
from pcnet.nn.models._methods import method


@dataclass(frozen=True)
class JacobiConvSettings(FilterNetSettings):
    """K, a, b, alpha, basis, sign, frozen: see `JacobiConv`.

    With `hidden`, two layers with a ReLU between them stand before the filter.
    """

    varying: ClassVar[tuple[str, ...]] = ("alpha",)
    positive: ClassVar[tuple[str, ...]] = ("alpha",)

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
        learned = damping_is_learned(self.basis, self.frozen)
        return super().groups if learned else tuple(each for each in super().groups if each != "alpha")


@method("jacobiconv", title="JacobiConv")
class JacobiNet(FilterNet[JacobiConvSettings]):
    """Z_{:,c} = Σ_{k=0..K} θ_{c,k} (Π_{l<k} γ_l) P_k(S) (δ(X) W + b)_{:,c}: linear but for the dropout."""

    filter = JacobiConv
