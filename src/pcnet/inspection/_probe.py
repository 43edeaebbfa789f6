"""Features only, links only, or both: what predicts the classes, tried out on a few splits."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
import torch

from pcnet.data import Split
from pcnet.errors import PcnetWarning
from pcnet.evaluation import LEVEL, Summary, resampled_t, scores, summarise
from pcnet.graph import CSR, Graph
from pcnet.inspection._links import Neighbours
from pcnet.inspection._sample import is_large, sampled
from pcnet.nn import MLPSettings, ModelSettings, PCNetSettings
from pcnet.training import Run, Targets, TrainingSettings, train

#: The share of each class that validates, and that tests.
HELD = 0.2
TRAINING = TrainingSettings(epochs=500)
#: Fewer labelled nodes than this give test sets of which one node more or less decides.
LEAST = 30
#: Percent points that matter, however sure they are.
POINTS = 1.0

#: The same perceptron with and without a filter behind it; without features, a node is known by its number alone,
#: and half of the numbers are hidden at each step so that a node must learn from its neighbours' classes.
MLP, FILTER = MLPSettings(drop_in=0.3), PCNetSettings(drop_in=0.3, activation="relu")
NUMBERED = PCNetSettings(hidden=None, drop_in=0.5)

Tell = Callable[[str, float], None]


@dataclass(frozen=True)
class Probe:
    """Test accuracy in percent of each way (features, graph, both) over the splits, beside a guess that never changes.

    `missing` says why a way was not tried, `skipped` why none was, `note` what was left out for the sake of time.
    """

    accuracy: Mapping[str, Summary]
    macro_f1: Mapping[str, Summary]
    missing: Mapping[str, str]
    guess: Summary | None = None
    test_per_train: float = 1 / 3
    note: str = ""
    skipped: str = ""

    def gain(self, way: str, other: str) -> float:
        """Percent points that `way` is better than `other`, where that is no accident; 0 where it may be one."""
        known = {**self.accuracy, **({} if self.guess is None else {"guess": self.guess})}
        if way not in known or other not in known:
            return 0.0
        difference = known[way].mean - known[other].mean
        p = resampled_t(known[way].per_run, known[other].per_run, self.test_per_train)
        # The test is two-sided, the question is not: half of p is for differences the other way.
        return difference if difference >= POINTS and p / 2 < LEVEL else 0.0

    def as_dict(self) -> dict[str, Any]:
        ways = {
            way: {**self.accuracy[way].as_dict(), "macro_f1": self.macro_f1[way].as_dict()}
            if way in self.accuracy
            else None
            for way in ("features", "graph", "both")
        }
        guess = None if self.guess is None else self.guess.as_dict()
        words = {"missing": dict(self.missing), "note": self.note or None, "skipped": self.skipped or None}
        return {**ways, "majority": guess, **words}


def probe(
    graph: Graph,
    neighbours: Neighbours,
    *,
    splits: int,
    seed: int,
    threads: int | None = None,
    tell: Tell | None = None,
) -> Probe:
    """Train each way on the same splits, 60/20/20 within every class, and score it on their test nodes.

    Large graphs are sampled (see `sampled`). Test labels choose nothing: they are read when all is trained.
    """
    graph = replace(graph, published_y=None, fixed_splits=())
    reason = _too_few(graph.y)
    if reason:
        return Probe({}, {}, {}, skipped=reason)
    missing = {}
    if graph.schema is not None and graph.schema.structural:
        missing["features"] = "The nodes have no features of their own."
    if neighbours.links.edges == 0:
        missing |= dict.fromkeys(("graph", "both"), "There are no links.")
    note, ways = "", _whole(graph)
    if is_large(graph, neighbours):
        note, ways = sampled(graph, neighbours, seed, MLP)
    ways = {way: pair for way, pair in ways.items() if way not in missing}
    if not ways:
        return Probe({}, {}, missing, skipped="There are neither features nor links to learn from.")
    labels = next(iter(ways.values()))[0].y
    reason = _too_few(labels)
    if reason:
        return Probe({}, {}, missing, skipped=reason)
    drawn = [stratified(labels, seed + number) for number in range(splits)]
    return replace(_trained(ways, drawn, threads, tell), missing=missing, note=note)


def stratified(labels: torch.Tensor, seed: int) -> Split:
    """60/20/20 within every class, as far as whole nodes allow; classes of one or two nodes only train.

    The published protocol takes as many training nodes from each class: small classes are never tested there.
    """
    random = np.random.default_rng(seed)
    y = labels.cpu().numpy()
    parts: list[list[np.ndarray]] = [[], [], []]
    for label in np.unique(y[y >= 0]):
        members = random.permutation(np.flatnonzero(y == label))
        held = max(1, round(HELD * len(members))) if len(members) > 2 else 0
        for part, ids in zip(parts, np.split(members, [len(members) - 2 * held, len(members) - held]), strict=True):
            part.append(ids)
    train, val, test = (torch.from_numpy(np.concatenate(part)) for part in parts)
    return Split(train, val, test, labels, "stratified-60-20-20", seed)


def _whole(graph: Graph) -> dict[str, tuple[Graph, ModelSettings]]:
    numbers = CSR.from_scipy(scipy.sparse.eye(graph.num_nodes, format="csr"))
    nameless = replace(graph, x=numbers, schema=None)
    return {"features": (graph, MLP), "graph": (nameless, NUMBERED), "both": (graph, FILTER)}


def _too_few(y: torch.Tensor) -> str:
    """Why these labels allow no probe; empty where they do."""
    labels = y[y >= 0]
    counts = torch.bincount(labels)
    if int((counts > 0).sum()) < 2:
        return "A probe needs labelled nodes of two classes at least."
    if len(labels) < LEAST:
        return f"{len(labels)} labelled nodes are too few to try anything out; {LEAST} would do."
    if int((counts > 2).sum()) < 2:
        return "Only one class has three nodes or more, so there is nothing to tell it from in a test."
    return ""


def _trained(
    ways: Mapping[str, tuple[Graph, ModelSettings]], splits: Sequence[Split], threads: int | None, tell: Tell | None
) -> Probe:
    targets = [Targets.from_split(split) for split in splits]
    watch = _Share(tell, len(ways) * len(splits) * TRAINING.epochs)
    accuracy, macro_f1 = {}, {}
    for way, (graph, model) in ways.items():
        watch.what = {"features": "features only", "graph": "links only", "both": "features and links"}[way]
        runs = [Run(model, TRAINING, known, split.seed) for known, split in zip(targets, splits, strict=True)]
        with warnings.catch_warnings():
            # That edges are directed is said in the inspection's own words.
            warnings.simplefilter("ignore", PcnetWarning)
            outcomes = train(graph, runs, threads=threads, reporter=watch)
        each = [scores(done.logits, split.labels, split.test) for done, split in zip(outcomes, splits, strict=True)]
        accuracy[way] = summarise([score["accuracy"] for score in each])
        macro_f1[way] = summarise([score["macro_f1"] for score in each])
    sizes = splits[0].sizes
    return Probe(accuracy, macro_f1, {}, summarise([_guess(split) for split in splits]), sizes[2] / sizes[0])


def _guess(split: Split) -> float:
    """Test accuracy of always naming the class that most training nodes have."""
    common = torch.bincount(split.labels[split.train]).argmax()
    return 100.0 * float((split.labels[split.test] == common).double().mean())


class _Share:
    """Epochs of single runs, told as a share of all of them."""

    def __init__(self, tell: Tell | None, epochs: int) -> None:
        self.what = ""
        self._tell, self._all, self._done = tell, epochs, 0
        self._lock = threading.Lock()

    def advance(self, epochs: int) -> None:
        with self._lock:
            self._done += epochs
            if self._tell is not None:
                self._tell(self.what, self._done / self._all)
