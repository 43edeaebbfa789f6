"""How much memory a contest may take, and which settings that is too little for."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from pcnet._machine import free_bytes
from pcnet.graph import CSR, Graph
from pcnet.nn import ModelSettings

#: Bytes that runs may take together, and the share of the free memory that they may take where that is less.
MOST, SHARE = 6e9, 0.6


@dataclass(frozen=True)
class Room:
    """The bytes that the runs of a training may take together, and on which graph; `workers` train at a time.

    >>> from pcnet import PCNetSettings, csbm
    >>> room = Room(csbm(1000, 0.5, seed=0), limit=1e6, workers=2)
    >>> room.fits(PCNetSettings(hidden=2), folds=1), room.fits(PCNetSettings(hidden=64), folds=5)
    (True, False)
    """

    graph: Graph
    limit: float
    workers: int
    _known: dict[ModelSettings, float] = field(default_factory=dict, init=False, repr=False, compare=False)

    @staticmethod
    def on(graph: Graph, workers: int, device: torch.device | str = "cpu") -> Room:
        """What there is now; on a GPU, a share of all that is free."""
        share = SHARE * free_bytes(device)
        return Room(graph, min(MOST, share) if torch.device(device).type == "cpu" else share, workers)

    def bytes_of(self, model: ModelSettings) -> float:
        """What training a run takes, from above: 4 bytes for each number that is kept of nodes, entries and weights."""
        if model not in self._known:
            graph, classes = self.graph, self.graph.num_classes
            kept, made = model.memory(classes), model.for_graph(graph).build(graph.num_features, classes)
            # Of a weight: its best value, its gradient and two moments; dense features are masked for each run.
            weights = 5 * sum(each.numel() for each in made.parameters())
            features = 0 if isinstance(graph.x, CSR) else 3 * graph.num_features
            entries = graph.num_nodes + graph.edge_index.shape[1]
            numbers = weights + graph.num_nodes * (kept.nodes + features) + entries * kept.edges
            self._known[model] = 4.0 * numbers
        return self._known[model]

    def fits(self, model: ModelSettings, folds: int) -> bool:
        """Whether a trial can be trained: all folds side by side, or, where a method cannot, one for each worker."""
        return (folds if model.side_by_side else min(folds, self.workers)) * self.bytes_of(model) <= self.limit
