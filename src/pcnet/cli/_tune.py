"""`pcnet tune`: search for settings, many at a time, and choose by validation alone."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pcnet._machine import chosen_device, device_note
from pcnet.cli._chosen_settings import write_chosen
from pcnet.cli._graph_argument import ReadOption, graph_at, names_dataset
from pcnet.cli._options import (
    DataOption,
    DeviceOption,
    Interrupted,
    JsonOption,
    MethodOption,
    MetricOption,
    ProtocolOption,
    ThreadsOption,
    check_json,
    emit_json,
    metric_words,
)
from pcnet.data import load_dataset
from pcnet.errors import PcnetError
from pcnet.experiment import (
    DEFAULT_METHOD,
    Experiment,
    command_line,
    method_file,
    presets,
    provenance,
    resolve,
)
from pcnet.graph import Graph
from pcnet.show import SearchBar, print_tuned, tune_headline, tuned_table, write_tuned_tables
from pcnet.tune import Settings, Space, Tuned, Tuning, published_space, read_space
from pcnet.tune import tune as run_search


def tune(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="GRAPH",
            help="A name from `pcnet data list`, or your own file or folder; or table1, table2, table3 or all: every "
            "dataset there.",
        ),
    ],
    trials: Annotated[int, typer.Option(help="Number of settings that are tried.")] = 100,
    preset: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Splits and stopping of table1, table2 or table3; or a .json file."),
    ] = None,
    protocol: ProtocolOption = None,
    metric: MetricOption = None,
    method: MethodOption = DEFAULT_METHOD,
    runs: Annotated[
        int | None, typer.Option("--runs", "--splits", help="Splits that a setting is tried on.", show_default="10")
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="random; halving, a quarter of the work; grid, every point of a small space; or optuna.",
            show_default="random for pcnet, grid for others",
        ),
    ] = None,
    sampler: Annotated[
        str | None, typer.Option(help="What suggests Optuna's trials: tpe, gp or random.", show_default="tpe")
    ] = None,
    batch: Annotated[int, typer.Option(help="Trials that Optuna suggests at a time.")] = 32,
    seed: Annotated[int, typer.Option(help="Of the search: which settings are drawn.")] = 0,
    space: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Search space as JSON; the paper's or the method's by default.")
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Fix a setting for all trials, as in --set epochs=500."),
    ] = None,
    leak: Annotated[
        bool, typer.Option("--leak", help="Measure what choosing by test scores would pretend to gain.")
    ] = False,
    store: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the search; runs/tune-DATASET-PRESET by default.")
    ] = None,
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Of whole tables: folder for tuned-tables.json and .md, or METHOD.toml."),
    ] = Path("results"),
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    data: DataOption = None,
    read: ReadOption = None,
    json_file: JsonOption = None,
) -> None:
    """Search a method's settings and choose by the mean validation score: accuracy, or another metric.

    The defaults are tried too, so that in validation the choice is never worse than they are. Trials are trained side
    by side, on every split or with halving on as many as they deserve. The test score of the chosen setting, and of
    the defaults beside it, is computed once, at the end, and the log in the store says so. Everything is kept in the
    store: the same command continues a search that was interrupted, and started several times at once it shares the
    work. The result is a preset, for `pcnet train DATASET --preset STORE/best.json`. Of another method than pcnet, a
    whole table is searched where nothing is published, and the choices are written to METHOD.toml.
    """
    device = chosen_device(device)
    check_json(json_file)
    console = Console(stderr=json_file == "-")

    def search(dataset: str, preset: str | None, store: Path | None) -> Tuned:
        graph = graph_at(dataset, data, read)
        of = dataset if names_dataset(dataset) else graph
        # A grid that is searched again starts where it did: what it chose the last time does not count.
        published = resolve(of, method, preset=preset, protocol=protocol, fallback=True, chosen=False)
        experiment = published.with_metric(metric).with_overrides(assignments or []).with_runs(runs)
        axes = _space(space, method).fixing(assignments or [], experiment.model)
        of_the_paper = published.of_a_preset and published.source
        tuning = Tuning(
            experiment,
            axes,
            trials,
            strategy or ("optuna" if sampler is not None else "random" if method == DEFAULT_METHOD else "grid"),
            sampler,
            batch,
            seed,
            leak,
            published if of_the_paper else None,
            _defaults(graph, experiment, method, assignments or []) if of_the_paper else None,
        )
        experiment.model.build(graph.num_features, graph.num_classes)
        folder = store or Path("runs") / f"tune-{experiment.dataset}-{_name(published, preset)}"
        words = f"{metric_words(graph, experiment.scored_by, metric)}{device_note(device)}"
        said = {**provenance(device), "device": device}
        try:
            console.print(tune_headline(graph, tuning, words), highlight=False, markup=False, style="bold")
            with SearchBar(tuning) as bar:
                tuned = run_search(graph, tuning, folder, threads=threads, device=device, watcher=bar, provenance=said)
        except KeyboardInterrupt:
            raise Interrupted(f"Interrupted; the same command continues the search in {folder}.") from None
        where = [word for key in read or [] for word in ("--read", key)] + (["--data", str(data)] if data else [])
        train = ["pcnet", "train", dataset, "--preset", str(folder / "best.json"), *where]
        print_tuned(console, tuned, shlex.join(train))
        for note in (*graph.notes, *tuned.best["notes"]):
            console.print(f"note: {note}", style="dim", highlight=False)
        return tuned

    tables = tuple(presets()) if dataset == "all" else (dataset,)
    if not set(tables) <= set(presets()):
        emit_json(json_file, search(dataset, preset, store).best)
        return
    if preset is not None or protocol is not None:
        raise PcnetError(f"{dataset} has its own splits; leave out --preset and --protocol.")
    if metric is not None:
        raise PcnetError(f"{dataset} is scored by accuracy, as in the paper; leave out --metric.")
    if method != DEFAULT_METHOD and assignments:
        raise PcnetError(f"The settings of {method} for a table are written to a file; leave out --set.")
    bests = []
    for table in tables:
        for name in _datasets(table, method):
            folder = store or Path("runs") / "tune"
            try:
                load_dataset(name, data)
            except PcnetError as error:
                console.print(f"{table} {name}: left out. {error}", style="dim", highlight=False)
                continue
            part = f"{table}-{name}" if method == DEFAULT_METHOD else f"{method}-{table}-{name}"
            bests.append(search(name, table, folder / part).best)
    if not bests:
        raise PcnetError("Nothing is left to search, or no dataset of it was found; name a folder with --data.")
    if method != DEFAULT_METHOD:
        console.print(f"The chosen settings are in {write_chosen(out, method, bests)}.", highlight=False)
        emit_json(json_file, {"cells": bests})
        return
    rows = write_tuned_tables(out, bests, command_line())
    console.print(tuned_table(rows).rich())
    emit_json(json_file, {"cells": rows})


def _datasets(table: str, method: str) -> list[str]:
    """Of PCNet all datasets of a table; of other methods those that nothing is published for."""
    if method == DEFAULT_METHOD:
        return list(presets()[table].datasets_of(method))
    published = method_file(method).content.get(table, {})
    return [name for name in presets()[table].protocols if name not in published]


def _defaults(graph: Graph, experiment: Experiment, method: str, assignments: Sequence[str]) -> Settings:
    """The method's own defaults: settings of a table are no candidates, where test scores chose them."""
    plain = resolve(graph, method, protocol=experiment.protocol, metric=experiment.metric, overrides=assignments)
    return plain.model, plain.training


def _space(path: Path | None, method: str) -> Space:
    """A user's search space, the paper's, or another method's grid."""
    known = method_file(method)
    if path is not None:
        return read_space(path, known.kind)
    if method == DEFAULT_METHOD:
        return published_space()
    return Space.from_json(dict(known.grid), f"The grid of {known.name}", known.kind)


def _name(published: Experiment, preset: str | None) -> str:
    return published.preset if preset is not None else published.protocol
