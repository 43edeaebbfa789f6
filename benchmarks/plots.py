"""Figures of the sections and of the measured complexities, drawn from the plain data that the JSON holds."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from math import floor, log10
from pathlib import Path
from typing import Any

from benchmarks.exponents import Exponent
from benchmarks.filters import WAYS
from benchmarks.graphs import in_words
from benchmarks.training import RATIOS
from pcnet._files import write_atomically
from pcnet.experiment import method_name

Row = dict[str, Any]
FORMATS = ("png", "svg")
#: Colour, marker, line. The colours are Okabe and Ito's, which everybody can tell apart; markers say it once more, and
#: a broken line lets one below it be seen.
Style = tuple[str, str, str]
LOOKS: tuple[Style, ...] = (
    ("#0072B2", "o", "-"),
    ("#D55E00", "s", "-"),
    ("#009E73", "^", "-"),
    ("#CC79A7", "D", "--"),
    ("#E69F00", "v", "-"),
    ("#56B4E9", "P", "-"),
)
STYLES: dict[str, Style] = dict(zip(WAYS, LOOKS, strict=False))
KINDS: dict[str, Style] = {
    "product": ("#56B4E9", "o", "-"),
    "sweep": ("#0072B2", "s", "-"),
    "sweep and gradient": ("#E69F00", "^", "-"),
}
NAMES = {"plain": "authors' scheme, plainly", "torch.sparse.mm": "torch.sparse.mm, autograd"}
#: Label and colour of a training.
SCHEMES = {
    "plain": ("PyG messages, plainly", STYLES["plain"][0]),
    "cached": ("edges weighed once", "#E69F00"),
    "pcnet": ("pcnet", STYLES["pcnet"][0]),
}
#: Panels of complexities in a row.
ACROSS = 4
BARS = "medians, bars from the lowest to the highest"
GREY, PALE = "#6b7280", "#e5e7eb"


def plot_report(report: dict[str, Any], folder: str | Path) -> list[Path]:
    """Draw what the report's sections show, as bench-DEVICE-WHAT.png and .svg; returns the files."""
    written, device = [], "gpu" if report["device"].startswith("cuda") else "cpu"
    place = report["machine"] + (f", cores used: {report['threads']}" if device == "cpu" else "")
    origin = f"{place}; torch {report['versions']['torch']}"
    for section, what, draw in FIGURES:
        if report["sections"].get(section, {}).get("rows"):
            figure = draw(report["sections"][section], origin)
            for kind in FORMATS:
                written.append(Path(folder) / f"bench-{device}-{what}.{kind}")
                _save(figure, written[-1], kind)
    return written


