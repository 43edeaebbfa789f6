"""Methods beside each other in pictures: scores in letters and as files, average ranks with bars."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from pcnet.compare import LEVEL, CriticalDifference, Metric
from pcnet.show._plot import ACCENT, INK, SOFT, Score, ends, panels, save_figure, scores_chart, shortened, styled

#: Inches of a picture of ranks: its axis, a method's row, a bar's, how far a bar sticks out, and what is left free.
AXIS, ROW, BAR_ROW, OVERHANG, GAP, MARGIN = 4.6, 0.24, 0.15, 0.06, 0.08, 0.15
#: Characters of a line of its title and of its caption.
TITLE, CAPTION = 75, 105


def scores_text(scores: Sequence[Score], metric: Metric, width: int) -> list[str]:
    """Lines of at most `width` characters: a dot for each score, whiskers for its interval, and the axis below."""
    known = [(shortened(each.name), metric.text(each.value)) for each in scores]
    widest, longest = (max(map(len, column)) for column in zip(*known, strict=True))
    starts = [f"  {name:<{widest}}  {value:>{longest}}  " for name, value in known]
    left = len(starts[0])
    low, high = ends(scores, metric)
    last = max(width - left, 20) - 1

    def column(value: float) -> int:
        return round((value - low) / (high - low) * last)

    lines = []
    for each, line in zip(scores, starts, strict=True):
        row = [" "] * (last + 1)
        if each.interval is not None:
            start, end = map(column, each.interval)
            row[start : end + 1] = ["├", *"─" * (end - start - 1), "┤"][: end - start + 1]
        row[column(each.value)] = "●"
        lines.append(f"{line}{''.join(row)}".rstrip())
    axis = [" "] * (last + 1)
    for tick in ticks(low, high, 4):
        label = plain(tick)
        start = min(max(column(tick) - len(label) // 2, 0), len(axis) - len(label))
        if not "".join(axis[max(start - 1, 0) : start + len(label) + 1]).strip():
            axis[start : start + len(label)] = label
    return [*lines, f"{' ' * left}{''.join(axis)}".rstrip()]


def plot_scores(scores: Sequence[Score], metric: Metric, paths: Sequence[str | Path], title: str) -> None:
    """Draw scores and intervals once and write them to every path, in the format of its suffix."""
    save_figure(scores_chart(scores, metric, title), *paths)


@styled
def plot_critical_difference(
    compared: CriticalDifference,
    paths: Sequence[str | Path],
    *,
    names: Mapping[str, str] | None = None,
    title: str = "",
) -> None:
    """Draw it once and write it to every path, in the format of its suffix: .svg, .png or .pdf.

    Methods hang from their average rank (Demšar 2006); a bar joins a group without a significant pair, and its dots are
    the members: a line that passes a bar without a dot is none. `names` are what to call the methods. The picture is in
    ranks from left to right and inches from the axis down: more methods make it larger, not denser.
    """
    place, methods, half = compared.ranks, list(compared.ranks), (len(compared.ranks) + 1) // 2
    # The better half is named on the left, best on top; the other on the right, worst on top: no two lines cross.
    left, right, last = methods[:half], methods[half:][::-1], max(len(methods), 2)
    inch = (last - 1) / AXIS
    bars = _rows([(place[group[0]], place[group[-1]]) for group in compared.groups], 3 * OVERHANG * inch)
    first = GAP + BAR_ROW * (max(bars, default=-1) + 2)
    bottom = first + ROW * len(left)
    figure, axes = panels(AXIS, bottom)
    figure.set_layout_engine("none")
    axes.set(position=(0, 0, 1, 1), xlim=(1, last), ylim=(bottom, 0))
    axes.axis("off")
    line = partial(axes.plot, clip_on=False)
    axes.set_title(textwrap.fill(title, TITLE), loc="center", pad=24, fontsize=10)
    caption = textwrap.fill(_caption(compared), CAPTION)
    axes.text(0.5, 0, caption, transform=axes.transAxes, ha="center", va="top", fontsize=7.5, color=SOFT)
    line([1, last], [0, 0], color=INK, lw=1, solid_capstyle="projecting")
    for rank in range(1, last + 1):
        line([rank, rank], [-OVERHANG, 0], color=INK, lw=1)
        axes.text(rank, -GAP, str(rank), fontsize=8, color=INK, ha="center", va="bottom")
    for side, end, outwards, towards in ((left, 1.0, -GAP * inch, "right"), (right, float(last), GAP * inch, "left")):
        for row, method in enumerate(side):
            x, y, label = place[method], first + ROW * row, f"{(names or {}).get(method, method)}  {place[method]:.2f}"
            line([x, x, end + outwards], [0, y, y], color=SOFT, lw=0.8, solid_joinstyle="miter")
            axes.text(end + 1.5 * outwards, y, label, fontsize=9, color=INK, ha=towards, va="center")
    for group, row in zip(compared.groups, bars, strict=True):
        xs, y, out = [place[method] for method in group], GAP + BAR_ROW * (row + 0.5), OVERHANG * inch
        line([xs[0] - out, xs[-1] + out], [y, y], color=ACCENT, lw=3, solid_capstyle="butt", zorder=3)
        line(xs, [y] * len(xs), "o", color=ACCENT, ms=5.5, zorder=4)
    save_figure(figure, *paths, bbox_inches="tight", pad_inches=MARGIN)


def _rows(spans: Sequence[tuple[float, float]], apart: float) -> list[int]:
    """For each bar the first row in which it touches no bar before it."""
    rows: list[int] = []
    for low, high in spans:
        beside = zip(rows, spans, strict=False)
        taken = {row for row, (left, right) in beside if low - apart < right and left < high + apart}
        rows.append(next(row for row in range(len(spans)) if row not in taken))
    return rows


def _caption(compared: CriticalDifference) -> str:
    count = len(compared.pairs)
    corrected = f", corrected by Holm over all {count} pairs" if count > 1 else ""
    few = f" So few runs tell nothing apart: no p falls below {compared.least:.2g}." if compared.least > LEVEL else ""
    return (
        f"Average rank over {compared.runs} splits; 1 is best. A bar joins methods (its dots) of which no two differ "
        f"at {LEVEL} by Wilcoxon's signed-rank test{corrected}.{few}"
    )


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten in [low, high], about as many as asked for."""
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [step * place for place in range(first, last + 1)]


def plain(value: float) -> str:
    """A tick's number as people write it: 1,000 and −0.2."""
    text = f"{value:,.12g}" if abs(value) < 1e6 else f"{value:.3g}"
    return "0" if float(text.replace(",", "")) == 0 else text.replace("-", "−")
