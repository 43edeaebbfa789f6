"""Every method by its name, from this package or registered from outside."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import TypeVar

from torch import nn

from pcnet._checks import Registry
from pcnet.errors import PcnetError
from pcnet.nn.models._model import Model, ModelSettings, documented
from pcnet.nn.models._plain import plain_settings

M = TypeVar("M", bound=type[nn.Module])

#: The settings class of every method.
METHODS: Registry[type[ModelSettings]] = Registry("method")


def method(name: str, *, title: str | None = None) -> Callable[[M], M]:
    """Register a model as a method that commands, files and `NodeClassifier` know by `name` and write as `title`.

    The class is either derived from `Model[S]`, S a dataclass of settings, or a `torch.nn.Module` with
    `__init__(self, in_channels, out_channels, **settings with defaults)` and `forward(x, edge_index[, edge_weight])`.
    Raises a PcnetError where the class is neither and where the name is taken.

    >>> import torch, pcnet
    >>> @pcnet.method("sums", title="Sums of neighbours")
    ... class Sums(torch.nn.Module):
    ...     def __init__(self, in_channels: int, out_channels: int, hidden: int = 16):
    ...         super().__init__()
    ...         self.map = torch.nn.Linear(in_channels, out_channels)
    ...     def forward(self, x, edge_index):
    ...         return self.map(x).index_add(0, edge_index[1], self.map(x)[edge_index[0]])
    >>> pcnet.nn.method_named("sums")().title
    'Sums of neighbours'
    >>> METHODS.remove("sums")
    """

    def register(model: M) -> M:
        settings = model.Settings if issubclass(model, Model) else plain_settings(name, model)
        settings.method, settings.title = name.lower(), title or name
        settings.defined_in = f"{model.__module__}.{model.__qualname__}"
        if issubclass(model, Model):
            settings.model = model
            settings.__doc__ = documented(settings)
        known = METHODS.get(name.lower())
        # A cell of a notebook, or a file, that is run again defines its method anew.
        again = known is not None and known.defined_in == settings.defined_in
        METHODS.add(name, settings, replace=again)
        return model

    return register


def find_method(name: str) -> type[ModelSettings] | None:
    """As `method_named`, with None where there is no such method."""
    for entry in () if name.lower() in METHODS else entry_points(group="pcnet.methods"):
        if entry.name.lower() == name.lower():
            _run(entry.load, f"{entry.value}, which offers the method '{entry.name}',")
    return METHODS.get(name.lower())


def method_named(name: str) -> type[ModelSettings]:
    """The settings class of a method, by a name in any case.

    Methods of other packages, which they offer as entry points in the group `pcnet.methods`, are loaded when they are
    asked for. Raises a PcnetError where nothing has the name.

    >>> method_named("GCN")(hidden=16).dropout
    0.5
    """
    return find_method(name) or METHODS.named(name)


def load_plugin(path: str | Path) -> None:
    """Run a Python file that registers methods with `pcnet.method`; one that was loaded before is not run again."""
    path = Path(path)
    if not path.is_file():
        raise PcnetError(f"There is no file {path}; --plugin takes a Python file that registers a method.")
    name = f"pcnet_plugin:{path.resolve()}"
    if name in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PcnetError(f"{path} is not a Python file; --plugin takes one (.py) that registers a method.")
    before, module = list(METHODS), importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader = spec.loader
    try:
        _run(lambda: loader.exec_module(module), str(path))
        if list(METHODS) == before:
            raise PcnetError(f'{path} registers no method; put @pcnet.method("name") above a class in it.')
    except PcnetError:
        del sys.modules[name]
        raise


def _run(load: Callable[[], object], what: str) -> None:
    """Run what is not ours; what it raises is one sentence."""
    try:
        load()
    except PcnetError as error:
        raise PcnetError(f"{what} cannot be used: {error}") from error
    except SyntaxError as error:
        raise PcnetError(f"{what} is not Python: {error.msg} in line {error.lineno}.") from error
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        raise PcnetError(
            f"{what} stopped in line {frames[-1].lineno} of {Path(frames[-1].filename).name} with "
            f"{type(error).__name__}: {error}"
        ) from error
