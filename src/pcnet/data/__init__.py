"""Named datasets, synthetic graphs, your own graph, and splits.

Names are imported when they are first asked for: the catalogue, and where its files are, need no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pcnet.data._catalogue import CATALOGUE, EMBEDDED, Dataset, Facts, dataset_named
    from pcnet.data._csbm import csbm
    from pcnet.data._load import load_dataset, load_embedded, normalise_rows
    from pcnet.data._protocols import (
        PAPER_PROTOCOLS,
        PROTOCOLS,
        STRATIFIED,
        check_protocol,
        draw_validation,
        is_fixed,
        make_split,
        official_name,
        protocol,
    )
    from pcnet.data._sources import cache_folder, data_folder, fetch, file_states, find, find_splits
    from pcnet.data._split import Split
    from pcnet.data.own._options import READ_KEYS, ReadOptions
    from pcnet.data.own._read import (
        as_graph,
        graph_from_networkx,
        graph_from_pandas,
        graph_from_pyg,
        graph_from_scipy,
        graph_of,
        read_graph,
    )
    from pcnet.data.own._readers import READERS, reader
    from pcnet.data.own._write import write_graph

__all__ = [
    "CATALOGUE",
    "EMBEDDED",
    "PAPER_PROTOCOLS",
    "PROTOCOLS",
    "READERS",
    "READ_KEYS",
    "STRATIFIED",
    "Dataset",
    "Facts",
    "ReadOptions",
    "Split",
    "as_graph",
    "cache_folder",
    "check_protocol",
    "csbm",
    "data_folder",
    "dataset_named",
    "draw_validation",
    "fetch",
    "file_states",
    "find",
    "find_splits",
    "graph_from_networkx",
    "graph_from_pandas",
    "graph_from_pyg",
    "graph_from_scipy",
    "graph_of",
    "is_fixed",
    "load_dataset",
    "load_embedded",
    "make_split",
    "normalise_rows",
    "official_name",
    "protocol",
    "read_graph",
    "reader",
    "write_graph",
]

#: Where the names are, first the modules without torch: they are asked in this order.
_MODULES = (
    *("_catalogue", "_sources", "own._options", "_split", "_protocols", "_csbm", "_load"),
    *("own._read", "own._readers", "own._write"),
)


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in _MODULES:
            home = import_module(f"pcnet.data.{module}")
            if hasattr(home, name):
                return getattr(home, name)
    raise AttributeError(f"module 'pcnet.data' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
