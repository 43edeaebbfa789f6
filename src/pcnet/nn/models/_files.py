"""A trained model on disk: weights in safetensors, everything else in JSON, nothing that could run code."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import safetensors
import safetensors.torch

from pcnet._files import read_json, write_atomically, write_json
from pcnet.errors import PcnetError
from pcnet.nn.models._methods import find_method, method_named
from pcnet.nn.models._model import Model, ModelSettings

FORMAT = 1


def save_model(model: Model, settings: ModelSettings, path: str | Path) -> None:
    """Write `path`.safetensors and `path`.json; the model can be loaded for any graph with the same features.

    `settings` are those that the model was made from. Raises a PcnetError where nothing can be written.

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
        description["registered_by"] = Path(getattr(home, "__file__", None) or "a session of Python").name
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
