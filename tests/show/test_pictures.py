"""The SVG pictures are well-formed, labelled, and show what they are given."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcnet.compare import METRICS, Reliability
from pcnet.show import Score
from pcnet.show._counts import Bin
from pcnet.show._plot import bins_chart, contest_chart, curves_chart, inline, reliability_chart, scores_chart, span
from pcnet.show._ranking import plain, ticks
from pcnet.show._table import FEW, numbered, part

HEAT = ("true", "answer", "a heat map")


SVG = "{http://www.w3.org/2000/svg}"


def drawn(figure) -> ElementTree.Element:
    """The figure as it stands in a page."""
    return ElementTree.fromstring(inline(figure, "a <picture>"))


def texts(figure):
    return {element.text for element in drawn(figure).iter(f"{SVG}text")}


def tips(figure):
    """What a pointer shows over its marks."""
    return [element.text for element in drawn(figure).iter(f"{SVG}title")][1:]


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
    table = ElementTree.fromstring(part("heatmap", counts.tolist(), names, *HEAT))
    assert table.get("aria-label") == "a heat map"
    cells = [cell for cell in table.iter("td") if cell.get("title")]
    assert len(cells) == classes * (classes - 1)
    strengths = [float(cell.get("style").split()[1]) for cell in cells if "own" in cell.get("class")]
    assert strengths == pytest.approx([8 / (7 + classes)] * (classes - 1), abs=0.001)
    assert cells[0].get("title").endswith(f": 8 of {7 + classes}")
    numbers = [cell.text for cell in cells]
    assert all(numbers) == (classes <= FEW)
    heads = [head.text for head in table.iter("th")][2 : 2 + classes]
    assert heads == ([str(k + 1) for k in range(classes)] if numbered(names) else names)


def test_names_are_text_whatever_they_hold():
    names = ["<script>alert(1)</script>", 'a "b" & c']
    table = part("heatmap", [[1, 1], [1, 1]], names, *HEAT)
    assert "<script" not in table
    assert any("<script>" in cell.get("title", "") for cell in ElementTree.fromstring(table).iter("td"))


def test_a_picture_in_a_page_is_the_pages_own():
    """Its name, its colours and its letters; and nothing in it refers to anything outside of it."""
    figure = scores_chart([Score("$m_1$ <b>", 81.25, (80.0, 82.0), ours=True), Score("x", 79.0)], METRICS["accuracy"])
    root, text = drawn(figure), inline(figure, "a <picture>")
    assert root.get("aria-label") == root.find(f"{SVG}title").text == "a <picture>"
    assert "var(--accent)" in text
    assert "#1f5fa8" not in text
    assert "$m_1$ <b>" in texts(figure)
    assert tips(figure) == ["$m_1$ <b>: 81.2", "x: 79.0"]
    assert text == inline(figure, "a <picture>")
    names = {each.get("id") for each in root.iter() if each.get("id")}
    assert {each.get("href")[1:] for each in root.iter() if each.get("href")} == names
    assert "url(" not in text


@given(st.lists(st.lists(st.floats(0, 1e9) | st.just(float("inf")), min_size=1, max_size=40), min_size=1, max_size=3))
def test_curves_stay_in_their_frame(histories):
    curves = [np.array([1.0, *history]) for history in histories]
    figure = curves_chart(curves, [0] * len(curves), "loss")
    (axes,), root = figure.axes, drawn(figure)
    assert "nan" not in ElementTree.tostring(root, encoding="unicode")
    assert len(tips(figure)) == len(curves)
    low, high = axes.get_ylim()
    for line in axes.lines:
        assert low <= line.get_ydata().min() <= line.get_ydata().max() <= high


@pytest.mark.parametrize("name", ["accuracy", "log_loss"])
def test_the_best_so_far_of_a_contest(name):
    """It begins with the trial that was complete first, and never gets worse."""
    metric = METRICS[name]
    figure = contest_chart([9.0, 2.0, 4.0, 6.0], [60.0, 50.0, 70.0, 40.0], 55.0, metric)
    [best] = [line for line in figure.axes[0].lines if line.get_label() == "best so far"]
    assert best.get_xdata().tolist() == [2.0, 4.0, 6.0, 9.0]
    assert best.get_ydata().tolist() == [50.0, *([70.0] * 3 if name == "accuracy" else [50.0, 40.0, 40.0])]
    assert f"{metric.text(70.0)} after 4 s" in inline(figure, "a contest")


def test_empty_bins_of_a_diagram_are_not_drawn():
    diagram = Reliability((0, 3, 1), (0.17, 0.5, 0.9), (0.0, 0.6, 1.0))
    assert len(tips(reliability_chart(diagram, diagram))) == 4


def test_scores_and_bins_say_their_numbers():
    line = scores_chart([Score("ours", 81.25, (80.0, 82.0), ours=True), Score("x", 79.0)], METRICS["accuracy"])
    assert {"ours", "81.2", "x", "79.0", "accuracy, %"} <= texts(line)
    loss = scores_chart([Score("ours", 0.41, (0.3, 0.52)), Score("a guess", 0.69)], METRICS["log_loss"])
    assert {"0.410", "0.690"} <= texts(loss)
    bins = [Bin("0", 12, 50.0, (30.0, 70.0)), Bin("1", 1_234_567, 80.0, (79.9, 80.1))]
    assert {"12", "1.23M", "0", "1"} <= texts(bins_chart(bins, 75.0, "degree"))
