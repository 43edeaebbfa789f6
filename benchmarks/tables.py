"""Results for the eye."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from pcnet.bench import Spread


def show(console: Console, section: str, result: Any) -> None:
    """Print one section of the results."""
    console.print(TABLES[section](result), highlight=False)


def _training(rows: list[dict[str, Any]]) -> Table:
    table = _table(
        "Training: ms per run and epoch, median (lowest–highest)",
        "dataset",
        "plain",
        "threads",
        "pcnet",
        "times faster",
        "target",
    )
    for row in rows:
        plain, pcnet, ratio = (str(Spread(**row[key])) for key in ("plain_ms", "pcnet_ms", "ratio"))
        table.add_row(row["dataset"], plain, str(row["plain_threads"]), pcnet, ratio, _verdict(row, "≥"))
    return table


def _propagation(result: dict[str, Any]) -> Table:
    title = f"Propagation alone on {result['dataset']}, N = {result['N']}, forward and backward: ms per run"
    table = _table(title, "way", "runs at once", "threads", "ms per run", "over pcnet")
    for row in result["rows"]:
        figures = (
            str(row["runs"]),
            str(row["threads"]),
            str(Spread(**row["ms_per_run"])),
            str(Spread(**row["ratio"])),
        )
        table.add_row(row["way"], *figures, end_section=row is result["rows"][len(result["rows"]) // 2 - 1])
    verdict = f"{Spread(**result['ratio'])}, target {_verdict(result, '≥')}"
    table.caption = f"plain singly over pcnet ten at once: {verdict}"
    return table


def _memory(result: dict[str, Any]) -> Table:
    title = f"Kept for backward on {result['dataset']}, in sizes of x"
    table = _table(title, "way", *(f"N = {order}" for order in result["N"]))
    for way, shares in result["kept"].items():
        table.add_row(way, *(f"{share:.2f}" for share in shares))
    table.caption = f"pcnet at N = 10: target {_verdict(result, '≤')}"
    return table


def _neighbour(result: dict[str, Any]) -> Table:
    busy = f"{result['busy_processes']} busy processes"
    table = _table(
        f"Training on {result['dataset']} beside {busy}: ms per run and epoch",
        *("way", "alone", "beside them", "times slower"),
    )
    for row in result["rows"]:
        table.add_row(row["way"], *(str(Spread(**row[key])) for key in ("alone_ms", "busy_ms", "slowdown")))
    table.caption = f"a worker on each core: target {_verdict(result, '≤')}"
    return table


def _table(title: str, first: str, *columns: str) -> Table:
    table = Table(first, box=SIMPLE, title=title, title_justify="left", caption_justify="left")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _verdict(result: dict[str, Any], sign: str) -> str:
    if result["target"] is None:
        return "–"
    return f"{sign} {result['target']:g}, " + ("[green]met[/green]" if result["met"] else "[red]missed[/red]")


TABLES = {"training": _training, "propagation": _propagation, "memory": _memory, "neighbour": _neighbour}
