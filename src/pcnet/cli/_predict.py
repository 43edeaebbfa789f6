"""`pcnet predict`: what a trained run says about the nodes of a graph."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from typer import Argument, Option

from pcnet._files import check_target, write_table
from pcnet._machine import chosen_device
from pcnet._text import is_formula
from pcnet.cli import _options as option
from pcnet.errors import PcnetError
from pcnet.experiment import Ensemble, trained_on
from pcnet.show import Table

ENDINGS = (".csv", ".parquet")


def predict(
    run: Annotated[Path, Argument(metavar="RUN", help="A run folder of `pcnet train`.", show_default=False)],
    graph_name: Annotated[
        str | None,
        Argument(
            metavar="[GRAPH]",
            help="A graph with the same columns: your own file or folder, or a named dataset.",
            show_default="the graph of the training",
        ),
    ] = None,
    output: Annotated[Path, Option("--output", "-o", metavar="FILE", help="Where to write, .csv or .parquet.")] = Path(
        "predictions.csv"
    ),
    unlabelled: Annotated[bool, Option("--unlabelled", help="Only the nodes that have no label.")] = False,
    spreadsheet: Annotated[
        bool, Option("--spreadsheet", help="In .csv, put an apostrophe before names that a spreadsheet would compute.")
    ] = False,
    device: option.Device = "auto",
    plugin: option.Plugin = None,
    data: option.Data = None,
    read: option.Read = None,
    json_file: option.Json = None,
) -> None:
    """Predict the class of every node with the models of a training.

    Probabilities are the mean over the models of the run, each calibrated on its validation nodes. The file has a row
    for each node: its id, the most probable label, the probability of each class, and the margin between the two most
    probable ones. Nodes that a model was trained on are predicted too; how good predictions are is in the run's
    report, which was computed on other nodes.
    """
    device, console = chosen_device(device), option.screen(json_file)
    if output.suffix.lower() not in ENDINGS:
        raise PcnetError(f"{output} must end in {' or '.join(ENDINGS)}.")
    check_target(output)
    ensemble = Ensemble.load(run)
    if graph_name is None:
        trained = trained_on(run)
        graph_name, read = trained.graph, read or list(trained.read)
    # Its columns are read as those of the training.
    known = {"schema": ensemble.reading_schema, "classes": ensemble.classes}
    graph = option.graph_at(graph_name, data, read, **known)
    probabilities = ensemble.probabilities(graph, device).numpy()
    rows = np.flatnonzero(graph.y.numpy() < 0) if unlabelled else np.arange(graph.num_nodes)
    if len(rows) == 0:
        raise PcnetError("Every node has a label; leave out --unlabelled to predict them all the same.")
    probabilities = probabilities[rows]
    ordered = np.sort(probabilities, axis=1)
    labels = [ensemble.classes[best] for best in probabilities.argmax(axis=1)]
    columns: dict[str, list[Any]] = {
        **{f"probability_{name}": probabilities[:, place].tolist() for place, name in enumerate(ensemble.classes)},
        "margin": (ordered[:, -1] - ordered[:, -2]).tolist(),
    }
    if output.suffix.lower() == ".csv":
        columns = {name: [f"{value:.6f}" for value in values] for name, values in columns.items()}
    columns = {"id": graph.node_names[rows].tolist(), "label": labels, **columns}
    write_table(output, columns, spreadsheet=spreadsheet)
    found, sure, of = Counter(labels), ordered[:, -1], np.array(labels)
    counts = [[str(n), f"{count:,}", f"{sure[of == n].mean():.2f}"] for n, count in found.most_common()]
    title = f"Predicted for {len(rows):,} nodes of {graph.name}"
    console.print(Table(title, ("class", "nodes", "mean probability"), counts).rich(), "", sep="\n")
    models, shares = len(ensemble.models), ensemble.shares
    methods = ", ".join(name if len(shares) == 1 else f"{name} ({share:.0%})" for name, share in shares.items())
    console.print(f"{models} models of {methods}; predictions are in {output}")
    if output.suffix.lower() == ".csv" and not spreadsheet and any(map(is_formula, [*columns["id"], *labels])):
        console.print("note: Some names begin like a formula; --spreadsheet keeps a spreadsheet from computing them.")
    value = {
        "nodes": len(rows),
        "models": models,
        "method": ", ".join(shares),
        "predicted": {str(name): count for name, count in found.items()},
        "calibration_error": ensemble.calibration_error,
        "output": str(output),
    }
    option.emit_json(json_file, value)
