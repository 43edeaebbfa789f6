"""The sections of `python -m benchmarks` and `python -m benchmarks.speed` as tables, no wider than 120 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.graphs import in_words
from benchmarks.timing import Spread, short
from pcnet.experiment import method_name
from pcnet.show import Table

Row = dict[str, Any]
#: What stands where nothing was measured.
NOTHING = "–"


def section_tables(section: str, result: Any) -> list[Table]:
    """The tables of one section."""
    return TABLES[section](result)


def spread(value: dict[str, float], scale: float = 1.0) -> str:
    """A spread as JSON has it: median (lowest–highest)."""
    return str(Spread(*(scale * value[key] for key in ("median", "low", "high"))))


def verdict(row: Row, sign: str) -> str:
    """A target, and whether it was met."""
    return NOTHING if row["target"] is None else f"{sign} {row['target']:g}, {'met' if row['met'] else 'missed'}"


def _ways(result: dict[str, Any]) -> list[Table]:
    rows = result["rows"]
    title = f"One filter, forward and backward, {in_words(rows[0])}, {rows[0]['columns']} columns a run"
    sheets = []
    for runs, of_runs in _by(rows, "runs"):
        together = "one run" if runs == 1 else f"{runs} runs together"
        sheets.append(_by_order(f"{title}; {together}: ms per run", of_runs, "ms_per_run", _milliseconds))
    # In sizes of x, memory hardly depends on the number of runs.
    runs = min(max(row["runs"] for row in rows if "peak_bytes" in row), 10)
    shown = [row for row in rows if row["runs"] == runs]
    title = f"The same: most memory at a time / kept for backward, in sizes of x ({runs * rows[0]['columns']} columns)"
    return [*sheets, _by_order(title, shown, "peak_bytes", _shares)]


def _by_order(title: str, rows: list[Row], key: str, figure: Callable[[Row], str]) -> Table:
    missing = _by([row for row in rows if key not in row], "way")
    orders = {way: ", ".join(str(row["N"]) for row in of_way) for way, of_way in missing}
    return Table(
        title,
        ("way", *(f"N = {order}" for order, _ in _by(rows, "N"))),
        [[_way(of_way), *(figure(row) if key in row else NOTHING for row in of_way)] for _, of_way in _by(rows, "way")],
        tuple(f"{NOTHING} {way}, N = {orders[way]}: {of_way[0]['skipped']}" for way, of_way in missing),
    )


def _scale(result: dict[str, Any]) -> list[Table]:
    rows = result["rows"]
    lines, notes = [], []
    for nodes, of_size in _by(rows, "nodes"):
        for place, row in enumerate(of_size):
            figures = [NOTHING] * 4
            if "skipped" in row:
                notes.append(f"{NOTHING} {row['way']}, {nodes:,} nodes: {row['skipped']}")
            else:
                figures[:2] = _milliseconds(row), spread(row["ratio"])
            if "peak_bytes" in row:
                figures[2:] = (short(row[key] / 2**20) for key in ("peak_bytes", "kept_bytes"))
            lines.append(["" if place else f"{nodes:,}", _way([row]), *figures])
    title = f"One filter, forward and backward, {rows[0]['columns']} columns, N = {rows[0]['N']}, by size of the graph"
    columns = ("nodes", "way", "ms", "over pcnet", "most MiB", "kept MiB")
    return [Table(title, columns, lines, (*notes, *_left_out(result)))]


def _bandwidth(result: dict[str, Any]) -> list[Table]:
    rows, lines = result["rows"], []
    for nodes, of_size in _by(rows, "nodes"):
        for place, row in enumerate(of_size):
            head = ["", ""] if place else [f"{nodes:,}", f"{row['entries']:,}"]
            figures = [str(row["products"]), short(row["bytes"] / 1e9), spread(row["ms"]), spread(row["fraction"], 100)]
            lines.append([*head, row["what"], *figures, short(100 * row["fraction_of_best_copy"])])
    copy = spread(result["copy_bytes_per_s"], 1e-9)
    products = Table(
        f"Sparse products beside a copy, which reads and writes {copy} GB/s; {rows[0]['columns']} columns",
        ("nodes", "entries", "what", "products", "GB", "ms", "% of the copy", "% of the best"),
        lines,
        (
            "Bytes are counted as if every gathered row came from memory; above 100 % it came from a cache.",
            "The copy is that of the same round; the best is that of all rounds.",
            *_left_out(result),
        ),
    )
    memory = Table(
        "pcnet, forward and backward, most memory at a time, in sizes of x",
        ("nodes", *(f"N = {order}" for order, _ in _by(result["memory"], "N"))),
        [
            [
                f"{nodes:,}",
                *(f"{row['peak_bytes'] / row['x_bytes']:.2f}" if "peak_bytes" in row else NOTHING for row in of_size),
            ]
            for nodes, of_size in _by(result["memory"], "nodes")
        ],
    )
    return [products, memory]


def _training(result: dict[str, Any]) -> list[Table]:
    lines = []
    for dataset, of_dataset in _by(result["rows"], "dataset"):
        for place, row in enumerate(of_dataset):
            head = ["", "", ""] if place else [dataset, spread(row["plain_ms"]), str(row["plain_threads"])]
            goal = [verdict(row, "≥")] if "target" in row else []
            lines.append([*head, str(row["runs"]), spread(row["pcnet_ms"]), spread(row["ratio"]), *goal])
    columns = ("dataset", "plain, singly", "threads", "runs", "pcnet, together", "times faster", "target")
    title = "Training with the settings of Table 2: ms per run and epoch"
    return [Table(title, columns[: len(lines[0])], lines)]


def _methods(result: dict[str, Any]) -> list[Table]:
    figures = ("plain_ms", "cached_ms", "pcnet_ms", "ratio", "ratio_cached")
    return [
        Table(
            f"Other methods on the splits of Table 2: ms per run and epoch, {result['rows'][0]['runs']} runs",
            ("dataset", "method", "plain", "cached", "pcnet", "plain / pcnet", "cached / pcnet"),
            [
                ["" if place else dataset, method_name(row["method"]), *(spread(row[key]) for key in figures)]
                for dataset, of_dataset in _by(result["rows"], "dataset")
                for place, row in enumerate(of_dataset)
            ],
            (
                "plain: a run at a time by PyG's messages, the edges weighed in every forward; cached: weighed once.",
                *_left_out(result),
            ),
        )
    ]


def _propagation(result: dict[str, Any]) -> list[Table]:
    return [
        Table(
            f"Propagation alone on {result['dataset']}, N = {result['N']}, forward and backward",
            ("way", "runs at once", "threads", "ms per run", "over pcnet"),
            [
                [row["way"], str(row["runs"]), str(row["threads"]), spread(row["ms_per_run"]), spread(row["ratio"])]
                for row in result["rows"]
            ],
            (f"plain singly over pcnet ten at once: {spread(result['ratio'])}, target {verdict(result, '≥')}",),
        )
    ]


def _memory(result: dict[str, Any]) -> list[Table]:
    return [
        Table(
            f"Kept for backward on {result['dataset']}, in sizes of x",
            ("way", *(f"N = {order}" for order in result["N"])),
            [[way, *(f"{share:.2f}" for share in shares)] for way, shares in result["kept"].items()],
            (f"pcnet at N = 10: target {verdict(result, '≤')}",),
        )
    ]


def _neighbour(result: dict[str, Any]) -> list[Table]:
    return [
        Table(
            f"Training on {result['dataset']} next to {result['busy_processes']} busy processes: ms per run and epoch",
            ("way", "alone", "next to them", "times slower"),
            [
                [row["way"], *(spread(row[key]) for key in ("alone_ms", "busy_ms", "slowdown"))]
                for row in result["rows"]
            ],
            (f"a worker on each core: target {verdict(result, '≤')}",),
        )
    ]


def _way(rows: list[Row]) -> str:
    """The way's name, and the form of it that was measured."""
    form = next((row["form"] for row in rows if row.get("form")), "")
    return f"{rows[0]['way']} {form}".rstrip()


def _milliseconds(row: Row) -> str:
    return spread(row["ms_per_run"])


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


TABLES: dict[str, Callable[[dict[str, Any]], list[Table]]] = {
    "ways": _ways,
    "scale": _scale,
    "bandwidth": _bandwidth,
    "training": _training,
    "methods": _methods,
    "propagation": _propagation,
    "memory": _memory,
    "neighbour": _neighbour,
}
