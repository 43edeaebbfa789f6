"""Sections for the eye, no wider than 120 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pcnet.bench._graphs import in_words
from pcnet.bench._timing import Spread, short
from pcnet.experiment import method_name

Row = dict[str, Any]
#: What stands where nothing was measured.
NOTHING = "–"


def section_table(section: str, result: dict[str, Any]) -> RenderableType:
    """The tables of one section."""
    return TABLES[section](result)


def _table(first: str, *columns: str) -> Table:
    """A plain table: the first column to the left, figures to the right."""
    table = Table(first, box=SIMPLE, padding=(0, 1, 0, 0), show_edge=False)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def titled(title: str, table: Table, *notes: str) -> RenderableType:
    """A table under its title and above its notes, which may be longer than it is wide."""
    return Group(Text(title, style="italic"), table, *(Text(note, style="dim") for note in notes), Text())


def _ways(result: dict[str, Any]) -> RenderableType:
    rows = result["rows"]
    title = f"One filter, forward and backward, {in_words(rows[0])}, {rows[0]['columns']} columns a run"
    parts = []
    for runs, of_runs in _by(rows, "runs"):
        together = "one run" if runs == 1 else f"{runs} runs together"
        parts.append(_by_order(f"{title}; {together}: ms per run", of_runs, "ms_per_run", _milliseconds))
    # In sizes of x, memory hardly depends on the number of runs.
    runs = min(max(row["runs"] for row in rows if "peak_bytes" in row), 10)
    shown = [row for row in rows if row["runs"] == runs]
    title = f"The same: most memory at a time / kept for backward, in sizes of x ({runs * rows[0]['columns']} columns)"
    parts.append(_by_order(title, shown, "peak_bytes", _shares))
    return Group(*parts)


def _by_order(title: str, rows: list[Row], key: str, figure: Callable[[Row], str]) -> RenderableType:
    table = _table("way", *(f"N = {order}" for order, _ in _by(rows, "N")))
    for _, of_way in _by(rows, "way"):
        table.add_row(_way(of_way), *(figure(row) if key in row else NOTHING for row in of_way))
    missing = _by([row for row in rows if key not in row], "way")
    orders = {way: ", ".join(str(row["N"]) for row in of_way) for way, of_way in missing}
    notes = (f"{NOTHING} {way}, N = {orders[way]}: {of_way[0]['skipped']}" for way, of_way in missing)
    return titled(title, table, *notes)


def _scale(result: dict[str, Any]) -> RenderableType:
    rows = result["rows"]
    table = _table("nodes", "way", "ms", "over pcnet", "most MiB", "kept MiB")
    notes = []
    for nodes, of_size in _by(rows, "nodes"):
        for place, row in enumerate(of_size):
            figures = [NOTHING] * 4
            if "skipped" in row:
                notes.append(f"{NOTHING} {row['way']}, {nodes:,} nodes: {row['skipped']}")
            else:
                figures[:2] = _milliseconds(row), str(Spread(**row["ratio"]))
            if "peak_bytes" in row:
                figures[2:] = (short(row[key] / 2**20) for key in ("peak_bytes", "kept_bytes"))
            first = "" if place else f"{nodes:,}"
            table.add_row(first, _way([row]), *figures, end_section=row is of_size[-1])
    title = f"One filter, forward and backward, {rows[0]['columns']} columns, N = {rows[0]['N']}, by size of the graph"
    return titled(title, table, *notes, *_left_out(result))


def _bandwidth(result: dict[str, Any]) -> RenderableType:
    rows, copy = result["rows"], Spread(*(rate / 1e9 for rate in result["copy_bytes_per_s"].values()))
    table = _table("nodes", "entries", "what", "products", "GB", "ms", "% of the copy", "% of the best")
    for nodes, of_size in _by(rows, "nodes"):
        for place, row in enumerate(of_size):
            share = Spread(*(100 * row["fraction"][key] for key in ("median", "low", "high")))
            head = ("", "") if place else (f"{nodes:,}", f"{row['entries']:,}")
            figures = (str(row["products"]), short(row["bytes"] / 1e9), str(Spread(**row["ms"])), str(share))
            best = short(100 * row["fraction_of_best_copy"])
            table.add_row(*head, row["what"], *figures, best, end_section=row is of_size[-1])
    title = f"Sparse products beside a copy, which reads and writes {copy} GB/s; {rows[0]['columns']} columns"
    notes = (
        "Bytes are counted as if every gathered row came from memory; above 100 % it came from a cache.",
        "The copy is that of the same round; the best is that of all rounds.",
    )
    memory = _table("nodes", *(f"N = {order}" for order, _ in _by(result["memory"], "N")))
    for nodes, of_size in _by(result["memory"], "nodes"):
        shares = (f"{row['peak_bytes'] / row['x_bytes']:.2f}" if "peak_bytes" in row else NOTHING for row in of_size)
        memory.add_row(f"{nodes:,}", *shares)
    flat = "pcnet, forward and backward, most memory at a time, in sizes of x"
    return Group(titled(title, table, *notes, *_left_out(result)), titled(flat, memory))


def _training(result: dict[str, Any]) -> RenderableType:
    table = _table("dataset", "plain, singly", "threads", "runs", "pcnet, together", "times faster")
    for dataset, of_dataset in _by(result["rows"], "dataset"):
        for place, row in enumerate(of_dataset):
            plain, ours, ratio = (str(Spread(**row[key])) for key in ("plain_ms", "pcnet_ms", "ratio"))
            head = ("", "", "") if place else (dataset, plain, str(row["plain_threads"]))
            table.add_row(*head, str(row["runs"]), ours, ratio, end_section=row is of_dataset[-1])
    return titled("Training with the settings of Table 2: ms per run and epoch", table)


def _methods(result: dict[str, Any]) -> RenderableType:
    columns = ("plain_ms", "cached_ms", "pcnet_ms", "ratio", "ratio_cached")
    table = _table("dataset", "method", "plain", "cached", "pcnet", "plain / pcnet", "cached / pcnet")
    for dataset, of_dataset in _by(result["rows"], "dataset"):
        for place, row in enumerate(of_dataset):
            head, figures = "" if place else dataset, (str(Spread(**row[key])) for key in columns)
            table.add_row(head, method_name(row["method"]), *figures, end_section=row is of_dataset[-1])
    notes = (
        "plain: a run at a time by PyG's messages, the edges weighed in every forward; cached: weighed once.",
        *_left_out(result),
    )
    title = f"Other methods on the splits of Table 2: ms per run and epoch, {result['rows'][0]['runs']} runs"
    return titled(title, table, *notes)


def _way(rows: list[Row]) -> str:
    """The way's name, and the form of it that was measured."""
    form = next((row["form"] for row in rows if row.get("form")), "")
    return f"{rows[0]['way']} {form}".rstrip()


def _milliseconds(row: Row) -> str:
    return str(Spread(**row["ms_per_run"]))


def _shares(row: Row) -> str:
    return f"{row['peak_bytes'] / row['x_bytes']:.1f} / {row['kept_bytes'] / row['x_bytes']:.1f}"


def _left_out(result: dict[str, Any]) -> list[str]:
    """What a section does without, a graph by its size or by its name, and why."""
    names = (each["dataset"] if "dataset" in each else f"{each['nodes']:,} nodes" for each in result["left_out"])
    return [f"Without {name}: {each['skipped']}." for name, each in zip(names, result["left_out"], strict=True)]


def _by(rows: Iterable[Row], key: str) -> list[tuple[Any, list[Row]]]:
    """Rows by a value, in the order in which the values first appear."""
    rows = list(rows)
    values = dict.fromkeys(row[key] for row in rows)
    return [(value, [row for row in rows if row[key] == value]) for value in values]


TABLES: dict[str, Callable[[dict[str, Any]], RenderableType]] = {
    "ways": _ways,
    "scale": _scale,
    "bandwidth": _bandwidth,
    "training": _training,
    "methods": _methods,
}
