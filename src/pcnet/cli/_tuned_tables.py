"""Tables 1 to 3 once more, with settings that validation chose: what is left of a score, and what a leak adds to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.table import Table

from pcnet._files import write_json, write_text

Best = Mapping[str, Any]

COLUMNS = (
    "table",
    "dataset",
    "trials",
    "tuned on validation",
    "95 % interval",
    "published settings",
    "paper",
    "chosen by test scores",
    "leak",
    "seconds",
)


def summary(best: Best) -> dict[str, Any]:
    """What a table says of one search, out of its `best.json`."""
    leak, published = best.get("leak"), best["published"]
    return {
        "table": best["preset"],
        "dataset": best["dataset"],
        "protocol": best["protocol"],
        "search": {key: value for key, value in best["search"].items() if key != "space"},
        "settings": {"model": best["model"], "training": best["training"], "seeds": best["seeds"]},
        "val": best["val"],
        "test": best["test"],
        "published": published,
        "leak": leak,
        "split_hashes": best["split_hashes"],
        "notes": best["notes"],
        **{key: best[key] for key in ("command", "date", "machine", "versions")},
    }


def write_tables(out: Path, bests: Sequence[Best], command: str) -> list[dict[str, Any]]:
    """tuned-tables.json and .md in a folder; returns the rows."""
    rows = [summary(best) for best in bests]
    report = {
        "command": command,
        "ci95": "percentile bootstrap interval of the mean over splits, 1000 resamples",
        "leak": "test accuracy of the trial with the highest test accuracy minus that of the trial with the highest "
        "validation accuracy, in points, among the same trials",
        "cells": rows,
    }
    write_json(out / "tuned-tables.json", report)
    write_text(out / "tuned-tables.md", _markdown(rows, command))
    return rows


def rich_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=SIMPLE, title="Test accuracy in percent", padding=(0, 1, 0, 0))
    for column in COLUMNS:
        if column != "95 % interval":
            table.add_column(column, justify="left" if column in COLUMNS[:2] else "right")
    for row in rows:
        name, dataset, trials, mean, interval, *rest = _cells(row)
        table.add_row(name, dataset, trials, f"{mean} {interval}", *rest)
    return table


def _cells(row: Mapping[str, Any]) -> list[str]:
    test, published, leak = row["test"], row["published"], row["leak"]
    low, high = test["ci95"]
    return [
        row["table"],
        row["dataset"],
        f"{row['search']['trials']:,}",
        f"{test['mean']:.2f}",
        f"[{low:.2f}, {high:.2f}]",
        f"{published['test']['mean']:.2f}" if "test" in published else "",
        f"{published['paper'][0]:.2f}" if published.get("paper") else "",
        f"{leak['test_selected']['mean']:.2f}" if leak else "",
        f"{leak['gap']:.2f}" if leak else "",
        f"{row['search']['seconds']:.0f}",
    ]


def _markdown(rows: Sequence[Mapping[str, Any]], command: str) -> str:
    machines = dict.fromkeys(f"{row['machine']}, {row['date']}" for row in rows)
    versions = dict.fromkeys(", ".join(f"{name} {number}" for name, number in row["versions"].items()) for row in rows)
    lines = [
        "# PCNet tuned on validation alone",
        "",
        "Test accuracy in percent, mean over the splits of each table. *Tuned on validation* is the setting with the",
        "highest mean validation accuracy, scored on the test nodes after it was chosen; its interval is the 95 %",
        "percentile bootstrap of the mean over splits. *Published settings* are the paper's, which were chosen by test",
        "scores, trained here on the same splits. *Chosen by test scores* is the highest mean test accuracy among the",
        "same trials: what a search that may look at test labels would have reported. *Leak* is how much that is above",
        "the honest choice, in points, between the two trials; the chosen setting is trained once more for its score,",
        "which a GPU may round another way. *Seconds* are those of the search.",
        "",
        f"- command: `{command}`",
        *(f"- machine: {machine}" for machine in machines),
        *(f"- versions: {version}" for version in versions),
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "---|" * len(COLUMNS),
        *("| " + " | ".join(_cells(row)) + " |" for row in rows),
    ]
    return "\n".join(lines) + "\n"
