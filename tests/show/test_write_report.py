"""The report as a file: what it says, for every kind of result, and that it needs nothing but itself."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import torch
from guessed_results import PROVENANCE, guessed, named

from pcnet import Graph, PcnetError, csbm
from pcnet.nn import method_named
from pcnet.show import write_report

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Outline(HTMLParser):
    """Which elements are open, which are used, every address, and the text between."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.used: list[str] = []
        self.addresses: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.used.append(tag)
        self.text += " "
        self.addresses += [value for name, value in attrs if name in ("href", "src", "data", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.used.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += "" if self.open[-1:] in (["style"], ["script"]) else data


def words(page: str) -> str:
    return " ".join(Outline(page).text.split())


def test_what_was_trained_and_how_well(page, small, trained):
    text = words(page(small, trained))
    accuracy = trained.test["accuracy"]
    assert f"PCNet on {trained.experiment.dataset}" in text
    assert f"{accuracy.mean:.1f} % accuracy on the test nodes. That is the mean of 3 runs" in text
    assert f"between {accuracy.ci95[0]:.1f} % and {accuracy.ci95[1]:.1f} %" in text
    assert "pcnet predict uses the models of these runs." in text
    assert "240 nodes" in text
    for split in trained.splits:
        assert split.hash in text
    for said in ("kind 2", "pcnet train here", "a machine", "2025-03-01", "random-60-20-20", "lr.all", "pcnet 1"):
        assert said in text
    assert "The paper" not in text


def test_stands_alone_and_is_well_formed(page, small, trained):
    outline = Outline(page(small, trained))
    assert outline.open == []
    assert {*outline.used}.isdisjoint({"img", "iframe", "object"})
    assert outline.used.count("script") == 1
    assert all(address.startswith(("#", "data:,")) or address == "mistakes.csv" for address in outline.addresses)
    assert not re.search(r"url\(|@import", page(small, trained))
    assert outline.used.count("svg") == 7


def test_pictures_have_a_name_each(page, small, trained):
    labels = re.findall(r'<svg [^>]*role="img" aria-label="([^"]+)"', page(small, trained))
    assert len({*labels}) == len(labels) == 7


def test_the_same_result_is_the_same_file(page, small, trained):
    assert page(small, trained) == page(small, trained)


def test_published_figures_stand_beside(page, small, trained):
    beside = replace(trained, experiment=replace(trained.experiment, paper=(81.76, 0.78), rerun=(81.47, 1.06)))
    text = words(page(small, beside))
    assert "The paper prints 81.76 ± 0.78; its authors' code, run again, gave 81.47 ± 1.06." in text


@pytest.mark.parametrize("evil", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}"])
def test_names_are_data(page, small, evil):
    ids = np.array([f"{evil}{number}" for number in range(small.num_nodes)])
    graph = replace(small, classes=(evil, "b", "c"), ids=ids, name=evil, notes=(evil,))
    outline = Outline(page(graph, guessed(graph)))
    assert "img" not in outline.used
    assert outline.used.count("script") == 1
    assert outline.text.count(evil) > 5


def test_halves_of_characters_do_no_harm(page, small):
    graph = replace(small, notes=("of a file called \udc80",), classes=("a\x00b", "b", "c"))
    assert "?" in page(graph, guessed(graph))


def test_fifty_classes_stay_readable_and_small(page, fifty):
    text = page(fifty, guessed(fifty, runs=2))
    assert len(text.encode()) < 1_000_000
    assert text.count("a rather long class name, 49") >= 1
    assert 'class="scroll many"' in text


def test_many_runs_stay_small(page, small):
    text = page(small, guessed(small, runs=60))
    assert len(text.encode()) < 500_000
    assert "The first 30 runs are drawn." in words(text)


def test_classes_that_no_test_node_has(page):
    """A class of five nodes trains whole and is never tested."""
    graph = named(csbm(200, 0.5, features=8, seed=2), "kind #")
    y = graph.y.clone()
    y[:5] = 2
    graph = replace(graph, y=y, classes=("a", "b", "rare"))
    text = words(page(graph, guessed(graph)))
    assert re.search(r"rare \S+ – \S+ 0 ", text)


def test_unnamed_unlabelled_and_two_classes(page):
    graph = csbm(150, -0.6, features=8, seed=2)
    y = graph.y.clone()
    y[::4] = -1
    text = words(page(replace(graph, y=y), guessed(replace(graph, y=y))))
    assert "class 0 called class 1" in text
    assert "× unlabelled" in text


def test_one_run_has_an_interval_of_its_own(page, small):
    text = words(page(small, guessed(small, runs=1)))
    assert "That is one run on" in text
    assert "1 run of random-60-20-20" in text


def test_without_mistakes(page, small):
    assert "There are none: every test node was classified correctly." in words(page(small, guessed(small, skill=90.0)))


def test_methods_without_a_filter_say_so(page, small, mlp):
    assert "GCN has no single filter" in words(page(small, guessed(small, model=method_named("gcn")())))
    assert "MLP looks at each node's own features alone" in words(page(small, guessed(small, model=mlp)))
    # One-way edges have no real frequencies.
    one_way = method_named("gprgnn")(directed=True)
    assert "GPRGNN has no single filter" in words(page(small, guessed(small, model=one_way)))


@pytest.mark.parametrize("method", ["pcnet", "gprgnn", "jacobiconv", "bernnet"])
def test_methods_with_a_filter_show_it(page, small, method):
    text = words(page(small, guessed(small, model=method_named(method)())))
    assert "Its mean gain is" in text or "It passes nothing" in text


@pytest.mark.parametrize("edges", [torch.empty(2, 0, dtype=torch.int64), torch.arange(120).repeat(2, 1)])
def test_graphs_without_links(page, edges):
    graph = Graph(edges, torch.randn(120, 4), torch.arange(120) % 3, name="no links")
    text = words(page(graph, guessed(graph)))
    assert "No edge links two labelled nodes" in text
    assert "0 edges" in text


def test_links_inside_one_class_only(page):
    """Measures that are undefined there are left out, not failed over."""
    ring = torch.arange(0, 120, 3)
    graph = Graph(torch.stack([ring, ring.roll(1)]), torch.randn(120, 4), torch.arange(120) % 3)
    assert "adjusted –" in words(page(graph, guessed(graph)))


def test_nothing_is_half_written(tmp_path, small, trained):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(PcnetError, match="Cannot write"):
        write_report(tmp_path / "file" / "report.html", small, trained, **PROVENANCE)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
