"""`pcnet compare`: several methods on the same splits of a graph, and which of them can be told apart."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.markup import escape

from pcnet._files import check_target
from pcnet._machine import chosen_device, device_note
from pcnet.cli._compare_folder import CompareFolder
from pcnet.cli._compare_report import Step, results
from pcnet.cli._contest import Contest, Trained, listed
from pcnet.cli._graph_argument import GraphArgument, ReadOption, graph_at, names_dataset
from pcnet.cli._metric import metric_words
from pcnet.cli._options import (
    DataOption,
    DeviceOption,
    Interrupted,
    JsonOption,
    MetricOption,
    ProtocolOption,
    ThreadsOption,
    emit_json,
)
from pcnet.cli._versions import provenance
from pcnet.data import EMBEDDED
from pcnet.errors import PcnetError, close_match
from pcnet.experiment import (
    DEFAULT_METHOD,
    Experiment,
    check_scorable,
    graph_experiment,
    method_file,
    named_experiment,
    preset_names,
    run_experiment,
    splits_of,
    table_experiment,
)
from pcnet.graph import Graph
from pcnet.show import CompareProgress, print_comparison, write_comparison

NO_MEMORY = "there is not enough memory for it"


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
    metric: MetricOption = None,
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
        typer.Option(
            metavar="DIR",
            help="Folder for compare.html, .json and .md, pictures, and each method as soon as it is trained.",
            show_default="runs/compare-GRAPH-PROTOCOL",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Refuse to start anew: there must be an interrupted comparison.")
    ] = False,
    read: ReadOption = None,
    data: DataOption = None,
    json_file: JsonOption = None,
) -> None:
    """Train several methods on the same splits and say which are better, and which only seem so.

    Every method meets every split once, so that methods are compared pair by pair: how far each is behind the best,
    with an interval that knows that splits of one graph overlap, and ranks with Wilcoxon's signed-rank test corrected
    by Holm. A named dataset brings the paper's settings where a method has them, your own graph every method's
    defaults; test labels choose nothing. A method that cannot be trained on this graph is left out and says why. Each
    method is kept as soon as it is trained: after Ctrl-C, the same command goes on where it was.
    """
    chosen = _methods(methods)
    device = chosen_device(device)
    if json_file not in (None, "-"):
        check_target(json_file)
    if preset is not None:
        _check_preset(preset, graph, protocol, defaults)
    loaded = graph_at(graph, data, read)

    def settings(method: str) -> Experiment:
        if defaults or not names_dataset(graph):
            found = graph_experiment(loaded, method, protocol)
        elif preset is not None:
            found = table_experiment(loaded.name, preset, method)
        else:
            found = named_experiment(loaded.name, None, method, protocol)
        return found.with_metric(metric)

    # The splits are those of one method whichever are asked for, so that they depend on none that is compared.
    usual = settings(DEFAULT_METHOD)
    seeds = usual.with_runs(len(usual.seeds) if runs is None else runs, seed).seeds
    experiments = {method: replace(_changed(settings(method), assignments or []), seeds=seeds) for method in chosen}
    splits = splits_of(loaded, next(iter(experiments.values())))
    check_scorable(usual.scored_by, splits)
    folder = CompareFolder.open(out, loaded, splits, experiments, resume)
    console = Console(stderr=json_file == "-")
    titles = listed([experiment.title for experiment in experiments.values()])
    words = metric_words(loaded, usual.scored_by, metric)
    console.print(
        f"[bold]{titles}[/bold] on {escape(loaded.name)} ({loaded.num_nodes:,} nodes, {loaded.num_features:,} "
        f"features, {loaded.num_classes} classes): {usual.protocol}, {len(splits)} splits, {escape(words)}"
        f"{device_note(device)}",
        highlight=False,
    )
    trained, left_out = _train_all(loaded, experiments, folder, console, threads, device)
    folder.clear()
    if not trained:
        reasons = list(dict.fromkeys(left_out.values()))
        raise PcnetError(reasons[0] if len(reasons) == 1 else f"No method could be trained. {' '.join(reasons)}")
    contest = Contest(loaded, splits, trained, left_out)
    options = {
        "--preset": [preset] if preset else [],
        "--protocol": [protocol] if protocol else [],
        "--metric": [metric] if metric else [],
        "--set": assignments or [],
        "--read": read or [],
        "--data": [str(data)] if data else [],
    }
    value = results(contest, words, _next_steps(contest.order[0], graph, options), device)
    print_comparison(console, value)
    write_comparison(folder.path, value, contest.ranks)
    for step in value["next"]:
        console.print(f"{step['what']}\n  {step['command']}", highlight=False, markup=False, soft_wrap=True)
    console.print(f"Everything is in {folder.path}; look at compare.html", highlight=False, markup=False)
    emit_json(json_file, value)


def _train_all(
    graph: Graph,
    experiments: Mapping[str, Experiment],
    folder: CompareFolder,
    console: Console,
    threads: int | None,
    device: str,
) -> tuple[list[Trained], dict[str, str]]:
    """Scores of every method that could be trained, and of the others the reason; each is kept at once."""
    said = provenance(device)
    made = {"date": said["date"], "machine": said["machine"]}
    trained: dict[str, Trained] = {}
    left_out: dict[str, str] = {}
    try:
        with CompareProgress(console, experiments) as progress:
            for method, experiment in experiments.items():
                kept = folder.kept(method, experiment)
                if kept is not None:
                    trained[method] = kept
                    progress.kept(method, kept)
            for method, experiment in experiments.items():
                if method in trained:
                    continue
                progress.begin(method)
                checkpoint = folder.checkpoint(experiment, device)
                how = {"threads": threads, "device": device, "reporter": progress, "checkpoint": checkpoint}
                outcome = _attempt(graph, method, experiment, made, **how)
                if isinstance(outcome, Trained):
                    trained[method] = outcome
                    folder.keep(outcome)
                else:
                    left_out[experiment.title] = outcome
                progress.finish(method, outcome)
    except KeyboardInterrupt:
        raise Interrupted(_how_to_go_on(folder, experiments, trained)) from None
    # In the order that was asked for, whichever were there before.
    return [trained[method] for method in experiments if method in trained], left_out


def _attempt(graph: Graph, method: str, experiment: Experiment, made: Mapping[str, str], **how: Any) -> Trained | str:
    """A method's scores, or why there are none."""
    try:
        return Trained.of(method, run_experiment(graph, experiment, resume=True, **how), made)
    except PcnetError as error:
        return str(error)
    except (MemoryError, torch.cuda.OutOfMemoryError):
        return NO_MEMORY


def _how_to_go_on(folder: CompareFolder, experiments: Mapping[str, Experiment], trained: Mapping[str, Trained]) -> str:
    if not folder.is_halfway:
        folder.clear()
        return "Interrupted; nothing was written. Fewer methods or --runs take less time."
    done = listed([each.title for each in trained.values()])
    rest = listed([each.title for method, each in experiments.items() if method not in trained])
    kept = f"{done or 'what is half trained'} {'are' if len(trained) > 1 else 'is'} kept in {folder.path}"
    return f"Interrupted; {kept}: the same command goes on with {rest}."


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


def _next_steps(best: Trained, graph: str | None, options: Mapping[str, Sequence[str]]) -> list[Step]:
    """What to do with the best method, as commands that read, split and score the graph in the same way."""
    said = [word for name, values in options.items() for value in values for word in (name, value)]
    where = [graph or EMBEDDED, "--method", best.method, *said]
    steps = [(f"Train {best.title}, for predictions and a report:", shlex.join(["pcnet", "train", *where]))]
    if best.method == DEFAULT_METHOD or method_file(best.method).grid:
        steps.append(("Search for better settings of it:", shlex.join(["pcnet", "tune", *where])))
    return steps
