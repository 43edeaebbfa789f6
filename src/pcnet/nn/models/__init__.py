"""Whole models: features and edges in, logits out."""

from pcnet.nn.models._acmgcn import ACMGCN, ACMGCNSettings
from pcnet.nn.models._arma import ARMA, ARMASettings
from pcnet.nn.models._bernnet import BernNetSettings
from pcnet.nn.models._chebnet import ChebNet, ChebNetSettings
from pcnet.nn.models._chebnetii import ChebNetIISettings
from pcnet.nn.models._egnn import EGNN, EGNNSettings
from pcnet.nn.models._evennet import EvenNetSettings
from pcnet.nn.models._files import load_model, save_model
from pcnet.nn.models._filter_net import FilterNet, FilterNetSettings, filters_of
from pcnet.nn.models._gat import GAT, GATSettings
from pcnet.nn.models._gcn import GCN, GCNSettings
from pcnet.nn.models._gcnii import GCNII, GCNIISettings
from pcnet.nn.models._ggcn import GGCN, GGCNSettings
from pcnet.nn.models._glognn import GloGNN, GloGNNSettings
from pcnet.nn.models._gprgnn import APPNPSettings, GPRGNNSettings
from pcnet.nn.models._h2gcn import H2GCN, H2GCNSettings
from pcnet.nn.models._jacobiconv import JacobiConvSettings
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings
from pcnet.nn.models._linkx import LINKX, LINKXSettings
from pcnet.nn.models._methods import METHODS, method_named
from pcnet.nn.models._mixhop import MixHop, MixHopSettings
from pcnet.nn.models._mlp import MLPSettings
from pcnet.nn.models._pcnet import PCNet, PCNetSettings
from pcnet.nn.models._pdegcn import PDEGCN, PDEGCNSettings
from pcnet.nn.models._settings import Model, ModelSettings
from pcnet.nn.models._twirls import TWIRLS, TWIRLSSettings
from pcnet.nn.models._wrgat import WRGAT, WRGATSettings

__all__ = [
    "ACMGCN",
    "ARMA",
    "EGNN",
    "GAT",
    "GCN",
    "GCNII",
    "GGCN",
    "H2GCN",
    "LINKX",
    "METHODS",
    "PDEGCN",
    "TWIRLS",
    "WRGAT",
    "ACMGCNSettings",
    "APPNPSettings",
    "ARMASettings",
    "BernNetSettings",
    "ChebNet",
    "ChebNetIISettings",
    "ChebNetSettings",
    "EGNNSettings",
    "EvenNetSettings",
    "FilterNet",
    "FilterNetSettings",
    "GATSettings",
    "GCNIISettings",
    "GCNSettings",
    "GGCNSettings",
    "GPRGNNSettings",
    "GloGNN",
    "GloGNNSettings",
    "H2GCNSettings",
    "JacobiConvSettings",
    "LINKXSettings",
    "LayeredNet",
    "LayeredNetSettings",
    "MLPSettings",
    "MixHop",
    "MixHopSettings",
    "Model",
    "ModelSettings",
    "PCNet",
    "PCNetSettings",
    "PDEGCNSettings",
    "TWIRLSSettings",
    "WRGATSettings",
    "filters_of",
    "load_model",
    "method_named",
    "save_model",
]
