"""`pcnet reproduce`: every number, table and figure of the paper again, beside the published one."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.text import Text

from pcnet._files import write_json, write_text
from pcnet.cli._options import DataOption, DeviceOption, Interrupted, JsonOption, ThreadsOption, check_device, emit_json
from pcnet.cli._progress import EpochBar, ShareBar
from pcnet.cli._versions import machine, versions
from pcnet.data import load_dataset
from pcnet.errors import PcnetError, close_match
from pcnet.propagate import available_threads
from pcnet.reproduction import (
    Cell,
    Record,
    Sheet,
    TableSweep,
    cells_of,
    cells_sheet,
    complexity_sheet,
    datasets_sheet,
    figure2_sheet,
    overview_sheet,
    plot_complexity,
    plot_figure2,
    run_complexity,
    run_datasets,
    run_figure2,
    table_report,
    winners_sheet,
)

TABLES: dict[str, tuple[str, ...]] = {
    "table1": ("table1",),
    "table2": ("table2",),
    "table3": ("table3",),
    "table4": ("table4",),
    "ablation": ("eta-half", "no-identity"),
}
OTHERS = ("figure2", "complexity", "datasets")
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
    device: DeviceOption = "cpu",
    resume: Annotated[
        bool, typer.Option("--resume/--anew", help="Keep cells that are computed already, or compute all again.")
    ] = True,
    store: Annotated[Path, typer.Option(metavar="DIR", help="Folder that keeps every computed cell.")] = Path(
        "runs/reproduce"
    ),
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the reports.")] = Path("results"),
    data: DataOption = None,
    json_file: JsonOption = None,
) -> None:
    """Compute the paper's tables and figures again and say of each number whether it came out.

    Methods are trained with published settings where there are any, else with settings that a small grid has chosen by
    validation. Every finished cell is kept: the same command goes on where it was interrupted. Datasets whose data is
    not at hand, and methods that are not implemented, say so.
    """
    check_device(device)
    chosen = _targets(targets)
    if runs < 1:
        raise PcnetError(f"--runs must be at least 1, not {runs}.")
    console = Console(stderr=json_file == "-")
    provenance = {
        "command": "pcnet " + " ".join(sys.argv[1:]),
        "date": datetime.date.today().isoformat(),
        "machine": machine(device),
        "versions": versions(),
    }
    reports: dict[str, Any] = {}
    tables = [table for target in chosen if target in TABLES for table in TABLES[target]]
    cells = cells_of(tables, _names(methods), _names(datasets)) if tables else []
    sweep = TableSweep(store, data, runs, device, threads, provenance)
    if processes is None:
        processes = 1 if device != "cpu" or threads is not None else available_threads()
    records, missing = _compute(sweep, cells, processes, resume, console)
    for table in tables:
        own = {cell: record for cell, record in records.items() if cell.table == table}
        gone = {cell: reason for cell, reason in missing.items() if cell.table == table}
        if own:
            reports[table] = {**provenance, **table_report(table, own, gone)}
            _write(console, out, table, reports[table], [overview_sheet, winners_sheet, cells_sheet])
    if tables and not any(table in reports for table in tables):
        raise PcnetError(f"No cell could be computed: {next(iter(missing.values()), 'nothing was asked for')}")
    for target in chosen:
        if target in OTHERS:
            reports[target] = _other(target, data, out, console, provenance)
    emit_json(json_file, reports)


def _targets(targets: Sequence[str]) -> list[str]:
    for target in targets:
        if target not in TARGETS:
            raise PcnetError(
                f"There is no target '{target}'; choose from {', '.join(TARGETS)}.{close_match(target, TARGETS)}"
            )
    return [*TABLES, *OTHERS] if "all" in targets else list(dict.fromkeys(targets))


def _names(options: Sequence[str] | None) -> list[str]:
    """Names that were given one by one or with commas between them."""
    return [name.strip() for option in options or [] for name in option.split(",") if name.strip()]


def _compute(
    sweep: TableSweep, cells: Sequence[Cell], processes: int, resume: bool, console: Console
) -> tuple[dict[Cell, Record], dict[Cell, str]]:
    """Records of the cells that can be computed, and why the others cannot."""
    missing = _missing(sweep, cells)
    wanted = [cell for cell in cells if cell not in missing]

    def say(sentence: str) -> None:
        console.print(sentence, style="dim", highlight=False)

    records = {cell: known for cell in wanted if resume and (known := sweep.known(cell, say)) is not None}
    left = [cell for cell in wanted if cell not in records]
    if records:
        say(f"{len(records)} of {len(wanted)} cells are in {sweep.folder} already.")
    try:
        with EpochBar(sweep.epochs(left), f"{len(left)} cells") as bar:
            for cell, record in sweep.each(left, processes, bar):
                records[cell] = record
                test = record["test"]
                line = f"{cell}: {test['mean']:.2f} [{test['ci95'][0]:.2f}, {test['ci95'][1]:.2f}]"
                bar.print(f"{line}, {record['seconds']:.1f} s")
    except KeyboardInterrupt:
        raise Interrupted(f"Interrupted; the same command goes on with what is in {sweep.folder}.") from None
    return {cell: records[cell] for cell in wanted}, missing


def _missing(sweep: TableSweep, cells: Sequence[Cell]) -> dict[Cell, str]:
    """Why cells cannot be computed; where no dataset at all can be had, that is an error."""
    names, absent = dict.fromkeys(cell.dataset for cell in cells), []
    for name in names:
        try:
            load_dataset(name, sweep.data)
        except PcnetError:
            absent.append(name)
            if len(absent) == len(names):
                raise
    reasons = {}
    for cell in cells:
        if cell.dataset in absent:
            reasons[cell] = "data not available"
        elif cell.experiment is None:
            reasons[cell] = cell.missing
    return reasons


def _other(target: str, data: Path | None, out: Path, console: Console, provenance: dict[str, Any]) -> dict[str, Any]:
    """A target that trains no table: data, a sheet, and for two of them a picture."""
    with ShareBar(target) as bar:
        if target == "figure2":
            report = run_figure2(tell=bar.tell)
        elif target == "complexity":
            report = run_complexity(tell=bar.tell)
        else:
            report = run_datasets(data, tell=bar.tell)
    report = {**provenance, **report}
    sheets: dict[str, Callable[[dict[str, Any]], Sheet]] = {
        "figure2": figure2_sheet,
        "complexity": complexity_sheet,
        "datasets": datasets_sheet,
    }
    _write(console, out, target, report, [sheets[target]])
    if target == "figure2":
        plot_figure2(report, out / "figure2.png")
    elif target == "complexity":
        plot_complexity(report, out / "complexity.png")
    return report


def _write(
    console: Console, out: Path, name: str, report: dict[str, Any], sheets: Sequence[Callable[[Any], Sheet]]
) -> None:
    """`name`.json, and its sheets as `name`.md; on the screen the first two."""
    made = [sheet(report) for sheet in sheets]
    said = [
        f"- command: `{report['command']}`",
        f"- date: {report['date']}; machine: {report['machine']}",
        f"- versions: {', '.join(f'{package} {number}' for package, number in report['versions'].items())}",
    ]
    write_json(out / f"{name}.json", report)
    write_text(out / f"{name}.md", "\n".join([*(sheet.markdown() for sheet in made), *said]) + "\n")
    shown: list[RenderableType] = [sheet.rich() for sheet in made[:2]]
    console.print(*shown, Text(f"{name}.json and {name}.md are in {out}"), sep="\n")
