"""Cells that an earlier version computed stay known: a new setting must not change the fingerprint of old ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pcnet.paper import Cell, cells_of
from pcnet.paper._cells import fingerprint

RESULTS = Path(__file__).parents[2] / "results"
SEARCHES = sorted((RESULTS / "tuned").glob("table*.json"))


def kept(table: str) -> list[dict]:
    return json.loads((RESULTS / f"{table}.json").read_text(encoding="utf-8"))["cells"]


@pytest.mark.parametrize("table", ["table1", "table2", "table3", "table4", "eta-half", "no-identity"])
def test_every_committed_cell_is_still_the_cell_of_its_settings(table):
    fingerprints = {(cell["method"], cell["dataset"]): cell["fingerprint"] for cell in kept(table)}
    now = {(c.method, c.dataset): fingerprint(c.experiment) for c in cells_of([table], [], []) if c.experiment}
    assert fingerprints.keys() <= now.keys()
    assert {cell: now[cell] for cell in fingerprints} == fingerprints


@pytest.mark.parametrize("search", SEARCHES, ids=lambda path: path.stem)
def test_pcnet_by_validation_is_what_its_searches_chose(search):
    """Settings and scores, in a file, in a table and in the search itself."""
    best = json.loads(search.read_text(encoding="utf-8"))
    table, dataset = search.stem.split("-")
    experiment = Cell(table, "pcnet-by-validation", dataset).experiment
    assert list(experiment.seeds) == best["seeds"]
    for settings, chosen in ((experiment.model, best["model"]), (experiment.training, best["training"])):
        assert {name: getattr(settings, name) for name in chosen} == chosen
    [cell] = [each for each in kept(table) if (each["method"], each["dataset"]) == ("pcnet-by-validation", dataset)]
    assert (cell["test"], cell["val"], cell["split_hashes"]) == (best["test"], best["val"], best["split_hashes"])
