"""published.toml against the text of the paper, which lies beside the folder of raw data where it is at hand."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

import pytest

from pcnet.experiment import method_name
from pcnet.paper import published, published_statistics

#: By the order of their captions: the tables of accuracies, and whether their rows are datasets.
PLACES = {"table1": (1, True), "table2": (2, False), "table3": (3, False), "table4": (4, True)}
CELL = re.compile(r"(\d+\.\d+)\s*_\s*\\pm\\text\s*(\d+\.\d+)")


@pytest.fixture(scope="module")
def paper() -> str:
    folder = os.environ.get("PCNET_DATA")
    path = Path(folder or ".").absolute().parent / "paper" / "pc-conv.tex"
    if not folder or not path.is_file():
        pytest.skip("PCNET_DATA names no folder with paper/pc-conv.tex beside it")
    return path.read_text(encoding="utf-8")


def plain(text: str) -> str:
    """Without colours, braces and the marks of formulas."""
    return re.sub(r"[{}$]", "", re.sub(r"\\textcolor\{\w+\}", "", text)).strip()


def rows(paper: str, place: int) -> list[list[str]]:
    """The cells of a table, with its headings first."""
    body = paper.split(r"\begin{tabular}")[place + 1].split(r"\bottomrule")[0].split(r"\toprule")[1]
    lines = body.replace(r"\midrule", "").split(r"\\")
    return [[plain(cell) for cell in line.split("&")] for line in lines if line.strip()]


def spelt(name: str) -> str:
    """A name as all sources write it: PCNet_0.5-Lin and PCNet₀.₅-Lin are pcnet0.5-lin."""
    return unicodedata.normalize("NFKC", name).replace("_", "").lower()


def figures(paper: str, table: str) -> dict[tuple[str, str], tuple[float, float] | None]:
    """Mean and ± by the printed names of method and dataset; None where the paper prints OOM."""
    place, transposed = PLACES[table]
    (_, *columns), *lines = rows(paper, place)
    found = {}
    for row, *cells in lines:
        for column, cell in zip(columns, cells, strict=True):
            key = (spelt(column), spelt(row)) if transposed else (spelt(row), spelt(column))
            match = CELL.search(cell)
            if column != "Avg.Rank":
                found[key] = (float(match[1]), float(match[2])) if match else None
                assert match or cell == "OOM", cell
    return found


@pytest.mark.parametrize("table", PLACES)
def test_every_printed_cell_is_as_printed(paper, table):
    ours = {
        (spelt(method_name(method)), dataset): figure.mean and (figure.mean, figure.spread)
        for (method, dataset), figure in published(table).figures.items()
    }
    assert ours == figures(paper, table)


def test_the_average_ranks_are_as_printed(paper):
    (_, *columns), *lines = rows(paper, PLACES["table3"][0])
    assert columns[-1] == "Avg.Rank"
    printed = {spelt(line[0]): float(line[-1]) for line in lines}
    assert {spelt(method_name(method)): rank for method, rank in published("table3").ranks.items()} == printed


@pytest.mark.parametrize(
    ("row", "words"), [("eta-half", "classification results on six datasets are"), ("no-identity", "on those six")]
)
def test_the_figures_of_the_text_are_as_printed(paper, row, words):
    sentence = plain(paper.partition(words)[2])
    printed = [(float(mean), float(half)) for mean, half in CELL.findall(sentence)[:6]]
    table = published(row)
    assert [
        (f.mean, f.spread) for f in (table.cell(table.methods[0], dataset) for dataset in table.datasets)
    ] == printed


def test_statistics_are_as_printed(paper):
    (_, *names), *lines = rows(paper, 5)
    numbers = ("nodes", "edges", "features", "classes", "homophily")
    for number, (_, *cells) in zip(numbers, lines, strict=True):
        printed = {spelt(name): float(cell.replace(",", "")) for name, cell in zip(names, cells, strict=True)}
        assert {name: getattr(row, number) for name, row in published_statistics().items()} == printed
