"""What `pcnet train` says about a training on the screen."""

from __future__ import annotations

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from pcnet._machine import device_note
from pcnet.compare import METRICS, Metric, Summary
from pcnet.experiment import Estimate, Experiment, Result
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
        style = "bold" if name == result.experiment.metric else None
        table.add_row(METRICS[name].title, *_figures(METRICS[name], result.test[name])[:2], style=style)
    console.print(table)
    metric, runs = result.experiment.scored_by, len(result.outcomes)
    single = metric.text(sum(estimate.per_run) / runs)
    spread = f" ± {metric.text(estimate.std)} (std)" if runs > 1 else ""
    val = metric.text(result.val[metric.name].mean)
    console.print(
        f"Measured on {estimate.nodes:,} labelled nodes, each predicted by the runs that did not know its label"
        f"{_gain(metric, estimate)}. Single runs: {metric.title} {single}{spread} on test nodes, {val} on validation "
        "nodes, which chose the epochs.",
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


def _of_runs(result: Result) -> Table:
    """Means over runs, as in the tables of papers."""
    experiment = result.experiment
    metric = experiment.scored_by
    caption = "interval: 95 % bootstrap of the mean; ±: its larger half; std: between runs"
    title = f"{metric.title[0].upper()}{metric.title[1:]}{' in percent' if metric.percent else ''}"
    table = Table(box=SIMPLE, title=title, caption=caption, title_justify="left", caption_justify="left")
    for column in ("", "mean", "interval", "±", "std"):
        table.add_column(column, justify="left" if column == "" else "right", no_wrap=True)
    table.add_row("test", *_figures(metric, result.headline))
    for name, figure in (("paper", experiment.paper), ("authors' code, rerun", experiment.rerun)):
        if figure is not None:
            table.add_row(name, f"{figure[0]:.2f}", "", f"{figure[1]:.2f}", "", style="dim")
    table.add_row("validation", *_figures(metric, result.val[experiment.metric]))
    for name in _shown(result)[1:]:
        table.add_row(f"test {METRICS[name].title}", *_figures(METRICS[name], result.test[name]))
    return table


def _shown(result: Result) -> list[str]:
    """Names of the metrics that have a row, the one that counts first; ROC-AUC is usual for two classes alone."""
    two = result.outcomes[0].logits.shape[1] == 2
    beside = [name for name in BESIDE if name in result.test and (two or name != "roc_auc")]
    return list(dict.fromkeys([result.experiment.metric, *beside]))


def _figures(metric: Metric, summary: Summary) -> tuple[str, str, str, str]:
    mean, low, high, half, std = map(metric.text, (summary.mean, *summary.ci95, summary.half_width, summary.std))
    return mean, f"[{low}, {high}]", half, std
