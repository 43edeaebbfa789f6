"""The one table, for screens, pages and Markdown alike; the templates of pages; numbers and settings as text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from pcnet._files import write_text
from pcnet._text import code, markdown, visible

if TYPE_CHECKING:
    from pcnet.compare import Metric

Look = Literal["strong", "soft", "bar"]
#: Classes of a heat map whose shares and names are written, and letters of all names above its columns.
FEW, NARROW = 12, 50
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
            table.add_column(Text(visible(name)), justify=side, no_wrap=fixed)
        for row in self.rows:
            table.add_row(*(Text(visible(cell), style=_STYLES[_look(cell)]) for cell in row))
        # Notes may be longer than the table is wide.
        notes = [Text(visible(note), style="dim") for note in self.notes]
        return Group(*[Text(visible(self.title), style="italic")] * bool(self.title), table, *notes)

    def markdown(self) -> str:
        """For a file: a heading, the table, and the notes as a list."""
        sides = ("---" if self.is_words(place) else "--:" for place in range(len(self.columns)))
        lines = [_line(self.columns), f"|{'|'.join(sides)}|", *(_line(self.filled(row)) for row in self.rows)]
        head = [f"# {markdown(self.title)}", ""] if self.title else []
        notes = [""] * bool(self.notes) + [f"- {markdown(note)}" for note in self.notes]
        return "\n".join([*head, *lines, *notes]) + "\n"

    def html(self) -> str:
        """For a page."""
        return part("table", self)

    def is_words(self, place: int) -> bool:
        """Whether a column is one of words."""
        return place == 0 or self.columns[place] in self.words

    def filled(self, row: Sequence[str]) -> Sequence[str]:
        """A row with a text for every column."""
        return [*row, *[""] * (len(self.columns) - len(row))]


def _look(cell: str) -> str:
    return getattr(cell, "look", "")


def _line(cells: Sequence[str]) -> str:
    """A row of Markdown."""
    texts = (f"**{markdown(cell)}**" if cell and _look(cell) == "strong" else markdown(cell) for cell in cells)
    # |E| would end a cell.
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


class Step(NamedTuple):
    """What could be done next, and the command that does it."""

    what: str
    command: str


@cache
def templates() -> Any:
    """The templates of the package."""
    # Imported here: commands that write no page need not wait for it.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("pcnet.show", "")
    found = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=loader)
    found.filters |= {"score": figure, "number": "{:,}".format, "written": lambda value, metric: written(metric, value)}
    found.filters["flat"] = flat
    found.globals |= {"FEW": FEW, "numbered": numbered}
    return found


def write_page(path: str | Path, template: str, content: Mapping[str, Any]) -> None:
    """Fill a template, with the style sheet and the script in it."""
    # Names that came out of a damaged file may hold halves of characters; they become question marks.
    page = templates().get_template(template).render(content)
    write_text(path, visible(page.encode("utf-8", "replace").decode("utf-8")))


def part(name: str, *args: Any) -> str:
    """A part of a page, as markup."""
    return cast("str", getattr(templates().get_template("page.html").module, name)(*args))


def numbered(names: Sequence[str]) -> bool:
    """Whether classes are numbered from 1 in their order, because names would not fit above the columns."""
    return len(names) > FEW or max(map(len, names)) * len(names) > NARROW


def written(metric: Metric, value: float | tuple[float, float] | None) -> str:
    """A score in a sentence, or the ends of its interval: 81.2 %, 80.1 to 82.4 %, 0.412; nothing is –."""
    if value is None:
        return "–"
    ends = value if isinstance(value, tuple) else (value,)
    return " to ".join(f"{end:.{metric.digits}f}" for end in ends) + "\u00a0%" * metric.percent


def with_interval(metric: Metric, value: float | None = None, interval: Sequence[float] | None = None) -> str:
    """A score with its interval as a table shows them: 82.10 [80.05, 84.10]; either may be missing."""
    ends = "" if interval is None else f"[{', '.join(map(metric.text, interval))}]"
    return ends if value is None else f"{metric.text(value)} {ends}".rstrip()


def figure(value: float | None, digits: int = 1) -> str:
    """A number as a table shows it; nothing is –, and zero has no sign."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text.replace("-", "" if float(text) == 0 else "−")


def flat(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings under the names of `--set`: lr.theta for the entry theta of lr."""
    found: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            found |= {f"{key}.{inner}": str(each) for inner, each in value.items()}
        else:
            found[key] = str(value)
    return found


def splits_table(
    seeds: Sequence[int], sizes: Sequence[Sequence[int]], hashes: Sequence[str], more: Mapping[str, Sequence[str]]
) -> Table:
    """A row for each split, with further columns by name."""
    rows = [
        [str(seed), *(f"{part:,}" for part in own), *others, name]
        for seed, own, name, *others in zip(seeds, sizes, hashes, *more.values(), strict=True)
    ]
    return Table("", ("seed", "train", "validation", "test", *more, "hash"), rows, words=("best", "hash"))


def provenance_list(records: Sequence[Mapping[str, Any]], command: str) -> str:
    """Part of a Markdown file: the command that makes its numbers again, when, where and with what they were made."""
    places = dict.fromkeys(f"date: {each['date']}; machine: {each['machine']}" for each in records)
    versions = dict.fromkeys(", ".join(f"{name} {v}" for name, v in each["versions"].items()) for each in records)
    lines = (f"command: {code(command)}", *places, *(f"versions: {each}" for each in versions))
    return "".join(f"- {line}\n" for line in lines)


def with_unit(metric: Metric) -> str:
    """accuracy in percent; log loss, lower is better."""
    return f"{metric.title}{' in percent' if metric.percent else ', lower is better'}"
