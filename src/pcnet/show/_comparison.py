"""A comparison of methods for people: on the screen, in Markdown, and as one HTML file that needs nothing but itself.

Everything is made of the content of `compare.json`, here called `compared`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from pcnet._files import write_json, write_text
from pcnet.compare import CriticalDifference, Metric, metric_named
from pcnet.show._charts import plot_scores, scores_chart
from pcnet.show._critical_difference import plot_critical_difference
from pcnet.show._plot import inline
from pcnet.show._scores import Score, scores_text
from pcnet.show._table import Cell, Table, strong
from pcnet.show._template import flat, provenance_list, splits_table, with_interval, write_page, written

#: Columns of a screen that has room for the whole table; on others ranks and their test are left to the files.
WIDE = 96


def print_comparison(console: Console, compared: Mapping[str, Any]) -> None:
    """The sentence, the table, the picture and what has to be known to read them."""
    wide = console.width >= WIDE
    console.print(compared["sentence"], "", highlight=False, markup=False, sep="\n")
    console.print(methods_table(compared, ranks=wide).rich(), "", sep="\n")
    scores, metric = scores_of(compared["methods"]), metric_named(compared["metric"])
    for line in (*scores_text(scores, metric, min(console.width, WIDE)), ""):
        console.print(line, highlight=False, markup=False)
    for each in compared["left_out"]:
        sentence = f"{each['method']} is left out: {each['reason']}"
        console.print(sentence, highlight=False, markup=False, style="yellow")
    # The first two are about scores and differences, the others about the columns that a narrow screen lacks.
    for sentence in (*compared["meaning"][: None if wide else 2], *compared["notes"]):
        console.print(f"note: {sentence}", style="dim", highlight=False, markup=False)


def write_comparison(out: Path, compared: Mapping[str, Any], ranks: CriticalDifference) -> None:
    """The pictures, compare.md, compare.html and, last, compare.json."""
    scores, metric = scores_of(compared["methods"]), metric_named(compared["metric"])
    names = {row["method"]: row["title"] for row in compared["methods"]}
    title = f"{compared['graph']}, {compared['protocol']}"
    plot_scores(scores, metric, [out / f"scores.{kind}" for kind in ("svg", "png")], title)
    pictures = [out / f"critical-difference.{kind}" for kind in ("svg", "png")]
    plot_critical_difference(ranks, pictures, names=names, title=title)
    write_text(out / "compare.md", _markdown(compared))
    write_comparison_page(out / "compare.html", compared)
    write_json(out / "compare.json", compared)


def write_comparison_page(path: str | Path, compared: Mapping[str, Any]) -> None:
    """The verdict, scores, differences, and what to do next."""
    metric, methods = metric_named(compared["metric"]), compared["methods"]
    scores = scores_of(methods)
    titles = {row["method"]: row["title"] for row in methods}
    content = {
        "title": f"{len(methods)} method{'s' if len(methods) > 1 else ''} compared on {compared['graph']}",
        "compared": compared,
        "metric": metric,
        "best": methods[0],
        "picture": inline(
            scores_chart(scores, metric),
            f"{metric.title}: {', '.join(f'{each.name} {written(metric, each.value)}' for each in scores)}",
        ),
        "methods": methods_table(compared, seconds=True),
        "differences": _differences(compared["pairs"], titles, metric) if len(titles) > 1 else None,
        "groups": [[titles[method] for method in group] for group in compared["groups"]],
        "splits": _splits(compared, metric),
        "settings": {row["title"]: flat(row["settings"]) for row in methods},
        **{key: compared[key] for key in ("command", "versions", "machine", "date")},
    }
    write_page(path, "comparison.html", content)


def scores_of(methods: Sequence[Mapping[str, Any]]) -> list[Score]:
    """The rows of `compare.json` as a picture takes them, the best on top."""
    return [
        Score(row["title"], row["score"], row["interval"] and tuple(row["interval"]), ours=place == 0)
        for place, row in enumerate(methods)
    ]


def methods_table(compared: Mapping[str, Any], *, ranks: bool = True, seconds: bool = False) -> Table:
    """A row for each method, the best first."""
    metric, rows = metric_named(compared["metric"]), []
    for row in compared["methods"]:
        interval = with_interval(metric, None, row["interval"])
        behind = row["behind"] and with_interval(metric, row["behind"]["value"], row["behind"]["interval"])
        cells = [row["title"], metric.text(row["score"]), interval, behind or "", row["verdict"]]
        cells += [f"{row['rank']:.2f}", _chance(row["p_holm"])] * ranks + [f"{row['seconds']:.1f}"] * seconds
        rows.append(cells if row["behind"] else strong(cells))
    columns = ("method", "score", "95 % interval", "behind the best", "verdict")
    return Table("", (*columns, *("rank", "p") * ranks, *("seconds",) * seconds), rows, words=("verdict",))


def _differences(pairs: Sequence[Mapping[str, Any]], titles: Mapping[str, str], metric: Metric) -> Table:
    """Of each method but the best: how far it is behind each better one; what is sure stands out."""
    known = {(pair["first"], pair["second"]): pair for pair in pairs}
    order, rows = list(titles), []
    for place, behind in enumerate(order[1:], start=1):
        row = [titles[behind]]
        for ahead in order[:place]:
            pair = known[ahead, behind]
            text = with_interval(metric, pair["difference"], pair["interval"])
            row.append(Cell(text, "strong") if pair["interval"] and pair["interval"][0] > 0 else text)
        rows.append(row)
    return Table("", ("", *(titles[method] for method in order[:-1])), rows)


def _splits(compared: Mapping[str, Any], metric: Metric) -> Table:
    """Each split with the method that is best on it."""
    winners = [
        max(compared["methods"], key=lambda row: metric.sign * row["test"]["per_run"][place])
        for place in range(compared["runs"])
    ]
    scores = [metric.text(row["test"]["per_run"][place]) for place, row in enumerate(winners)]
    more = {"best": [row["title"] for row in winners], metric.title: scores}
    return splits_table(compared["seeds"], compared["split_sizes"], compared["split_hashes"], more)


def _markdown(compared: Mapping[str, Any]) -> str:
    words = f"{compared['protocol']}, {compared['runs']} splits, {compared['metric_words']}"
    notes = [f"{each['method']} is left out: {each['reason']}" for each in compared["left_out"]]
    notes += [*compared["meaning"], *compared["notes"]]
    lines = [
        f"# Methods compared on {compared['graph']}: {words}",
        "",
        compared["sentence"],
        "",
        "![Scores and their intervals](scores.png)",
        "",
        replace(methods_table(compared), notes=notes).markdown() + provenance_list([compared], compared["command"]),
        "![Average ranks, and bars over methods that cannot be told apart](critical-difference.png)",
    ]
    return "\n".join(lines) + "\n"


def _chance(p: float | None) -> str:
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
