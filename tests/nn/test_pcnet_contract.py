"""PCNet and its variants keep the contract of models."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from contracts.model_contract import ModelContract
from pcnet.nn import PCNetSettings

DROPS = {"drop_in": 0.1, "drop_hidden": 0.3, "drop_prop": 0.2}


class PCNetContract(ModelContract):
    base: ClassVar[PCNetSettings]

    def settings(self) -> PCNetSettings:
        return self.base

    def others(self) -> list[PCNetSettings]:
        base = self.base
        return [
            replace(base, K=2, t=0.9, drop_prop=0.0),
            replace(base, K=5, N=7, p=2.4, init=0.5, drop_in=0.4),
            replace(base, p=3.0, drop_hidden=0.0),
        ]


class TestPCNet(PCNetContract):
    base: ClassVar = PCNetSettings(hidden=16, K=4, N=5, t=0.5, **DROPS)


class TestPCNetReLU(PCNetContract):
    base: ClassVar = PCNetSettings(hidden=16, K=4, N=5, t=0.5, activation="relu", **DROPS)


class TestPCNetLin(PCNetContract):
    base: ClassVar = PCNetSettings(hidden=None, K=4, N=5, t=0.5, **DROPS)


class TestPCNetLimit(PCNetContract):
    base: ClassVar = PCNetSettings(hidden=16, K=4, N=5, t=0.5, mode="limit", **DROPS)


class TestPCNetWithoutIdentity(PCNetContract):
    base: ClassVar = PCNetSettings(hidden=16, K=4, N=5, t=0.5, eta=0.45, identity=False, **DROPS)
