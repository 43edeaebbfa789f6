"""The report of a training: one HTML file that needs nothing but itself."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pcnet.experiment import Estimate, Result
from pcnet.graph import Graph
from pcnet.nn import FilterNet, filters_of, learned
from pcnet.show import _charts as charts
from pcnet.show import _counts as counts
from pcnet.show._passband import describe_response
from pcnet.show._plot import inline
from pcnet.show._scores import Score, digits
from pcnet.show._table import Cell, Table, strong
from pcnet.show._template import FEW, Step, figure, flat, heatmap, numbered, splits_table, write_page, written
from pcnet.show._verdict import Scored, Trust, all_scores, warnings

#: Written next to the page: all mistakes, and the picture of the learned filter.
MISTAKES, RESPONSE = "mistakes.csv", "response.png"
#: Mistakes on the page.
SHOWN = 200


def write_report(path: str | Path, graph: Graph, result: Result, *, steps: Sequence[Step] = (), **made: Any) -> None:
    """Write what was trained, how well, how far to trust it and why, as one self-contained HTML page.

    Of the nodes only counts and some mistakes go into the page, so its size does not grow with the graph. All mistakes
    are in mistakes.csv next to it, and a filter that was learned in response.png. `steps` are the commands that the
    page offers to go on with; `made` is what `provenance` says: command, versions, machine and date.
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
        "experiment": experiment,
        "metric": experiment.scored_by,
        "digits": digits(experiment.scored_by),
        "runs": len(result.outcomes),
        "drawn": charts.RUNS,
        "headline": result.headline,
        "estimated": isinstance(result.headline, Estimate),
        "steps": steps,
        **_scores(result, results, names),
        "confusion": heatmap(results.confusion, names, "true", "answer", "Confusion matrix: true classes by answers"),
        "confusions": counts.frequent_confusions(results.confusion),
        "spoken": spoken,
        "numbered": numbered(names),
        "many": len(names) > FEW,
        "trust": Trust.of(results.calibrated),
        "reliability": inline(
            charts.reliability_chart(results.as_trained, results.calibrated),
            f"Reliability diagram; expected calibration error {100 * results.as_trained.error:.1f} points, "
            f"{100 * results.calibrated.error:.1f} after scaling",
        ),
        **_filter(graph, result, path.with_name(RESPONSE)),
        **_surroundings(scored, results, around),
        "mistakes": _mistakes_table(itertools.islice(each_mistake(spoken), SHOWN)),
        "wrong": len(counts.wrong_nodes(results, scored.y.numpy())),
        "mistakes_file": MISTAKES,
        **_training(result),
        "splits": splits_table(experiment.seeds, sizes, hashes, {experiment.scored_by.title: per_run}),
        "settings": flat(experiment.settings),
        "notes": list(dict.fromkeys((*graph.notes, *result.notes))),
        **made,
    }
    write_page(path, "report.html", content)


def _as_scored(graph: Graph, result: Result) -> Graph:
    """The graph with the labels that the runs are scored with, and a name for every class that they can answer."""
    classes = range(result.outcomes[0].logits.shape[1]) if graph.classes is None else graph.classes
    kept = tuple(classes)[: result.outcomes[0].logits.shape[1]]
    return replace(graph, y=result.splits[0].labels, published_y=None, classes=kept)


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
    found = sorted((each for each in classes if each.recall is not None), key=lambda each: each.recall or 0)
    missed = [f"“{_spoken(each.name)}” (0 of {each.support:,} nodes)" for each in found if not each.recall]
    largest = next(each.guess for each in scores if each.metric.name == "accuracy")
    return {
        "scores": _scores_table(scores),
        "main": main,
        "interval": main.interval and " and ".join(written(metric, end) for end in main.interval),
        "warnings": warnings(scores, missed, tested),
        "picture": charts.scores_on_page(lines, metric),
        "tested": tested,
        "least": f"“{_spoken(found[0].name)}” least ({found[0].recall or 0:.0f}\u00a0%)",
        "largest": (_spoken(names[int(results.confusion.sum(axis=1).argmax())]), largest),
        "sizes": np.mean([split.sizes for split in result.splits], axis=0).round().astype(int).tolist(),
        "untested": any(not each.support or each.precision is None for each in classes),
        "class_scores": _class_table(classes, isinstance(result.headline, Estimate)),
    }


