"""What is chosen at the end of a search, by validation nodes alone: by each split for itself, or for all together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from pcnet.compare import Metric, summarise, temperature
from pcnet.data import Split
from pcnet.errors import PcnetError
from pcnet.training import Targets
from pcnet.tune._answers import Answers, Weights
from pcnet.tune._search import Search, described
from pcnet.tune._select import LIBRARY, greedy, mean_of_best
from pcnet.tune._strategies import Results

#: How trials are joined. What `ensemble.json` holds is fixed and chosen by no score: the first.
RULES = {"greedy": greedy, "mean": mean_of_best}


def shared_choice(search: Search, results: Results) -> dict[str, Any]:
    """The trial with the best mean validation score, as a preset for any split that says where it comes from."""
    best = results.ranking(search.splits)[0]
    if not math.isfinite(best.loss):
        raise _all_diverged()
    record = search.record(results, [best.trial] * search.splits)
    record["search"]["trial"] = best.trial
    return record | described(search.settings(best.trial, results.values[best.trial]))


def choices(search: Search, splits: Sequence[Split], results: Results, answers: Answers) -> dict[str, Any]:
    """Of every split the trial that is best on its validation nodes, and an ensemble by each rule, as a preset.

    `settings` are those of all trials that anyone chose, and `per_split` says who chose which, with which weight.
    """
    targets = [Targets.from_split(split) for split in splits]
    chosen = [_of_split(results, split, own, answers, search.metric) for split, own in enumerate(targets)]
    trials = sorted({trial for own in chosen for weights in own.values() for trial in weights})
    best = search.record(results, [next(iter(own["single"])) for own in chosen])
    best["settings"] = {str(trial): described(search.settings(trial, results.values[trial])) for trial in trials}
    best["per_split"] = _listed(search, splits, [own["single"] for own in chosen])
    best["ensembles"] = {
        rule: {
            "per_split": _listed(search, splits, [own[rule] for own in chosen]),
            "val": _validation([own[rule] for own in chosen], targets, answers, search.metric),
        }
        for rule in RULES
    }
    return best


def ensemble_of(best: Mapping[str, Any]) -> dict[str, Any]:
    """The content of `ensemble.json`: the ensemble of each split as a preset, out of what `choices` returned."""
    rule = next(iter(RULES))
    found = best["ensembles"][rule]
    trials = {trial for own in found["per_split"] for trial in own["trials"]}
    same = {key: best[key] for key in ("dataset", "method", "preset", "protocol", "metric", "seeds")}
    settings = {trial: each for trial, each in best["settings"].items() if trial in trials}
    return {**same, "rule": rule, "settings": settings, **found}


def weights_of(listed: Iterable[Mapping[str, Any]]) -> list[Weights]:
    """Of each split the trials and their weights, out of a list of `per_split`."""
    return [{int(trial): weight for trial, weight in own["trials"].items()} for own in listed]


def _of_split(results: Results, split: int, own: Targets, answers: Answers, metric: Metric) -> dict[str, Weights]:
    """By rule. Of the trials that were trained on the split the best take part, those that are kept."""
    library = [each.trial for each in results.ranking_on([split]) if math.isfinite(each.loss)][:LIBRARY]
    if not library:
        raise _all_diverged()
    logits = [answers.of(trial, split)[0].double() for trial in library]
    probabilities = torch.stack([torch.softmax(z / temperature(z, own.val_labels), dim=1) for z in logits])
    found: dict[str, Weights] = {"single": {library[0]: 1}}
    for rule, choose in RULES.items():
        counts = zip(library, choose(probabilities, own.val_labels, metric), strict=True)
        found[rule] = {trial: count for trial, count in counts if count}
    return found


def _listed(search: Search, splits: Sequence[Split], weights: Sequence[Weights]) -> list[dict[str, Any]]:
    """As a preset has them."""
    return [
        {"seed": seed, "split": split.hash, "trials": {str(trial): weight for trial, weight in own.items()}}
        for seed, split, own in zip(search.seeds, splits, weights, strict=True)
    ]


def _validation(
    weights: Sequence[Weights], targets: Sequence[Targets], answers: Answers, metric: Metric
) -> dict[str, Any]:
    """The scores of ensembles on the validation nodes that chose them, as reports have them."""
    scores = []
    for split, (own, known) in enumerate(zip(weights, targets, strict=True)):
        val, _ = answers.together(split, own)
        scores.append(metric.score(val, known.val_labels))
    return summarise(scores).as_dict()


def _all_diverged() -> PcnetError:
    return PcnetError("Every trial diverged; lower the learning rates in the search space.")
