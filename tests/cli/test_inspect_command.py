"""`pcnet inspect` on the graph inside the package and on one's own."""

from __future__ import annotations

import json

import pytest

from pcnet import csbm
from pcnet.cli._inspect_page import bar, sparkline
from pcnet.data import write_graph

KEYS = {"nodes", "edges", "self_loops", "isolated", "components", "classes", "labelled", "homophily", "probe", "advice"}
MEASURES = {"edge", "node", "class_insensitive", "adjusted", "label_informativeness"}


def test_measures_of_citeseer(pcnet, written):
    code, out, err = pcnet("inspect", "--no-probe", "--json", "found.json")
    assert (code, err) == (0, "")
    assert written() == ["found.json"]
    with open("found.json", encoding="utf-8") as file:
        found = json.load(file)
    assert set(found) >= KEYS
    assert set(found["homophily"]) == MEASURES
    counts = [found[key] for key in ("nodes", "edges", "self_loops", "isolated", "components", "classes", "labelled")]
    assert counts == [3327, 4552, 0, 48, 438, 6, 3312]
    assert found["homophily"]["edge"] == pytest.approx(0.7377, abs=5e-5)
    assert found["probe"] is None
    assert sum(found["class_counts"].values()) == 3312
    for words in (
        "citeseer: 3,327 nodes, 4,552 edges",
        "438, the largest with 64 %",
        "0.738",
        "Try first",
        "pcnet train",
    ):
        assert words in out


def test_a_graph_of_ones_own_with_a_probe(pcnet, place):
    graph = csbm(120, 0.6, features=4, average_degree=10)
    write_graph(graph, place / "mine")
    code, out, err = pcnet("inspect", "mine", "--splits", "2", "--threads", "1", "--json", "-")
    assert code == 0, err
    found = json.loads(out)
    assert found["nodes"] == 120
    for way in ("features", "graph", "both"):
        low, high = found["probe"][way]["ci95"]
        assert 0 <= low <= found["probe"][way]["mean"] <= high <= 100
        assert len(found["probe"][way]["per_run"]) == 2
    assert {each["method"] for each in found["methods"]} >= {"mlp", "gcn", "pcnet"}
    assert found["advice"]


def test_commands_to_try_read_the_graph_the_same_way(pcnet, place):
    (place / "a b").mkdir()
    (place / "a b" / "edges.csv").write_text("from,to\na,b\nb,c\n", encoding="utf-8")
    (place / "a b" / "nodes.csv").write_text("id,kind,size\na,x,1\nb,y,2\nc,x,3\n", encoding="utf-8")
    code, out, err = pcnet("inspect", "a b", "--read", "label=kind", "--no-probe")
    assert code == 0, err
    assert "pcnet train 'a b' --read label=kind --method mlp" in out


def test_names_of_classes_are_not_markup(pcnet, place):
    (place / "edges.csv").write_text("source,target\na,b\nb,c\nc,a\n", encoding="utf-8")
    (place / "nodes.csv").write_text(
        "id,label,size\na,[bold]x[/bold],1\nb,[/red],2\nc,[bold]x[/bold],3\n", encoding="utf-8"
    )
    code, out, _ = pcnet("inspect", "./", "--splits", "2")
    assert code == 0
    assert "[bold]x[/bold]" in out
    assert "[/red]" in out
    assert "3 labelled nodes are too few" in out


def test_help(pcnet):
    plain = " ".join(pcnet("inspect", "--help").out.replace("│", " ").split())
    for words in ("--no-probe", "--splits", "--threads", "--data", "--json", "GRAPH", "looks at all labels"):
        assert words in plain


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("citseer", "'citseer' is neither a file or folder here nor a named dataset. Did you mean 'citeseer'?"),
        ("no/such/folder", "no/such/folder"),
        ("--splits 1", "--splits must be at least 2, not 1"),
        ("--seed -1", "--seed must be at least 0, not -1"),
        ("--threads 0", "threads must be at least 1, not 0"),
        ("--json .", "it is a folder; name a file"),
    ],
)
def test_bad_commands(arguments, words, pcnet, written):
    code, out, err = pcnet("inspect", *arguments.split())
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert written() == []


def test_bars():
    assert bar(1.0, 4) == "████"
    assert bar(0.5, 4) == "██"
    assert bar(0.0001, 4) == "▏"
    assert bar(0.0, 4) == bar(-0.3, 4) == ""
    assert bar(3 / 32, 4) == "▍"


def test_sparklines():
    assert sparkline([0, 1, 4, 8]) == " ▂▅█"
    assert sparkline([]) == ""
    assert sparkline([0.0, 0.0]) == "  "