def _scores_table(scores: Sequence[Scored]) -> Table:
    rows = []
    for each in scores:
        figures = (written(each.metric, value) for value in (each.value, each.interval, each.guess))
        row = [each.metric.title, *figures]
        rows.append([*(strong(row) if each is scores[0] else row), Cell(each.meaning, "soft")])
    columns = ("metric", "score", "95\u00a0% interval", "a guess", "what it is")
    return Table("", columns, rows, words=("what it is",))


def _class_table(classes: Sequence[counts.ClassScore], counted_once: bool) -> Table:
    order = numbered([each.name for each in classes])
    rows = [
        [f"{place} {name}" if order else name, *map(figure, shares), f"{support:,}"]
        for place, (name, *shares, support) in enumerate(classes, start=1)
    ]
    how = "each counted once" if counted_once else "added up over the runs"
    title = f"In percent; “nodes” are test nodes, {how}."
    return Table(title, ("class", "precision", "recall", "F1", "nodes"), rows)


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
    experiment, model = result.experiment, result.outcomes[0].model
    convs = filters_of(outcome.model for outcome in result.outcomes)
    if not convs:
        return {"passband": None, "edgeless": isinstance(model, FilterNet) and model.conv is None}
    found = learned(convs, experiment.model.operator(graph))
    drawn = charts.filter_chart(found)
    passband, *each = (describe_response(found.lam, g, found.density) for g in (found.mean, *found.responses))
    picture = inline(drawn, f"Learned filter over the eigenvalues of the graph. {passband.sentence}")
    title = f"{experiment.title} on {experiment.dataset} ({experiment.preset}), {len(found.responses)} runs"
    charts.save_filter(drawn, found, path, title)
    alike = sum(own.kind == passband.kind for own in each)
    return {"passband": passband, "alike": alike, "laplacian": found.laplacian, "filter": picture}


def _surroundings(graph: Graph, results: counts.Tally, around: counts.Surroundings) -> dict[str, Any]:
    overall = 100 * float(results.right.sum() / results.counted.sum())
    label = "Class mixing: neighbours' classes by class"
    likeness, degree = counts.by_likeness(results, around), counts.by_degree(results, around)
    alike = charts.bins_chart(likeness, overall, "neighbours of the node's own class") if likeness else None
    linked = charts.bins_chart(degree, overall, "number of neighbours")
    title = "Homophily: how much links agree with classes. Edges count once, in either direction; self loops do not."
    rows = [
        [counts.measure_name(name), figure(getattr(around.homophily, name), 3), Cell(meaning, "soft")]
        for name, meaning in counts.MEANINGS.items()
    ]
    return {
        "edges": around.edges,
        "measures": Table(title, ("measure", "value", "what it is"), rows, words=("what it is",)),
        "mixing": around.mixing.any()
        and heatmap(around.mixing, graph.class_names, "class", "neighbours' class", label),
        "by_likeness": alike and inline(alike, "Accuracy by a node's own homophily"),
        "by_degree": inline(linked, "Accuracy by number of neighbours"),
    }


def _training(result: Result) -> dict[str, Any]:
    best = [outcome.best_epoch for outcome in result.outcomes]
    losses = [outcome.val_loss for outcome in result.outcomes]
    metric = result.experiment.training.val_metric
    scale, unit = (100, ", %") if metric.percent else (1, "")
    scores = [scale * outcome.val_score for outcome in result.outcomes]

    def curves(each: Sequence[Any], name: str, unit: str = "") -> str:
        picture = charts.curves_chart(each, best, f"validation {name}{unit}")
        return inline(picture, f"Validation {name} over the epochs of each run")

    return {
        "epochs": [*map(len, losses)],
        "best": best,
        "loss_curves": curves(losses, "loss"),
        "score_curves": curves(scores, metric.title, unit),
    }
