"""The critical-difference picture: average ranks on a line, and bars over methods that cannot be told apart."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pcnet.compare import LEVEL, CriticalDifference
from pcnet.show._plot import ACCENT, INK, SOFT, save_figure, styled

#: Everything is placed in inches from the upper left corner: more methods make a larger figure, not a denser one.
AXIS, MARGIN, ROW, BAR_ROW, OVERHANG, GAP = 4.6, 0.15, 0.24, 0.15, 0.06, 0.08
ABOVE_AXIS, TICK, BELOW_AXIS = 0.3, 0.06, 0.18
#: Sizes of the title and the caption in points, how far apart their lines are, and their characters on an inch.
TITLE, CAPTION, LINE = (10, 12.0), (7.5, 16.0), 0.17


def plot_critical_difference(
    compared: CriticalDifference,
    paths: Sequence[str | Path],
    *,
    names: Mapping[str, str] | None = None,
    title: str = "",
) -> None:
    """Draw it once and write it to every path, in the format of its suffix: .svg, .png or .pdf.

    Methods hang from their average rank (Demšar 2006); a bar joins a group without a significant pair, and its dots are
    the members: a line that passes a bar without a dot is none. `names` are what to call the methods.
    """
    figure = _figure(compared, {method: (names or {}).get(method, method) for method in compared.ranks}, title)
    save_figure(figure, *paths)


@styled
def _figure(compared: CriticalDifference, names: Mapping[str, str], title: str) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure()
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")

    def width(text: str) -> float:
        written = axes.text(0, 0, text, fontsize=9)
        inches = written.get_window_extent(canvas.get_renderer()).width / figure.dpi
        written.remove()
        return inches

    methods = list(compared.ranks)
    labels = {method: f"{names[method]}  {compared.ranks[method]:.2f}" for method in methods}
    # The better half is named on the left, best on top; the other on the right, worst on top: no two lines cross.
    left, right = methods[: (len(methods) + 1) // 2], methods[(len(methods) + 1) // 2 :][::-1]
    edge, beyond = (
        MARGIN + 2 * GAP + max((width(labels[method]) for method in side), default=0.0) for side in (left, right)
    )
    wide = edge + AXIS + beyond
    headline, caption = (
        textwrap.wrap(text, int((wide - 2 * MARGIN) * density))
        for text, (_, density) in ((title, TITLE), (_caption(compared), CAPTION))
    )
    span = max(len(methods), 2) - 1
    place = {method: edge + AXIS * (rank - 1) / span for method, rank in compared.ranks.items()}
    bars = _rows([(place[group[0]], place[group[-1]]) for group in compared.groups])
    axis = MARGIN + LINE * len(headline) + ABOVE_AXIS
    first = axis + BELOW_AXIS + BAR_ROW * (max(bars, default=-1) + 1) + ROW / 2
    bottom = first + ROW * len(left)
    high = bottom + LINE * len(caption) + MARGIN / 2
    figure.set_size_inches(wide, high)
    axes.set(xlim=(0, wide), ylim=(high, 0))

    for lines, top, (size, _), colour in ((headline, MARGIN, TITLE, INK), (caption, bottom, CAPTION, SOFT)):
        for row, line in enumerate(lines):
            axes.text(MARGIN, top + LINE * row, line, fontsize=size, color=colour, va="top")
    axes.plot([edge, edge + AXIS], [axis, axis], color=INK, lw=1, solid_capstyle="projecting")
    for rank in range(1, span + 2):
        x = edge + AXIS * (rank - 1) / span
        axes.plot([x, x], [axis - TICK, axis], color=INK, lw=1)
        axes.text(x, axis - TICK - 0.03, str(rank), fontsize=8, color=INK, ha="center", va="bottom")
    for side, end, towards in ((left, edge - GAP, "right"), (right, edge + AXIS + GAP, "left")):
        for row, method in enumerate(side):
            x, y = place[method], first + ROW * row
            axes.plot([x, x, end], [axis, y, y], color=SOFT, lw=0.8, solid_joinstyle="miter")
            outside = end - GAP / 2 if towards == "right" else end + GAP / 2
            axes.text(outside, y, labels[method], fontsize=9, color=INK, ha=towards, va="center")
    for group, row in zip(compared.groups, bars, strict=True):
        xs, y = [place[method] for method in group], axis + BELOW_AXIS + BAR_ROW * row
        axes.plot([xs[0] - OVERHANG, xs[-1] + OVERHANG], [y, y], color=ACCENT, lw=3, solid_capstyle="butt", zorder=3)
        axes.plot(xs, [y] * len(xs), "o", color=ACCENT, ms=5.5, zorder=4)
    return figure


def _rows(spans: Sequence[tuple[float, float]]) -> list[int]:
    """For each bar the first row in which it touches no bar before it."""
    rows: list[int] = []
    for place, (low, high) in enumerate(spans):
        taken = {
            row
            for row, (other_low, other_high) in zip(rows, spans[:place], strict=True)
            if low - 3 * OVERHANG < other_high and other_low < high + 3 * OVERHANG
        }
        rows.append(next(row for row in range(place + 1) if row not in taken))
    return rows


def _caption(compared: CriticalDifference) -> str:
    count = len(compared.pairs)
    corrected = f", corrected by Holm over all {count} pairs" if count > 1 else ""
    few = f" So few runs tell nothing apart: no p falls below {compared.least:.2g}." if compared.least > LEVEL else ""
    return (
        f"Average rank over {compared.runs} splits; 1 is best. A bar joins methods (its dots) of which no two differ "
        f"at {LEVEL} by Wilcoxon's signed-rank test{corrected}.{few}"
    )
