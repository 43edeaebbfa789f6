"""Scores of several methods with their intervals, under each other on one axis, in letters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pcnet.compare import Metric

#: Characters of a name.
LONGEST = 24


@dataclass(frozen=True)
class Score:
    """A number with its interval, to be shown among others of its kind; `ours` is what the picture is about."""

    name: str
    value: float
    interval: tuple[float, float] | None = None
    ours: bool = False


def scores_text(scores: Sequence[Score], metric: Metric, width: int) -> list[str]:
    """Lines of at most `width` characters: a dot for each score, whiskers for its interval, and the axis below."""
    known = [(shortened(each.name, LONGEST), metric.text(each.value)) for each in scores]
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


def ends(scores: Sequence[Score], metric: Metric) -> tuple[float, float]:
    """The axis: all scores and intervals with some room, and nothing that no score can be."""
    found = [end for each in scores for end in (each.value, *(each.interval or ()))]
    low, high = span(min(found), max(found), 0.06)
    return max(low, 0.0), min(high, 100.0) if metric.percent else high


def axis_title(metric: Metric) -> str:
    return f"{metric.title}, %" if metric.percent else f"{metric.title}, lower is better"


def digits(metric: Metric) -> int:
    """Decimals of a score in a picture or on a page."""
    return 1 if metric.percent else 3


def span(low: float, high: float, margin: float = 0.05) -> tuple[float, float]:
    """The two ends with some room beyond, also where they are one point."""
    room = margin * (high - low) or max(abs(low), 1.0) * margin
    return low - room, high + room


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


def shortened(name: str, most: int) -> str:
    """A name that fits, with … where it was cut."""
    return name if len(name) <= most else f"{name[: most - 1]}…"
