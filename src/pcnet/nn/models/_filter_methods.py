"""The methods that are a perceptron and a filter, or no filter, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from pcnet.nn.conv import BernConv, Cheb2Conv, EvenConv, GPRConv, JacobiConv, PPRConv
from pcnet.nn.conv._fixed_basis_conv import BasisName, Sign, Start, damping_is_learned
from pcnet.nn.conv._polynomial_conv import FilterBasis
from pcnet.nn.models._filter_net import FilterNet, FilterNetSettings
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import setting

#: What `basis` means where θ weighs filters.
BASIS = 'whether θ is learned ("plain"), or the weights of orthonormal filters that span the same'


@dataclass(frozen=True)
class MLPSettings(FilterNetSettings):
    """Those of `FilterNet`; Table 3's row has an ELU (`activation`)."""


@method("mlp", title="MLP")
class MLP(FilterNet[MLPSettings]):
    """Z = W_2 δ(σ(W_1 δ(X) + b_1)) + b_2, σ the ReLU: no graph at all."""


@dataclass(frozen=True)
class DegreeSettings(FilterNetSettings):
    """Those of `FilterNet` and a degree."""

    K: int = setting(10, "the degree", most=1000)


@dataclass(frozen=True)
class AlphaSettings(DegreeSettings):
    """Those of `FilterNet`, a degree and α."""

    alpha: float = setting(0.1, "how fast what the filter begins with falls off", varies=True)


@dataclass(frozen=True)
class APPNPSettings(AlphaSettings):
    alpha: float = setting(0.1, "the share of Θ(X) in every step")


@method("appnp", title="APPNP")
class APPNP(FilterNet[APPNPSettings]):
    """Z = ((1−α) S)^K Θ(X) + α Σ_{k<K} ((1−α) S)^k Θ(X): personalised PageRank, nothing of it learned.

    Gasteiger et al., ICLR 2019.
    """

    filter = PPRConv


@dataclass(frozen=True)
class GPRGNNSettings(AlphaSettings):
    """alpha and start are how θ begins, see `GPRConv`."""

    basis: FilterBasis = setting("plain", BASIS)
    start: Start = setting("ppr", "how θ begins", varies=True)
    directed: bool = setting(False, "whether a page hears from the pages it links to")


@method("gprgnn", title="GPRGNN")
class GPRGNN(FilterNet[GPRGNNSettings]):
    """Z = Σ_{k=0..K} θ_k S^k Θ(X), every θ_k learned (Chien et al., ICLR 2021)."""

    filter = GPRConv


@dataclass(frozen=True)
class EvenNetSettings(AlphaSettings):
    """alpha is how θ begins, see `EvenConv`."""

    basis: FilterBasis = setting("plain", BASIS)


@method("evennet", title="EvenNet")
class EvenNet(FilterNet[EvenNetSettings]):
    """Z = Σ_{k=0..⌊K/2⌋} θ_k S^{2k} Θ(X), every θ_k learned (Lei et al., NeurIPS 2022)."""

    filter = EvenConv


@dataclass(frozen=True)
class BernNetSettings(DegreeSettings):
    basis: FilterBasis = setting("plain", BASIS)


@method("bernnet", title="BernNet")
class BernNet(FilterNet[BernNetSettings]):
    """Z = Σ_{k=0..K} relu(θ_k) C(K,k)/2^K (2I−L)^{K−k} L^k Θ(X) (He et al., NeurIPS 2021)."""

    filter = BernConv


@dataclass(frozen=True)
class ChebNetIISettings(DegreeSettings):
    basis: FilterBasis = setting("plain", BASIS)


@method("chebnetii", title="ChebNetII")
class ChebNetII(FilterNet[ChebNetIISettings]):
    """Z = h(L) Θ(X), h through the learned relu(θ_j) at Chebyshev's nodes (He, Wei & Wen, NeurIPS 2022)."""

    filter = Cheb2Conv


@dataclass(frozen=True)
class JacobiConvSettings(FilterNetSettings):
    """K, a, b, alpha, basis, sign, frozen: see `JacobiConv`.

    With `hidden`, two layers with a ReLU between them stand before the filter.
    """

    hidden: int | None = None
    drop_hidden: float = 0.0
    drop_prop: float = 0.5
    K: int = setting(10, most=1000)
    a: float = 1.0
    b: float = 1.0
    alpha: float = setting(1.0, positive=True, varies=True)
    basis: BasisName = "jacobi"
    sign: Sign = "published"
    frozen: bool = False

    @property
    def groups(self) -> tuple[str, ...]:
        learned = damping_is_learned(self.basis, self.frozen)
        return tuple(each for each in super().groups if learned or each != "alpha")


@method("jacobiconv", title="JacobiConv")
class JacobiNet(FilterNet[JacobiConvSettings]):
    """Z_{:,c} = Σ_{k=0..K} θ_{c,k} (Π_{l<k} γ_l) P_k(S) (δ(X) W + b)_{:,c}: linear but for the dropout.

    Wang & Zhang, ICML 2022, with the other bases that it was compared with.
    """

    filter = JacobiConv
