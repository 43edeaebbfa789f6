"""PCNet: features to classes, then PC-Conv."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

from pcnet.nn._perceptron import Activation
from pcnet.nn.conv import PCConv
from pcnet.nn.models._filter_net import FilterNet, FilterNetSettings
from pcnet.polynomial import Mode, filter_warnings


class PCNet(FilterNet):
    """Z = PCConv(δ(Θ(X))): the logits of every node; softmax and loss are the caller's.

    Θ is two linear layers with dropout before each, without a ReLU between them in the published model
    (`activation="relu"` puts it there), or with `hidden_channels=None` a single linear layer (PCNet-Lin).

    Args:
        in_channels, hidden_channels, out_channels, transform: see `FilterNet`.
        K, N, t, p, eta, identity, mode, init: see `PCConv`.
    """

    conv: PCConv

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int | None,
        out_channels: int,
        *,
        K: int = 4,
        N: int = 4,
        t: float = 0.5,
        p: float = 2.0,
        eta: float = 0.5,
        identity: bool = True,
        mode: Mode = "truncated",
        init: float = 1.0,
        **transform: Any,
    ) -> None:
        conv = PCConv(K, N, t, p, eta, identity=identity, mode=mode, init=init)
        super().__init__(in_channels, hidden_channels, out_channels, conv, **transform)


@dataclass(frozen=True)
class PCNetSettings(FilterNetSettings):
    """The arguments of `PCNet` under the same names.

    The defaults did well on validation nodes of graphs of all kinds (Cora, CiteSeer, Texas, Wisconsin, Actor, Reed98,
    synthetic ones): N above K so that θ is identifiable, a small θ to begin with, some dropout.
    """

    method: ClassVar[str] = "pcnet"

    activation: Activation = None
    drop_in: float = 0.3
    K: int = 4
    N: int = 6
    t: float = 0.5
    p: float = 2.0
    eta: float = 0.5
    identity: bool = True
    mode: Mode = "truncated"
    init: float = 0.2

    def conv(self, classes: int) -> PCConv:
        return PCConv(self.K, self.N, self.t, self.p, self.eta, self.identity, self.mode, self.init)

    @property
    def filter_key(self) -> tuple[Hashable, ...]:
        return self.eta, self.mode

    def remarks(self) -> list[str]:
        return filter_warnings(self.K, self.N, self.t, self.p, self.identity, self.mode)

    def make(self, in_channels: int, out_channels: int) -> PCNet:
        arguments = {name: value for name, value in vars(self).items() if name != "hidden"}
        return PCNet(in_channels, self.hidden, out_channels, **arguments)
