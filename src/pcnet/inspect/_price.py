"""How long a method's defaults take on a graph, before anything is trained: good to a factor of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pcnet.graph import CSR, Graph
from pcnet.inspect._links import Neighbours

#: Walks of two steps that are followed in a second or so.
COUNTABLE = 20_000_000


@dataclass(frozen=True)
class Size:
    """What a step of training touches: stored feature values, links both ways, nodes, and nodes two links apart."""

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
        price = _PRICES[method]
        counts = (self.values, self.links, self.nodes, self.pairs)
        return price.start + 1e-6 * sum(each * count for each, count in zip(price.each, counts, strict=True))


@dataclass(frozen=True)
class _Price:
    """Microseconds of a whole run for each value, link, node and pair, and seconds that any run takes."""

    each: tuple[float, float, float, float]
    start: float


#: From runs with defaults on graphs of 183 to 7,650 nodes, on one core of an AMD EPYC.
_PRICES: Mapping[str, _Price] = {
    "mlp": _Price((2.4, 0.0, 60.0, 0.0), 0.2),
    "gcn": _Price((2.0, 2.5, 250.0, 0.0), 0.2),
    "pcnet": _Price((1.5, 2.0, 0.0, 0.0), 0.2),
    "acmgcn": _Price((3.0, 1.1, 500.0, 0.0), 0.4),
    "linkx": _Price((6.0, 10.0, 2000.0, 0.0), 0.4),
    "h2gcn": _Price((0.0, 0.0, 5400.0, 25.0), 1.5),
}
