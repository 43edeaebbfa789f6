"""Bytes: what a forward keeps for its backward, and the most that both need at a time."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable

import torch
from torch import Tensor
from torch.autograd import profiler
from torch.profiler import ProfilerActivity, profile

from benchmarks.timing import synchronise


def saved_bytes(forward: Callable[[Tensor], Tensor], x: Tensor, constants: Iterable[Tensor] = ()) -> int:
    """Σ of the distinct storages that autograd saves; `constants`, which are there anyway, do not count."""
    known = {storage.data_ptr() for tensor in constants for storage in _storages(tensor)}
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        for storage in _storages(tensor):
            if storage.data_ptr() not in known:
                kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        forward(x)
    return sum(kept.values())


def held_bytes(forward: Callable[[Tensor], Tensor], x: Tensor) -> int:
    """What is still allocated when a forward is over, its output included: finds what no hook is told of."""
    _quiet_profiler()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        # The name keeps the output, and with it all that its backward needs, until the record is closed.
        z = forward(x)
    del z
    return sum(event.self_cpu_memory_usage for event in record.events())


def peak_bytes(call: Callable[[], object], device: torch.device | str = "cpu") -> int:
    """The most that tensors of a call take at a time, above what was there before it."""
    if torch.device(device).type == "cuda":
        synchronise(device)
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        call()
        synchronise(device)
        return torch.cuda.max_memory_allocated(device) - before
    _quiet_profiler()
    # Every allocation (+) and release (−) in the order in which they happened: also those inside an operation.
    with profiler.profile(profile_memory=True) as record:
        call()
    events = [event for event in record.kineto_results.events() if event.name() == profiler.MEMORY_EVENT_NAME]
    events.sort(key=lambda event: event.start_ns())
    return max(itertools.accumulate((event.nbytes() for event in events), initial=0))


def _quiet_profiler() -> None:
    """Some releases of torch let the profiler write lines of its own to standard error."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")


def _storages(tensor: Tensor) -> list[torch.UntypedStorage]:
    if tensor.layout == torch.sparse_csr:
        parts = [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    elif tensor.layout == torch.sparse_coo:
        parts = [tensor._indices(), tensor._values()]
    else:
        parts = [tensor]
    return [part.untyped_storage() for part in parts]
