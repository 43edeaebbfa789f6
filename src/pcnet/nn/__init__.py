"""Torch modules in PyG's manner."""

from pcnet.nn._dropout import DeviceDraws, Draws
from pcnet.nn._perceptron import Perceptron
from pcnet.nn._runs import RunModule
from pcnet.nn.conv import FixedBasisConv, GPRConv, PCConv, PolynomialConv, PPRConv
from pcnet.nn.models import (
    GCN,
    METHODS,
    APPNPSettings,
    FilterNet,
    FilterNetSettings,
    GCNSettings,
    GPRGNNSettings,
    LayeredNet,
    LayeredNetSettings,
    MLPSettings,
    Model,
    ModelSettings,
    PCNet,
    PCNetSettings,
    load_model,
    method_named,
    save_model,
)

__all__ = [
    "GCN",
    "METHODS",
    "APPNPSettings",
    "DeviceDraws",
    "Draws",
    "FilterNet",
    "FilterNetSettings",
    "FixedBasisConv",
    "GCNSettings",
    "GPRConv",
    "GPRGNNSettings",
    "LayeredNet",
    "LayeredNetSettings",
    "MLPSettings",
    "Model",
    "ModelSettings",
    "PCConv",
    "PCNet",
    "PCNetSettings",
    "PPRConv",
    "Perceptron",
    "PolynomialConv",
    "RunModule",
    "load_model",
    "method_named",
    "save_model",
]
