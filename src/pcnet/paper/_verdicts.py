"""How many of the paper's figures come out: all that are printed, and each experiment once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pcnet.show import Table

COLUMNS = ("figures", "reproduced", "by the floor of 1.5 alone", "above", "below", "not reproducible")


def verdicts_report(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Counts of verdicts by table, of all figures, and of those that are no repetition.

    A figure is a repetition where an earlier table has the same experiment, as Table 4 has rows of Table 2: it is the
    same runs, and one more agreement or difference says nothing new.
    """
    by_table = {name: [cell for cell in report["cells"] if cell["verdict"]] for name, report in tables.items()}
    every = [cell for cells in by_table.values() for cell in cells]
    once = {cell["fingerprint"]: cell for cell in reversed(every)}
    rule = next(iter(tables.values()))["rule"]
    counted = {**by_table, "all": every, "distinct": list(once.values())}
    return {"rule": rule, "counts": {name: _counts(cells) for name, cells in counted.items()}}


def _counts(cells: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    words = Counter(cell["verdict"]["word"] for cell in cells)
    floor = sum(cell["verdict"]["by_floor"] for cell in cells)
    return {name: {"figures": len(cells), COLUMNS[2]: floor}.get(name, words[name]) for name in COLUMNS}


def verdicts_table(report: Mapping[str, Any]) -> Table:
    """A row for each table, one for all, and one for the distinct figures."""
    rows = [[name, *map(str, counts.values())] for name, counts in report["counts"].items()]
    notes = [
        f"{report['rule']}. By the floor alone: reproduced, and further apart than the two intervals allow.",
        "distinct: an experiment that several tables have counts once, with the figure of the first.",
    ]
    return Table("How many figures come out", ("", *COLUMNS), rows, notes, wrap=True)
