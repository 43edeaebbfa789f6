"""A comparison of methods: as plain data with its outcome in sentences, on the screen, in Markdown, and as one page.

Everything that is shown is made of the content of `compare.json`, here called `record`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from rich.console import Console

from pcnet._files import write_json, write_text
from pcnet._text import markdown
from pcnet.compare import LEVEL, PERHAPS, UNKNOWN, WORSE, Comparison, CriticalDifference, Metric, metric_named
from pcnet.experiment import DEFAULT_METHOD, Compared, Trained, chosen_on_other_graphs, provenance
from pcnet.show import _table as page
from pcnet.show._plot import Score, scores_on_page
from pcnet.show._ranking import plot_critical_difference, plot_scores, scores_text
from pcnet.show._report import print_notes
from pcnet.show._table import Cell, Step, Table, provenance_list, strong, with_interval, with_unit

_WORDS = {WORSE: "Worse", PERHAPS: "Perhaps as good", UNKNOWN: "Behind it"}
#: Columns of a screen that has room for the whole table; on others ranks and their test are left to the files.
WIDE = 96


def comparison_record(compared: Compared, words: str, steps: Sequence[Step], device: str) -> dict[str, Any]:
    """The content of `compare.json`.

    `words` name the metric and why it was taken; `steps` say what to do next, each with its command.
    """
    first, graph, numbers = compared.trained[0].experiment, compared.graph, compared.numbers
    rows = [
        {
            **compared.by_method[standing.method].as_dict(),
            "rank": standing.rank,
            "behind": standing.behind and asdict(standing.behind),
            "p": standing.p,
            "p_holm": standing.corrected,
            "verdict": standing.verdict,
        }
        for standing in numbers.standings
    ]
    return {
        "graph": graph.name,
        "nodes": graph.num_nodes,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "protocol": first.protocol,
        "metric": compared.metric.name,
        "metric_words": words,
        "runs": len(compared.splits),
        "seeds": first.seeds,
        "split_hashes": [split.hash for split in compared.splits],
        "split_sizes": [split.sizes for split in compared.splits],
        "best": numbers.order[0],
        "sentence": _sentence(compared, rows),
        "methods": rows,
        "left_out": [{"method": title, "reason": reason} for title, reason in compared.left_out.items()],
        "pairs": list(_pairs(numbers)),
        "groups": numbers.ranks.groups,
        "meaning": _meaning(compared),
        "notes": [*_notes(compared)],
        "next": [step._asdict() for step in steps],
        **provenance(device),
    }


def _pairs(numbers: Comparison) -> Iterator[dict[str, Any]]:
    """All against all, the one with the better score first: how much better it is, and Wilcoxon's p."""
    by_ranks = {frozenset((pair.first, pair.second)): pair for pair in numbers.ranks.pairs}
    for one, other in combinations(numbers.order, 2):
        lead, ranks = numbers.lead(one, other), by_ranks[frozenset((one, other))]
        found = {"first": one, "second": other, "difference": lead.value, "interval": lead.interval}
        yield {**found, "p": ranks.p, "p_holm": ranks.corrected}


def _sentence(compared: Compared, rows: Sequence[Mapping[str, Any]]) -> str:
    """The outcome in plain words."""
    metric, winner = compared.metric, next(iter(compared.by_method.values()))
    lead = f"{winner.title} has the {'highest' if metric.sign > 0 else 'lowest'} {metric.title}, {scored(winner)}"
    if len(rows) == 1:
        return f"{lead}, but there is no other to compare it with."
    parts, verdicts = [f"{lead}."], [row["verdict"] for row in rows]
    for verdict, word in _WORDS.items():
        if verdict in verdicts:
            group = (row for row in rows if row["verdict"] == verdict)
            far = [f"{row['title']} (behind by {with_interval(metric, **row['behind'])})" for row in group]
            parts.append(f"{word}: {listed(far)}.")
    if UNKNOWN in verdicts:
        few = "one split cannot say" if len(compared.splits) == 1 else "these splits cannot say"
        parts.append(f"How sure that is, {few}; more --runs can.")
    return " ".join(parts)


