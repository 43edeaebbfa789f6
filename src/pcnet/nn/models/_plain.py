"""A method from outside: a plain torch module in the place of a model."""

from __future__ import annotations

import inspect
import threading
import traceback
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, make_dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, get_args, get_type_hints

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase

from pcnet.errors import PcnetError
from pcnet.graph import CSR, Operator, SelfLoops, made_once
from pcnet.nn._dropout import Draws
from pcnet.nn.models._model import Memory, Model, ModelSettings

#: Types that a setting can have, as its default or as its annotation.
SCALARS = (bool, int, float, str)
#: Torch's generator on the CPU is one for all threads: who seeds it has it alone until the numbers are drawn.
_drawing = threading.RLock()


@dataclass(frozen=True)
class PlainSettings(ModelSettings):
    """Settings that were made of the signature of a module's `__init__`."""

    side_by_side: ClassVar[bool] = False
    #: The class that was registered.
    module: ClassVar[type[nn.Module]]

    def agreement(self) -> Mapping[str, Hashable]:
        return vars(self)

    def skeleton(self, in_channels: int, out_channels: int) -> Model[Any]:
        """What a module does besides its parameters may depend on the number of features."""
        return self.build(in_channels, out_channels)

    def memory(self, classes: int) -> Memory:
        """A guess: whole numbers among the settings are widths or counts."""
        widest = max([classes, *(value for value in vars(self).values() if type(value) is int and value <= 4096)])
        return Memory(32 * widest, widest, 4 * widest)


class PlainModel(Model[PlainSettings]):
    """A module as a model: with the graph's edges, both ways, as `edge_index`, and its weights where it has any.

    Runs side by side are computed one after the other. Buffers are kept like parameters that are not trained.
    Batch normalisation takes mean and variance of the graph at hand, when it is evaluated, too. On the CPU the random
    numbers of a run follow from its seed and epoch; on a GPU, dropout draws what torch draws.
    """

    eta: float = 0.0
    self_loops: SelfLoops = "keep"

    def __init__(self, in_channels: int, out_channels: int, **settings: Any) -> None:
        # Not the model's own way: how many arguments a module has is its own affair.
        super(Model, self).__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.of_runs: tuple[PlainSettings, ...] = (self.Settings(**settings),)
        self.draws = None
        self.module = self._made()
        #: Whether an epoch has shown that the module does what it should.
        self._tried = False

    def setup(self, s: PlainSettings) -> None:
        """The module makes its own parameters."""

    @property
    def _name(self) -> str:
        return f"The method '{self.settings.method}'"

    def _made(self) -> nn.Module:
        # First weights are drawn by torch, and another thread may be drawing a seeded epoch.
        channels = {"in_channels": self.in_channels, "out_channels": self.out_channels}
        with _drawing, self._its_errors("cannot be made"):
            module = self.settings.module(**channels, **vars(self.settings))
        for part in module.modules():
            if isinstance(part, _NormBase):
                part.track_running_stats = False
                part.running_mean = part.running_var = part.num_batches_tracked = None
            for name in [name for name, buffer in part._buffers.items() if buffer is not None]:
                buffer = getattr(part, name)
                delattr(part, name)
                part.register_parameter(name, nn.Parameter(buffer, requires_grad=False))
        parameters = list(module.parameters())
        if any(isinstance(each, nn.parameter.UninitializedParameter) for each in parameters):
            raise PcnetError(f"{self._name} has lazy layers; give their widths, from in_channels on.")
        if not any(each.requires_grad for each in parameters):
            raise PcnetError(f"{self._name} has no parameters to train.")
        if len(parameters) < len(list(module.named_parameters(remove_duplicate=False))):
            raise PcnetError(f"{self._name} has one parameter in two places; give each its own.")
        return module

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """The weights that the module begins with under the generator's seed."""
        with _seeded(None if generator is None else generator.initial_seed()):
            fresh = self._made()
        with torch.no_grad():
            for own, value in zip(self.module.parameters(), fresh.parameters(), strict=True):
                own.copy_(value)

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        return {"all": [each for each in self.parameters() if each.requires_grad]}

    def forward(self, x: Tensor | CSR, edge_index: Tensor | Operator, edge_weight: Tensor | None = None) -> Tensor:
        """Logits (n, classes), or (R, n, classes) for a stack of runs."""
        if x.shape[1] != self.in_channels:
            wanted = f"(nodes, {self.in_channels})"
            raise PcnetError(f"The features have shape {tuple(x.shape)}; the model expects {wanted}.")
        operator = self.operator(edge_index, x.shape[0], edge_weight, torch.float32)
        edges, weights = _edges(operator)
        features = _features(x, getattr(self.module, "sparse_features", False))
        given = {"edge_weight": weights} if "edge_weight" in _takes(type(self.module)) else {}
        called = partial(torch.func.functional_call, self.module, args=(features, edges), kwargs=given)
        named: dict[str, Tensor] = dict(self.module.named_parameters())
        if self.runs is None:
            return self._of_run(0, called, named, x.shape[0])
        parts = [{name: each[run] for name, each in named.items()} for run in range(self.runs)]
        return torch.stack([self._of_run(run, called, own, x.shape[0]) for run, own in enumerate(parts)])

    def _of_run(self, run: int, called: Callable[..., Any], parameters: dict[str, Tensor], nodes: int) -> Tensor:
        """A run's logits; the first time, what is wrong with them is a sentence."""
        draws = self.draws if self.training else None
        with _seeded(draws.seed(run) if isinstance(draws, Draws) else None):
            if self._tried:
                return called(parameters)
            kept = {name: each.clone() for name, each in parameters.items() if not each.requires_grad}
            with self._its_errors("failed"):
                logits = called(parameters)
        wanted = (nodes, self.out_channels)
        found = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        if found != wanted:
            raise PcnetError(f"{self._name} returns {found}; forward must return logits of shape {wanted}.")
        if not logits.isfinite().all():
            raise PcnetError(
                f"{self._name} returns NaN or infinite logits in its first epoch; look for a logarithm, a root or a "
                "division by zero in its forward."
            )
        changed = [name for name, before in kept.items() if not torch.equal(before, parameters[name])]
        if changed:
            raise PcnetError(
                f"{self._name} changes '{changed[0]}' while it computes, which is not kept with the best epoch; "
                "make it a parameter, or do without."
            )
        self._tried = self.training
        return logits

    @contextmanager
    def _its_errors(self, what: str) -> Iterator[None]:
        """What the module raises, as a sentence with the line that it stands in."""
        try:
            yield
        except (PcnetError, MemoryError, torch.cuda.OutOfMemoryError):
            raise
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            home = inspect.getfile(self.settings.module)
            last = next((frame for frame in reversed(frames) if frame.filename == home), frames[-1])
            reason = f"{type(error).__name__}: {error}".partition("\n")[0].rstrip(".")
            raise PcnetError(
                f"{self._name} {what} in line {last.lineno} of {Path(last.filename).name}: {reason}."
            ) from error


