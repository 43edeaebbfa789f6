"""Every method by its name, from this package or registered from outside, and the files of a trained model."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import entry_points
from pathlib import Path
from typing import TypeVar

import safetensors
import safetensors.torch
from torch import nn

from pcnet._checks import Registry
from pcnet._files import read_json, write_atomically, write_json
from pcnet.errors import PcnetError
from pcnet.nn.models._model import Model, ModelSettings, documented
from pcnet.nn.models._plain import plain_settings

M = TypeVar("M", bound=type[nn.Module])

#: The settings class of every method.
METHODS: Registry[type[ModelSettings]] = Registry("method")
#: Of the files of a model.
FORMAT = 1


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


def save_model(model: Model, settings: ModelSettings, path: str | Path) -> None:
    """Write `path`.safetensors and `path`.json; the model can be loaded for any graph with the same features.

    `settings` are those that the model was made from. Neither file has anything in it that could run code. Raises a
    PcnetError where nothing can be written.

    >>> import tempfile, pcnet
    >>> settings = pcnet.PCNetSettings(hidden=8)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(settings.build(5, 2, seed=0), settings, f"{folder}/model")
    ...     load_model(f"{folder}/model")[1] == settings
    True
    """
    path = Path(path)
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    description = {
        "format": FORMAT,
        "model": settings.method,
        "in_channels": model.in_channels,
        "out_channels": model.out_channels,
        "settings": asdict(settings),
    }
    if not settings.defined_in.startswith("pcnet."):
        home = sys.modules.get(settings.defined_in.rpartition(".")[0])
        description["registered_by"] = Path(getattr(home, "__file__", None) or "an interactive Python").name
    target = path.with_name(path.name + ".safetensors")
    content = safetensors.torch.save(tensors)
    write_atomically(target, lambda file: file.write_bytes(content))
    write_json(path.with_name(path.name + ".json"), description)


def load_model(path: str | Path) -> tuple[Model, ModelSettings]:
    """The model that `save_model` wrote to `path`, in evaluation mode, and its settings.

    Raises a PcnetError where files are missing or damaged, and for a method from outside that is not registered.

    >>> load_model("nowhere/model")
    Traceback (most recent call last):
    pcnet.errors.PcnetError: There is no file nowhere/model.json.
    """
    path = Path(path)
    description = read_json(path.with_name(path.name + ".json"))
    weights = path.with_name(path.name + ".safetensors")
    try:
        if description["format"] > FORMAT:
            raise PcnetError(f"{path}.json was written by a newer pcnet; update pcnet to read it.")
        kind = find_method(description["model"])
        if kind is None and "registered_by" in description:
            raise PcnetError(
                f"{path}.json is a model of the method '{description['model']}', which "
                f"{description['registered_by']} registers; name that file with --plugin, or import it first."
            )
        settings = (kind or method_named(description["model"]))(**description["settings"])
        model = settings.build(description["in_channels"], description["out_channels"])
        model.load_state_dict(safetensors.torch.load_file(weights))
    except FileNotFoundError as error:
        raise PcnetError(f"There is no file {weights}; the weights of {path}.json are missing.") from error
    except (KeyError, TypeError, RuntimeError, OSError, safetensors.SafetensorError) as error:
        raise PcnetError(f"The model {path} is damaged ({error}); train or copy it again.") from error
    return model.eval(), settings
