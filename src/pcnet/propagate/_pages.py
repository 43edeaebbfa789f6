"""Large pages for large blocks."""

from __future__ import annotations

import ctypes
import mmap

from torch import Tensor

#: What the C library takes from the system for each block anew, and gives back with it.
LEAST = 2**25
#: Only Linux can be asked.
_ADVICE: int | None = getattr(mmap, "MADV_HUGEPAGE", None)


def in_large_pages(block: Tensor) -> Tensor:
    """Ask the system to keep a block that is not yet written to in pages of megabytes; returns the block.

    Pages of 4 kB take longer to be had for a large block than it takes to be copied, and most rows that are gathered
    from it lie in one whose place the processor has to look up. It is an advice: where it is not followed, nothing
    else happens.
    """
    if _ADVICE is not None and block.nbytes > LEAST:
        start = -(-block.data_ptr() // mmap.PAGESIZE) * mmap.PAGESIZE
        stop = (block.data_ptr() + block.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
        ctypes.CDLL(None).madvise(ctypes.c_void_p(start), ctypes.c_size_t(stop - start), _ADVICE)
    return block
