"""`pcnet reproduce`: the paper's tables again, each cell beside the published one."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from pcnet._files import write_json, write_text
from pcnet.cli._options import DataOption, DeviceOption, JsonOption, ThreadsOption, check_device, emit_json
from pcnet.cli._progress import Bar
from pcnet.cli._versions import machine, versions
from pcnet.data import load_dataset
from pcnet.errors import PcnetError, close_match
from pcnet.experiments import (
    Experiment,
    Result,
    preset_datasets,
    preset_experiment,
    preset_names,
    run_experiment,
)


def reproduce(
    targets: Annotated[list[str], typer.Argument(metavar="TABLE...", help="table1, table2, table3, or all.")],
    datasets: Annotated[
        list[str] | None,
        typer.Option("--dataset", metavar="NAME", help="Only this dataset; may be repeated."),
    ] = None,
    runs: Annotated[int, typer.Option(help="Runs in a cell.")] = 10,
    threads: ThreadsOption = None,
    device: DeviceOption = "cpu",
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for pcnet-tables.json and .md.")] = Path("results"),
    data: DataOption = None,
    json_file: JsonOption = None,
) -> None:
    """Train PCNet with the published settings and compare every cell with the paper and its authors' code.

    A cell is "inside" when its mean lies within the 95 % interval of the authors' code run again on the same data.
    Penn94 is left out where its data is not at hand, and says so.
    """
    check_device(device)
    tables = _tables(targets)
    wanted = _datasets(tables, datasets or [])
    console = Console(stderr=json_file == "-")
    cells, missing = [], []
    for table in tables:
        for dataset in preset_datasets(table):
            if dataset not in wanted:
                continue
            try:
                graph = load_dataset(dataset, data)
            except PcnetError as error:
                missing.append({"table": table, "dataset": dataset, "reason": "its data was not at hand"})
                console.print(f"{table} {dataset}: left out. {error}", style="dim", highlight=False)
                continue
            experiment = preset_experiment(dataset, table)
            experiment = experiment.with_runs(min(runs, len(experiment.seeds)), None)
            with Bar(experiment, f"{table} {dataset}") as bar:
                result = run_experiment(graph, experiment, threads=threads, device=device, reporter=bar)
            cells.append(_cell(table, result))
            console.print(_line(cells[-1]), highlight=False)
    if not cells:
        raise PcnetError("No cell could be computed: no dataset of these tables was found. Name a folder with --data.")
    report = {
        "command": "pcnet " + " ".join(sys.argv[1:]),
        "date": datetime.date.today().isoformat(),
        "machine": machine(device),
        "versions": versions(),
        "ci95": "percentile bootstrap interval of the mean over runs, 1000 resamples",
        "cells": cells,
        "left_out": missing,
    }
    write_json(out / "pcnet-tables.json", report)
    write_text(out / "pcnet-tables.md", _markdown(report))
    console.print(_rich_table(cells))
    emit_json(json_file, report)


def _tables(targets: list[str]) -> list[str]:
    if targets == ["all"]:
        return list(preset_names())
    for target in targets:
        if target not in preset_names():
            known = ", ".join(preset_names())
            raise PcnetError(
                f"There is no table '{target}'; choose from {known}, all.{close_match(target, preset_names())}"
            )
    return targets


def _datasets(tables: list[str], chosen: list[str]) -> set[str]:
    known = {name for table in tables for name in preset_datasets(table)}
    for name in chosen:
        if name not in known:
            raise PcnetError(f"These tables have no dataset '{name}'.{close_match(name, known)}")
    return set(chosen) or known


def _cell(table: str, result: Result) -> dict[str, Any]:
    experiment, summary = result.experiment, result.test["accuracy"]
    return {
        "table": table,
        "dataset": experiment.dataset,
        "protocol": experiment.protocol,
        "paper": experiment.paper,
        "rerun": experiment.rerun,
        "test": summary.as_dict(),
        "val": result.val["accuracy"].as_dict(),
        "verdict": _verdict(experiment, summary.mean),
        "epochs": [outcome.epochs for outcome in result.outcomes],
        "seconds": result.seconds,
        "settings": {**experiment.settings, "seeds": list(experiment.seeds)},
        "split_hashes": [split.hash for split in result.splits],
        "notes": result.notes,
    }


def _verdict(experiment: Experiment, mean: float) -> str:
    if experiment.rerun is None:
        return "no rerun"
    centre, half = experiment.rerun
    # Both figures are known to two digits, so their sum is known to one in the second.
    return "inside" if abs(mean - centre) <= half + 0.01 else "above" if mean > centre else "below"


def _row(cell: dict[str, Any]) -> list[str]:
    test = cell["test"]
    low, high = test["ci95"]
    figures = [f"{cell[key][0]:.2f} ± {cell[key][1]:.2f}" if cell[key] else "" for key in ("rerun", "paper")]
    ours = [f"{test['mean']:.2f}", f"[{low:.2f}, {high:.2f}]", f"{test['std']:.2f}"]
    return [cell["table"], cell["dataset"], *ours, *figures, cell["verdict"], f"{cell['seconds']:.1f}"]


COLUMNS = (
    "table",
    "dataset",
    "pcnet",
    "95 % interval",
    "std",
    "authors' code, rerun",
    "paper",
    "verdict",
    "seconds",
)


def _line(cell: dict[str, Any]) -> str:
    return "  ".join(part for part in _row(cell) if part)


def _rich_table(cells: list[dict[str, Any]]) -> Table:
    title = "Test accuracy in percent, PCNet with the published settings"
    table = Table(box=SIMPLE, title=title, padding=(0, 1, 0, 0))
    for column in ("table", "dataset", "pcnet, 95 % interval", "rerun", "paper", "verdict"):
        table.add_column(column, no_wrap=True)
    for cell in cells:
        name, dataset, mean, interval, _, rerun, paper, verdict, _ = _row(cell)
        style = None if verdict == "inside" else "bold"
        table.add_row(name, dataset, f"{mean} {interval}", rerun, paper, verdict, style=style)
    return table


def _markdown(report: dict[str, Any]) -> str:
    cells = report["cells"]
    inside = sum(cell["verdict"] == "inside" for cell in cells)
    compared = sum(cell["rerun"] is not None for cell in cells)
    lines = [
        "# PCNet with the published settings",
        "",
        f"{inside} of {compared} cells lie inside the 95 % interval of the authors' code run again on the same data.",
        "Test accuracy in percent; pcnet's interval is the percentile bootstrap of the mean over the runs, std is",
        "between runs; the ± of the rerun and of the paper are half-widths of 95 % bootstrap intervals.",
        "",
        f"- command: `{report['command']}`",
        f"- date: {report['date']}; machine: {report['machine']}",
        f"- versions: {', '.join(f'{name} {number}' for name, number in report['versions'].items())}",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "---|" * len(COLUMNS),
        *("| " + " | ".join(_row(cell)) + " |" for cell in cells),
        "",
        *(f"Left out: {each['table']} {each['dataset']}, {each['reason']}." for each in report["left_out"]),
    ]
    return "\n".join(lines).rstrip() + "\n"
