"""Node classification on graphs of any homophily: PC-Conv, PCNet and the methods they are compared with."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pcnet._version import __version__ as __version__

if TYPE_CHECKING:
    from pcnet.data import (
        Split,
        csbm,
        graph_from_networkx,
        graph_from_pandas,
        graph_from_pyg,
        graph_from_scipy,
        load_dataset,
        make_split,
        read_graph,
    )
    from pcnet.errors import PcnetError, PcnetWarning
    from pcnet.estimator import NodeClassifier, NodeIndexClassifier
    from pcnet.graph import Graph, Operator
    from pcnet.inspect import Inspection, inspect_graph
    from pcnet.nn import PCConv, PCNet, PCNetSettings, load_model, method, save_model
    from pcnet.polynomial import charlier_matrix, fit_response, identifiability, poisson_charlier
    from pcnet.propagate import apply_polynomial
    from pcnet.training import Outcome, Run, Targets, TrainingSettings, train

#: The room of every public name: each is imported when it is first asked for (PEP 562).
_ROOMS = {
    "data": (
        "Split",
        "csbm",
        "graph_from_networkx",
        "graph_from_pandas",
        "graph_from_pyg",
        "graph_from_scipy",
        "load_dataset",
        "make_split",
        "read_graph",
    ),
    "errors": ("PcnetError", "PcnetWarning"),
    "estimator": ("NodeClassifier", "NodeIndexClassifier"),
    "graph": ("Graph", "Operator"),
    "inspect": ("Inspection", "inspect_graph"),
    "nn": ("PCConv", "PCNet", "PCNetSettings", "load_model", "method", "save_model"),
    "polynomial": ("charlier_matrix", "fit_response", "identifiability", "poisson_charlier"),
    "propagate": ("apply_polynomial",),
    "training": ("Outcome", "Run", "Targets", "TrainingSettings", "train"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = sorted(_ROOM_OF)


def __getattr__(name: str) -> Any:
    if name in _ROOM_OF:
        value = getattr(import_module(f"pcnet.{_ROOM_OF[name]}"), name)
        globals()[name] = value
        return value
    if name in _ROOMS:
        return import_module(f"pcnet.{name}")
    raise AttributeError(f"module 'pcnet' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
