"""Trials that Optuna suggests, from how the ones before did."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from pcnet.errors import PcnetError
from pcnet.tune._space import Axis, Values
from pcnet.tune._strategies import Job, RandomSearch, Results

if TYPE_CHECKING:
    import optuna

#: Optuna's name of each sampler, and how it is asked for; the first is the one that is used when none is named.
SAMPLERS: Mapping[str, tuple[str, dict[str, Any]]] = {
    # A round is asked for before any of it is known: a liar keeps its trials apart from each other.
    "tpe": ("TPESampler", {"multivariate": True, "constant_liar": True}),
    "gp": ("GPSampler", {}),
    "random": ("RandomSampler", {}),
}


def check_installed() -> None:
    """Optuna is an extra."""
    if find_spec("optuna") is None:
        raise PcnetError(
            "The strategy optuna needs Optuna, which is not installed; pip install 'pcnet[optuna]' brings it, and the "
            "strategies random and halving do without."
        )


@dataclass(frozen=True)
class OptunaSearch(RandomSearch):
    """Trials are asked for in rounds of `batch`, trained side by side on every split, and told their mean gain.

    A study is made from what is known whenever a round is asked for, and a sampler for each trial, with a seed of its
    own: a search that was killed asks for what it would have asked for.
    """

    batch: int
    sampler: str
    #: The gain of a trial that diverged, and of one that is even worse.
    worst: float = 0.0

    def jobs(self, results: Results, held: Collection[int]) -> list[Job]:
        asked = {trial: results.values[trial] for trial in sorted(results.values) if trial >= 0}
        gains = {standing.trial: standing.gain for standing in results.ranking(self.splits, asked)}
        unknown = {trial: values for trial, values in asked.items() if trial not in gains}
        # The next round is asked for when nothing of the ones before is free.
        if len(asked) < self.trials and {*unknown} <= {*held}:
            unknown |= self._ask(asked, gains)
        return [Job(trial, values, tuple(range(self.splits))) for trial, values in unknown.items()]

    def _ask(self, asked: dict[int, Values], gains: dict[int, float]) -> dict[int, Values]:
        """A round of trials, after those that were asked for; one without a gain is under way."""
        import optuna
        from optuna.trial import TrialState, create_trial

        distributions = {name: _distribution(axis) for name, axis in self.space.axes.items()}
        sampler, options = SAMPLERS[self.sampler]
        new: dict[int, Values] = {}
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study = optuna.create_study(direction="maximize")
            for trial, values in asked.items():
                told = {"value": max(gains[trial], self.worst)} if trial in gains else {"state": TrialState.RUNNING}
                study.add_trial(create_trial(params=values, distributions=distributions, **told))
            for trial in range(len(asked), min(self.trials, len(asked) + self.batch)):
                seed = int(np.random.SeedSequence([self.seed, trial]).generate_state(1)[0])
                study.sampler = getattr(optuna.samplers, sampler)(seed=seed, **options)
                params = study.ask(distributions).params
                new[trial] = {name: _value(axis, params[name]) for name, axis in self.space.axes.items()}
        return new


def _distribution(axis: Axis) -> optuna.distributions.BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if axis.between:
        low, high = axis.values
        return FloatDistribution(low, high, log=axis.between == "log")
    if axis.step is None:
        return CategoricalDistribution(axis.values)
    kind: Any = IntDistribution if isinstance(axis.values[0], int) else FloatDistribution
    return kind(axis.values[0], axis.values[-1], step=axis.step)


def _value(axis: Axis, parameter: Any) -> Any:
    """A value on an evenly spaced grid, which arithmetic with steps misses by a rounding error, or any other."""
    return parameter if axis.step is None else min(axis.values, key=lambda own: abs(own - parameter))
