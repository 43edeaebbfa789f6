"""A comparison of methods in sentences: its outcome, and what has to be known to read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pcnet.compare import LEVEL, PERHAPS, UNKNOWN, WORSE, Metric, Standing
from pcnet.experiment import DEFAULT_METHOD, Compared, Trained

_WORDS = {WORSE: "Worse", PERHAPS: "Perhaps as good", UNKNOWN: "Behind it"}


def sentence(compared: Compared) -> str:
    """The outcome in plain words."""
    best, *others = compared.numbers.standings
    highest = "highest" if compared.metric.sign > 0 else "lowest"
    winner = compared.by_method[best.method]
    lead = f"{winner.title} has the {highest} {compared.metric.title}, {scored(winner)}"
    if not others:
        return f"{lead}, but there is no other to compare it with."
    parts = [f"{lead}."]
    for verdict, word in _WORDS.items():
        group = [each for each in others if each.verdict == verdict]
        if group:
            titles = [compared.by_method[each.method].title for each in group]
            far = [f"{t} (behind by {distance(compared, each)})" for t, each in zip(titles, group, strict=True)]
            parts.append(f"{word}: {listed(far)}.")
    if any(each.verdict == UNKNOWN for each in others):
        few = "one split cannot say" if len(compared.splits) == 1 else "these splits cannot say"
        parts.append(f"How sure that is, {few}; more --runs can.")
    return " ".join(parts)


def scored(trained: Trained) -> str:
    """82.10 % [80.05, 84.10]."""
    metric = trained.metric
    unit = " %" if metric.percent else ""
    return f"{metric.text(trained.score)}{unit} {spread(metric, trained.interval)}".rstrip()


def distance(compared: Compared, standing: Standing) -> str:
    """3.20 [0.51, 6.13]; nothing of the best."""
    behind, metric = standing.behind, compared.metric
    return "" if behind is None else f"{metric.text(behind.value)} {spread(metric, behind.interval)}".rstrip()


def meaning(compared: Compared) -> list[str]:
    """What the scores and differences are."""
    metric, test = compared.metric, compared.trained[0].test
    unit = f"{metric.title}{' in percent' if metric.percent else ', lower is better'}"
    if test.nodes:
        others = f"the {test.unlabelled:,} without a label" if test.unlabelled else "nodes like them"
        what = f"what {test.nodes:,} tested nodes say of {others}, with its 95 % interval"
        chance = "with an interval for what nodes (Newcombe 1998), splits and seeds do by chance"
    else:
        what = "mean over the splits' test nodes; its 95 % interval is a bootstrap over splits"
        chance = "with an interval that allows for the nodes that splits share (Nadeau and Bengio 2003)"
    score = f"Score: {unit}, {what}."
    behind = (
        f"Behind the best: in the same unit, {chance}; all of these intervals together hold at 95 %. Above 0 "
        "throughout means worse."
    )
    return [score, behind] if len(compared.trained) > 1 else [score]


def meaning_of_ranks(compared: Compared) -> list[str]:
    """What ranks and their test are."""
    if len(compared.trained) < 2:
        return []
    ranks = (
        "Rank: mean over splits, 1 is best. p: Wilcoxon's signed-rank test against the best, corrected by Holm; it "
        "takes splits for independent and is too low."
    )
    least = compared.numbers.least
    few = (
        f"With n = {len(compared.splits)} no p among {len(compared.trained)} methods can fall below {least:.3g}: "
        "ranks of so few runs tell nothing apart."
    )
    return [ranks, few] if least > LEVEL else [ranks]


def notes(compared: Compared) -> list[str]:
    """What else has to be known to read the figures."""
    splits = dict.fromkeys(note for split in compared.splits for note in split.notes)
    return [*compared.graph.notes, *splits, *_own_notes(compared)]


def _own_notes(compared: Compared) -> Iterator[str]:
    splits, trained = compared.splits, compared.trained
    different = len({split.hash for split in splits})
    if different < len(splits):
        yield f"There are {different} splits for {len(splits)} runs; runs on one split share its luck."
    plain = [each.title for each in trained if not each.experiment.source]
    tuned = [f"{each.title} ({each.experiment.source})" for each in trained if each.experiment.source]
    if tuned:
        others = f"; defaults: {listed(plain)}. --defaults treats all alike" if plain else ""
        yield f"Settings for this graph: {listed(tuned)}{others}."
    else:
        yield "Every method has its defaults, which nobody tuned for this graph; `pcnet tune` may change the order."
    if any(each.method == DEFAULT_METHOD and each.experiment.source for each in trained):
        yield "The published settings of PCNet were chosen by its authors by test scores."


def spread(metric: Metric, interval: tuple[float, float] | None) -> str:
    """Its interval: [80.05, 84.10], or nothing."""
    return "" if interval is None else f"[{metric.text(interval[0])}, {metric.text(interval[1])}]"


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
