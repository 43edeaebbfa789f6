"""The operations of torch behind a call, to see on any machine whether a GPU could record it once and replay it."""

from __future__ import annotations

from collections.abc import Callable

from torch.utils._python_dispatch import TorchDispatchMode

#: A copy from or to the host, or a shape that depends on values: neither can be recorded.
NOT_RECORDABLE = frozenset(
    {"scalar_tensor", "lift_fresh", "_local_scalar_dense", "nonzero", "masked_select", "unique2"}
)


class _Recorded(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.names.add(function.overloadpacket.__name__)
        return function(*args, **(kwargs or {}))


def operations(call: Callable[[], object]) -> set[str]:
    """The names of what a call runs. Give it tensors on "meta": those of the host would hide their copies."""
    with _Recorded() as recorded:
        call()
    return recorded.names
