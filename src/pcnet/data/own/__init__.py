"""Your own graph, from tables (CSV, TSV, Parquet, data frames), `.npz`, GraphML, NetworkX, PyG or SciPy."""

from pcnet.data.own._arrays import graph_from_pyg, graph_from_scipy
from pcnet.data.own._networkx import graph_from_networkx
from pcnet.data.own._objects import as_graph, graph_from_pandas
from pcnet.data.own._read import read_graph
from pcnet.data.own._write import write_graph

__all__ = [
    "as_graph",
    "graph_from_networkx",
    "graph_from_pandas",
    "graph_from_pyg",
    "graph_from_scipy",
    "read_graph",
    "write_graph",
]
