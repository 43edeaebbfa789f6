"""Named datasets, synthetic graphs, your own graph, and splits."""

from pcnet.data._catalogue import CATALOGUE, Dataset, Facts, checksums, dataset_named, sha256
from pcnet.data._csbm import csbm
from pcnet.data._features import normalise_rows
from pcnet.data._load import EMBEDDED, load_dataset, load_embedded
from pcnet.data._protocols import (
    FIXED,
    PAPER_PROTOCOLS,
    PROTOCOLS,
    STRATIFIED,
    check_protocol,
    is_fixed,
    make_split,
    official_name,
)
from pcnet.data._sources import cache_folder, data_folder, fetch, find, find_splits
from pcnet.data._split import Split
from pcnet.data._stratified import draw_validation
from pcnet.data.own import (
    as_graph,
    graph_from_networkx,
    graph_from_pandas,
    graph_from_pyg,
    graph_from_scipy,
    read_graph,
    write_graph,
)

__all__ = [
    "CATALOGUE",
    "EMBEDDED",
    "FIXED",
    "PAPER_PROTOCOLS",
    "PROTOCOLS",
    "STRATIFIED",
    "Dataset",
    "Facts",
    "Split",
    "as_graph",
    "cache_folder",
    "check_protocol",
    "checksums",
    "csbm",
    "data_folder",
    "dataset_named",
    "draw_validation",
    "fetch",
    "find",
    "find_splits",
    "graph_from_networkx",
    "graph_from_pandas",
    "graph_from_pyg",
    "graph_from_scipy",
    "is_fixed",
    "load_dataset",
    "load_embedded",
    "make_split",
    "normalise_rows",
    "official_name",
    "read_graph",
    "sha256",
    "write_graph",
]
