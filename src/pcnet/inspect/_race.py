"""Methods with their defaults race on a few splits of the labelled nodes: what is clearly worse trains no further."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet._progress import OneStage, Progress
from pcnet.compare import METRICS, Metric, default_metric, metric_named
from pcnet.data import STRATIFIED, Split, make_split
from pcnet.errors import PcnetError
from pcnet.experiment import Experiment, resolve
from pcnet.graph import CSR, Graph, Neighbours
from pcnet.inspect._advice import tuned_for
from pcnet.inspect._measures import Features
from pcnet.inspect._probe import RESAMPLES, WAYS, Attempt, Estimate, Probe, Way, difference, redrawn
from pcnet.training import Run, Targets, train

#: Fewer labelled nodes than this give test sets of which one node more or less decides.
LEAST = 30
#: Cheap enough for every graph that is not sampled; and those that are tried where time allows.
BASIC, OTHERS = ("mlp", "pcnet", "gcn"), ("acmgcn", "linkx", "h2gcn")
#: What perceptrons see of a large graph.
SAMPLED: Mapping[Way, str] = {"features": "mlp", "graph": "mlp of the links", "both": "mlp of features and links"}
#: Walks of two steps that are followed in a second or so.
COUNTABLE = 20_000_000
#: Microseconds of a run with defaults for each count of `Size`, and seconds that any run takes; good to a factor of
#: two. From graphs of 183 to 7,650 nodes, on one core of an AMD EPYC.
PRICES: Mapping[str, tuple[tuple[float, float, float, float], float]] = {
    "mlp": ((2.4, 0.0, 60.0, 0.0), 0.2),
    "gcn": ((2.0, 2.5, 250.0, 0.0), 0.2),
    "pcnet": ((1.5, 2.0, 0.0, 0.0), 0.2),
    "acmgcn": ((3.0, 1.1, 500.0, 0.0), 0.4),
    "linkx": ((6.0, 10.0, 2000.0, 0.0), 0.4),
    "h2gcn": ((0.0, 0.0, 5400.0, 25.0), 1.5),
}
#: Splits on which everything is tried, what is clearly worse than another of its way on no more of them; and splits in
#: all, where nobody says how many and time allows.
FIRST, USUAL = 2, 5
#: Seconds of one core that the first splits may take, and all of them.
FIRST_BUDGET, BUDGET = 200.0, 120.0
#: Nodes of a sample, and columns of it that are carried over the links: features beyond are mixed by random signs,
#: rare classes are left out.
NODES, COLUMNS = 10_000, 32

Table = NDArray[np.float32]


def probe(
    graph: Graph,
    neighbours: Neighbours,
    features: Features,
    progress: Progress,
    splits: int | None = None,
    seed: int = 0,
    metric: str | None = None,
    threads: int | None = None,
    device: str = "cpu",
) -> Probe:
    """Train methods on the same stratified splits, 60/20/20, and score them on the test nodes.

    What is tried follows from the size of the graph (see `planned`): all on the first splits, and on more of them what
    may be the best of its way. Test labels choose no epoch: they are read when a run is trained.
    """
    graph = replace(graph, published_y=None, fixed_splits=())
    decides = default_metric(graph.y) if metric is None else metric_named(metric)
    missing = missing_ways(features, neighbours)
    nothing = "There are neither features nor links to learn from." if len(missing) == len(WAYS) else ""
    if reason := _too_few(graph.y) or nothing:
        return Probe(decides, missing=missing, skipped=reason)
    plan = planned(graph, neighbours, features, splits, seed, metric)
    # Those of the sampled nodes, where nodes are sampled.
    graph = plan.candidates[0].graph
    if reason := _too_few(graph.y):
        return Probe(decides, missing=missing, skipped=reason)
    drawn = [make_split(graph, STRATIFIED, seed + number) for number in range(plan.splits)]
    attempt = partial(_attempt, metric=decides, progress=progress, threads=threads, device=device)
    first = drawn[:FIRST]
    outcomes = {each: attempt(each, first) for each in plan.candidates}
    failed = {each.name: found for each, found in outcomes.items() if isinstance(found, str)}
    attempts = {each: found for each, found in outcomes.items() if isinstance(found, Attempt)}
    if not attempts:
        return Probe(decides, missing=missing, skipped=next(iter(failed.values())))
    kept = [
        each
        for each, own in attempts.items()
        if not any(own.way == other.way and difference(other, own, decides.sign).low > 0 for other in attempts.values())
    ]
    rest = drawn[FIRST:][: plan.further(kept)]
    for each in kept if rest else []:
        more = attempt(each, rest)
        if isinstance(more, Attempt):
            attempts[each] = attempts[each].joined(more)
        elif len(attempts) > 1:
            # What fails on a later split was not given up for being worse.
            del attempts[each]
            failed[each.name] = more
    run = [*first, *rest]
    note = plan.note
    if not note and len(run) < plan.splits:
        note = f"{len(run)} splits instead of {plan.splits} to keep it short; --splits takes the time."
    tried, left_out = tuple(attempts.values()), {**plan.left_out, **failed}
    found = Probe(decides, tried, _guess(run, decides), missing, left_out, note=note)
    return found if found.over_guess.by.low > 0 else replace(found, signal=_signal(found.attempts, run))


def _attempt(
    candidate: Candidate, splits: Sequence[Split], metric: Metric, progress: Progress, threads: int | None, device: str
) -> Attempt | str:
    """A candidate's scores on these splits, or why there are none."""
    model, training = candidate.experiment.model, candidate.experiment.training
    runs = [Run(model, training, Targets.from_split(each), each.seed) for each in splits]
    progress.stage(f"trying {candidate.name}", len(runs) * training.epochs)
    shown = OneStage(progress, "training")
    try:
        outcomes = train(candidate.graph, runs, threads=threads, device=device, progress=shown)
    except PcnetError as error:
        return str(error)
    except (MemoryError, torch.cuda.OutOfMemoryError):
        return "There is not enough memory for it."
    if any(outcome.diverged for outcome in outcomes):
        return "Its training diverged."
    logits = [outcome.logits[each.test].cpu() for outcome, each in zip(outcomes, splits, strict=True)]
    found = _scored(candidate.way, candidate.name, logits, splits, metric)
    return replace(found, method=candidate.method, settings=candidate.settings)


