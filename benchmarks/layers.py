"""`python -m benchmarks.layers`: ten runs of GCN, GraphSAGE, GAT and GCNII (8 layers) beside PyG's own layers.

PyG trains one run at a time, as its examples do: an epoch is a step of Adam and one forward without gradients. The
networks have the same widths, depths and rates of dropout.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import torch
import torch_geometric.nn as pyg
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout, elu, relu

from benchmarks.command import Command, console, keep, quiet, show, start
from benchmarks.timing import Others, Spread, complaint, fastest, per_call, take_turns
from benchmarks.training import endless_runs, time_library
from pcnet.data import load_dataset, make_split
from pcnet.experiment import method_file, override, resolve
from pcnet.graph import CSR, Graph
from pcnet.nn import ModelSettings
from pcnet.show import Table
from pcnet.training import available_threads

#: Settings beside those of each method's file.
METHODS: dict[str, list[str]] = {"gcn": [], "sage": ["norm=none"], "gat": [], "gcnii": ["layers=8"]}
DATASETS = ("cora", "pubmed")
#: What the library sets out to do, on the CPU and on a GPU.
TARGETS = {"cpu": 10, "cuda": 100}


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    quiet()
    others, rows = Others(), []
    for name in options.datasets:
        graph = load_dataset(name, options.data)
        rows += [measured(graph, method, options) for method in METHODS]
    busy = others.cores()
    show(console(), table(rows, TARGETS[options.device], complaint(busy)))
    keep(options, {"rounds": options.rounds, "other_processes": busy, "rows": rows})


def measured(graph: Graph, method: str, options: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds per run and epoch of both, round by round."""
    [model] = override([method_file(method).defaults.model], METHODS[method])
    experiment = replace(resolve(graph, method, protocol="random-60-20-20", runs=10), model=model)
    training = PlainTraining(graph, experiment.model, experiment.protocol, options.device)
    runs, seconds = endless_runs(graph, experiment), options.seconds
    cores = sorted({1, available_threads()}) if options.device == "cpu" else [1]
    ways = {f"PyG {number}": partial(per_call, training.epoch, seconds, number, options.device) for number in cores}
    ways["pcnet"] = partial(time_library, graph, runs, None, seconds, options.device)
    taken = take_turns(ways, options.rounds)
    threads, theirs = fastest({number: taken[f"PyG {number}"] for number in cores})
    return {
        "dataset": graph.name,
        "method": method,
        "settings": asdict(experiment.model),
        "pyg_ms": asdict(Spread.of(theirs)),
        "pyg_threads": threads,
        "pcnet_ms": asdict(Spread.of(taken["pcnet"])),
        "ratio": asdict(Spread.of_ratio(theirs, taken["pcnet"])),
    }


class PlainTraining:
    """One run of PyG's layers."""

    def __init__(self, graph: Graph, settings: ModelSettings, protocol: str, device: str) -> None:
        split = make_split(graph, protocol, 0)
        self.x = (graph.x.to_dense() if isinstance(graph.x, CSR) else graph.x).to(device)
        self.edges, self.labels = graph.edge_index.to(device), split.labels.to(device)
        self.train, self.val = split.train.to(device), split.val.to(device)
        torch.manual_seed(0)
        self.model = PlainNet(settings, graph.num_features, int(split.labels.max()) + 1).to(device)
        self.adam = torch.optim.Adam(self.model.parameters(), lr=0.01, weight_decay=5e-4)

    def epoch(self) -> float:
        self.model.train()
        self.adam.zero_grad()
        cross_entropy(self.model(self.x, self.edges)[self.train], self.labels[self.train]).backward()
        self.adam.step()
        self.model.eval()
        with torch.no_grad():
            predicted = self.model(self.x, self.edges)[self.val].argmax(1)
        return float((predicted == self.labels[self.val]).float().mean())


class PlainNet(nn.Module):
    """The same network of the parts of PyG and torch alone."""

    def __init__(self, s: Any, features: int, classes: int) -> None:
        super().__init__()
        self.rate, self.kind = s.dropout, s.method
        if self.kind == "gcnii":
            self.ends = nn.ModuleList([nn.Linear(features, s.hidden), nn.Linear(s.hidden, classes)])
            how = {"alpha": s.alpha, "theta": s.lam, "shared_weights": True}
            convs = [pyg.GCN2Conv(s.hidden, layer=layer, **how) for layer in range(1, s.layers + 1)]
        elif self.kind == "gat":
            widths = [features, *[s.heads * s.hidden] * (s.layers - 1)]
            convs = [pyg.GATConv(width, s.hidden, s.heads, dropout=s.drop_attention) for width in widths[:-1]]
            convs.append(pyg.GATConv(widths[-1], classes, s.out_heads, concat=False, dropout=s.drop_attention))
        else:
            layer = {"gcn": pyg.GCNConv, "sage": pyg.SAGEConv}[self.kind]
            widths = [features, *[s.hidden] * (s.layers - 1), classes]
            convs = [layer(*pair) for pair in itertools.pairwise(widths)]
        self.convs = nn.ModuleList(convs)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        if self.kind == "gcnii":
            x = origin = self.ends[0](self._drop(x)).relu()
            for conv in self.convs:
                x = conv(self._drop(x), origin, edges).relu()
            return self.ends[1](self._drop(x))
        *hidden, last = self.convs
        x = self._drop(x) if self.kind == "gat" else x
        for conv in hidden:
            x = self._drop((elu if self.kind == "gat" else relu)(conv(x, edges)))
        return last(x, edges)

    def _drop(self, x: Tensor) -> Tensor:
        return dropout(x, self.rate, self.training)


def table(rows: Sequence[dict[str, Any]], target: int, note: str) -> Table:
    def cells(row: dict[str, Any]) -> list[str]:
        return [row["dataset"], row["method"], *(str(Spread(**row[each])) for each in ("pyg_ms", "pcnet_ms", "ratio"))]

    columns = ("dataset", "method", "PyG, ms", "pcnet, ms", "times faster")
    notes = (f"Milliseconds per run and epoch, medians (lowest–highest); {target} times faster is the goal.", note)
    return Table("Ten runs beside PyG's own layers", columns, [cells(row) for row in rows], tuple(filter(None, notes)))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Command("layers", __doc__)
    parser.add_argument("--datasets", nargs="+", metavar="NAME", default=DATASETS)
    parser.add_argument("--data", metavar="DIR", help="folder of raw datasets; default: PCNET_DATA")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement; default: 2")
    parser.add_argument("--device", default="cpu", choices=list(TARGETS))
    parser.add_json()
    return parser.options(arguments)


if __name__ == "__main__":
    start(main)
