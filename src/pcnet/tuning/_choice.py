"""The choice, by validation alone."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from pcnet.errors import PcnetError
from pcnet.evaluation import summarise
from pcnet.experiments import Experiment
from pcnet.tuning._results import Results
from pcnet.tuning._space import published_space, settings_of, value_of
from pcnet.tuning._tuning import Tuning


def choose(tuning: Tuning, results: Results) -> tuple[Experiment, dict[str, Any]]:
    """The trial with the highest mean validation accuracy, as an experiment and as a preset that says where from."""
    standing = results.ranking(tuning.splits)[0]
    if standing.accuracy == 0:
        raise PcnetError("Every trial diverged or got nothing right; lower the learning rates in the search space.")
    trial = standing.trial
    model, training = settings_of(results.values[trial], tuning.base)
    chosen = replace(tuning.experiment, preset="tuned", model=model, training=training, paper=None, rerun=None)
    scores = [results.scores[trial][split] for split in range(tuning.splits)]
    published = tuning.published
    return chosen, {
        "dataset": chosen.dataset,
        "method": model.method,
        "preset": tuning.experiment.preset,
        "protocol": chosen.protocol,
        "seeds": list(chosen.seeds),
        "model": asdict(model),
        "training": asdict(training),
        "search": {
            "trial": trial,
            "trials": tuning.trials,
            "complete_trials": len(results.ranking(tuning.splits)),
            "strategy": tuning.strategy,
            "sampler": tuning.sampler,
            "seed": tuning.seed,
            "space": tuning.space.described,
            "runs": results.runs,
            "runs_of_random_search": tuning.trials * tuning.splits,
            "seconds": results.seconds,
        },
        "val": summarise([100 * score.accuracy for score in scores]).as_dict(),
        "epochs": [score.epochs for score in scores],
        "published": None if published is None else {"paper": published.paper, "rerun": published.rerun},
        "notes": [
            *_as_published(tuning),
            *model.remarks(),
        ],
    }


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
