"""PCNet: features to classes, then PC-Conv."""

from __future__ import annotations

from dataclasses import dataclass

from pcnet.nn._perceptron import Activation
from pcnet.nn.conv import PCConv
from pcnet.nn.models._filter_net import FilterNet, FilterNetSettings
from pcnet.nn.models._methods import method
from pcnet.nn.models._model import setting
from pcnet.polynomial import Mode, filter_warnings


@dataclass(frozen=True)
class PCNetSettings(FilterNetSettings):
    """The settings of `PCNet`; K, N, t, p, eta, identity, mode and init are the arguments of `PCConv`.

    The defaults did well on validation nodes of graphs of all kinds (Cora, CiteSeer, Texas, Wisconsin, Actor, Reed98,
    synthetic ones): N above K so that θ is identifiable, a small θ to begin with, some dropout.

    >>> PCNetSettings(K=3, t=0.4).build(in_channels=10, out_channels=2, seed=0).conv
    PCConv(K=3, N=6, t=0.4, p=2, eta=0.5, identity=True, mode='truncated')
    """

    activation: Activation = None
    drop_in: float = 0.3
    K: int = setting(4, least=1, varies=True)
    N: int = setting(6, varies=True)
    t: float = setting(0.5, varies=True)
    p: float = setting(2.0, varies=True)
    eta: float = 0.5
    identity: bool = setting(True, varies=True)
    mode: Mode = "truncated"
    init: float = setting(0.2, varies=True)

    def remarks(self) -> list[str]:
        return filter_warnings(self.K, self.N, self.t, self.p, self.identity, self.mode)


@method("pcnet", title="PCNet")
class PCNet(FilterNet[PCNetSettings]):
    """Z = PCConv(δ(Θ(X))): the logits of every node; softmax and loss are the caller's.

    Θ is two linear layers with dropout before each, without a ReLU between them in the published model
    (`activation="relu"` puts it there), or with `hidden=None` a single linear layer (PCNet-Lin).

    Args:
        in_channels, hidden, out_channels: numbers of features, hidden units (or None) and classes.
        settings: the other fields of `PCNetSettings`, as keywords.

    >>> import torch
    >>> model = PCNet(3, 8, 2, K=4, t=0.5)
    >>> model(torch.ones(4, 3), torch.tensor([[0, 1], [1, 0]])).shape
    torch.Size([4, 2])
    """

    filter = PCConv
    conv: PCConv
