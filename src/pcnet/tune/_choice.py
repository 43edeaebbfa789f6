"""The choice, by validation alone."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import Any

from pcnet.compare import summarise
from pcnet.errors import PcnetError
from pcnet.experiment import Experiment
from pcnet.tune._results import Results, reported
from pcnet.tune._search import Search
from pcnet.tune._space import published_space, value_of


def choose(search: Search, results: Results) -> tuple[Experiment, dict[str, Any]]:
    """The trial with the best mean validation score, as an experiment and as a preset that says where from."""
    ranking = results.ranking(search.splits)
    trial = ranking[0].trial
    if not math.isfinite(ranking[0].loss):
        raise PcnetError("Every trial diverged; lower the learning rates in the search space.")
    chosen = experiment_of(search, results, trial)
    published, defaults = search.published, search.defaults_trial
    return chosen, {
        "dataset": chosen.dataset,
        "method": chosen.model.method,
        "preset": search.experiment.preset,
        "protocol": chosen.protocol,
        "metric": chosen.metric,
        "seeds": list(chosen.seeds),
        "model": asdict(chosen.model),
        "training": asdict(chosen.training),
        "search": {
            "trial": trial,
            "trials": search.trials,
            "complete_trials": len(ranking),
            "strategy": search.strategy,
            "sampler": search.sampler,
            "seed": search.seed,
            "space": search.space.described,
            "runs": results.runs,
            "runs_of_random_search": search.candidates * search.splits,
            "seconds": results.seconds,
        },
        "val": _validation(search, results, trial),
        "epochs": [results.scores[trial][split].epochs for split in range(search.splits)],
        "defaults": {
            "trial": defaults,
            "values": search.default_values,
            "val": _validation(search, results, defaults),
        },
        "published": None if published is None else {"paper": published.paper, "rerun": published.rerun},
        "notes": [*_as_published(search), *chosen.model.remarks()],
    }


def experiment_of(search: Search, results: Results, trial: int) -> Experiment:
    """A trial on all splits of the search."""
    model, training = search.settings(trial, results.values[trial])
    return replace(search.experiment, preset="tuned", model=model, training=training, paper=None, rerun=None)


def _validation(search: Search, results: Results, trial: int) -> dict[str, Any] | None:
    """Its validation scores as reports have them; None where it diverged."""
    gains = [results.scores[trial][split].gain for split in range(search.splits)]
    if not all(map(math.isfinite, gains)):
        return None
    return summarise([reported(search.metric, gain) for gain in gains]).as_dict()


def _as_published(search: Search) -> list[str]:
    """A note on settings that others chose by test scores, and that this search did not choose anew."""
    published = search.published
    if published is None:
        return []
    kept = [
        name
        for name in published_space().axes
        if name not in search.space.axes
        and value_of(name, search.base) == value_of(name, (published.model, published.training))
    ]
    return [f"Not searched but as published, where test scores chose it: {', '.join(kept)}."] if kept else []
