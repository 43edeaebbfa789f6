"""What `auto` prints: who competed, who predicts with which weight, and what to expect of it."""

from __future__ import annotations

from rich.console import Console

from pcnet.experiment import Experiment
from pcnet.graph import Graph
from pcnet.show import _plot as plot
from pcnet.show._report import Board, graph_words, print_estimate
from pcnet.show._table import Table, strong
from pcnet.tune import MINUTES, Auto, Chosen, Ranked

#: Trials of the table that have no weight.
BEHIND = 5


def auto_headline(graph: Graph, experiment: Experiment, minutes: float | None, trials: int | None) -> str:
    """What competes on what, and for how long."""
    number = (MINUTES if minutes is None else minutes) if trials is None else trials
    budget = f"{number:,g} {'minute' if trials is None else 'trial'}{'s' if number != 1 else ''}"
    runs = len(experiment.seeds)
    splits = f"{experiment.protocol}, {runs} split{'s' if runs > 1 else ''}"
    return f"Methods compete on {graph_words(graph)}: {splits}, {budget}"


def board(chosen: Chosen) -> Board:
    """What the report shows of a contest."""
    complete, metric = chosen.ranking, chosen.metric
    ended, scores = [each.ended for each in complete], [each.score for each in complete]
    drawn = plot.contest_chart(ended, scores, chosen.score, metric)
    best = metric.text(complete[0].score)
    return Board(leaderboard(chosen), plot.inline(drawn, f"Score against time; the best trial has {best}"))


def leaderboard(chosen: Chosen) -> Table:
    """The members of the ensemble, and the best of those that are not in it."""
    total, metric = sum(each.weight for each in chosen.ranking), chosen.metric
    shown = [*chosen.members, *[each for each in chosen.ranking if not each.weight][:BEHIND]]
    rows = []
    for each in sorted(shown, key=lambda own: chosen.ranking.index(own)):
        row = [each.title, metric.text(each.score), f"{each.weight / total:.0%}" if each.weight else "", settings(each)]
        rows.append(strong(row) if each.weight else row)
    rows.append(["the ensemble", metric.text(chosen.score), "100%", ""])
    complete = len(chosen.ranking)
    notes = [
        f"{chosen.trials:,} settings competed, {complete} of them on all folds, in {chosen.runs:,} runs. Scores are "
        f"{metric.title} on labelled nodes, each by a model that did not know its label. They chose the weights: the "
        "ensemble's flatters.",
        *(_left_out(name, count, "a run would take too much of the time") for name, count in chosen.slow.items()),
        *(_left_out(name, count, "there is not the memory for it") for name, count in chosen.too_big.items()),
    ]
    return Table("Who came how far", ("method", metric.title, "weight", "settings"), rows, tuple(notes), ("settings",))


def _left_out(name: str, count: int, why: str) -> str:
    return f"{count} setting{'s' if count > 1 else ''} of {name} {'were' if count > 1 else 'was'} left out: {why}."


def settings(ranked: Ranked) -> str:
    """What was drawn, in words."""
    drawn = {name: value for name, value in ranked.values.items() if name != "method"}
    words = [f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}" for name, value in drawn.items()]
    return ", ".join(words) or "its defaults"


def print_auto(console: Console, found: Auto) -> None:
    """The first contest, and what to expect."""
    console.print("", leaderboard(found.contests[0]).rich(), sep="\n")
    names = dict.fromkeys(run.model.method for run, _ in found.result.members)
    runs, held = len(found.contests), ", none kept back" if found.result.refitted else ""
    often = "the contest" if runs == 1 else f"one of {runs} contests"
    print_estimate(
        console,
        found.result,
        f"that {often} did not know of. {len(found.result.members)} models of {', '.join(names)}, trained once more "
        f"with every label{held}, are kept to predict.",
    )
