"""`python -m benchmarks.refit`: does it help to train what predicts once more with no label kept back?

Of small labelled graphs, stratified splits. Five models that know the training and validation labels, each but a fold
of them to stop by, predict the test nodes; so do the same models trained once more on all of them. `auto` stands for
the ensemble of a contest of a few methods.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from benchmarks.command import Command, commit, page, start, with_origin
from benchmarks.graphs import labelled_graphs
from pcnet import PcnetError, PcnetWarning, make_split
from pcnet._files import write_json, write_text
from pcnet.compare import METRICS, logits_of
from pcnet.data import STRATIFIED
from pcnet.experiment import MEMBERS, VAL_SHARE, Ensemble, refitted, resolve, targets_of_all
from pcnet.graph import Graph
from pcnet.show import Table
from pcnet.training import Run, train
from pcnet.tune import AUTO, Contest, Members, compete, train_members

GRAPHS = ("texas", "chameleon_filtered", "citeseer", "cora")
CONTENDERS = ("pcnet", "mlp", "gprgnn")
#: What is measured on the test nodes.
MEASURED = ("accuracy", "log_loss")


def main(arguments: Sequence[str] | None = None) -> None:
    options, rows = _parse(arguments), []
    for name, read in labelled_graphs():
        if name not in options.graphs:
            continue
        graph = read()
        for method in options.methods:
            for seed in range(options.splits):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", PcnetWarning)
                    rows.append(
                        {"graph": name, "method": method, "split": seed, **measured(graph, method, seed, options)}
                    )
                print(rows[-1], flush=True)
                report = with_origin(options, {"commit": commit(), "rows": rows})
                write_json(options.out / "refit.json", report)
    if not rows:
        raise PcnetError("There is none of these graphs at hand.")
    write_text(options.out / "refit.md", page(report, table(report)))


def measured(graph: Graph, method: str, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """Test scores of the models that keep labels back, and of the same models trained once more with all of them."""
    split = make_split(graph, STRATIFIED, seed)
    known = torch.cat([split.train, split.val]).sort().values
    y = torch.full_like(graph.y, -1)
    y[known] = graph.y[known]
    seen = replace(graph, y=y)
    found = _members(seen, method, seed, options)
    scores = {}
    for name, runs in (("kept back", found.trained), ("refit", found.refitted)):
        ensemble = Ensemble.of(seen, runs, "accuracy", found.weights, found.trained)
        logits = logits_of(ensemble.probabilities(seen)[split.test])
        scores[name] = {each: METRICS[each].score(logits, split.labels[split.test]) for each in MEASURED}
    return scores


def _members(seen: Graph, method: str, seed: int, options: argparse.Namespace) -> Members:
    if method == AUTO:
        contest = Contest.on(seen, len(seen.labelled), seed=seed, trials=options.trials, methods=CONTENDERS)
        with tempfile.TemporaryDirectory() as folder:
            chosen = compete(seen, contest, seen.labelled, Path(folder), threads=options.threads)
        return train_members(seen, contest, chosen.members, refit=True, threads=options.threads)
    own = resolve(seen, method)
    seeds = range(MEMBERS * seed, MEMBERS * (seed + 1))
    runs = [Run(own.model, own.training, targets_of_all(seen, seen.labelled, VAL_SHARE, each), each) for each in seeds]
    trained = list(zip(runs, train(seen, runs, threads=options.threads), strict=True))
    return Members(trained, [1.0] * MEMBERS, refitted(seen, trained, threads=options.threads))


def table(report: Mapping[str, Any]) -> Table:
    """A row for each graph and method, means over the splits."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in report["rows"]:
        groups.setdefault((row["graph"], row["method"]), []).append(row)
    cells, better = [], 0
    for (graph, method), rows in groups.items():
        means = [
            sum(row[way][metric] for row in rows) / len(rows) for metric in MEASURED for way in ("kept back", "refit")
        ]
        better += means[1] > means[0]
        cells.append([graph, method, str(len(rows)), *(f"{mean:.2f}" for mean in means[:2])])
        cells[-1] += [f"{mean:.4f}" for mean in means[2:]]
    columns = ("graph", "method", "splits", "accuracy", "refit", "log loss", "log loss, refit")
    note = "Test scores, means over stratified splits; the models that are not refitted keep a fold of the labels back."
    title = f"Trained once more with no label kept back: better by accuracy in {better} of {len(cells)} cases"
    return Table(title, columns, cells, (note,))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Command("refit", __doc__)
    parser.add_argument("--graphs", nargs="+", metavar="NAME", default=GRAPHS)
    parser.add_argument("--methods", nargs="+", metavar="NAME", default=("pcnet", AUTO))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--trials", type=int, default=12, help="of the contests of auto")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--out", type=Path, metavar="DIR", default=Path("results"))
    return parser.options(arguments)


if __name__ == "__main__":
    start(main)
