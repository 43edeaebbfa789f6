"""The report in a real browser: nothing overflows, nothing is complained about, light, dark and on paper."""

from __future__ import annotations

from dataclasses import replace

import pytest
from chromium import BINARY, Chromium
from guessed_results import PROVENANCE, guessed, named

from pcnet import csbm
from pcnet.show import Step, write_report

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
    steps = [Step("Predict:", f"pcnet predict 'a run' -o {'long/' * 30}predictions.csv"), Step("Train:", "pcnet train")]
    two = named(csbm(120, 0.5, features=5, seed=1), "averyveryverylongclassnamewithoutanyspaces#" * 2)
    warned = replace(small, y=small.y.clamp(max=1))
    results = {
        "small": (small, trained),
        "warned": (warned, guessed(warned, skill=0.0, protocol="stratified-60-20-20", metric="log_loss")),
        "fifty": (fifty, guessed(fifty)),
        "two": (two, guessed(two, 1, mlp)),
    }
    for name, (graph, result) in results.items():
        said = {**PROVENANCE, "command": "pcnet train " + "long/" * 60}
        write_report(folder / f"{name}.html", graph, result, steps=steps, **said)
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium = Chromium(tmp_path_factory.mktemp("profile"))
    yield chromium
    chromium.close()


@pytest.mark.parametrize("name", ["small", "warned", "fifty", "two"])
@pytest.mark.parametrize("width", [320, 360, 1280])
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
        ink = "getComputedStyle(document.querySelector('svg text[style*=ink]')).fill"
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


ROWS = "[...document.querySelectorAll('.sortable tbody tr')].filter(row => row.offsetHeight > 0)"
SHOWN = f"{ROWS}.map(row => [...row.cells].map(cell => cell.textContent.trim()))"


def heading(name):
    return f"[...document.querySelectorAll('.sortable th')].find(th => th.textContent.startsWith('{name}'))"


@pytest.mark.parametrize("width", [360, 1280])
def test_mistakes_are_sorted_by_any_column(browser, pages, width):
    browser.open(pages / "small.html", width)
    before = browser.evaluate(SHOWN)
    assert len(before) > 12
    assert browser.evaluate(f"{heading('probability')}.ariaSort") == "descending"

    def click(name):
        browser.evaluate(f"{heading(name)}.querySelector('button').click()")
        headed = "[...document.querySelectorAll('.sortable th')].map(th => th.ariaSort).filter(sort => sort)"
        assert browser.evaluate(headed) == [browser.evaluate(f"{heading(name)}.ariaSort")]
        return browser.evaluate(SHOWN), browser.evaluate(f"{heading(name)}.ariaSort")

    rows, way = click("neighbours")
    numbers = [int(row[5]) for row in rows]
    assert (numbers, way) == (sorted(numbers, reverse=True), "descending")
    rows, way = click("node")
    numbers = [int(row[0].removeprefix("node ")) for row in rows]
    assert (numbers, way) == (sorted(numbers), "ascending")
    rows, way = click("node")
    assert ([int(row[0].removeprefix("node ")) for row in rows], way) == (sorted(numbers, reverse=True), "descending")
    assert sorted(rows) == sorted(before)
    assert browser.complaints == []


def test_mistakes_are_sorted_by_the_keyboard(browser, pages):
    browser.open(pages / "small.html", 1280)
    browser.evaluate(f"{heading('neighbours')}.querySelector('button').focus()")
    for kind in ("keyDown", "keyUp"):
        browser.ask("Input.dispatchKeyEvent", type=kind, key="Enter", text="\r", windowsVirtualKeyCode=13)
    assert browser.evaluate(f"{heading('neighbours')}.ariaSort") == "descending"


def test_mistakes_are_found_by_text_and_by_class(browser, pages):
    browser.open(pages / "small.html", 1280)
    every = browser.evaluate(SHOWN)
    choose = "const s = document.querySelector('#find select'); s.value = 'kind 1'; s.onchange()"
    browser.evaluate(f"(() => {{ {choose} }})()")
    of_class = [row for row in every if "kind 1" in row[1:3]]
    assert browser.evaluate(SHOWN) == of_class
    typing = "const i = document.querySelector('#find input'); i.value = 'NODE 1'; i.oninput()"
    browser.evaluate(f"(() => {{ {typing} }})()")
    found = [row for row in of_class if "node 1" in " ".join(row)]
    assert 0 < len(found) < len(of_class) < len(every)
    assert browser.evaluate(SHOWN) == found
    said = browser.evaluate("document.querySelector('#find output').textContent")
    assert said == f"{len(found)} of {len(every)} shown"


def test_a_command_is_copied_as_it_stands(browser, pages):
    browser.open(pages / "small.html", 1280)
    chosen = """new Promise(done => {
        document.execCommand = () => { done(getSelection().toString()); return true; };
        navigator.clipboard.writeText = done;
        document.querySelector('#next button').click();
    })"""
    answer = browser.ask("Runtime.evaluate", expression=chosen, awaitPromise=True, returnByValue=True)
    assert answer["result"]["value"] == f"pcnet predict 'a run' -o {'long/' * 30}predictions.csv"


def test_everything_is_there_without_javascript(browser, pages):
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(pages / "small.html", 360)
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)
        assert browser.evaluate("document.querySelectorAll('button').length") == 0
        assert browser.evaluate("document.querySelector('#find').offsetHeight") == 0
        assert len(browser.evaluate(SHOWN)) > 12
        assert browser.evaluate("document.querySelector('#next code').textContent").startswith("pcnet predict")
        assert browser.evaluate("document.scrollingElement.scrollWidth") == 360
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)


def test_paper_has_no_controls_and_few_mistakes(browser, pages):
    browser.open(pages / "small.html", 1000, media="print")
    visible = "[...document.querySelectorAll('pre button, #find, nav')].filter(e => e.offsetHeight > 0).length"
    assert browser.evaluate(visible) == 0
    assert len(browser.evaluate(SHOWN)) == 12
    assert "was called" in browser.evaluate("document.querySelector('.sortable thead').innerText")


def test_a_warning_is_no_matter_of_colour_alone(browser, pages):
    """It has a word, a mark of another shape, and colours that are told apart from the page."""
    looks = "(e => [e.textContent.trim(), getComputedStyle(e).borderRadius])(document.querySelector('.call .badge'))"
    browser.open(pages / "small.html", 800)
    fine = browser.evaluate(looks)
    browser.open(pages / "warned.html", 800)
    warning = browser.evaluate(looks)
    assert (fine[0], warning[0]) == ("✓", "!")
    assert fine[1] != warning[1]
    assert browser.evaluate("document.querySelector('.call').innerText.trim()").split()[1] == "Warning."
