"""`pcnet bench`: speed and memory of this library and of the usual ways, on the machine it is run on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from pcnet._files import check_target
from pcnet._machine import chosen_device
from pcnet.cli._options import DataOption, DeviceOption, JsonOption, emit_json
from pcnet.data import EMBEDDED, dataset_named, find, load_dataset
from pcnet.errors import PcnetError, PcnetWarning, close_match
from pcnet.experiment import DEFAULT_METHOD, command_line, presets, versions
from pcnet.graph import Graph

SECTIONS = ("ways", "scale", "bandwidth", "training", "methods")
#: Datasets that a section trains on, where they are at hand.
DATASETS = {
    "training": ("cora", "texas", "actor", "pubmed", EMBEDDED),
    "methods": ("cora", "pubmed", EMBEDDED),
}


def bench(
    sections: Annotated[
        list[str] | None, typer.Argument(metavar="SECTION", help=f"{', '.join(SECTIONS)}; all by default.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small graphs, few rounds: a minute or two.")] = False,
    device: DeviceOption = "auto",
    threads: Annotated[int | None, typer.Option("--threads", help="Cores to use; all by default.")] = None,
    rounds: Annotated[int | None, typer.Option("--rounds", help="Rounds that count; 5, or 3 with --quick.")] = None,
    largest: Annotated[
        int | None,
        typer.Option("--largest", metavar="N", help="Nodes of the largest graph; 2,000,000, or 20,000 with --quick."),
    ] = None,
    datasets: Annotated[
        list[str] | None,
        typer.Option("--dataset", metavar="NAME", help="Time trainings on it; may be repeated. All at hand if not."),
    ] = None,
    plots: Annotated[
        Path | None, typer.Option("--plots", metavar="DIR", help="Draw the results there, as PNG and SVG.")
    ] = None,
    data: DataOption = None,
    json_file: JsonOption = None,
) -> None:
    """Measure speed and memory, side by side in one process.

    *ways*: one filter forward and backward by this library, by the authors' scheme written plainly, by PyG's message
    passing and by `torch.sparse.mm` with autograd, for several orders and numbers of runs. *scale*: the same on
    generated graphs from 2,000 to 2 million nodes. *bandwidth*: how close the sparse products come to a copy.
    *training*: an epoch on real graphs. *methods*: the same of GPRGNN, BernNet, ChebNetII and JacobiConv, beside plain
    versions of them by PyG's message passing. Figures are medians over rounds in which all take turns, with the lowest
    and the highest; what would not fit or would take too long is left out and says so.
    """
    chosen = _sections(sections or [])
    device = chosen_device(device)
    if json_file not in (None, "-"):
        check_target(json_file)
    if plots is not None:
        if plots.is_file():
            raise PcnetError(f"Cannot draw into {plots}: it is a file; name a folder.")
        check_target(plots / "bench.png")
    from pcnet import bench as room

    effort = room.Effort.planned(device, quick=quick, threads=threads, rounds=rounds, largest=largest)
    graphs = _graphs(chosen, datasets or [], data, quick)
    missing = [] if datasets else _missing(graphs["methods"], quick)
    measures: dict[str, Callable[..., dict[str, Any]]] = {
        "ways": room.measure_ways,
        "scale": room.measure_scale,
        "bandwidth": room.measure_bandwidth,
        "training": partial(room.measure_training, graphs=graphs["training"]),
        "methods": partial(room.measure_methods, graphs=graphs["methods"], left_out=missing),
    }
    console = Console(stderr=json_file == "-")
    if not console.is_terminal:
        console = Console(stderr=json_file == "-", width=120)
    report: dict[str, Any] = {
        "command": command_line(),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": room.machine(effort.device),
        "device": str(effort.device),
        "threads": effort.threads,
        "versions": versions() | ({"cuda": str(torch.version.cuda)} if effort.device.type == "cuda" else {}),
        "sections": {},
        "other_processes": {},
    }
    _show_head(console, report)
    for section in chosen:
        others = room.Others()
        with warnings.catch_warnings(), SectionBar(section) as bar:
            warnings.simplefilter("ignore", PcnetWarning)
            warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
            result = measures[section](effort, bar)
        report["sections"][section] = result
        report["other_processes"][section] = busy = others.cores()
        console.print(room.section_table(section, result), highlight=False)
        if busy is not None and busy > room.TOLERATED:
            console.print(f"Other processes kept {busy} cores busy meanwhile; repeat this.\n", style="yellow")
    if plots is not None:
        files = room.plot_report(report, plots)
        console.print(f"{len(files)} figures are in {plots}", highlight=False)
    emit_json(json_file, report)


def _sections(names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in SECTIONS:
            raise PcnetError(
                f"There is no section '{name}'; choose from {', '.join(SECTIONS)}.{close_match(name, SECTIONS)}"
            )
    return [section for section in SECTIONS if section in names or not names]


def _graphs(
    sections: Sequence[str], names: Sequence[str], data: Path | None, quick: bool
) -> dict[str, dict[str, Graph]]:
    """What each section trains on: the named datasets, or those of its usual ones that need no download."""
    known = presets().named("table2").datasets_of(DEFAULT_METHOD)
    for name in names:
        if dataset_named(name).name not in known:
            raise PcnetError(f"The training is timed with Table 2's settings; it has {', '.join(known)}, not {name}.")
    graphs: dict[str, dict[str, Graph]] = {section: {} for section in DATASETS}
    load = cache(partial(load_dataset, root=data))
    for section in (section for section in DATASETS if section in sections):
        usual = (EMBEDDED,) if quick else DATASETS[section]
        at_hand = [name for name in usual if name == EMBEDDED or find(dataset_named(name), data) is not None]
        graphs[section] = {dataset_named(name).name: load(name) for name in names or at_hand}
    return graphs


def _missing(graphs: Mapping[str, Graph], quick: bool) -> list[dict[str, str]]:
    """Usual datasets of the methods that are not among these, and why."""
    reason = "--quick does without it" if quick else "it is not at hand; name its folder with --data or PCNET_DATA"
    return [{"dataset": name, "skipped": reason} for name in DATASETS["methods"] if name not in graphs]


def _show_head(console: Console, report: dict[str, Any]) -> None:
    machine = report["machine"]
    gpu = f"{machine['gpu']} ({machine['gpu_gib']:g} GiB), " if "gpu" in machine else ""
    console.print(f"[bold]pcnet bench[/bold] on {gpu}{machine['cpu']}, {report['threads']} of {machine['cores']} cores")
    console.print(", ".join(f"{name} {number}" for name, number in report["versions"].items()), highlight=False)


class SectionBar:
    """How far a section has come; on standard error, and only where someone is looking."""

    def __init__(self, section: str) -> None:
        console = Console(stderr=True)
        columns = (TextColumn(section), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        self._progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._progress.add_task("", total=1.0)

    def __enter__(self) -> SectionBar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, what: str, done: float) -> None:
        self._progress.update(self._task, description=what, completed=done)
