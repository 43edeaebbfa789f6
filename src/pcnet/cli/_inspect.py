"""`pcnet inspect`: what a graph is like, and what its links and features are worth."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from pcnet._machine import chosen_device
from pcnet.cli._graph_argument import GraphArgument, ReadOption, graph_at
from pcnet.cli._options import (
    DataOption,
    DeviceOption,
    JsonOption,
    MetricOption,
    PluginOption,
    ThreadsOption,
    check_json,
    emit_json,
)
from pcnet.compare import metric_named
from pcnet.errors import PcnetError
from pcnet.inspect import inspect_graph
from pcnet.show import ProgressBar, print_inspection


def inspect(
    graph: GraphArgument = None,
    no_probe: Annotated[bool, typer.Option("--no-probe", help="Measure only; train nothing.")] = False,
    splits: Annotated[
        int | None,
        typer.Option(
            "--splits", "--runs", help="Splits that the probe is trained on.", show_default="5, fewer on a large graph"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the first split.")] = 0,
    metric: MetricOption = None,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    read: ReadOption = None,
    plugin: PluginOption = None,
    data: DataOption = None,
    json_file: JsonOption = None,
) -> None:
    """Look at a graph before you train on it: links, classes, homophily, frequencies, and advice.

    A probe trains methods with their defaults on a few splits: on the features alone, on the links alone and on both,
    as many of them as a minute or two allow. It says what each is worth compared with a guess, with intervals, and
    which to try first. It looks at all labels, so its scores are for choosing what to try, not for reporting.
    """
    if splits is not None and splits < 2:
        raise PcnetError(f"--splits must be at least 2, not {splits}: one split alone shows no spread.")
    if seed < 0:
        raise PcnetError(f"--seed must be at least 0, not {seed}.")
    if threads is not None and threads < 1:
        raise PcnetError(f"threads must be at least 1, not {threads}.")
    device = chosen_device(device)
    if metric is not None:
        metric_named(metric)
    check_json(json_file)
    chosen = graph_at(graph, data, read)
    with ProgressBar() as progress:
        found = inspect_graph(
            chosen,
            splits=splits,
            seed=seed,
            metric=metric,
            threads=threads,
            device=device,
            with_probe=not no_probe,
            progress=progress,
        )
    if json_file != "-":
        named = [] if graph is None else [graph]
        print_inspection(Console(), found, [*named, *(word for wish in read or () for word in ("--read", wish))])
    emit_json(json_file, found.as_dict())
