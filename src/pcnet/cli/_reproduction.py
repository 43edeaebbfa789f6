"""The work behind `pcnet reproduce`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from pcnet._files import write_json, write_text
from pcnet.cli._options import Interrupted, emit_json
from pcnet.cli._progress import EpochBar, ShareBar
from pcnet.data import load_dataset
from pcnet.errors import PcnetError
from pcnet.experiment import provenance
from pcnet.paper import (
    Cell,
    Record,
    Sheet,
    TableSweep,
    cells_of,
    cells_sheet,
    datasets_sheet,
    figure2_sheet,
    overview_sheet,
    plot_differences,
    plot_figure2,
    run_datasets,
    run_figure2,
    table_report,
    winners_sheet,
)
from pcnet.propagate import available_threads


class Reproduction:
    """Computes targets, shows them and writes their reports to a folder."""

    def __init__(
        self,
        store: Path,
        out: Path,
        data: Path | None,
        runs: int,
        device: str,
        threads: int | None,
        processes: int | None,
        json_file: str | None,
    ) -> None:
        self.out, self.data, self.json_file = out, data, json_file
        self.console = Console(stderr=json_file == "-")
        self.provenance = provenance(device)
        self.sweep = TableSweep(store, data, runs, device, threads, self.provenance)
        one = device != "cpu" or threads is not None
        self.processes = processes if processes is not None else 1 if one else available_threads()
        self.reports: dict[str, Any] = {}

    def tables(
        self,
        tables: Sequence[str],
        methods: Sequence[str],
        datasets: Sequence[str],
        *,
        resume: bool,
        only_known: bool = False,
        as_published: bool = False,
    ) -> None:
        """Tables of accuracies, of all methods and datasets or of some."""
        if not tables:
            return
        cells = cells_of(tables, methods, datasets, as_published=as_published)
        records, missing, sweep = self._compute(cells, resume, only_known)
        if not records:
            raise PcnetError(f"No cell could be computed: {next(iter(missing.values()))}.")
        for table in tables:
            own = {cell: record for cell, record in records.items() if cell.table == table}
            gone = {cell: reason for cell, reason in missing.items() if cell.table == table}
            if own:
                report = {**self.provenance, "sweep": sweep, **table_report(table, own, gone)}
                name = f"{table}-as-published" if as_published else table
                sheets = [overview_sheet, *([winners_sheet] if report["winners"] else []), cells_sheet]
                self._write(name, report, sheets)
                plot_differences(report, self.out / f"{name}.png")

    def _compute(
        self, cells: Sequence[Cell], resume: bool, only_known: bool
    ) -> tuple[dict[Cell, Record], dict[Cell, str], dict[str, float]]:
        """Records of the cells that can be computed, or are, why there are none of the others, and what that took."""
        begin = time.perf_counter()
        missing, sweep = self._missing(cells), self.sweep
        wanted = [cell for cell in cells if cell not in missing]
        records = {cell: known for cell in wanted if resume and (known := sweep.known(cell, self._say)) is not None}
        left = [cell for cell in wanted if cell not in records]
        if only_known:
            missing |= dict.fromkeys(left, "not computed yet")
            left = []
        already = len(records)
        if already:
            self._say(f"{already} of {len(wanted)} cells are in {sweep.folder} already.")
        try:
            with EpochBar(sweep.epochs(left), f"{len(left)} cells") as bar:
                for cell, record in sweep.each(left, self.processes, bar):
                    if isinstance(record, str):
                        missing[cell] = record
                        bar.print(f"{cell} {record}")
                        continue
                    records[cell] = record
                    test = record["test"]
                    line = f"{cell}: {test['mean']:.2f} [{test['ci95'][0]:.2f}, {test['ci95'][1]:.2f}]"
                    bar.print(f"{line}, {record['seconds']:.1f} s")
        except KeyboardInterrupt:
            raise Interrupted(f"Interrupted; the same command goes on with what is in {sweep.folder}.") from None
        took = {
            "cells": len(records) - already,
            "processes": self.processes,
            "seconds": time.perf_counter() - begin,
        }
        return {cell: records[cell] for cell in wanted if cell in records}, missing, took

    def _missing(self, cells: Sequence[Cell]) -> dict[Cell, str]:
        """Why cells cannot be computed; where no dataset at all can be had, that is an error."""
        names, absent = dict.fromkeys(cell.dataset for cell in cells), []
        for name in names:
            try:
                load_dataset(name, self.data)
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

    def others(self, targets: Sequence[str]) -> None:
        """Targets that train no table: data, a sheet, and for Figure 2 a picture."""
        for target in targets:
            with ShareBar(target) as bar:
                if target == "figure2":
                    report, sheet = run_figure2(tell=bar.tell), figure2_sheet
                else:
                    report, sheet = run_datasets(self.data, tell=bar.tell), datasets_sheet
            report = {**self.provenance, **report}
            self._write(target, report, [sheet])
            if target == "figure2":
                plot_figure2(report, self.out / "figure2.png")

    def finish(self) -> None:
        """All reports where `--json` says."""
        emit_json(self.json_file, self.reports)

    def _say(self, sentence: str) -> None:
        self.console.print(sentence, style="dim", highlight=False)

    def _write(self, name: str, report: dict[str, Any], sheets: Sequence[Callable[[Any], Sheet]]) -> None:
        """`name`.json, and its sheets as `name`.md; on the screen the first two."""
        self.reports[name] = report
        made = [sheet(report) for sheet in sheets]
        said = [
            f"- command: `{report['command']}`",
            f"- date: {report['date']}; machine: {report['machine']}",
            f"- versions: {', '.join(f'{package} {number}' for package, number in report['versions'].items())}",
        ]
        if (sweep := report.get("sweep")) and sweep["cells"]:
            how = f"{sweep['cells']}, in {sweep['seconds']:.0f} s, {sweep['processes']} at a time"
            said.insert(1, f"- cells that it computed: {how}")
        write_json(self.out / f"{name}.json", report)
        write_text(self.out / f"{name}.md", "\n".join([*(sheet.markdown() for sheet in made), *said]) + "\n")
        shown: list[RenderableType] = [sheet.rich() for sheet in made[:2]]
        self.console.print(*shown, Text(f"{name}.json and {name}.md are in {self.out}"), sep="\n")
