"""Pictures in one style: saved as files, or inline in a page in its colours; those of a report, and scores."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from pcnet._checks import FloatArray
from pcnet._files import write_atomically
from pcnet.compare import Metric, Reliability
from pcnet.nn import Learned
from pcnet.show._counts import Bin
from pcnet.show._table import with_unit, written

#: The colours of a light page, and the names that the style sheet has for them.
PAGE, INK, SOFT, RULE, ACCENT, SECOND = "#fdfdfb", "#1c2329", "#5b6670", "#dcdfdb", "#1f5fa8", "#b4622c"
_NAMES = {PAGE: "page", INK: "ink", SOFT: "soft", RULE: "rule", ACCENT: "accent", SECOND: "second"}
_VARIABLES = {colour: f"var(--{name})" for colour, name in _NAMES.items()}
#: Behind what is drawn.
PALE = "#c9d1da"
#: Okabe and Ito's colours for many lines, which everybody can tell apart, and a marker for each.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
#: Inches of a picture on a page: 360 points, which is a phone's column with letters of 11 pixels.
WIDTH = 5.0
_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    **dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize"), 11),
    **dict.fromkeys(("text.color", "axes.labelcolor"), INK),
    **dict.fromkeys(("axes.edgecolor", "grid.color"), RULE),
    **dict.fromkeys(("xtick.color", "ytick.color"), SOFT),
    **dict.fromkeys(("xtick.major.size", "ytick.major.size"), 0),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right", "legend.frameon"), False),
    # A dollar in a user's text is a dollar.
    "text.parse_math": False,
    "axes.facecolor": "none",
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.axisbelow": True,
    "legend.fontsize": 9,
    "savefig.dpi": 180,
    # Letters stay letters.
    "svg.fonttype": "none",
    # Names of markers are made of this, not drawn at random: the same picture is the same file.
    "svg.hashsalt": "pcnet",
}
_SVG, _LINK = "http://www.w3.org/2000/svg", "{http://www.w3.org/1999/xlink}href"
_TIP = "tip: "
#: Runs that are drawn one by one, points of each curve, and characters of a name beside a score.
RUNS, POINTS, LONGEST = 30, 150, 24
_RUN: dict[str, Any] = {"color": SOFT, "lw": 0.8, "alpha": 0.55}
_IDEAL: dict[str, Any] = {"color": SOFT, "lw": 1.0, "ls": (0, (4, 4))}
_DOT: dict[str, Any] = {"marker": "o", "mfc": ACCENT, "mec": PAGE, "mew": 0.8, "ms": 7, "ls": ""}


@contextmanager
def _in_style() -> Iterator[None]:
    # Imported here: it takes a second to load, and only figures need it.
    import matplotlib

    with matplotlib.rc_context(_STYLE):
        yield


#: Decorates a function that draws or saves: in the style of this module and without changing the user's own.
styled = _in_style()


def panels(
    width: float, height: float, rows: int = 1, columns: int = 1, *, title: str = "", **layout: Any
) -> tuple[Any, Any]:
    """A figure in inches and its rows × columns axes; a single one as it is."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    if title:
        figure.suptitle(title, fontsize=11)
    return figure, figure.subplots(rows, columns, **layout)


def tip(artists: Sequence[Any], text: str) -> None:
    """What a pointer shows that rests on the marks, where the figure stands in a page."""
    for artist in artists:
        artist.set_gid(_TIP + text)


@styled
def save_figure(figure: Any, *paths: str | Path, **how: Any) -> None:
    """Write it to every path, in the format of its suffix: .svg, .png or .pdf; or, if one cannot be drawn, to none."""
    pictures = [(path, _drawn(figure, Path(path).suffix.removeprefix("."), **how)) for path in paths]
    for path, picture in pictures:
        write_atomically(path, partial(Path.write_bytes, data=picture))


@styled
def inline(figure: Any, label: str) -> str:
    """An SVG element for a page: its width, its letters and its colours, by name, are the page's own.

    Nothing in it may stick out of its axes, since nothing is clipped. `label` is what stands for the picture where it
    is not seen.
    """
    root = ElementTree.fromstring(_drawn(figure, "svg", facecolor="none"))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "style", "clipPath"):
                parent.remove(child)
    names = {each.attrib[_LINK][1:] for each in root.iter() if _LINK in each.attrib}
    for each in list(root.iter()):
        # Where HTML has names of its own, an element has one only if another refers to it.
        name = each.attrib.pop("id", "")
        if name in names:
            each.set("id", name)
        elif name.startswith(_TIP):
            _titled(each, name.removeprefix(_TIP))
        each.attrib.pop("clip-path", None)
        if _LINK in each.attrib:
            each.set("href", each.attrib.pop(_LINK))
        if "style" in each.attrib:
            each.set("style", re.sub("#[0-9a-f]{6}", lambda hex: _VARIABLES.get(hex[0], hex[0]), each.attrib["style"]))
        for key in {"d", "x", "y", "transform"} & {*each.attrib}:
            # To a tenth of a unit, which is finer than any screen.
            each.set(key, " ".join(re.sub(r"(\.\d)\d+", r"\1", each.attrib[key]).split()))
        each.tag = each.tag.removeprefix(f"{{{_SVG}}}")
        each.text, each.tail = (each.text or "").strip(), ""
    box = root.attrib["viewBox"]
    root.attrib.clear()
    root.attrib |= {"xmlns": _SVG, "viewBox": box, "role": "img", "aria-label": label}
    _titled(root, label)
    return ElementTree.tostring(root, encoding="unicode")


