"""A method of one's own: nodes and the mean of their neighbours, in two linear layers.

pcnet compare GRAPH --plugin examples/my_method.py --methods mine,gcn,pcnet
python examples/my_method.py
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

import pcnet


@pcnet.method("mine", title="Mine")
class Mine(nn.Module):
    """z_i = W_2 [h_i ‖ mean_j h_j] + b_2, h = δ(relu(W_1 x + b_1)); every setting has a default."""

    def __init__(self, in_channels: int, out_channels: int, hidden: int = 32, dropout: float = 0.5) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(in_channels, hidden), nn.Linear(2 * hidden, out_channels)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        source, target = edge_index
        h = self.dropout(self.first(x).relu())
        sums = torch.zeros_like(h).index_add(0, target, h[source])
        degree = torch.zeros(len(h)).to(h).index_add(0, target, torch.ones(len(target)).to(h))
        return self.second(torch.cat([h, sums / degree.clamp(min=1).unsqueeze(1)], dim=1))


if __name__ == "__main__":
    graph = pcnet.csbm(300, phi=0.6, classes=3, features=40, seed=0)
    for method in ("mine", "gcn"):
        classifier = pcnet.NodeClassifier(method, runs=3).fit(graph, train_mask=range(200))
        print(f"{method}: {classifier.score(nodes=range(200, 300)):.0%} of the other nodes")
