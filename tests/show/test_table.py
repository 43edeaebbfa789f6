"""One table, three renderings: what it holds is text in each, whatever it holds."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from pcnet.show import Cell, Table
from pcnet.show._table import strong

EVIL = ["<script>alert(1)</script>", "a|b", "[bold]x[/bold]", "**b** _i_ `c`", 'a "b" & c', "two\nlines", "\\|", "$x$"]


class Cells(HTMLParser):
    """Names of all elements, and the text of every body cell."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.used: list[str] = []
        self.names: list[str | None] = []
        self.cells: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.used.append(tag)
        if tag == "td":
            self.cells.append("")
            self.names.append(dict(attrs).get("data-name"))

    def handle_data(self, data):
        if self.cells and self.used[-1] in ("td", "b", "span"):
            self.cells[-1] += data.rstrip("\n") if data.strip() else ""


def printed(table: Table, width: int = 200) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(table.rich())
    return console.file.getvalue()


@pytest.mark.parametrize("text", EVIL)
def test_a_text_is_a_text_in_every_rendering(text):
    table = Table(text, ("name", text), [[text, "1"]], notes=[text])
    html = Cells(table.html())
    assert html.cells == [text, "1"]
    assert html.names == ["name", text]
    assert {*html.used} == {"table", "caption", "thead", "tr", "th", "tbody", "td", "p"}
    assert text.splitlines()[0] in printed(table)
    assert not re.search(r"(?<!\\)[<*`]", table.markdown().removesuffix("\n"))


def test_an_emphasised_row_is_one_everywhere():
    table = Table("", ("method", "score"), [strong(["PCNet", "82.1"]), ["GCN", "80.0"]])
    assert "| **PCNet** | **82.1** |\n| GCN | 80.0 |" in table.markdown()
    assert Cells(table.html()).used.count("b") == 2
    console = Console(file=io.StringIO(), force_terminal=True, width=60)
    console.print(table.rich())
    assert re.search(r"\x1b\[1mPCNet", console.file.getvalue())
    assert not re.search(r"\x1b\[1mGCN", console.file.getvalue())


def test_numbers_stand_on_the_right_and_words_on_the_left():
    table = Table("", ("name", "n", "why"), [["a", "1", "so"], ["bbbb", "1000", "because"]], words=("why",))
    assert "|---|--:|---|" in table.markdown()
    rows = printed(table).splitlines()[-2:]
    assert rows[0].index("1") == rows[1].index("1000") + 3
    assert rows[0].index("so") == rows[1].index("because")
    assert re.findall(r"<th( class=\"word\")?>", table.html()) == [' class="word"', "", ' class="word"']


def test_short_rows_are_filled_up_and_a_heading_can_be_left_out():
    table = Table("", ("", "words"), [["alone"], ["b", "c"]], words=("words",), headed=False)
    assert "words" not in printed(table)
    assert Cells(table.html()).cells == ["alone", "", "b", "c"]
    assert "| alone |  |" in table.markdown()


def test_soft_cells_and_bars_are_marked_on_a_page():
    page = Table("", ("a", "b"), [[Cell("x", "soft"), Cell("█", "bar")]]).html()
    assert '<span class="soft">x</span>' in page
    assert '<span class="bar">█</span>' in page


@given(st.lists(st.text(st.characters(blacklist_categories=["Cs", "Cc"])), min_size=2, max_size=2))
def test_no_text_breaks_a_row(cells):
    """Of Markdown and HTML: every row has as many cells as there are columns, with these texts."""
    table = Table("", ("a", "b"), [cells])
    assert Cells(table.html()).names == ["a", "b"]
    line = table.markdown().splitlines()[2]
    inside = line.removeprefix("| ").removesuffix(" |")
    assert inside == " | ".join(re.sub(r"([\\`*_<])", r"\\\1", cell).replace("|", "\\|") for cell in cells)
