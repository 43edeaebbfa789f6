"""Arguments and options that several commands share, each once, and what follows from them."""

from __future__ import annotations

import os
import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from pcnet.cli._file_options import Data as Data
from pcnet.cli._file_options import Json as Json
from pcnet.cli._file_options import emit_json as emit_json
from pcnet.cli._file_options import screen as screen
from pcnet.compare import METRICS, Metric, default_metric, metric_named
from pcnet.data import (
    CATALOGUE,
    EMBEDDED,
    PROTOCOLS,
    READ_KEYS,
    READERS,
    ReadOptions,
    dataset_named,
    graph_of,
    load_dataset,
)
from pcnet.errors import PcnetError, PcnetWarning, close_match
from pcnet.experiment import DEFAULT_METHOD, method_file
from pcnet.graph import Graph
from pcnet.inspect import Classes
from pcnet.nn import load_plugin
from pcnet.show import ProgressBar, Step

#: What was given for an option, if anything.
Given = str | Path | Sequence[str] | None

GraphName = Annotated[
    str | None,
    Argument(
        metavar="[GRAPH]",
        help="Your own file or folder (edges and nodes), or a name from `pcnet data list`.",
        show_default=EMBEDDED,
    ),
]
Read = Annotated[
    list[str] | None,
    Option(
        metavar="KEY=VALUE",
        help=f"How to read your own graph: {', '.join(READ_KEYS[:-1])} or {READ_KEYS[-1]}, as in --read label=topic "
        "--read kind.zip=category.",
    ),
]
Preset = Annotated[
    str | None,
    Option(metavar="TABLE", help="Splits and settings of the paper's table1, table2 or table3; or a .json file."),
]
Protocol = Annotated[
    str | None, Option(metavar="NAME", help=f"How to split: {', '.join(PROTOCOLS)}, or stratified-A-B-C.")
]
Method = Annotated[str, Option(metavar="NAME", help="pcnet, or a method that it is compared with: gcn, bernnet, …")]
NumberOfRuns = Annotated[
    int | None,
    Option(help="Runs of a method, each with a split and a seed of its own.", show_default="the preset's, 10"),
]
MetricName = Annotated[
    str | None,
    Option(
        "--metric",
        metavar="NAME",
        help=f"What a score is, for stopping, choosing and reporting: {', '.join(METRICS)}.",
        show_default="accuracy, or roc_auc where one of two classes has more than 65 %",
        callback=lambda name: name and metric_named(name).name,
    ),
]
Set = Annotated[
    list[str] | None,
    Option("--set", metavar="KEY=VALUE", help="Change a setting, as in --set t=0.5 --set lr.theta=0.01."),
]
Seed = Annotated[int | None, Option(help="First seed; the published seeds by default.")]
Threads = Annotated[int | None, Option(help="Runs computed at the same time; all cores by default.")]
Device = Annotated[str, Option(help="cpu, cuda, cuda:N; auto is a GPU where there is one.")]
Plugin = Annotated[
    list[Path] | None,
    Option(
        metavar="FILE",
        help="Python file that registers a method of your own; can be repeated.",
        # Before the other options are read, some of which name methods.
        is_eager=True,
        callback=lambda paths: [load_plugin(path) for path in paths or ()] and paths,
    ),
]


def graph_at(name: str | None, data: Path | None, read: Sequence[str] | None = None, **known: Any) -> Graph:
    """The graph that a GRAPH argument means; None is CiteSeer, which is inside the package.

    A bare word that names a dataset is that dataset, whatever lies in the working folder: `./texas` is the folder.
    `read` are `key=value` options of `read_graph`, `known` are those that a training has settled.
    """
    if name is None or names_dataset(name):
        if read:
            raise PcnetError("--read is for your own files; a named dataset has one way to be read.")
        if name is not None and Path(name).exists():
            warnings.warn(
                f"'{name}' is taken as the named dataset; write '.{os.sep}{name}' for what lies here.",
                PcnetWarning,
                stacklevel=2,
            )
        return load_dataset(name or EMBEDDED, data)
    if Path(name).exists() or {os.sep, os.altsep} & {*name} or name.lower().endswith(tuple(READERS)):
        with ProgressBar() as progress:
            return graph_of(Path(name), replace(ReadOptions.parse(read), **known), progress)
    raise PcnetError(
        f"'{name}' is neither a file or folder here nor a named dataset.{close_match(name, CATALOGUE)} "
        f"Give the path of your graph, or one of {', '.join(CATALOGUE)}."
    )


def names_dataset(name: str | None) -> bool:
    """Whether a GRAPH argument means a dataset of the catalogue."""
    try:
        return name is None or bool(dataset_named(name))
    except PcnetError:
        return False


def names(given: Sequence[str] | None) -> list[str]:
    """Names that were given one by one or with commas between them."""
    return [name.strip() for each in given or [] for name in each.split(",") if name.strip()]


def metric_words(graph: Graph, metric: Metric, asked: str | None) -> str:
    """Its name, and why it was taken where nobody asked for it: "ROC-AUC, because 'yes' has 78 % of the labels"."""
    if asked is not None or metric.name == "accuracy" or metric.name != default_metric(graph.y).name:
        return metric.title
    classes = Classes.of(graph)
    share = max(classes.counts) / classes.labelled
    return f"{metric.title}, because '{classes.majority}' has {100 * share:.0f} % of the labels"


def command(*words: str, **options: Given) -> str:
    """`pcnet` with these words and options, as a shell reads it."""
    return shlex.join(["pcnet", *words, *option_words(options)])


def option_words(options: Mapping[str, Given]) -> list[str]:
    """`--name value` for every value."""
    lists = {name: [value] if isinstance(value, (str, Path)) else value or () for name, value in options.items()}
    return [word for name, values in lists.items() for value in values for word in (f"--{name}", str(value))]


def search_step(what: str, known: str, source: str, **options: Given) -> list[Step]:
    """The command that searches settings of a method, where it has something to search."""
    some = known == DEFAULT_METHOD or method_file(known).grid
    return [Step(what, command("tune", source, **options))] if some else []
