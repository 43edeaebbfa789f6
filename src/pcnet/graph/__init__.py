"""A graph and its operator: normalisation, compressed rows, spectral interval, links, homophily."""

from pcnet.graph._csr import CSR, made_once
from pcnet.graph._graph import (
    Column,
    Graph,
    Kind,
    LabelCandidate,
    Schema,
    check_edges,
    graph_hash,
    label_advice,
    one_way,
    require_labels,
    tensor_hash,
    undirected,
)
from pcnet.graph._homophily import (
    MEASURES,
    Degrees,
    Homophily,
    Links,
    Neighbours,
    adjusted_homophily,
    class_homophily,
    edge_homophily,
    label_informativeness,
    node_homophily,
)
from pcnet.graph._operator import Direction, Operator, SelfLoops, cached_operator, spectral_density, spectral_interval
from pcnet.graph._structural import StructuralEdges, StructuralPairs, structural_pairs
from pcnet.graph._two_hop import two_hop
