"""Search, choose by validation, and only then look at the test nodes, once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from pcnet._checks import whole_number
from pcnet.compare import Metric, difference_interval, metric_named
from pcnet.experiment import Experiment, Result, check_scorable, ratios_of, run_experiment, splits_of
from pcnet.graph import Graph
from pcnet.training import Targets
from pcnet.tune._choice import choose, experiment_of
from pcnet.tune._leak import TestScores
from pcnet.tune._results import Results
from pcnet.tune._search import PAUSE, Search, Watcher
from pcnet.tune._store import Store
from pcnet.tune._strategies import DEFAULTS
from pcnet.tune._tuning import Tuning

#: The claim of who chooses and scores; no trial has this number.
FINISH = DEFAULTS - 1


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
    """Search for the settings with the best mean validation score, then score them on the test nodes.

    The score is the experiment's metric; the defaults are tried too, and scored beside the choice. Everything is kept
    in the folder `store`: a search that was killed goes on from there, several processes may work on it, and of a
    finished one the result is read back. Test labels are read after the choice is on disk, for the chosen setting and
    the defaults alone; with `tuning.leak` also beside the search, which does not see them. `provenance` is added to
    what `best.json` says.
    """
    if threads is not None:
        whole_number("threads", threads, least=1)
    splits = splits_of(graph, tuning.experiment)
    metric = tuning.experiment.scored_by
    check_scorable(metric, splits)
    targets = [Targets.from_split(split) for split in splits]
    place = Store.open(store, tuning.manifest(graph, splits, targets), tuning.unsaid())
    scores = TestScores(splits, metric, place) if tuning.leak else None
    search = Search(
        graph,
        targets,
        tuning.experiment.seeds,
        tuning.settings,
        metric,
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
    metric = tuning.experiment.scored_by
    chosen, best = choose(tuning, store.results())
    best |= provenance
    store.write_best(best)
    trial = best["search"]["trial"]
    mean = metric.text(best["val"]["mean"])
    store.log(f"{named(trial).capitalize()} was chosen by a mean validation {metric.title} of {mean}.")

    def score(experiment: Experiment) -> Result:
        return run_experiment(graph, experiment, threads=search.threads, device=search.device)

    result = score(chosen)
    best["test"] = result.test[metric.name].as_dict()
    best["test_metrics"] = {name: summary.as_dict() for name, summary in result.test.items() if name != metric.name}
    best["split_hashes"] = [split.hash for split in result.splits]
    best["notes"] += result.notes
    _score_defaults(tuning, search, best, result, score)
    if scores is not None:
        best["leak"] = scores.leak(trial)
        if tuning.published is not None:
            beside = score(replace(tuning.published, seeds=tuning.experiment.seeds))
            best["published"]["test"] = beside.test[metric.name].as_dict()
            best["published"]["val"] = beside.val[metric.name].as_dict()
    for sentence in reading(best):
        store.log(sentence)
    store.write_best(best)


def _score_defaults(
    tuning: Tuning, search: Search, best: dict[str, Any], result: Result, score: Callable[[Experiment], Result]
) -> None:
    """Put the defaults' test score beside that of the choice, and by how much the choice is better."""
    defaults, metric = best["defaults"], tuning.experiment.scored_by
    if defaults["val"] is None:
        return
    if defaults["trial"] == best["search"]["trial"]:
        defaults["test"] = best["test"]
        return
    beside = score(experiment_of(tuning, search.store.results(), defaults["trial"]))
    one, other = result.test[metric.name], beside.test[metric.name]
    first, second = (one, other) if metric.sign > 0 else (other, one)
    interval = difference_interval(first, second, ratios_of(result.splits))
    defaults["test"] = other.as_dict()
    defaults["better_by"] = {
        "val": metric.sign * (best["val"]["mean"] - defaults["val"]["mean"]),
        "test": first.mean - second.mean,
        "interval": interval and list(interval),
    }


def reading(best: Mapping[str, Any]) -> list[str]:
    """For what and when test labels were read, and what the defaults would have given, in sentences."""
    search, metric = best["search"], metric_of(best)
    # Searches of older versions did not try the defaults.
    defaults = best.get("defaults") or {}
    beside = " and the defaults" if "better_by" in defaults else ""
    often = "once, for" if "leak" not in best else "for"
    name = named(search["trial"])
    sentences = [
        f"Test labels were read {often} {name}{beside}, after {name} had been chosen by a validation {metric.title} of "
        f"{metric.text(best['val']['mean'])}: test {metric.title} {metric.text(best['test']['mean'])}."
    ]
    if "better_by" in defaults:
        better = defaults["better_by"]
        ends = better["interval"]
        interval = f" [{metric.text(ends[0])}, {metric.text(ends[1])}]" if ends else ""
        sentences.append(
            f"The defaults: validation {metric.text(defaults['val']['mean'])}, test "
            f"{metric.text(defaults['test']['mean'])} (scored afterwards). The choice is better by "
            f"{metric.text(better['val'])} in validation, which chose it, and by "
            f"{metric.text(better['test'])}{interval} on the test nodes."
        )
    elif defaults.get("trial") == search["trial"]:
        sentences.append("No trial was better in validation than the defaults: they are the choice.")
    elif defaults:
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
    """What a search was scored by; those of older versions, by accuracy."""
    return metric_named(best.get("metric", "accuracy"))
