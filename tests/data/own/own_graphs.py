"""What tests of graphs from tables share."""

from __future__ import annotations

from pathlib import Path

import torch

from pcnet.graph import CSR, Graph

PEOPLE = Path(__file__).parents[3] / "examples" / "people"


def dense(graph: Graph) -> torch.Tensor:
    return graph.x.to_dense() if isinstance(graph.x, CSR) else graph.x


def same(one: Graph, other: Graph) -> None:
    """Edges, labels and features are the same to the bit."""
    assert torch.equal(one.edge_index, other.edge_index)
    assert torch.equal(one.y, other.y)
    assert type(one.x) is type(other.x)
    parts = [(g.x.crow, g.x.col, g.x.values) if isinstance(g.x, CSR) else (g.x,) for g in (one, other)]
    for here, there in zip(*parts, strict=True):
        assert here.dtype == there.dtype
        assert torch.equal(here, there)
    assert one.num_features == other.num_features
