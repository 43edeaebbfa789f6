"""A graph and its operator: normalisation, compressed rows, spectral interval, homophily."""

from pcnet.graph._cache import cached_operator, clear_operator_cache
from pcnet.graph._csr import CSR
from pcnet.graph._graph import Graph, check_edges
from pcnet.graph._operator import Direction, Operator, SelfLoops
from pcnet.graph._spectrum import spectral_density, spectral_interval

__all__ = [
    "CSR",
    "Direction",
    "Graph",
    "Operator",
    "SelfLoops",
    "cached_operator",
    "check_edges",
    "clear_operator_cache",
    "spectral_density",
    "spectral_interval",
]
