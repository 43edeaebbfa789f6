"""What a training came to: printed, and as its report, one HTML file that needs nothing but itself."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from pcnet.compare import METRICS, Metric, Summary
from pcnet.experiment import Estimate, Experiment, Result
from pcnet.graph import MEASURES, Graph
from pcnet.nn import FilterNet, Model, ModelSettings, filters_of, learned
from pcnet.show import _counts as counts
from pcnet.show import _plot as plot
from pcnet.show import _table as page
from pcnet.show._members import members_of
from pcnet.show._plot import Score, inline
from pcnet.show._table import Cell, Step, Table, soft, strong, with_interval, written
from pcnet.show._verdict import Trust, all_scores, describe_response, warnings

#: Written next to the page: all mistakes, and the picture of the learned filter.
MISTAKES, RESPONSE = "mistakes.csv", "response.png"
#: Mistakes on the page.
SHOWN = 200
#: Metrics that are printed besides the one that counts; the last one for two classes alone.
OTHERS = ("accuracy", "macro_f1", "roc_auc")
#: Classes of a heat map at most.
MAPPED = 100


class Board(NamedTuple):
    """Who came how far where methods competed, and a picture of score against time."""

    table: Table
    picture: str


#: What a score is called, its metric, and its runs or the mean and ± that were printed, if there are any.
Row = tuple[str, Metric, Summary | Sequence[float] | None]


def write_report(
    path: str | Path,
    graph: Graph,
    result: Result,
    *,
    steps: Sequence[Step] = (),
    board: Board | None = None,
    **made: Any,
) -> None:
    """Write what was trained, how well, how far to trust it and why, as one self-contained HTML page.

    Of the nodes only counts and some mistakes go into the page, so its size does not grow with the graph. All mistakes
    are in mistakes.csv next to it, and a filter that was learned in response.png. `steps` are the commands that the
    page offers to go on with; `board` says who came how far, where methods competed; `made` is what `provenance` says:
    command, versions, machine and date.
    """
    path, scored, results, experiment = Path(path), _as_scored(graph, result), counts.tally(result), result.experiment
    around, names = counts.Surroundings.of(scored), scored.class_names
    spoken = [_spoken(name) for name in names]
    each_mistake = partial(counts.mistakes, results, around, scored.y.numpy(), scored.node_names)
    counts.write_mistakes(path.with_name(MISTAKES), each_mistake(names))
    sizes, hashes = zip(*((each.sizes, each.hash) for each in result.splits), strict=True)
    per_run = [written(experiment.scored_by, score) for score in result.headline.per_run]
    content = {
        "title": f"{experiment.title} on {experiment.dataset}",
        "graph": scored,
        "result": result,
        "results": results,
        "around": around,
        "drawn": plot.RUNS,
        "inline": inline,
        "estimated": isinstance(result.headline, Estimate),
        "steps": steps,
        **_scores(result, results, names),
        "confusions": counts.frequent_confusions(results.confusion),
        "spoken": spoken,
        # A heat map has a cell for every pair of classes.
        "mapped": len(names) <= MAPPED,
        "trust": Trust.of(results.calibrated),
        "reliability": plot.reliability_chart(results.as_trained, results.calibrated),
        **_filter(graph, result, path.with_name(RESPONSE)),
        **_surroundings(results, around),
        "mistakes": _mistakes_table(itertools.islice(each_mistake(spoken), SHOWN)),
        "wrong": len(counts.wrong_nodes(results, scored.y.numpy())),
        "mistakes_file": MISTAKES,
        "board": board,
        "members": members_of(experiment) if experiment.per_split else None,
        **(_training(result) if board is None else {}),
        "splits": page.splits_table(experiment.seeds, sizes, hashes, {experiment.scored_by.title: per_run}),
        "notes": list(dict.fromkeys((*graph.notes, *result.notes))),
        **made,
    }
    page.write_page(path, "report.html", content)


def _as_scored(graph: Graph, result: Result) -> Graph:
    """The graph with the labels that the runs are scored with, and a name for every class that they can answer."""
    count = result.outcomes[0].logits.shape[1]
    classes = tuple(graph.classes or range(count))[:count]
    return replace(graph, y=result.splits[0].labels, published_y=None, classes=classes)


def _scores(result: Result, results: counts.Tally, names: Sequence[str]) -> dict[str, Any]:
    """The scores, what to hold them against, and what they come to."""
    experiment, metric, val = result.experiment, result.experiment.scored_by, result.val[result.experiment.metric]
    scores = all_scores(result, results)
    main, classes, tested = scores[0], counts.class_scores(results.confusion, names), int((results.tested > 0).sum())
    lines = [
        Score(experiment.title, main.value, main.interval, ours=True),
        Score("validation", val.mean, val.ci95 if len(val.per_run) > 1 else None),
    ]
    for name, printed in (("the paper", experiment.paper), ("authors' code", experiment.rerun)):
        if printed is not None:
            lines.append(Score(name, printed[0], (printed[0] - printed[1], printed[0] + printed[1])))
    lines.append(Score("a guess", main.guess))
    columns, rows = ("metric", "score", "95\u00a0% interval", "a guess", "what it is"), []
    for each in scores:
        row = [each.metric.title, *(written(each.metric, found) for found in (each.value, each.interval, each.guess))]
        rows.append([*(strong(row) if each is main else row), Cell(each.metric.meaning, "soft")])
    found = sorted((each for each in classes if each.recall is not None), key=lambda each: each.recall or 0)
    missed = [f"“{_spoken(each.name)}” (0 of {each.support:,} nodes)" for each in found if not each.recall]
    largest = next(each.guess for each in scores if each.metric.name == "accuracy")
    return {
        "scores": Table("", columns, rows, words=("what it is",)),
        "main": main,
        "interval": main.interval and " and ".join(written(metric, end) for end in main.interval),
        "warnings": warnings(scores, missed, tested),
        "picture": plot.scores_on_page(lines, metric),
        "tested": tested,
        "least": f"“{_spoken(found[0].name)}” least ({found[0].recall or 0:.0f}\u00a0%)",
        "largest": (_spoken(names[int(results.confusion.sum(axis=1).argmax())]), largest),
        "sizes": np.mean([split.sizes for split in result.splits], axis=0).round().astype(int).tolist(),
        "untested": any(not each.support or each.precision is None for each in classes),
        "class_scores": _class_table(classes, isinstance(result.headline, Estimate)),
    }


def _class_table(classes: Sequence[counts.ClassScore], counted_once: bool) -> Table:
    order = page.numbered([each.name for each in classes])
    rows = [
        [f"{place} {name}" if order else name, *map(page.figure, shares), f"{support:,}"]
        for place, (name, *shares, support) in enumerate(classes, start=1)
    ]
    how = "each counted once" if counted_once else "added up over the runs"
    return Table(f"In percent; “nodes” are test nodes, {how}.", ("class", "precision", "recall", "F1", "nodes"), rows)


def _mistakes_table(found: Iterable[counts.Mistake]) -> Table:
    rows = []
    for node, truth, answer, probability, wrong, times, degree, around in found:
        runs = f"{wrong} of {times} run{'s' if times > 1 else ''}"
        rows.append([node, truth, answer, f"{100 * probability:.1f}\u00a0%", runs, f"{degree:,}", around])
    columns = ("node", "is", "was called", "probability", "wrong in", "neighbours", "of classes")
    return Table("", columns, rows, words=("is", "was called", "of classes"))


def _spoken(name: str) -> str:
    """A class in a sentence: a bare number says that it is one."""
    return f"class {name}" if name.isdecimal() else name


def _filter(graph: Graph, result: Result, path: Path) -> dict[str, Any]:
    experiment, (models, settings) = result.experiment, _whose_filter(result)
    convs = filters_of(models)
    # Splits that chose for themselves have no filter in common.
    if not convs or experiment.per_split:
        edgeless = all(isinstance(model, FilterNet) and model.conv is None for model in models)
        return {"passband": None, "edgeless": edgeless}
    found = learned(convs, settings.operator(graph))
    drawn = plot.filter_chart(found)
    passband, *each = (describe_response(found.lam, g, found.density) for g in (found.mean, *found.responses))
    picture = inline(drawn, f"Learned filter over the eigenvalues of the graph. {passband.sentence}")
    title = f"{experiment.title} on {experiment.dataset} ({experiment.preset}), {len(found.responses)} runs"
    plot.save_filter(drawn, found, path, title)
    alike = sum(own.kind == passband.kind for own in each)
    one_of_many = settings.title if result.weights else ""
    return {
        "passband": passband,
        "alike": alike,
        "laplacian": found.laplacian,
        "filter": picture,
        "filters": len(each),
        "one_of_many": one_of_many,
    }


def _whose_filter(result: Result) -> tuple[Sequence[Model], ModelSettings]:
    """The models of the runs; of an ensemble those of the heaviest member with a filter, or all where none has one."""
    if not result.weights:
        return [outcome.model for outcome in result.outcomes], result.experiment.model
    pairs = [(run.model, outcome.model) for run, outcome in result.predictor]
    chosen = next((settings for settings, model in pairs if filters_of([model])), None)
    return [model for settings, model in pairs if chosen in (settings, None)], chosen or result.experiment.model


def _surroundings(results: counts.Tally, around: counts.Surroundings) -> dict[str, Any]:
    overall = 100 * float(results.right.sum() / results.counted.sum())
    alike = counts.by_likeness(results, around)
    about = "Homophily: how much links agree with classes. Edges count once, in either direction; self loops do not."
    rows = [
        [title, page.figure(getattr(around.homophily, name), 3), Cell(meaning, "soft")]
        for name, (_, title, meaning) in MEASURES.items()
    ]
    return {
        "measures": Table(about, ("measure", "value", "what it is"), rows, words=("what it is",)),
        "by_likeness": alike and plot.bins_chart(alike, overall, "neighbours of the node's own class"),
        "by_degree": plot.bins_chart(counts.by_degree(results, around), overall, "number of neighbours"),
    }


def _training(result: Result) -> dict[str, Any]:
    outcomes, watched = result.outcomes, result.experiment.training.val_metric
    best, scale = [each.best_epoch for each in outcomes], watched.sign * watched.scale
    return {
        "watched": watched,
        "loss_curves": plot.curves_chart([each.val_loss for each in outcomes], best, "validation loss"),
        "score_curves": plot.curves_chart(
            [scale * each.val_score for each in outcomes], best, f"validation {watched.title}{', %' * watched.percent}"
        ),
    }


def graph_words(graph: Graph) -> str:
    """people (1,000 nodes, 12 features, 3 classes)."""
    return f"{graph.name} ({graph.num_nodes:,} nodes, {graph.num_features:,} features, {graph.num_classes} classes)"


def train_headline(graph: Graph, experiment: Experiment) -> str:
    """What is about to be trained, on what."""
    return (
        f"{experiment.title} on {graph_words(graph)}: {experiment.preset}, {experiment.protocol}, "
        f"{len(experiment.seeds)} runs"
    )


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """What has to be known besides."""
    for note in notes:
        console.print(f"note: {note}", style="dim")


def print_scores(console: Console, result: Result) -> None:
    """The figures of a training: those of the paper's protocols as papers have them, others as an estimate."""
    experiment, estimate, runs = result.experiment, result.headline, len(result.outcomes)
    if experiment.per_split:
        console.print("", "Every split has settings that it chose itself:", members_of(experiment).rich(), sep="\n")
    metric, val = experiment.scored_by, result.val[experiment.metric]
    if not isinstance(estimate, Estimate):
        means: list[Row] = [
            ("test", metric, estimate),
            ("paper", metric, experiment.paper),
            ("authors' code, rerun", metric, experiment.rerun),
            ("validation", metric, val),
            *((f"test {other.title}", other, found) for other, found in _shown(result)[1:]),
        ]
        table = runs_table(means, "interval: 95 % bootstrap of the mean; ±: its larger half; std: between runs")
        console.print("", table.rich(), sep="\n")
        return
    gain, spread = "", f" ± {metric.text(estimate.std)} (std)" if runs > 1 else ""
    if estimate.gain:
        more = f"{metric.text(abs(estimate.gain))} {'more' if estimate.gain > 0 else 'less'}"
        gain = (
            f": {metric.text(estimate.measured)}, and {more} for models that know every label, by what they gain on "
            "validation nodes"
        )
    print_estimate(
        console,
        result,
        f"each predicted by the runs that did not know its label{gain}. Single runs: {metric.title} "
        f"{metric.text(sum(estimate.per_run) / runs)}{spread} on test nodes, {metric.text(val.mean)} on validation "
        "nodes, which chose the epochs.",
    )


