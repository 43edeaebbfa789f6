"""What a call asks of a device, to see on any machine whether a GPU could record it once and replay it."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

#: Values that the host asks for, and shapes that depend on values.
WAITING = frozenset({"_local_scalar_dense", "nonzero", "masked_select", "_unique2"})


class _Recorded(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.not_recordable: set[str] = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        if name in WAITING:
            self.not_recordable.add(name)
        result = function(*args, **(kwargs or {}))
        # Without values everything is on "meta"; what is on the CPU would have to be copied.
        if any(isinstance(each, Tensor) and each.is_cpu for each in tree_leaves((args, kwargs, result))):
            self.not_recordable.add(name)
        return result


def not_recordable(call: Callable[[], object]) -> set[str]:
    """The names of torch's operations behind a call on "meta" tensors that no GPU could record."""
    with _Recorded() as recorded:
        call()
    return recorded.not_recordable
