"""Node classification on graphs of any homophily: PC-Conv, PCNet and the methods they are compared with."""

from typing import TYPE_CHECKING, Any

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
from pcnet.graph import Graph, Operator
from pcnet.inspect import Inspection, inspect_graph
from pcnet.nn import PCConv, PCNet, PCNetSettings, load_model, method, save_model
from pcnet.polynomial import charlier_matrix, fit_response, identifiability, poisson_charlier
from pcnet.propagate import apply_polynomial
from pcnet.training import Outcome, Run, Targets, TrainingSettings, train

if TYPE_CHECKING:
    from pcnet.estimator import NodeClassifier, NodeIndexClassifier

__version__ = "0.1.0"

__all__ = [
    "Graph",
    "Inspection",
    "NodeClassifier",
    "NodeIndexClassifier",
    "Operator",
    "Outcome",
    "PCConv",
    "PCNet",
    "PCNetSettings",
    "PcnetError",
    "PcnetWarning",
    "Run",
    "Split",
    "Targets",
    "TrainingSettings",
    "apply_polynomial",
    "charlier_matrix",
    "csbm",
    "fit_response",
    "graph_from_networkx",
    "graph_from_pandas",
    "graph_from_pyg",
    "graph_from_scipy",
    "identifiability",
    "inspect_graph",
    "load_dataset",
    "load_model",
    "make_split",
    "method",
    "poisson_charlier",
    "read_graph",
    "save_model",
    "train",
]


def __getattr__(name: str) -> Any:
    """The estimators are imported when they are first asked for: scikit-learn takes a second to load."""
    if name in ("NodeClassifier", "NodeIndexClassifier"):
        import pcnet.estimator

        return getattr(pcnet.estimator, name)
    raise AttributeError(f"module 'pcnet' has no attribute '{name}'")