def _too_few(y: Tensor) -> str:
    """Why these labels allow no probe; empty where they do."""
    labels = y[y >= 0]
    counts = torch.bincount(labels)
    if int((counts > 0).sum()) < 2:
        return "A probe needs labelled nodes of two classes at least."
    if len(labels) < LEAST:
        return f"{len(labels)} labelled nodes are too few to try anything out; {LEAST} would do."
    if int((counts > 2).sum()) < 2:
        return "Only one class has three nodes or more, so a test has nothing to distinguish it from."
    return ""


def _guess(splits: Sequence[Split], metric: Metric) -> Attempt:
    """Always as often each class as in training: the log of its share."""
    shares = []
    for split in splits:
        counts = torch.bincount(split.labels[split.train], minlength=int(split.labels.max()) + 1)
        shares.append((counts / counts.sum()).clamp(min=1e-9).log().expand(len(split.test), -1))
    return _scored("guess", "always the same", shares, splits, metric)


def _signal(attempts: Sequence[Attempt], splits: Sequence[Split]) -> Estimate:
    """By how many points of ROC-AUC the best is above the 50 of any guess, whatever decides elsewhere."""
    metric, blind = METRICS["roc_auc"], np.full((len(splits), RESAMPLES), 50.0)
    found = tuple(_scored(each.way, each.name, each.logits, splits, metric) for each in attempts)
    return Probe(metric, found, Attempt("guess", "", blind[:, 0], blind)).over_guess.by


def _scored(way: Way, name: str, logits: Sequence[Tensor], splits: Sequence[Split], metric: Metric) -> Attempt:
    """Scores of these logits on test nodes; where there are fewer than splits, they are of the first ones."""
    pairs = [(own, split.labels[split.test], split.seed) for own, split in zip(logits, splits, strict=False)]
    per_run = np.array([metric.score(own, labels) for own, labels, _ in pairs])
    return Attempt(way, name, per_run, np.stack([redrawn(metric, *pair) for pair in pairs]), logits=tuple(logits))


