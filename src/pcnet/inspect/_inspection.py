"""Everything about a graph that decides how to learn from it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Protocol

from pcnet._checks import whole_number
from pcnet.compare import default_metric, metric_named
from pcnet.data import STRATIFIED, make_split
from pcnet.errors import PcnetError, PcnetWarning
from pcnet.graph import Graph
from pcnet.inspect._advice import Advice, advise
from pcnet.inspect._classes import Classes, Homophily
from pcnet.inspect._features import Features
from pcnet.inspect._frequencies import Frequencies
from pcnet.inspect._links import Links, Neighbours
from pcnet.inspect._probe import Probe
from pcnet.inspect._trial import probe


class Watcher(Protocol):
    """Is told what is being done and which share of all is behind it; called from several threads."""

    def tell(self, what: str, done: float) -> None: ...


@dataclass(frozen=True, eq=False)
class Inspection:
    """What `inspect_graph` found, part by part; `probe` is None where none was asked for."""

    name: str
    links: Links
    classes: Classes
    homophily: Homophily
    features: Features
    frequencies: Frequencies
    probe: Probe | None
    advice: Advice
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As plain data for JSON; a measure that is undefined is null, and the reason stands beside it.

        Counts of nodes, edges and labels stand at the top, `homophily`, `features` and `spectrum` in parts of their
        own, and so does the `probe` (see `Probe.as_dict`); `pattern`, `verdict`, `advice`, `warnings` and `methods`,
        best first, are the conclusions.
        """
        return {
            "graph": self.name,
            **self.links.as_dict(),
            **self.classes.as_dict(),
            **self.homophily.as_dict(),
            "features": self.features.as_dict(),
            "spectrum": self.frequencies.as_dict(),
            "probe": None if self.probe is None else self.probe.as_dict(),
            **self.advice.as_dict(),
            "notes": list(self.notes),
        }


def inspect_graph(
    graph: Graph,
    *,
    splits: int | None = None,
    seed: int = 0,
    metric: str | None = None,
    threads: int | None = None,
    device: str = "cpu",
    with_probe: bool = True,
    reporter: Watcher | None = None,
) -> Inspection:
    """Measure a graph, try out on a few splits what predicts its classes, and advise.

        >>> found = inspect_graph(pcnet.load_dataset("citeseer"))
        >>> found.homophily.edge, found.advice.verdict
        (0.737..., 'both')

    The probe trains methods with their defaults: an MLP on the features, two that see nothing but the links, and PCNet,
    GCN and, where time allows, ACM-GCN, LINKX and H₂GCN on both. Each is scored by `metric` (accuracy, or ROC-AUC where
    one of two classes has more than 65 %) on stratified splits: `splits` of them, else five, or fewer on a large graph.
    All labels are looked at: what is advised here is no result to report.
    """
    splits, seed = None if splits is None else whole_number("splits", splits, 2), whole_number("seed", seed)
    scored_by = default_metric(graph.y) if metric is None else metric_named(metric)
    watch = _Nobody() if reporter is None else reporter
    watch.tell("links", 0.0)
    neighbours = Neighbours.of(graph)
    watch.tell("classes", 0.05)
    classes, homophily, features = Classes.of(graph), Homophily.of(graph, neighbours), Features.of(graph)
    watch.tell("spectrum", 0.1)
    with warnings.catch_warnings():
        # That edges are directed is said in words of its own.
        warnings.simplefilter("ignore", PcnetWarning)
        frequencies = Frequencies.of(graph)
    tried = None
    if with_probe:
        tried = probe(
            graph,
            neighbours,
            features,
            splits=splits,
            seed=seed,
            metric=metric,
            threads=threads,
            device=device,
            tell=lambda what, share: watch.tell(what, 0.2 + 0.8 * share),
        )
    advice = advise(
        neighbours.links, classes, homophily, features, tried, metric=scored_by, untrainable=_untrainable(graph)
    )
    return Inspection(
        graph.name, neighbours.links, classes, homophily, features, frequencies, tried, advice, graph.notes
    )


def _untrainable(graph: Graph) -> str:
    """Why nothing can be trained on the graph, and what it would take; empty where something can."""
    present = graph.y[graph.y >= 0].unique()
    if len(present) == 0:
        return (
            "Nothing can be trained yet: no node has a label. Name the column that holds them with "
            "--read label=COLUMN, or label nodes of two classes or more."
        )
    if len(present) == 1:
        only = graph.class_names[int(present[0])]
        return f"Nothing can be trained yet: every label is '{only}'. Label nodes of another class, too."
    try:
        make_split(graph, STRATIFIED, 0)
    except PcnetError as error:
        return f"Nothing can be trained yet: {error}"
    return ""


class _Nobody:
    def tell(self, what: str, done: float) -> None:
        pass
