"""What a probe may train: methods with the defaults that `pcnet train` gives them, and the same without features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import scipy.sparse
import torch

from pcnet.data import STRATIFIED
from pcnet.experiment import Experiment, resolve
from pcnet.graph import CSR, Graph
from pcnet.inspect._features import Features
from pcnet.inspect._links import Neighbours
from pcnet.inspect._methods import tuned_for
from pcnet.inspect._price import Size
from pcnet.inspect._sample import sampled
from pcnet.inspect._tried import Way

#: Cheap enough for every graph that is not sampled; and those that are tried where time allows.
BASIC, OTHERS = ("mlp", "pcnet", "gcn"), ("acmgcn", "linkx", "h2gcn")

#: What perceptrons see of a large graph.
SAMPLED: Mapping[Way, str] = {"features": "mlp", "graph": "mlp of the links", "both": "mlp of features and links"}


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


def candidates(graph: Graph, neighbours: Neighbours, features: Features, metric: str | None) -> list[Candidate]:
    """All that make sense on a graph: what sees features alone, links alone, or both.

    Without features the nodes have their numbers, one column for each, which GCN averages; LINKX sees who is linked to
    whom anyway. Where the features were computed from the links, all methods see links alone.
    """
    size = Size.of(graph, neighbours)
    linked = "graph" not in missing_ways(features, neighbours)
    found = []
    for method in (*BASIC, *OTHERS) if linked else ("mlp",):
        way: Way = "graph" if features.structural else "features" if method == "mlp" else "both"
        for settings in dict.fromkeys([(), tuned_for(method, features)]):
            experiment = resolve(graph, method, protocol=STRATIFIED, metric=metric, overrides=settings)
            name = " ".join((method, *settings))
            found.append(Candidate(way, name, graph, experiment, size.seconds(method), method, settings))
    if linked:
        nodes = graph.num_nodes
        numbers = CSR.from_scipy(scipy.sparse.eye(nodes, format="csr", dtype="float32"))
        for method, x in (("gcn", numbers), ("linkx", torch.zeros(nodes, 1))):
            bare = replace(graph, x=x, schema=None)
            experiment = resolve(bare, method, protocol=STRATIFIED, metric=metric)
            seconds = replace(size, values=nodes).seconds(method)
            found.append(Candidate("graph", f"{method} without features", bare, experiment, seconds))
    return found


def sample_candidates(
    graph: Graph, neighbours: Neighbours, features: Features, seed: int, metric: str | None
) -> tuple[str, list[Candidate]]:
    """A perceptron for each way on a sample of the nodes of a large graph, and a sentence on the sample."""
    note, seen = sampled(graph, neighbours, seed)
    found = []
    for way, table in seen.items():
        if way not in missing_ways(features, neighbours):
            experiment = resolve(table, "mlp", protocol=STRATIFIED, metric=metric)
            found.append(Candidate(way, SAMPLED[way], table, experiment, 1.0))
    return note, found


def missing_ways(features: Features, neighbours: Neighbours) -> dict[Way, str]:
    """Which ways make no sense on a graph, and why."""
    missing: dict[Way, str] = {}
    if neighbours.links.edges == 0:
        missing |= {"graph": "There are no links.", "both": "There are no links."}
    if features.structural:
        own = "The nodes have no features of their own."
        missing |= {"features": own, "both": missing.get("both", own)}
    return missing
