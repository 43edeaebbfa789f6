"""The pictures of the report: calibration, training, the learned filter, accuracy by kind of node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from pcnet._checks import FloatArray
from pcnet.compare import Reliability
from pcnet.nn import Learned
from pcnet.show._surroundings import Bin
from pcnet.show._svg import WIDTH, Axes, Drawing, Scale, plain, span, ticks

#: Runs that are drawn one by one, and points of each curve.
RUNS, POINTS = 30, 150
LEFT, RIGHT, TOP, BELOW = 40.0, WIDTH - 8, 22.0, 36.0
HEIGHT = 230.0


@dataclass(frozen=True)
class Score:
    """A number with its interval, beside others of its kind; `ours` is what the report is about."""

    name: str
    value: float
    interval: tuple[float, float] | None = None
    ours: bool = False


def reliability_chart(as_trained: Reliability, calibrated: Reliability, label: str) -> Markup:
    """How often predictions were right against how probable they were said to be; a dot's area is its share."""
    height = 300.0
    drawing = Drawing(height, label)
    axes = Axes(drawing, Scale(0, 100, LEFT, RIGHT), Scale(0, 100, height - BELOW, TOP))
    axes.frame("said to be right, %", "was right, %", x_ticks=ticks(0, 100))
    axes.line([(0, 0), (100, 100)], "ideal")
    for diagram, style in ((as_trained, "other"), (calibrated, "")):
        total = sum(diagram.count)
        filled = [
            (100 * confidence, 100 * accuracy, count)
            for confidence, accuracy, count in zip(diagram.confidence, diagram.accuracy, diagram.count, strict=True)
            if count
        ]
        axes.line([(x, y) for x, y, _ in filled], f"run {style}" if style else "mean thin")
        for x, y, count in filled:
            title = f"{count:,} predictions: said {x:.0f} %, right {y:.0f} %"
            axes.dot(x, y, 2 + 14 * (count / total) ** 0.5, f"mark pale {style}", title)
    return drawing.markup()


def curves_chart(curves: Sequence[FloatArray], best: Sequence[int], y_label: str, label: str) -> Markup:
    """A number over the epochs, a line for each run, with a dot at the epoch whose weights were kept."""
    curves, best = curves[:RUNS], best[:RUNS]
    # A first epoch far off must not flatten all others, nor may an infinite loss.
    finite = np.concatenate([curve[np.isfinite(curve)] for curve in curves])
    kept_values = [float(curve[kept]) for curve, kept in zip(curves, best, strict=True)]
    low, high = span(float(finite.min()), max(float(np.percentile(finite, 99)), *kept_values))
    longest = max(len(curve) for curve in curves)
    drawing = Drawing(HEIGHT, label)
    axes = Axes(drawing, Scale(0, max(longest - 1, 1), LEFT, RIGHT), Scale(low, high, HEIGHT - BELOW, TOP))
    axes.frame("epoch", y_label, x_ticks=ticks(0, max(longest - 1, 1)))
    for curve, kept in zip(curves, best, strict=True):
        places = np.unique(np.append(np.linspace(0, len(curve) - 1, min(POINTS, len(curve))).astype(int), kept))
        values = np.clip(np.nan_to_num(curve[places], nan=high, posinf=high), low, high)
        axes.line(zip(places.tolist(), values.tolist(), strict=True), "run")
    for number, (kept, value) in enumerate(zip(best, kept_values, strict=True), start=1):
        axes.dot(kept, value, 3.2, "mark", f"run {number}: epoch {kept}, {value:.4g}")
    return drawing.markup()


def filter_chart(found: Learned, label: str) -> Markup:
    """g(λ) of each run and their mean, above the density of the eigenvalues on the same axis."""
    height, split = 330.0, 215.0
    lam, responses = found.lam, found.responses
    order = np.argsort(lam)[:: max(1, len(lam) // (2 * POINTS))]
    drawing = Drawing(height, label)
    across = Scale(float(lam.min()), float(lam.max()), LEFT, RIGHT)
    shown = responses[:RUNS]
    low, high = span(min(0.0, float(shown.min())), max(0.0, float(shown.max())))
    above = Axes(drawing, across, Scale(low, high, split, TOP))
    above.frame("", "response g(λ)")
    above.line([(across.low, 0), (across.high, 0)], "zero")
    if len(shown) > 1:
        for response in shown:
            above.line(_pairs(lam[order][::2], response[order][::2]), "run")
    above.line(_pairs(lam[order], found.mean[order]), "mean")
    # Repeated eigenvalues are needles that would flatten the rest: what is higher is cut off.
    ceiling = min(float(found.density.max()), 6 * float(found.density.mean())) or 1.0
    below = Axes(drawing, across, Scale(0, 1, height - BELOW, split + 22))
    heights = np.minimum(found.density[order] / ceiling, 1)
    below.line([(across.low, 0), *_pairs(lam[order], heights), (across.high, 0)], "density", closed=True)
    below.line([(across.low, 0), (across.high, 0)], "zero")
    drawing.text(0, split + 16, "density of eigenvalues", "axis")
    for tick in ticks(across.low, across.high, 7):
        drawing.text(across(tick), height - 21, plain(tick), anchor="middle")
    drawing.text(LEFT, height - 5, "← smooth", "axis")
    drawing.text((LEFT + RIGHT) / 2, height - 5, "eigenvalue λ", "axis", "middle")
    drawing.text(RIGHT, height - 5, "rough →", "axis", "end")
    return drawing.markup()


def bins_chart(bins: Sequence[Bin], overall: float, x_label: str, label: str) -> Markup:
    """Accuracy of each bin with its interval and number of nodes, beside the accuracy of all."""
    height = HEIGHT + 14
    drawing = Drawing(height, label)
    bottom = height - BELOW - 14
    axes = Axes(drawing, Scale(0, len(bins), LEFT, RIGHT), Scale(0, 100, bottom, TOP))
    axes.frame("", "right, %")
    axes.line([(0, overall), (len(bins), overall)], "ideal")
    size = "tick" if len(bins) <= 7 else "tick small"
    for place, each in enumerate(bins):
        x = place + 0.5
        axes.line([(x, end) for end in each.interval], "whisker ours")
        axes.dot(x, each.accuracy, 4.5, "mark", f"{each.accuracy:.1f} % of {each.nodes:,} nodes")
        drawing.text(axes.x(x), bottom + 15, each.label, size, "middle")
        drawing.text(axes.x(x), bottom + 28, _count(each.nodes), "tick small", "middle")
    drawing.text((LEFT + RIGHT) / 2, height - 4, x_label, "axis", "middle")
    drawing.text(0, bottom + 28, "nodes", "tick small")
    return drawing.markup()


def _pairs(x: FloatArray, y: FloatArray) -> list[tuple[float, float]]:
    return list(zip(x.tolist(), y.tolist(), strict=True))


def _count(number: int) -> str:
    """Five characters at most: 812, 12.3k, 1.2M."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= 10 * size or (letter == "M" and number >= size):
            return f"{number / size:.3g}{letter}"
    return str(number)
