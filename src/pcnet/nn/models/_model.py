"""A model and its settings: what every method is, so that one trainer trains them all."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import NoneType
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import torch
from torch import Tensor

from pcnet._checks import finite_number, one_of, positive_number, whole_number
from pcnet._progress import Progress
from pcnet.graph import CSR, Graph, Operator, cached_operator
from pcnet.nn._dropout import DeviceDraws, Draws, check_rate
from pcnet.nn._module import GraphModule

S = TypeVar("S", bound="ModelSettings")
T = TypeVar("T")


class Model(GraphModule, ABC, Generic[S]):
    """Features and edges in, logits out: (n, classes), or (R, n, classes) for a stack of runs.

    `Model[S]` takes the fields of S as keyword arguments. A subclass makes its parameters in `setup`, gives them values
    in `reset_parameters` and computes in `forward`.

    Args:
        in_channels: number of features.
        hidden: width of the hidden layer.
        out_channels: number of classes.
        settings: the other fields of the method's settings, which document them and have their defaults.
    """

    #: The dataclass S.
    Settings: ClassVar[type[Any]]
    #: Beginnings of the names of parameters whose initial values follow from the seed and the widths alone; the
    #: others follow from the settings alone.
    seeded: ClassVar[tuple[str, ...]] = ("",)
    per_run: ClassVar[tuple[str, ...]] = ("of_runs",)

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for base in cls.__dict__.get("__orig_bases__", ()):
            for settings in get_args(base):
                if isinstance(settings, type):
                    cls.Settings = settings

    def __init__(self, in_channels: int, hidden: int | None, out_channels: int, **settings: Any) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        #: The settings of every run of a stack, which may differ in `varying` ones and rates of dropout.
        self.of_runs: tuple[S, ...] = (self.Settings(hidden=hidden, **settings),)
        #: Where dropout takes its bits from; None lets `torch.manual_seed` govern them.
        self.draws: Draws | DeviceDraws | None = None
        self.setup(self.settings)
        self.reset_parameters()

    @property
    def settings(self) -> S:
        """The settings that all runs have in common; of varying ones, the first run's."""
        return self.of_runs[0]

    def rates(self, name: str) -> tuple[float, ...]:
        """A varying setting of every run."""
        return tuple(getattr(own, name) for own in self.of_runs)

    def agreement(self) -> Mapping[str, Hashable]:
        return self.settings.agreement()

    @abstractmethod
    def setup(self, s: S) -> None:
        """Make the parameters, without values."""

    @abstractmethod
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Fresh weights; of a single run."""

    @abstractmethod
    def forward(self, x: Tensor | CSR, edge_index: Tensor | Operator, edge_weight: Tensor | None = None) -> Tensor:
        """The logits of every node; softmax and loss are the caller's."""

    def penalty(self) -> Tensor | None:
        """What is added to the loss, summed over the runs; None where nothing is."""
        return None


def setting(
    default: T,
    meaning: str | None = None,
    *,
    least: int | None = None,
    most: int | None = None,
    positive: bool | None = None,
    varies: bool | None = None,
) -> T:
    """A field of settings with all that is known of it; what is left out is as where the field is inherited from.

    Args:
        default: its value where none is given.
        meaning: what it is, in the words of the documentation.
        least, most: bounds of a number; a whole one is at least 0 anyway.
        positive: whether a number must be above 0.
        varies: whether runs that are trained side by side may differ in it.
    """
    about = {"meaning": meaning, "least": least, "most": most, "positive": positive, "varies": varies}
    made: Any = field(default=default, metadata={k: v for k, v in about.items() if v is not None})
    return made


class Memory(NamedTuple):
    """What training a run takes, from above."""

    #: Numbers that are kept for each node.
    nodes: int
    #: Columns of the widest block that is propagated or multiplied.
    widest: int
    #: Numbers that are kept for each entry of the operator.
    edges: int = 0


