"""Whole models: features and edges in, logits out."""

from pcnet.nn.models._arma import ARMA, ARMASettings
from pcnet.nn.models._chebnet import ChebNet, ChebNetSettings
from pcnet.nn.models._files import load_model, save_model
from pcnet.nn.models._filter_net import FilterNet, FilterNetSettings
from pcnet.nn.models._gcn import GCN, GCNSettings
from pcnet.nn.models._gcnii import GCNII, GCNIISettings
from pcnet.nn.models._gprgnn import APPNPSettings, GPRGNNSettings
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings
from pcnet.nn.models._mlp import MLPSettings
from pcnet.nn.models._pcnet import PCNet, PCNetSettings
from pcnet.nn.models._settings import Model, ModelSettings

from pcnet.nn.models._methods import METHODS, method_named

__all__ = [
    "ARMA",
    "GCN",
    "GCNII",
    "METHODS",
    "APPNPSettings",
    "ARMASettings",
    "ChebNet",
    "ChebNetSettings",
    "FilterNet",
    "FilterNetSettings",
    "GCNIISettings",
    "GCNSettings",
    "GPRGNNSettings",
    "LayeredNet",
    "LayeredNetSettings",
    "MLPSettings",
    "Model",
    "ModelSettings",
    "PCNet",
    "PCNetSettings",
    "load_model",
    "method_named",
    "save_model",
]
