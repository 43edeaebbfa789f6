"""What `pcnet train` says about a training on the screen."""

from __future__ import annotations

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from pcnet._machine import device_note
from pcnet.evaluation import METRICS, Summary
from pcnet.experiments import Estimate, Experiment, Result
from pcnet.graph import Graph

#: Metrics that are shown beside the one that counts.
BESIDE = ("accuracy", "macro_f1", "roc_auc")


def headline(graph: Graph, experiment: Experiment, device: str) -> str:
    """What is about to be trained, on what."""
    return (
        f"{experiment.title} on {experiment.dataset} ({graph.num_nodes:,} nodes, {graph.num_features:,} features, "
        f"{graph.num_classes} classes): {experiment.preset}, {experiment.protocol}, {len(experiment.seeds)} runs"
        f"{device_note(device)}"
    )


def metric_note(graph: Graph, experiment: Experiment) -> str:
    """Why a metric was chosen that nobody asked for."""
    labels = graph.y[graph.y >= 0]
    counts = labels.bincount()
    largest = int(counts.argmax())
    return (
        f"Scored by {experiment.scored_by.title}, because '{graph.class_names[largest]}' has "
        f"{100 * int(counts[largest]) / len(labels):.0f} % of the labels; --metric accuracy changes that."
    )


def show_scores(console: Console, result: Result) -> None:
    """The figures of a training: those of the paper's protocols as papers have them, others as an estimate."""
    if isinstance(result.headline, Estimate):
        _show_estimate(console, result, result.headline)
    else:
        console.print(_of_runs(result))


def _show_estimate(console: Console, result: Result, estimate: Estimate) -> None:
    what = f"the {estimate.unlabelled:,} nodes without a label" if estimate.unlabelled else "nodes like these"
    console.print(f"\nTo be expected on {what}", highlight=False, style="italic")
    table = Table(box=SIMPLE)
    for column in ("", "score", "95 % interval"):
        table.add_column(column, justify="left" if column == "" else "right", no_wrap=True)
    for name in _shown(result):
        figures = result.test[name]
        table.add_row(
            METRICS[name].title, *_figures(figures)[:2], style="bold" if name == result.experiment.metric else None
        )
    console.print(table)
    metric, runs = result.experiment.scored_by, len(result.outcomes)
    single = f"{sum(estimate.per_run) / runs:.2f}"
    spread = f" ± {estimate.std:.2f} (std)" if runs > 1 else ""
    console.print(
        f"Measured on {estimate.nodes:,} labelled nodes, each predicted by the runs that did not know its label"
        f"{_gain(estimate)}. "
        f"Single runs: {metric.title} {single}{spread} on test nodes, {result.val[metric.name].mean:.2f} on validation "
        "nodes, which chose the epochs.",
        highlight=False,
    )


def _gain(estimate: Estimate) -> str:
    if not estimate.gain:
        return ""
    return (
        f": {estimate.measured:.2f}, and {abs(estimate.gain):.2f} {'more' if estimate.gain > 0 else 'less'} for models "
        "that know every label, by what they gain on validation nodes"
    )


def _of_runs(result: Result) -> Table:
    """Means over runs, as in the tables of papers."""
    experiment = result.experiment
    metric = experiment.scored_by
    caption = "interval: 95 % bootstrap of the mean; ±: its larger half; std: between runs"
    title = f"{metric.title[0].upper()}{metric.title[1:]}{' in percent' if metric.percent else ''}"
    table = Table(box=SIMPLE, title=title, caption=caption, title_justify="left", caption_justify="left")
    for column in ("", "mean", "interval", "±", "std"):
        table.add_column(column, justify="left" if column == "" else "right", no_wrap=True)
    table.add_row("test", *_figures(result.headline))
    for name, figure in (("paper", experiment.paper), ("authors' code, rerun", experiment.rerun)):
        if figure is not None:
            table.add_row(name, f"{figure[0]:.2f}", "", f"{figure[1]:.2f}", "", style="dim")
    table.add_row("validation", *_figures(result.val[experiment.metric]))
    for name in _shown(result)[1:]:
        table.add_row(f"test {METRICS[name].title}", *_figures(result.test[name]))
    return table


def _shown(result: Result) -> list[str]:
    """Names of the metrics that have a row, the one that counts first; ROC-AUC is usual for two classes alone."""
    two = result.outcomes[0].logits.shape[1] == 2
    beside = [name for name in BESIDE if name in result.test and (two or name != "roc_auc")]
    return list(dict.fromkeys([result.experiment.metric, *beside]))


def _figures(summary: Summary) -> tuple[str, str, str, str]:
    low, high = summary.ci95
    return f"{summary.mean:.2f}", f"[{low:.2f}, {high:.2f}]", f"{summary.half_width:.2f}", f"{summary.std:.2f}"
