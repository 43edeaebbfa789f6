"""The compared methods keep the contract of models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import pytest

from contracts.model_contract import ModelContract
from pcnet.nn import APPNPSettings, GCNSettings, GPRGNNSettings, MLPSettings, ModelSettings

DROPS: dict[str, Any] = {"drop_in": 0.1, "drop_hidden": 0.3}


class MethodContract(ModelContract):
    base: ClassVar[ModelSettings]
    #: Changes that make settings which may be trained beside `base`.
    changes: ClassVar[tuple[dict[str, Any], ...]] = ({"drop_in": 0.4}, {"drop_hidden": 0.0})

    def settings(self) -> ModelSettings:
        return self.base

    def others(self) -> list[ModelSettings]:
        return [replace(self.base, **change) for change in self.changes]


class TestMLP(MethodContract):
    base: ClassVar = MLPSettings(hidden=16, **DROPS)
    least_accuracy = 0.6

    @pytest.mark.parametrize("phi", [0.0])
    def test_learns_a_planted_partition(self, phi):
        """It does not see the edges: the features have to tell the classes apart."""
        super().test_learns_a_planted_partition(phi)


class TestGPRGNN(MethodContract):
    base: ClassVar = GPRGNNSettings(hidden=16, K=5, drop_prop=0.2, **DROPS)
    changes: ClassVar = ({"alpha": 0.9}, {"start": "nppr", "drop_prop": 0.0})


class TestAPPNP(MethodContract):
    base: ClassVar = APPNPSettings(hidden=16, K=5, **DROPS)
    changes: ClassVar = ({"alpha": 0.9}, {"drop_in": 0.4})

    @pytest.mark.parametrize("phi", [0.5])
    def test_learns_a_planted_partition(self, phi):
        """A low-pass filter of fixed strength is no help where unlike nodes are linked."""
        super().test_learns_a_planted_partition(phi)


class TestGCN(MethodContract):
    base: ClassVar = GCNSettings(hidden=16, dropout=0.3)
    changes: ClassVar = ({"dropout": 0.0}, {"dropout": 0.6})
