"""`python -m benchmarks.auto`: what `auto` makes of a few minutes, held against what one could have done instead.

Of every labelled graph at hand, and of generated ones: one stratified split. `auto` knows its training and validation
nodes, and so do the defaults of each method, and a deep residual GCN and GraphSAGE in plain PyG with settings of Luo et
al. (NeurIPS 2024); all are scored on its test nodes. What is measured is kept as it comes: the same command goes on
where it was interrupted, and a graph that --graphs names is measured anew. A file is about one number of minutes.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch_geometric.nn as pyg
from torch import Tensor, nn

from benchmarks.command import Command, commit, page, start, with_origin
from benchmarks.graphs import generated_graphs, labelled_graphs
from benchmarks.timing import torch_threads
from pcnet import PcnetError, PcnetWarning, Split
from pcnet._files import read_json, write_json, write_text
from pcnet.compare import METRICS, logits_of
from pcnet.data import STRATIFIED
from pcnet.experiment import provenance, resolve, run_experiment
from pcnet.graph import CSR, Graph
from pcnet.show import Cell, Table
from pcnet.tune import auto

DEFAULTS = ("pcnet", "mlp", "gcn", "sage", "gat", "acmgcn", "linkx")
#: Layers, width, dropout and learning rate of the networks in plain PyG, and their epochs.
LAYERS, HIDDEN, DROPOUT, RATE, EPOCHS, PATIENCE = 8, 128, 0.3, 0.005, 600, 150
#: As good as another one: no more than this behind it, in points.
MARGIN = 0.3


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    file = options.out / "auto.json"
    rows = {row["graph"]: row for row in kept_rows(file, options.minutes)}
    for name, read in all_graphs():
        if name not in options.graphs if options.graphs else name in rows:
            continue
        graph = read()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PcnetWarning)
            rows[name] = row = measured(name, graph, options)
        others = ", ".join(f"{way} {score:.2f}" for way, score in row["others"].items())
        print(f"{name}: auto {row['auto']:.2f} {row['interval']}; {others}", flush=True)
        write_json(file, with_origin(options, {"minutes": options.minutes, "rows": list(rows.values())}))
    report = with_origin(options, {"minutes": options.minutes, "rows": list(rows.values())})
    write_text(options.out / "auto.md", page(report, table(report)))


def kept_rows(file: Path, minutes: float) -> list[dict[str, Any]]:
    """What was measured before, with as many minutes."""
    if not file.exists():
        return []
    report = read_json(file)
    if report["rows"] and report["minutes"] != minutes:
        raise PcnetError(
            f"{file} is about {report['minutes']:g} minutes, not {minutes:g}; give as many with --minutes, or another "
            "folder with --out."
        )
    return list(report["rows"])


def all_graphs() -> Iterator[tuple[str, Callable[[], Graph]]]:
    """Those at hand as somebody would bring them, and generated ones."""
    yield from labelled_graphs()
    yield from generated_graphs().items()


def measured(name: str, graph: Graph, options: argparse.Namespace) -> dict[str, Any]:
    """The test scores of all ways, by the metric that `auto` takes for the graph."""
    experiment = resolve(graph, protocol=STRATIFIED, runs=1)
    metric, how = experiment.scored_by, {"threads": options.threads, "device": options.device}
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        found = auto(graph, experiment, Path(folder), minutes=options.minutes, **how)
        seconds = time.perf_counter() - begin
    split, [chosen] = found.result.splits[0], found.contests
    labels = split.labels[split.test]
    others = {"best single by validation": metric.score(logits_of(chosen.held_of_best), labels)}
    for method in options.methods:
        own = resolve(graph, method, protocol=STRATIFIED, metric=metric.name, runs=1)
        try:
            outcome = run_experiment(graph, own, **how).outcomes[0]
        except PcnetError as error:
            print(f"{name} {method}: {error}")
            continue
        others[f"{method}, its defaults"] = metric.score(outcome.logits[split.test], labels)
    for kind in (pyg.GCNConv, pyg.SAGEConv):
        with torch_threads(options.threads or torch.get_num_threads()):
            logits = trained_plainly(kind, graph, split, metric.name, options.device)
        others[f"{kind.__name__} of PyG, residual"] = metric.score(logits[split.test], labels)
    headline = found.result.headline
    return {
        "graph": name,
        "minutes": options.minutes,
        "threads": options.threads,
        "commit": commit(),
        "date": provenance()["date"],
        "nodes": graph.num_nodes,
        "metric": metric.name,
        "auto": metric.score(logits_of(chosen.held), labels),
        "interval": [round(end, 2) for end in headline.ci95],
        "ensemble": {each.title: each.weight for each in chosen.members},
        "trials": chosen.trials,
        "runs": chosen.runs,
        "seconds": seconds,
        "others": others,
    }


class Plain(nn.Module):
    """h ← dropout(relu(norm(conv(h) + V h))), eight times, and a linear layer, of the parts of PyG and torch alone."""

    def __init__(self, kind: Any, features: int, classes: int) -> None:
        super().__init__()
        widths = [features, *[HIDDEN] * LAYERS]
        self.convs = nn.ModuleList([kind(a, b) for a, b in itertools.pairwise(widths)])
        self.skips = nn.ModuleList([nn.Linear(a, b) for a, b in itertools.pairwise(widths)])
        self.norms = nn.ModuleList([nn.BatchNorm1d(HIDDEN) for _ in range(LAYERS)])
        self.last = nn.Linear(HIDDEN, classes)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        for conv, skip, norm in zip(self.convs, self.skips, self.norms, strict=True):
            x = nn.functional.dropout(norm(conv(x, edges) + skip(x)).relu(), DROPOUT, self.training)
        return self.last(x)


def trained_plainly(kind: Any, graph: Graph, split: Split, metric: str, device: str) -> Tensor:
    """Logits at the epoch with the best validation score, of a network trained by torch alone."""
    torch.manual_seed(0)
    x = (graph.x.to_dense() if isinstance(graph.x, CSR) else graph.x).float().to(device)
    edges, labels = graph.edge_index.to(device), split.labels.to(device)
    model = Plain(kind, x.shape[1], int(split.labels.max()) + 1).to(device)
    adam = torch.optim.Adam(model.parameters(), lr=RATE, weight_decay=5e-4)
    own, best, kept, waited = METRICS[metric], -torch.inf, None, 0
    for _ in range(EPOCHS):
        model.train()
        adam.zero_grad()
        nn.functional.cross_entropy(model(x, edges)[split.train], labels[split.train]).backward()
        adam.step()
        model.eval()
        with torch.no_grad():
            logits = model(x, edges).cpu()
        gain = own.sign * own.share(logits[split.val], split.labels[split.val])
        waited = 0 if gain > best else waited + 1
        if gain > best or kept is None:
            best, kept = gain, logits
        if waited > PATIENCE:
            break
    assert kept is not None
    return kept


def table(report: Mapping[str, Any]) -> Table:
    """A row for each graph, and how often `auto` is as good as all others."""
    rows, ways = report["rows"], dict.fromkeys(way for row in report["rows"] for way in row["others"])
    good = [row for row in rows if all(as_good(row, score) for score in row["others"].values())]
    gains = [
        _ahead(row, row["others"]["pcnet, its defaults"]) for row in rows if "pcnet, its defaults" in row["others"]
    ]
    cells = [
        [
            f"{row['graph']} ({row['nodes']:,})",
            row["metric"],
            Cell(f"{row['auto']:.2f}", "strong"),
            f"[{row['interval'][0]:.2f}, {row['interval'][1]:.2f}]",
            *(f"{row['others'][way]:.2f}" if way in row["others"] else "–" for way in ways),
            f"{row['trials']:,}",
            f"{row.get('commit', 'unknown')}, {row.get('threads') or 'all'} threads",
        ]
        for row in rows
    ]
    mean = sum(gains) / len(gains) if gains else float("nan")
    return Table(
        f"What auto makes of {report['minutes']:g} minutes: on {len(good)} of {len(rows)} graphs as good as all others",
        ("graph", "metric", "auto", "95 % interval", *ways, "trials", "made by"),
        cells,
        (
            f"Test scores on one stratified split. As good: at most {MARGIN} points behind, or the other's score lies "
            "in auto's interval, which is about the nodes.",
            f"On average auto is {mean:+.2f} points ahead of pcnet's defaults.",
            f"PyG: {LAYERS} layers of {HIDDEN} with a linear skip and batch norm, dropout {DROPOUT}, rate {RATE}, at "
            f"most {EPOCHS} epochs, of which validation chooses one.",
        ),
    )


def as_good(row: Mapping[str, Any], other: float) -> bool:
    low, high = row["interval"]
    return _ahead(row, other) >= -MARGIN or low <= other <= high


def _ahead(row: Mapping[str, Any], other: float) -> float:
    return METRICS[row["metric"]].sign * (row["auto"] - other)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Command("auto", __doc__)
    parser.add_argument("--graphs", nargs="*", metavar="NAME", help="default: all at hand")
    parser.add_argument("--methods", nargs="+", metavar="NAME", default=DEFAULTS)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--device", default="cpu", help="cpu or cuda; default: cpu")
    parser.add_argument("--out", type=Path, metavar="DIR", default=Path("results"))
    return parser.options(arguments)


if __name__ == "__main__":
    start(main)