def plot_complexity(report: dict[str, Any], path: str | Path) -> None:
    """Time against size, a panel for each letter; both axes have the same scale, so that a slope is an exponent."""
    rows, settings, names = report["rows"], report["settings"], list(report["formulas"])
    letters = list(dict.fromkeys(row["letter"] for row in rows))
    across, down = min(len(letters), ACROSS), -(-len(letters) // ACROSS)
    headline = "Time of a forward and a backward against each size; in the legends, the exponents from left to right"
    figure, panels = _panels(headline, down, across, (2.7 * across, 2.9 * down))
    for axes, letter in zip(panels, letters, strict=False):
        for place, name in enumerate(names):
            ranges = [row for row in rows if (row["method"], row["letter"]) == (name, letter)]
            _of_method(axes, sorted(ranges, key=lambda row: row["points"][0]["value"]), LOOKS[place % len(LOOKS)])
        axes.set_xlabel(letter, fontsize=9)
        _equal_log_axes(axes)
        axes.legend(frameon=False, fontsize=6.5, loc="upper left")
    for axes in panels[len(letters) :]:
        axes.set_axis_off()
    for axes in panels[::across]:
        axes.set_ylabel("ms", fontsize=9)
    fixed = ", ".join(f"{key} = {settings[key]:,}" for key in ("m", "|E|", "N", "K", "C", "F", "d"))
    measured = f"threads: {settings['threads']}; medians and ranges of {settings['rounds']} rounds"
    figure.supxlabel(f"{fixed} where they do not vary; {measured}", fontsize=7, color=GREY)
    _save(figure, Path(path), "png")


def _of_method(axes: Any, ranges: Sequence[Row], style: Style) -> None:
    """The lines of one method, with bars from the lowest to the highest round; it may have none, or several ranges."""
    exponents = ", ".join(f"{Exponent.of(row).value:.2f}" for row in ranges)
    for row in ranges:
        label = f"{row['method']}: {exponents}" if row is ranges[0] else None
        _line(axes, style, label, row["points"], "value", [point["ms"] for point in row["points"]])


def _speed(result: dict[str, Any], origin: str) -> Any:
    """Milliseconds per run against N, a panel for each number of runs."""
    rows = result["rows"]
    counts = list(dict.fromkeys(row["runs"] for row in rows))
    headline = f"One filter, forward and backward: {in_words(rows[0])}, {rows[0]['columns']} columns a run"
    figure, panels = _panels(headline, 1, len(counts), sharey=True)
    for axes, runs in zip(panels, counts, strict=True):
        for way, points in _lines([row for row in rows if row["runs"] == runs], "ms_per_run"):
            _line(axes, STYLES[way], way, points, "N", [row["ms_per_run"] for row in points])
        axes.set_title("one run" if runs == 1 else f"{runs} runs together", fontsize=9)
        axes.set_xlabel("order N", fontsize=9)
        _log_axes(axes, sorted({row["N"] for row in rows}))
    panels[0].set_ylabel("ms per run", fontsize=9)
    _legend(figure, panels, f"{origin}; {BARS}")
    return figure


def _memory(result: dict[str, Any], origin: str) -> Any:
    """The most memory at a time, and what is kept for backward, against N."""
    rows = result["rows"]
    runs = min(max(row["runs"] for row in rows if "peak_bytes" in row), 10)
    headline = f"Memory of a forward and a backward: {in_words(rows[0])}, {runs * rows[0]['columns']} columns"
    figure, panels = _panels(headline, 1, 2)
    titles = {"peak_bytes": "most at a time", "kept_bytes": "kept for backward"}
    for axes, (key, title) in zip(panels, titles.items(), strict=True):
        for way, points in _lines([row for row in rows if row["runs"] == runs], key):
            _line(axes, STYLES[way], way, points, "N", [row[key] / row["x_bytes"] for row in points])
        axes.set_title(title, fontsize=9)
        axes.set_xlabel("order N", fontsize=9)
        _log_axes(axes, sorted({row["N"] for row in rows}))
    panels[0].set_ylabel("memory, in sizes of x", fontsize=9)
    _legend(figure, panels, origin)
    return figure


def _nodes(result: dict[str, Any], origin: str) -> Any:
    """Time and memory against the number of nodes."""
    rows = result["rows"]
    headline = f"One filter, forward and backward: {rows[0]['columns']} columns, N = {rows[0]['N']}"
    figure, panels = _panels(headline, 1, 2)
    for way, points in _lines(rows, "ms_per_run"):
        _line(panels[0], STYLES[way], way, points, "nodes", [row["ms_per_run"] for row in points])
    for way, points in _lines(rows, "peak_bytes"):
        _line(panels[1], STYLES[way], way, points, "nodes", [row["peak_bytes"] / 2**30 for row in points])
    for axes, label in zip(panels, ("milliseconds", "most memory at a time, GiB"), strict=True):
        axes.set_xlabel("nodes (20 neighbours each, at random)", fontsize=9)
        axes.set_ylabel(label, fontsize=9)
        _log_axes(axes, sorted({row["nodes"] for row in rows}))
    _legend(figure, panels, f"{origin}; {BARS}")
    return figure


def _fractions(result: dict[str, Any], origin: str) -> Any:
    """Bytes / time / copy bandwidth against the number of nodes."""
    rows, copy = result["rows"], result["copy_bytes_per_s"]["median"]
    headline = f"Sparse products over {rows[0]['columns']} columns: bytes counted as if no gathered row were in a cache"
    figure, (axes,) = _panels(headline, 1, 1)
    for what, style in KINDS.items():
        points = [row for row in rows if row["what"] == what]
        percent = [{key: 100 * value for key, value in row["fraction"].items()} for row in points]
        count = points[0]["products"]
        _line(axes, style, what if count == 1 else f"{what}, {count} products", points, "nodes", percent)
    axes.axhline(100, color=GREY, lw=1, ls="--", label=f"a copy, {copy / 1e9:,.0f} GB/s")
    axes.set_xlabel("nodes (20 neighbours each, at random)", fontsize=9)
    axes.set_ylabel("% of the copy bandwidth", fontsize=9)
    _log_axes(axes, sorted({row["nodes"] for row in rows}))
    _legend(figure, [axes], f"{origin}; {BARS}")
    return figure


def _methods(result: dict[str, Any], origin: str) -> Any:
    """Milliseconds per run and epoch of each method, a panel for each dataset, and how many times less pcnet's are."""
    rows = result["rows"]
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    headline = f"An epoch of training on the splits of Table 2, {rows[0]['runs']} runs"
    figure, panels = _panels(headline, 1, len(datasets), sharey=True)
    lowest = min(row["pcnet_ms"]["low"] for row in rows)
    highest = max(row[f"{scheme}_ms"]["high"] for row in rows for scheme in SCHEMES)
    for axes, dataset in zip(panels, datasets, strict=True):
        _bars(axes, [row for row in rows if row["dataset"] == dataset])
        axes.set_title(dataset, fontsize=9)
        # Bars begin at a power of ten, and there is room for a figure above the highest.
        axes.set_ylim(10 ** floor(log10(lowest)), 3 * highest)
        _log_values(axes)
    panels[0].set_ylabel("ms per run and epoch", fontsize=9)
    _legend(figure, panels, f"{origin}; {BARS}; above them: times as long as pcnet")
    return figure


def _bars(axes: Any, points: Sequence[Row]) -> None:
    """A bar for each scheme and method, with the ratio to pcnet's above it."""
    width = 0.8 / len(SCHEMES)
    above = {"xytext": (0, 4), "textcoords": "offset points", "ha": "center", "rotation": 90, "size": 7}
    for place, (scheme, (label, colour)) in enumerate(SCHEMES.items()):
        middle = [number + (place - 1) * width for number in range(len(points))]
        values = [row[f"{scheme}_ms"] for row in points]
        look = {"color": colour, "label": label, "error_kw": {"elinewidth": 0.9, "capsize": 2}}
        axes.bar(middle, [v["median"] for v in values], width, yerr=_reach(values), **look)
        if scheme in RATIOS:
            for x, row, value in zip(middle, points, values, strict=True):
                axes.annotate(f"{row[RATIOS[scheme]]['median']:.0f}×", (x, value["high"]), **above)
    axes.set_xticks(range(len(points)), [method_name(row["method"]) for row in points], rotation=20, fontsize=8)
    axes.grid(False, axis="x")


FIGURES: tuple[tuple[str, str, Callable[[dict[str, Any], str], Any]], ...] = (
    ("ways", "speed", _speed),
    ("ways", "memory", _memory),
    ("scale", "nodes", _nodes),
    ("bandwidth", "bandwidth", _fractions),
    ("methods", "methods", _methods),
)


def _panels(
    headline: str, down: int, across: int, size: tuple[float, float] | None = None, *, sharey: bool = False
) -> tuple[Any, Sequence[Any]]:
    """A figure that is readable at the width of a page, and its panels row by row."""
    # Imported here: it takes a second to load, and only figures need it.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size or (8.4 if across > 1 else 6.6, 3.7), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(headline, fontsize=10)
    panels = list(figure.subplots(down, across, sharey=sharey, squeeze=False).flat)
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(True, which="major", color=PALE, lw=0.7)
        axes.set_axisbelow(True)
        axes.tick_params(labelsize=8)
    return figure, panels


def _lines(rows: Sequence[Row], key: str) -> list[tuple[str, list[Row]]]:
    """The rows of each way in which this was measured, if there are any."""
    measured = [row for row in rows if key in row]
    lines = [(way, [row for row in measured if row["way"] == way]) for way in STYLES]
    return [(way, points) for way, points in lines if points]


def _line(axes: Any, style: Style, label: str | None, points: Sequence[Row], along: str, values: list[Any]) -> None:
    """A line through the points; where the values are spreads, with bars from the lowest to the highest."""
    colour, marker, line = style
    x, bars = [row[along] for row in points], None
    if isinstance(values[0], dict):
        bars = _reach(values)
        values = [v["median"] for v in values]
    front = label == "pcnet"
    look = {"lw": 2.2 if front else 1.4, "elinewidth": 0.9, "capsize": 2, "ms": 4.5, "zorder": 3 if front else 2}
    axes.errorbar(x, values, yerr=bars, color=colour, marker=marker, ls=line, label=label, **look)


def _reach(values: Sequence[dict[str, float]]) -> list[list[float]]:
    """From the median down to the lowest, and up to the highest."""
    return [[v["median"] - v["low"] for v in values], [v["high"] - v["median"] for v in values]]


def _log_axes(axes: Any, places: Sequence[int]) -> None:
    """Both axes logarithmic, with plain numbers, and along the first one only at the places that were measured."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(places))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    _log_values(axes)


def _log_values(axes: Any) -> None:
    """The upright axis logarithmic, with plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    # Over a few decades a number at each power of ten would leave the axis almost bare.
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 400 * low else (1.0,)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _equal_log_axes(axes: Any) -> None:
    """Logarithmic axes of the same scale, with plain numbers, more of them where there are few decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12, 0.2)
    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 100 * low else (1.0,)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
        axis.set_minor_formatter(NullFormatter())


def _short(number: float) -> str:
    """2 M, 20 k, 5."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:g}"


def _legend(figure: Any, panels: Sequence[Any], origin: str) -> None:
    """One for all panels, with where the numbers come from; a way may be missing from some of them."""
    found: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    ways = sorted(found, key=lambda way: list(STYLES).index(way) if way in STYLES else 0)
    labels = [NAMES.get(way, way) for way in ways]
    look = {"ncols": len(ways), "frameon": False, "fontsize": 8.5, "title_fontsize": 7, "columnspacing": 1.6}
    legend = figure.legend([found[way] for way in ways], labels, loc="outside lower center", title=origin, **look)
    legend.get_title().set_color(GREY)


def _save(figure: Any, path: Path, kind: str) -> None:
    from matplotlib import rc_context

    buffer = io.BytesIO()
    # Without a date and with names that are not drawn at random, the same numbers give the same file.
    with rc_context({"svg.hashsalt": "pcnet"}):
        figure.savefig(buffer, format=kind, metadata={"Date": None} if kind == "svg" else None)
    write_atomically(path, lambda target: target.write_bytes(buffer.getvalue()))
