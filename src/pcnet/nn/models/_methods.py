"""Every method by its name."""

from __future__ import annotations

from pcnet.errors import PcnetError, close_match
from pcnet.nn.models._acmgcn import ACMGCNSettings
from pcnet.nn.models._arma import ARMASettings
from pcnet.nn.models._bernnet import BernNetSettings
from pcnet.nn.models._chebnet import ChebNetSettings
from pcnet.nn.models._chebnetii import ChebNetIISettings
from pcnet.nn.models._egnn import EGNNSettings
from pcnet.nn.models._evennet import EvenNetSettings
from pcnet.nn.models._gat import GATSettings
from pcnet.nn.models._gcn import GCNSettings
from pcnet.nn.models._gcnii import GCNIISettings
from pcnet.nn.models._ggcn import GGCNSettings
from pcnet.nn.models._glognn import GloGNNSettings
from pcnet.nn.models._gprgnn import APPNPSettings, GPRGNNSettings
from pcnet.nn.models._h2gcn import H2GCNSettings
from pcnet.nn.models._jacobiconv import JacobiConvSettings
from pcnet.nn.models._linkx import LINKXSettings
from pcnet.nn.models._mixhop import MixHopSettings
from pcnet.nn.models._mlp import MLPSettings
from pcnet.nn.models._pcnet import PCNetSettings
from pcnet.nn.models._pdegcn import PDEGCNSettings
from pcnet.nn.models._settings import ModelSettings
from pcnet.nn.models._twirls import TWIRLSSettings
from pcnet.nn.models._wrgat import WRGATSettings

#: The settings class of every method.
METHODS: dict[str, type[ModelSettings]] = {
    kind.method: kind
    for kind in (
        MLPSettings,
        GCNSettings,
        GATSettings,
        MixHopSettings,
        GGCNSettings,
        ChebNetSettings,
        ARMASettings,
        GCNIISettings,
        APPNPSettings,
        GPRGNNSettings,
        EvenNetSettings,
        BernNetSettings,
        ChebNetIISettings,
        JacobiConvSettings,
        EGNNSettings,
        PDEGCNSettings,
        TWIRLSSettings,
        ACMGCNSettings,
        H2GCNSettings,
        LINKXSettings,
        GloGNNSettings,
        WRGATSettings,
        PCNetSettings,
    )
}


def method_named(name: str) -> type[ModelSettings]:
    """The settings class of a method, by a name in any case."""
    if name.lower() not in METHODS:
        raise PcnetError(
            f"There is no method '{name}'; choose from {', '.join(METHODS)}.{close_match(name.lower(), METHODS)}"
        )
    return METHODS[name.lower()]
