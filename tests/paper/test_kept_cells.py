"""Cells that an earlier version computed stay known: a new setting must not change the fingerprint of old ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pcnet.paper import cells_of
from pcnet.paper._cells import fingerprint

RESULTS = Path(__file__).parents[2] / "results"


@pytest.mark.parametrize("table", ["table1", "table2", "table3", "table4", "eta-half", "no-identity"])
def test_every_committed_cell_is_still_the_cell_of_its_settings(table):
    kept = json.loads((RESULTS / f"{table}.json").read_text(encoding="utf-8"))["cells"]
    fingerprints = {(cell["method"], cell["dataset"]): cell["fingerprint"] for cell in kept}
    now = {(c.method, c.dataset): fingerprint(c.experiment) for c in cells_of([table], [], []) if c.experiment}
    assert fingerprints.keys() <= now.keys()
    assert {cell: now[cell] for cell in fingerprints} == fingerprints
