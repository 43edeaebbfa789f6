"""`python -m benchmarks.defaults`: which settings of a method are good on graphs that nobody has settings for?

Candidates are what the literature uses, and what lies between; they are trained on stratified splits of the graphs at
hand, all of them on the small graphs and the best three of each method on the large ones. Validation nodes alone
choose: of each method the candidate with the lowest regret, points behind the method's best on a graph, at most 10 of
them, averaged over the graphs; and of all methods together a short list, each of which adds the most to those before
it, with which `auto` begins. Both are written to `src/pcnet/experiment/defaults.toml`. As a check, every graph is left
out once: where what the others choose for it is no better than the settings that the method had before, those stay.
Runs are kept as they come.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command import Command, page, start, with_origin
from benchmarks.graphs import generated_graphs, grid_of_mines, labelled_graphs
from pcnet import PcnetError, PcnetWarning
from pcnet._files import read_json, write_json, write_text
from pcnet.compare import default_metric
from pcnet.data import STRATIFIED, make_split
from pcnet.experiment import DEFAULT_METHOD, method_file, override
from pcnet.graph import Graph
from pcnet.nn import ModelSettings, PCNetSettings
from pcnet.show import Table
from pcnet.training import Outcome, Run, Targets, TrainingSettings, selection_by, train_each

FILE = Path(__file__).parent.parent / "src" / "pcnet" / "experiment" / "defaults.toml"
TRAINING = ["epochs=500", "stopping=patience", "patience=60"]
#: Nodes above which only the best of each method are trained, nodes below which three splits are, and nodes of no use.
LARGE, SMALL, TOO_LARGE = 5_000, 1_000, 15_000
#: The first of the seeds of splits and runs.
SEED = 100
#: Candidates that are trained, and kept, together.
TOGETHER = 8
#: Candidates of each method on large graphs, members of the list that `auto` begins with, and points of regret at most.
FINALISTS, FIRST, WORST = 3, 8, 10.0

DEEP = [
    "",
    "hidden=64 layers=2 norm=none residual=true lr=0.01 wd=5e-4 dropout=0.5",
    "hidden=64 layers=2 norm=batch residual=true lr=0.01 wd=5e-4 dropout=0.5",
    "hidden=128 layers=3 norm=layer residual=true lr=0.003 wd=1e-4 dropout=0.5",
    "hidden=128 layers=4 norm=batch residual=true lr=0.005 wd=1e-3 dropout=0.5",
    "hidden=64 layers=8 norm=batch residual=true lr=0.005 wd=1e-5 dropout=0.2",
    "hidden=64 layers=6 norm=layer residual=true lr=0.003 wd=1e-4 dropout=0.3 jumping=true",
    "hidden=256 layers=2 norm=none residual=false lr=0.003 wd=1e-3 dropout=0.7",
    "hidden=128 layers=5 norm=none residual=true lr=0.003 wd=1e-4 dropout=0.3",
]
#: Settings beside those that each method has now.
CANDIDATES: Mapping[str, Sequence[str]] = {
    "pcnet": [
        "",
        "activation=relu",
        "basis=orthonormal",
        "lr=0.01 wd=5e-4 drop_in=0.5 drop_hidden=0.7",
        "K=6 N=9 t=0.2 lr=0.01 wd=1e-3 drop_in=0.5 drop_hidden=0.5",
        "K=4 N=4 t=1 eta=0.65 lr=0.02 wd=5e-4 drop_hidden=0.7",
        "activation=relu hidden=128 lr=0.005 wd=1e-4 drop_in=0.2 drop_hidden=0.5",
        "layers=2 K=2 N=2 norm=batch lr=0.005 wd=1e-4 drop_in=0.2 drop_hidden=0.5",
        "layers=3 K=2 N=2 hidden=128 norm=layer lr=0.003 wd=1e-4 drop_in=0.2 drop_hidden=0.5",
        "layers=5 K=2 N=2 norm=batch lr=0.005 wd=1e-5 drop_in=0 drop_hidden=0.2",
        "layers=8 K=1 N=1 norm=batch lr=0.005 wd=1e-5 drop_in=0 drop_hidden=0.2",
        "layers=3 K=4 N=4 norm=layer lr=0.005 wd=5e-4 drop_in=0.5 drop_hidden=0.5 basis=orthonormal",
    ],
    "gcn": DEEP,
    "sage": DEEP,
    "gat": [
        "",
        "layers=2 norm=none residual=true closing=none lr=0.005 wd=5e-4 dropout=0.5 drop_attention=0.2",
        "layers=2 heads=4 hidden=16 norm=batch residual=true lr=0.005 wd=1e-3 dropout=0.5 drop_attention=0",
        "layers=3 heads=4 hidden=16 norm=layer residual=true lr=0.003 wd=1e-4 dropout=0.5 drop_attention=0",
        "layers=5 heads=4 hidden=16 norm=batch residual=true lr=0.003 wd=1e-5 dropout=0.2 drop_attention=0",
        "layers=3 heads=2 hidden=32 norm=none residual=true lr=0.003 wd=1e-4 dropout=0.3 drop_attention=0 jumping=true",
    ],
    "mlp": [
        "",
        "lr=0.01 wd=5e-3 drop_in=0.2 drop_hidden=0.7",
        "hidden=256 lr=0.003 wd=1e-3 drop_in=0.2 drop_hidden=0.5",
        "hidden=128 lr=0.005 wd=5e-4 drop_in=0.7 drop_hidden=0.7",
        "hidden=256 lr=0.001 wd=1e-4 drop_in=0 drop_hidden=0.3",
        "activation=none lr=0.05 wd=5e-4 drop_in=0.3 drop_hidden=0.5",
    ],
    "acmgcn": [
        "",
        "lr=0.01 wd=5e-3 dropout=0.7",
        "lr=0.05 wd=5e-4 dropout=0.5",
        "lr=0.01 wd=5e-4 dropout=0.5",
        "hidden=128 lr=0.003 wd=1e-4 dropout=0.3",
        "hidden=128 lr=0.01 wd=1e-3 dropout=0.8 variant=true",
    ],
    "linkx": [
        "",
        "lr=0.01 wd=1e-3 dropout=0.5",
        "hidden=32 lr=0.01 wd=1e-2 dropout=0.5",
        "hidden=128 lr=0.003 wd=1e-3 dropout=0.5",
        "hidden=64 lr=0.003 wd=1e-4 dropout=0.7 edge_layers=2 node_layers=2",
        "hidden=256 lr=0.01 wd=1e-3 dropout=0 layers=2",
    ],
}
#: By graph and then candidate, "method: settings": the mean validation score where more is better, in points.
Gains = Mapping[str, Mapping[str, float]]


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    file = options.out / "defaults.json"
    kept: dict[str, dict[str, float]] = read_json(file)["gains"] if file.exists() else {}
    for large in (False, True):
        for name, read in graphs():
            if options.graphs and name not in options.graphs:
                continue
            graph = read()
            if graph.num_nodes > TOO_LARGE or (graph.num_nodes > LARGE) is not large:
                continue
            wanted = finalists(kept) if large else [f"{m}: {c}" for m, own in CANDIDATES.items() for c in own]
            wanted = [each for each in wanted if each not in kept.setdefault(name, {})]
            for at in range(0, len(wanted), TOGETHER):
                found = measured(graph, wanted[at : at + TOGETHER], options.threads)
                for candidate, gain in found.items():
                    print(f"{name}: {candidate}: {gain:.2f}", flush=True)
                kept[name] |= found
                write_json(file, with_origin(options, {"gains": kept}))
    figures = with_origin(options, {"gains": kept, **chosen(kept)})
    write_json(file, figures)
    write_text(options.out / "defaults.md", page(figures, table(figures)))
    write_text(FILE, defaults_file(figures))


def graphs() -> Iterator[tuple[str, Callable[[], Graph]]]:
    """Those at hand, generated ones, and a small grid on which deep networks can be told from flat ones."""
    yield from labelled_graphs()
    yield from generated_graphs().items()
    yield "few mines", lambda: grid_of_mines(side=45, seed=1)


def measured(graph: Graph, candidates: Sequence[str], threads: int | None) -> dict[str, float]:
    """The mean validation score of each candidate, in points; of one that cannot be trained on this graph, none."""
    metric, count = default_metric(graph.y), 3 if graph.num_nodes < SMALL else 1
    targets = [Targets.from_split(make_split(graph, STRATIFIED, SEED + run)) for run in range(count)]
    runs, of = list[Run](), list[str]()
    for candidate in candidates:
        method, _, settings = candidate.partition(": ")
        model, training = settings_of(method, settings)
        select = training.select if metric.name == "accuracy" else selection_by(metric)
        try:
            model = model.for_graph(graph)
            model.build(graph.num_features, graph.num_classes)
        except PcnetError as error:
            print(f"{graph.name}, {candidate}: {error}")
            continue
        runs += [Run(model, replace(training, select=select), own, SEED + run) for run, own in enumerate(targets)]
        of += [candidate] * count

    def gain(index: int, outcome: Outcome) -> tuple[str, float]:
        own = runs[index].targets
        return of[index], metric.sign * metric.score(outcome.logits[own.val], own.val_labels)

    found: dict[str, list[float]] = {candidate: [] for candidate in candidates}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PcnetWarning)
        for candidate, own in train_each(graph, runs, collect=gain, threads=threads):
            found[candidate].append(own)
    return {candidate: float(np.mean(own)) if own else float("-inf") for candidate, own in found.items()}


def regrets(gains: Gains, candidates: Sequence[str]) -> dict[str, dict[str, float]]:
    """By candidate and graph, points behind the best of the candidates there."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for graph, own in gains.items():
        known = {each: own[each] for each in candidates if each in own}
        for each, gain in known.items():
            found[each][graph] = min(WORST, max(known.values()) - gain)
    return found


