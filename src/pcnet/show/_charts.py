"""The pictures: calibration, training, the learned filter, accuracy by kind of node, scores and ranks of methods."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pcnet._checks import FloatArray
from pcnet.compare import LEVEL, CriticalDifference, Metric, Reliability
from pcnet.graph import Operator
from pcnet.nn import Learned, PolynomialConv, learned
from pcnet.show._counts import Bin
from pcnet.show._plot import ACCENT, INK, PAGE, SECOND, SOFT, WIDTH, inline, panels, save_figure, styled, tip
from pcnet.show._scores import LONGEST, Score, axis_title, digits, ends, shortened, span
from pcnet.show._template import written

#: Runs that are drawn one by one, and points of each curve.
RUNS, POINTS = 30, 150
_RUN: dict[str, Any] = {"color": SOFT, "lw": 0.8, "alpha": 0.55}
_IDEAL: dict[str, Any] = {"color": SOFT, "lw": 1.0, "ls": (0, (4, 4))}
_DOT: dict[str, Any] = {"marker": "o", "mfc": ACCENT, "mec": PAGE, "mew": 0.8, "ms": 7, "ls": ""}
#: Inches of a picture of ranks: its axis, a method's row, a bar's, how far a bar sticks out, and what is left free.
AXIS, ROW, BAR_ROW, OVERHANG, GAP, MARGIN = 4.6, 0.24, 0.15, 0.06, 0.08, 0.15
#: Characters of a line of its title and of its caption.
TITLE, CAPTION = 75, 105


@styled
def reliability_chart(as_trained: Reliability, calibrated: Reliability) -> Any:
    """How often predictions were right against how probable they were said to be; a dot's area is its share."""
    figure, axes = panels(WIDTH, 4.2)
    axes.plot([0, 100], [0, 100], **_IDEAL)
    before = {"color": SECOND, "mfc": "none", "mec": SECOND, "mew": 1.5}
    after = {"color": ACCENT, "mfc": ACCENT, "mec": ACCENT, "mew": 1.5, "alpha": 0.6}
    for diagram, look in ((as_trained, before), (calibrated, after)):
        total = sum(diagram.count)
        each = zip(diagram.confidence, diagram.accuracy, diagram.count, strict=True)
        filled = [(100 * confidence, 100 * accuracy, count) for confidence, accuracy, count in each if count]
        axes.plot([x for x, _, _ in filled], [y for _, y, _ in filled], color=look["color"], lw=1.5)
        for x, y, count in filled:
            size = 4 + 28 * (count / total) ** 0.5
            tip(axes.plot(x, y, "o", ms=size, **look), f"{count:,} predictions: said {x:.0f} %, right {y:.0f} %")
    axes.set(xlim=(0, 100), ylim=(0, 100), xlabel="said to be right, %", title="was right, %")
    return figure


@styled
def curves_chart(curves: Sequence[FloatArray], best: Sequence[int], title: str) -> Any:
    """A number over the epochs, a line for each run, with a dot at the epoch whose weights were kept."""
    curves, best = curves[:RUNS], best[:RUNS]
    # A first epoch far off must not flatten all others, nor may an infinite loss.
    finite = np.concatenate([curve[np.isfinite(curve)] for curve in curves])
    kept_values = [float(curve[kept]) for curve, kept in zip(curves, best, strict=True)]
    low, high = span(float(finite.min()), max(float(np.percentile(finite, 99)), *kept_values))
    figure, axes = panels(WIDTH, 3.2)
    for curve, kept in zip(curves, best, strict=True):
        places = np.unique(np.append(np.linspace(0, len(curve) - 1, min(POINTS, len(curve))).astype(int), kept))
        axes.plot(places, np.clip(np.nan_to_num(curve[places], nan=high, posinf=high), low, high), **_RUN)
    for number, (kept, value) in enumerate(zip(best, kept_values, strict=True), start=1):
        tip(axes.plot(kept, value, **_DOT), f"run {number}: epoch {kept}, {value:.4g}")
    axes.set(xlim=(0, max(*(len(curve) for curve in curves), 2) - 1), ylim=(low, high), xlabel="epoch", title=title)
    return figure


