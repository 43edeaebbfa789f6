"""`pcnet compare`: several methods on the same splits of a graph, and which of them can be told apart."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from rich.text import Text
from typer import Option

from pcnet._machine import chosen_device, device_note
from pcnet.cli import _options as option
from pcnet.data import EMBEDDED
from pcnet.errors import Interrupted, PcnetError, SettingError
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
    Step,
    comparison_record,
    graph_words,
    listed,
    print_comparison,
    write_comparison,
)
from pcnet.tune import TRIALS, searched


def compare(
    graph: option.GraphName = None,
    methods: Annotated[
        str, Option("--methods", metavar="NAMES", help="Two methods or more, with commas between them.")
    ] = "mlp,gcn,pcnet",
    preset: Annotated[
        str | None, Option(metavar="TABLE", help="Splits and settings of a table of the paper, as in --preset table2.")
    ] = None,
    protocol: option.Protocol = None,
    metric: option.MetricName = None,
    defaults: Annotated[
        bool, Option("--defaults", help="Every method's defaults, also where there are settings for the graph.")
    ] = False,
    tuned: Annotated[
        bool, Option("--tuned", help="Search the settings of every method first; each split chooses for itself.")
    ] = False,
    trials: Annotated[
        int | None, Option(help="Of --tuned: settings that are tried of each method.", show_default=f"{TRIALS}", min=1)
    ] = None,
    runs: option.NumberOfRuns = None,
    assignments: option.Set = None,
    seed: option.Seed = None,
    threads: option.Threads = None,
    device: option.Device = "auto",
    out: Annotated[
        Path | None,
        Option(
            metavar="DIR",
            help="Folder for compare.html, .json and .md, pictures, and each method as soon as it is trained.",
            show_default="runs/compare-GRAPH-PROTOCOL",
        ),
    ] = None,
    resume: Annotated[
        bool, Option("--resume", help="Refuse to start anew: there must be an interrupted comparison.")
    ] = False,
    read: option.Read = None,
    plugin: option.Plugin = None,
    data: option.Data = None,
    json_file: option.Json = None,
) -> None:
    """Train several methods on the same splits and say which are better, and which only seem so.

    Every method meets every split once, so that methods are compared pair by pair: how far each is behind the best,
    with an interval that knows that splits of one graph overlap, and ranks with Wilcoxon's signed-rank test corrected
    by Holm. A named dataset brings the paper's settings where a method has them, your own graph every method's
    defaults; test labels choose nothing. With --tuned, as many settings of each method are tried, its defaults among
    them, and what is compared is what each split chose by its own validation nodes. A method that cannot be trained on
    this graph is left out and says why. Each method is kept as soon as it is trained: after Ctrl-C, the same command
    goes on where it was.
    """
    chosen = list(dict.fromkeys(method_file(name).name for name in option.names([methods])))
    if len(chosen) < 2:
        raise PcnetError("A comparison needs two methods or more, as in --methods mlp,gcn,pcnet.")
    if tuned and defaults:
        raise PcnetError("--tuned searches settings and --defaults takes those of each method; leave one of them out.")
    if trials is not None and not tuned:
        raise PcnetError("--trials are those of a search; add --tuned.")
    device, console = chosen_device(device), option.screen(json_file)
    if preset is not None:
        _check_preset(preset, graph, protocol, defaults)
    loaded = option.graph_at(graph, data, read)
    of = loaded.name if option.names_dataset(graph) and not defaults else loaded
    asked: dict[str, Any] = {"preset": preset, "protocol": protocol, "metric": metric, "runs": runs, "seed": seed}
    # The splits are those of one method whichever are asked for, so that they depend on none that is compared.
    usual, number = resolve(of, DEFAULT_METHOD, fallback=True, **asked), trials or TRIALS
    if tuned:
        # Every search starts from defaults, on the same splits.
        of = loaded
        asked |= {"preset": None, "protocol": usual.protocol}
        usual = replace(resolve(of, DEFAULT_METHOD, **asked), seeds=usual.seeds)
    experiments, left_out = dict[str, Experiment](), dict[str, str]()
    for method in chosen:
        experiment = replace(resolve(of, method, fallback=True, **asked), seeds=usual.seeds)
        if tuned:
            words = f"chosen by each split from its own validation nodes, {number} trials and the defaults"
            experiment = replace(experiment, source=words)
        try:
            experiments[method] = experiment.with_overrides(assignments or []).checked()
        except SettingError as error:
            # A setting that a method does not have is refused before any is trained.
            raise PcnetError(f"{experiment.title}: {error}") from None
        except PcnetError as error:
            left_out[experiment.title] = str(error)
    if not experiments:
        raise PcnetError("; ".join(dict.fromkeys(left_out.values())))
    splits = splits_of(loaded, next(iter(experiments.values())))
    check_scorable(usual.scored_by, splits)
    folder = CompareFolder.open(out, loaded, splits, experiments, resume, number if tuned else None)
    titles = listed([experiment.title for experiment in experiments.values()])
    words = option.metric_words(loaded, usual.scored_by, metric)
    rest = f" on {graph_words(loaded)}: {usual.protocol}, {len(splits)} splits, {words}{device_note(device)}"
    console.print(Text.assemble((titles, "bold"), rest))
    search = partial(searched, trials=number, fixed=assignments or []) if tuned else None
    trained, failed = _train_all(loaded, folder, console, threads=threads, device=device, search=search)
    left_out |= failed
    folder.clear()
    if not trained:
        reasons = list(dict.fromkeys(left_out.values()))
        raise PcnetError(reasons[0] if len(reasons) == 1 else f"No method could be trained. {' '.join(reasons)}")
    compared = Compared(loaded, splits, trained, left_out)
    best, name = compared.by_method[compared.numbers.order[0]], graph or EMBEDDED
    again: dict[str, option.Given] = {"method": best.method, "preset": preset, "protocol": protocol, "metric": metric}
    again |= {"set": assignments, "read": read, "data": data}
    if tuned:
        again = {"preset": folder.searches / best.method / "best.json", "read": read, "data": data}
    steps = [Step(f"Train {best.title}, for predictions and a report:", option.command("train", name, **again))]
    if not tuned:
        steps += option.search_step("Search for better settings of it:", best.method, name, **again)
    value = comparison_record(compared, words, steps, device)
    print_comparison(console, value)
    write_comparison(folder.path, value, compared.numbers.ranks)
    for step in steps:
        console.print(f"{step.what}\n  {step.command}", soft_wrap=True)
    console.print(f"Everything is in {folder.path}; look at compare.html")
    option.emit_json(json_file, value)


def _train_all(
    graph: Graph, folder: CompareFolder, console: Console, **how: Any
) -> tuple[list[Trained], dict[str, str]]:
    """Scores of every method that could be trained, in the order that was asked for, and of the others the reason."""
    trained, left_out = folder.kept(), dict[str, str]()
    try:
        work = folder.expected_work(graph)
        with CompareProgress(console, folder.experiments, work) as progress:
            for method, kept in trained.items():
                progress.finish(method, kept, ", kept from before")
            waiting = sorted((each for each in work if each not in trained), key=work.__getitem__)
            if len(waiting) > 1:
                titles = listed([folder.experiments[method].title for method in waiting])
                console.print(f"What is expected to be quick comes first: {titles}.")
            for method in waiting:
                progress.begin(method)
                outcome = folder.train(graph, method, progress=progress, **how)
                if isinstance(outcome, Trained):
                    trained[method] = outcome
                else:
                    left_out[folder.experiments[method].title] = outcome
                progress.finish(method, outcome)
    except KeyboardInterrupt:
        if not folder.is_halfway:
            folder.clear()
            raise Interrupted("Interrupted; nothing was written. Fewer methods or --runs take less time.") from None
        # A method that has just been written down may not have come back yet.
        trained = folder.kept()
        done = listed([each.title for each in trained.values()]) or "what is half trained"
        rest = listed([each.title for method, each in folder.experiments.items() if method not in trained])
        kept_there = f"{done} {'are' if len(trained) > 1 else 'is'} kept in {folder.path}"
        raise Interrupted(f"Interrupted; {kept_there}: the same command goes on with {rest}.") from None
    return [trained[method] for method in folder.experiments if method in trained], left_out


def _check_preset(preset: str, graph: str | None, protocol: str | None, defaults: bool) -> None:
    presets().named(preset)
    if not option.names_dataset(graph):
        raise PcnetError("--preset is for the paper's datasets; leave it out for a graph of your own.")
    if protocol is not None or defaults:
        other = "--protocol" if protocol is not None else "--defaults"
        raise PcnetError(f"--preset brings splits and settings of its own; leave out {other}.")
    # Refuses a dataset that the table does not have, before it is loaded.
    resolve(graph, preset=preset, fallback=True)
