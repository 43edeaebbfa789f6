"""Named datasets, synthetic graphs, your own graph, and splits.

Names are imported when they are first asked for: the catalogue, and where its files are, need no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pcnet.data._catalogue import (
        CATALOGUE,
        EMBEDDED,
        Dataset,
        Facts,
        cache_folder,
        data_folder,
        dataset_named,
        fetch,
        file_states,
        find,
        find_splits,
    )
    from pcnet.data._csbm import csbm
    from pcnet.data._load import load_dataset, load_embedded, normalise_rows
    from pcnet.data._split import (
        PAPER_PROTOCOLS,
        PROTOCOLS,
        STRATIFIED,
        Split,
        check_protocol,
        draw_validation,
        is_fixed,
        make_split,
        official_name,
        protocol,
    )
    from pcnet.data.own._columns import READ_KEYS, ReadOptions
    from pcnet.data.own._read import (
        READERS,
        as_graph,
        graph_from_networkx,
        graph_from_pandas,
        graph_from_pyg,
        graph_from_scipy,
        graph_of,
        read_graph,
        reader,
    )
    from pcnet.data.own._write import write_graph

#: The module of every name.
_MODULES = {
    "_catalogue": (
        *("CATALOGUE", "EMBEDDED", "Dataset", "Facts", "cache_folder", "data_folder", "dataset_named", "fetch"),
        *("file_states", "find", "find_splits"),
    ),
    "_csbm": ("csbm",),
    "_load": ("load_dataset", "load_embedded", "normalise_rows"),
    "_split": (
        *("PAPER_PROTOCOLS", "PROTOCOLS", "STRATIFIED", "Split", "check_protocol", "draw_validation", "is_fixed"),
        *("make_split", "official_name", "protocol"),
    ),
    "own._columns": ("READ_KEYS", "ReadOptions"),
    "own._read": (
        *("as_graph", "graph_from_networkx", "graph_from_pandas", "graph_from_pyg", "graph_from_scipy", "graph_of"),
        # With the module that imports every reader, so that all of them are there.
        *("read_graph", "READERS", "reader"),
    ),
    "own._write": ("write_graph",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(import_module(f"pcnet.data.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module 'pcnet.data' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
