"""Search, choose by validation, and only then look at the test nodes, once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from pcnet._checks import whole_number
from pcnet._progress import Progress, Silent
from pcnet.compare import Metric, Summary, difference_interval
from pcnet.data import Split
from pcnet.experiment import Experiment, Result, check_scorable, ratios_of, run_experiment, score_splits, splits_of
from pcnet.graph import Graph
from pcnet.training import Targets
from pcnet.tune._answers import Answers, Weights
from pcnet.tune._choice import choices, ensemble_of, shared_choice, weights_of
from pcnet.tune._leak import ScoresOnTest
from pcnet.tune._reading import reading
from pcnet.tune._search import DEFAULTS, Search
from pcnet.tune._select import LIBRARY
from pcnet.tune._store import Store
from pcnet.tune._strategies import Results
from pcnet.tune._worker import PAUSE, Worker

#: The claim of who chooses and scores; no trial has this number.
FINISH = DEFAULTS - 1


@dataclass(frozen=True)
class Tuned:
    """A finished search: the content of `best.json`, and the validation scores that it was chosen by."""

    best: dict[str, Any]
    results: Results


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
    """Search for the settings with the best validation scores, then score them on the test nodes.

    Each split chooses by its own validation nodes: one trial, and an ensemble of trials. With `search.shared` all
    splits choose one trial together, by the mean. The score is the experiment's metric; the defaults are tried too, and
    scored next to the choice. Everything is kept in the folder `store`: a search that was killed goes on from there,
    several processes of one machine may work on it, and of a finished one the result is read back. Test labels are read
    after all choices are on disk, for them and the defaults alone; with `search.leak` also during the search, which
    does not see them. `provenance` is added to what `best.json` says. A `PcnetError` is raised where the folder holds
    something else or another search, and where every trial diverged.

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
    targets, shown = [Targets.from_split(split) for split in splits], progress or Silent()
    with Store(store, search.description(graph, splits, targets)) as place:
        scores = place.enter_context(ScoresOnTest(splits, search.metric, place.folder)) if search.leak else None
        answers = None
        if not search.shared:
            tests = [split.test for split in splits]
            answers = place.enter_context(Answers(place.folder, targets, tests, LIBRARY, search.defaults_trial))
        if not _is_finished(place):
            observers = [each for each in (answers, scores) if each is not None]
            Worker(graph, search, targets, place, threads, torch.device(device), shown, observers).run()
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
                _finish(graph, search, splits, place, answers, scores, score, provenance or {})
            with place.transaction():
                place.release([FINISH])
        return Tuned(place.best or {}, place.results())


def _is_finished(store: Store) -> bool:
    """Whether the choice was scored."""
    return "test" in (store.best or {})


def _finish(
    graph: Graph,
    search: Search,
    splits: Sequence[Split],
    store: Store,
    answers: Answers | None,
    scores: ScoresOnTest | None,
    score: Callable[[Experiment], Result],
    provenance: Mapping[str, Any],
) -> None:
    """Write the choices down; then, and not before, score them, and the defaults next to them."""
    metric, results, defaults = search.metric, store.results(), search.defaults_trial
    found: Callable[[Sequence[Weights]], dict[str, Summary]]
    if answers is None:
        best = {"overlap": overlap(splits), **shared_choice(search, results), **provenance}
        chosen: list[Weights] = [{best["search"]["trial"]: 1}] * len(splits)

        def found(weights: Sequence[Weights]) -> dict[str, Summary]:
            [trial] = weights[0]
            return score(search.experiment_of(results, trial)).test

    else:
        best = {**choices(search, splits, results, answers), **provenance}
        chosen = weights_of(best["per_split"])
        store.write_ensemble(ensemble_of(best))
        found = partial(_scored, graph, search.experiment, splits, answers)
    store.write_best(best)
    store.log(
        f"{'One setting' if search.shared else 'A setting for each split'} was chosen by a mean validation "
        f"{metric.title} of {metric.text(best['val']['mean'])}."
    )
    whole = found(chosen)
    test, better_by = whole[metric.name], partial(_better_by, metric, ratios_of(splits))
    best["test"] = test.as_dict()
    best["test_metrics"] = {name: summary.as_dict() for name, summary in whole.items() if name != metric.name}
    best["split_hashes"] = [split.hash for split in splits]
    best["notes"] += dict.fromkeys(note for split in splits for note in split.notes)
    for rule in best.get("ensembles", {}).values():
        other = found(weights_of(rule["per_split"]))[metric.name]
        rule |= {"test": other.as_dict(), "better_by": better_by((rule["val"], other), (best["val"], test))}
    own = best["defaults"]
    if all({*weights} == {defaults} for weights in chosen):
        own["test"] = best["test"]
    elif own["val"] is not None:
        other = found([{defaults: 1}] * len(splits))[metric.name]
        own |= {"test": other.as_dict(), "better_by": better_by((best["val"], test), (own["val"], other))}
    if scores is not None:
        best["leak"] = scores.leak([trial for weights in chosen for trial in weights], search.shared)
        if search.published is not None:
            published = score(replace(search.published, seeds=search.experiment.seeds))
            best["published"]["test"] = published.test[metric.name].as_dict()
            best["published"]["val"] = published.val[metric.name].as_dict()
    for sentence in reading(best):
        store.log(sentence)
    if answers is not None:
        store.write_ensemble(ensemble_of(best))
    store.write_best(best)


def _scored(
    graph: Graph, experiment: Experiment, splits: Sequence[Split], answers: Answers, weights: Sequence[Weights]
) -> dict[str, Summary]:
    """The test scores of what each split chose, from what is kept of its trials: nothing is trained for them."""
    logits = []
    for number, (split, own) in enumerate(zip(splits, weights, strict=True)):
        whole = torch.zeros(graph.num_nodes, int(split.labels.max()) + 1)
        whole[split.val], whole[split.test] = answers.together(number, own)
        logits.append(whole)
    return score_splits(graph, experiment, splits, logits)[0]


def _better_by(
    metric: Metric, ratios: Sequence[float], one: tuple[Mapping[str, Any], Summary], other: tuple[Any, Summary]
) -> dict[str, Any]:
    """How much better one is than the other: in validation, and on the test nodes with an interval."""
    (val, test), (other_val, other_test) = one, other
    first, second = (test, other_test) if metric.sign > 0 else (other_test, test)
    interval = difference_interval(first, second, ratios)
    return {
        "val": metric.sign * (val["mean"] - other_val["mean"]),
        "test": first.mean - second.mean,
        "interval": interval and list(interval),
    }


def overlap(splits: Sequence[Split]) -> float:
    """The share of a split's test nodes that are validation nodes of other splits, on average."""
    shares = []
    for place, split in enumerate(splits):
        others = [other.val for number, other in enumerate(splits) if number != place]
        shares.append(float(torch.isin(split.test, torch.cat([split.test[:0], *others])).double().mean()))
    return math.fsum(shares) / len(shares)
