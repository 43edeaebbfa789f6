"""`pcnet train`: train a method on a named dataset or your own graph and say how good it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from pcnet._files import check_target
from pcnet._machine import chosen_device
from pcnet.cli._graph_argument import GraphArgument, ReadOption, graph_at, names_dataset, own_experiment
from pcnet.cli._metric import metric_words
from pcnet.cli._options import (
    DataOption,
    DeviceOption,
    Interrupted,
    JsonOption,
    MethodOption,
    MetricOption,
    ProtocolOption,
    ThreadsOption,
    emit_json,
)
from pcnet.cli._run_folder import RunFolder
from pcnet.cli._versions import provenance
from pcnet.errors import PcnetError
from pcnet.experiment import DEFAULT_METHOD, MEMBERS, Result, named_experiment, run_experiment
from pcnet.graph import require_labels
from pcnet.show import ProgressBar, print_scores, train_headline


def train(
    graph_name: GraphArgument = None,
    preset: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="The paper's settings, table1, table2 or table3; or a .json file of them."),
    ] = None,
    protocol: ProtocolOption = None,
    method: MethodOption = DEFAULT_METHOD,
    runs: Annotated[
        int | None,
        typer.Option(help="Number of runs, each with a split and a seed of its own.", show_default="the preset's, 10"),
    ] = None,
    metric: MetricOption = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting, as in --set t=0.5 --set lr.theta=0.01."),
    ] = None,
    predictor: Annotated[
        bool | None,
        typer.Option(
            "--predictor/--no-predictor",
            help="Train models on every label besides, to predict with; the runs only say how good they are.",
            show_default="yes, but not with the settings of a table of the paper",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="First seed; the published seeds by default.")] = None,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Run folder; a new one under runs/ by default.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the interrupted training in --out.")] = False,
    data: DataOption = None,
    read: ReadOption = None,
    json_file: JsonOption = None,
) -> None:
    """Train PCNet, or another method of its paper, on a named dataset or your own graph.

    Without arguments: the CiteSeer graph inside the package, the paper's Table 2 settings, ten runs. On your own graph
    a method has its defaults, and each run splits the labelled nodes anew, with every class's share in each part,
    unless the file brings splits. The runs say what to expect of predictions for nodes without a label; five more
    models, trained on every label, make them. The weights of the best validation epoch are kept; test labels are read
    once, after all training. Settings, split hashes, metrics, models, a picture of the learned filter and report.html
    are written to a run folder, for `pcnet predict`.
    """
    if preset is not None and protocol is not None:
        raise PcnetError("--preset brings splits of its own; leave out --preset or --protocol.")
    device = chosen_device(device)
    if names_dataset(graph_name):
        graph = None
        experiment = named_experiment(graph_name, preset, method, protocol).with_metric(metric)
    else:
        graph = graph_at(graph_name, data, read)
        experiment = own_experiment(graph, preset, method, protocol, metric)
    runs = len(experiment.seeds) if runs is None else runs
    experiment = experiment.with_overrides(assignments or []).with_runs(runs, seed)
    experiment.training.check_groups(experiment.model.groups)
    if json_file not in (None, "-"):
        check_target(json_file)
    if graph is None:
        graph = graph_at(experiment.dataset, data, read)
    require_labels(graph)
    # What is wrong with the model's settings is found out before anything is written.
    experiment.model.build(graph.num_features, graph.num_classes)
    console = Console(stderr=json_file == "-")
    folder = RunFolder.open(out, experiment, resume)
    members = MEMBERS if (predictor if predictor is not None else not experiment.of_a_table) else 0
    console.print(train_headline(graph, experiment, device), highlight=False, markup=False, style="bold")
    if experiment.metric != "accuracy" and metric is None:
        words = metric_words(graph, experiment.scored_by, metric)
        console.print(f"Scored by {words}; --metric accuracy changes that.", highlight=False, markup=False)
    try:
        with ProgressBar() as bar:
            # The models that are kept to predict are trained too.
            bar.stage("training", experiment.training.epochs * (len(experiment.seeds) + members))
            result = run_experiment(
                graph,
                experiment,
                members=members,
                threads=threads,
                device=device,
                reporter=bar,
                checkpoint=folder.checkpoint,
                resume=resume,
            )
    except KeyboardInterrupt:
        resume_with = f"the same command with --resume --out {folder.path} continues it"
        raise Interrupted(f"Interrupted; {resume_with}.") from None
    except BaseException:
        folder.discard()
        raise
    summary = summary_of(result, device)
    folder.write(graph, result, summary, graph_name or graph.name, read or [])
    print_scores(console, result)
    for note in (*graph.notes, *result.notes):
        console.print(f"note: {note}", style="dim", highlight=False, markup=False)
    console.print(f"{result.seconds:.1f} s; everything is in {folder.path}", highlight=False, markup=False)
    emit_json(json_file, summary)


def summary_of(result: Result, device: str) -> dict[str, Any]:
    """The result as plain data, shares in percent, with what it takes to compute it again."""
    experiment = result.experiment
    return {
        "dataset": experiment.dataset,
        "preset": experiment.preset,
        "runs": len(experiment.seeds),
        "settings": {**experiment.settings, "seeds": list(experiment.seeds)},
        "metric": experiment.metric,
        "test": result.headline.as_dict(),
        "val": result.val[experiment.metric].as_dict(),
        "epochs": [outcome.epochs for outcome in result.outcomes],
        "seconds": result.seconds,
        **provenance(device),
    }
