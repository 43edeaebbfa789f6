"""What `pcnet compare` shows and writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from pcnet._files import write_json, write_text
from pcnet.cli._contest import Contest, Standing, spread
from pcnet.cli._versions import provenance
from pcnet.show import plot_critical_difference, plot_scores, scores_of, scores_text, write_comparison

COLUMNS = ("method", "score", "95 % interval", "behind the best", "verdict", "rank", "p")
#: Columns of a screen that has room for the whole table; on others ranks and their test are left to the files.
WIDE, NARROW = 96, COLUMNS[:-2]

#: What to do next, and the command for it.
Step = tuple[str, str]


def show(console: Console, contest: Contest) -> None:
    """The sentence, the table, the picture and what has to be known to read them."""
    console.print(contest.sentence, highlight=False, markup=False)
    columns = COLUMNS if console.width >= WIDE else NARROW
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    for column in columns:
        words = column in ("method", "verdict")
        table.add_column(column, justify="left" if words else "right", no_wrap=column != "verdict")
    for standing in contest.standings:
        cells = _cells(contest, standing)
        table.add_row(*(cells[column] for column in columns), style="bold" if standing.behind is None else None)
    console.print(table)
    for line in scores_text(scores_of(_rows(contest)), contest.metric, min(console.width, WIDE)):
        console.print(line, highlight=False, markup=False)
    console.print()
    for title, reason in contest.left_out.items():
        console.print(f"{title} is left out: {reason}", highlight=False, markup=False, style="yellow")
    ranks = contest.meaning_of_ranks if columns is COLUMNS else []
    for sentence in (*contest.meaning, *ranks, *contest.notes):
        console.print(f"note: {sentence}", style="dim", highlight=False, markup=False)


def results(contest: Contest, words: str, steps: Sequence[Step], device: str) -> dict[str, Any]:
    """The comparison as plain data; `words` are what is said of the metric."""
    first, graph = contest.order[0].experiment, contest.graph
    return {
        "graph": graph.name,
        "nodes": graph.num_nodes,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "protocol": first.protocol,
        "metric": contest.metric.name,
        "metric_words": words,
        "runs": len(contest.splits),
        "seeds": list(first.seeds),
        "split_hashes": [split.hash for split in contest.splits],
        "split_sizes": [list(split.sizes) for split in contest.splits],
        "best": contest.order[0].method,
        "sentence": contest.sentence,
        "methods": _rows(contest),
        "left_out": [{"method": title, "reason": reason} for title, reason in contest.left_out.items()],
        "pairs": list(_pairs(contest)),
        "groups": [list(group) for group in contest.ranks.groups],
        "meaning": [*contest.meaning, *contest.meaning_of_ranks],
        "notes": contest.notes,
        "next": [{"what": what, "command": command} for what, command in steps],
        **provenance(device),
    }


def write_results(out: Path, contest: Contest, value: Mapping[str, Any]) -> None:
    """The pictures, compare.md, compare.html and, last, compare.json."""
    names = {each.method: each.title for each in contest.trained}
    title = f"{contest.graph.name}, {value['protocol']}"
    plot_scores(scores_of(value["methods"]), contest.metric, _pictures(out, "scores"), title)
    plot_critical_difference(contest.ranks, _pictures(out, "critical-difference"), names=names, title=title)
    write_text(out / "compare.md", _markdown(contest, value))
    write_comparison(out / "compare.html", value)
    write_json(out / "compare.json", value)


def _pictures(out: Path, name: str) -> list[Path]:
    return [out / f"{name}.{kind}" for kind in ("svg", "png")]


def _rows(contest: Contest) -> list[dict[str, Any]]:
    return [
        {
            **standing.trained.as_dict(),
            "rank": standing.rank,
            "behind": None
            if standing.behind is None
            else {"value": standing.behind.value, "interval": standing.behind.interval and [*standing.behind.interval]},
            "p": standing.p,
            "p_holm": standing.corrected,
            "verdict": standing.verdict,
        }
        for standing in contest.standings
    ]


def _pairs(contest: Contest) -> list[dict[str, Any]]:
    """All against all, the one with the better score first: how much better it is, and Wilcoxon's p."""
    by_ranks = {frozenset((pair.first, pair.second)): pair for pair in contest.ranks.pairs}
    found = []
    for one, other in combinations(contest.order, 2):
        lead, ranks = contest.lead(one, other), by_ranks[frozenset((one.method, other.method))]
        found.append(
            {
                "first": one.method,
                "second": other.method,
                "difference": lead.value,
                "interval": lead.interval and [*lead.interval],
                "p": ranks.p,
                "p_holm": ranks.corrected,
            }
        )
    return found


def _markdown(contest: Contest, value: Mapping[str, Any]) -> str:
    rows = [_cells(contest, standing).values() for standing in contest.standings]
    lines = [
        f"# Methods compared on {value['graph']}: {value['protocol']}, {value['runs']} splits, {value['metric_words']}",
        "",
        contest.sentence,
        "",
        "![Scores and their intervals](scores.png)",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "---|" * len(COLUMNS),
        *("| " + " | ".join(cells) + " |" for cells in rows),
        "",
        *(f"- {title} is left out: {reason}" for title, reason in contest.left_out.items()),
        *(f"- {sentence}" for sentence in (*value["meaning"], *value["notes"])),
        f"- command: `{value['command']}`",
        f"- machine: {value['machine']}, {value['date']}",
        "- versions: " + ", ".join(f"{name} {number}" for name, number in value["versions"].items()),
        "",
        "![Average ranks, and bars over methods that cannot be told apart](critical-difference.png)",
    ]
    return "\n".join(lines) + "\n"


def _cells(contest: Contest, standing: Standing) -> dict[str, str]:
    """A row as text, by column."""
    trained, metric = standing.trained, contest.metric
    scored = (metric.text(trained.score), spread(metric, trained.interval))
    ranked = (f"{standing.rank:.2f}", _chance(standing.corrected))
    cells = (trained.title, *scored, contest.distance(standing), standing.verdict, *ranked)
    return dict(zip(COLUMNS, cells, strict=True))


def _chance(p: float | None) -> str:
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
