"""How much memory a contest may take, and which settings that is too little for."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from pcnet._machine import free_bytes
from pcnet.graph import Graph
from pcnet.nn import ModelSettings
from pcnet.training import bytes_of_run

#: Bytes that runs may take together, and the share of the free memory that they may take where that is less.
MOST, SHARE = 6e9, 0.6


@dataclass(frozen=True)
class Room:
    """The bytes that `workers` runs, each trained by one, may take together, and on which graph.

    >>> from pcnet import PCNetSettings, csbm
    >>> room = Room(csbm(1000, 0.5, seed=0), limit=1e7, workers=2)
    >>> room.fits(PCNetSettings(hidden=64)), room.fits(PCNetSettings(hidden=64, layers=8))
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
        """What training a run takes, from above."""
        if model not in self._known:
            self._known[model] = bytes_of_run(self.graph, model, self.graph.num_classes, epochs=0)
        return self._known[model]

    def fits(self, model: ModelSettings) -> bool:
        """Whether every worker can train a run of it."""
        return self.workers * self.bytes_of(model) <= self.limit
