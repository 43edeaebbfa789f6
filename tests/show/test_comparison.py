"""Scores of several methods: as a text picture, in files, and on the page of a comparison in a real browser."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from chromium import BINARY, Chromium
from guessed_results import PROVENANCE
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from pcnet.compare import METRICS
from pcnet.show import Score, plot_scores, scores_text, write_comparison_page

ACCURACY, LOSS = METRICS["accuracy"], METRICS["log_loss"]


@given(st.lists(st.tuples(*[st.floats(0, 100)] * 3), min_size=1, max_size=20), st.integers(60, 120))
def test_marks_are_where_their_numbers_are(drawn, width):
    """On one straight axis; and no line is longer than the screen."""
    scores = [Score(f"m{place}", *_value_and_ends(sorted(each))) for place, each in enumerate(drawn)]
    *rows, axis = scores_text(scores, ACCURACY, width)
    assert max(map(len, (*rows, axis))) <= width
    places, values = [], []
    for row, each in zip(rows, scores, strict=True):
        assert row.split()[:2] == [each.name, f"{each.value:.2f}"]
        places.append(row.index("●"))
        values.append(each.value)
        if "├" in row:
            places.append(row.index("├"))
            values.append(each.interval[0])
    # Order is kept, and a column is a column everywhere.
    order = np.argsort(values)
    assert (np.diff(np.array(places)[order]) >= 0).all()
    if len({*places}) > 2:
        slope, start = np.polyfit(values, places, 1)
        assert np.abs(np.polyval([slope, start], values) - places).max() <= 1.5


def _value_and_ends(ends: list[float]) -> tuple[float, tuple[float, float]]:
    low, value, high = ends
    return value, (low, high)


def test_one_score_without_an_interval():
    (row, axis) = scores_text([Score("GCN", 81.25)], ACCURACY, 80)
    assert row.split() == ["GCN", "81.25", "●"]
    assert axis.split()


def test_a_loss_has_its_digits():
    row, *_ = scores_text([Score("GCN", 0.43219, (0.4, 0.5)), Score("MLP", 0.5)], LOSS, 80)
    assert row.split()[1] == "0.4322"


@pytest.mark.parametrize("methods", [1, 3, 23])
def test_in_files(tmp_path, methods):
    scores = [
        Score(f"$m_{place}$ <&>" + "x" * 30 * (place == 1), 80.0 - place, (70.0 - place, 85.0 - place), place == 0)
        for place in range(methods)
    ]
    paths = [tmp_path / "a.svg", tmp_path / "b.png", tmp_path / "c.svg"]
    plot_scores(scores, ACCURACY, paths[:2], "$title")
    plot_scores(scores, ACCURACY, paths[2:], "$title")
    assert ET.parse(paths[0]).getroot().tag.endswith("svg")
    assert paths[0].read_bytes() == paths[2].read_bytes()
    with Image.open(paths[1]) as picture:
        assert picture.width == 900
        # The best one has a colour of its own.
        colours = {colour for _, colour in picture.convert("RGB").getcolors(1 << 20)}
    assert (31, 95, 168) in colours


def comparison(methods: int, metric: str = "accuracy", runs: int = 3) -> dict:
    """The content of a compare.json, with names that a page must not take for markup."""
    scale = 1.0 if METRICS[metric].percent else 0.01
    names = [f"m{place}" for place in range(methods)]

    def row(place: int) -> dict:
        interval = None if runs == 1 else [scale * (78 - place), scale * (83 - place)]
        per_run = [scale * (80 - place + run) for run in range(runs)]
        behind = {"value": scale * place, "interval": None if runs == 1 else [-scale, 2 * scale * place]}
        return {
            "method": names[place],
            "title": f"<b>M{place}</b>",
            "settings": {"lr": {"all": 0.1}, "hidden": 64, "source": ""},
            "score": scale * (80 - place),
            "interval": interval,
            "test": {"per_run": per_run},
            "behind": behind if place else None,
            "rank": 1.0 + place,
            "p": 0.5 if place else None,
            "p_holm": 0.5 if place else None,
            "seconds": 1.5,
            "verdict": "may be as good" if place else "best",
        }

    pairs = [
        {"first": one, "second": other, "difference": 1.0, "interval": None if runs == 1 else [-1.0, 3.0]}
        for place, one in enumerate(names)
        for other in names[place + 1 :]
    ]
    return {
        "graph": "a <graph>",
        "nodes": 12345,
        "features": 10,
        "classes": 3,
        "protocol": "stratified-60-20-20",
        "metric": metric,
        "metric_words": METRICS[metric].title,
        "runs": runs,
        "seeds": list(range(runs)),
        "split_hashes": ["0123456789abcdef"] * runs,
        "split_sizes": [[60, 20, 20]] * runs,
        "best": "m0",
        "sentence": "M0 has the highest accuracy. " + "Perhaps as good: many others. " * 6,
        "methods": [row(place) for place in range(methods)],
        "left_out": [{"method": "GAT", "reason": "there is not enough memory for it"}],
        "pairs": pairs,
        "groups": [names] if methods > 1 else [],
        "meaning": ["Score: something."],
        "notes": ["a_very_long_word" * 12, "another"],
        "next": [{"what": "Train it:", "command": "pcnet train " + "long/" * 60}],
        **PROVENANCE,
    }


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    cases = {"three": (3,), "many": (23, "roc_auc", 10), "loss": (4, "log_loss"), "one": (1, "accuracy", 1)}
    for name, arguments in cases.items():
        write_comparison_page(folder / f"{name}.html", comparison(*arguments))
    return folder


def test_the_page_says_it(pages):
    text = (pages / "three.html").read_text()
    assert "<b>M0</b>" not in text
    assert "&lt;b&gt;M0&lt;/b&gt;" in text
    assert "<script" not in text
    assert text.count("http") == text.count("http://www.w3.org/2000/svg")
    command = "<span>pcnet</span> <span>train</span> <span>long/"
    for words in ("What next", command, "GAT</b> is left out: there is not enough memory", "12,345 nodes"):
        assert words in text
    # Of a loss, the best run is the lowest, and it is no percentage.
    assert " %" not in (pages / "loss.html").read_text().partition("<header>")[2].partition("</header>")[0].replace(
        "95 %", ""
    ).replace("95&nbsp;%", "")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if BINARY is None:
        pytest.skip("there is no Chromium on this machine")
    chromium = Chromium(tmp_path_factory.mktemp("profile"))
    yield chromium
    chromium.close()


@pytest.mark.parametrize("name", ["three", "many", "loss", "one"])
@pytest.mark.parametrize(("width", "dark"), [(320, False), (360, True), (1200, False), (1200, True)])
def test_fits_and_is_silent(browser, pages, name, width, dark):
    browser.open(pages / f"{name}.html", width, dark=dark)
    assert browser.evaluate("document.scrollingElement.scrollWidth") <= width
    assert browser.evaluate("innerWidth") == width
    assert browser.complaints == []
    heights = browser.evaluate("[...document.querySelectorAll('svg text')].map(e => e.getBoundingClientRect().height)")
    assert min(heights) >= 8
