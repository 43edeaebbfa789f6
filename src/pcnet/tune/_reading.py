"""How a search came to its scores, in sentences made of its `best.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pcnet.compare import Metric, metric_named
from pcnet.tune._search import DEFAULTS

#: What tables call the rules of `best["ensembles"]`.
ENSEMBLES = {"greedy": "the ensemble", "mean": "the mean of the best"}


def reading(best: Mapping[str, Any]) -> list[str]:
    """For what and when test labels were read, whether they had a say, and what else would have given which score."""
    metric, defaults, shared = metric_of(best), best["defaults"], is_shared(best)
    name = named(best["search"]["trial"]) if shared else "what each split chose"
    also = " and the defaults" if "better_by" in defaults else ""
    often = "once, for" if "leak" not in best else "for"
    after = f"{name} had been chosen" if shared else "every split had chosen"
    sentences = [
        f"Test labels were read {often} {name}{also}, after {after} by a validation {metric.title} of "
        f"{metric.text(best['val']['mean'])}: test {metric.title} {metric.text(best['test']['mean'])}.",
        shared_words(best.get("overlap")) if shared else SPLITS,
    ]
    for rule, found in best.get("ensembles", {}).items():
        sentences.append(
            f"{ENSEMBLES[rule].capitalize()} of each split: validation {metric.text(found['val']['mean'])}, test "
            f"{metric.text(found['test']['mean'])}, better than the choice by {_gain(metric, found['better_by'])} on "
            "the test nodes."
        )
    if "better_by" in defaults:
        better = defaults["better_by"]
        sentences.append(
            f"The defaults: validation {metric.text(defaults['val']['mean'])}, test "
            f"{metric.text(defaults['test']['mean'])} (scored afterwards). The choice is better by "
            f"{metric.text(better['val'])} in validation, which chose it, and by {_gain(metric, better)} on the test "
            "nodes."
        )
    elif "test" in defaults:
        sentences.append("No trial was better in validation than the defaults: they are the choice.")
    else:
        sentences.append("The defaults diverged.")
    if "leak" in best:
        sentences.append(
            "Because --leak was asked for, test labels were also read for every trial, into a file that the search and "
            "the choice do not open."
        )
    return sentences


#: Of a choice for each split.
SPLITS = "Each split chose by its own validation nodes: no test label had a say in what is tested by it."


def shared_words(overlap: float | None) -> str:
    """What is to be said wherever a score of a setting is shown that all splits chose together."""
    share = "test nodes" if overlap is None else f"{overlap:.0%} of the test nodes"
    return (
        f"One setting was chosen by all splits together (--shared). {share[0].upper()}{share[1:]} of a split are "
        "validation nodes of others, so that test labels had a say in the choice: the score may flatter."
    )


def is_shared(best: Mapping[str, Any]) -> bool:
    """Whether all splits chose one setting together, out of a `best.json` of any age."""
    return "per_split" not in best


def named(trial: int) -> str:
    """trial 7, or the defaults."""
    return "the defaults" if trial == DEFAULTS else f"trial {trial}"


def metric_of(best: Mapping[str, Any]) -> Metric:
    """What a search was scored by, out of its `best.json`."""
    return metric_named(best["metric"])


def _gain(metric: Metric, better: Mapping[str, Any]) -> str:
    """1.23 [0.10, 2.36]."""
    ends = better["interval"]
    return f"{metric.text(better['test'])}{f' [{metric.text(ends[0])}, {metric.text(ends[1])}]' if ends else ''}"
