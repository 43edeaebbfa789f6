"""What `pcnet compare` shows and writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from pcnet._files import write_json, write_text
from pcnet.cli._contest import Contest, Standing, headline
from pcnet.cli._versions import provenance
from pcnet.evaluation import LEVEL, Summary
from pcnet.report import plot_critical_difference

#: Columns of a screen that has room for the whole table.
WIDE = 118
COLUMNS = ("method", "test", "95 % interval", "std", "rank", "behind the best", "p", "p (t)", "verdict")
NARROW = tuple(column for column in COLUMNS if column not in ("std", "rank", "p (t)"))
MEANING = (
    "Accuracy in percent; intervals: 95 % bootstrap of the mean over splits; rank: mean over splits, 1 is best; "
    f"p: Wilcoxon's signed-rank test against the best, corrected by Holm, worse at {LEVEL}; "
    "p (t): corrected resampled t-test, likewise."
)


def show(console: Console, contest: Contest) -> None:
    """The table, the sentence and the notes."""
    columns = COLUMNS if console.width >= WIDE else NARROW
    table = Table(box=SIMPLE, caption=MEANING, caption_justify="left", padding=(0, 1, 0, 0))
    for column in columns:
        words = column in ("method", "verdict")
        table.add_column(column, justify="left" if words else "right", no_wrap=column != "verdict")
    for standing in contest.standings:
        cells = _cells(standing)
        style = "bold" if standing.verdict == "best" else None
        table.add_row(*(cells[column] for column in columns), style=style)
    console.print(table)
    for title, reason in contest.left_out.items():
        console.print(f"{title} is left out: {reason}", highlight=False, markup=False, style="yellow")
    console.print(contest.sentence, highlight=False, markup=False)
    for note in contest.notes:
        console.print(f"note: {note}", style="dim", highlight=False, markup=False)


def results(contest: Contest, device: str) -> dict[str, Any]:
    """The comparison as plain data; accuracies in percent."""
    first = contest.trained[0].experiment
    return {
        "graph": contest.graph.name,
        "protocol": first.protocol,
        "runs": len(contest.splits),
        "seeds": list(first.seeds),
        "split_hashes": [split.hash for split in contest.splits],
        "best": contest.compared.best,
        "sentence": contest.sentence,
        "methods": [_row(standing) for standing in contest.standings],
        "left_out": [{"method": title, "reason": reason} for title, reason in contest.left_out.items()],
        "pairs": [asdict(pair) for pair in contest.pairs.pairs],
        "groups": [list(group) for group in contest.pairs.groups],
        "notes": [MEANING, *contest.notes],
        **provenance(device),
    }


def write_results(out: Path, contest: Contest, value: Mapping[str, Any]) -> None:
    """The pictures, compare.md and, last, compare.json."""
    names = {each.method: each.title for each in contest.trained}
    pictures = [out / f"critical-difference.{kind}" for kind in ("svg", "png")]
    plot_critical_difference(contest.pairs, pictures, names=names, title=f"{contest.graph.name}, {value['protocol']}")
    write_text(out / "compare.md", _markdown(contest, value))
    write_json(out / "compare.json", value)


def _row(standing: Standing) -> dict[str, Any]:
    trained = standing.trained
    return {
        "method": trained.method,
        "title": trained.title,
        "settings": {**trained.experiment.settings, "source": trained.experiment.source},
        "test": trained.test.as_dict(),
        "val": trained.val.as_dict(),
        "rank": standing.rank,
        "behind": None if standing.behind is None else standing.behind.as_dict(),
        "p": standing.p,
        "p_holm": standing.corrected,
        "p_resampled_t_holm": standing.resampled,
        "verdict": standing.verdict,
        "epochs": list(trained.epochs),
        "seconds": trained.seconds,
    }


def _markdown(contest: Contest, value: Mapping[str, Any]) -> str:
    rows = [_cells(standing).values() for standing in contest.standings]
    lines = [
        f"# Methods {headline(contest.graph, value['protocol'], value['runs'])}",
        "",
        contest.sentence,
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "---|" * len(COLUMNS),
        *("| " + " | ".join(cells) + " |" for cells in rows),
        "",
        MEANING,
        "",
        *(f"- {title} is left out: {reason}" for title, reason in contest.left_out.items()),
        *(f"- {note}" for note in contest.notes),
        f"- command: `{value['command']}`",
        f"- machine: {value['machine']}, {value['date']}",
        "- versions: " + ", ".join(f"{name} {number}" for name, number in value["versions"].items()),
        "",
        "![Average ranks, and bars over methods that cannot be told apart](critical-difference.png)",
    ]
    return "\n".join(lines) + "\n"


def _cells(standing: Standing) -> dict[str, str]:
    """A row as text, by column."""
    test, behind = standing.trained.test, standing.behind
    distance = "" if behind is None else f"{behind.mean:.2f} {_interval(behind)}"
    figures = (f"{test.mean:.2f}", _interval(test), f"{test.std:.2f}", f"{standing.rank:.2f}", distance)
    chances = (_chance(standing.corrected), _chance(standing.resampled))
    return dict(zip(COLUMNS, (standing.trained.title, *figures, *chances, standing.verdict), strict=True))


def _interval(summary: Summary) -> str:
    return "[{:.2f}, {:.2f}]".format(*summary.ci95)


def _chance(p: float | None) -> str:
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
