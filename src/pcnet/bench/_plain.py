"""PCNet in the scheme of its authors, written plainly: what the library is measured against.

The arithmetic is that of `pcnet.PCNet` (a test says so); the way there is that of the published code as its
descriptions have it: messages gathered and scattered edge by edge, everything about the graph and the filter
computed again in every forward, dense features, one run at a time.
"""

from __future__ import annotations

from math import factorial

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, log_softmax, nll_loss
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import add_self_loops, degree

from pcnet.data import Split
from pcnet.experiments import Experiment
from pcnet.graph import CSR, Graph
from pcnet.nn import PCNetSettings


def charlier(n: int, gamma: int, t: float) -> float:
    """C_n = (γ−n−t+1) C_{n−1} − (n−1) t C_{n−2}, C_0 = 1, C_1 = γ−t: as defined, about φⁿ calls."""
    if n == 0:
        return 1.0
    if n == 1:
        return gamma - t
    return (gamma - n - t + 1) * charlier(n - 1, gamma, t) - (n - 1) * t * charlier(n - 2, gamma, t)


class PlainConv(MessagePassing):
    """Z = θ_0 X + Σ_{k=1..K} θ_k Σ_{n=0..N} C_n(k,t)/n! (Ã − (p−1)I)^n X, term by term.

    Each forward adds the self loops, counts the degrees, weighs the edges, computes N+1 powers of which the
    last is not used, stores them all, and adds up K·(N+1) scaled terms.
    """

    def __init__(self, settings: PCNetSettings) -> None:
        super().__init__(aggr="add")
        self.settings = settings
        self.theta = nn.Parameter(torch.full((settings.K + 1,), settings.init))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        K, N, t, p = self.settings.K, self.settings.N, self.settings.t, self.settings.p
        edge_index, weight = normalised(edge_index, x, self.settings.eta)
        powers = [x]
        for _ in range(N + 1):
            powers.append(self.propagate(edge_index, x=powers[-1], weight=weight) - (p - 1) * powers[-1])
        z = self.theta[0] * x
        for k in range(1, K + 1):
            filtered = charlier(0, k, t) * powers[0]
            for n in range(1, N + 1):
                filtered = filtered + charlier(n, k, t) / factorial(n) * powers[n]
            z = z + self.theta[k] * filtered
        return z

    def message(self, x_j: Tensor, weight: Tensor) -> Tensor:
        return weight.view(-1, 1) * x_j


def normalised(edge_index: Tensor, x: Tensor, eta: float) -> tuple[Tensor, Tensor]:
    """The entries of Ã = (D+I)^-η (A+I) (D+I)^-η as a list of edges and their weights."""
    edge_index, _ = add_self_loops(edge_index, num_nodes=x.size(0))
    source, target = edge_index
    scale = degree(target, x.size(0), x.dtype).pow(-eta)
    return edge_index, scale[source] * scale[target]


class PlainPCNet(nn.Module):
    """log softmax(PlainConv(δ(W_2 δ(W_1 δ(X) + b_1) + b_2))), δ dropout."""

    def __init__(self, in_channels: int, out_channels: int, settings: PCNetSettings) -> None:
        super().__init__()
        s = settings
        if s.hidden is None or not s.identity or s.activation or s.mode != "truncated":
            raise ValueError("The plain scheme is the published model: two linear layers and a truncated filter.")
        self.first = nn.Linear(in_channels, s.hidden)
        self.second = nn.Linear(s.hidden, out_channels)
        self.conv = PlainConv(s)
        self.rates = (s.drop_in, s.drop_hidden, s.drop_prop)

    def logits(self, x: Tensor, edge_index: Tensor) -> Tensor:
        drop_in, drop_hidden, drop_prop = self.rates
        h = self.first(dropout(x, drop_in, self.training))
        h = self.second(dropout(h, drop_hidden, self.training))
        return self.conv(dropout(h, drop_prop, self.training), edge_index)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return log_softmax(self.logits(x, edge_index), dim=1)


class PlainTraining:
    """One run. An epoch is one step of Adam and an evaluation of four forwards, five forwards in all.

    The evaluation is that of the GPRGNN family of scripts: one forward for the accuracies, then another for
    the loss on each of the three sets. The model is in evaluation mode, but autograd records all four.
    """

    def __init__(self, graph: Graph, split: Split, experiment: Experiment, seed: int, device: str = "cpu") -> None:
        torch.manual_seed(seed)
        rates = experiment.training
        self.x = (graph.x.to_dense() if isinstance(graph.x, CSR) else graph.x).to(device)
        self.edge_index, self.y = graph.edge_index.to(device), split.labels.to(device)
        self.masks = {part: self._mask(getattr(split, part)) for part in ("train", "val", "test")}
        assert isinstance(experiment.model, PCNetSettings)
        self.model = PlainPCNet(graph.num_features, int(self.y.max()) + 1, experiment.model).to(device)
        parts: dict[str, nn.Module] = {"first": self.model.first, "theta": self.model.conv, "second": self.model.second}
        self.optimizer = torch.optim.Adam(
            [
                {"params": part.parameters(), "lr": rates.lr[name], "weight_decay": rates.wd[name]}
                for name, part in parts.items()
            ]
        )
        self.best_loss, self.best_test = float("inf"), 0.0

    def _mask(self, nodes: Tensor) -> Tensor:
        mask = torch.zeros(len(self.y), dtype=torch.bool, device=self.y.device)
        mask[nodes] = True
        return mask

    def epoch(self) -> None:
        self.step()
        accuracies, losses = self.evaluate()
        if losses["val"] < self.best_loss:
            self.best_loss, self.best_test = losses["val"], accuracies["test"]

    def step(self) -> None:
        self.model.train()
        self.optimizer.zero_grad()
        mask = self.masks["train"]
        nll_loss(self.model(self.x, self.edge_index)[mask], self.y[mask]).backward()
        self.optimizer.step()

    def evaluate(self) -> tuple[dict[str, float], dict[str, float]]:
        """Accuracy and loss on each of the three sets."""
        self.model.eval()
        predicted = self.model(self.x, self.edge_index).argmax(dim=1)
        accuracies, losses = {}, {}
        for part, mask in self.masks.items():
            accuracies[part] = (predicted[mask] == self.y[mask]).float().mean().item()
            losses[part] = nll_loss(self.model(self.x, self.edge_index)[mask], self.y[mask]).item()
        return accuracies, losses
