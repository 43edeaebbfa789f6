"""The commands that go on from a training or a comparison; they read, split and score the graph in the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pcnet.cli._options import Given, command, names_dataset
from pcnet.data import EMBEDDED
from pcnet.experiment import DEFAULT_METHOD, Result, Trained, method_file, resolve
from pcnet.graph import Graph
from pcnet.show import Step
from pcnet.tune import AUTO

#: The usual methods to hold another one against: neighbours averaged, no neighbours, and both kinds of neighbours.
USUAL = ("gcn", "mlp", "acmgcn")


def after_training(folder: Path, graph: Graph, result: Result, source: str, read: Sequence[str]) -> list[Step]:
    """What to do after a training of the graph that `source` names."""
    experiment = result.experiment
    # Of a contest, the method that weighs most.
    method = experiment.model.method if experiment.row == AUTO else experiment.row or experiment.model.method
    other = DEFAULT_METHOD if method == USUAL[0] else USUAL[0]
    rivals = [each for each in (DEFAULT_METHOD, *USUAL) if each != method]
    usual = resolve(graph.name if names_dataset(source) else graph, other)
    options: dict[str, Given] = {"read": read} | {
        option: getattr(experiment, option)
        for option in ("protocol", "metric")
        if getattr(usual, option) != getattr(experiment, option)
    }
    some = bool((graph.y < 0).any())
    predict = command("predict", str(folder), "-o", "predictions.csv", *["--unlabelled"] * some)
    another = command("train", source, **options, method=other)
    compare = command("compare", source, **options, methods=",".join([method, *rivals]))
    return [
        Step("Predict the nodes without a label:" if some else "Predict every node:", predict),
        Step(f"Train another method on the same splits, here {other}:", another),
        Step("See which method is better:", compare),
        *_search(f"Search better settings of {experiment.title}:", method, source, **options, method=method),
    ]


def after_comparison(best: Trained, graph: str | None, options: Mapping[str, Given]) -> list[Step]:
    """What to do with the best method."""
    source, options = graph or EMBEDDED, {"method": best.method, **options}
    train = Step(f"Train {best.title}, for predictions and a report:", command("train", source, **options))
    return [train, *_search("Search for better settings of it:", best.method, source, **options)]


def _search(what: str, known: str, source: str, **options: Given) -> list[Step]:
    """Of a method that has something to search."""
    some = known == DEFAULT_METHOD or method_file(known).grid
    return [Step(what, command("tune", source, **options))] if some else []
