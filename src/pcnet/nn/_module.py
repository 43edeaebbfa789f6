"""Modules that stand for one run or for many side by side, and are applied to a graph."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor, nn

from pcnet.errors import PcnetError
from pcnet.graph import Operator, SelfLoops, cached_operator

Module = TypeVar("Module", bound="RunModule")


class RunModule(nn.Module):
    """A module whose arithmetic also holds with a leading run axis on every parameter.

    One run is the ordinary case: parameters have their usual shapes. `stack` puts R modules of the same shape side by
    side (R the first axis of every parameter), `select` keeps some of the runs, `one` takes a single run out again.
    Settings that may differ between runs are tuples with an entry for each run, named in `per_run`.
    """

    per_run: ClassVar[tuple[str, ...]] = ()
    #: Settings that all runs of a stack must have in common, and parameters that may be shorter in some of them.
    common: ClassVar[tuple[str, ...]] = ()
    padded: ClassVar[tuple[str, ...]] = ()
    #: Number of runs side by side; None for an ordinary module.
    runs: int | None = None

    @classmethod
    def stack(cls: type[Module], modules: Sequence[Module]) -> Module:
        """R modules as one, shorter parameters padded with zeros."""
        if not modules:
            raise PcnetError("There is nothing to stack; give at least one module.")
        if any(module.runs is not None for module in modules):
            raise PcnetError("Only single modules can be stacked; take the runs out with one() first.")
        stacked = copy.deepcopy(modules[0])
        for part, *twins in zip(stacked.modules(), *(module.modules() for module in modules), strict=True):
            _check_alike(twins)
            for name, parameter in part._parameters.items():
                if parameter is not None:
                    part._parameters[name] = _stack_padded([twin.get_parameter(name) for twin in twins])
            if isinstance(part, RunModule):
                part.runs = len(modules)
                for name in part.per_run:
                    setattr(part, name, tuple(getattr(twin, name)[0] for twin in twins))
                part.settings_changed()
        return stacked

    def select(self: Module, runs: Sequence[int]) -> Module:
        """A stacked module with some of the runs only."""
        return self._take(list(runs), len(runs))

    def one(self: Module, run: int) -> Module:
        """A single run as an ordinary module."""
        return self._take(run, None)

    def _take(self: Module, which: int | list[int], runs: int | None) -> Module:
        if self.runs is None:
            raise PcnetError("This module is a single run already.")
        # Everything but the parameters, of which some are taken: a copy of all would need their memory once more.
        taken = copy.deepcopy(self, {id(parameter): parameter for parameter in self.parameters()})
        indices = [which] if isinstance(which, int) else which
        for index in indices:
            if not 0 <= index < self.runs:
                raise PcnetError(f"There is no run {index}; this module has the runs 0 to {self.runs - 1}.")
        for part in taken.modules():
            for name, parameter in part._parameters.items():
                if parameter is not None:
                    own = parameter.detach()[which].clone()
                    part._parameters[name] = nn.Parameter(own, requires_grad=parameter.requires_grad)
            if isinstance(part, RunModule):
                part.runs = runs
                for name in part.per_run:
                    setattr(part, name, tuple(getattr(part, name)[index] for index in indices))
                part.settings_changed()
        return taken

    def agreement(self) -> Mapping[str, Hashable]:
        """What all runs of a stack must have in common."""
        return {name: getattr(self, name) for name in self.common}

    def settings_changed(self) -> None:
        """Called after the per-run settings were exchanged; rebuild what was derived from them."""


def _check_alike(twins: Sequence[nn.Module]) -> None:
    """Refuse modules that cannot share one kernel call."""
    first = twins[0]
    agreements = [twin.agreement() for twin in twins if isinstance(twin, RunModule)]
    for agreement in agreements:
        for name, value in agreements[0].items():
            if value != agreement[name]:
                raise PcnetError(f"Modules side by side must agree in {name}, not have {value} and {agreement[name]}.")
    may_differ = first.padded if isinstance(first, RunModule) else ()
    for name, parameter in first.named_parameters(recurse=False):
        if name not in may_differ and any(twin.get_parameter(name).shape != parameter.shape for twin in twins):
            raise PcnetError("Modules side by side must have layers of the same widths.")


def _stack_padded(parameters: Sequence[nn.Parameter]) -> nn.Parameter:
    shape = torch.Size(max(sizes) for sizes in zip(*(own.shape for own in parameters), strict=True))
    stacked = parameters[0].new_zeros(len(parameters), *shape)
    for run, own in enumerate(parameters):
        stacked[run][tuple(slice(size) for size in own.shape)] = own.detach()
    return nn.Parameter(stacked, requires_grad=parameters[0].requires_grad)


@lru_cache(maxsize=256)
def held(
    make: Callable[..., Any], *arguments: Hashable, device: torch.device | str, dtype: torch.dtype | None = None
) -> Tensor:
    """`make(*arguments)` on the device to stay: a captured step cannot wait for a copy."""
    return torch.as_tensor(make(*arguments), dtype=dtype).to(device)


def device_vector(values: tuple[float, ...], device: torch.device, dtype: torch.dtype = torch.float32) -> Tensor:
    """One number for each run."""
    return held(tuple, values, device=device, dtype=dtype)


#: Groups of parameters, each by beginnings of their names.
Groups = Mapping[str, tuple[str, ...]]


class GraphModule(RunModule):
    """A module that computes with S = D^-η W D^-η, W the adjacency with the self loops that it wants."""

    eta: float = 0.5
    self_loops: SelfLoops = "add"
    #: Those that take a learning rate and a decay of their own.
    groups: ClassVar[Groups] = {"all": ("",)}

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """Parameters by the names under which learning rates and decays are given."""
        named = list(self.named_parameters())
        found = {
            group: [each for name, each in named if name.startswith(starts)] for group, starts in self.groups.items()
        }
        return {group: parameters for group, parameters in found.items() if parameters}

    def operator(
        self, edges: Tensor | Operator, num_nodes: int, edge_weight: Tensor | None, dtype: torch.dtype
    ) -> Operator:
        """The graph's S, whatever form the edges come in: a list 2 × E, a sparse adjacency tensor or an `Operator`.

        The operator of a list is kept and found again by its content.
        """
        if isinstance(edges, Operator):
            if edge_weight is not None:
                raise PcnetError("An operator has its edge weights in it; leave edge_weight out.")
            for name in ("eta", "self_loops"):
                theirs, mine = getattr(edges, name), getattr(self, name)
                if theirs != mine:
                    raise PcnetError(
                        f"The operator has {name} = {theirs}, the layer {mine}; build it with the layer's."
                    )
            return edges.to(dtype)
        edge_index = edges
        if edges.layout != torch.strided:
            if edges.shape != (num_nodes, num_nodes):
                raise PcnetError(
                    f"The adjacency matrix is {tuple(edges.shape)}, but x has {num_nodes} nodes; they must be the same."
                )
            coo = edges.to_sparse_coo().coalesce()
            # Row i of an adjacency matrix gathers from its columns: those are the sources.
            edge_index, edge_weight = coo.indices().flip(0), coo.values()
        return cached_operator(
            edge_index, num_nodes, edge_weight, eta=self.eta, self_loops=self.self_loops, dtype=dtype
        )
