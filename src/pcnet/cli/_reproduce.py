"""`pcnet reproduce`: every number, table and figure of the paper again, and the published one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from typer import Argument, Option

from pcnet import paper
from pcnet._checks import whole_number
from pcnet._files import write_json, write_text
from pcnet._machine import chosen_device
from pcnet.cli import _options as option
from pcnet.data import load_dataset
from pcnet.errors import Interrupted, PcnetError, unknown
from pcnet.experiment import provenance
from pcnet.paper import Cell, Record, TableSweep
from pcnet.propagate import available_threads
from pcnet.show import ProgressBar, Table, provenance_list

TABLES: dict[str, tuple[str, ...]] = {name: (name,) for name in ("table1", "table2", "table3", "table4")}
TABLES["ablation"] = ("eta-half", "no-identity")
OTHERS = ("figure2", "datasets")
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
    store: Annotated[Path, Option(metavar="DIR", help="Folder that keeps every computed cell.")] = Path(
        "runs/reproduce"
    ),
    out: Annotated[Path, Option(metavar="DIR", help="Folder for the reports.")] = Path("results"),
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
    validation. Every finished cell is kept: the same command goes on where it was interrupted. Datasets whose data is
    not at hand, and methods that are not implemented, say so.
    """
    device = "cpu" if as_published and device == "auto" else chosen_device(device)
    chosen = _targets(targets)
    whole_number("--runs", runs, 1)
    if only_known and (not resume or set(chosen) & set(OTHERS)):
        raise PcnetError("--only-known reports tables from the store; leave out --anew and what is no table.")
    if as_published and (chosen not in (["table2"], ["table3"]) or device != "cpu"):
        raise PcnetError("--as-published goes with table2 or table3 alone, on the CPU.")
    tables = [table for target in chosen if target in TABLES for table in TABLES[target]]
    if processes is None:
        # On a GPU, or with several threads in each, one cell at a time.
        processes = 1 if device != "cpu" or threads is not None else available_threads()
    console, origin, reports = option.screen(json_file), provenance(device), dict[str, Any]()
    if tables:
        sweep = TableSweep(store, data, runs, device, threads, origin)
        cells = paper.cells_of(tables, option.names(methods), option.names(datasets), as_published=as_published)
        records, missing, took = _compute(sweep, cells, console, processes, resume, only_known)
        for table in tables:
            own = {cell: record for cell, record in records.items() if cell.table == table}
            gone = {cell: reason for cell, reason in missing.items() if cell.table == table}
            if own:
                report = {**origin, "sweep": took, **paper.table_report(table, own, gone)}
                name = f"{table}-as-published" if report["as_published"] else table
                shown = [paper.overview_table(report), *([paper.winners_table(report)] if report["winners"] else [])]
                _write(out / name, report, [*shown, paper.cells_table(report)], console)
                paper.plot_differences(report, out / f"{name}.png")
                reports[name] = report
    if "figure2" in chosen:
        with ProgressBar() as progress:
            reports["figure2"] = report = {**origin, **paper.run_figure2(progress=progress)}
        _write(out / "figure2", report, [paper.figure2_table(report)], console)
        paper.plot_figure2(report, out / "figure2.png")
    if "datasets" in chosen:
        with ProgressBar() as progress:
            reports["datasets"] = report = {**origin, **paper.run_datasets(data, progress=progress)}
        _write(out / "datasets", report, [paper.datasets_table(report)], console)
    option.emit_json(json_file, reports)


def _targets(targets: Sequence[str]) -> list[str]:
    for target in targets:
        if target == "complexity":
            raise PcnetError("Complexities are not part of the package; run python -m benchmarks.complexity.")
        if target not in TARGETS:
            raise unknown("target", target, TARGETS)
    return [*TABLES, *OTHERS] if "all" in targets else list(dict.fromkeys(targets))


def _compute(
    sweep: TableSweep, cells: Sequence[Cell], console: Console, processes: int, resume: bool, only_known: bool
) -> tuple[dict[Cell, Record], dict[Cell, str], dict[str, float]]:
    """Records of the cells that can be computed, or are, why there are none of the others, and what that took."""
    say = partial(console.print, style="dim")
    begin, missing = time.perf_counter(), _missing(cells, sweep.data)
    wanted = [cell for cell in cells if cell not in missing]
    records = {cell: known for cell in wanted if resume and (known := sweep.known(cell, say)) is not None}
    left = [cell for cell in wanted if cell not in records]
    if only_known:
        missing |= dict.fromkeys(left, "not computed yet")
        left = []
    already = len(records)
    if already:
        say(f"{already} of {len(wanted)} cells are in {sweep.folder} already.")
    try:
        with ProgressBar() as bar:
            for cell, record in sweep.each(left, processes, bar):
                if isinstance(record, str):
                    missing[cell] = record
                    bar.print(f"{cell} {record}")
                    continue
                records[cell], test = record, record["test"]
                line = f"{cell}: {test['mean']:.2f} [{test['ci95'][0]:.2f}, {test['ci95'][1]:.2f}]"
                bar.print(f"{line}, {record['seconds']:.1f} s")
    except KeyboardInterrupt:
        raise Interrupted(f"Interrupted; the same command goes on with what is in {sweep.folder}.") from None
    if not records:
        raise PcnetError(f"No cell could be computed: {next(iter(missing.values()))}.")
    took = {"cells": len(records) - already, "processes": processes, "seconds": time.perf_counter() - begin}
    return {cell: records[cell] for cell in wanted if cell in records}, missing, took


def _missing(cells: Sequence[Cell], data: Path | None) -> dict[Cell, str]:
    """Why cells cannot be computed; where no dataset at all can be had, that is an error."""
    names, absent = dict.fromkeys(cell.dataset for cell in cells), []
    for name in names:
        try:
            load_dataset(name, data)
        except PcnetError:
            absent.append(name)
            if len(absent) == len(names):
                raise
    reasons = {cell: cell.missing for cell in cells if cell.experiment is None}
    return reasons | {cell: "data not available" for cell in cells if cell.dataset in absent}


def _write(path: Path, report: dict[str, Any], tables: Sequence[Table], console: Console) -> None:
    """`path`.json, and its tables as `path`.md; on the screen the first two."""
    origin = provenance_list([report], report["command"])
    if (took := report.get("sweep")) and took["cells"]:
        how = f"{took['cells']}, in {took['seconds']:.0f} s, {took['processes']} at a time"
        origin += f"- cells that it computed: {how}\n"
    write_json(path.with_name(f"{path.name}.json"), report)
    write_text(path.with_name(f"{path.name}.md"), "\n".join([*(table.markdown() for table in tables), origin]))
    for table in tables[:2]:
        console.print(table.rich())
    console.print(f"{path.name}.json and {path.name}.md are in {path.parent}")
