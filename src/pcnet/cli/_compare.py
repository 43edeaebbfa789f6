"""`pcnet compare`: several methods on the same splits of a graph, and which of them can be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.markup import escape

from pcnet._files import check_target
from pcnet._machine import chosen_device
from pcnet.cli._compare_report import results, show, write_results
from pcnet.cli._contest import Contest, Trained, headline, listed
from pcnet.cli._graph_argument import GraphArgument, ReadOption, graph_at, names_dataset
from pcnet.cli._options import (
    DataOption,
    DeviceOption,
    Interrupted,
    JsonOption,
    ProtocolOption,
    ThreadsOption,
    emit_json,
)
from pcnet.cli._progress import EpochBar
from pcnet.data import EMBEDDED
from pcnet.errors import PcnetError, close_match
from pcnet.experiments import (
    DEFAULT_METHOD,
    Experiment,
    graph_experiment,
    method_file,
    named_experiment,
    preset_names,
    run_experiment,
    splits_of,
    table_experiment,
)
from pcnet.graph import Graph

NO_MEMORY = "there is not enough memory for it"
NO_TURN = "the command was interrupted before it was trained"


def compare(
    graph: GraphArgument = None,
    methods: Annotated[
        str, typer.Option("--methods", metavar="NAMES", help="Two methods or more, with commas between them.")
    ] = "mlp,gcn,pcnet",
    preset: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Splits and settings of a table of the paper, as in --preset table2."),
    ] = None,
    protocol: ProtocolOption = None,
    defaults: Annotated[
        bool, typer.Option("--defaults", help="Every method's defaults, also where there are settings for the graph.")
    ] = False,
    runs: Annotated[
        int | None,
        typer.Option(help="Number of splits; every method is trained once on each.", show_default="the preset's, 10"),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of all methods, as in --set epochs=200."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="First seed; the published seeds by default.")] = None,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for compare.json, compare.md and critical-difference.svg and .png."),
    ] = None,
    read: ReadOption = None,
    data: DataOption = None,
    json_file: JsonOption = None,
) -> None:
    """Train several methods on the same splits and say which are better, and which only seem so.

    Every method meets every split once, so that methods are compared pair by pair: the difference to the best with a
    bootstrap interval, Wilcoxon's signed-rank test corrected by Holm, and a t-test that knows that splits of one graph
    overlap. A named dataset brings the paper's settings where a method has them, your own graph every method's
    defaults; test labels choose nothing. A method that cannot be trained on this graph is left out and says why.
    """
    chosen = _methods(methods)
    device = chosen_device(device)
    _check_targets(out, json_file)
    if preset is not None:
        _check_preset(preset, graph, protocol, defaults)
    loaded = graph_at(graph, data, read)

    def settings(method: str) -> Experiment:
        if defaults or not names_dataset(graph):
            return graph_experiment(loaded, method, protocol)
        if preset is not None:
            return table_experiment(loaded.name, preset, method)
        return named_experiment(loaded.name, None, method, protocol)

    # The splits are those of one method whichever are asked for, so that they depend on none that is compared.
    usual = settings(DEFAULT_METHOD)
    seeds = usual.with_runs(len(usual.seeds) if runs is None else runs, seed).seeds
    experiments = {method: replace(_changed(settings(method), assignments or []), seeds=seeds) for method in chosen}
    splits = splits_of(loaded, next(iter(experiments.values())))
    console = Console(stderr=json_file == "-")
    if not console.is_terminal:
        console = Console(stderr=json_file == "-", width=120)
    titles = listed([experiment.title for experiment in experiments.values()])
    nothing = Interrupted("Interrupted; nothing was written. Fewer methods or --runs take less time.")
    try:
        console.print(f"[bold]{titles}[/bold] {escape(headline(loaded, usual.protocol, len(splits)))}", highlight=False)
        trained, left_out = _train_all(loaded, experiments, threads, device)
    except KeyboardInterrupt:
        raise nothing from None
    interrupted = NO_TURN in left_out.values()
    if interrupted and not trained:
        raise nothing
    if not trained:
        reasons = list(dict.fromkeys(left_out.values()))
        raise PcnetError(reasons[0] if len(reasons) == 1 else f"No method could be trained. {' '.join(reasons)}")
    contest = Contest(loaded, splits, trained, left_out)
    show(console, contest)
    value = results(contest, device)
    if out is not None:
        write_results(out, contest, value)
        console.print(f"Everything is in {out}", highlight=False, markup=False)
    emit_json(json_file, value)
    if interrupted:
        raise Interrupted(
            f"Interrupted; {listed([each.title for each in trained])} had been trained and the others not."
        )


class MethodBar(EpochBar):
    """All epochs of all runs of all methods, and which method is being trained."""

    def begin(self, title: str, done: int) -> None:
        self._progress.update(self._task, description=title, completed=done)


def _train_all(
    graph: Graph, experiments: Mapping[str, Experiment], threads: int | None, device: str
) -> tuple[list[Trained], dict[str, str]]:
    """Scores of every method that could be trained, and of the others the reason; Ctrl-C ends it with what there is."""
    epochs = {method: each.training.epochs * len(each.seeds) for method, each in experiments.items()}
    trained: list[Trained] = []
    left_out: dict[str, str] = {}
    bar, done = MethodBar(sum(epochs.values())), 0
    try:
        with bar:
            for method, experiment in experiments.items():
                bar.begin(experiment.title, done)
                outcome = _attempt(graph, method, experiment, threads=threads, device=device, reporter=bar)
                if isinstance(outcome, Trained):
                    trained.append(outcome)
                else:
                    left_out[experiment.title] = outcome
                done += epochs[method]
    except KeyboardInterrupt:
        settled = {*left_out, *(each.title for each in trained)}
        left_out |= {each.title: NO_TURN for each in experiments.values() if each.title not in settled}
    return trained, left_out


def _attempt(graph: Graph, method: str, experiment: Experiment, **how: Any) -> Trained | str:
    """A method's scores, or why there are none."""
    try:
        return Trained.of(method, run_experiment(graph, experiment, **how))
    except PcnetError as error:
        return str(error)
    except (MemoryError, torch.cuda.OutOfMemoryError):
        return NO_MEMORY


