"""A graph and its operator: normalisation, compressed rows, spectral interval, homophily."""

from pcnet.graph._csr import CSR
from pcnet.graph._graph import Graph, check_edges

__all__ = ["CSR", "Graph", "check_edges"]
