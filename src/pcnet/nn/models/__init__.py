"""Whole models, one file a method, or `_filter_methods.py` where a filter is all: features and edges in, logits out."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from pcnet.nn.models._methods import METHODS

# Every file registers its methods; they are listed by their names, after PCNet.
for _found in iter_modules(__path__):
    import_module(f"{__name__}.{_found.name}")
METHODS.sort(first="pcnet")

#: `GCN`, `GCNSettings` and so on: the model and the settings of every method that comes with the package.
MODELS: dict[str, type[Any]] = {
    each.__name__: each for settings in METHODS.values() for each in (settings.model, settings)
}
