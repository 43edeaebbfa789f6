"""The files of a trained model: what it was made from as JSON, and its weights as safetensors."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from pcnet._checks import from_json
from pcnet._files import read_json, write_atomically, write_json
from pcnet.errors import PcnetError
from pcnet.nn.models._methods import find_method, method_named
from pcnet.nn.models._model import Model, ModelSettings

FORMAT = 1
#: Whole numbers among the settings that any model may have: orders, and layers without weights of their own.
LARGEST_ORDER = 1_000


@dataclass(frozen=True)
class Description:
    """What the JSON file of a model says."""

    format: int
    model: str
    in_channels: int
    out_channels: int
    settings: dict[str, Any]
    registered_by: str | None = None


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
    description, weights = model_files(path)
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    content = {
        "format": FORMAT,
        "model": settings.method,
        "in_channels": model.in_channels,
        "out_channels": model.out_channels,
        "settings": asdict(settings),
    }
    if not settings.defined_in.startswith("pcnet."):
        home = sys.modules.get(settings.defined_in.rpartition(".")[0])
        content["registered_by"] = Path(getattr(home, "__file__", None) or "an interactive Python").name
    saved = safetensors.torch.save(tensors)
    write_atomically(weights, lambda file: file.write_bytes(saved))
    write_json(description, content)


def load_model(path: str | Path) -> tuple[Model, ModelSettings]:
    """The model that `save_model` wrote to `path`, in evaluation mode, and its settings.

    Types, shapes and numbers are checked before anything is built. Raises a PcnetError that names the file where one is
    missing or damaged, and for a method from outside that is not registered.

    >>> load_model("nowhere/model")
    Traceback (most recent call last):
    pcnet.errors.PcnetError: There is no file nowhere/model.json.
    """
    file, weights = model_files(path)
    content = read_json(file)
    try:
        description: Description = from_json(Description, content)
        if description.format > FORMAT:
            raise PcnetError(f"{file} was written by a newer pcnet; update pcnet to read it.")
        kind = find_method(description.model)
        if kind is None and description.registered_by is not None:
            raise PcnetError(
                f"{file} is a model of the method '{description.model}', which {description.registered_by} registers; "
                "name that file with --plugin, or import it first."
            )
        settings = _settings(kind or method_named(description.model), description.settings)
        tensors = safetensors.torch.load_file(weights)
        widths = description.in_channels, description.out_channels
        _check(settings, widths, tensors)
        model = settings.build(*widths)
        model.load_state_dict(tensors)
    except FileNotFoundError as error:
        raise PcnetError(f"There is no file {weights}; the weights of {file} are missing.") from error
    except Exception as error:
        # Whatever routine meets the damage first fails in its own way.
        if isinstance(error, PcnetError) and str(file) in str(error):
            raise
        reason = " ".join(str(error).split()).rstrip(".")
        raise PcnetError(f"The model {path} is damaged ({reason}); train or copy it again.") from error
    return model.eval(), settings


def model_files(path: str | Path) -> tuple[Path, Path]:
    """The two files of the model at `path`: its description and its weights."""
    path = Path(path)
    return path.with_name(path.name + ".json"), path.with_name(path.name + ".safetensors")


def _settings(kind: type[ModelSettings], values: Mapping[str, Any]) -> ModelSettings:
    """Settings of a method; those that are missing had their defaults before they existed."""
    unknown = [name for name in values if name not in kind.__dataclass_fields__]
    if unknown:
        raise PcnetError(f"the method {kind.method} has no setting '{unknown[0]}'")
    settings: ModelSettings = from_json(kind, dict(values), "settings")
    return settings


def _check(settings: ModelSettings, widths: tuple[int, int], tensors: Mapping[str, Tensor]) -> None:
    """Refuse weights that are no numbers, and those of another model than the settings make.

    A model is compared without memory for its weights: a few words in a file must not take more than the file has.
    """
    for name, tensor in tensors.items():
        if not bool(torch.isfinite(tensor).all()):
            raise PcnetError(f"'{name}' among its weights holds NaN or infinite numbers")
    if not settings.defined_in.startswith("pcnet."):
        # A module from outside may need its numbers to be made; its user trusts it.
        return
    largest = max([LARGEST_ORDER, *(size for tensor in tensors.values() for size in tensor.shape)])
    counts = {"in_channels": widths[0], "out_channels": widths[1], **vars(settings)}
    for name, count in counts.items():
        if type(count) is int and count > largest:
            raise PcnetError(f"{name} is {count}, and no weight has as many rows or columns")
        if type(count) is float and abs(count) > torch.finfo(torch.float32).max:
            raise PcnetError(f"{name} is {count:g}, more than a number of 32 bits can be")
        if name in ("in_channels", "out_channels") and count < 1:
            raise PcnetError(f"{name} must be at least 1, not {count}")
    with torch.device("meta"):
        made = settings.build(*widths).state_dict()
    for name in {**made, **tensors}:
        theirs, ours = (each[name].shape if name in each else None for each in (tensors, made))
        if theirs != ours:
            words = [
                "nothing" if shape is None else "×".join(map(str, shape)) or "a number" for shape in (theirs, ours)
            ]
            raise PcnetError(f"the weight '{name}' is {words[0]}, but its settings make it {words[1]}")
        if tensors[name].dtype != made[name].dtype:
            raise PcnetError(f"the weight '{name}' is {tensors[name].dtype}, not {made[name].dtype}")