@styled
def filter_chart(found: Learned) -> Any:
    """g(λ) of each run and their mean, above the density of the eigenvalues on the same axis."""
    order = np.argsort(found.lam)[:: max(1, len(found.lam) // (2 * POINTS))]
    lam, shown = found.lam[order], found.responses[:RUNS, order]
    figure, (above, below) = panels(WIDTH, 4.6, 2, sharex=True, height_ratios=[2.4, 1])
    above.axhline(0, color=SOFT, lw=0.8)
    if len(shown) > 1:
        above.plot(lam[::2], shown.T[::2], **_RUN)
        above.plot([], [], label="each run", **_RUN)
    above.plot(lam, found.mean[order], color=ACCENT, lw=2, label="mean of the runs")
    if len(shown) > 1:
        above.legend()
    above.set(title="response g(λ)", xlim=(lam[0], lam[-1]))
    above.set_ylim(*span(min(0.0, float(shown.min())), max(0.0, float(shown.max()))))
    # Repeated eigenvalues are needles that would flatten the rest: what is higher is cut off.
    ceiling = min(float(found.density.max()), 6 * float(found.density.mean())) or 1.0
    heights = np.minimum(found.density[order] / ceiling, 1)
    below.fill_between(lam, heights, color=ACCENT, alpha=0.28, lw=0)
    below.plot(lam, heights, color=ACCENT, lw=1)
    below.set(title="density of eigenvalues", ylim=(0, 1), yticks=[], xlabel="smooth ←  eigenvalue λ  → rough")
    return figure


@styled
def bins_chart(bins: Sequence[Bin], overall: float, x_label: str) -> Any:
    """Accuracy of each bin with its interval and number of nodes, and the accuracy of all as a dashed line."""
    figure, axes = panels(WIDTH, 3.4)
    axes.axhline(overall, **_IDEAL)
    for place, each in enumerate(bins):
        axes.plot([place, place], each.interval, color=ACCENT, lw=2, solid_capstyle="round")
        tip(axes.plot(place, each.accuracy, **_DOT), f"{each.accuracy:.1f} % of {each.nodes:,} nodes")
    names = [f"{each.label}\n{_count(each.nodes)}" for each in bins]
    axes.set_xticks(range(len(bins)), names, fontsize=11 if len(bins) <= 6 else 9)
    axes.set(xlim=(-0.5, len(bins) - 0.5), ylim=(0, 100), title="right, %", xlabel=f"{x_label}; nodes below")
    axes.grid(False, axis="x")
    return figure


@styled
def scores_chart(scores: Sequence[Score], metric: Metric, title: str = "") -> Any:
    """Scores with their intervals under each other on one axis."""
    figure, axes = panels(WIDTH, (0.95 if title else 0.75) + 0.33 * len(scores))
    for place, each in enumerate(scores):
        colour, value = ACCENT if each.ours else SOFT, f"{each.value:.{digits(metric)}f}"
        if each.interval is not None:
            axes.plot(each.interval, [place, place], color=colour, lw=2, solid_capstyle="round")
        tip(axes.plot(each.value, place, **{**_DOT, "mfc": colour}), f"{each.name}: {value}")
        axes.annotate(value, (1, place), (8, 0), ("axes fraction", "data"), "offset points", va="center", color=SOFT)
    axes.set_yticks(range(len(scores)), [shortened(each.name, LONGEST) for each in scores])
    for each, name in zip(scores, axes.get_yticklabels(), strict=True):
        name.set(fontweight="bold" if each.ours else "normal", color=INK if each.ours else SOFT)
    axes.set(xlim=ends(scores, metric), ylim=(len(scores) - 0.5, -0.5), title=title)
    axes.set_xlabel(f"{axis_title(metric)}; lines: 95 % intervals" if title else axis_title(metric))
    axes.grid(False, axis="y")
    axes.spines[:].set_visible(False)
    return figure


def scores_on_page(scores: Sequence[Score], metric: Metric) -> str:
    """The same as an element of a page, with the numbers for those who do not see it."""
    numbers = ", ".join(f"{each.name} {written(metric, each.value)}" for each in scores)
    return inline(scores_chart(scores, metric), f"{metric.title}: {numbers}")


def plot_scores(scores: Sequence[Score], metric: Metric, paths: Sequence[str | Path], title: str) -> None:
    """Draw scores and intervals once and write them to every path, in the format of its suffix."""
    save_figure(scores_chart(scores, metric, title), *paths)


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
    save_figure(_ranks_chart(compared, names or {}, title), *paths, bbox_inches="tight", pad_inches=MARGIN)


@styled
def _ranks_chart(compared: CriticalDifference, names: Mapping[str, str], title: str) -> Any:
    """In ranks from left to right and inches from the axis down: more methods make it larger, not denser."""
    place, methods = compared.ranks, list(compared.ranks)
    # The better half is named on the left, best on top; the other on the right, worst on top: no two lines cross.
    left, right = methods[: (len(methods) + 1) // 2], methods[(len(methods) + 1) // 2 :][::-1]
    last = max(len(methods), 2)
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
            x, y, label = place[method], first + ROW * row, f"{names.get(method, method)}  {place[method]:.2f}"
            line([x, x, end + outwards], [0, y, y], color=SOFT, lw=0.8, solid_joinstyle="miter")
            axes.text(end + 1.5 * outwards, y, label, fontsize=9, color=INK, ha=towards, va="center")
    for group, row in zip(compared.groups, bars, strict=True):
        xs, y, out = [place[method] for method in group], GAP + BAR_ROW * (row + 0.5), OVERHANG * inch
        line([xs[0] - out, xs[-1] + out], [y, y], color=ACCENT, lw=3, solid_capstyle="butt", zorder=3)
        line(xs, [y] * len(xs), "o", color=ACCENT, ms=5.5, zorder=4)
    return figure


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


def plot_response(convs: Sequence[PolynomialConv], operator: Operator, path: str | Path, *, title: str = "") -> None:
    """g(λ) of each run and their mean on the true interval of the Laplacian, above the density of its eigenvalues.

    The runs must share their Laplacian (`learned` says which): they are drawn over one axis.
    """
    found = learned(convs, operator)
    save_filter(filter_chart(found), found, path, title)


def save_filter(figure: Any, found: Learned, path: str | Path, title: str) -> None:
    """Write a drawn filter with what stands around it on a page: a title and the Laplacian."""
    figure.suptitle(title, fontsize=11)
    figure.supxlabel(found.laplacian, fontsize=9, color=SOFT)
    save_figure(figure, path)


def _count(number: int) -> str:
    """Five characters at most: 812, 12.3k, 1.2M."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= 10 * size or (letter == "M" and number >= size):
            return f"{number / size:.3g}{letter}"
    return str(number)
