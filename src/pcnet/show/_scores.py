"""Scores of several methods with their intervals, under each other on one axis: in letters, on a page, in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from pcnet.compare import Metric
from pcnet.show._charts import Score
from pcnet.show._figure_file import ACCENT, INK, PALE, write_figure
from pcnet.show._svg import CHARACTER, WIDTH, Axes, Drawing, Scale, plain, shortened, span, ticks

#: Characters of a name; inches of a row of the figure, and of what stands above and below the rows.
LONGEST, ROW, AROUND = 24, 0.28, 1.0


def scores_text(scores: Sequence[Score], metric: Metric, width: int) -> list[str]:
    """Lines of so many characters: a dot for each score, whiskers for its interval, and the axis below."""
    digits = _digits(metric) + 1
    names = [shortened(each.name, LONGEST) for each in scores]
    values = [f"{each.value:.{digits}f}" for each in scores]
    left = 2 + max(map(len, names)) + 2 + max(map(len, values)) + 2
    low, high = _ends(scores, metric)
    across = Scale(low, high, 0, max(width - left, 20) - 1)

    def column(value: float) -> int:
        return round(across(value))

    lines = []
    for each, name, value in zip(scores, names, values, strict=True):
        row = [" "] * (column(high) + 1)
        if each.interval is not None:
            first, last = map(column, each.interval)
            row[first : last + 1] = ["├", *"─" * (last - first - 1), "┤"][: last - first + 1]
        row[column(each.value)] = "●"
        middle = f"{name:<{max(map(len, names))}}  {value:>{max(map(len, values))}}"
        lines.append(f"  {middle}  {''.join(row)}".rstrip())
    axis = [" "] * (column(high) + 1)
    for tick in ticks(low, high, 4):
        label = plain(tick)
        start = min(max(column(tick) - len(label) // 2, 0), len(axis) - len(label))
        if not "".join(axis[max(start - 1, 0) : start + len(label) + 1]).strip():
            axis[start : start + len(label)] = label
    return [*lines, f"{' ' * left}{''.join(axis)}".rstrip()]


def scores_chart(scores: Sequence[Score], metric: Metric, label: str) -> Markup:
    """The same for a page."""
    row, top = 26.0, 6.0
    height = 40.0 + row * len(scores)
    names = [shortened(each.name, LONGEST) for each in scores]
    left, right = 12 + CHARACTER * max(map(len, names)), WIDTH - 52
    drawing = Drawing(height, label)
    axes = Axes(drawing, Scale(*_ends(scores, metric), left, right), Scale(0, len(scores), top, height - 34))
    for tick in ticks(axes.x.low, axes.x.high, 4):
        axes.line([(tick, 0), (tick, len(scores))], "grid")
        drawing.text(axes.x(tick), height - 19, plain(tick), anchor="middle")
    for place, (each, name) in enumerate(zip(scores, names, strict=True)):
        y, style = place + 0.5, "axis strong" if each.ours else "tick"
        value = f"{each.value:.{_digits(metric)}f}"
        drawing.text(left - 10, axes.y(y) + 4, name, style, "end")
        drawing.text(WIDTH - 8, axes.y(y) + 4, value, style, "end")
        if each.interval is not None:
            axes.line([(end, y) for end in each.interval], "whisker ours" if each.ours else "whisker")
        axes.dot(each.value, y, 3.5, "mark" if each.ours else "mark other", f"{each.name}: {value}")
    drawing.text((left + right) / 2, height - 4, _axis_title(metric), "axis", "middle")
    return drawing.markup()


def plot_scores(scores: Sequence[Score], metric: Metric, paths: Sequence[str | Path], title: str) -> None:
    """The same in a file, .svg or .png."""
    # Imported here: drawing is the only thing that needs it, and it takes a second to load.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, AROUND + ROW * len(scores)), dpi=150, layout="constrained")
    axes = figure.subplots()
    for place, each in enumerate(scores):
        colour = ACCENT if each.ours else PALE
        if each.interval is not None:
            axes.plot(each.interval, [place, place], color=colour, lw=2, solid_capstyle="round")
        axes.plot([each.value], [place], "o", color=colour, ms=6)
    axes.set_yticks(range(len(scores)), [shortened(each.name, LONGEST) for each in scores], parse_math=False)
    axes.set_ylim(len(scores) - 0.4, -0.6)
    axes.set_xlim(*_ends(scores, metric))
    axes.grid(axis="x", color="#dcdfdb", lw=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=INK, labelsize=9)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(f"{_axis_title(metric)}; lines: 95 % intervals", fontsize=8, color=PALE)
    axes.set_title(title, fontsize=10, color=INK, loc="left", parse_math=False)
    write_figure(figure, paths)


def _ends(scores: Sequence[Score], metric: Metric) -> tuple[float, float]:
    """The axis: all scores and intervals with some room, and nothing that no score can be."""
    found = [end for each in scores for end in (each.value, *(each.interval or ()))]
    low, high = span(min(found), max(found), 0.06)
    return max(low, 0.0), min(high, 100.0) if metric.percent else high


def _axis_title(metric: Metric) -> str:
    return f"{metric.title}, %" if metric.percent else f"{metric.title}, lower is better"


def _digits(metric: Metric) -> int:
    return 1 if metric.percent else 3
