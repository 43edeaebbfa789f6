"""The paper's tables, its figure and its datasets computed again, each with a report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from pcnet._files import read_json, write_json, write_text
from pcnet.data import load_dataset
from pcnet.errors import Interrupted, PcnetError
from pcnet.paper._cells import Cell, Record, TableSweep, is_stale
from pcnet.paper._datasets import datasets_table, run_datasets
from pcnet.paper._figure2 import figure2_table, plot_figure2, run_figure2
from pcnet.paper._tables import cells_table, overview_table, plot_differences, table_report, winners_tables
from pcnet.paper._verdicts import verdicts_report, verdicts_table
from pcnet.show import ProgressBar, Table, provenance_list

#: The rows of the paper's tables that each target is about, and the targets that are no tables.
TABLES: dict[str, tuple[str, ...]] = {name: (name,) for name in ("table1", "table2", "table3", "table4")}
TABLES["ablation"] = ("eta-half", "no-identity")
OTHERS = ("figure2", "datasets")


def reproduce(
    cells: Sequence[Cell],
    others: Sequence[str],
    sweep: TableSweep,
    out: Path,
    console: Console,
    processes: int = 1,
    *,
    resume: bool = True,
    only_known: bool = False,
) -> dict[str, Any]:
    """Compute what is missing and report all: in `out`, on the console, and by table or other target as plain data.

    With all tables and both ablations goes a count of their verdicts. A report in `out` is never replaced by one that
    lacks some of it, which is written beside it as NAME-part.

    `cells` are of tables, `others` of `OTHERS`. The sweep says how cells are computed and where they are kept; without
    `resume` all are computed anew, with `only_known` none is. Raises a PcnetError where no cell can be had, and
    `Interrupted` on Ctrl-C.
    """
    origin, reports = dict(sweep.provenance or {}), dict[str, Any]()
    if cells:
        records, missing, took = _compute(sweep, cells, console, processes, resume, only_known)
        for table in dict.fromkeys(cell.table for cell in records):
            report = {**origin, "sweep": took, **table_report(table, records, missing)}
            name = f"{table}-as-published" if report["as_published"] else table
            shown = [overview_table(report), *winners_tables(report)]
            path = _write(out / name, report, shown, console, [cells_table(report)])
            plot_differences(report, path.with_name(f"{path.name}.png"))
            reports[name] = report
        if {name for names in TABLES.values() for name in names} <= {*reports}:
            reports["verdicts"] = counts = {**origin, **verdicts_report(reports)}
            _write(out / "verdicts", counts, [verdicts_table(counts)], console)
    if "figure2" in others:
        with ProgressBar() as progress:
            reports["figure2"] = report = {**origin, **run_figure2(progress=progress)}
        path = _write(out / "figure2", report, [figure2_table(report)], console)
        plot_figure2(report, path.with_name(f"{path.name}.png"))
    if "datasets" in others:
        with ProgressBar() as progress:
            reports["datasets"] = report = {**origin, **run_datasets(sweep.data, progress=progress)}
        _write(out / "datasets", report, [datasets_table(report)], console)
    return reports


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
    if stale := sum(map(is_stale, records.values())):
        say(
            f"{stale} of them were computed by other code than this; the reports say which, --anew computes them again."
        )
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


def _write(
    path: Path, report: dict[str, Any], shown: Sequence[Table], console: Console, others: Sequence[Table] = ()
) -> Path:
    """`path`.json, and its tables as `path`.md, those that are `shown` also on the screen; returns the path it took."""
    if _lacks_some_of(report, path.with_name(f"{path.name}.json")):
        console.print(f"{path}.json has more than this report has, and stays as it is.", style="dim")
        path = path.with_name(f"{path.name}-part")
    origin = provenance_list([report], report["command"])
    if (took := report.get("sweep")) and took["cells"]:
        how = f"{took['cells']}, in {took['seconds']:.0f} s, {took['processes']} at a time"
        origin += f"- cells that it computed: {how}\n"
    write_json(path.with_name(f"{path.name}.json"), report)
    write_text(path.with_name(f"{path.name}.md"), "\n".join([*(t.markdown() for t in (*shown, *others)), origin]))
    for table in shown:
        console.print(table.rich())
    console.print(f"{path.name}.json and {path.name}.md are in {path.parent}")
    return path


def _lacks_some_of(report: dict[str, Any], there: Path) -> bool:
    """Whether an earlier report has cells, or datasets, that this one does not have, or has with fewer runs."""
    try:
        before, now = _runs_of(read_json(there)), _runs_of(report)
    except (PcnetError, KeyError, TypeError, AttributeError):
        return False
    return any(now.get(cell, -1) < runs for cell, runs in before.items())


def _runs_of(report: dict[str, Any]) -> dict[Any, int]:
    rows = report.get("cells") or report.get("rows") or []
    return {(row.get("method"), row["dataset"]): row.get("runs", 0) for row in rows}
