"""A report's table for the eye: Markdown for a file, Rich for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text


@dataclass(frozen=True)
class Sheet:
    """Rows of text under named columns, below a title and above sentences that explain them."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    notes: tuple[str, ...] = ()
    #: Whether cells may take several lines of a narrow terminal.
    wrap: bool = False

    def markdown(self) -> str:
        """A heading, the table, and the notes as a list."""
        # |E| would end a cell.
        lines = [
            "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (self.columns, *self.rows)
        ]
        lines.insert(1, "|" + "---|" * len(self.columns))
        notes = [f"- {note}" for note in self.notes]
        return "\n".join([f"# {self.title}", "", *lines, "", *notes]).rstrip() + "\n"

    def rich(self) -> RenderableType:
        """The table with its notes below it, which may be longer than it is wide."""
        table = Table(box=SIMPLE, padding=(0, 1, 0, 0), show_edge=False)
        # The first column holds names and the last one words, which may need several lines.
        for column in self.columns:
            words, last = column in (self.columns[0], self.columns[-1]), column == self.columns[-1]
            table.add_column(Text(column), justify="left" if words else "right", no_wrap=not (last or self.wrap))
        for row in self.rows:
            table.add_row(*(Text(cell) for cell in row))
        notes = (Text(note, style="dim") for note in self.notes)
        return Group(Text(self.title, style="italic"), table, *notes)
