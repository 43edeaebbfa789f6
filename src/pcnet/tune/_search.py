"""A search as it was asked for, and what there is to say of it at its end."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from pcnet._checks import whole_number
from pcnet.compare import Metric, summarise
from pcnet.data import Split
from pcnet.errors import PcnetError, unknown
from pcnet.experiment import DEFAULT_METHOD, Experiment, method_file, presets
from pcnet.graph import Graph, graph_hash, tensor_hash
from pcnet.training import Targets
from pcnet.tune._evolution import Evolution
from pcnet.tune._space import WIDE, Settings, Space, Values, published_space, settings_of, space_of, value_of
from pcnet.tune._strategies import (
    SAMPLERS,
    GridSearch,
    Halving,
    Job,
    OptunaSearch,
    RandomSearch,
    Results,
    check_installed,
    reported,
)

#: The number of the trial that has the defaults; those that a strategy draws are numbered from 0.
DEFAULTS = -1
#: Strategies that look at no score: what they try on a split, no other split has a say in.
BLIND = ("random", "grid")
#: Points of a grid that are tried at most.
LARGEST_GRID = 10_000
#: Of a search, by the names of `--strategy`.
STRATEGIES: Mapping[str, type[RandomSearch]] = {
    "random": RandomSearch,
    "halving": Halving,
    "evolve": Evolution,
    "grid": GridSearch,
    "optuna": OptunaSearch,
}
#: A log loss of 10 is as bad as diverging; so is a share of 0.
WORST_LOSS = 10.0


@dataclass(frozen=True)
class Search:
    """What is searched, by which strategy, and from what it starts.

    `experiment` gives the splits, the metric and every setting that the space leaves open. Each split chooses for
    itself, unless the choice is `shared`: one setting for all, by the mean over the splits. The settings that one would
    have without a search are always tried too, so that the choice is never worse in validation than they are:
    `defaults`, or those of `experiment`. Without a `strategy` it is random for PCNet and for spaces too large for a
    grid, a grid for other methods, and Optuna where a `sampler` is named. With `leak`, test scores of all trials are
    kept in a file of their own; `published`, where there is such an experiment, is then scored next to the chosen
    trial. A `PcnetError` says which of these cannot be.

    >>> from pcnet.experiment import resolve
    >>> from pcnet.tune import Search, Space
    >>> space = Space.from_json({"K": [2, 4], "t": [0.5, 1.0, 1.5]}, "mine")
    >>> Search(resolve("citeseer"), space, strategy="grid").trials
    6

    The splits of a graph share nodes: test nodes of one are validation nodes of others. What is chosen by all splits
    together was chosen with test labels of each. So each split searches alone where trials follow from scores
    (`evolve`, `optuna`), and halving, which gives trials up by scores on other splits, is for a shared choice only.
    """

    experiment: Experiment
    space: Space
    trials: int = 100
    strategy: str = ""
    #: For the strategy "optuna".
    sampler: str | None = None
    #: For "optuna" and "evolve": how many trials are suggested at a time.
    batch: int = 32
    seed: int = 0
    shared: bool = False
    leak: bool = False
    published: Experiment | None = None
    defaults: Settings | None = None

    def __post_init__(self) -> None:
        whole_number("--trials", self.trials, least=1)
        whole_number("--batch", self.batch, least=1)
        whole_number("--seed", self.seed)
        if not self.strategy:
            grid = self.experiment.model.method != DEFAULT_METHOD and self._has_a_grid
            usual = "grid" if grid else "random"
            object.__setattr__(self, "strategy", usual if self.sampler is None else "optuna")
        _check_known("strategy", self.strategy, STRATEGIES)
        if self.strategy == "optuna":
            check_installed()
            object.__setattr__(self, "sampler", self.sampler or next(iter(SAMPLERS)))
            _check_known("sampler", str(self.sampler), SAMPLERS)
        elif self.sampler is not None:
            raise PcnetError(f"A sampler belongs to the strategy optuna; {self.strategy} has none.")
        if self.strategy == "halving" and not self.shared:
            raise PcnetError(
                "Halving gives settings up by their scores on other splits, among them test nodes of this one, so that "
                "no split can choose for itself; use --strategy random, or --shared for one setting for all splits."
            )
        if self.strategy == "grid":
            size = self.space.size
            if not self._has_a_grid:
                points = "infinitely many" if size is None else f"{size:,}"
                raise PcnetError(
                    f"The search space has {points} points; a grid search tries each of at most {LARGEST_GRID:,}. "
                    "Give a smaller one with --space, or use --strategy random."
                )
            object.__setattr__(self, "trials", size)
        if self.experiment.per_split:
            raise PcnetError(
                f"A search starts from one setting, and {self.experiment.preset} has others for each split; leave out "
                "--preset, or name the best.json of a search with --shared."
            )
        self.space.check(self.base)

    @property
    def _has_a_grid(self) -> bool:
        return self.space.size is not None and self.space.size <= LARGEST_GRID

    @property
    def base(self) -> Settings:
        """What the space leaves open."""
        return self.experiment.model, self.experiment.training

    @property
    def metric(self) -> Metric:
        """What trials are chosen by."""
        return self.experiment.scored_by

    @property
    def seeds(self) -> Sequence[int]:
        """Of the splits, and of the runs on them."""
        return self.experiment.seeds

    @property
    def splits(self) -> int:
        """The number of splits."""
        return len(self.seeds)

    @property
    def epochs(self) -> int:
        """Of a run, at most."""
        return self.experiment.training.epochs

    def headline(self, results: Results) -> str:
        """What is shown while it goes on: the mean gain over the splits of what would be chosen now."""
        if self.shared:
            leading = results.ranking(self.splits)[:1]
        else:
            leading = [each for split in range(self.splits) for each in results.ranking_on([split])[:1]]
        if len(leading) < (1 if self.shared else self.splits):
            return "searching"
        score = reported(self.metric, math.fsum(each.gain for each in leading) / len(leading))
        return f"searching, best validation {self.metric.title} {self.metric.text(score)}"

    def settings(self, trial: int, values: Values) -> Settings:
        """The settings of a trial."""
        return settings_of({}, self.defaults or self.base) if trial == DEFAULTS else settings_of(values, self.base)

    @cached_property
    def defaults_trial(self) -> int:
        """The trial that has the defaults: a point of the grid, where they are one."""
        defaults = self.settings(DEFAULTS, {})
        points = enumerate(self.space.points() if self.strategy == "grid" else [])
        return next((trial for trial, values in points if self.settings(trial, values) == defaults), DEFAULTS)

    @property
    def runs(self) -> int:
        """Runs of the whole search."""
        searches = self.splits if self._apart else 1
        return searches * self._strategy.runs + self.splits * (self.defaults_trial == DEFAULTS)

    def jobs(self, results: Results, held: Collection[int]) -> list[Job]:
        """What can be trained now, the defaults first, also what others `held`; nothing at the end of the search."""
        jobs, every = self._drawn(results, held), tuple(range(self.splits))
        if self.defaults_trial != DEFAULTS or results.knows(DEFAULTS, every):
            return jobs
        return [Job(DEFAULTS, {}, every), *jobs]

    def _drawn(self, results: Results, held: Collection[int]) -> list[Job]:
        """What the strategy trains now; where each split is searched by itself, that has trials sT, …, sT + T − 1."""
        if not self._apart:
            return self._strategy.jobs(results, held)
        jobs = []
        for split in range(self.splits):
            own = range(split * self.trials, (split + 1) * self.trials)
            known, theirs = results.numbered(own, split), [trial - own.start for trial in held if trial in own]
            jobs += [Job(own[job.trial], job.values, (split,)) for job in self._strategy.jobs(known, theirs)]
        return jobs

    @property
    def _apart(self) -> bool:
        """Whether each split is searched by itself."""
        return not self.shared and self.strategy not in BLIND

    @cached_property
    def _strategy(self) -> RandomSearch:
        more: tuple[Any, ...] = ()
        if self.strategy == "evolve":
            more = (self.batch,)
        if self.strategy == "optuna":
            more = self.batch, self.sampler, 0.0 if self.metric.sign > 0 else -WORST_LOSS
        splits = 1 if self._apart else self.splits
        return STRATEGIES[self.strategy](self.space, self.seed, self.trials, splits, *more)

    def description(self, graph: Graph, splits: Sequence[Split], targets: Sequence[Targets]) -> dict[str, Any]:
        """What two searches must have in common to be one. The labels in it are those that training may know."""
        known = [t for own in targets for t in (own.train, own.train_labels, own.val, own.val_labels)]
        return {
            "dataset": self.experiment.dataset,
            "method": self.experiment.model.method,
            "metric": self.experiment.metric,
            "defaults": described(self.settings(DEFAULTS, {})),
            "protocol": self.experiment.protocol,
            "seeds": list(self.experiment.seeds),
            "splits": [split.hash for split in splits],
            "labels": tensor_hash(*known),
            "graph": graph_hash(graph),
            "space": self.space.described,
            "base": described(self.base),
            "strategy": self.strategy,
            **({"sampler": self.sampler} if self.strategy == "optuna" else {}),
            **({"batch": self.batch} if self.strategy in ("evolve", "optuna") else {}),
            "trials": self.trials,
            "seed": self.seed,
            "leak": self.leak,
            # Searches from before splits chose for themselves have no word for it.
            **({} if self.shared else {"per_split": True}),
        }

    def experiment_of(self, results: Results, trial: int) -> Experiment:
        """A trial on all splits of the search."""
        if trial not in results.values:
            raise PcnetError(f"The search knows scores of trial {trial} but not its values; search in another folder.")
        model, training = self.settings(trial, results.values[trial])
        return replace(self.experiment, preset="tuned", model=model, training=training, paper=None, rerun=None)

    def record(self, results: Results, chosen: Sequence[int]) -> dict[str, Any]:
        """What was searched and how, the scores in validation of the trial that each split has, and the defaults'."""
        experiment, published, defaults = self.experiment, self.published, self.defaults_trial
        scores = [results.scores[trial][split] for split, trial in enumerate(chosen)]
        default_settings = self.settings(DEFAULTS, {})
        remarks = [self.settings(trial, results.values[trial])[0].remarks() for trial in chosen]
        return {
            "dataset": experiment.dataset,
            "method": experiment.model.method,
            "preset": experiment.preset,
            "protocol": experiment.protocol,
            "metric": experiment.metric,
            "seeds": list(experiment.seeds),
            "search": {
                "trials": self.trials,
                "complete_trials": min(len(results.ranking_on([split])) for split in range(self.splits)),
                "strategy": self.strategy,
                "sampler": self.sampler,
                "seed": self.seed,
                "space": self.space.described,
                "runs": results.runs,
                "runs_of_random_search": (self.trials + (defaults == DEFAULTS)) * self.splits,
                "seconds": results.seconds,
            },
            "val": summarise([reported(self.metric, score.gain) for score in scores]).as_dict(),
            "epochs": [score.epochs for score in scores],
            "defaults": {
                "trial": defaults,
                "values": {name: value_of(name, default_settings) for name in self.space.axes},
                "val": self._validation(results, defaults),
            },
            "published": None if published is None else {"paper": published.paper, "rerun": published.rerun},
            "notes": list(dict.fromkeys([*self._as_published(), *(remark for own in remarks for remark in own)])),
        }

    def _validation(self, results: Results, trial: int) -> dict[str, Any] | None:
        """The validation scores of a trial as reports have them; None where it diverged."""
        gains = [results.scores[trial][split].gain for split in range(self.splits)]
        if not all(map(math.isfinite, gains)):
            return None
        return summarise([reported(self.metric, gain) for gain in gains]).as_dict()

    def _as_published(self) -> list[str]:
        """A note on settings that others chose by test scores, and that this search does not choose anew."""
        if self.published is None:
            return []
        theirs, open_axes = (self.published.model, self.published.training), {*self.space.axes}
        method = self.experiment.model.method
        usual = published_space() if method == DEFAULT_METHOD else space_of(method, WIDE)
        names = [name for name in usual.axes if not {name, name.partition(".")[0]} & open_axes]
        kept = [name for name in names if value_of(name, self.base) == value_of(name, theirs)]
        return [f"Not searched but as published, where test scores chose it: {', '.join(kept)}."] if kept else []


def cells_to_search(table: str, method: str) -> list[str]:
    """Datasets of a table of the paper: for PCNet all it has settings for, for other methods those it has none for."""
    if method == DEFAULT_METHOD:
        return list(presets()[table].datasets_of(method))
    file = method_file(method)
    return [name for name in presets()[table].protocols if file.cell(table, name, chosen=False) is None]


def _check_known(what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise unknown(what, name, known)


def described(settings: Settings) -> dict[str, Any]:
    """As in a file."""
    model, training = settings
    return {"model": asdict(model), "training": asdict(training)}
