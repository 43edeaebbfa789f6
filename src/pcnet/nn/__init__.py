"""Torch modules in PyG's manner."""

from pcnet.nn._dropout import DeviceDraws, Draws
from pcnet.nn._perceptron import Perceptron
from pcnet.nn._runs import RunModule
from pcnet.nn.conv import PCConv
from pcnet.nn.models import PCNet, PCNetSettings, load_model, save_model

__all__ = [
    "DeviceDraws",
    "Draws",
    "PCConv",
    "PCNet",
    "PCNetSettings",
    "Perceptron",
    "RunModule",
    "load_model",
    "save_model",
]
