"""Names that users gave, where they are shown: as they stand, and obeyed by nothing."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcnet._files import write_table
from pcnet._text import code, inert, is_formula, markdown, visible
from pcnet.show import Screen, Table

HOSTILE = ["[/x]", "[/bold]", "[red]", ":smile:", "\x1b[31mred", "a\x07b\x9b2J", "\u202egnp", "<script>", "o[/]x"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_terminal_shows_a_name_as_it_stands(name):
    written = io.StringIO()
    screen = Screen(file=written, force_terminal=True, color_system=None, width=80)
    screen.print(f"name: {name}")
    screen.print(Table(name, (name,), [[name]], [name]).rich())
    shown = written.getvalue()
    assert not {*"\x07\x1b\x9b\u202e"} & {*shown}
    # Of a sentence, Rich drops a few of them.
    assert shown.count(visible(name)) >= 4


@given(st.text())
def test_what_is_visible_has_no_control_characters(text):
    shown = visible(text)
    assert len(shown) == len(text)
    assert not any((ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160 for c in shown)
    assert all(a == b or not b.isprintable() for a, b in zip(shown, text, strict=True))


def test_markdown_has_neither_markup_nor_links():
    assert markdown("<script>alert(1)</script>") == "\\<script>alert(1)\\</script>"
    assert markdown("[17.9, 53.2] [a](javascript:b)\n# c") == "[17.9, 53.2] [a]\\(javascript:b) # c"
    assert code("train `x`") == "`` train `x` ``"


def test_a_spreadsheet_computes_no_name(tmp_path):
    names = ["=cmd|' /C calc'!A0", "@SUM(A1)", "+1+1", "-2+3", "\t=1", "-1.5", "+1e-3", "plain", 7]
    assert [is_formula(name) for name in names] == [True] * 5 + [False] * 4
    columns = {"id": names, "=head": [0.5] * len(names)}
    write_table(tmp_path / "plain.csv", columns)
    write_table(tmp_path / "safe.csv", columns, spreadsheet=True)
    plain, safe = ((tmp_path / f"{name}.csv").read_text() for name in ("plain", "safe"))
    assert plain.startswith("id,=head\n=cmd|' /C calc'!A0,0.5\n@SUM")
    assert safe.startswith("id,'=head\n'=cmd|' /C calc'!A0,0.5\n'@SUM")
    assert inert("plain") == "plain"
