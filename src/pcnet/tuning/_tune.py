"""Search, choose by validation, and only then look at the test nodes, once."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from pcnet._checks import whole_number
from pcnet.experiments import Experiment, Result, run_experiment, splits_of
from pcnet.graph import Graph
from pcnet.training import Targets
from pcnet.tuning._choice import choose
from pcnet.tuning._leak import TestScores
from pcnet.tuning._results import Results
from pcnet.tuning._search import PAUSE, Search, Watcher
from pcnet.tuning._store import Store
from pcnet.tuning._tuning import Tuning

#: The claim of who chooses and scores; trials are numbered from 0.
FINISH = -1


@dataclass(frozen=True)
class Tuned:
    """A finished search: the content of `best.json`, and the validation scores that it was chosen by."""

    best: dict[str, Any]
    results: Results


def tune(
    graph: Graph,
    tuning: Tuning,
    store: str | Path,
    *,
    threads: int | None = None,
    device: torch.device | str = "cpu",
    watcher: Watcher | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Tuned:
    """Search for the settings with the highest mean validation accuracy, then score them on the test nodes.

    Everything is kept in the folder `store`: a search that was killed goes on from there, several processes may work
    on it, and of a finished one the result is read back. Test labels are read after the choice is on disk, for the
    chosen setting alone; with `tuning.leak` also beside the search, which does not see them. `provenance` is added to
    what `best.json` says.
    """
    if threads is not None:
        whole_number("threads", threads, least=1)
    splits = splits_of(graph, tuning.experiment)
    targets = [Targets.from_split(split) for split in splits]
    place = Store.open(store, tuning.manifest(graph, splits, targets), tuning.unsaid())
    scores = TestScores(splits, place) if tuning.leak else None
    search = Search(
        graph,
        targets,
        tuning.experiment.seeds,
        tuning.base,
        tuning.strategy_in(place.folder),
        place,
        threads=threads,
        device=device,
        watcher=watcher,
        observer=scores,
    )
    if not _is_finished(place):
        search.run()
    while not _is_finished(place):
        with place.lock:
            claim = None if FINISH in place.claims.held() else place.claims.make([FINISH])
        if claim is None:
            time.sleep(PAUSE)
            continue
        with claim:
            if not _is_finished(place):
                _finish(graph, tuning, search, scores, dict(provenance or {}))
    return Tuned(place.best or {}, place.results())


def _is_finished(store: Store) -> bool:
    """Whether the choice was scored."""
    return "test" in (store.best or {})


def _finish(
    graph: Graph, tuning: Tuning, search: Search, scores: TestScores | None, provenance: dict[str, Any]
) -> None:
    """Write the choice down; then, and not before, score it."""
    store = search.store
    chosen, best = choose(tuning, store.results())
    best |= provenance
    store.write_best(best)
    trial = best["search"]["trial"]
    store.log(f"Trial {trial} was chosen by its mean validation accuracy of {best['val']['mean']:.2f}.")

    def score(experiment: Experiment) -> Result:
        return run_experiment(graph, experiment, threads=search.threads, device=search.device)

    result = score(chosen)
    best["test"] = result.test["accuracy"].as_dict()
    best["test_metrics"] = {name: summary.as_dict() for name, summary in result.test.items() if name != "accuracy"}
    best["split_hashes"] = [split.hash for split in result.splits]
    best["notes"] += result.notes
    if scores is not None:
        best["leak"] = scores.leak(trial)
        if tuning.published is not None:
            beside = score(replace(tuning.published, seeds=tuning.experiment.seeds))
            best["published"]["test"] = beside.test["accuracy"].as_dict()
            best["published"]["val"] = beside.val["accuracy"].as_dict()
    for sentence in reading(best):
        store.log(sentence)
    store.write_best(best)


def reading(best: Mapping[str, Any]) -> list[str]:
    """For what and when test labels were read, in sentences."""
    search, test = best["search"], best["test"]
    often = "once, for" if "leak" not in best else "for"
    sentences = [
        f"Test labels were read {often} trial {search['trial']}, after it had been chosen by its validation accuracy "
        f"of {best['val']['mean']:.2f}: test accuracy {test['mean']:.2f}."
    ]
    if "leak" in best:
        sentences.append(
            "Because --leak was asked for, test labels were also read for every trial, into a file that the search and "
            "the choice do not open."
        )
    return sentences
