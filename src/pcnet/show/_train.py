"""What `pcnet train` shows of a training on the screen."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from pcnet._machine import device_note
from pcnet.compare import METRICS, Metric, Summary
from pcnet.experiment import Estimate, Experiment, Result
from pcnet.graph import Graph
from pcnet.show._table import Table, soft, strong
from pcnet.show._template import capitalised, with_interval

#: Metrics that are shown besides the one that counts.
OTHERS = ("accuracy", "macro_f1", "roc_auc")


def graph_words(graph: Graph) -> str:
    """people (1,000 nodes, 12 features, 3 classes)."""
    counts = f"{graph.num_nodes:,} nodes, {graph.num_features:,} features, {graph.num_classes} classes"
    return f"{graph.name} ({counts})"


def train_headline(graph: Graph, experiment: Experiment, device: str) -> str:
    """What is about to be trained, on what."""
    return (
        f"{experiment.title} on {graph_words(graph)}: {experiment.preset}, {experiment.protocol}, "
        f"{len(experiment.seeds)} runs{device_note(device)}"
    )


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """What has to be known besides."""
    for note in notes:
        console.print(f"note: {note}", style="dim", highlight=False, markup=False)


def print_scores(console: Console, result: Result) -> None:
    """The figures of a training: those of the paper's protocols as papers have them, others as an estimate."""
    shown = _shown(result)
    if not isinstance(result.headline, Estimate):
        console.print("", _of_runs(result, shown).rich(), sep="\n")
        return
    estimate = result.headline
    what = f"the {estimate.unlabelled:,} nodes without a label" if estimate.unlabelled else "nodes like these"
    rows = [[METRICS[name].title, *_figures(METRICS[name], result.test[name])[:2]] for name in shown]
    table = Table(f"To be expected on {what}", ("", "score", "95 % interval"), [strong(rows[0]), *rows[1:]])
    console.print("", table.rich(), "", sep="\n")
    metric, runs = result.experiment.scored_by, len(result.outcomes)
    spread = f" ± {metric.text(estimate.std)} (std)" if runs > 1 else ""
    console.print(
        f"Measured on {estimate.nodes:,} labelled nodes, each predicted by the runs that did not know its label"
        f"{_gain(metric, estimate)}. Single runs: {metric.title} {metric.text(sum(estimate.per_run) / runs)}{spread} "
        f"on test nodes, {metric.text(result.val[metric.name].mean)} on validation nodes, which chose the epochs.",
        highlight=False,
    )


def _gain(metric: Metric, estimate: Estimate) -> str:
    if not estimate.gain:
        return ""
    measured, more = metric.text(estimate.measured), metric.text(abs(estimate.gain))
    return (
        f": {measured}, and {more} {'more' if estimate.gain > 0 else 'less'} for models that know every label, by what "
        "they gain on validation nodes"
    )


def _of_runs(result: Result, shown: list[str]) -> Table:
    """Means over runs, as in the tables of papers."""
    experiment, metric = result.experiment, result.experiment.scored_by
    rows = [["test", *_figures(metric, result.headline)]]
    for name, printed in (("paper", experiment.paper), ("authors' code, rerun", experiment.rerun)):
        if printed is not None:
            rows.append(soft([name, f"{printed[0]:.2f}", "", f"{printed[1]:.2f}", ""]))
    rows.append(["validation", *_figures(metric, result.val[experiment.metric])])
    rows += [[f"test {METRICS[name].title}", *_figures(METRICS[name], result.test[name])] for name in shown[1:]]
    title = f"{capitalised(metric.title)}{' in percent' if metric.percent else ''}"
    note = "interval: 95 % bootstrap of the mean; ±: its larger half; std: between runs"
    return Table(title, ("", "mean", "interval", "±", "std"), rows, (note,))


def _shown(result: Result) -> list[str]:
    """Names of the metrics that have a row, the one that counts first; ROC-AUC is usual for two classes alone."""
    two = result.outcomes[0].logits.shape[1] == 2
    others = [name for name in OTHERS if name in result.test and (two or name != "roc_auc")]
    return list(dict.fromkeys([result.experiment.metric, *others]))


def _figures(metric: Metric, summary: Summary) -> tuple[str, str, str, str]:
    mean, half, std = map(metric.text, (summary.mean, summary.half_width, summary.std))
    return mean, with_interval(metric, None, summary.ci95), half, std