def scored(trained: Trained) -> str:
    """82.10 % [80.05, 84.10]."""
    metric = trained.metric
    score = f"{metric.text(trained.score)}{' %' if metric.percent else ''}"
    return f"{score} {with_interval(metric, interval=trained.interval)}".rstrip()


def _meaning(compared: Compared) -> list[str]:
    """What scores and differences are, and, in sentences of their own, ranks and their test."""
    metric, test, least = compared.metric, compared.trained[0].test, compared.numbers.least
    if test.nodes:
        others = f"the {test.unlabelled:,} without a label" if test.unlabelled else "nodes like them"
        what = f"what {test.nodes:,} tested nodes say of {others}, with its 95 % interval"
        chance = "with an interval for what nodes (Newcombe 1998), splits and seeds do by chance"
    else:
        what = "mean over the splits' test nodes; its 95 % interval is a bootstrap over splits"
        chance = "with an interval that allows for the nodes that splits share (Nadeau and Bengio 2003)"
    sentences = [
        f"Score: {with_unit(metric)}, {what}.",
        f"Behind the best: in the same unit, {chance}; all of these intervals together hold at 95 %. Above 0 "
        "throughout means worse.",
        "Rank: mean over splits, 1 is best. p: Wilcoxon's signed-rank test against the best, corrected by Holm; it "
        "takes splits for independent and is too low.",
    ]
    few = (
        f"With n = {len(compared.splits)} no p among {len(compared.trained)} methods can fall below {least:.3g}: "
        "ranks of so few runs tell nothing apart."
    )
    return [*sentences, *[few] * (least > LEVEL)] if len(compared.trained) > 1 else sentences[:1]


def _notes(compared: Compared) -> Iterator[str]:
    """What else has to be known to read the figures."""
    splits, trained = compared.splits, compared.trained
    yield from compared.graph.notes
    yield from dict.fromkeys(note for split in splits for note in split.notes)
    different = len({split.hash for split in splits})
    if different < len(splits):
        yield f"There are {different} splits for {len(splits)} runs; runs on one split share its luck."
    plain = [each.title for each in trained if not each.experiment.source]
    tuned = [f"{each.title} ({each.experiment.source})" for each in trained if each.experiment.source]
    if len({each.experiment.source for each in trained}) == 1 and not plain:
        yield f"Settings for this graph: {trained[0].experiment.source}."
    elif tuned:
        others = f"; defaults: {listed(plain)}. --defaults treats all alike" if plain else ""
        yield f"Settings for this graph: {listed(tuned)}{others}."
    else:
        yield from _defaults(trained)
    published = [each.method for each in trained if each.experiment.of_a_preset and each.experiment.source]
    if DEFAULT_METHOD in published:
        yield "The published settings of PCNet were chosen by its authors by test scores."
    if any(each.experiment.source.startswith("validation on") for each in trained):
        yield (
            "Settings by validation on several splits suit all of them together: test nodes of one split are "
            "validation nodes of others, so that these scores may flatter; --tuned lets each split choose for itself."
        )


def _defaults(trained: Sequence[Trained]) -> Iterator[str]:
    """Where settings come from that are not for this graph."""
    elsewhere = [each.title for each in trained if chosen_on_other_graphs(each.method)]
    rest = [each.title for each in trained if each.title not in elsewhere]
    if elsewhere:
        others = f"; {listed(rest)} {'have their' if len(rest) > 1 else 'has its'} usual ones" if rest else ""
        yield f"Validation on other graphs chose the settings of {listed(elsewhere)}{others}."
    yield "Nobody tuned a method for this graph; --tuned, or `pcnet tune`, may change the order."


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def print_comparison(console: Console, record: Mapping[str, Any]) -> None:
    """The sentence, the table, the picture and what has to be known to read them."""
    wide = console.width >= WIDE
    console.print(record["sentence"], "", sep="\n")
    console.print(methods_table(record, ranks=wide).rich(), "", sep="\n")
    scores, metric = scores_of(record["methods"]), metric_named(record["metric"])
    console.print(*scores_text(scores, metric, min(console.width, WIDE)), "", sep="\n")
    for each in record["left_out"]:
        console.print(f"{each['method']} is left out: {each['reason']}", style="yellow")
    # The first two are about scores and differences, the others about the columns that a narrow screen lacks.
    print_notes(console, (*record["meaning"][: None if wide else 2], *record["notes"]))


