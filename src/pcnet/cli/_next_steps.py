"""The commands that go on from a training."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from pcnet.cli._graph_argument import names_dataset
from pcnet.experiment import DEFAULT_METHOD, Result, default_experiment, graph_experiment, method_file
from pcnet.graph import Graph
from pcnet.show import Step

#: The usual methods to hold another one against: neighbours averaged, no neighbours, and both kinds of neighbours.
USUAL = ("gcn", "mlp", "acmgcn")


def next_steps(folder: Path, graph: Graph, result: Result, source: str, read: Sequence[str]) -> list[Step]:
    """What to do after a training, as commands that read, split and score the graph `source` in the same way."""
    experiment = result.experiment
    method = experiment.row or experiment.model.method
    other = DEFAULT_METHOD if method == USUAL[0] else USUAL[0]
    rivals = [each for each in (DEFAULT_METHOD, *USUAL) if each != method]
    usual = default_experiment(graph.name, other) if names_dataset(source) else graph_experiment(graph, other)
    said = [source, *(word for wish in read for word in ("--read", wish))]
    for option in ("protocol", "metric"):
        if getattr(usual, option) != getattr(experiment, option):
            said += [f"--{option}", getattr(experiment, option)]

    unlabelled = ["--unlabelled"] * bool((graph.y < 0).any())
    commands = [
        (
            "Predict the nodes without a label:" if unlabelled else "Predict every node:",
            ["predict", str(folder), "-o", "predictions.csv", *unlabelled],
        ),
        (f"Train another method on the same splits, here {other}:", ["train", *said, "--method", other]),
        ("See which method is better:", ["compare", *said, "--methods", ",".join([method, *rivals])]),
    ]
    if method == DEFAULT_METHOD or method_file(method).grid:
        commands.append((f"Search better settings of {experiment.title}:", ["tune", *said, "--method", method]))
    return [Step(what, shlex.join(["pcnet", *words])) for what, words in commands]
