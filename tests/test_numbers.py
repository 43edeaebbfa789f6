"""The numbers of README and docs are those of `results/`: each is put into its sentence, which must stand there."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pcnet.experiment import method_files, method_name
from pcnet.paper import published

ROOT = Path(__file__).parent.parent
TUNED = ("table1", "table2", "table3")
#: Of each table of ten runs, what it is called in the docs.
TITLES = {
    "table1": "[Table 1](../results/table1.md)",
    "table2": "[Table 2](../results/table2.md)",
    "table3": "[Table 3](../results/table3.md), without Penn94",
    "table4": "[Table 4](../results/table4.md)",
    "eta-half": "[η = ½](../results/eta-half.md)",
    "no-identity": "[no identity mapping](../results/no-identity.md)",
    "all": "**all that are printed**",
    "distinct": "**distinct**",
}


@cache
def result(name: str) -> Any:
    return json.loads((ROOT / "results" / f"{name}.json").read_text(encoding="utf-8"))


@cache
def page(name: str) -> str:
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def short(number: float) -> str:
    """Three digits, as in the tables of times."""
    return f"{number:,.0f}" if number >= 99.5 else f"{number:#.3g}"


def medians(rows: list[dict], key: str) -> list[float]:
    return [row[key]["median"] for row in rows]


def times(rows: list[dict], ours: str) -> list[str]:
    """The lines of a table of times."""
    faster = (f"**{ratio:,.0f}**" for ratio in medians(rows, "ratio"))
    return [
        f"| authors' scheme, written plainly | {' | '.join(map(short, medians(rows, 'plain_ms')))} |",
        f"| {ours} | {' | '.join(map(short, medians(rows, 'pcnet_ms')))} |",
        f"| times faster | {' | '.join(faster)} |",
    ]


def test_speed_on_the_cpu():
    sections = result("speed-cpu")["sections"]
    rows = {row["dataset"]: row for row in sections["training"]}
    lines = times([rows[name] for name in ("cora", "texas", "actor", "pubmed", "citeseer")], "pcnet")
    assert [line for line in lines if line not in page("README.md")] == []


def test_the_filter_alone():
    sections = result("speed-cpu")["sections"]
    rows = {(row["way"], row["runs"]): row for row in sections["propagation"]["rows"]}
    ratio, singly = {place: row["ratio"]["median"] for place, row in rows.items()}, sections["propagation"]["ratio"]
    at, kept = sections["memory"]["N"].index(10), sections["memory"]["kept"]
    others = [values[at] for way, values in kept.items() if way != "pcnet"]
    pcnet, threads = (row["slowdown"]["median"] for row in sections["neighbour"]["rows"])
    sentences = (
        f"ten runs: {singly['median']:.0f}× the plain scheme, which knows one run at a time "
        f"({ratio['plain', 10]:.1f}× when it, too",
        f"{ratio['torch.sparse.mm', 10]:.1f}× `torch.sparse.mm` with autograd, {ratio['PyG messages', 10]:.1f}× PyG",
        f"backward is {max(kept['pcnet']):.2f} × the size of x for every order N; the others keep {min(others):.0f} to "
        f"{max(others):.0f} × at N = 10",
        f"training takes {pcnet:.1f}× as long; threads inside the kernels would take {threads:.1f}×",
    )
    assert [sentence for sentence in sentences if sentence not in page("README.md")] == []


def test_bandwidth_and_memory():
    shares = {}
    for device in ("cpu", "gpu"):
        rows = result(f"bench-{device}")["sections"]["bandwidth"]["rows"]
        largest = max(row["nodes"] for row in rows)
        shares[device] = {row["what"]: row for row in rows if row["nodes"] == largest}
    share = {(d, what): f"{100 * row['fraction']['median']:.0f} %" for d in shares for what, row in shares[d].items()}
    best = f"{100 * shares['cpu']['sweep']['fraction_of_best_copy']:.0f} %"
    memory: dict[int, float] = {}
    for row in result("bench-cpu")["sections"]["bandwidth"]["memory"]:
        memory[row["nodes"]] = max(memory.get(row["nodes"], 0.0), row["peak_bytes"] / row["x_bytes"])
    sentences = (
        f"a sweep reaches {share['cpu', 'sweep']} of the bandwidth bound",
        f"{best} of the best copy seen), a single product {share['cpu', 'product']}; on an H200, "
        f"{share['gpu', 'sweep']} and {share['gpu', 'product']} (",
        f"at most {memory[2_000_000]:.1f} times the memory of x there, {memory[2000]:.1f} times at 2,000 nodes",
    )
    assert [sentence for sentence in sentences if sentence not in page("README.md")] == []


def test_speed_of_the_other_methods_and_on_the_gpu():
    rows = result("bench-methods-cpu")["sections"]["methods"]["rows"]
    spans = {
        name: [f"{edge([row['ratio']['median'] for row in rows if row['dataset'] == name]):.0f}" for edge in (min, max)]
        for name in ("pubmed", "cora")
    }
    sentence = (
        f"{' to '.join(spans['pubmed'])} times faster per run and epoch on PubMed, {' to '.join(spans['cora'])} on"
    )
    places = [("cora", 10), ("texas", 10), ("actor", 10), ("pubmed", 10), ("texas", 100), ("cora", 640)]
    found = {(row["dataset"], row["runs"]): row for row in result("speed-gpu")["rows"]}
    lines = times([found[place] for place in places], "pcnet, ten runs if not said")
    assert [line for line in (sentence, *lines) if line not in page("README.md")] == []


def test_precision():
    rows = result("precision")["rows"]
    differences = {name: [row[name]["difference"] for row in rows] for name in ("tf32", "bfloat16")}
    tf32, bfloat16 = (f"{sum(each) / len(each):+.2f}" for each in differences.values())
    every = [difference for each in differences.values() for difference in each]
    ends = f"between {min(every):+.1f} and {max(every):+.1f}".replace("-", "−")
    sentence = f"test accuracy by {tf32} and {bfloat16} points on average over the {len(rows)} cells below, {ends} in"
    assert sentence in page("README.md")


def test_verdicts():
    counts = result("verdicts")["counts"]
    numbers = {name: [*each.values()] for name, each in counts.items()}
    rows = [f"| {TITLES[name]} | {' | '.join(map(str, each))} |" for name, each in numbers.items()]
    assert [row for row in rows if row not in page("docs/reproduction.md")] == []
    (cells, same, floor, *differ, broken), (every, all_same, all_floor, *all_differ, _) = (
        numbers[name] for name in ("distinct", "all")
    )
    sentence = (
        f"Of {cells} distinct figures {same} come out, {floor} of these only because 1.5 points are always allowed; "
        f"{sum(differ)} differ, {broken} cannot be made again. Of all {every} printed it is {all_same} ({all_floor}), "
        f"{sum(all_differ)} and {broken}:"
    )
    assert sentence in page("README.md")


def test_counts_of_verdicts_are_those_of_the_tables():
    for name, counts in result("verdicts")["counts"].items():
        if name in ("all", "distinct"):
            continue
        words = [cell["verdict"]["word"] for cell in result(name)["cells"] if cell["verdict"]]
        figures, same, _, *others = counts.values()
        assert [figures, same, *others] == [
            len(words),
            *map(words.count, ("reproduced", "above", "below", "not reproducible")),
        ]


def test_ranks_of_pcnet():
    ranks = {name: result(name)["ranks"] for name in TUNED}
    found = {
        name: (own["ours"]["pcnet"], own["by validation"]["pcnet-by-validation"], own["paper"]["pcnet"])
        for name, own in ranks.items()
    }
    one, two, three = (f"{ours:.2f} to {honest:.2f}" for ours, honest, _ in found.values())
    assert f"its mean rank falls from {one} (Table 1), {two} (2) and {three} (3)" in page("README.md")
    for number, (name, row) in enumerate(found.items(), start=1):
        title = f"Table {number}{', without Penn94' * (name == 'table3')}"
        assert f"| {title} | {' | '.join(f'{rank:.2f}' for rank in row)} |" in page("docs/reproduction.md")


def test_leaks():
    rows = {(row["table"], row["dataset"]): row for row in result("tuned-tables")["cells"]}
    lines = []
    for (table, dataset), row in rows.items():
        leak, known = row["leak"], row["published"]
        figures = (
            row["test"]["mean"],
            leak["test_selected"]["mean"],
            leak["gap"],
            known["test"]["mean"],
            known["paper"][0],
        )
        lines.append(f"| {table}, {dataset} | {' | '.join(f'{figure:.2f}' for figure in figures)} |")
    assert [line for line in lines if line not in page("docs/reproduction.md")] == []
    said = []
    for row, digits in ((rows["table1", "texas"], 0), (rows["table2", "texas"], 1)):
        test, honest = row["leak"]["test_selected"]["mean"], row["test"]["mean"]
        said.append(f"{test:.1f} instead of {honest:.1f}, {row['leak']['gap']:.{digits}f}")
    assert f"five training nodes on Texas {said[0]} points; on Texas 60/20/20 {said[1]} points" in page("README.md")


def test_authors_code():
    """Of PCNet's cells, those that lie inside the interval of its authors' code."""
    inside = {}
    for folder in ("", "gpu/"):
        cells = [cell for name in TUNED for cell in result(f"{folder}{name}")["cells"] if cell["method"] == "pcnet"]
        inside[folder] = [abs(cell["test"]["mean"] - cell["rerun"][0]) <= cell["rerun"][1] for cell in cells]
    assert len(inside[""]) == len(inside["gpu/"]) == 19
    assert all(inside[""])
    assert "all 19 cells of the paper's Tables 1–3" in page("README.md")
    assert f"{sum(inside['gpu/'])} lie inside, and Wisconsin's" in page("README.md")


def test_how_settings_were_chosen():
    sources = [
        cell["source"]
        for name, file in method_files().items()
        if name != "pcnet-by-validation"
        for cells in file.chosen.values()
        for cell in cells.values()
    ]
    few = sum(source.startswith("validation on 3 splits") for source in sources)
    sentence = f"Of {len(sources)} cells that a grid has chosen, {few} were chosen on three of their splits"
    assert sentence in page("docs/reproduction.md")


def test_single_figures_of_the_misses():
    """ours − paper, as the list of misses has it: every figure in two digits or less is that of its table."""
    text = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    _, _, misses = text.partition("## Misses, one by one")
    named = {method_name(method): method for method in published("table2").methods}
    rows = re.findall(r"^\| ([^|,]+), (\w+) \| ([+−]\d+\.\d) \|", misses, flags=re.MULTILINE)
    cells = {(cell["method"], cell["dataset"]): cell for cell in result("table2")["cells"]}
    checked = 0
    for method, dataset, difference in rows:
        if method in named:
            found = cells[named[method], dataset.lower()]["verdict"]["difference"]
            assert f"{found:+.1f}".replace("-", "−") == difference, (method, dataset)
            checked += 1
    assert checked >= 5


@pytest.mark.parametrize("name", ["eta-half", "no-identity", "table4", *TUNED])
def test_no_table_says_less_than_its_file(name):
    """Markdown and JSON are of one run: the same day and the same means."""
    text = (ROOT / "results" / f"{name}.md").read_text(encoding="utf-8")
    assert f"- command: `{result(name)['command']}`" in text
    for cell in result(name)["cells"]:
        assert f"| {cell['test']['mean']:.2f} | [{cell['test']['ci95'][0]:.2f}, {cell['test']['ci95'][1]:.2f}]" in text
