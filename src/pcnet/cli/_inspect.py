"""`pcnet inspect`: what a graph is like, and what its links and features are worth."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from pcnet._checks import whole_number
from pcnet._machine import chosen_device
from pcnet.cli import _options as option
from pcnet.errors import PcnetError
from pcnet.inspect import inspect_graph
from pcnet.show import ProgressBar, print_inspection


def inspect(
    graph: option.GraphName = None,
    no_probe: Annotated[bool, Option("--no-probe", help="Measure only; train nothing.")] = False,
    splits: Annotated[
        int | None,
        Option(
            "--splits", "--runs", help="Splits that the probe is trained on.", show_default="5, fewer on a large graph"
        ),
    ] = None,
    seed: Annotated[int, Option(help="Seed of the first split.")] = 0,
    metric: option.MetricName = None,
    threads: option.Threads = None,
    device: option.Device = "auto",
    read: option.Read = None,
    plugin: option.Plugin = None,
    data: option.Data = None,
    json_file: option.Json = None,
) -> None:
    """Look at a graph before you train on it: links, classes, homophily, frequencies, and advice.

    A probe trains methods with their defaults on a few splits: on the features alone, on the links alone and on both,
    as many of them as a minute or two allow. It says what each is worth compared with a guess, with intervals, and
    which to try first. It looks at all labels, so its scores are for choosing what to try, not for reporting.
    """
    if splits is not None and splits < 2:
        raise PcnetError(f"--splits must be at least 2, not {splits}: one split alone shows no spread.")
    whole_number("--seed", seed)
    if threads is not None:
        whole_number("threads", threads, 1)
    device = chosen_device(device)
    chosen = option.graph_at(graph, data, read)
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
        arguments = [*([] if graph is None else [graph]), *option.option_words({"read": read})]
        print_inspection(option.screen(json_file), found, arguments)
    option.emit_json(json_file, found.as_dict())