def write_comparison(out: Path, record: Mapping[str, Any], ranks: CriticalDifference) -> None:
    """The pictures, compare.md, compare.html and, last, compare.json."""
    scores, metric = scores_of(record["methods"]), metric_named(record["metric"])
    names = {row["method"]: row["title"] for row in record["methods"]}
    title = f"{record['graph']}, {record['protocol']}"
    plot_scores(scores, metric, [out / f"scores.{kind}" for kind in ("svg", "png")], title)
    pictures = [out / f"critical-difference.{kind}" for kind in ("svg", "png")]
    plot_critical_difference(ranks, pictures, names=names, title=title)
    write_text(out / "compare.md", _markdown(record))
    write_comparison_page(out / "compare.html", record)
    write_json(out / "compare.json", record)


def write_comparison_page(path: str | Path, record: Mapping[str, Any]) -> None:
    """The verdict, scores, differences, and what to do next."""
    metric, methods = metric_named(record["metric"]), record["methods"]
    titles = {row["method"]: row["title"] for row in methods}
    content = {
        "title": f"{len(methods)} method{'s' if len(methods) > 1 else ''} compared on {record['graph']}",
        "compared": record,
        "metric": metric,
        "best": methods[0],
        "picture": scores_on_page(scores_of(methods), metric),
        "methods": methods_table(record, seconds=True),
        "differences": _differences(record["pairs"], titles, metric) if len(titles) > 1 else None,
        "groups": [[titles[method] for method in group] for group in record["groups"]],
        "splits": _splits(record, metric),
        **{key: record[key] for key in ("command", "versions", "machine", "date")},
    }
    page.write_page(path, "comparison.html", content)


def scores_of(methods: Sequence[Mapping[str, Any]]) -> list[Score]:
    """The rows of `compare.json` as a picture takes them, the best on top."""
    return [
        Score(row["title"], row["score"], row["interval"] and tuple(row["interval"]), ours=place == 0)
        for place, row in enumerate(methods)
    ]


def methods_table(record: Mapping[str, Any], *, ranks: bool = True, seconds: bool = False) -> Table:
    """A row for each method, the best first."""
    metric, rows = metric_named(record["metric"]), []
    for row in record["methods"]:
        interval, behind = with_interval(metric, interval=row["interval"]), with_interval(metric, **row["behind"] or {})
        p = "" if row["p_holm"] is None else "< 0.001" if row["p_holm"] < 0.001 else f"{row['p_holm']:.3f}"
        cells = [row["title"], metric.text(row["score"]), interval, behind, row["verdict"]]
        cells += [f"{row['rank']:.2f}", p] * ranks + [f"{row['seconds']:.1f}"] * seconds
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


def _splits(record: Mapping[str, Any], metric: Metric) -> Table:
    """Each split with the method that is best on it."""
    winners = [
        max(record["methods"], key=lambda row: metric.sign * row["test"]["per_run"][place])
        for place in range(record["runs"])
    ]
    scores = [metric.text(row["test"]["per_run"][place]) for place, row in enumerate(winners)]
    more = {"best": [row["title"] for row in winners], metric.title: scores}
    return page.splits_table(record["seeds"], record["split_sizes"], record["split_hashes"], more)


def _markdown(record: Mapping[str, Any]) -> str:
    words = f"{record['protocol']}, {record['runs']} splits, {record['metric_words']}"
    left_out = [f"{each['method']} is left out: {each['reason']}" for each in record["left_out"]]
    table = replace(methods_table(record), notes=[*left_out, *record["meaning"], *record["notes"]])
    return f"""\
# Methods compared on {markdown(record["graph"])}: {markdown(words)}

{markdown(record["sentence"])}

![Scores and their intervals](scores.png)

{table.markdown()}{provenance_list([record], record["command"])}
![Average ranks, and bars over methods that cannot be told apart](critical-difference.png)
"""
