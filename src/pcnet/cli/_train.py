"""`pcnet train`: train a method on a named dataset or your own graph and say how good it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from pcnet._machine import chosen_device
from pcnet.cli import _options as option
from pcnet.errors import Interrupted, PcnetError
from pcnet.experiment import DEFAULT_METHOD, MEMBERS, Result, RunFolder, provenance, resolve, run_experiment
from pcnet.graph import Graph, require_labels
from pcnet.show import ProgressBar, Step, print_notes, print_scores, train_headline, write_report

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
    plugin: option.Plugin = None,
    data: option.Data = None,
    read: option.Read = None,
    json_file: option.Json = None,
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
    device, console = chosen_device(device), option.screen(json_file)
    own = None if option.names_dataset(graph_name) else option.graph_at(graph_name, data, read)
    asked: dict[str, Any] = {"preset": preset, "protocol": protocol, "metric": metric, "runs": runs, "seed": seed}
    of = graph_name if own is None else own
    experiment = resolve(of, method, overrides=assignments or [], **asked).checked()
    # A named dataset is looked for once everything else is known to be right.
    graph = option.graph_at(experiment.dataset, data, read) if own is None else own
    require_labels(graph)
    # What is wrong with the model's settings is found out before anything is written.
    experiment.model.build(graph.num_features, graph.num_classes)
    folder = RunFolder.open(out, experiment, resume)
    members = MEMBERS if (predictor if predictor is not None else not experiment.of_a_preset) else 0
    console.print(train_headline(graph, experiment, device), style="bold")
    if experiment.metric != "accuracy" and metric is None:
        words = option.metric_words(graph, experiment.scored_by, metric)
        console.print(f"Scored by {words}; --metric accuracy changes that.")
    try:
        with ProgressBar() as bar:
            result = run_experiment(
                graph,
                experiment,
                members=members,
                threads=threads,
                device=device,
                progress=bar,
                checkpoint=folder.checkpoint,
                resume=resume,
            )
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
    write_report(folder.path / "report.html", graph, result, steps=steps, **made)
    folder.finish(result)
    print_scores(console, result)
    print_notes(console, (*graph.notes, *result.notes))
    console.print(f"{result.seconds:.1f} s; everything is in {folder.path}")
    option.emit_json(json_file, summary)


def _next_steps(folder: Path, graph: Graph, result: Result, source: str, read: Sequence[str]) -> list[Step]:
    """Commands that go on from here; they read, split and score the graph that `source` names in the same way."""
    experiment = result.experiment
    method = experiment.row or experiment.model.method
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
