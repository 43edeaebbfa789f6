"""The one table: what a command prints, a report holds and a Markdown file lists is the same object."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

Look = Literal["strong", "soft", "bar"]
_STYLES = {"strong": "bold", "soft": "dim", "bar": "blue", "": ""}


class Cell(str):
    """A text that is more ("strong") or less ("soft") important than others, or a small bar of block characters."""

    __slots__ = ("look",)
    look: Look

    def __new__(cls, text: str, look: Look) -> Cell:
        cell = super().__new__(cls, text)
        cell.look = look
        return cell


def strong(row: Sequence[str]) -> list[str]:
    """An emphasised row."""
    return [Cell(text, "strong") for text in row]


def soft(row: Sequence[str]) -> list[str]:
    """A row that matters less than the others."""
    return [Cell(text, "soft") for text in row]


@dataclass(frozen=True)
class Table:
    """Rows of text under named columns, below a title and above sentences that explain them.

    Args:
        title: stands above the table, unless it is empty.
        columns: their names.
        rows: texts, or `Cell`s where they look different; a short row is filled up.
        notes: sentences below it.
        words: columns of words, which stand on the left; the first column is one, the others hold numbers.
        wrap: whether cells of any column may take several lines of a narrow terminal, not only those of words.
        headed: whether the names of the columns are shown.

    >>> print(Table("", ("method", "score"), [["PCNet", "82.1"], ["a|b", "80.0"]], ["in percent"]).markdown())
    | method | score |
    |---|--:|
    | PCNet | 82.1 |
    | a\\|b | 80.0 |
    <BLANKLINE>
    - in percent
    <BLANKLINE>
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    words: Collection[str] = ()
    wrap: bool = False
    headed: bool = True

    def rich(self) -> RenderableType:
        """For a terminal."""
        if self.headed:
            table = RichTable(box=SIMPLE, padding=(0, 1, 0, 0), show_edge=False)
        else:
            table = RichTable.grid(padding=(0, 2, 0, 0))
        for place, name in enumerate(self.columns):
            side: Literal["left", "right"] = "left" if self.is_words(place) else "right"
            fixed = not self.wrap and (place == 0 or side == "right")
            table.add_column(Text(name), justify=side, no_wrap=fixed)
        for row in self.rows:
            table.add_row(*(Text(cell, style=_STYLES[_look(cell)]) for cell in row))
        # Notes may be longer than the table is wide.
        notes = [Text(note, style="dim") for note in self.notes]
        return Group(*([Text(self.title, style="italic")] if self.title else []), table, *notes)

    def markdown(self) -> str:
        """For a file: a heading, the table, and the notes as a list."""
        sides = ("---" if self.is_words(place) else "--:" for place in range(len(self.columns)))
        lines = [_line([*map(_escaped, self.columns)]), f"|{'|'.join(sides)}|"]
        lines += [_line([_stressed(cell) for cell in self.filled(row)]) for row in self.rows]
        head = [f"# {_escaped(self.title)}", ""] if self.title else []
        notes = ["", *(f"- {_escaped(note)}" for note in self.notes)] if self.notes else []
        return "\n".join([*head, *lines, *notes]) + "\n"

    def html(self, *, classes: str = "stack", attributes: str = "") -> str:
        """For a page.

        Args:
            classes: of the table element; with "stack" every row is a block on a phone, with the names of the columns.
            attributes: of the table element, as they stand in it.
        """
        # Imported here: tables on a screen need no templates.
        from pcnet.show._template import part

        return part("table", self, classes, attributes)

    #: What a template takes as markup.
    def __html__(self) -> str:
        return self.html()

    def is_words(self, place: int) -> bool:
        """Whether a column is one of words."""
        return place == 0 or self.columns[place] in self.words

    def filled(self, row: Sequence[str]) -> Sequence[str]:
        """A row with a text for every column."""
        return [*row, *[""] * (len(self.columns) - len(row))]


def _look(cell: str) -> str:
    return cell.look if isinstance(cell, Cell) else ""


def _stressed(cell: str) -> str:
    return f"**{_escaped(cell)}**" if cell and _look(cell) == "strong" else _escaped(cell)


def _line(cells: Sequence[str]) -> str:
    # |E| would end a cell.
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _escaped(text: str) -> str:
    """One line of Markdown that shows the text as it stands."""
    return re.sub(r"([\\`*_<])", r"\\\1", re.sub(r"\s*[\r\n]+\s*", " ", text))
