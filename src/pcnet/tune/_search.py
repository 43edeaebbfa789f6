"""The work of a search: claim some trials, train them side by side, write down how they did."""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from pcnet._progress import OneStage, Progress
from pcnet.compare import Metric
from pcnet.errors import PcnetWarning
from pcnet.graph import Graph
from pcnet.training import Outcome, Run, Targets, available_threads, largest_block, train_each
from pcnet.tune._results import Results, Score, Standing, entry_of
from pcnet.tune._space import Settings, Values
from pcnet.tune._store import Store
from pcnet.tune._strategies import Job, Strategy

#: Seconds between two looks at a store on which others have work to finish.
PAUSE = 0.2


class Watcher(Progress, Protocol):
    """Is told how far a search has come, in epochs of single runs."""

    def known(self, runs: int, best: Standing | None) -> None:
        """So many runs are in the store, and this is the best of the trials that are complete."""


class Observer(Protocol):
    """Sees the logits of every run, and returns nothing to the search."""

    def see(self, trial: int, split: int, logits: Tensor) -> None:
        """A run is trained."""

    def commit(self) -> None:
        """The runs seen since last time are about to be written down."""


@dataclass
class Search:
    """Everything that training a trial needs. The labels in here are those of training and validation nodes."""

    graph: Graph
    targets: Sequence[Targets]
    seeds: Sequence[int]
    #: The settings of a trial with these values.
    settings_of: Callable[[int, Values], Settings]
    metric: Metric
    strategy: Strategy
    store: Store
    threads: int | None = None
    device: torch.device | str = "cpu"
    watcher: Watcher | None = None
    observer: Observer | None = None
    _settings: dict[int, Settings] = field(default_factory=dict)

    def run(self) -> Results:
        """Work until every trial of the search is known, whoever trained it."""
        with warnings.catch_warnings():
            # A search tries what one would be warned of; of the chosen setting, what is odd is noted beside it.
            warnings.simplefilter("ignore", PcnetWarning)
            return self._run()

    def _run(self) -> Results:
        while True:
            with self.store.lock:
                results, held = self.store.results(), self.store.claims.held()
                jobs = self.strategy.jobs(results, held)
                chunk = self._chunk([job for job in jobs if job.trial not in held])
                claim: AbstractContextManager[object] = nullcontext()
                if chunk:
                    claim = self.store.claims.make([job.trial for job in chunk])
            with claim:
                if self.watcher is not None:
                    self.watcher.known(results.runs, next(iter(results.ranking(len(self.seeds))), None))
                if chunk:
                    self._train(chunk)
            if not jobs:
                return results
            if not chunk:
                time.sleep(PAUSE)

    def settings(self, job: Job) -> Settings:
        if job.trial not in self._settings:
            self._settings[job.trial] = self.settings_of(job.trial, job.values)
        return self._settings[job.trial]

    def _chunk(self, jobs: Sequence[Job]) -> list[Job]:
        """Jobs for one training: blocks of it should be full, so those that can share a block stay together."""
        alike: dict[Hashable, list[Job]] = defaultdict(list)
        for job in jobs:
            alike[self.settings(job)[0].batch_key].append(job)
        size = self._size(jobs[0]) if jobs else 0
        chunk: list[Job] = []
        for group in alike.values():
            # As many parts as needed, of even size.
            parts = -(-_runs(group) // size)
            part = group[: -(-len(group) // parts)]
            # A GPU trains groups one after the other in any case, and what is done can be written down.
            if chunk and (torch.device(self.device).type != "cpu" or _runs(chunk) + _runs(part) > size):
                break
            chunk += part
        return chunk

    def _size(self, job: Job) -> int:
        """Runs that a training can hold at once."""
        workers = self.threads or available_threads() if torch.device(self.device).type == "cpu" else 1
        return workers * largest_block(self.graph, self._runs_of(job)[0], device=self.device, workers=workers)

    def _runs_of(self, job: Job) -> list[Run]:
        model, training = self.settings(job)
        return [Run(model, training, self.targets[split], self.seeds[split]) for split in job.splits]

    def _train(self, chunk: Sequence[Job]) -> None:
        places = [(job.trial, split) for job in chunk for split in job.splits]
        runs = [run for job in chunk for run in self._runs_of(job)]

        def collect(index: int, outcome: Outcome) -> Score:
            if self.observer is not None:
                self.observer.see(*places[index], outcome.logits)
            return Score.of(outcome, runs[index].targets, self.metric)

        start = time.perf_counter()
        progress = None if self.watcher is None else OneStage(self.watcher, "training")
        scores = train_each(
            self.graph, runs, collect=collect, threads=self.threads, device=self.device, progress=progress
        )
        seconds = time.perf_counter() - start
        of_trial: dict[int, dict[int, Score]] = defaultdict(dict)
        for (trial, split), score in zip(places, scores, strict=True):
            of_trial[trial][split] = score
        if self.observer is not None:
            self.observer.commit()
        self.store.record(
            entry_of(job.trial, job.values, of_trial[job.trial], seconds * len(job.splits) / len(runs)) for job in chunk
        )
        self.store.log(f"{len(runs)} runs were trained in {seconds:.1f} s.")


def _runs(jobs: Sequence[Job]) -> int:
    return sum(len(job.splits) for job in jobs)
