"""Node classification on graphs of any homophily: PC-Conv, PCNet and the methods they are compared with."""

from pcnet.data import Split, csbm, load_dataset, make_split
from pcnet.errors import PcnetError, PcnetWarning
from pcnet.graph import Graph, Operator
from pcnet.nn import PCConv, PCNet, PCNetSettings, load_model, save_model
from pcnet.polynomial import charlier_matrix, fit_response, identifiability, poisson_charlier
from pcnet.propagate import apply_polynomial
from pcnet.training import Outcome, Run, Targets, TrainingSettings, train

__version__ = "0.1.0"

__all__ = [
    "Graph",
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
    "identifiability",
    "load_dataset",
    "load_model",
    "make_split",
    "poisson_charlier",
    "save_model",
    "train",
]
