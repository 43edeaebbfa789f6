"""Search, choose by validation, and only then look at the test nodes, once."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from pcnet._checks import whole_number
from pcnet._progress import Progress, Silent
from pcnet.compare import Metric, difference_interval, metric_named, summarise
from pcnet.data import Split
from pcnet.errors import PcnetError
from pcnet.experiment import Experiment, Result, check_scorable, ratios_of, run_experiment, splits_of
from pcnet.graph import Graph
from pcnet.training import Targets
from pcnet.tune._search import DEFAULTS, Search
from pcnet.tune._store import Database, Store
from pcnet.tune._strategies import Results
from pcnet.tune._worker import PAUSE, Worker

#: The claim of who chooses and scores; no trial has this number.
FINISH = DEFAULTS - 1
TABLE = "CREATE TABLE scores (trial INTEGER, split INTEGER, score REAL NOT NULL, PRIMARY KEY (trial, split))"


@dataclass(frozen=True)
class Tuned:
    """A finished search: the content of `best.json`, and the validation scores that it was chosen by."""

    best: dict[str, Any]
    results: Results


class ScoresOnTest(Database):
    """The test score of every run, in a file that the search does not open.

    As the worker's observer it is shown logits and gives nothing back: with it or without it, the search takes the
    same steps and makes the same choice.
    """

    def __init__(self, splits: Sequence[Split], metric: Metric, folder: Path) -> None:
        super().__init__(folder / "test-scores.sqlite", TABLE)
        self._metric = metric
        self._tests = [(split.test, split.labels[split.test]) for split in splits]
        self._seen: list[tuple[int, int, float]] = []

    def see(self, trial: int, split: int, logits: Tensor) -> None:
        """A run is trained."""
        nodes, labels = self._tests[split]
        self._seen.append((trial, split, self._metric.score(logits[nodes], labels)))

    def commit(self) -> None:
        """Write down what was seen. Of two that tell of the same run, the first counts."""
        with self.transaction():
            self.write("INSERT OR IGNORE INTO scores VALUES (?, ?, ?)", self._seen)
        self._seen = []

    def leak(self, chosen: int) -> dict[str, Any]:
        """Of the trials that were trained on all splits, the one validation chose against the best on test nodes."""
        scores: dict[int, list[float]] = defaultdict(list)
        for trial, score in self.read("SELECT trial, score FROM scores ORDER BY trial, split"):
            scores[trial].append(score)
        summaries = {trial: summarise(each) for trial, each in scores.items() if len(each) == len(self._tests)}
        if chosen not in summaries:
            raise PcnetError(f"{self.path} lacks the chosen trial {chosen}; search again with --leak.")
        sign = self._metric.sign
        best = min(summaries, key=lambda trial: (-sign * math.fsum(summaries[trial].per_run), trial))
        return {
            "trials": len(summaries),
            "validation_selected": {"trial": chosen, **summaries[chosen].as_dict()},
            "test_selected": {"trial": best, **summaries[best].as_dict()},
            "gap": sign * (summaries[best].mean - summaries[chosen].mean),
        }


def tune(
    graph: Graph,
    search: Search,
    store: str | Path,
    *,
    threads: int | None = None,
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Tuned:
    """Search for the settings with the best mean validation score, then score them on the test nodes.

    The score is the experiment's metric; the defaults are tried too, and scored next to the choice. Everything is kept
    in the folder `store`: a search that was killed goes on from there, several processes of one machine may work on
    it, and of a finished one the result is read back. Test labels are read after the choice is on disk, for the chosen
    setting and the defaults alone; with `search.leak` also during the search, which does not see them. `provenance` is
    added to what `best.json` says. A `PcnetError` is raised where the folder holds something else or another search,
    and where every trial diverged.

    >>> import tempfile
    >>> from pcnet import csbm
    >>> from pcnet.experiment import resolve
    >>> from pcnet.tune import Search, Space, tune
    >>> graph = csbm(60, 0.8, features=4, seed=0)
    >>> few = resolve(graph, overrides=["epochs=5", "hidden=4"], runs=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tuned = tune(graph, Search(few, Space.from_json({"t": [0.5, 1.0]}, "mine"), trials=3), folder, threads=1)
    >>> tuned.best["search"]["runs"]
    8
    """
    if threads is not None:
        whole_number("threads", threads, least=1)
    search.experiment.model.build(graph.num_features, graph.num_classes)
    splits = splits_of(graph, search.experiment)
    check_scorable(search.metric, splits)
    targets = [Targets.from_split(split) for split in splits]
    with Store(store, search.description(graph, splits, targets)) as place:
        scores = place.enter_context(ScoresOnTest(splits, search.metric, place.folder)) if search.leak else None
        if not _is_finished(place):
            Worker(graph, search, targets, place, threads, torch.device(device), progress or Silent(), scores).run()
        score = partial(run_experiment, graph, threads=threads, device=device)
        while not _is_finished(place):
            with place.transaction():
                mine = FINISH not in place.held()
                if mine:
                    place.claim([FINISH])
            if not mine:
                time.sleep(PAUSE)
                continue
            if not _is_finished(place):
                _finish(search, place, scores, score, provenance or {})
            with place.transaction():
                place.release([FINISH])
        return Tuned(place.best or {}, place.results())


def _is_finished(store: Store) -> bool:
    """Whether the choice was scored."""
    return "test" in (store.best or {})


def _finish(
    search: Search,
    store: Store,
    scores: ScoresOnTest | None,
    score: Callable[[Experiment], Result],
    provenance: Mapping[str, Any],
) -> None:
    """Write the choice down; then, and not before, score it, and the defaults next to it."""
    metric, results = search.metric, store.results()
    chosen, best = search.choice(results)
    best |= provenance
    store.write_best(best)
    trial, defaults = best["search"]["trial"], best["defaults"]
    mean = metric.text(best["val"]["mean"])
    store.log(f"{named(trial).capitalize()} was chosen by a mean validation {metric.title} of {mean}.")
    result = score(chosen)
    test = result.test[metric.name]
    best["test"] = test.as_dict()
    best["test_metrics"] = {name: summary.as_dict() for name, summary in result.test.items() if name != metric.name}
    best["split_hashes"] = [split.hash for split in result.splits]
    best["notes"] += result.notes
    if defaults["trial"] == trial:
        defaults["test"] = best["test"]
    elif defaults["val"] is not None:
        other = score(search.experiment_of(results, defaults["trial"])).test[metric.name]
        first, second = (test, other) if metric.sign > 0 else (other, test)
        interval = difference_interval(first, second, ratios_of(result.splits))
        defaults["test"] = other.as_dict()
        defaults["better_by"] = {
            "val": metric.sign * (best["val"]["mean"] - defaults["val"]["mean"]),
            "test": first.mean - second.mean,
            "interval": interval and list(interval),
        }
    if scores is not None:
        best["leak"] = scores.leak(trial)
        if search.published is not None:
            published = score(replace(search.published, seeds=search.experiment.seeds))
            best["published"]["test"] = published.test[metric.name].as_dict()
            best["published"]["val"] = published.val[metric.name].as_dict()
    for sentence in reading(best):
        store.log(sentence)
    store.write_best(best)


def reading(best: Mapping[str, Any]) -> list[str]:
    """For what and when test labels were read, and what the defaults would have given, in sentences."""
    metric, defaults = metric_of(best), best["defaults"]
    better, name = defaults.get("better_by"), named(best["search"]["trial"])
    often = "once, for" if "leak" not in best else "for"
    also = " and the defaults" if better else ""
    sentences = [
        f"Test labels were read {often} {name}{also}, after {name} had been chosen by a validation {metric.title} of "
        f"{metric.text(best['val']['mean'])}: test {metric.title} {metric.text(best['test']['mean'])}."
    ]
    if better:
        ends = better["interval"]
        interval = f" [{metric.text(ends[0])}, {metric.text(ends[1])}]" if ends else ""
        sentences.append(
            f"The defaults: validation {metric.text(defaults['val']['mean'])}, test "
            f"{metric.text(defaults['test']['mean'])} (scored afterwards). The choice is better by "
            f"{metric.text(better['val'])} in validation, which chose it, and by "
            f"{metric.text(better['test'])}{interval} on the test nodes."
        )
    elif defaults["trial"] == best["search"]["trial"]:
        sentences.append("No trial was better in validation than the defaults: they are the choice.")
    else:
        sentences.append("The defaults diverged.")
    if "leak" in best:
        sentences.append(
            "Because --leak was asked for, test labels were also read for every trial, into a file that the search and "
            "the choice do not open."
        )
    return sentences


def named(trial: int) -> str:
    """trial 7, or the defaults."""
    return "the defaults" if trial == DEFAULTS else f"trial {trial}"


def metric_of(best: Mapping[str, Any]) -> Metric:
    """What a search was scored by, out of its `best.json`."""
    return metric_named(best["metric"])
