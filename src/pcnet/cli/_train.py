"""`pcnet train`: train PCNet on a named dataset and say how good it is."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from pcnet._files import write_json
from pcnet.cli._run_folder import RunFolder
from pcnet.cli._versions import versions
from pcnet.data import load_dataset
from pcnet.errors import PcnetError
from pcnet.experiments import Experiment, Result, default_experiment, preset_experiment, run_experiment
from pcnet.graph import Graph


def train(
    dataset: Annotated[str, typer.Argument(help="A name from `pcnet data list`.")] = "citeseer",
    preset: Annotated[
        str | None, typer.Option(metavar="TABLE", help="The paper's settings: table1, table2 or table3.")
    ] = None,
    runs: Annotated[int, typer.Option(help="Number of runs, each with a split and a seed of its own.")] = 10,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting, as in --set t=0.5 --set lr.theta=0.01."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="First seed; the published seeds by default.")] = None,
    threads: Annotated[int | None, typer.Option(help="Runs computed at the same time; all cores by default.")] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:N.")] = "cpu",
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Run folder; a new one under runs/ by default.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the interrupted training in --out.")] = False,
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of raw datasets (else $PCNET_DATA).")] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON; '-' is standard output.")
    ] = None,
) -> None:
    """Train PCNet and compare it with the paper.

    Without arguments: the CiteSeer graph inside the package, the paper's Table 2 settings, ten runs. The weights of
    the best validation epoch are kept; test labels are read once, after all training. Settings, split hashes,
    metrics, models and a picture of the learned filter are written to a run folder.
    """
    experiment = default_experiment(dataset) if preset is None else preset_experiment(dataset, preset)
    experiment = experiment.with_overrides(assignments or []).with_runs(runs, seed)
    experiment.training.check_groups(experiment.model.groups)
    check_device(device)
    graph = load_dataset(dataset, data)
    console = Console(stderr=json_file == "-")
    folder = RunFolder.open(out, experiment, resume)
    console.print(_headline(graph, experiment))
    try:
        with Bar(experiment, Console(stderr=True)) as bar:
            result = run_experiment(
                graph,
                experiment,
                threads=threads,
                device=device,
                reporter=bar,
                checkpoint=folder.checkpoint,
                resume=resume,
            )
    except KeyboardInterrupt:
        raise PcnetError(f"Interrupted; the same command with --resume --out {folder.path} continues it.") from None
    except BaseException:
        folder.discard_if_empty()
        raise
    summary = summary_of(result)
    folder.write(graph, result, summary)
    console.print(_table(result))
    for note in (*graph.notes, *result.notes):
        console.print(f"note: {note}", style="dim", highlight=False)
    console.print(f"{result.seconds:.1f} s; everything is in {folder.path}", highlight=False)
    if json_file == "-":
        sys.stdout.write(json.dumps(summary, indent=2, allow_nan=False) + "\n")
    elif json_file is not None:
        write_json(json_file, summary)


def summary_of(result: Result) -> dict[str, Any]:
    """The result as plain data; accuracies in percent."""
    experiment = result.experiment
    return {
        "dataset": experiment.dataset,
        "preset": experiment.preset,
        "runs": len(experiment.seeds),
        "settings": {**experiment.settings, "seeds": list(experiment.seeds)},
        "test": result.test["accuracy"].as_dict(),
        "val": result.val["accuracy"].as_dict(),
        "epochs": [outcome.epochs for outcome in result.outcomes],
        "seconds": result.seconds,
        "versions": versions(),
    }


def check_device(device: str) -> None:
    """Refuse a device that this machine does not have."""
    try:
        kind = torch.device(device)
    except RuntimeError:
        raise PcnetError(f"There is no device '{device}'; use cpu, cuda or cuda:N.") from None
    if kind.type == "cuda" and not torch.cuda.is_available():
        raise PcnetError("This machine has no CUDA device that torch can use; leave out --device or say cpu.")
    if kind.type not in ("cpu", "cuda"):
        raise PcnetError(f"pcnet does not run on '{kind.type}'; use cpu or cuda.")


class Bar:
    """A live progress bar over all epochs of all runs."""

    def __init__(self, experiment: Experiment, console: Console) -> None:
        columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TextColumn("epochs"), TimeRemainingColumn())
        self._progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._total = experiment.training.epochs * len(experiment.seeds)
        self._task = TaskID(0)

    def __enter__(self) -> Bar:
        self._progress.start()
        self._task = self._progress.add_task("training", total=self._total)
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def advance(self, epochs: int) -> None:
        self._progress.advance(self._task, epochs)


def _headline(graph: Graph, experiment: Experiment) -> str:
    return (
        f"[bold]PCNet[/bold] on {experiment.dataset} ({graph.num_nodes:,} nodes, {graph.num_features:,} features, "
        f"{graph.num_classes} classes): {experiment.preset}, {experiment.protocol}, {len(experiment.seeds)} runs"
    )


def _table(result: Result) -> Table:
    experiment = result.experiment
    table = Table(box=SIMPLE, title="Test accuracy in percent", title_justify="left")
    for column in ("", "mean", "95 % interval of the mean", "std between runs", "± (larger half)"):
        table.add_column(column, justify="left" if column == "" else "right")
    for name, summary in (("test", result.test["accuracy"]), ("validation", result.val["accuracy"])):
        low, high = summary.ci95
        interval = f"[{low:.2f}, {high:.2f}]"
        table.add_row(name, f"{summary.mean:.2f}", interval, f"{summary.std:.2f}", f"{summary.half_width:.2f}")
    for name, figure in (("paper", experiment.paper), ("authors' code, rerun", experiment.rerun)):
        if figure is not None:
            table.add_row(name, f"{figure[0]:.2f}", "", "", f"{figure[1]:.2f}", style="dim")
    for metric, label in (("macro_f1", "test macro-F1"), ("roc_auc", "test ROC-AUC")):
        if metric in result.test:
            summary = result.test[metric]
            low, high = summary.ci95
            table.add_row(
                label, f"{summary.mean:.2f}", f"[{low:.2f}, {high:.2f}]", f"{summary.std:.2f}", f"{summary.half_width:.2f}"
            )
    return table
