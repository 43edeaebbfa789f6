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
from pcnet.data.own._read_write import (
    as_graph,
    graph_from_networkx,
    graph_from_pandas,
    graph_from_pyg,
    graph_from_scipy,
    graph_of,
    read_graph,
    write_graph,
)

# All of them are there: the module above imports every one.
from pcnet.data.own._readers import READERS, reader
