"""`python tools/methods_page.py`: write what documents say of the methods, from the registry and their data files.

That is the table, the ranges and the sections of docs/methods.md, between its marks, and how many methods there are,
there and in the README. With `--check` nothing is written; the exit code is 1 where a document is not what would be
written.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from pathlib import Path
from typing import Any

from pcnet._files import read_toml
from pcnet.experiment import method_files
from pcnet.nn import METHODS

ROOT = Path(__file__).parents[1]
PAGE, README = ROOT / "docs" / "methods.md", ROOT / "README.md"
SHARED = read_toml(ROOT / "src" / "pcnet" / "experiment" / "space.toml")
COLUMNS = ("method", "idea in one line", "sparse products in a forward", "homophily", "`--method`")


def main() -> int:
    stale = [path for path in (PAGE, README) if path.read_text(encoding="utf-8") != written(path)]
    if "--check" not in sys.argv:
        for path in stale:
            path.write_text(written(path), encoding="utf-8")
        return 0
    print(*(f"{path.relative_to(ROOT)} is out of date: python tools/methods_page.py" for path in stale), sep="\n")
    return 1 if stale else 0


def written(path: Path) -> str:
    """The document with everything that follows from the registry put in."""
    text = re.sub(r"\b\d+ methods\b", f"{len(METHODS)} methods", path.read_text(encoding="utf-8"))
    written_between = {"table": table(), "ranges": shared_ranges(), "sections": sections()}
    for mark, content in written_between.items() if path == PAGE else ():
        before, _, rest = text.partition(f"<!-- {mark} -->\n")
        _, end, after = rest.partition(f"<!-- end of {mark} -->")
        text = f"{before}<!-- {mark} -->\n{content}{end}{after}"
    return text


def described() -> dict[str, tuple[str, dict[str, str]]]:
    """By name, the title of every method and what its data file says for the page: PCNet first, then by title."""
    names = sorted(METHODS, key=lambda name: (name != "pcnet", METHODS[name].title.lower()))
    # Not every browser makes the same anchor of a ₂.
    titles = {name: unicodedata.normalize("NFKC", METHODS[name].title) for name in names}
    return {name: (title, method_files()[name].content["page"]) for name, title in titles.items()}


def table() -> str:
    """One line for each method."""
    return f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|\n" + "".join(
        f"| [{title}](#{_anchor(title)}) | {page['idea']} | {page['products']} | {page['homophily']} | `{name}` |\n"
        for name, (title, page) in described().items()
    )


def sections() -> str:
    """Equation, use, cost, settings and differences of each."""
    return "\n".join(
        f"## {title}\n\n{page['text']}\n**Search space:** {own_ranges(name)}.\n"
        for name, (title, page) in described().items()
    )


def shared_ranges() -> str:
    """Those that many methods have."""
    return "\n".join(f"- {_in_words(name, axis)}" for name, axis in SHARED.items()) + "\n"


def own_ranges(method: str) -> str:
    """Those that it alone has, and the names of others that it shares."""
    space = method_files()[method].space
    shared = [f"`{name}`" for name, axis in space.items() if SHARED.get(name) == axis]
    own = [_in_words(name, axis) for name, axis in space.items() if SHARED.get(name) != axis]
    return "; ".join([*own, ", ".join(shared)] if shared else own)


def _in_words(name: str, axis: Any) -> str:
    if isinstance(axis, list):
        return f"`{name}` {', '.join(str(value).lower() for value in axis)}"
    steps = f" in steps of {axis['step']:g}" if "step" in axis else " (log)"
    return f"`{name}` {axis['from']:g} to {axis['to']:g}{steps}"


def _anchor(heading: str) -> str:
    """As GitHub makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


if __name__ == "__main__":
    sys.exit(main())
