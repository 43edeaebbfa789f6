"""Features only, links only, or both: each is trained on a few splits of the labelled nodes."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse
import torch

from pcnet.data import Split
from pcnet.errors import PcnetWarning
from pcnet.evaluation import Summary, scores, summarise
from pcnet.graph import CSR, Graph
from pcnet.inspection._links import Neighbours
from pcnet.inspection._probe import GUESS, Metric, Probe
from pcnet.inspection._sample import LARGE, sampled, step_size
from pcnet.nn import MLPSettings, ModelSettings, PCNetSettings
from pcnet.training import Run, Targets, TrainingSettings, train

#: The share of each class that validates, and that tests.
HELD = 0.2
TRAINING = TrainingSettings(epochs=500)
#: Numbers that a whole training of one run may touch: larger graphs get fewer epochs, down to FEWEST.
WORK, FEWEST = 150_000_000, 100
#: From this share of the most frequent class on, macro-F1 decides, and training counts all classes alike.
FREQUENT = 0.8
#: Fewer labelled nodes than this give test sets of which one node more or less decides.
LEAST = 30

#: The same perceptron with and without a filter behind it; without features, a node is known by its number alone,
#: and half of the numbers are hidden at each step so that a node must learn from its neighbours' classes.
MLP, FILTER = MLPSettings(drop_in=0.3), PCNetSettings(drop_in=0.3, activation="relu")
NUMBERED = PCNetSettings(hidden=None, drop_in=0.5)

Tell = Callable[[str, float], None]


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
    missing = _missing(graph, neighbours)
    ways, training, note = _planned(graph, neighbours, seed)
    ways = {way: pair for way, pair in ways.items() if way not in missing}
    if not ways:
        return Probe({}, {}, missing, skipped="There are neither features nor links to learn from.")
    # Those of the sampled nodes, where nodes are sampled.
    labels = next(iter(ways.values()))[0].y
    reason = _too_few(labels)
    if reason:
        return Probe({}, {}, missing, skipped=reason)
    metric: Metric = "accuracy"
    if float(torch.bincount(labels[labels >= 0]).max() / (labels >= 0).sum()) >= FREQUENT:
        metric, training = "macro_f1", replace(training, class_weight="balanced", select="val_balanced_loss")
    drawn = [stratified(labels, seed + number) for number in range(splits)]
    found = _trained(ways, drawn, training, threads, tell)
    return replace(found, missing=missing, note=note, metric=metric)


def _missing(graph: Graph, neighbours: Neighbours) -> dict[str, str]:
    """Which ways make no sense on this graph, and why."""
    missing = {}
    if graph.schema is not None and graph.schema.structural:
        missing["features"] = "The nodes have no features of their own."
    if neighbours.links.edges == 0:
        missing |= dict.fromkeys(("graph", "both"), "There are no links.")
    return missing


def _planned(
    graph: Graph, neighbours: Neighbours, seed: int
) -> tuple[dict[str, tuple[Graph, ModelSettings]], TrainingSettings, str]:
    """What is trained, how, and a sentence on what was cut for the sake of time."""
    size = step_size(graph, neighbours)
    if size > LARGE:
        note, ways = sampled(graph, neighbours, seed, MLP)
        return ways, TRAINING, note
    numbers = CSR.from_scipy(scipy.sparse.eye(graph.num_nodes, format="csr"))
    nameless = replace(graph, x=numbers, schema=None)
    ways = {"features": (graph, MLP), "graph": (nameless, NUMBERED), "both": (graph, FILTER)}
    epochs = min(TRAINING.epochs, max(FEWEST, WORK // size))
    note = "" if epochs == TRAINING.epochs else f"To keep it short, no more than {epochs} epochs are trained."
    return ways, replace(TRAINING, epochs=epochs), note


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
    ways: Mapping[str, tuple[Graph, ModelSettings]],
    splits: Sequence[Split],
    training: TrainingSettings,
    threads: int | None,
    tell: Tell | None,
) -> Probe:
    targets = [Targets.from_split(split) for split in splits]
    watch = _Share(tell, len(ways) * len(splits) * training.epochs)
    logits = {GUESS: [_guess(known, len(split.labels)) for known, split in zip(targets, splits, strict=True)]}
    for way, (graph, model) in ways.items():
        watch.what = {"features": "features only", "graph": "links only", "both": "features and links"}[way]
        runs = [Run(model, training, known, split.seed) for known, split in zip(targets, splits, strict=True)]
        with warnings.catch_warnings():
            # That edges are directed is said in the inspection's own words.
            warnings.simplefilter("ignore", PcnetWarning)
            outcomes = train(graph, runs, threads=threads, reporter=watch)
        logits[way] = [outcome.logits for outcome in outcomes]
    found: dict[str, dict[str, Summary]] = {"accuracy": {}, "macro_f1": {}}
    for way, each in logits.items():
        tested = [scores(own, split.labels, split.test) for own, split in zip(each, splits, strict=True)]
        for metric, summaries in found.items():
            summaries[way] = summarise([score[metric] for score in tested])
    train_size, _, test_size = splits[0].sizes
    return Probe(found["accuracy"], found["macro_f1"], {}, test_per_train=test_size / train_size)


def _guess(known: Targets, nodes: int) -> torch.Tensor:
    """Logits that always name the class of most training nodes."""
    return torch.bincount(known.train_labels, minlength=known.num_classes).float().expand(nodes, -1)


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
