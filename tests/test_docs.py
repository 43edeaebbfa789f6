"""What the pages of docs/ promise is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pcnet.nn import METHODS

ROOT = Path(__file__).parent.parent
METHODS_PAGE = ROOT / "docs" / "methods.md"
SECTIONS = ("**Cost:**", "**Settings", "**Against the authors' code:**")


def anchor(heading: str) -> str:
    """As GitHub makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def sections() -> dict[str, str]:
    """The text below every heading, by its anchor."""
    _, *parts = re.split(r"^## ", METHODS_PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {anchor(part.partition("\n")[0]): part for part in parts}


def table() -> dict[str, tuple[str, ...]]:
    """The rows of the table at the top, by the names of `--method`."""
    lines = METHODS_PAGE.read_text(encoding="utf-8").splitlines()
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines if line.startswith("| [")]
    return {row[-1].strip("`"): row for row in rows}


def test_what_follows_from_the_registry_is_up_to_date():
    """The table, the sections and the counts of methods."""
    command = [sys.executable, ROOT / "tools" / "methods_page.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_every_method_is_in_the_table_once():
    assert sorted(table()) == sorted(METHODS)
    assert next(iter(table())) == "pcnet"


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_section_with_an_equation(method):
    link = re.search(r"\]\(#(.+?)\)", table()[method][0])
    assert link is not None
    text = sections()[link[1]]
    assert re.search(r"^\$\$.+\$\$$", text, flags=re.MULTILINE), "no equation"
    assert [part for part in SECTIONS if part not in text] == []


def test_formulas_are_closed():
    for name, text in sections().items():
        assert text.count("$") % 2 == 0, name
        for formula in re.findall(r"\$\$(.+?)\$\$|\$(.+?)\$", text):
            inside = "".join(formula)
            assert inside.count("{") == inside.count("}"), inside


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert target.startswith("http") or (page.parent / target).exists(), target