def _methods(names: str) -> list[str]:
    chosen = list(dict.fromkeys(method_file(name.strip()).name for name in names.split(",") if name.strip()))
    if len(chosen) < 2:
        raise PcnetError("A comparison needs two methods or more, as in --methods mlp,gcn,pcnet.")
    return chosen


def _changed(experiment: Experiment, assignments: Sequence[str]) -> Experiment:
    """The experiment with `--set` applied; what a method does not have is refused before any is trained."""
    try:
        changed = experiment.with_overrides(assignments)
        changed.training.check_groups(changed.model.groups)
    except PcnetError as error:
        raise PcnetError(f"{experiment.title}: {error}") from None
    return changed


def _check_preset(preset: str, graph: str | None, protocol: str | None, defaults: bool) -> None:
    if preset not in preset_names():
        known = ", ".join(preset_names())
        raise PcnetError(f"There is no preset '{preset}'; choose from {known}.{close_match(preset, preset_names())}")
    if not names_dataset(graph):
        raise PcnetError("--preset is for the paper's datasets; leave it out for a graph of your own.")
    if protocol is not None or defaults:
        other = "--protocol" if protocol is not None else "--defaults"
        raise PcnetError(f"--preset brings splits and settings of its own; leave out {other}.")
    # Refuses a dataset that the table does not have, before it is loaded.
    table_experiment(graph or EMBEDDED, preset)


def _check_targets(out: Path | None, json_file: str | None) -> None:
    if out is not None:
        if out.is_file():
            raise PcnetError(f"Cannot write into {out}: it is a file; name a folder with --out.")
        check_target(out / "compare.json")
    if json_file not in (None, "-"):
        check_target(json_file)
