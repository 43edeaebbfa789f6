"""Whole models, one file a method, or `_filter_methods.py` where a filter is all: features and edges in, logits out."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from pcnet.nn.models._files import load_model, save_model
from pcnet.nn.models._filter_net import FilterNet, FilterNetSettings, filters_of
from pcnet.nn.models._layered_net import LayeredNet, LayeredNetSettings
from pcnet.nn.models._methods import METHODS, find_method, load_plugin, method, method_named
from pcnet.nn.models._model import Model, ModelSettings
from pcnet.nn.models._pcnet import PCNet, PCNetSettings

# Every file registers its methods; they are listed by their names, after PCNet.
for _found in iter_modules(__path__):
    import_module(f"{__name__}.{_found.name}")
METHODS.sort(first="pcnet")

#: `GCN`, `GCNSettings` and so on: the model and the settings of every method that comes with the package.
MODELS: dict[str, type[Any]] = {
    each.__name__: each for settings in METHODS.values() for each in (settings.model, settings)
}

__all__ = [
    "METHODS",
    "MODELS",
    "FilterNet",
    "FilterNetSettings",
    "LayeredNet",
    "LayeredNetSettings",
    "Model",
    "ModelSettings",
    "PCNet",
    "PCNetSettings",
    "filters_of",
    "find_method",
    "load_model",
    "load_plugin",
    "method",
    "method_named",
    "save_model",
]