def _titled(element: ElementTree.Element, text: str) -> None:
    title = ElementTree.Element("title")
    title.text = text
    element.insert(0, title)


def _drawn(figure: Any, kind: str, **how: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, metadata={"Date": None} if kind == "svg" else None, **how)
    return buffer.getvalue()


@dataclass(frozen=True)
class Score:
    """A number with its interval, to be shown among others of its kind; `ours` is what the picture is about."""

    name: str
    value: float
    interval: tuple[float, float] | None = None
    ours: bool = False


@styled
def reliability_chart(as_trained: Reliability, calibrated: Reliability) -> Any:
    """How often predictions were right against how probable they were said to be; a dot's area is its share."""
    figure, axes = panels(WIDTH, 4.2)
    axes.plot([0, 100], [0, 100], **_IDEAL)
    for diagram, colour, look in ((as_trained, SECOND, {"mfc": "none"}), (calibrated, ACCENT, {"alpha": 0.6})):
        each = zip(diagram.confidence, diagram.accuracy, diagram.count, strict=True)
        filled = [(100 * confidence, 100 * accuracy, count) for confidence, accuracy, count in each if count]
        axes.plot([x for x, _, _ in filled], [y for _, y, _ in filled], color=colour, lw=1.5)
        for x, y, count in filled:
            dot = axes.plot(x, y, "o", color=colour, mew=1.5, ms=4 + 28 * (count / sum(diagram.count)) ** 0.5, **look)
            tip(dot, f"{count:,} predictions: said {x:.0f} %, right {y:.0f} %")
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
def contest_chart(ended: Sequence[float], scores: Sequence[float], ensemble: float, metric: Metric) -> Any:
    """A dot for the score of each trial, at the second when it was complete, the best so far, and the ensemble's."""
    order = np.argsort(ended, kind="stable")
    seconds, found = np.array(ended)[order], np.array(scores)[order]
    best = metric.sign * np.maximum.accumulate(metric.sign * found)
    figure, axes = panels(WIDTH, 3.2)
    axes.axhline(ensemble, label="the ensemble", **_IDEAL)
    axes.plot(seconds, best, color=ACCENT, lw=2, drawstyle="steps-post", label="best so far")
    for second, score in zip(seconds, found, strict=True):
        tip(axes.plot(second, score, **_DOT), f"{metric.text(score)} after {second:.0f} s")
    axes.set(xlim=span(0.0, float(seconds[-1]), 0.02), ylim=span(min(*found, ensemble), max(*found, ensemble)))
    axes.set(xlabel="seconds of training", title=with_unit(metric))
    axes.legend()
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
        colour, value = ACCENT if each.ours else SOFT, f"{each.value:.{metric.digits}f}"
        if each.interval is not None:
            axes.plot(each.interval, [place, place], color=colour, lw=2, solid_capstyle="round")
        tip(axes.plot(each.value, place, **{**_DOT, "mfc": colour}), f"{each.name}: {value}")
        axes.annotate(value, (1, place), (8, 0), ("axes fraction", "data"), "offset points", va="center", color=SOFT)
    axes.set_yticks(range(len(scores)), [shortened(each.name) for each in scores])
    for each, name in zip(scores, axes.get_yticklabels(), strict=True):
        name.set(fontweight="bold" if each.ours else "normal", color=INK if each.ours else SOFT)
    axes.set(xlim=ends(scores, metric), ylim=(len(scores) - 0.5, -0.5), title=title)
    unit = "%" if metric.percent else "lower is better"
    axes.set_xlabel(f"{metric.title}, {unit}{'; lines: 95 % intervals' if title else ''}")
    axes.grid(False, axis="y")
    axes.spines[:].set_visible(False)
    return figure


def scores_on_page(scores: Sequence[Score], metric: Metric) -> str:
    """The same as an element of a page, with the numbers for those who do not see it."""
    numbers = ", ".join(f"{each.name} {written(metric, each.value)}" for each in scores)
    return inline(scores_chart(scores, metric), f"{metric.title}: {numbers}")


def save_filter(figure: Any, found: Learned, path: str | Path, title: str) -> None:
    """Write a drawn filter with what stands around it on a page: a title and the Laplacian."""
    figure.suptitle(title, fontsize=11)
    figure.supxlabel(found.laplacian, fontsize=9, color=SOFT)
    save_figure(figure, path)


def _count(number: int) -> str:
    """Five characters at most: 812, 12.3k, 1.2M."""
    if number >= 1_000_000:
        return f"{number / 1_000_000:.3g}M"
    return f"{number / 1_000:.3g}k" if number >= 10_000 else str(number)


def ends(scores: Sequence[Score], metric: Metric) -> tuple[float, float]:
    """The axis: all scores and intervals with some room, and nothing that no score can be."""
    found = [end for each in scores for end in (each.value, *(each.interval or ()))]
    low, high = span(min(found), max(found), 0.06)
    return max(low, 0.0), min(high, 100.0) if metric.percent else high


def span(low: float, high: float, margin: float = 0.05) -> tuple[float, float]:
    """The two ends with some room beyond, also where they are one point."""
    room = margin * (high - low) or max(abs(low), 1.0) * margin
    return low - room, high + room


def shortened(name: str, most: int = LONGEST) -> str:
    """A name that fits, with … where it was cut."""
    return name if len(name) <= most else f"{name[: most - 1]}…"
