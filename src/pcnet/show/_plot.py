"""The one plot style: figures of matplotlib that are saved as files, or stand in a page and follow its colours."""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from xml.etree import ElementTree

from pcnet._files import write_atomically

Parameters = ParamSpec("Parameters")
Drawn = TypeVar("Drawn")

#: The colours of a light page by the names that the style sheet has for them.
PAGE, INK, SOFT, RULE, ACCENT, SECOND = "#fdfdfb", "#1c2329", "#5b6670", "#dcdfdb", "#1f5fa8", "#b4622c"
_NAMES = {PAGE: "page", INK: "ink", SOFT: "soft", RULE: "rule", ACCENT: "accent", SECOND: "second"}
#: Behind what is drawn.
PALE = "#c9d1da"
#: Okabe and Ito's colours for many lines, which everybody can tell apart, and a marker for each.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
#: Inches of a picture on a page: 360 points, which is a phone's column with letters of 11 pixels.
WIDTH = 5.0
_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "text.color": INK,
    # A dollar in a user's text is a dollar.
    "text.parse_math": False,
    "axes.facecolor": "none",
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.labelsize": 11,
    "axes.labelcolor": INK,
    "axes.edgecolor": RULE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "savefig.dpi": 180,
    # Letters stay letters.
    "svg.fonttype": "none",
    # Names of markers are made of this, not drawn at random: the same picture is the same file.
    "svg.hashsalt": "pcnet",
}
_SVG, _LINK = "http://www.w3.org/2000/svg", "{http://www.w3.org/1999/xlink}href"
_TIP = "tip: "


def styled(draw: Callable[Parameters, Drawn]) -> Callable[Parameters, Drawn]:
    """A function that draws or saves, in the style of this module and without changing the user's own."""

    @functools.wraps(draw)
    def in_style(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Drawn:
        # Imported here: it takes a second to load, and only figures need it.
        import matplotlib

        with matplotlib.rc_context(_STYLE):
            return draw(*args, **kwargs)

    return in_style


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
            each.set("style", re.sub("#[0-9a-f]{6}", _by_name, each.attrib["style"]))
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


def _by_name(colour: re.Match[str]) -> str:
    return f"var(--{_NAMES[colour[0]]})" if colour[0] in _NAMES else colour[0]


def _drawn(figure: Any, kind: str, **how: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, metadata={"Date": None} if kind == "svg" else None, **how)
    return buffer.getvalue()
