"""The commands that go on from a training or a comparison; they read, split and score the graph in the same way."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from pcnet.cli._graph_argument import names_dataset
from pcnet.data import EMBEDDED
from pcnet.experiment import DEFAULT_METHOD, Result, Trained, method_file, resolve
from pcnet.graph import Graph
from pcnet.show import Step

#: The usual methods to hold another one against: neighbours averaged, no neighbours, and both kinds of neighbours.
USUAL = ("gcn", "mlp", "acmgcn")


def after_training(folder: Path, graph: Graph, result: Result, source: str, read: Sequence[str]) -> list[Step]:
    """What to do after a training of the graph that `source` names."""
    experiment = result.experiment
    method = experiment.row or experiment.model.method
    other = DEFAULT_METHOD if method == USUAL[0] else USUAL[0]
    rivals = [each for each in (DEFAULT_METHOD, *USUAL) if each != method]
    usual = resolve(graph.name if names_dataset(source) else graph, other)
    options = {"read": read} | {
        option: [getattr(experiment, option)]
        for option in ("protocol", "metric")
        if getattr(usual, option) != getattr(experiment, option)
    }
    where = [source, *_words(options)]
    unlabelled = ["--unlabelled"] * bool((graph.y < 0).any())
    predicted = "Predict the nodes without a label:" if unlabelled else "Predict every node:"
    return [
        _step(predicted, "predict", str(folder), "-o", "predictions.csv", *unlabelled),
        _step(f"Train another method on the same splits, here {other}:", "train", *where, "--method", other),
        _step("See which method is better:", "compare", *where, "--methods", ",".join([method, *rivals])),
        *_search(f"Search better settings of {experiment.title}:", method, *where, "--method", method),
    ]


def after_comparison(best: Trained, graph: str | None, options: Mapping[str, Sequence[str]]) -> list[Step]:
    """What to do with the best method."""
    where = [graph or EMBEDDED, "--method", best.method, *_words(options)]
    train = _step(f"Train {best.title}, for predictions and a report:", "train", *where)
    return [train, *_search("Search for better settings of it:", best.method, *where)]


def _search(what: str, method: str, *words: str) -> list[Step]:
    """Of a method that has something to search."""
    return [_step(what, "tune", *words)] if method == DEFAULT_METHOD or method_file(method).grid else []


def _words(options: Mapping[str, Sequence[str]]) -> list[str]:
    return [word for name, values in options.items() for value in values for word in (f"--{name}", value)]


def _step(what: str, *words: str) -> Step:
    return Step(what, shlex.join(["pcnet", *words]))
