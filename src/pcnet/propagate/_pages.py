"""Memory for large blocks, in large pages where the system has them."""

from __future__ import annotations

import ctypes
import mmap

import torch
from torch import Tensor

#: Bytes from which on the C library asks the system for a block and hands it back after use.
LARGE = 2**25


def empty_like(x: Tensor) -> Tensor:
    """`torch.empty_like`. A large block is new to the process: touching it page by page costs a tenth of a sweep.

    Pages of megabytes instead of kilobytes are a request that the system need not follow, and one that changes
    nothing but time.
    """
    block = torch.empty_like(x)
    # The name exists on Linux alone.
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if advice is not None and block.device.type == "cpu" and block.nbytes >= LARGE:
        start = -(-block.data_ptr() // mmap.PAGESIZE) * mmap.PAGESIZE
        size = (block.data_ptr() + block.nbytes - start) // mmap.PAGESIZE * mmap.PAGESIZE
        ctypes.CDLL(None).madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), ctypes.c_int(advice))
    return block
