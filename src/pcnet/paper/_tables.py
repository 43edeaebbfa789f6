"""A table of the paper beside its reproduction: differences and their picture, verdicts, ranks, and who wins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pcnet.compare import Summary, average_ranks, verdict, winners
from pcnet.experiment import method_name
from pcnet.paper._cells import NOT_REPRODUCIBLE, Cell, Record
from pcnet.paper._published import Figure, published
from pcnet.show import COLOURS, MARKERS, SOFT, Table, panels, save_figure, styled
from pcnet.show import RULE as LINE

RULE = (
    "reproduced: |ours − paper| ≤ max(1.5, √(h₁² + h₂²)), h the half-widths of the two 95 % intervals; else above or "
    "below"
)
#: Beside a mean that was made as its authors made it, and not by what validation chooses.
DAGGER = "†"
#: Points beyond which a cell is drawn at the edge, with its number: one outlier must not flatten the others.
EDGE = 8.0
#: What stands beside a mean in the overview, and the colour and the marker of its verdict in every picture.
MARKS = {"reproduced": "", "below": " ↓", "above": " ↑", "not reproducible": " *"}
LOOKS = dict(zip(MARKS, zip(COLOURS, MARKERS, strict=True), strict=False))


def table_report(table: str, records: Mapping[Cell, Record], missing: Mapping[Cell, str]) -> dict[str, Any]:
    """Every cell of a table with its verdict; average ranks, ours and the paper's; the winners of each dataset."""
    paper, records = published(table), {cell: record for cell, record in records.items() if cell.table == table}
    methods = [method for method in paper.methods if any(cell.method == method for cell in records)]
    datasets = [name for name in paper.datasets if any(cell.dataset == name for cell in records)]
    means = {
        "ours": {(cell.method, cell.dataset): record["test"]["mean"] for cell, record in records.items()},
        "paper": {place: figure.mean for place, figure in paper.figures.items()},
    }
    rows = {whose: {m: [own.get((m, d)) for d in datasets] for m in methods} for whose, own in means.items()}
    in_their_way = any(cell.as_published for cell in records)
    return {
        "table": table,
        "title": f"{paper.title}, as published" if in_their_way else paper.title,
        "as_published": in_their_way,
        "rule": RULE,
        "ci95": "percentile bootstrap interval of the mean over runs, 1000 resamples",
        "datasets": datasets,
        "cells": [_cell(cell, record, paper.cell(cell.method, cell.dataset)) for cell, record in records.items()],
        "missing": [
            {"method": cell.method, "dataset": cell.dataset, "reason": reason}
            for cell, reason in missing.items()
            if cell.table == table
        ],
        "ranks": {whose: average_ranks(own) if len(methods) > 1 else {} for whose, own in rows.items()},
        "winners": {name: asdict(winners(scores)) for name in datasets if len(scores := _runs(records, name)) > 1},
        "notes": list(paper.notes),
    }


def _cell(cell: Cell, record: Record, figure: Figure | None) -> dict[str, Any]:
    ours = Summary.from_dict(record["test"])
    row = {**record, "runs": len(ours.per_run), "half_width": ours.half_width, "paper": None, "verdict": None}
    if figure is not None and figure.mean is not None and figure.half_width is not None:
        reason = NOT_REPRODUCIBLE.get((cell.table, cell.method), "")
        found = verdict(ours, figure.mean, figure.half_width, not_reproducible=reason)
        row["paper"], row["verdict"] = asdict(figure), asdict(found)
    return row


def _runs(records: Mapping[Cell, Record], dataset: str) -> dict[str, list[float]]:
    """Scores by method, of those that were run on the same splits as most."""
    own = {cell.method: record for cell, record in records.items() if cell.dataset == dataset}
    splits = [record["split_hashes"] for record in own.values()]
    common = max(splits, key=splits.count)
    return {method: record["test"]["per_run"] for method, record in own.items() if record["split_hashes"] == common}


def overview_table(report: Mapping[str, Any]) -> Table:
    """Methods by datasets: our mean ± and in brackets the difference to the paper."""
    texts = {(each["method"], each["dataset"]): each["reason"] for each in report["missing"]}
    datasets = dict.fromkeys([*report["datasets"], *(name for _, name in texts)])
    computed = {cell["method"] for cell in report["cells"]}
    ordered = [method for method in published(report["table"]).methods if method in computed]
    methods, ranks = dict.fromkeys([*ordered, *(method for method, _ in texts)]), report["ranks"].values()
    by_label: dict[str, dict[str, None]] = {}
    for cell in report["cells"]:
        found, label = cell["verdict"], cell.get("as_published")
        beside = "" if found is None else f" ({found['difference']:+.2f}{MARKS[found['word']]})"
        mean = f"{cell['test']['mean']:.2f}{DAGGER if label else ''}"
        texts[cell["method"], cell["dataset"]] = f"{mean} ± {cell['half_width']:.2f}{beside}"
        if label:
            by_label.setdefault(label, {})[method_name(cell["method"])] = None
    rows = [
        [
            method_name(method),
            *(texts.get((method, name), "") for name in datasets),
            *(f"{rank[method]:.2f}" if method in rank else "" for rank in ranks),
        ]
        for method in methods
    ]
    counts = Counter(cell["verdict"]["word"] for cell in report["cells"] if cell["verdict"] is not None)
    said = ", ".join(f"{count} {word}" for word, count in counts.items())
    notes = [
        f"Verdicts: {said or 'none'}. {report['rule']}.",
        "Ours ± the larger half of the 95 % bootstrap interval of the mean over runs; in brackets ours − paper, with ↑ "
        "above, ↓ below, * not reproducible. Ranks, ours and the paper's: mean over these datasets, ties shared.",
    ]
    if again := [(cell["test"]["mean"], *cell["rerun"]) for cell in report["cells"] if cell["rerun"] is not None]:
        inside = sum(abs(ours - mean) <= half for ours, mean, half in again)
        notes += [
            f"Of {len(again)} cells whose authors' code was run again, {inside} of ours lie inside its 95 % interval."
        ]
    notes += [f"{DAGGER} {', '.join(names)}: {label}." for label, names in by_label.items()]
    return Table(report["title"], ("method", *datasets, "rank", "paper's"), rows, notes, wrap=True)