def best_of(gains: Gains, candidates: Sequence[str], count: int = 1) -> list[str]:
    """Those with the lowest mean regret; one that was not trained on the large graphs is out where others were."""
    found = regrets(gains, candidates)
    most = max(map(len, found.values()))
    whole = [each for each in candidates if each in found and len(found[each]) == most]
    return sorted(whole, key=lambda each: float(np.mean(list(found[each].values()))))[:count]


def of_method(method: str) -> list[str]:
    return [f"{method}: {each}" for each in CANDIDATES[method]]


def finalists(gains: Gains) -> list[str]:
    """What is trained on large graphs: the best on the small ones, and the settings of before."""
    small = {graph: own for graph, own in gains.items() if len(own) == sum(map(len, CANDIDATES.values()))}
    best = {method: best_of(small, of_method(method), FINALISTS) for method in CANDIDATES}
    return [each for method, own in best.items() for each in dict.fromkeys([f"{method}: ", *own])]


def chosen(gains: Gains) -> dict[str, Any]:
    """Of each method the best candidate with what it gains on graphs that did not choose it, and the list of all."""
    methods = {}
    for method in CANDIDATES:
        own = of_method(method)
        winner, found, elsewhere = best_of(gains, own)[0], regrets(gains, own), []
        for graph in gains:
            others = {name: each for name, each in gains.items() if name != graph}
            [left] = best_of(others, own)
            if graph in found[left] and graph in found[own[0]]:
                elsewhere.append(found[own[0]][graph] - found[left][graph])
        # What is no better on graphs that did not choose it is no reason to change.
        winner = winner if np.mean(elsewhere) > 0 else own[0]
        mean = {each: float(np.mean(list(found[each].values()))) for each in (own[0], winner)}
        methods[method] = {
            "settings": winner.partition(": ")[2],
            "regret": mean[winner],
            "regret_before": mean[own[0]],
            "gain_left_out": float(np.mean(elsewhere)),
        }
    return {"chosen": methods, "first": first_of_all(gains)}


