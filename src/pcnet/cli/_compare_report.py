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
from pcnet.cli._compare_sentences import distance, meaning, meaning_of_ranks, notes, sentence, spread
from pcnet.compare import Standing
from pcnet.experiment import Compared, provenance
from pcnet.show import Step, plot_critical_difference, plot_scores, scores_of, scores_text, write_comparison

COLUMNS = ("method", "score", "95 % interval", "behind the best", "verdict", "rank", "p")
#: Columns of a screen that has room for the whole table; on others ranks and their test are left to the files.
WIDE, NARROW = 96, COLUMNS[:-2]


def show(console: Console, compared: Compared) -> None:
    """The sentence, the table, the picture and what has to be known to read them."""
    console.print(sentence(compared), highlight=False, markup=False)
    columns = COLUMNS if console.width >= WIDE else NARROW
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    for column in columns:
        words = column in ("method", "verdict")
        table.add_column(column, justify="left" if words else "right", no_wrap=column != "verdict")
    for standing in compared.numbers.standings:
        cells = _cells(compared, standing)
        table.add_row(*(cells[column] for column in columns), style="bold" if standing.behind is None else None)
    console.print(table)
    for line in scores_text(scores_of(_rows(compared)), compared.metric, min(console.width, WIDE)):
        console.print(line, highlight=False, markup=False)
    console.print()
    for title, reason in compared.left_out.items():
        console.print(f"{title} is left out: {reason}", highlight=False, markup=False, style="yellow")
    ranks = meaning_of_ranks(compared) if columns is COLUMNS else []
    for note in (*meaning(compared), *ranks, *notes(compared)):
        console.print(f"note: {note}", style="dim", highlight=False, markup=False)


def results(compared: Compared, words: str, steps: Sequence[Step], device: str) -> dict[str, Any]:
    """The comparison as plain data; `words` are what is said of the metric."""
    first, graph = compared.trained[0].experiment, compared.graph
    return {
        "graph": graph.name,
        "nodes": graph.num_nodes,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "protocol": first.protocol,
        "metric": compared.metric.name,
        "metric_words": words,
        "runs": len(compared.splits),
        "seeds": list(first.seeds),
        "split_hashes": [split.hash for split in compared.splits],
        "split_sizes": [list(split.sizes) for split in compared.splits],
        "best": compared.numbers.order[0],
        "sentence": sentence(compared),
        "methods": _rows(compared),
        "left_out": [{"method": title, "reason": reason} for title, reason in compared.left_out.items()],
        "pairs": list(_pairs(compared)),
        "groups": [list(group) for group in compared.numbers.ranks.groups],
        "meaning": [*meaning(compared), *meaning_of_ranks(compared)],
        "notes": notes(compared),
        "next": [{"what": what, "command": command} for what, command in steps],
        **provenance(device),
    }


def write_results(out: Path, compared: Compared, value: Mapping[str, Any]) -> None:
    """The pictures, compare.md, compare.html and, last, compare.json."""
    names = {each.method: each.title for each in compared.trained}
    title = f"{compared.graph.name}, {value['protocol']}"
    plot_scores(scores_of(value["methods"]), compared.metric, _pictures(out, "scores"), title)
    plot_critical_difference(compared.numbers.ranks, _pictures(out, "critical-difference"), names=names, title=title)
    write_text(out / "compare.md", _markdown(compared, value))
    write_comparison(out / "compare.html", value)
    write_json(out / "compare.json", value)


def _pictures(out: Path, name: str) -> list[Path]:
    return [out / f"{name}.{kind}" for kind in ("svg", "png")]


def _rows(compared: Compared) -> list[dict[str, Any]]:
    return [
        {
            **compared.by_method[standing.method].as_dict(),
            "rank": standing.rank,
            "behind": None
            if standing.behind is None
            else {"value": standing.behind.value, "interval": standing.behind.interval and [*standing.behind.interval]},
            "p": standing.p,
            "p_holm": standing.corrected,
            "verdict": standing.verdict,
        }
        for standing in compared.numbers.standings
    ]


def _pairs(compared: Compared) -> list[dict[str, Any]]:
    """All against all, the one with the better score first: how much better it is, and Wilcoxon's p."""
    by_ranks = {frozenset((pair.first, pair.second)): pair for pair in compared.numbers.ranks.pairs}
    found = []
    for one, other in combinations(compared.numbers.order, 2):
        lead, ranks = compared.numbers.lead(one, other), by_ranks[frozenset((one, other))]
        found.append(
            {
                "first": one,
                "second": other,
                "difference": lead.value,
                "interval": lead.interval and [*lead.interval],
                "p": ranks.p,
                "p_holm": ranks.corrected,
            }
        )
    return found


def _markdown(compared: Compared, value: Mapping[str, Any]) -> str:
    rows = [_cells(compared, standing).values() for standing in compared.numbers.standings]
    lines = [
        f"# Methods compared on {value['graph']}: {value['protocol']}, {value['runs']} splits, {value['metric_words']}",
        "",
        sentence(compared),
        "",
        "![Scores and their intervals](scores.png)",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "---|" * len(COLUMNS),
        *("| " + " | ".join(cells) + " |" for cells in rows),
        "",
        *(f"- {title} is left out: {reason}" for title, reason in compared.left_out.items()),
        *(f"- {sentence}" for sentence in (*value["meaning"], *value["notes"])),
        f"- command: `{value['command']}`",
        f"- machine: {value['machine']}, {value['date']}",
        "- versions: " + ", ".join(f"{name} {number}" for name, number in value["versions"].items()),
        "",
        "![Average ranks, and bars over methods that cannot be told apart](critical-difference.png)",
    ]
    return "\n".join(lines) + "\n"


def _cells(compared: Compared, standing: Standing) -> dict[str, str]:
    """A row as text, by column."""
    trained, metric = compared.by_method[standing.method], compared.metric
    scored = (metric.text(trained.score), spread(metric, trained.interval))
    ranked = (f"{standing.rank:.2f}", _chance(standing.corrected))
    cells = (trained.title, *scored, distance(compared, standing), standing.verdict, *ranked)
    return dict(zip(COLUMNS, cells, strict=True))


def _chance(p: float | None) -> str:
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
