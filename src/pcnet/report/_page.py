"""The report of a training: one HTML file that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from pcnet._files import write_text
from pcnet.evaluation import wilson
from pcnet.experiments import Result
from pcnet.graph import Graph
from pcnet.nn import FilterNet
from pcnet.report._charts import RUNS, Score, bins_chart, curves_chart, filter_chart, reliability_chart, score_line
from pcnet.report._heatmap import FEW, heatmap, numbered
from pcnet.report._learned import learned_filters
from pcnet.report._mistakes import confident_mistakes
from pcnet.report._passband import describe_response
from pcnet.report._surroundings import Surroundings, by_degree, by_likeness, homophily_measures
from pcnet.report._tally import Tally, class_scores, frequent_confusions, tally


def write_report(
    path: str | Path,
    graph: Graph,
    result: Result,
    *,
    command: str,
    versions: Mapping[str, str],
    machine: str,
    date: str,
) -> None:
    """Write what was trained, how well, how far to trust it and why, as one self-contained HTML page.

    Of the nodes only counts and a handful of mistakes go into the page, so its size does not grow with the graph.
    """
    scored = _as_scored(graph, result)
    results = tally(result)
    content = {
        "title": f"{result.experiment.title} on {result.experiment.dataset}",
        "graph": scored,
        "result": result,
        "experiment": result.experiment,
        "runs": len(result.outcomes),
        "drawn": min(RUNS, len(result.outcomes)),
        "accuracy": result.test["accuracy"],
        "style": _resource("style.css"),
        **_scores(result, results),
        **_classes(scored, results),
        **_trust(results),
        **_filter(graph, result),
        **_surroundings(scored, results),
        **_training(result),
        "settings": _flat(result.experiment.settings),
        "notes": list(dict.fromkeys((*graph.notes, *result.notes))),
        "command": command,
        "versions": versions,
        "machine": machine,
        "date": date,
    }
    # Names that came out of a damaged file may hold halves of characters; they become question marks.
    write_text(path, _rendered(content).encode("utf-8", "replace").decode("utf-8"))


def _as_scored(graph: Graph, result: Result) -> Graph:
    """The graph with the labels that the runs are scored with, and a name for every class that they can answer."""
    classes = range(result.outcomes[0].logits.shape[1]) if graph.classes is None else graph.classes
    kept = tuple(classes)[: result.outcomes[0].logits.shape[1]]
    return replace(graph, y=result.splits[0].labels, published_y=None, classes=kept)


def _scores(result: Result, results: Tally) -> dict[str, Any]:
    """Test accuracy and what to hold it against; of a single run the interval is that of a share of its nodes."""
    experiment, accuracy = result.experiment, result.test["accuracy"]
    runs = len(result.outcomes)
    if runs > 1:
        interval = accuracy.ci95
    else:
        low, high = wilson(accuracy.mean / 100, len(result.splits[0].test))
        interval = (100 * low, 100 * high)
    majority = float(np.mean([_majority(split.labels[split.test].numpy()) for split in result.splits]))
    scores = [
        Score(experiment.title, accuracy.mean, interval, ours=True),
        Score("validation", result.val["accuracy"].mean, result.val["accuracy"].ci95 if runs > 1 else None),
    ]
    for name, figure in (("the paper", experiment.paper), ("authors' code", experiment.rerun)):
        if figure is not None:
            scores.append(Score(name, figure[0], (figure[0] - figure[1], figure[0] + figure[1])))
    scores.append(Score("largest class", majority))
    label = f"Accuracy in percent: {', '.join(f'{each.name} {each.value:.1f}' for each in scores)}"
    tests = [len(split.test) for split in result.splits]
    return {
        "interval": interval,
        "majority": majority,
        "score_line": score_line(scores, label),
        "test_nodes": round(float(np.mean(tests))),
        "distinct": int((results.times > 0).sum()),
    }


def _majority(labels: np.ndarray) -> float:
    return 100.0 * float(np.bincount(labels).max()) / len(labels)


def _classes(graph: Graph, results: Tally) -> dict[str, Any]:
    names = graph.class_names
    picture = {"rows": "true", "columns": "answer", "label": "Confusion matrix: true classes by answers"}
    return {
        "class_scores": class_scores(results.confusion, names),
        "confusion": heatmap(results.confusion, names, **picture),
        "confusions": [
            (_spoken(names[true]), _spoken(names[answer]), count, int(results.confusion[true].sum()))
            for true, answer, count in frequent_confusions(results.confusion)
        ],
        "numbered": numbered(names),
        "many": len(names) > FEW,
    }


def _spoken(name: str) -> str:
    """A class in a sentence: a bare number says that it is one."""
    return f"class {name}" if name.isdecimal() else name


def _trust(results: Tally) -> dict[str, Any]:
    before, after = 100 * results.as_trained.error, 100 * results.calibrated.error
    confidence, accuracy, count = (
        np.array(getattr(results.as_trained, name)) for name in ("confidence", "accuracy", "count")
    )
    surplus = 100 * float((confidence - accuracy) @ count / count.sum())
    label = f"Reliability diagram; expected calibration error {before:.1f} points, {after:.1f} after scaling"
    return {
        "ece": (before, after),
        "surplus": surplus,
        "temperatures": (min(results.temperatures), max(results.temperatures)),
        "reliability": reliability_chart(results.as_trained, results.calibrated, label),
    }


def _filter(graph: Graph, result: Result) -> dict[str, Any]:
    found = learned_filters(graph, result)
    if found is None:
        model = result.outcomes[0].model
        return {"passband": None, "edgeless": isinstance(model, FilterNet) and model.conv is None}
    passband = describe_response(found.lam, found.mean, found.density)
    each = [describe_response(found.lam, response, found.density).kind for response in found.responses]
    return {
        "passband": passband,
        "alike": each.count(passband.kind),
        "laplacian": found.laplacian,
        "filter": filter_chart(found, f"Learned filter over the eigenvalues of the graph. {passband.sentence}"),
    }


def _surroundings(graph: Graph, results: Tally) -> dict[str, Any]:
    around, names = Surroundings.of(graph), graph.class_names
    overall = 100 * float(results.right.sum() / results.times.sum())
    picture = {"rows": "class", "columns": "neighbours' class", "label": "Class mixing: neighbours' classes by class"}
    likeness, degree = by_likeness(results, around), by_degree(results, around)
    return {
        "edges": around.edges,
        "measures": homophily_measures(around),
        "mixing": heatmap(around.mixing, names, **picture) if around.mixing.any() else None,
        "by_likeness": likeness
        and bins_chart(likeness, overall, "neighbours of the node's own class", "Accuracy by a node's own homophily"),
        "by_degree": bins_chart(degree, overall, "number of neighbours", "Accuracy by number of neighbours"),
        "mistakes": confident_mistakes(
            results, around, graph.y.numpy(), graph.node_names, [_spoken(name) for name in names]
        ),
    }


def _training(result: Result) -> dict[str, Any]:
    best = [outcome.best_epoch for outcome in result.outcomes]
    losses = [outcome.val_loss for outcome in result.outcomes]
    accuracies = [100 * outcome.val_score for outcome in result.outcomes]
    return {
        "epochs": (min(map(len, losses)), max(map(len, losses))),
        "best": (min(best), max(best)),
        "loss_curves": curves_chart(losses, best, "validation loss", "Validation loss over the epochs of each run"),
        "accuracy_curves": curves_chart(
            accuracies, best, "validation accuracy, %", "Validation accuracy over the epochs of each run"
        ),
    }


def _flat(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings under the names of `--set`: lr.theta for the entry theta of lr."""
    flat: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat |= {f"{key}.{inner}": str(each) for inner, each in value.items()}
        else:
            flat[key] = str(value)
    return flat


def _rendered(content: Mapping[str, Any]) -> str:
    # Imported here: commands that write no report need not wait for it.
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["score"] = _figure
    environment.globals["zip"] = zip
    environment.filters["number"] = lambda value: f"{value:,}"
    return environment.from_string(_resource("report.html")).render(content)


def _figure(value: float | None, digits: int = 1) -> str:
    """A number as a table shows it; nothing is –, and zero has no sign."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text.replace("-", "" if float(text) == 0 else "−")


def _resource(name: str) -> str:
    return files("pcnet.report").joinpath(name).read_text(encoding="utf-8")
