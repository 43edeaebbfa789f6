"""`pcnet reproduce`: every number, table and figure of the paper again, and the published one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pcnet._machine import chosen_device
from pcnet.cli._options import DataOption, DeviceOption, JsonOption, ThreadsOption, emit_json
from pcnet.cli._reproduction import Reproduction
from pcnet.errors import PcnetError, close_match
from pcnet.experiment import provenance
from pcnet.paper import TableSweep, cells_of
from pcnet.propagate import available_threads

TABLES: dict[str, tuple[str, ...]] = {
    "table1": ("table1",),
    "table2": ("table2",),
    "table3": ("table3",),
    "table4": ("table4",),
    "ablation": ("eta-half", "no-identity"),
}
OTHERS = ("figure2", "datasets")
TARGETS = (*TABLES, *OTHERS, "all")


def reproduce(
    targets: Annotated[list[str], typer.Argument(metavar="TARGET...", help=f"{', '.join(TARGETS)}.")],
    methods: Annotated[
        list[str] | None,
        typer.Option("--methods", "--method", metavar="NAMES", help="Only these methods, as in gcn,bernnet."),
    ] = None,
    datasets: Annotated[
        list[str] | None,
        typer.Option("--datasets", "--dataset", metavar="NAMES", help="Only these datasets, as in cora,texas."),
    ] = None,
    runs: Annotated[int, typer.Option(help="Runs in a cell.")] = 10,
    threads: ThreadsOption = None,
    processes: Annotated[
        int | None, typer.Option(help="Cells computed at the same time; all cores by default, one on a GPU.")
    ] = None,
    device: DeviceOption = "auto",
    resume: Annotated[
        bool, typer.Option("--resume/--anew", help="Keep cells that are computed already, or compute all again.")
    ] = True,
    only_known: Annotated[
        bool, typer.Option("--only-known", help="Report the cells that are computed already; the others say so.")
    ] = False,
    store: Annotated[Path, typer.Option(metavar="DIR", help="Folder that keeps every computed cell.")] = Path(
        "runs/reproduce"
    ),
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the reports.")] = Path("results"),
    as_published: Annotated[
        bool,
        typer.Option(
            "--as-published",
            help="In table2 or table3, test the epochs that authors tested: the best on test (PDE-GCN), ties in "
            "validation broken by test labels (MixHop) or by the first (LINKX), or the last epoch (WRGAT, GloGNN++). "
            "Such numbers are marked, and go to TABLE-as-published.",
        ),
    ] = False,
    data: DataOption = None,
    json_file: JsonOption = None,
) -> None:
    """Compute the paper's tables and figures again and say of each number whether it came out.

    Methods are trained with published settings where there are any, else with settings that a small grid has chosen by
    validation. Every finished cell is kept: the same command goes on where it was interrupted. Datasets whose data is
    not at hand, and methods that are not implemented, say so.
    """
    device = "cpu" if as_published and device == "auto" else chosen_device(device)
    chosen = _targets(targets)
    if runs < 1:
        raise PcnetError(f"--runs must be at least 1, not {runs}.")
    if only_known and (not resume or set(chosen) & set(OTHERS)):
        raise PcnetError("--only-known reports tables from the store; leave out --anew and what is no table.")
    if as_published and (chosen not in (["table2"], ["table3"]) or device != "cpu"):
        raise PcnetError("--as-published goes with table2 or table3 alone, on the CPU.")
    tables = [table for target in chosen if target in TABLES for table in TABLES[target]]
    # On a GPU, or with several threads in each, one cell at a time.
    alone = device != "cpu" or threads is not None
    origin = provenance(device)
    work = Reproduction(
        TableSweep(store, data, runs, device, threads, origin),
        out,
        Console(stderr=json_file == "-"),
        origin,
        processes if processes is not None else 1 if alone else available_threads(),
    )
    if tables:
        cells = cells_of(tables, _names(methods), _names(datasets), as_published=as_published)
        work.tables(tables, cells, resume=resume, only_known=only_known)
    for target in chosen:
        if target in OTHERS:
            work.other(target)
    emit_json(json_file, work.reports)


def _targets(targets: Sequence[str]) -> list[str]:
    for target in targets:
        if target == "complexity":
            raise PcnetError("Complexities are not part of the package; run python -m benchmarks.complexity.")
        if target not in TARGETS:
            raise PcnetError(
                f"There is no target '{target}'; choose from {', '.join(TARGETS)}.{close_match(target, TARGETS)}"
            )
    return [*TABLES, *OTHERS] if "all" in targets else list(dict.fromkeys(targets))


def _names(options: Sequence[str] | None) -> list[str]:
    """Names that were given one by one or with commas between them."""
    return [name.strip() for option in options or [] for name in option.split(",") if name.strip()]
