"""Everything about a graph that decides how to learn from it."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import Any

from pcnet._checks import whole_number
from pcnet._progress import Progress, Silent
from pcnet.compare import default_metric, metric_named
from pcnet.data import STRATIFIED, make_split
from pcnet.errors import PcnetError, PcnetWarning
from pcnet.graph import Graph, Homophily, Links, Neighbours
from pcnet.inspect._advice import Advice, advise
from pcnet.inspect._measures import Classes, Features, Frequencies
from pcnet.inspect._probe import Probe
from pcnet.inspect._race import probe


@dataclass(frozen=True, eq=False)
class Inspection:
    """What `inspect_graph` found, part by part; `probe` is None where none was asked for.

    >>> from pcnet import csbm, inspect_graph
    >>> found = inspect_graph(csbm(100, 1.0), with_probe=False)
    >>> found.links.edges, found.classes.counts, found.advice.pattern
    (242, (50, 50), 'alike')
    """

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
        """As plain data for JSON; a measure that is undefined is null, with the reason in `homophily_undefined`.

        Counts of nodes, edges and labels stand at the top, `homophily`, `features` and `spectrum` in parts of their
        own, and so does the `probe` (see `Probe.as_dict`); `pattern`, `verdict`, `advice`, `warnings` and `methods`,
        best first, are the conclusions.
        """
        return {
            "graph": self.name,
            **asdict(self.links),
            **self.classes.as_dict(),
            **self.homophily.as_dict(),
            "features": asdict(self.features),
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
    progress: Progress | None = None,
) -> Inspection:
    """Measure a graph, try out on a few splits what predicts its classes, and advise.

        >>> from pcnet import inspect_graph, load_dataset
        >>> found = inspect_graph(load_dataset("citeseer"), with_probe=False)
        >>> round(found.homophily.edge, 3), found.advice.methods[0].method
        (0.738, 'pcnet')

    The probe trains methods with their defaults: an MLP on the features, two that see nothing but the links, and PCNet,
    GCN and, where time allows, ACM-GCN, LINKX and H₂GCN on both, each on stratified splits. All labels are looked at:
    what is advised here is no result to report.

    Args:
        graph: the graph to look at.
        splits: number of splits, at least 2; five where it is None, or fewer on a large graph.
        seed: of the first split.
        metric: what scores; where it is None, accuracy, or ROC-AUC where one of two classes has more than 65 %.
        threads: workers on the CPU; a short measurement says how many where it is None.
        device: "cpu" or "cuda".
        with_probe: whether to train anything; measuring alone takes seconds.
        progress: announces every stage; nothing is shown where it is None.

    Raises:
        PcnetError: where an argument is out of range. A graph on which nothing can be trained is no error: the advice
            says so.
    """
    splits, seed = None if splits is None else whole_number("splits", splits, 2), whole_number("seed", seed)
    scored_by = default_metric(graph.y) if metric is None else metric_named(metric)
    progress = progress or Silent()
    progress.stage("measuring", 3)
    neighbours = Neighbours.of(graph)
    progress.advance()
    classes, homophily, features = Classes.of(graph), Homophily.of(graph, neighbours), Features.of(graph)
    progress.advance()
    with warnings.catch_warnings():
        # The inspection has a sentence of its own about directed edges.
        warnings.simplefilter("ignore", PcnetWarning)
        frequencies, found = Frequencies.of(graph), None
        progress.advance()
        if with_probe:
            found = probe(graph, neighbours, features, progress, splits, seed, metric, threads, device)
    links = neighbours.links
    advice = advise(links, classes, homophily, features, found, scored_by, _untrainable(graph, classes))
    return Inspection(graph.name, links, classes, homophily, features, frequencies, found, advice, graph.notes)


def _untrainable(graph: Graph, classes: Classes) -> str:
    """Why nothing can be trained on the graph, and what it would take; empty where something can."""
    if not classes.labelled:
        return (
            "Nothing can be trained yet: no node has a label. Name the column that holds them with "
            "--read label=COLUMN, or label nodes of two classes or more."
        )
    if max(classes.counts) == classes.labelled:
        return f"Nothing can be trained yet: every label is '{classes.majority}'. Label nodes of another class, too."
    try:
        make_split(graph, STRATIFIED, 0)
    except PcnetError as error:
        return f"Nothing can be trained yet: {error}"
    return ""
