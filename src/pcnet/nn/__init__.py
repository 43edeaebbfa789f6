"""Torch modules in PyG's manner: layers, and every method's model and settings, such as `GCN` and `GCNSettings`."""

from typing import Any

from pcnet.nn._dropout import DeviceDraws, Draws
from pcnet.nn._module import RunModule
from pcnet.nn._perceptron import Perceptron
from pcnet.nn.conv import (
    BernConv,
    Cheb2Conv,
    EvenConv,
    FixedBasisConv,
    GPRConv,
    JacobiConv,
    Learned,
    PCConv,
    PolynomialConv,
    PPRConv,
    learned,
)
from pcnet.nn.models import MODELS
from pcnet.nn.models._filter_net import FilterNet, FilterNetSettings, filters_of
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings
from pcnet.nn.models._methods import METHODS, find_method, load_plugin, method, method_named
from pcnet.nn.models._model import Model, ModelSettings
from pcnet.nn.models._model_files import load_model, model_files, save_model
from pcnet.nn.models._pcnet import PCNet, PCNetSettings


def __getattr__(name: str) -> Any:
    if name in MODELS:
        return MODELS[name]
    raise AttributeError(f"module 'pcnet.nn' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *MODELS})
