"""What every method's settings say, so that one trainer trains them all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from pcnet.graph import CSR, Graph, Operator, Preparing, SelfLoops, cached_operator
from pcnet.nn._dropout import DeviceDraws, Draws
from pcnet.nn._graph_module import GraphModule


class Model(GraphModule, ABC):
    """Features and edges in, logits out: (n, classes), or (R, n, classes) for a stack of runs."""

    #: Beginnings of the names of parameters whose initial values follow from the seed and the widths alone; the
    #: others follow from the settings alone.
    seeded: ClassVar[tuple[str, ...]] = ("",)

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        #: Where dropout takes its bits from; None lets `torch.manual_seed` govern them.
        self.draws: Draws | DeviceDraws | None = None

    @abstractmethod
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Fresh weights; of a single run."""

    @abstractmethod
    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """Parameters by the names under which learning rates and decays are given."""

    @abstractmethod
    def forward(self, x: Tensor | CSR, edge_index: Tensor | Operator, edge_weight: Tensor | None = None) -> Tensor:
        """The logits of every node; softmax and loss are the caller's."""

    def penalty(self) -> Tensor | None:
        """What is added to the loss, summed over the runs; None where nothing is."""
        return None


@dataclass(frozen=True)
class ModelSettings(ABC):
    """What defines a model apart from its weights."""

    #: The name by which commands and files know the method.
    method: ClassVar[str]
    #: Whether runs side by side give the same bits on the CPU as one by one; where not, they are trained one by one.
    side_by_side: ClassVar[bool] = True
    self_loops: ClassVar[SelfLoops] = "add"

    @property
    @abstractmethod
    def groups(self) -> tuple[str, ...]:
        """Parameter groups that take a learning rate and a decay of their own."""

    @property
    @abstractmethod
    def batch_key(self) -> Hashable:
        """Runs whose keys agree can be trained side by side."""

    @abstractmethod
    def make(self, in_channels: int, out_channels: int) -> Model:
        """A model with some weights."""

    @abstractmethod
    def node_floats(self, classes: int) -> int:
        """Numbers that training a run keeps for each node, from above."""

    def edge_floats(self, classes: int) -> int:
        """Numbers that training a run keeps for each entry of its operator, from above."""
        return 0

    @abstractmethod
    def widest(self, classes: int) -> int:
        """Columns of the widest block that a run propagates or multiplies."""

    def for_graph(self, graph: Graph, tell: Preparing | None = None) -> ModelSettings:
        """These settings for a graph, where a model's weights depend on more of it than features and classes.

        `tell` is told how much of how much is done, where that takes long.
        """
        return self

    def remarks(self) -> list[str]:
        """What is unusual about these settings, in sentences."""
        return []

    def build(self, in_channels: int, out_channels: int, seed: int | None = None) -> Model:
        """A model with fresh weights, the same ones for the same seed."""
        model = self.make(in_channels, out_channels)
        if seed is not None:
            model.reset_parameters(torch.Generator().manual_seed(seed))
        return model

    def operator(self, graph: Graph, *, device: torch.device | str = "cpu") -> Operator:
        """The operator that this model computes with; built once for a graph, whoever asks.

        With a true `directed` among the settings, edges count in the one direction in which they were listed: a page
        hears from the pages it links to, and what it links to is its degree.
        """
        directed = getattr(self, "directed", False)
        edge_index, edge_weight = graph.one_way_edges if directed else (graph.edge_index, graph.edge_weight)
        return cached_operator(
            edge_index,
            graph.num_nodes,
            edge_weight,
            eta=getattr(self, "eta", 0.5),
            self_loops=self.self_loops,
            direction="out" if directed else "symmetrise",
            dtype=torch.float32,
        ).to(device)