def first_of_all(gains: Gains) -> list[str]:
    """Candidates of all methods in the order in which each adds the most, on average over the graphs."""
    every = [each for method in CANDIDATES for each in of_method(method)]
    found = regrets(gains, every)
    most = max(map(len, found.values()))
    rows = {each: np.array([own[graph] for graph in gains]) for each, own in found.items() if len(own) == most}
    order: list[str] = []
    so_far = np.full(len(gains), WORST)
    while rows and len(order) < FIRST:
        # Where nothing more is gained on any graph, the better on average comes first.
        following = min(rows, key=lambda each: (np.minimum(so_far, rows[each]).mean(), rows[each].mean()))
        so_far = np.minimum(so_far, rows.pop(following))
        order.append(following)
    return order


def defaults_file(figures: Mapping[str, Any]) -> str:
    """The settings of methods for unknown graphs as TOML, with where they come from."""
    lines = [
        "# Settings for graphs that nobody has settings for, chosen by validation alone; written by",
        f"#   {figures['command']}",
        f"# on {figures['date'][:10]}, on {len(figures['gains'])} graphs; the runs are in results/defaults.json.",
        "",
    ]
    for method, own in figures["chosen"].items():
        if own["settings"]:
            lines += [f"[{method}]", *_parts(method, own["settings"]), ""]
    lines.append("# What `auto` begins with: each adds the most to those before it.")
    for candidate in figures["first"]:
        method, _, settings = candidate.partition(": ")
        lines += ["[[first]]", f'method = "{method}"', *_parts(method, settings), ""]
    return "\n".join(lines)


