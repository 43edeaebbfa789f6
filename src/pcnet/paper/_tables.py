"""A table of the paper beside its reproduction: differences and their picture, verdicts, ranks, and who wins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pcnet.compare import Summary, average_ranks, verdict, winners
from pcnet.experiment import method_name
from pcnet.paper._cells import NOT_REPRODUCIBLE, Cell, Record, is_stale
from pcnet.paper._published import BY_VALIDATION, Figure, published
from pcnet.show import COLOURS, MARKERS, SOFT, Table, panels, save_figure, styled
from pcnet.show import RULE as LINE

RULE = (
    "reproduced: |ours − paper| ≤ max(1.5, √(h₁² + h₂²)), h the half-widths of the two 95 % intervals; else above or "
    "below"
)
#: Beside a mean that was made as its authors made it, and not by what validation chooses.
DAGGER = "†"
#: Beside a mean whose settings test scores chose, in all that is known.
BY_TEST = "‡"
#: Points beyond which a cell is drawn at the edge, with its number: one outlier must not flatten the others.
EDGE = 8.0
#: What stands beside a mean in the overview, and the colour and the marker of its verdict in every picture.
MARKS = {"reproduced": "", "below": " ↓", "above": " ↑", "not reproducible": " *"}
#: What is said of settings that test scores chose, before how they did.
OF_TEST = "settings chosen by test, "
LOOKS = dict(zip(MARKS, zip(COLOURS, MARKERS, strict=True), strict=False))


def table_report(table: str, records: Mapping[Cell, Record], missing: Mapping[Cell, str]) -> dict[str, Any]:
    """Every cell of a table with its verdict; average ranks, ours and the paper's; the winners of each dataset."""
    paper, records = published(table), {cell: record for cell, record in records.items() if cell.table == table}
    methods = [method for method in paper.rows if any(cell.method == method for cell in records)]
    datasets = [name for name in paper.datasets if any(cell.dataset == name for cell in records)]
    means = {
        "ours": {(cell.method, cell.dataset): record["test"]["mean"] for cell, record in records.items()},
        "paper": {place: figure.mean for place, figure in paper.figures.items()},
    }
    # PCNet counts once: with its authors' settings, as in the paper's ranks, or with those that validation chose.
    sides = {"ours": ("ours", BY_VALIDATION), "paper": ("paper", BY_VALIDATION)}
    if BY_VALIDATION in methods and "pcnet" in methods:
        sides = {"ours": sides["ours"], "by validation": ("ours", "pcnet"), "paper": sides["paper"]}
    rows = {
        side: {m: [means[whose].get((m, d)) for d in datasets] for m in methods if m != other}
        for side, (whose, other) in sides.items()
    }
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
        "ranks": {side: average_ranks(own) if len(own) > 1 else {} for side, own in rows.items()},
        "winners": {side: _winners(records, datasets, sides[side][1]) for side in sides if side != "paper"},
        "notes": list(paper.notes),
    }


def _cell(cell: Cell, record: Record, figure: Figure | None) -> dict[str, Any]:
    ours = Summary.from_dict(record["test"])
    row = {**record, "runs": len(ours.per_run), "half_width": ours.half_width, "paper": None, "verdict": None}
    row["stale"] = is_stale(record)
    if figure is not None and figure.mean is not None and figure.half_width is not None:
        reason = NOT_REPRODUCIBLE.get((cell.table, cell.method), "")
        found = verdict(ours, figure.mean, figure.half_width, not_reproducible=reason)
        row["paper"], row["verdict"] = asdict(figure), asdict(found)
    return row


def _winners(records: Mapping[Cell, Record], datasets: Sequence[str], without: str) -> dict[str, Any]:
    """Who wins on each dataset where two or more methods were run, one method left out."""
    others = {cell: record for cell, record in records.items() if cell.method != without}
    scores = {name: _runs(others, name) for name in datasets if any(cell.dataset == name for cell in others)}
    return {name: asdict(winners(own)) for name, own in scores.items() if len(own) > 1}


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
    ordered = [method for method in published(report["table"]).rows if method in computed]
    methods, ranks = dict.fromkeys([*ordered, *(method for method, _ in texts)]), report["ranks"].values()
    marked: dict[tuple[str, str], dict[str, None]] = {}
    for cell in report["cells"]:
        found, said = cell["verdict"], {DAGGER: cell.get("as_published"), BY_TEST: cell.get("by_test")}
        beside = "" if found is None else f" ({found['difference']:+.2f}{MARKS[found['word']]})"
        marks = "".join(mark for mark, label in said.items() if label)
        texts[cell["method"], cell["dataset"]] = f"{cell['test']['mean']:.2f}{marks} ± {cell['half_width']:.2f}{beside}"
        for mark, label in said.items():
            if label:
                marked.setdefault((mark, label), {})[method_name(cell["method"])] = None
    rows = [
        [
            method_name(method),
            *(texts.get((method, name), "") for name in datasets),
            *(f"{rank[method]:.2f}" if method in rank else "" for rank in ranks),
        ]
        for method in methods
    ]
    notes = [
        f"Verdicts: {_of_verdicts(report)}. {report['rule']}.",
        "Ours ± the larger half of the 95 % bootstrap interval of the mean over runs; in brackets ours − paper, with ↑ "
        "above, ↓ below, * not reproducible. Ranks, ours and the paper's: mean over these datasets, ties shared.",
        *(
            f"{mark} {', '.join(names)}: {OF_TEST * (mark == BY_TEST)}{label}."
            for (mark, label), names in marked.items()
        ),
        *_of_choices(report),
    ]
    if again := [(cell["test"]["mean"], *cell["rerun"]) for cell in report["cells"] if cell["rerun"] is not None]:
        inside = sum(abs(ours - mean) <= half for ours, mean, half in again)
        notes += [
            f"Of {len(again)} cells whose authors' code was run again, {inside} of ours lie inside its 95 % interval."
        ]
    headings = {"ours": "rank", "by validation": "rank, PCNet by validation", "paper": "paper's rank"}
    columns = ("method", *datasets, *(headings[side] for side in report["ranks"]))
    return Table(report["title"], columns, rows, notes, wrap=True)


