"""The report of a training: one HTML file that needs nothing but itself."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pcnet.experiment import Estimate, Result
from pcnet.graph import Graph
from pcnet.nn import FilterNet, filters_of, learned
from pcnet.show._charts import (
    RUNS,
    bins_chart,
    curves_chart,
    filter_chart,
    reliability_chart,
    save_filter,
    scores_chart,
)
from pcnet.show._headline import Scored, all_scores, warnings
from pcnet.show._heatmap import FEW, heatmap, numbered
from pcnet.show._mistakes import SHOWN, Mistake, mistakes, write_mistakes, wrong_nodes
from pcnet.show._passband import describe_response
from pcnet.show._plot import inline
from pcnet.show._scores import Score
from pcnet.show._surroundings import MEANINGS, Surroundings, by_degree, by_likeness, measure_name
from pcnet.show._table import Cell, Table, strong
from pcnet.show._tally import ClassScore, Tally, class_scores, frequent_confusions, tally
from pcnet.show._template import figure, flat, splits_table, write_page, written
from pcnet.show._trust import Trust

#: Written next to the page: all mistakes, and the picture of the learned filter.
MISTAKES, RESPONSE = "mistakes.csv", "response.png"


class Step(NamedTuple):
    """What could be done next, and the command that does it."""

    what: str
    command: str


def write_report(
    path: str | Path,
    graph: Graph,
    result: Result,
    *,
    command: str,
    versions: Mapping[str, str],
    machine: str,
    date: str,
    steps: Sequence[Step] = (),
) -> None:
    """Write what was trained, how well, how far to trust it and why, as one self-contained HTML page.

    Of the nodes only counts and some mistakes go into the page, so its size does not grow with the graph. All mistakes
    are in mistakes.csv next to it, and a filter that was learned in response.png. `steps` are the commands that the
    page offers to go on with.
    """
    path, scored, results = Path(path), _as_scored(graph, result), tally(result)
    around = Surroundings.of(scored)
    each_mistake = partial(mistakes, results, around, scored.y.numpy(), scored.node_names)
    write_mistakes(path.with_name(MISTAKES), each_mistake(scored.class_names))
    content = {
        "title": f"{result.experiment.title} on {result.experiment.dataset}",
        "graph": scored,
        "result": result,
        "experiment": result.experiment,
        "metric": result.experiment.scored_by,
        "runs": len(result.outcomes),
        "drawn": min(RUNS, len(result.outcomes)),
        "headline": result.headline,
        "estimated": isinstance(result.headline, Estimate),
        "steps": steps,
        **_scores(result, results, scored.class_names),
        **_classes(scored, results),
        **_trust(results),
        **_filter(graph, result, path.with_name(RESPONSE)),
        **_surroundings(scored, results, around),
        "mistakes": _mistakes_table(itertools.islice(each_mistake([_spoken(n) for n in scored.class_names]), SHOWN)),
        "wrong": len(wrong_nodes(results, scored.y.numpy())),
        "mistakes_file": MISTAKES,
        **_training(result),
        "splits": _splits(result),
        "settings": flat(result.experiment.settings),
        "notes": list(dict.fromkeys((*graph.notes, *result.notes))),
        "command": command,
        "versions": versions,
        "machine": machine,
        "date": date,
    }
    write_page(path, "report.html", content)


def _as_scored(graph: Graph, result: Result) -> Graph:
    """The graph with the labels that the runs are scored with, and a name for every class that they can answer."""
    classes = range(result.outcomes[0].logits.shape[1]) if graph.classes is None else graph.classes
    kept = tuple(classes)[: result.outcomes[0].logits.shape[1]]
    return replace(graph, y=result.splits[0].labels, published_y=None, classes=kept)


def _scores(result: Result, results: Tally, names: Sequence[str]) -> dict[str, Any]:
    """The scores, what to hold them against, and what they come to."""
    experiment, metric, val = result.experiment, result.experiment.scored_by, result.val[result.experiment.metric]
    scores = all_scores(result, results)
    main, classes = scores[0], class_scores(results.confusion, names)
    lines = [
        Score(experiment.title, main.value, main.interval, ours=True),
        Score("validation", val.mean, val.ci95 if len(val.per_run) > 1 else None),
    ]
    for name, printed in (("the paper", experiment.paper), ("authors' code", experiment.rerun)):
        if printed is not None:
            lines.append(Score(name, printed[0], (printed[0] - printed[1], printed[0] + printed[1])))
    lines.append(Score("a guess", main.guess))
    label = f"{metric.title}: {', '.join(f'{each.name} {written(metric, each.value)}' for each in lines)}"
    found = sorted((each for each in classes if each.recall is not None), key=lambda each: each.recall or 0)
    missed = [f"“{_spoken(each.name)}” (0 of {each.support:,} nodes)" for each in found if not each.recall]
    tested = int((results.tested > 0).sum())
    largest = next(each.guess for each in scores if each.metric.name == "accuracy")
    return {
        "scores": _scores_table(scores),
        "main": main,
        "interval": main.interval and " and ".join(written(metric, end) for end in main.interval),
        "warnings": warnings(scores, missed, tested),
        "picture": inline(scores_chart(lines, metric), label),
        "tested": tested,
        "least": f"“{_spoken(found[0].name)}” least ({found[0].recall or 0:.0f}\u00a0%)",
        "largest": (_spoken(names[int(results.confusion.sum(axis=1).argmax())]), largest),
        "sizes": np.mean([split.sizes for split in result.splits], axis=0).round().astype(int).tolist(),
        "untested": any(not each.support or each.precision is None for each in classes),
        "class_scores": _class_table(classes, isinstance(result.headline, Estimate)),
    }


def _classes(graph: Graph, results: Tally) -> dict[str, Any]:
    names, spoken = graph.class_names, [_spoken(name) for name in graph.class_names]
    picture = {"rows": "true", "columns": "answer", "label": "Confusion matrix: true classes by answers"}
    return {
        "confusion": heatmap(results.confusion, names, **picture),
        "confusions": [
            (spoken[true], spoken[answer], count, int(results.confusion[true].sum()))
            for true, answer, count in frequent_confusions(results.confusion)
        ],
        "spoken": spoken,
        "numbered": numbered(names),
        "many": len(names) > FEW,
    }


def _scores_table(scores: Sequence[Scored]) -> Table:
    rows = []
    for each in scores:
        interval = written(each.metric, each.interval) if each.interval else "–"
        row = [each.metric.title, written(each.metric, each.value), interval, written(each.metric, each.guess)]
        rows.append([*(strong(row) if each is scores[0] else row), Cell(each.meaning, "soft")])
    columns = ("metric", "score", "95\u00a0% interval", "a guess", "what it is")
    return Table("", columns, rows, words=("what it is",))


def _splits(result: Result) -> Table:
    metric, splits = result.experiment.scored_by, result.splits
    scores = [written(metric, score) for score in result.headline.per_run]
    sizes, hashes = [split.sizes for split in splits], [split.hash for split in splits]
    return splits_table(result.experiment.seeds, sizes, hashes, {metric.title: scores})


def _class_table(classes: Sequence[ClassScore], counted_once: bool) -> Table:
    order = numbered([each.name for each in classes])
    names = [f"{place} {each.name}" if order else each.name for place, each in enumerate(classes, start=1)]
    rows = [
        [name, figure(each.precision), figure(each.recall), figure(each.f1), f"{each.support:,}"]
        for name, each in zip(names, classes, strict=True)
    ]
    how = "each counted once" if counted_once else "added up over the runs"
    title = f"In percent; “nodes” are test nodes, {how}."
    return Table(title, ("class", "precision", "recall", "F1", "nodes"), rows)


def _mistakes_table(found: Iterable[Mistake]) -> Table:
    rows = [
        [
            each.node,
            each.truth,
            each.answer,
            f"{100 * each.probability:.1f}\u00a0%",
            f"{each.wrong} of {each.times} run{'s' if each.times > 1 else ''}",
            f"{each.degree:,}",
            each.around,
        ]
        for each in found
    ]
    columns = ("node", "is", "was called", "probability", "wrong in", "neighbours", "of classes")
    return Table("", columns, rows, words=("is", "was called", "of classes"))


def _spoken(name: str) -> str:
    """A class in a sentence: a bare number says that it is one."""
    return f"class {name}" if name.isdecimal() else name


def _trust(results: Tally) -> dict[str, Any]:
    trust, before = Trust.of(results.calibrated), 100 * results.as_trained.error
    label = f"Reliability diagram; expected calibration error {before:.1f} points, {trust.error:.1f} after scaling"
    return {
        "trust": trust,
        "error_before": before,
        "temperatures": (min(results.temperatures), max(results.temperatures)),
        "reliability": inline(reliability_chart(results.as_trained, results.calibrated), label),
    }


def _filter(graph: Graph, result: Result, path: Path) -> dict[str, Any]:
    convs = filters_of(outcome.model for outcome in result.outcomes)
    if not convs:
        model = result.outcomes[0].model
        return {"passband": None, "edgeless": isinstance(model, FilterNet) and model.conv is None}
    experiment = result.experiment
    found = learned(convs, experiment.model.operator(graph))
    drawn = filter_chart(found)
    passband = describe_response(found.lam, found.mean, found.density)
    picture = inline(drawn, f"Learned filter over the eigenvalues of the graph. {passband.sentence}")
    title = f"{experiment.title} on {experiment.dataset} ({experiment.preset}), {len(found.responses)} runs"
    save_filter(drawn, found, path, title)
    each = [describe_response(found.lam, response, found.density).kind for response in found.responses]
    return {
        "passband": passband,
        "alike": each.count(passband.kind),
        "laplacian": found.laplacian,
        "filter": picture,
    }


def _surroundings(graph: Graph, results: Tally, around: Surroundings) -> dict[str, Any]:
    names, overall = graph.class_names, 100 * float(results.right.sum() / results.counted.sum())
    picture = {"rows": "class", "columns": "neighbours' class", "label": "Class mixing: neighbours' classes by class"}
    likeness, degree = by_likeness(results, around), by_degree(results, around)
    return {
        "edges": around.edges,
        "measures": _measures(around),
        "mixing": heatmap(around.mixing, names, **picture) if around.mixing.any() else None,
        "by_likeness": likeness
        and inline(
            bins_chart(likeness, overall, "neighbours of the node's own class"), "Accuracy by a node's own homophily"
        ),
        "by_degree": inline(bins_chart(degree, overall, "number of neighbours"), "Accuracy by number of neighbours"),
    }


def _measures(around: Surroundings) -> Table:
    rows = [
        [measure_name(name), figure(getattr(around.homophily, name), 3), Cell(meaning, "soft")]
        for name, meaning in MEANINGS.items()
    ]
    title = "Homophily: how much links agree with classes. Edges count once, in either direction; self loops do not."
    return Table(title, ("measure", "value", "what it is"), rows, words=("what it is",))


def _training(result: Result) -> dict[str, Any]:
    best = [outcome.best_epoch for outcome in result.outcomes]
    losses = [outcome.val_loss for outcome in result.outcomes]
    metric = result.experiment.training.val_metric
    scale, unit = (100, ", %") if metric.percent else (1, "")
    curves = [scale * outcome.val_score for outcome in result.outcomes]
    name = f"validation {metric.title}"
    return {
        "epochs": (min(map(len, losses)), max(map(len, losses))),
        "best": (min(best), max(best)),
        "loss_curves": inline(
            curves_chart(losses, best, "validation loss"), "Validation loss over the epochs of each run"
        ),
        "score_curves": inline(curves_chart(curves, best, name + unit), f"V{name[1:]} over the epochs of each run"),
    }