def plain_settings(name: str, module: type[nn.Module]) -> type[PlainSettings]:
    """The settings class of a plain module, with a field for every argument of `__init__` that has a default."""
    if not (inspect.isclass(module) and issubclass(module, nn.Module)):
        raise PcnetError(f"@pcnet.method('{name}') belongs above a class that is derived from torch.nn.Module.")
    arguments = list(inspect.signature(module.__init__).parameters.values())[1:]
    names = [each.name for each in arguments]
    if "in_channels" not in names or "out_channels" not in names:
        raise PcnetError(
            f"{module.__name__}.__init__ takes ({', '.join(names)}); a method takes in_channels, out_channels and "
            "settings that have defaults."
        )
    if len(_takes(module)) < 2:
        raise PcnetError(f"{module.__name__}.forward must take x, edge_index and, if it wants it, edge_weight.")
    try:
        hints = get_type_hints(module.__init__)
    except (NameError, TypeError):  # of names that exist only for type checkers
        hints = {}
    fields = []
    for each in arguments:
        if each.name in ("in_channels", "out_channels") or each.kind is each.VAR_KEYWORD:
            continue
        if each.default is each.empty:
            raise PcnetError(f"The setting '{each.name}' of {module.__name__}.__init__ has no default; give it one.")
        if hasattr(PlainSettings, each.name) or each.name in get_type_hints(PlainSettings):
            raise PcnetError(f"A setting cannot be called '{each.name}'; rename it in {module.__name__}.__init__.")
        fields.append((each.name, _type_of(each, hints.get(each.name), module), field(default=each.default)))
    settings: Any = make_dataclass(f"{module.__name__}Settings", fields, bases=(PlainSettings,), frozen=True)
    settings.module = module
    settings.model = type(module.__name__, (PlainModel,), {"Settings": settings, "__doc__": module.__doc__})
    return settings


def _type_of(argument: inspect.Parameter, hint: Any, module: type[nn.Module]) -> Any:
    default = argument.default
    if hint in SCALARS or (hint is not None and {*map(type, get_args(hint))} & {type, str, type(None)}):
        return hint
    if type(default) not in SCALARS:
        raise PcnetError(
            f"The setting '{argument.name}' of {module.__name__}.__init__ has the default {default!r}; settings are "
            "numbers, words and truth values, or None with a type such as int | None."
        )
    return float if argument.name.startswith("drop") else type(default)


def _takes(module: type[nn.Module]) -> list[str]:
    """The names of what a module's `forward` takes."""
    return list(inspect.signature(module.forward).parameters)[1:]


@contextmanager
def _seeded(seed: int | None) -> Iterator[None]:
    """Torch's random numbers on the CPU follow from a seed, and go on afterwards as if nothing had been drawn."""
    if seed is None:
        yield
        return
    with _drawing, torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield


def _features(x: Tensor | CSR, sparse: bool) -> Tensor:
    """X as a module wants it: dense, or as torch's sparse matrix."""
    if isinstance(x, CSR):
        return _sparse(x) if sparse else _dense(x)
    return x.to_sparse() if sparse and x.layout == torch.strided else x


@made_once
def _sparse(x: CSR) -> Tensor:
    return torch.sparse_coo_tensor(torch.stack([x.rows, x.col.long()]), x.values, x.shape, is_coalesced=True)


@made_once
def _dense(x: CSR) -> Tensor:
    return x.to_dense()


@made_once
def _edges(operator: Operator) -> tuple[Tensor, Tensor | None]:
    """`edge_index`, from sources to targets, and the weights of a graph that has any."""
    matrix = operator.matrix
    weighted = matrix.values.requires_grad or bool((matrix.values != 1).any())
    return torch.stack([matrix.col.long(), matrix.rows]), matrix.values if weighted else None
