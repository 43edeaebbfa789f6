"""All names of the room that come with torch."""
# ruff: noqa: F401

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

# `READERS` with the module that imports every reader, so that all of them are there.
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