class Size(NamedTuple):
    """What a step of training touches: stored feature values, links both ways, nodes, and pairs two links from each
    other.
    """

    values: int
    links: int
    nodes: int
    pairs: int

    @staticmethod
    def of(graph: Graph, neighbours: Neighbours) -> Size:
        values = graph.x.nnz if isinstance(graph.x, CSR) else graph.x.numel()
        matrix, n = neighbours.matrix, graph.num_nodes
        walks = int((np.diff(matrix.indptr).astype(np.int64) ** 2).sum())
        # Where there are too many walks of two steps to count what they reach, from above.
        pairs = (matrix @ matrix).nnz if walks <= COUNTABLE else min(n * n, walks)
        return Size(values, matrix.nnz, n, pairs)

    def seconds(self, method: str) -> float:
        """One run on one core."""
        each, start = PRICES[method]
        return start + 1e-6 * sum(price * count for price, count in zip(each, self, strict=True))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A way to predict the classes: a graph that shows no more than it may see, and how it is trained on it.

    `seconds` is about how long one run takes on one core; `method` is empty where no command trains the like.
    """

    way: Way
    name: str
    graph: Graph
    experiment: Experiment
    seconds: float
    method: str = ""
    settings: tuple[str, ...] = ()

    @property
    def basic(self) -> bool:
        """Whether it is tried on every graph."""
        return self.name.split()[0] in BASIC


def candidates(graph: Graph, neighbours: Neighbours, features: Features, metric: str | None) -> Iterator[Candidate]:
    """All that make sense on a graph: what sees features alone, links alone, or both.

    Without features the nodes have their numbers, one column for each, which GCN averages; LINKX sees who is linked to
    whom anyway. Where the features were computed from the links, all methods see links alone.
    """
    size, linked = Size.of(graph, neighbours), neighbours.links.edges > 0
    for method in (*BASIC, *OTHERS) if linked else ("mlp",):
        way: Way = "graph" if features.structural else "features" if method == "mlp" else "both"
        for settings in dict.fromkeys([(), tuned_for(method, features)]):
            experiment = resolve(graph, method, protocol=STRATIFIED, metric=metric, overrides=settings)
            name = " ".join((method, *settings))
            yield Candidate(way, name, graph, experiment, size.seconds(method), method, settings)
    n = graph.num_nodes
    numbers = CSR.from_scipy(scipy.sparse.eye(n, format="csr", dtype="float32"))
    seen: dict[str, torch.Tensor | CSR] = {"gcn": numbers, "linkx": torch.zeros(n, 1)}
    for method, x in seen.items() if linked else ():
        bare = replace(graph, x=x, schema=None)
        experiment = resolve(bare, method, protocol=STRATIFIED, metric=metric)
        seconds = size._replace(values=n).seconds(method)
        yield Candidate("graph", f"{method} without features", bare, experiment, seconds)


def missing_ways(features: Features, neighbours: Neighbours) -> dict[Way, str]:
    """Which ways make no sense on a graph, and why."""
    missing: dict[Way, str] = {}
    if features.structural:
        missing |= dict.fromkeys(("features", "both"), "The nodes have no features of their own.")
    if neighbours.links.edges == 0:
        missing |= dict.fromkeys(("graph", "both"), "There are no links.")
    return missing


@dataclass(frozen=True, eq=False)
class Plan:
    """What is trained, on how many splits at most, what is not and why, and a sentence on what was cut short."""

    candidates: list[Candidate]
    splits: int
    left_out: Mapping[str, str]
    note: str = ""
    #: Whether the number of splits was asked for: then there are no fewer, whatever time they take.
    asked: bool = False

    def further(self, kept: Sequence[Candidate]) -> int:
        """How many splits follow the first ones for those that were not given up."""
        rest = max(0, self.splits - FIRST)
        left = BUDGET - FIRST * _seconds(self.candidates)
        return rest if self.asked else min(rest, max(0, int(left / _seconds(kept))))


def planned(
    graph: Graph, neighbours: Neighbours, features: Features, splits: int | None, seed: int, metric: str | None
) -> Plan:
    """The basic methods, and of the others the cheapest while the first splits of all of them fit into the time.

    Where not even the basic ones do, perceptrons are trained for each way on a sample of the nodes (see `sampled`).
    """
    everything = list(candidates(graph, neighbours, features, metric))
    chosen = [each for each in everything if each.basic]
    # Methods that may be advised come before those that only show what links are worth.
    others = sorted((each for each in everything if not each.basic), key=lambda each: (not each.method, each.seconds))
    count, asked = splits or USUAL, splits is not None
    if FIRST * _seconds(chosen) > FIRST_BUDGET:
        note, tables = sampled(graph, neighbours, seed)
        chosen = [
            Candidate(way, SAMPLED[way], table, resolve(table, "mlp", protocol=STRATIFIED, metric=metric), 1.0)
            for way, table in tables.items()
            if way not in missing_ways(features, neighbours)
        ]
        left_out = {each.method: "The graph is too large." for each in others if each.method}
        return Plan(chosen, count, left_out, note, asked)
    left_out = {}
    for each in others:
        if FIRST * _seconds([*chosen, each]) <= FIRST_BUDGET:
            chosen.append(each)
        elif each.method:
            minutes = max(1, round(each.seconds / 60))
            long = f"{minutes} min" if minutes < 90 else f"{round(minutes / 60)} h"
            left_out[each.method] = f"It would take about {long} of one core for every split."
    return Plan(chosen, count, left_out, asked=asked)


def _seconds(some: Iterable[Candidate]) -> float:
    """Of one run of each, on one core."""
    return sum(each.seconds for each in some)


def sampled(graph: Graph, neighbours: Neighbours, seed: int) -> tuple[str, dict[Way, Graph]]:
    """A node of a large graph and its neighbourhood as a row of a small table, so that a probe stays affordable.

    A sentence on what was done, and for features, graph and both the sampled nodes with such columns, without links.

    With P = D⁻¹A: features x_i; links (PY)_i, (P²Y)_i and log degree; both all of these and (PX)_i, (P²X)_i. Y holds
    the classes of labelled nodes outside the sample, so that no column knows the class of the node it belongs to.
    """
    random = np.random.default_rng(seed)
    labels = graph.y.cpu().numpy()
    known = random.permutation(np.flatnonzero(labels >= 0))
    count = min(NODES, len(known) // 2)
    nodes = np.sort(known[:count])
    degree = np.diff(neighbours.matrix.indptr)
    walk = scipy.sparse.diags((1.0 / np.maximum(degree, 1)).astype(np.float32)) @ neighbours.matrix.astype(np.float32)
    x: Any = graph.x.to_scipy() if isinstance(graph.x, CSR) else graph.x.cpu().numpy()
    if x.shape[1] > COLUMNS:
        few = x @ random.choice(np.array([-1.0, 1.0], dtype=np.float32), size=(x.shape[1], COLUMNS))
    else:
        few = x.toarray() if isinstance(graph.x, CSR) else x

    def hops(table: Table) -> list[Table]:
        once = walk @ table
        return [once[nodes], (walk @ once)[nodes]]

    around = [*hops(_classes_of(labels, known[count:])), np.log1p(degree[nodes, None])]
    own, links, both = x[nodes], _standardised(around), _standardised([*around, *hops(few.astype(np.float32))])
    seen: dict[Way, torch.Tensor | CSR] = {"graph": torch.from_numpy(links)}
    if isinstance(graph.x, CSR):
        joined = scipy.sparse.hstack([own, scipy.sparse.csr_matrix(both)])
        seen |= {"features": CSR.from_scipy(own, graph.x.dtype), "both": CSR.from_scipy(joined, graph.x.dtype)}
    else:
        joined = np.concatenate([own, both.astype(own.dtype)], axis=1)
        seen |= {"features": torch.from_numpy(own), "both": torch.from_numpy(joined)}
    note = (
        f"The graph is large: perceptrons are trained on {count:,} of {len(known):,} labelled nodes, and see the links "
        "as what lies one and two steps away."
    )
    no_edges, y = torch.empty(2, 0, dtype=torch.int64), torch.from_numpy(labels[nodes])
    return note, {way: Graph(no_edges, seen[way], y, name=graph.name, classes=graph.classes) for way in WAYS}


def _classes_of(labels: NDArray[np.int64], nodes: NDArray[np.int64]) -> Table:
    """Y: one column for each frequent class, 1 where a node is of it."""
    counts = np.bincount(labels[nodes])
    frequent = np.argsort(-counts, kind="stable")[: min(COLUMNS, np.count_nonzero(counts))]
    table = np.zeros((len(labels), len(frequent)), dtype=np.float32)
    table[nodes] = labels[nodes, None] == frequent
    return table


def _standardised(tables: list[Table]) -> Table:
    table = np.concatenate(tables, axis=1)
    spread = table.std(axis=0)
    return ((table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).astype(np.float32)