def cells_table(report: Mapping[str, Any]) -> Table:
    """One line a cell: paper, ours, interval, runs, difference, verdict, and where the settings come from."""
    rows = []
    for cell in report["cells"]:
        paper, found, test, again = cell["paper"], cell["verdict"], cell["test"], cell["rerun"]
        rows.append(
            {
                "method": method_name(cell["method"]),
                "dataset": cell["dataset"],
                "paper": "" if paper is None else f"{paper['mean']:.2f} ± {paper['spread']:.2f}",
                "ours": f"{test['mean']:.2f}",
                "95 % interval": f"[{test['ci95'][0]:.2f}, {test['ci95'][1]:.2f}]",
                "runs": str(cell["runs"]),
                "difference": "" if found is None else f"{found['difference']:+.2f}",
                "verdict": "; ".join(word for word in (found and found["word"], cell.get("as_published")) if word),
                "authors' code, rerun": "" if again is None else f"{again[0]:.2f} ± {again[1]:.2f}",
                "seconds": f"{cell['seconds']:.1f}",
                "settings": cell["source"],
            }
        )
    places = Counter((cell["machine"], cell["date"]) for cell in report["cells"] if "machine" in cell)
    where = "; ".join(f"{count} on {machine}, {date}" for (machine, date), count in places.items())
    notes = [f"Cells were computed: {where}."] if where else []
    title, texts = f"{report['title']}: every cell", [list(row.values()) for row in rows]
    return Table(title, tuple(rows[0]), texts, notes, words=("dataset", "verdict", "settings"))


def winners_table(report: Mapping[str, Any]) -> Table:
    """For each dataset the best method, and those that ten runs cannot tell from it."""
    rows = []
    for name, found in report["winners"].items():
        equal = [rival["method"] for rival in found["rivals"] if rival["indistinguishable"]]
        worse = [rival for rival in found["rivals"] if not rival["indistinguishable"]]
        nearest = f"{method_name(worse[0]['method'])}, p = {worse[0]['corrected']:.3f}" if worse else ""
        words = found["note"] or ", ".join(map(method_name, equal)) or "none"
        rows.append([name, method_name(found["best"]), nearest, words])
    notes = (
        "Wilcoxon's signed-rank test of the best mean against each other method on the same splits, Holm-corrected "
        "within a dataset, at 0.05.",
    )
    columns = ("dataset", "best mean", "nearest that is worse", "not distinguishable from it")
    return Table("Who wins", columns, rows, notes, words=columns)


@styled
def plot_differences(report: Mapping[str, Any], path: str | Path) -> None:
    """Ours − paper in points, a panel for each dataset, a row for each method; the bar is our 95 % interval.

    Pale behind it is what the rule allows for that cell.
    """
    cells = [cell for cell in report["cells"] if cell["verdict"] is not None]
    order = [m for m in published(report["table"]).methods if any(cell["method"] == m for cell in cells)]
    datasets = [name for name in report["datasets"] if any(cell["dataset"] == name for cell in cells)]
    if not cells:
        return
    title = f"{report['title']}: ours − paper, in points"
    # A few panels are narrower than what stands above them.
    size = (max(1.6 + 1.55 * len(datasets), 0.08 * len(title)), 1.3 + 0.24 * len(order))
    figure, grid = panels(*size, 1, len(datasets), title=title, squeeze=False)
    for place, (axes, dataset) in enumerate(zip(grid.flat, datasets, strict=True)):
        for cell in cells:
            if cell["dataset"] == dataset:
                _draw(axes, cell, order.index(cell["method"]))
        axes.axvline(0, color=SOFT, lw=0.8)
        axes.set(xlim=(-EDGE, EDGE), ylim=(len(order) - 0.5, -0.5))
        axes.set_title(dataset, fontsize=9, loc="center")
        axes.set_yticks(range(len(order)), [method_name(m) for m in order] if place == 0 else [""] * len(order))
        axes.grid(False, axis="y")
    for word, (colour, marker) in LOOKS.items():
        if any(cell["verdict"]["word"] == word for cell in cells):
            grid[0, 0].plot([], [], marker, color=colour, ms=4, label=word)
    figure.legend(loc="outside lower center", ncols=len(LOOKS))
    save_figure(figure, path)


def _draw(axes: Any, cell: Mapping[str, Any], row: int) -> None:
    found, test, paper = cell["verdict"], cell["test"], cell["paper"]["mean"]
    colour, marker = LOOKS[found["word"]]
    at, low, high = (max(-EDGE, min(EDGE, x)) for x in (found["difference"], *(end - paper for end in test["ci95"])))
    axes.barh(row, 2 * found["allowed"], left=-found["allowed"], height=0.7, color=LINE, zorder=0)
    axes.plot([low, high], [row, row], color=colour, lw=1.2)
    axes.plot(at, row, marker, color=colour, ms=4, clip_on=False)
    if at != found["difference"]:
        side, text = "right" if at > 0 else "left", f"{found['difference']:+.0f}"
        axes.text(at * 0.9, row, text, fontsize=6.5, ha=side, va="center", color=colour)
