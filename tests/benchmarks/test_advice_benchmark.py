"""When the method that is named first counts as one of the best, on scores that a test makes up."""

from __future__ import annotations

import pytest
from benchmarks.advice import METHODS, row_of, tables
from benchmarks.command import page

from pcnet import csbm

ADVICE = {
    "methods": [{"method": "gcn", "settings": []}],
    "probe": {"metric": "accuracy", "left_out": {"h2gcn": "It would take long."}},
    "seconds": 4.0,
    "computing_s": 3.0,
}


def row(gcn: list[float], linkx: list[float]) -> dict:
    cells = {
        method: {"scores": dict(zip("0123456789", runs, strict=False))}
        for method, runs in {"gcn": gcn, "linkx": linkx, "h2gcn": []}.items()
    }
    return row_of("planted", csbm(40, 0.5, average_degree=8), ADVICE, cells)


@pytest.mark.parametrize(
    ("gcn", "linkx", "best", "within", "tied"),
    [
        ([80, 81, 82], [70, 71, 72], "gcn", True, True),
        ([80, 81, 82], [80, 82, 82.5], "linkx", True, True),  # now and then no better
        ([80, 82, 84], [81, 83, 85], "linkx", True, False),  # a little better on every split
        ([80, 81, 82], [90, 91, 92], "linkx", False, False),
        ([80, 81, 82, 0], [81, 80, 83], "linkx", True, True),  # on the splits that both had
    ],
)
def test_within_the_interval_of_the_best(gcn, linkx, best, within, tied):
    found = row(gcn, linkx)
    assert found["best"] == best
    assert (found["within"], found["tied"]) == (within, tied)
    assert found["difference_ci95"][0] <= found["difference"] <= found["difference_ci95"][1]


def test_the_page_counts_and_says_what_was_not_compared():
    rows = [row([80, 81, 82], [90, 91, 92]), row([80, 81, 82], [70, 71, 72])]
    origin = {"command": "c", "date": "d", "machine": "m", "versions": {"pcnet": "1"}}
    report = {**origin, "protocol": "stratified-60-20-20", "first_seed": 10, "rows": rows}
    text = page(report, *tables(report))
    assert "1 of 2 within its interval" in text
    assert "| **no** | **no** |" in text
    means = next(line for line in text.splitlines() if line.startswith("| planted |"))
    assert means.count("–") == len(METHODS) - 2
    assert means.endswith("| h2gcn |")
