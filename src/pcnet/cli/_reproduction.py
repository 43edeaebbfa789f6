"""The work behind `pcnet reproduce`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from pcnet._files import write_json, write_text
from pcnet.cli._options import Interrupted
from pcnet.data import load_dataset
from pcnet.errors import PcnetError
from pcnet.paper import (
    Cell,
    Record,
    TableSweep,
    cells_table,
    datasets_table,
    figure2_table,
    overview_table,
    plot_differences,
    plot_figure2,
    run_datasets,
    run_figure2,
    table_report,
    winners_table,
)
from pcnet.show import ProgressBar, Table, provenance_list


@dataclass
class Reproduction:
    """Computes targets, shows them and writes their reports to a folder."""

    sweep: TableSweep
    out: Path
    console: Console
    provenance: dict[str, Any]
    #: Cells computed at the same time.
    processes: int = 1
    reports: dict[str, Any] = field(default_factory=dict)

    def tables(self, tables: Sequence[str], cells: Sequence[Cell], *, resume: bool, only_known: bool) -> None:
        """Tables of accuracies: those of `tables` that have a cell among `cells`."""
        records, missing, took = self._compute(cells, resume, only_known)
        if not records:
            raise PcnetError(f"No cell could be computed: {next(iter(missing.values()))}.")
        for table in tables:
            own = {cell: record for cell, record in records.items() if cell.table == table}
            gone = {cell: reason for cell, reason in missing.items() if cell.table == table}
            if own:
                report = {**self.provenance, "sweep": took, **table_report(table, own, gone)}
                name = f"{table}-as-published" if report["as_published"] else table
                shown = [overview_table(report), *([winners_table(report)] if report["winners"] else [])]
                self._write(name, report, [*shown, cells_table(report)])
                plot_differences(report, self.out / f"{name}.png")

    def other(self, target: str) -> None:
        """Figure 2, or the statistics of the datasets: its data, a table, and for the figure a picture."""
        figure = target == "figure2"
        with ProgressBar() as progress:
            found = run_figure2(progress=progress) if figure else run_datasets(self.sweep.data, progress=progress)
        report = {**self.provenance, **found}
        self._write(target, report, [figure2_table(report) if figure else datasets_table(report)])
        if figure:
            plot_figure2(report, self.out / "figure2.png")

    def _compute(
        self, cells: Sequence[Cell], resume: bool, only_known: bool
    ) -> tuple[dict[Cell, Record], dict[Cell, str], dict[str, float]]:
        """Records of the cells that can be computed, or are, why there are none of the others, and what that took."""
        begin = time.perf_counter()
        missing, sweep = self._missing(cells), self.sweep
        wanted = [cell for cell in cells if cell not in missing]
        records = {cell: known for cell in wanted if resume and (known := sweep.known(cell, self._print)) is not None}
        left = [cell for cell in wanted if cell not in records]
        if only_known:
            missing |= dict.fromkeys(left, "not computed yet")
            left = []
        already = len(records)
        if already:
            self._print(f"{already} of {len(wanted)} cells are in {sweep.folder} already.")
        try:
            with ProgressBar() as bar:
                for cell, record in sweep.each(left, self.processes, bar):
                    if isinstance(record, str):
                        missing[cell] = record
                        bar.print(f"{cell} {record}")
                        continue
                    records[cell], test = record, record["test"]
                    line = f"{cell}: {test['mean']:.2f} [{test['ci95'][0]:.2f}, {test['ci95'][1]:.2f}]"
                    bar.print(f"{line}, {record['seconds']:.1f} s")
        except KeyboardInterrupt:
            raise Interrupted(f"Interrupted; the same command goes on with what is in {sweep.folder}.") from None
        seconds = time.perf_counter() - begin
        took = {"cells": len(records) - already, "processes": self.processes, "seconds": seconds}
        return {cell: records[cell] for cell in wanted if cell in records}, missing, took

    def _missing(self, cells: Sequence[Cell]) -> dict[Cell, str]:
        """Why cells cannot be computed; where no dataset at all can be had, that is an error."""
        names, absent = dict.fromkeys(cell.dataset for cell in cells), []
        for name in names:
            try:
                load_dataset(name, self.sweep.data)
            except PcnetError:
                absent.append(name)
                if len(absent) == len(names):
                    raise
        reasons = {cell: cell.missing for cell in cells if cell.experiment is None}
        return reasons | {cell: "data not available" for cell in cells if cell.dataset in absent}

    def _print(self, sentence: str) -> None:
        self.console.print(sentence, style="dim", highlight=False, markup=False)

    def _write(self, name: str, report: dict[str, Any], tables: Sequence[Table]) -> None:
        """`name`.json, and its tables as `name`.md; on the screen the first two."""
        self.reports[name] = report
        origin = provenance_list([report], report["command"])
        if (took := report.get("sweep")) and took["cells"]:
            how = f"{took['cells']}, in {took['seconds']:.0f} s, {took['processes']} at a time"
            origin += f"- cells that it computed: {how}\n"
        write_json(self.out / f"{name}.json", report)
        write_text(self.out / f"{name}.md", "\n".join([*(table.markdown() for table in tables), origin]))
        for table in tables[:2]:
            self.console.print(table.rich())
        self.console.print(f"{name}.json and {name}.md are in {self.out}", highlight=False, markup=False)