def _of_verdicts(report: Mapping[str, Any]) -> str:
    verdicts = [cell["verdict"] for cell in report["cells"] if cell["verdict"] is not None]
    floor = sum(each["by_floor"] for each in verdicts)
    aside = {"reproduced": f" ({floor} by the floor of 1.5 alone)" * bool(floor)}
    counts = Counter(each["word"] for each in verdicts)
    return ", ".join(f"{count} {word}{aside.get(word, '')}" for word, count in counts.items()) or "none"


def _of_choices(report: Mapping[str, Any]) -> list[str]:
    """Among how many settings validation chose, on how many splits, and what that is worth."""
    found = [re.fullmatch(r"validation on (\d+) splits, (\d+) settings", cell["source"]) for cell in report["cells"]]
    chosen = [(int(each[1]), int(each[2])) for each in found if each is not None]
    if not chosen:
        return []
    sizes, few = sorted({size for _, size in chosen}), min(splits for splits, _ in chosen)
    on_few = sum(splits == few for splits, _ in chosen)
    return [
        f"Validation chose the settings of {len(chosen)} cells, among {', '.join(map(str, sizes))} settings, of "
        f"{on_few} on {few} splits: one setting for all splits of a cell. These overlap, so that a test node of one is "
        "often a validation node of another. The other settings are published ones. Rows that searched more, or by "
        "test, have an advantage in ranks and winners that no test here sees."
    ]


def cells_table(report: Mapping[str, Any]) -> Table:
    """One line a cell: paper, ours, interval, runs, difference, verdict, the settings' source, and the code's."""
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
                # Of a cell that was computed within a search, it is not known.
                "seconds": "" if cell["seconds"] is None else f"{cell['seconds']:.1f}",
                "settings": f"{cell['source']}{', by test' * bool(cell.get('by_test'))}",
                "code": cell.get("versions", {}).get("commit", "not kept") if cell["stale"] else "this",
            }
        )
    places = Counter((cell["machine"], cell["date"]) for cell in report["cells"] if "machine" in cell)
    where = "; ".join(f"{count} on {machine}, {date}" for (machine, date), count in places.items())
    notes = [f"Cells were computed: {where}."] if where else []
    if stale := sum(cell["stale"] for cell in report["cells"]):
        notes.append(
            f"{stale} of {len(report['cells'])} cells were computed by other code than this; the last column has its "
            "commit, where that was kept. --anew computes them again."
        )
    title, texts = f"{report['title']}: every cell", [list(row.values()) for row in rows]
    return Table(title, tuple(rows[0]), texts, notes, words=("dataset", "verdict", "settings", "code"))


def winners_tables(report: Mapping[str, Any]) -> list[Table]:
    """For each dataset the best method, and those that ten runs cannot tell from it; PCNet with either settings."""
    return [_winners_table(side, found) for side, found in report["winners"].items() if found]


def _winners_table(side: str, by_dataset: Mapping[str, Any]) -> Table:
    rows = []
    for name, found in by_dataset.items():
        equal = [rival["method"] for rival in found["rivals"] if rival["indistinguishable"]]
        worse = [rival for rival in found["rivals"] if not rival["indistinguishable"]]
        nearest = f"{method_name(worse[0]['method'])}, p = {worse[0]['corrected']:.3f}" if worse else ""
        words = found["note"] or ", ".join(map(method_name, equal)) or "none"
        rows.append([name, method_name(found["best"]), nearest, words])
    notes = [
        "Wilcoxon's signed-rank test of the best mean against each other method on the same splits, Holm-corrected "
        "within a dataset, at 0.05.",
    ]
    title = "Who wins"
    if side == "by validation":
        title = "Who wins where validation chose PCNet's settings, too"
    elif any("pcnet" in (found["best"], *(r["method"] for r in found["rivals"])) for found in by_dataset.values()):
        notes.append(
            "PCNet's settings are its authors', who chose them by test: its wins are no evidence that it is better."
        )
    columns = ("dataset", "best mean", "nearest that is worse", "not distinguishable from it")
    return Table(title, columns, rows, notes, words=columns)


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
