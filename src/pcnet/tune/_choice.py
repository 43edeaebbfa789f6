"""The choice, by validation alone."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import Any

from pcnet.compare import Summary, summarise
from pcnet.errors import PcnetError
from pcnet.experiment import Experiment
from pcnet.tune._results import Results, reported
from pcnet.tune._space import published_space, value_of
from pcnet.tune._tuning import Tuning


def choose(tuning: Tuning, results: Results) -> tuple[Experiment, dict[str, Any]]:
    """The trial with the best mean validation score, as an experiment and as a preset that says where from."""
    standing = results.ranking(tuning.splits)[0]
    if not math.isfinite(standing.loss):
        raise PcnetError("Every trial diverged; lower the learning rates in the search space.")
    trial = standing.trial
    chosen = experiment_of(tuning, results, trial)
    published, defaults = tuning.published, tuning.defaults_trial
    return chosen, {
        "dataset": chosen.dataset,
        "method": chosen.model.method,
        "preset": tuning.experiment.preset,
        "protocol": chosen.protocol,
        "metric": chosen.metric,
        "seeds": list(chosen.seeds),
        "model": asdict(chosen.model),
        "training": asdict(chosen.training),
        "search": {
            "trial": trial,
            "trials": tuning.trials,
            "complete_trials": len(results.ranking(tuning.splits)),
            "strategy": tuning.strategy,
            "sampler": tuning.sampler,
            "seed": tuning.seed,
            "space": tuning.space.described,
            "runs": results.runs,
            "runs_of_random_search": tuning.candidates * tuning.splits,
            "seconds": results.seconds,
        },
        "val": _validation(tuning, results, trial),
        "epochs": [results.scores[trial][split].epochs for split in range(tuning.splits)],
        "defaults": {
            "trial": defaults,
            "values": tuning.default_values,
            "val": _validation(tuning, results, defaults),
        },
        "published": None if published is None else {"paper": published.paper, "rerun": published.rerun},
        "notes": [
            *_as_published(tuning),
            *chosen.model.remarks(),
        ],
    }


def experiment_of(tuning: Tuning, results: Results, trial: int) -> Experiment:
    """A trial on all splits of the search."""
    model, training = tuning.settings(trial, results.values[trial])
    return replace(tuning.experiment, preset="tuned", model=model, training=training, paper=None, rerun=None)


def _validation(tuning: Tuning, results: Results, trial: int) -> dict[str, Any] | None:
    """Its validation scores as reports have them; None where it diverged."""
    metric = tuning.experiment.scored_by
    gains = [results.scores[trial][split].gain for split in range(tuning.splits)]
    if not all(map(math.isfinite, gains)):
        return None
    found: Summary = summarise([reported(metric, gain) for gain in gains])
    return found.as_dict()


def _as_published(tuning: Tuning) -> list[str]:
    """A note on settings that others chose by test scores, and that this search did not choose anew."""
    published = tuning.published
    if published is None:
        return []
    kept = [
        name
        for name in published_space().axes
        if name not in tuning.space.axes
        and value_of(name, tuning.base) == value_of(name, (published.model, published.training))
    ]
    return [f"Not searched but as published, where test scores chose it: {', '.join(kept)}."] if kept else []