@dataclass(frozen=True)
class ModelSettings(ABC):
    """What defines a model apart from its weights. Every field is checked by its type when settings are made.

    A field is a plain one, or a `setting` that has bounds, too, and is described by `Args` once it is registered.
    Rates of dropout have names that begin with "drop", and lie in [0, 1).
    """

    #: Set by `method`: the name by which commands and files know it, how it is written, its model, and the class that
    #: was registered.
    method: ClassVar[str]
    title: ClassVar[str]
    model: ClassVar[type[Model[Any]]]
    defined_in: ClassVar[str]
    #: Whether runs side by side give the same bits on the CPU as one by one; where not, they are trained one by one.
    side_by_side: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, (kind, optional, about) in _known(type(self)).items():
            value = getattr(self, name)
            if value is None and optional:
                continue
            if get_origin(kind) is Literal:
                one_of(name, value, get_args(kind))
            elif kind is float and name.startswith("drop"):
                check_rate(name, value)
            elif about.get("positive"):
                positive_number(name, value)
            elif kind in (int, float):
                if kind is int:
                    whole_number(name, value, about.get("least", 0))
                finite_number(name, value, about.get("least", -math.inf), about.get("most", math.inf))

    def __deepcopy__(self: S, memo: Any) -> S:
        return self

    @property
    def varying(self) -> tuple[str, ...]:
        """Settings, besides rates of dropout, in which runs that are trained side by side may differ."""
        return tuple(name for name, (_, _, about) in _known(type(self)).items() if about.get("varies"))

    def agreement(self) -> Mapping[str, Hashable]:
        """The settings that runs side by side must have in common."""
        varying = self.varying
        return {k: v for k, v in vars(self).items() if not k.startswith("drop") and k not in varying}

    @property
    def batch_key(self) -> Hashable:
        """Runs whose keys agree can be trained side by side."""
        return type(self), *self.agreement().items()

    @property
    def network(self) -> type[Model[Any]]:
        """The class of the model that these settings make."""
        return self.model

    @property
    def groups(self) -> tuple[str, ...]:
        """Parameter groups that take a learning rate and a decay of their own."""
        return tuple(self.network.groups)

    @abstractmethod
    def memory(self, classes: int) -> Memory:
        """How much of it training a run takes."""

    def for_graph(self, graph: Graph, progress: Progress | None = None) -> ModelSettings:
        """These settings for a graph, where a model's weights depend on more of it than features and classes.

        Where looking at the graph takes long, that is a stage of `progress`.
        """
        return self

    def remarks(self) -> list[str]:
        """What is unusual about these settings, in sentences."""
        return []

    def build(self, in_channels: int, out_channels: int, seed: int | None = None) -> Model[Any]:
        """A model with fresh weights, the same ones for the same seed."""
        model = self.network(in_channels, out_channels=out_channels, **vars(self))
        if seed is not None:
            model.reset_parameters(torch.Generator().manual_seed(seed))
        return model

    def skeleton(self, in_channels: int, out_channels: int) -> Model[Any]:
        """A model whose parameters that are drawn may have other shapes: they are given later."""
        return self.build(1, out_channels)

    def operator(self, graph: Graph, *, device: torch.device | str = "cpu") -> Operator:
        """The operator that this model computes with; built once for a graph, whoever asks.

        A setting `eta` is its exponent. With a true `directed` among the settings, edges count in the one direction in
        which they were listed: a page hears from the pages it links to, and what it links to is its degree.
        """
        directed = getattr(self, "directed", False)
        edge_index, edge_weight = graph.one_way_edges if directed else (graph.edge_index, graph.edge_weight)
        return cached_operator(
            edge_index,
            graph.num_nodes,
            edge_weight,
            eta=getattr(self, "eta", self.network.eta),
            self_loops=self.network.self_loops,
            direction="out" if directed else "symmetrise",
            dtype=torch.float32,
        ).to(device)


def documented(settings: type[ModelSettings]) -> str:
    """The docstring of a method's settings, and what its fields mean."""
    # Where a class has none, a dataclass puts its signature there.
    own = None if str(settings.__doc__).startswith(f"{settings.__name__}(") else settings.__doc__
    opening = inspect.cleandoc(own or f"The settings of `{settings.model.__name__}`.")
    meanings = {name: about["meaning"] for name, (_, _, about) in _known(settings).items() if "meaning" in about}
    lines = [f"    {name}: {meaning}." for name, meaning in meanings.items()]
    return "\n".join([opening, *(["\nArgs:"] if lines else []), *lines])


@cache
def _known(settings: type[ModelSettings]) -> dict[str, tuple[Any, bool, dict[str, Any]]]:
    """Of every field its type, whether it can be None, and what `setting` says of it here or in a base."""
    hints, known = get_type_hints(settings), {}
    for name in settings.__dataclass_fields__:
        kinds = [each for each in get_args(hints[name]) if each is not NoneType]
        optional = len(kinds) < len(get_args(hints[name]))
        about: dict[str, Any] = {}
        for base in reversed(settings.__mro__):
            own = getattr(base, "__dataclass_fields__", {})
            about |= own[name].metadata if name in own else {}
        known[name] = kinds[0] if optional else hints[name], optional, about
    return known
