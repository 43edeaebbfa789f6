"""The work of a search: claim some trials, train them side by side, write down how they did."""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor

from pcnet._progress import OneStage, Progress
from pcnet.compare import Metric
from pcnet.errors import PcnetWarning
from pcnet.graph import Graph
from pcnet.training import Limit, Outcome, Run, Targets, available_threads, largest_block, train_each
from pcnet.tune._space import Settings, Values
from pcnet.tune._store import Store
from pcnet.tune._strategies import Job, Results, Score

#: Seconds between two looks at a store on which others have work to finish.
PAUSE = 0.2
#: Runs of each core that are trained together at least.
LEAST = 2


class Work(Protocol):
    """What there is to train, and what is to be trained next."""

    @property
    def metric(self) -> Metric: ...
    @property
    def seeds(self) -> Sequence[int]: ...
    @property
    def splits(self) -> int: ...
    @property
    def runs(self) -> int: ...
    @property
    def epochs(self) -> int: ...
    def settings(self, trial: int, values: Values) -> Settings: ...
    def jobs(self, results: Results, held: Collection[int]) -> list[Job]: ...
    def headline(self, results: Results) -> str: ...


class Observer(Protocol):
    """Sees the score in validation and the logits of every run, and returns nothing to the search."""

    def see(self, trial: int, split: int, score: Score, logits: Tensor) -> None:
        """A run is trained."""

    def commit(self) -> None:
        """The runs seen since last time are about to be written down."""


@dataclass
class Worker:
    """One of those who work on a search. The labels in here are those of training and validation nodes."""

    graph: Graph
    search: Work
    targets: Sequence[Targets]
    store: Store
    threads: int | None
    device: torch.device
    progress: Progress
    observers: Sequence[Observer] = ()
    #: Runs of each core that are trained, and lost with an interrupt, together; on a GPU it is what fits.
    together: int = 1024
    #: When a training is to end, and no other to begin.
    limit: Limit | None = None
    #: Of each trial, the runs on all splits.
    _runs: dict[int, list[Run]] = field(default_factory=dict)

    def run(self) -> None:
        """Work until every trial of the search is known, whoever trained it, or until the limit."""
        with warnings.catch_warnings():
            # A search tries what one would be warned of; of the chosen setting, what is odd is noted with it.
            warnings.simplefilter("ignore", PcnetWarning)
            while self.limit is None or not self.limit(time.monotonic()):
                with self.store.transaction():
                    results, held = self.store.results(), self.store.held()
                    jobs = self.search.jobs(results, held)
                    self.store.plan(jobs)
                    chunk = self._chunk([job for job in jobs if job.trial not in held])
                    self.store.claim(job.trial for job in chunk)
                self._show(results)
                if not jobs:
                    return
                if chunk:
                    self._train(chunk)
                else:
                    time.sleep(PAUSE)

    def _show(self, results: Results) -> None:
        """How much is known, by anyone's work, and what the best has."""
        epochs = self.search.epochs
        self.progress.stage(self.search.headline(results), self.search.runs * epochs)
        self.progress.advance(results.runs * epochs)

    def _chunk(self, jobs: Sequence[Job]) -> list[Job]:
        """Jobs for one training: blocks of it should be full, so those that can share a block stay together."""
        if not jobs:
            return []
        on_cpu, first = self.device.type == "cpu", self._runs_of(jobs[0])[0]
        workers = self.threads or available_threads() if on_cpu else 1
        largest = largest_block(self.graph, first, device=self.device, workers=workers)
        # Where a block is a single run, several of them for each core: none waits long for another's end.
        size = workers * min(max(largest, LEAST), self.together) if on_cpu else largest
        alike: dict[Hashable, list[Job]] = defaultdict(list)
        for job in jobs:
            alike[self._runs_of(job)[0].model.batch_key].append(job)
        chunk: list[Job] = []
        for group in alike.values():
            # As many parts as needed, of even size.
            parts = -(-_count(group) // size)
            part = group[: -(-len(group) // parts)]
            # A GPU trains groups one after the other in any case, and what is done can be written down.
            if chunk and (not on_cpu or _count(chunk) + _count(part) > size):
                break
            chunk += part
        return chunk

    def _runs_of(self, job: Job) -> list[Run]:
        if job.trial not in self._runs:
            settings, seeds = self.search.settings(job.trial, job.values), self.search.seeds
            self._runs[job.trial] = [Run(*settings, *own) for own in zip(self.targets, seeds, strict=True)]
        return [self._runs[job.trial][split] for split in job.splits]

    def _train(self, chunk: Sequence[Job]) -> None:
        places = [(job.trial, split) for job in chunk for split in job.splits]
        runs = [run for job in chunk for run in self._runs_of(job)]

        def collect(index: int, outcome: Outcome) -> tuple[tuple[int, int], Score]:
            score = Score.of(outcome, runs[index].targets, self.search.metric)
            for observer in self.observers:
                observer.see(*places[index], score, outcome.logits)
            return places[index], score

        start, progress = time.perf_counter(), OneStage(self.progress, "training")
        how: dict[str, Any] = {"threads": self.threads, "device": self.device, "limit": self.limit}
        scores = train_each(self.graph, runs, collect=collect, progress=progress, **how)
        seconds = time.perf_counter() - start
        for observer in self.observers:
            observer.commit()
        self.store.record(dict(scores))
        self.store.log(f"{len(scores)} runs were trained in {seconds:.1f} s.")


def _count(jobs: Sequence[Job]) -> int:
    return sum(len(job.splits) for job in jobs)
