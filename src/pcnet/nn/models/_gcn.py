"""GCN (Kipf & Welling, ICLR 2017) and GraphSAGE (Hamilton et al., NeurIPS 2017), of any depth."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from pcnet.graph import Operator, SelfLoops
from pcnet.nn._edges import row_means
from pcnet.nn.models._layered_net import DIRECTED
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import setting
from pcnet.nn.models._stacked_net import StackedNet, StackedNetSettings
from pcnet.propagate import apply_matrix, apply_operator


@dataclass(frozen=True)
class GCNSettings(StackedNetSettings):
    directed: bool = setting(False, DIRECTED)


@method("gcn", title="GCN")
class GCN(StackedNet[GCNSettings]):
    """g(H) = S H, S = (D+I)^-½ (A+I) (D+I)^-½; as published, Z = S δ(relu(S X W_1 + b_1)) W_2 + b_2.

    The features are not dropped.
    """

    self_loops: SelfLoops = "fill"

    def passed(self, layer: int, h: Tensor, operator: Operator) -> Tensor:
        return apply_operator(operator, h)


@dataclass(frozen=True)
class SAGESettings(StackedNetSettings):
    residual: bool = setting(True, "whether a node hears itself: a linear map of what goes into a layer is added")


@method("sage", title="GraphSAGE")
class SAGE(StackedNet[SAGESettings]):
    """g(H) = D^-1 A H, the mean over neighbours; what a node says itself is the residual H V_l, there by default."""

    eta: float = 0.0
    self_loops: SelfLoops = "remove"

    def passed(self, layer: int, h: Tensor, operator: Operator) -> Tensor:
        return apply_matrix(row_means(operator), h)
