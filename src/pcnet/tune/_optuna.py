"""Trials that Optuna suggests, from how the ones before did."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pcnet.errors import PcnetError
from pcnet.tune._journal import cut_torn_line
from pcnet.tune._results import Results
from pcnet.tune._space import Axis, Grid, Interval, Space, Values
from pcnet.tune._strategies import Job

if TYPE_CHECKING:
    import optuna

#: The first is the one that is used when none is named.
SAMPLERS = ("tpe", "gp", "random")


def check_installed() -> None:
    """Optuna is an extra."""
    if find_spec("optuna") is None:
        raise PcnetError(
            "The strategy optuna needs Optuna, which is not installed; pip install 'pcnet[optuna]' brings it, and the "
            "strategies random and halving do without."
        )


@dataclass(frozen=True)
class OptunaSearch:
    """Trials are asked for in rounds of `batch`, trained side by side on every split, and told their mean gain.

    Optuna's own journal, `optuna.journal`, is the memory of its sampler; scores are in the store's, as ever. Only who
    holds the store's lock touches it. A sampler starts anew for each trial with a seed of its own, so a search that was
    killed asks for what it would have asked for.
    """

    space: Space
    seed: int
    trials: int
    splits: int
    batch: int
    sampler: str
    folder: Path
    #: What is told of a trial that diverged, and of one that is even worse.
    worst: float = 0.0

    @property
    def runs(self) -> int:
        return self.trials * self.splits

    @property
    def _journal(self) -> Path:
        return self.folder / "optuna.journal"

    @cached_property
    def _study(self) -> optuna.Study:
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

        class Held(JournalFileOpenLock):
            """The store's lock is held already."""

            def acquire(self) -> bool:
                return True

            def release(self) -> None:
                pass

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        storage = JournalStorage(JournalFileBackend(str(self._journal), Held(str(self._journal))))
        return optuna.create_study(storage=storage, study_name="pcnet", direction="maximize", load_if_exists=True)

    def jobs(self, results: Results, held: Collection[int]) -> list[Job]:
        every = tuple(range(self.splits))
        # A process may have been killed while it wrote.
        cut_torn_line(self._journal)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            asked = self._asked()
            for number in asked:
                if results.knows(number, every):
                    self._tell(number, results.standing(number, every).gain)
            unknown = {number: values for number, values in asked.items() if not results.knows(number, every)}
            # A round is always asked for as a whole; the next one when nothing of it is free.
            if len(asked) < self.trials and (not {*unknown} - {*held} or len(asked) % self.batch):
                unknown |= self._ask(len(asked), min(self.trials, (len(asked) // self.batch + 1) * self.batch))
        return [Job(number, values, every) for number, values in unknown.items()]

    def _asked(self) -> dict[int, Values]:
        """The values of all trials, by number. One that was being asked for when its process was killed is given up."""
        from optuna.trial import TrialState

        asked = {}
        for trial in self._study.get_trials(deepcopy=False):
            if {*trial.params} == {*self.space.axes}:
                asked[trial.number] = {name: _value(axis, trial.params[name]) for name, axis in self.space.axes.items()}
            elif trial.state == TrialState.RUNNING:
                self._study.tell(trial.number, state=TrialState.FAIL)
        return asked

    def _ask(self, first: int, stop: int) -> dict[int, Values]:
        axes = self.space.axes
        distributions = {name: _distribution(axis) for name, axis in axes.items()}
        asked = {}
        for count in range(first, stop):
            self._study.sampler = self._sampler(count)
            trial = self._study.ask(distributions)
            asked[trial.number] = {name: _value(axis, trial.params[name]) for name, axis in axes.items()}
        return asked

    def _tell(self, number: int, gain: float) -> None:
        self._study.tell(number, max(gain, self.worst), skip_if_finished=True)

    def _sampler(self, count: int) -> optuna.samplers.BaseSampler:
        from optuna import samplers

        seed = int(np.random.SeedSequence([self.seed, count]).generate_state(1)[0])
        if self.sampler == "gp":
            return samplers.GPSampler(seed=seed)
        if self.sampler == "random":
            return samplers.RandomSampler(seed=seed)
        # A round is asked for before any of it is known: a liar keeps its trials apart from each other.
        return samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True)


def _distribution(axis: Axis) -> optuna.distributions.BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(axis, Interval):
        return FloatDistribution(axis.low, axis.high, log=axis.log)
    if axis.step is None:
        return CategoricalDistribution(axis.values)
    kind: Any = IntDistribution if isinstance(axis.values[0], int) else FloatDistribution
    return kind(axis.values[0], axis.values[-1], step=axis.step)


def _value(axis: Axis, parameter: Any) -> Any:
    return axis.nearest(parameter) if isinstance(axis, Grid) and axis.step is not None else parameter
