"""`pcnet compare`: several methods on the same splits of a graph, and which of them can be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from pcnet._machine import chosen_device, device_note
from pcnet.cli._graph_argument import GraphArgument, ReadOption, graph_at, names_dataset
from pcnet.cli._next_steps import after_comparison
from pcnet.cli._options import (
    DataOption,
    DeviceOption,
    Interrupted,
    JsonOption,
    MetricOption,
    PluginOption,
    ProtocolOption,
    SeedOption,
    SetOption,
    ThreadsOption,
    check_json,
    emit_json,
    metric_words,
)
from pcnet.errors import PcnetError, SettingError
from pcnet.experiment import (
    DEFAULT_METHOD,
    Compared,
    CompareFolder,
    Experiment,
    Trained,
    check_scorable,
    method_file,
    presets,
    resolve,
    splits_of,
)
from pcnet.graph import Graph
from pcnet.show import (
    CompareProgress,
    comparison_record,
    graph_words,
    listed,
    print_comparison,
    write_comparison,
)


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
    assignments: SetOption = None,
    seed: SeedOption = None,
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
    plugin: PluginOption = None,
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
    check_json(json_file)
    if preset is not None:
        _check_preset(preset, graph, protocol, defaults)
    loaded = graph_at(graph, data, read)
    of = loaded.name if names_dataset(graph) and not defaults else loaded
    asked: dict[str, Any] = {"preset": preset, "protocol": protocol, "metric": metric, "runs": runs, "seed": seed}
    # The splits are those of one method whichever are asked for, so that they depend on none that is compared.
    usual = resolve(of, DEFAULT_METHOD, fallback=True, **asked)
    resolved = {m: replace(resolve(of, m, fallback=True, **asked), seeds=usual.seeds) for m in chosen}
    experiments, left_out = _changed(resolved, assignments or [])
    splits = splits_of(loaded, next(iter(experiments.values())))
    check_scorable(usual.scored_by, splits)
    folder = CompareFolder.open(out, loaded, splits, experiments, resume)
    console = Console(stderr=json_file == "-")
    titles = listed([experiment.title for experiment in experiments.values()])
    words = metric_words(loaded, usual.scored_by, metric)
    rest = f" on {graph_words(loaded)}: {usual.protocol}, {len(splits)} splits, {words}{device_note(device)}"
    console.print(Text.assemble((titles, "bold"), rest), highlight=False)
    trained, failed = _train_all(loaded, folder, console, threads, device)
    left_out |= failed
    folder.clear()
    if not trained:
        reasons = list(dict.fromkeys(left_out.values()))
        raise PcnetError(reasons[0] if len(reasons) == 1 else f"No method could be trained. {' '.join(reasons)}")
    compared = Compared(loaded, splits, trained, left_out)
    options = {
        "preset": [preset] if preset else [],
        "protocol": [protocol] if protocol else [],
        "metric": [metric] if metric else [],
        "set": assignments or [],
        "read": read or [],
        "data": [str(data)] if data else [],
    }
    steps = after_comparison(compared.by_method[compared.numbers.order[0]], graph, options)
    value = comparison_record(compared, words, steps, device)
    print_comparison(console, value)
    write_comparison(folder.path, value, compared.numbers.ranks)
    for what, command in steps:
        console.print(f"{what}\n  {command}", highlight=False, markup=False, soft_wrap=True)
    console.print(f"Everything is in {folder.path}; look at compare.html", highlight=False, markup=False)
    emit_json(json_file, value)


def _train_all(
    graph: Graph, folder: CompareFolder, console: Console, threads: int | None, device: str
) -> tuple[list[Trained], dict[str, str]]:
    """Scores of every method that could be trained, and of the others the reason."""
    trained, left_out = folder.kept(), dict[str, str]()
    try:
        with CompareProgress(console, folder.experiments) as progress:
            for method, kept in trained.items():
                progress.kept(method, kept)
            for method, experiment in folder.experiments.items():
                if method in trained:
                    continue
                progress.begin(method)
                outcome = folder.train(graph, method, device=device, threads=threads, progress=progress)
                if isinstance(outcome, Trained):
                    trained[method] = outcome
                else:
                    left_out[experiment.title] = outcome
                progress.finish(method, outcome)
    except KeyboardInterrupt:
        raise Interrupted(_how_to_go_on(folder, trained)) from None
    # In the order that was asked for, whichever were there before.
    return [trained[method] for method in folder.experiments if method in trained], left_out


def _how_to_go_on(folder: CompareFolder, trained: dict[str, Trained]) -> str:
    if not folder.is_halfway:
        folder.clear()
        return "Interrupted; nothing was written. Fewer methods or --runs take less time."
    done = listed([each.title for each in trained.values()])
    rest = listed([each.title for method, each in folder.experiments.items() if method not in trained])
    kept = f"{done or 'what is half trained'} {'are' if len(trained) > 1 else 'is'} kept in {folder.path}"
    return f"Interrupted; {kept}: the same command goes on with {rest}."


def _methods(names: str) -> list[str]:
    chosen = list(dict.fromkeys(method_file(name.strip()).name for name in names.split(",") if name.strip()))
    if len(chosen) < 2:
        raise PcnetError("A comparison needs two methods or more, as in --methods mlp,gcn,pcnet.")
    return chosen


def _changed(
    experiments: Mapping[str, Experiment], assignments: Sequence[str]
) -> tuple[dict[str, Experiment], dict[str, str]]:
    """The experiments with `--set` applied, and why some methods cannot be trained with these values.

    A setting that a method does not have is refused before any is trained.
    """
    changed, left_out = dict[str, Experiment](), dict[str, str]()
    for method, experiment in experiments.items():
        try:
            changed[method] = experiment.with_overrides(assignments).checked()
        except SettingError as error:
            raise PcnetError(f"{experiment.title}: {error}") from None
        except PcnetError as error:
            left_out[experiment.title] = str(error)
    if not changed:
        raise PcnetError("; ".join(dict.fromkeys(left_out.values())))
    return changed, left_out


def _check_preset(preset: str, graph: str | None, protocol: str | None, defaults: bool) -> None:
    presets().named(preset)
    if not names_dataset(graph):
        raise PcnetError("--preset is for the paper's datasets; leave it out for a graph of your own.")
    if protocol is not None or defaults:
        other = "--protocol" if protocol is not None else "--defaults"
        raise PcnetError(f"--preset brings splits and settings of its own; leave out {other}.")
    # Refuses a dataset that the table does not have, before it is loaded.
    resolve(graph, preset=preset, fallback=True)
