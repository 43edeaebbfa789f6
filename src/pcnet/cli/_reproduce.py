"""`pcnet reproduce`: every number, table and figure of the paper again, and the published one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from pcnet import paper
from pcnet._checks import whole_number
from pcnet._machine import chosen_device
from pcnet.cli import _options as option
from pcnet.errors import PcnetError, unknown
from pcnet.experiment import provenance
from pcnet.paper import OTHERS, TABLES, TableSweep, cells_of
from pcnet.propagate import available_threads

TARGETS = (*TABLES, *OTHERS, "all")


def reproduce(
    targets: Annotated[list[str], Argument(metavar="TARGET...", help=f"{', '.join(TARGETS)}.")],
    methods: Annotated[
        list[str] | None,
        Option("--methods", "--method", metavar="NAMES", help="Only these methods, as in gcn,bernnet."),
    ] = None,
    datasets: Annotated[
        list[str] | None,
        Option("--datasets", "--dataset", metavar="NAMES", help="Only these datasets, as in cora,texas."),
    ] = None,
    runs: Annotated[int, Option(help="Runs in a cell.")] = 10,
    threads: option.Threads = None,
    processes: Annotated[
        int | None, Option(help="Cells computed at the same time; all cores by default, one on a GPU.")
    ] = None,
    device: option.Device = "auto",
    resume: Annotated[
        bool, Option("--resume/--anew", help="Keep cells that are computed already, or compute all again.")
    ] = True,
    only_known: Annotated[
        bool, Option("--only-known", help="Report the cells that are computed already; the others say so.")
    ] = False,
    store: Annotated[
        Path, Option(metavar="DIR", help="Folder that keeps every computed cell; reports of tables in it count, too.")
    ] = Path("runs/reproduce"),
    out: Annotated[
        Path,
        Option(metavar="DIR", help="Folder for the reports; one that has more cells is not replaced."),
    ] = Path("runs/tables"),
    as_published: Annotated[
        bool,
        Option(
            "--as-published",
            help="In table2 or table3, test the epochs that authors tested: the best on test (PDE-GCN), ties in "
            "validation broken by test labels (MixHop) or by the first (LINKX), or the last epoch (WRGAT, GloGNN++). "
            "Such numbers are marked, and go to TABLE-as-published.",
        ),
    ] = False,
    data: option.Data = None,
    json_file: option.Json = None,
) -> None:
    """Compute the paper's tables and figures again and say of each number whether it came out.

    Methods are trained with published settings where there are any, else with settings that a small grid has chosen by
    validation; below PCNet, whose settings its authors chose by test, stands PCNet with settings that validation chose.
    Every finished cell is kept: the same command goes on where it was interrupted. Datasets whose data is
    not at hand, and methods that are not implemented, say so.
    """
    device = "cpu" if as_published and device == "auto" else chosen_device(device)
    chosen = _targets(targets)
    whole_number("--runs", runs, 1)
    if only_known and (not resume or set(chosen) & set(OTHERS)):
        raise PcnetError("--only-known reports tables from the store; leave out --anew and what is no table.")
    if as_published and (chosen not in (["table2"], ["table3"]) or device != "cpu"):
        raise PcnetError("--as-published goes with table2 or table3 alone, on the CPU.")
    if processes is None:
        # On a GPU, or with several threads in each, one cell at a time.
        processes = 1 if device != "cpu" or threads is not None else available_threads()
    sweep = TableSweep(store, data, runs, device, threads, provenance(device))
    tables = [table for target in chosen for table in TABLES.get(target, ())]
    wanted = option.names(methods), option.names(datasets)
    cells = cells_of(tables, *wanted, as_published=as_published) if tables else []
    others, console = [target for target in chosen if target in OTHERS], option.screen(json_file)
    reports = paper.reproduce(cells, others, sweep, out, console, processes, resume=resume, only_known=only_known)
    option.emit_json(json_file, reports)


def _targets(targets: Sequence[str]) -> list[str]:
    for target in targets:
        if target == "complexity":
            raise PcnetError("Complexities are not part of the package; run python -m benchmarks.complexity.")
        if target not in TARGETS:
            raise unknown("target", target, TARGETS)
    return [*TABLES, *OTHERS] if "all" in targets else list(dict.fromkeys(targets))
