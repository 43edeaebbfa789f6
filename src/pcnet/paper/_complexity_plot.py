"""The picture of the measured complexities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pcnet.paper._complexity import exponent_of
from pcnet.show import COLOURS, MARKERS, SOFT, panels, save_figure, styled

#: Panels beside each other.
ACROSS = 4


@styled
def plot_complexity(report: dict[str, Any], path: str | Path) -> None:
    """Time against size, a panel for each letter; both axes have the same scale, so that a slope is an exponent."""
    rows, settings, names = report["rows"], report["settings"], list(report["formulas"])
    letters = list(dict.fromkeys(row["letter"] for row in rows))
    across, down = min(len(letters), ACROSS), -(-len(letters) // ACROSS)
    headline = "Time of a forward and a backward against each size; in the legends, the exponents from left to right"
    figure, grid = panels(2.7 * across, 2.9 * down, down, across, title=headline, squeeze=False)
    for axes, letter in zip(grid.flat, letters, strict=False):
        for place, name in enumerate(names):
            _draw(axes, [row for row in rows if (row["method"], row["letter"]) == (name, letter)], place)
        axes.set_xlabel(letter, fontsize=9)
        _log_axes(axes)
        axes.legend(frameon=False, fontsize=6.5, loc="upper left")
    for axes in grid.flat[len(letters) :]:
        axes.set_axis_off()
    for axes in grid[:, 0]:
        axes.set_ylabel("ms", fontsize=9)
    fixed = ", ".join(f"{key} = {settings[key]:,}" for key in ("m", "|E|", "N", "K", "C", "F", "d"))
    measured = f"threads: {settings['threads']}; medians and ranges of {settings['rounds']} rounds"
    figure.supxlabel(f"{fixed} where they do not vary; {measured}", fontsize=7, color=SOFT)
    save_figure(figure, path)


def _draw(axes: Any, rows: list[dict[str, Any]], place: int) -> None:
    """The lines of one method, with bars from the lowest to the highest round; it may have none, or several ranges."""
    rows = sorted(rows, key=lambda row: row["points"][0]["value"])
    exponents = ", ".join(f"{exponent_of(row).value:.2f}" for row in rows)
    for row in rows:
        values, spreads = [point["value"] for point in row["points"]], [point["ms"] for point in row["points"]]
        axes.errorbar(
            values,
            [each["median"] for each in spreads],
            yerr=[[abs(each[end] - each["median"]) for each in spreads] for end in ("low", "high")],
            label=f"{row['method']}: {exponents}" if row is rows[0] else None,
            color=COLOURS[place % len(COLOURS)],
            marker=MARKERS[place % len(MARKERS)],
            lw=1.5,
            ms=3.5,
            elinewidth=0.8,
            capsize=1.5,
        )


def _log_axes(axes: Any) -> None:
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