def _parts(method: str, settings: str) -> list[str]:
    """The whole of a model and a training, as two lines."""
    model, training = settings_of(method, settings)
    own = {name: "none" if value is None else value for name, value in asdict(model).items()}
    rest = {name: value for name, value in vars(training).items() if value is not None}
    return [f"model = {_toml(own)}", f"training = {_toml(rest)}"]


def settings_of(method: str, settings: str) -> tuple[ModelSettings, TrainingSettings]:
    """A candidate: what is said over what the method's file, or PCNet's own class, has."""
    entry = method_file(method).defaults
    base = (PCNetSettings(), TrainingSettings()) if method == DEFAULT_METHOD else (entry.model, entry.training)
    model, training = override(base, [*TRAINING, *settings.split()])
    return model, training


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_toml(each)}" for name, each in value.items()) + " }"
    return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')


def table(figures: Mapping[str, Any]) -> Table:
    names = ("regret_before", "regret", "gain_left_out")
    rows = [
        [method, own["settings"] or "as before", *(f"{own[name]:.2f}" for name in names)]
        for method, own in figures["chosen"].items()
    ]
    return Table(
        f"Settings for unknown graphs, chosen by validation on {len(figures['gains'])} graphs",
        ("method", "settings", "regret before", "regret", "gain on a graph left out"),
        rows,
        (
            "Regret: points behind the method's best candidate in validation, at most 10, averaged over the graphs.",
            "On a graph left out: points that what the other graphs choose is ahead of the settings before, there.",
            f"auto begins with: {'; '.join(figures['first'])}.",
        ),
    )


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Command("defaults", __doc__)
    parser.add_argument("--graphs", nargs="*", metavar="NAME", help="default: all at hand of at most 15,000 nodes")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--out", type=Path, metavar="DIR", default=Path("results"))
    return parser.options(arguments)


if __name__ == "__main__":
    start(main)
