"""Small pictures in SVG: their colours and letters are the page's, so they follow its theme and its size.

A picture is 360 units wide, about the pixels of a phone's column, and grows with the page. Elements carry the classes
of the page's style sheet and no colours. Texts are escaped by the XML library: names are their owners' own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree.ElementTree import Element, SubElement, tostring

from markupsafe import Markup

WIDTH = 360.0
#: Mean width of a character of the pictures' 11-unit letters.
CHARACTER = 5.9

Anchor = Literal["start", "middle", "end"]


class Drawing:
    """An SVG element that grows: lines, marks and texts in units from the upper left corner."""

    def __init__(self, height: float, label: str, *, width: float = WIDTH) -> None:
        box = f"0 0 {_number(width)} {_number(height)}"
        self.root = Element("svg", {"viewBox": box, "role": "img", "aria-label": label})
        self.titled(self.root, label)

    @staticmethod
    def titled(element: Element, text: str) -> None:
        """What a pointer that rests on the element shows."""
        SubElement(element, "title").text = text

    def path(self, points: Iterable[tuple[float, float]], style: str, *, closed: bool = False) -> None:
        steps = "L".join(f"{_number(x)} {_number(y)}" for x, y in points)
        SubElement(self.root, "path", {"class": style, "d": f"M{steps}{'Z' if closed else ''}"})

    def dot(self, x: float, y: float, radius: float, style: str, title: str = "") -> None:
        where = {"cx": _number(x), "cy": _number(y), "r": _number(radius)}
        element = SubElement(self.root, "circle", {"class": style, **where})
        if title:
            self.titled(element, title)

    def cell(self, x: float, y: float, width: float, height: float, style: str, strength: float, title: str) -> None:
        """A rectangle whose colour is as strong as a share in [0, 1]."""
        box = {"x": _number(x), "y": _number(y), "width": _number(width), "height": _number(height)}
        element = SubElement(self.root, "rect", {"class": style, **box, "fill-opacity": f"{strength:.3g}"})
        self.titled(element, title)

    def text(self, x: float, y: float, text: str, style: str = "tick", anchor: Anchor = "start") -> None:
        where = {"x": _number(x), "y": _number(y), "text-anchor": anchor}
        SubElement(self.root, "text", {"class": style, **where}).text = text

    def markup(self) -> Markup:
        return Markup(tostring(self.root, encoding="unicode"))


@dataclass(frozen=True)
class Scale:
    """A number's place in the picture: low at `start`, high at `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(frozen=True)
class Axes:
    """Two scales with a frame of thin lines and numbers along them."""

    drawing: Drawing
    x: Scale
    y: Scale

    def frame(self, x_label: str, y_label: str, *, x_ticks: Sequence[float] = (), unit: str = "") -> None:
        """Horizontal lines with their numbers, numbers below, and what both are."""
        top, bottom = min(self.y.start, self.y.end), max(self.y.start, self.y.end)
        for tick in ticks(self.y.low, self.y.high):
            self.line([(self.x.low, tick), (self.x.high, tick)], "grid")
            self.drawing.text(self.x.start - 5, self.y(tick) + 4, f"{plain(tick)}{unit}", anchor="end")
        for tick in x_ticks:
            self.drawing.text(self.x(tick), bottom + 15, plain(tick), anchor="middle")
        if x_label:
            self.drawing.text((self.x.start + self.x.end) / 2, bottom + 31, x_label, "axis", "middle")
        if y_label:
            self.drawing.text(0, top - 9, y_label, "axis")

    def line(self, points: Iterable[tuple[float, float]], style: str, *, closed: bool = False) -> None:
        self.drawing.path(((self.x(a), self.y(b)) for a, b in points), style, closed=closed)

    def dot(self, x: float, y: float, radius: float, style: str, title: str = "") -> None:
        self.drawing.dot(self.x(x), self.y(y), radius, style, title)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten in [low, high], about as many as asked for."""
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [step * place for place in range(first, last + 1)]


def span(low: float, high: float, margin: float = 0.05) -> tuple[float, float]:
    """The two ends with some room beyond, also where they are one point."""
    room = margin * (high - low) or max(abs(low), 1.0) * margin
    return low - room, high + room


def shortened(name: str, most: int) -> str:
    """A name that fits, with … where it was cut."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def plain(value: float) -> str:
    """A tick's number as people write it: 1,000 and −0.2."""
    text = f"{value:,.12g}" if abs(value) < 1e6 else f"{value:.3g}"
    return "0" if float(text.replace(",", "")) == 0 else text.replace("-", "−")


def _number(value: float) -> str:
    """A tenth of a unit is finer than any screen."""
    return f"{value:.1f}".removesuffix(".0")
