"""`pcnet inspect` on the graph inside the package and on one's own."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import pytest
import torch

from pcnet import csbm
from pcnet.data import write_graph
from pcnet.inspect import _race
from pcnet.show._inspect import bar, command_lines, sparkline

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


@pytest.fixture
def basic(monkeypatch: pytest.MonkeyPatch) -> None:
    """The methods that are tried on every graph, and no other."""
    monkeypatch.setattr(_race, "OTHERS", ())


@pytest.mark.usefixtures("basic")
def test_a_graph_of_ones_own_with_a_probe(pcnet, place):
    graph = csbm(120, 0.6, features=4, average_degree=10)
    write_graph(graph, place / "mine")
    code, out, err = pcnet("inspect", "mine", "--splits", "2", "--threads", "1", "--json", "-")
    assert code == 0, err
    found = json.loads(out)
    assert found["nodes"] == 120
    probe = found["probe"]
    assert (probe["metric"], probe["splits"]) == ("accuracy", 2)
    for way in ("features", "graph", "both", "majority"):
        low, high = probe[way]["ci95"]
        assert 0 <= low <= probe[way]["mean"] <= high <= 100
        assert len(probe[way]["per_run"]) == 2
    for gain, over in (("links_add", "features"), ("features_add", "graph")):
        assert probe[gain]["over"] == probe[over]["name"]
        assert probe[gain]["ci95"][0] <= probe[gain]["mean"] <= probe[gain]["ci95"][1]
    methods = [each["method"] for each in probe["tried"]]
    assert set(methods) == {"mlp", "pcnet", "gcn", None}
    best = next(each for each in probe["tried"] if each["method"])
    assert (found["methods"][0]["method"], found["methods"][0]["settings"]) == (best["method"], best["settings"])
    assert f"accuracy {best['mean']:.1f} [" in found["methods"][0]["why"]
    assert found["advice"]


@pytest.mark.usefixtures("basic")
def test_another_metric_is_printed_and_kept(pcnet, place):
    write_graph(csbm(60, 0.6, features=4, average_degree=10), place / "mine")
    wishes = ["--splits", "2", "--threads", "1", "--metric", "log-loss", "--json", "found.json"]
    code, out, err = pcnet("inspect", "mine", *wishes)
    assert code == 0, err
    assert "What predicts the classes? Test log loss\n" in out
    with open("found.json", encoding="utf-8") as file:
        probe = json.load(file)["probe"]
    assert probe["metric"] == "log_loss"
    means = [each["mean"] for each in probe["tried"] if len(each["per_run"]) == 2]
    assert means == sorted(means)
    assert f"{means[0]:.3f}" in out


@pytest.mark.usefixtures("basic")
@pytest.mark.parametrize("width", [60, 80])
def test_every_line_fits_a_narrow_terminal(width, pcnet, place, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    folder = "a folder with a long name/of a graph"
    write_graph(csbm(60, 0.6, features=4, average_degree=10), place / folder)
    code, out, err = pcnet("inspect", folder, "--read", "label=label", "--read", "directed=false", "--splits", "2")
    assert code == 0, err
    assert max(map(len, out.splitlines())) <= width
    # What is to be typed is no sliver: a shell reads its lines as one command again.
    commands = [shlex.split(line) for line in out.replace("\\\n", " ").splitlines() if line.startswith("  pcnet train")]
    assert commands
    for words in commands:
        assert words[:7] == ["pcnet", "train", folder, "--read", "label=label", "--read", "directed=false"]


def test_commands_break_between_options_only():
    words = ["pcnet", "train", "some/graph", "--read", "label=a b", "--method", "acmgcn", "--set", "dropout=0.5"]
    for width in range(20, 120, 7):
        lines = command_lines(words, width)
        assert shlex.split("\n".join(lines).replace("\\\n", " ")) == words
        assert not any(line.strip(" \\").startswith("--") and " " not in line.strip(" \\") for line in lines)
    assert len(command_lines(words, 120)) == 1


def test_what_cannot_be_trained_is_not_suggested(pcnet, place):
    graph = csbm(60, 0.6, features=4, average_degree=10)
    write_graph(replace(graph, y=torch.full_like(graph.y, -1)), place / "mine")
    code, out, err = pcnet("inspect", "mine")
    assert code == 0, err
    assert "Try first" not in out
    assert "pcnet train" not in out
    assert "no node has a label. Name the column that holds them with --read label=COLUMN" in " ".join(out.split())


def test_commands_to_try_read_the_graph_the_same_way(pcnet, place):
    (place / "a b").mkdir()
    (place / "a b" / "edges.csv").write_text("from,to\na,b\nb,c\n", encoding="utf-8")
    rows = [f"{name},{kind},{size}" for size, (name, kind) in enumerate(zip("abcdef", "xyxyxy", strict=True))]
    (place / "a b" / "nodes.csv").write_text("\n".join(["id,kind,size", *rows]), encoding="utf-8")
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
    for words in (
        "--no-probe",
        "--splits",
        "--metric",
        "--device",
        "--threads",
        "--data",
        "--json",
        "GRAPH",
        "looks at all labels",
    ):
        assert words in plain


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("citseer", "'citseer' is neither a file or folder here nor a named dataset. Did you mean 'citeseer'?"),
        ("no/such/folder", "no/such/folder"),
        ("--splits 1", "--splits must be at least 2, not 1"),
        ("--seed -1", "--seed must be at least 0, not -1"),
        ("--metric acuracy", "There is no metric 'acuracy'"),
        ("--device tpu", "There is no device 'tpu'; use auto, cpu, cuda or cuda:N"),
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
