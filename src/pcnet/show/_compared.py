"""A comparison of methods as plain data, with its outcome and what has to be known to read it in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from pcnet.compare import LEVEL, PERHAPS, UNKNOWN, WORSE, Comparison, Lead, Standing
from pcnet.experiment import DEFAULT_METHOD, Compared, Trained, provenance
from pcnet.show._template import with_interval

_WORDS = {WORSE: "Worse", PERHAPS: "Perhaps as good", UNKNOWN: "Behind it"}


def comparison_record(compared: Compared, words: str, steps: Sequence[tuple[str, str]], device: str) -> dict[str, Any]:
    """The content of `compare.json`.

    `words` name the metric and why it was taken; `steps` say what to do next, each with its command.
    """
    first, graph, numbers = compared.trained[0].experiment, compared.graph, compared.numbers
    return {
        "graph": graph.name,
        "nodes": graph.num_nodes,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "protocol": first.protocol,
        "metric": compared.metric.name,
        "metric_words": words,
        "runs": len(compared.splits),
        "seeds": list(first.seeds),
        "split_hashes": [split.hash for split in compared.splits],
        "split_sizes": [list(split.sizes) for split in compared.splits],
        "best": numbers.order[0],
        "sentence": sentence(compared),
        "methods": [
            {
                **compared.by_method[standing.method].as_dict(),
                "rank": standing.rank,
                "behind": standing.behind and {"value": standing.behind.value, "interval": _list(standing.behind)},
                "p": standing.p,
                "p_holm": standing.corrected,
                "verdict": standing.verdict,
            }
            for standing in numbers.standings
        ],
        "left_out": [{"method": title, "reason": reason} for title, reason in compared.left_out.items()],
        "pairs": list(_pairs(numbers)),
        "groups": [list(group) for group in numbers.ranks.groups],
        "meaning": [*meaning(compared), *meaning_of_ranks(compared)],
        "notes": notes(compared),
        "next": [{"what": what, "command": command} for what, command in steps],
        **provenance(device),
    }


def _pairs(numbers: Comparison) -> Iterator[dict[str, Any]]:
    """All against all, the one with the better score first: how much better it is, and Wilcoxon's p."""
    by_ranks = {frozenset((pair.first, pair.second)): pair for pair in numbers.ranks.pairs}
    for one, other in combinations(numbers.order, 2):
        lead, ranks = numbers.lead(one, other), by_ranks[frozenset((one, other))]
        found = {"first": one, "second": other, "difference": lead.value, "interval": _list(lead)}
        yield {**found, "p": ranks.p, "p_holm": ranks.corrected}


def _list(lead: Lead) -> list[float] | None:
    return lead.interval and [*lead.interval]


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
    score = f"{metric.text(trained.score)}{' %' if metric.percent else ''}"
    return f"{score} {with_interval(metric, None, trained.interval)}".rstrip()


def distance(compared: Compared, standing: Standing) -> str:
    """3.20 [0.51, 6.13]; nothing of the best."""
    behind = standing.behind
    return "" if behind is None else with_interval(compared.metric, behind.value, behind.interval)


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


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