def print_estimate(console: Console, result: Result, how: str) -> None:
    """What to expect, and how that was measured on labelled nodes."""
    estimate, shown = result.headline, _shown(result)
    what = f"the {estimate.unlabelled:,} nodes without a label" if estimate.unlabelled else "nodes like these"
    rows = [[of.title, of.text(found.mean), with_interval(of, interval=found.ci95)] for of, found in shown]
    table = Table(f"To be expected on {what}", ("", "score", "95 % interval"), [strong(rows[0]), *rows[1:]])
    nodes = estimate.nodes or len(result.splits[0].test)
    console.print("", table.rich(), "", f"Measured on {nodes:,} labelled nodes, {how}", sep="\n")


def _shown(result: Result) -> list[tuple[Metric, Summary]]:
    """The metric that counts, and others that people ask for."""
    usual = OTHERS if result.outcomes[0].logits.shape[1] == 2 else OTHERS[:-1]
    names = dict.fromkeys([result.experiment.metric, *(name for name in usual if name in result.test)])
    return [(METRICS[name], result.test[name]) for name in names]


def runs_table(rows: Sequence[Row], note: str) -> Table:
    """A row for each score that there is; those that took no part in choosing anything are soft."""
    cells = []
    for name, metric, found in rows:
        if isinstance(found, Summary):
            mean, half, std = map(metric.text, (found.mean, found.half_width, found.std))
            row = [name, mean, with_interval(metric, interval=found.ci95), half, std]
            cells.append(soft(row) if "published" in name or "by test" in name else row)
        elif found is not None:
            cells.append(soft([name, f"{found[0]:.2f}", "", f"{found[1]:.2f}", ""]))
    title = page.with_unit(rows[0][1])
    return Table(title[:1].upper() + title[1:], ("", "mean", "interval", "±", "std"), cells, (note,))
