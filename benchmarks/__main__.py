"""`python -m benchmarks`: speed and memory of the library and of the usual ways, side by side in one process.

ways       one filter forward and backward by this library, by the authors' scheme written plainly, by PyG's message
           passing and by torch.sparse.mm with autograd, for several orders and numbers of runs
scale      the same on generated graphs from 2,000 to 2 million nodes
bandwidth  how close the sparse products come to a copy
training   an epoch on real graphs
methods    the same of GPRGNN, BernNet, ChebNetII and JacobiConv, beside plain versions by PyG's message passing

Figures are medians over rounds in which all take turns, with the lowest and the highest; what would not fit or would
take too long is left out and says so.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.bandwidth import measure_bandwidth
from benchmarks.command import Command, console, quiet, show, start, with_origin
from benchmarks.effort import Effort
from benchmarks.plots import plot_report
from benchmarks.race import measure_scale, measure_ways
from benchmarks.tables import section_tables
from benchmarks.timing import Others, complaint
from benchmarks.training import measure_methods, measure_training
from pcnet._files import check_target
from pcnet._machine import chosen_device
from pcnet._progress import Silent
from pcnet.cli._options import emit_json
from pcnet.data import EMBEDDED, dataset_named, find, load_dataset
from pcnet.errors import PcnetError, close_match
from pcnet.experiment import DEFAULT_METHOD, presets
from pcnet.graph import Graph

SECTIONS = ("ways", "scale", "bandwidth", "training", "methods")
#: Datasets that a section trains on, where they are at hand.
DATASETS = {
    "training": ("cora", "texas", "actor", "pubmed", EMBEDDED),
    "methods": ("cora", "pubmed", EMBEDDED),
}


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    sections = _sections(options.sections)
    options.device = chosen_device(options.device)
    if options.json not in (None, "-"):
        check_target(options.json)
    if options.plots is not None:
        if options.plots.is_file():
            raise PcnetError(f"Cannot draw into {options.plots}: it is a file; name a folder.")
        check_target(options.plots / "bench.png")
    effort = Effort.planned(
        options.device,
        quick=options.quick,
        threads=options.threads,
        rounds=options.rounds,
        largest=options.largest,
    )
    graphs = _graphs(sections, options.datasets or [], options.data, options.quick)
    missing = [] if options.datasets else _missing(graphs["methods"], options.quick)
    measures: dict[str, Callable[..., dict[str, Any]]] = {
        "ways": measure_ways,
        "scale": measure_scale,
        "bandwidth": measure_bandwidth,
        "training": partial(measure_training, graphs=graphs["training"]),
        "methods": partial(measure_methods, graphs=graphs["methods"], left_out=missing),
    }
    quiet()
    screen = console(stderr=options.json == "-")
    report = with_origin(options, {"device": options.device, "threads": effort.threads})
    if effort.device.type == "cuda":
        report["versions"]["cuda"] = str(torch.version.cuda)
    report |= {"sections": {}, "other_processes": {}}
    screen.print(f"On {report['machine']}, cores used: {effort.threads}", highlight=False)
    screen.print(", ".join(f"{name} {number}" for name, number in report["versions"].items()), highlight=False)
    for section in sections:
        others = Others()
        with screen.status(section):
            result = measures[section](effort, Silent())
        report["sections"][section] = result
        report["other_processes"][section] = busy = others.cores()
        show(screen, *section_tables(section, result))
        if complaint(busy):
            screen.print(f"{complaint(busy)}\n", style="yellow")
    if options.plots is not None:
        files = plot_report(report, options.plots)
        screen.print(f"{len(files)} figures are in {options.plots}", highlight=False, markup=False)
    emit_json(options.json, report)


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


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Command("", __doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="small graphs, few rounds: a minute or two")
    parser.add_argument("--device", default="auto", help="cpu, cuda, cuda:N; default: a GPU where there is one")
    parser.add_argument("--threads", type=int, help="cores to use; default: all")
    parser.add_argument("--rounds", type=int, help="rounds that count; default: 5, or 3 with --quick")
    parser.add_argument(
        "--largest",
        type=int,
        metavar="N",
        help="nodes of the largest graph; default: 2 million, or 20,000 with --quick",
    )
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="train on these; default: those at hand")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="draw the results there, as PNG and SVG")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of raw datasets; default: $PCNET_DATA")
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON; '-' is standard output")
    return parser.options(arguments)


if __name__ == "__main__":
    start(main)
