"""The SVG pictures are well-formed, labelled, and show what they are given."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcnet.compare import METRICS, Reliability
from pcnet.show._charts import Score, bins_chart, curves_chart, reliability_chart
from pcnet.show._heatmap import FEW, heatmap, numbered
from pcnet.show._scores import scores_chart
from pcnet.show._surroundings import Bin
from pcnet.show._svg import plain, span, ticks

HEAT = {"rows": "true", "columns": "answer", "label": "a heat map"}


def texts(picture):
    return [element.text for element in ElementTree.fromstring(picture).iter("text")]


@given(low=st.floats(-1e4, 1e4), length=st.floats(1e-4, 1e5))
def test_ticks_are_round_inside_and_neither_few_nor_many(low, length):
    found = ticks(low, low + length)
    assert 1 <= len(found) <= 11
    assert all(low - 1e-6 * length <= tick <= low + length * (1 + 1e-6) for tick in found)
    assert len({plain(tick) for tick in found}) == len(found)


def test_numbers_as_people_write_them():
    assert [plain(value) for value in (0.0, -0.0, 1000.0, -0.25, 0.30000000000000004)] == [
        "0",
        "0",
        "1,000",
        "−0.25",
        "0.3",
    ]
    assert span(3, 3)[0] < 3 < span(3, 3)[1]


@pytest.mark.parametrize("classes", [2, 3, 6, FEW, FEW + 1, 50])
@pytest.mark.parametrize("name", ["{}", "class number {}"])
def test_heat_maps_of_two_to_fifty_classes(classes, name):
    names = [name.format(k) for k in range(classes)]
    counts = np.eye(classes, dtype=np.int64) * 7 + 1
    counts[1] = 0
    picture = heatmap(counts, names, **HEAT)
    root = ElementTree.fromstring(picture)
    assert root.get("aria-label") == root.find("title").text == "a heat map"
    assert len(list(root.iter("rect"))) == classes * (classes - 1)
    strengths = [float(cell.get("fill-opacity")) for cell in root.iter("rect") if cell.get("class") == "cell own"]
    assert strengths == pytest.approx([8 / (7 + classes)] * (classes - 1), abs=0.001)
    _, _, width, height = map(float, root.get("viewBox").split())
    for cell in root.iter("rect"):
        x, y, w, h = (float(cell.get(key)) for key in ("x", "y", "width", "height"))
        assert min(x, y) >= 0
        assert x + w <= width + 0.1
        assert y + h <= height + 0.1
        assert min(w, h) >= 12
    if not numbered(names):
        assert names[0] in texts(picture)
    else:
        assert str(min(classes, 3)) in texts(picture)


def test_names_are_text_whatever_they_hold():
    names = ["<script>alert(1)</script>", 'a "b" & c']
    picture = heatmap(np.ones((2, 2), dtype=np.int64), names, **HEAT)
    assert "<script" not in picture
    assert any("<script>" in title.text for title in ElementTree.fromstring(picture).iter("title"))


@given(st.lists(st.lists(st.floats(0, 1e9) | st.just(float("inf")), min_size=1, max_size=40), min_size=1, max_size=3))
def test_curves_stay_in_their_frame(histories):
    curves = [np.array([1.0, *history]) for history in histories]
    root = ElementTree.fromstring(curves_chart(curves, [0] * len(curves), "loss", "curves"))
    assert "nan" not in ElementTree.tostring(root, encoding="unicode")
    assert len(list(root.iter("circle"))) == len(curves)
    for path in root.iter("path"):
        if path.get("class") == "run":
            places = np.array([each.split() for each in path.get("d")[1:].split("L")], dtype=float)
            assert places.min() >= 0
            assert (places.max(axis=0) <= (360, 230)).all()


def test_empty_bins_of_a_diagram_are_not_drawn():
    diagram = Reliability((0, 3, 1), (0.17, 0.5, 0.9), (0.0, 0.6, 1.0))
    assert len(list(ElementTree.fromstring(reliability_chart(diagram, diagram, "d")).iter("circle"))) == 4


def test_scores_and_bins_say_their_numbers():
    line = scores_chart(
        [Score("ours", 81.25, (80.0, 82.0), ours=True), Score("x", 79.0)], METRICS["accuracy"], "scores"
    )
    assert {"ours", "81.2", "x", "79.0", "accuracy, %"} <= {*texts(line)}
    loss = scores_chart([Score("ours", 0.41, (0.3, 0.52)), Score("a guess", 0.69)], METRICS["log_loss"], "scores")
    assert {"0.410", "0.690"} <= {*texts(loss)}
    bins = [Bin("0", 12, 50.0, (30.0, 70.0)), Bin("1", 1_234_567, 80.0, (79.9, 80.1))]
    assert {"12", "1.23M", "0", "1"} <= {*texts(bins_chart(bins, 75.0, "degree", "bins"))}
