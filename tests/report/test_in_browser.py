"""The report in a real browser: nothing overflows, nothing is complained about, light, dark and on paper."""

from __future__ import annotations

import pytest
from chromium import BINARY, Chromium
from guessed_results import PROVENANCE, guessed, named

from pcnet import csbm
from pcnet.report import write_report

pytestmark = [
    pytest.mark.skipif(BINARY is None, reason="there is no Chromium on this machine"),
    pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning"),
]

#: Elements that stick out of the page to the right, other than inside what scrolls by itself.
OUTSIDE = """[...document.querySelectorAll('body *')]
    .filter(e => !e.closest('.scroll') && e.getBoundingClientRect().right > innerWidth + 1)
    .map(e => e.outerHTML.slice(0, 80))"""
COLOUR = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def pages(tmp_path_factory, small, trained, fifty, mlp):
    folder = tmp_path_factory.mktemp("pages")
    two = named(csbm(120, 0.5, features=5, seed=1), "averyveryverylongclassnamewithoutanyspaces#" * 2)
    results = {"small": (small, trained), "fifty": (fifty, guessed(fifty)), "two": (two, guessed(two, 1, mlp))}
    for name, (graph, result) in results.items():
        write_report(folder / f"{name}.html", graph, result, **{**PROVENANCE, "command": "pcnet train " + "long/" * 60})
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium = Chromium(tmp_path_factory.mktemp("profile"))
    yield chromium
    chromium.close()


@pytest.mark.parametrize("name", ["small", "fifty", "two"])
@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_fits_and_is_silent(browser, pages, name, width, dark):
    browser.open(pages / f"{name}.html", width, dark=dark)
    # A phone zooms out where a page is too wide, and its innerWidth grows: the width that was asked for counts.
    assert browser.evaluate("document.scrollingElement.scrollWidth") <= width
    assert browser.evaluate("innerWidth") == width
    assert browser.evaluate(OUTSIDE) == []
    assert browser.complaints == []


def test_follows_the_theme(browser, pages):
    """Light or dark, and on paper always light; letters of pictures follow."""
    colours = {}
    for dark, media in ((False, ""), (True, ""), (True, "print")):
        browser.open(pages / "small.html", 800, dark=dark, media=media)
        ink = "getComputedStyle(document.querySelector('svg .axis')).fill"
        colours[dark, media] = browser.evaluate(COLOUR), browser.evaluate(ink)
    assert colours[False, ""] != colours[True, ""]
    assert colours[True, "print"] == ("rgb(255, 255, 255)", "rgb(0, 0, 0)")


def test_letters_of_pictures_are_legible_on_a_phone(browser, pages):
    browser.open(pages / "small.html", 390)
    heights = browser.evaluate("[...document.querySelectorAll('svg text')].map(e => e.getBoundingClientRect().height)")
    assert min(heights) >= 9


def test_prints(browser, pages, tmp_path):
    browser.open(pages / "small.html", 1280)
    browser.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
