"""`pcnet train`: train a method on a named dataset or your own graph and say how good it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from pcnet._machine import chosen_device, device_note
from pcnet.cli import _options as option
from pcnet.errors import Interrupted, PcnetError
from pcnet.experiment import DEFAULT_METHOD, MEMBERS, Result, RunFolder, provenance, resolve, run_experiment
from pcnet.graph import Graph, require_labels
from pcnet.show import (
    ProgressBar,
    Step,
    auto_headline,
    board,
    print_auto,
    print_notes,
    print_scores,
    train_headline,
    write_report,
)
from pcnet.tune import AUTO, MINUTES, auto

#: The usual methods to hold another one against: neighbours averaged, no neighbours, and both kinds of neighbours.
USUAL = ("gcn", "mlp", "acmgcn")


def train(
    graph_name: option.GraphName = None,
    preset: option.Preset = None,
    protocol: option.Protocol = None,
    method: option.Method = DEFAULT_METHOD,
    runs: option.NumberOfRuns = None,
    metric: option.MetricName = None,
    assignments: option.Set = None,
    predictor: Annotated[
        bool | None,
        Option(
            "--predictor/--no-predictor",
            help="Train models on every label besides, to predict with; the runs only say how good they are.",
            show_default="yes, but not with the settings of a table of the paper",
        ),
    ] = None,
    seed: option.Seed = None,
    threads: option.Threads = None,
    device: option.Device = "auto",
    out: Annotated[Path | None, Option(metavar="DIR", help="Run folder; a new one under runs/ by default.")] = None,
    resume: Annotated[bool, Option("--resume", help="Continue the interrupted training in --out.")] = False,
    minutes: Annotated[
        float | None, Option(help="Of --method auto: the time for all of it.", show_default=f"{MINUTES:g}")
    ] = None,
    trials: Annotated[
        int | None, Option(help="Of --method auto: settings that compete, instead of --minutes.", min=1)
    ] = None,
    refit: Annotated[
        bool, Option("--refit", help="Train what predicts once more, with no label kept back to stop by.")
    ] = False,
    plugin: option.Plugin = None,
    data: option.Data = None,
    read: option.Read = None,
    json_file: option.Json = None,
) -> None:
    """Train PCNet, or any other method, on a named dataset or your own graph.

    Without arguments: the CiteSeer graph inside the package, the paper's Table 2 settings, ten runs. On your own graph
    a method has its defaults, and each run splits the labelled nodes anew, with every class's share in each part,
    unless the file brings splits. The runs say what to expect of predictions for nodes without a label; five more
    models, trained on every label, make them. The weights of the best validation epoch are kept; test labels are read
    once, after all training. Settings, split hashes, metrics, models, a picture of the learned filter and report.html
    are written to a run folder, for `pcnet predict`.

    With --method auto, methods and settings compete for --minutes (Ctrl-C keeps the best so far), and an ensemble of
    those that do well on labels they do not know is what predicts; --resume --out DIR lets the contest go on.
    """
    if preset is not None and protocol is not None:
        raise PcnetError("--preset brings splits of its own; leave out --preset or --protocol.")
    automatic = method.lower() == AUTO
    ends: dict[str, Any] = {"minutes": minutes, "trials": trials}
    if automatic and (preset is not None or assignments):
        raise PcnetError("--method auto searches for settings itself; leave out --preset and --set.")
    if automatic and None not in ends.values():
        raise PcnetError("--minutes and --trials both say when the contest ends; leave one of them out.")
    if not automatic and {*ends.values()} != {None}:
        raise PcnetError(f"--minutes and --trials belong to --method auto, not to {method}.")
    if refit and predictor is False:
        raise PcnetError("--refit is about the models that predict; leave out --no-predictor.")
    device, console = chosen_device(device), option.screen(json_file)
    own = None if option.names_dataset(graph_name) else option.graph_at(graph_name, data, read)
    of = graph_name if own is None else own
    if automatic:
        # One split of the usual ones gives the estimate.
        usual = resolve(of, protocol=protocol, metric=metric, runs=runs or 1, seed=seed)
        experiment = replace(usual, preset=AUTO, row=AUTO)
    else:
        asked: dict[str, Any] = {"preset": preset, "protocol": protocol, "metric": metric, "runs": runs, "seed": seed}
        experiment = resolve(of, method, overrides=assignments or [], **asked).checked()
    # A named dataset is looked for once everything else is known to be right.
    graph = option.graph_at(experiment.dataset, data, read) if own is None else own
    require_labels(graph)
    # What is wrong with the model's settings is found out before anything is written.
    experiment.model.build(graph.num_features, graph.num_classes)
    folder = RunFolder.open(out, experiment, resume)
    headline = auto_headline(graph, experiment, minutes, trials) if automatic else train_headline(graph, experiment)
    console.print(f"{headline}{device_note(device)}", style="bold")
    if experiment.metric != "accuracy" and metric is None:
        words = option.metric_words(graph, experiment.scored_by, metric)
        console.print(f"Scored by {words}; --metric accuracy changes that.")
    found = None
    try:
        with ProgressBar() as bar:
            how: dict[str, Any] = {"threads": threads, "device": device, "progress": bar, "refit": refit}
            if automatic:
                found = auto(graph, experiment, folder.checkpoint, **ends, **how)
                result = found.result
            else:
                wanted = predictor if predictor is not None else refit or not experiment.of_a_preset
                members = MEMBERS if wanted else 0
                how |= {"members": members, "checkpoint": folder.checkpoint, "resume": resume}
                result = run_experiment(graph, experiment, **how)
    except KeyboardInterrupt:
        resume_with = f"the same command with --resume --out {folder.path} continues it"
        raise Interrupted(f"Interrupted; {resume_with}.") from None
    except BaseException:
        folder.discard()
        raise
    made = provenance(device)
    summary, source = {**result.as_dict(), **made}, graph_name or graph.name
    folder.write(graph, result, summary, source, read or [])
    steps = _next_steps(folder.path, graph, result, source, read or [])
    contest = None if found is None else board(found.contests[0])
    write_report(folder.path / "report.html", graph, result, steps=steps, board=contest, **made)
    folder.finish(result)
    if found is None:
        print_scores(console, result)
    else:
        print_auto(console, found)
    print_notes(console, (*graph.notes, *result.notes))
    console.print(f"{result.seconds:.1f} s; everything is in {folder.path}")
    option.emit_json(json_file, summary)


def _next_steps(folder: Path, graph: Graph, result: Result, source: str, read: Sequence[str]) -> list[Step]:
    """Commands that go on from here; they read, split and score the graph that `source` names in the same way."""
    experiment = result.experiment
    # Of a contest, the method that weighs most.
    method = experiment.model.method if experiment.row == AUTO else experiment.row or experiment.model.method
    other = DEFAULT_METHOD if method == USUAL[0] else USUAL[0]
    rivals = [each for each in (DEFAULT_METHOD, *USUAL) if each != method]
    usual = resolve(graph.name if option.names_dataset(source) else graph, other)
    options: dict[str, option.Given] = {"read": read} | {
        name: getattr(experiment, name)
        for name in ("protocol", "metric")
        if getattr(usual, name) != getattr(experiment, name)
    }
    some = bool((graph.y < 0).any())
    predict = option.command("predict", str(folder), "-o", "predictions.csv", *["--unlabelled"] * some)
    another = option.command("train", source, **options, method=other)
    compare = option.command("compare", source, **options, methods=",".join([method, *rivals]))
    return [
        Step("Predict the nodes without a label:" if some else "Predict every node:", predict),
        Step(f"Train another method on the same splits, here {other}:", another),
        Step("See which method is better:", compare),
        *option.search_step(f"Search better settings of {experiment.title}:", method, source, **options, method=method),
    ]
