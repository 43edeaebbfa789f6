"""A sparse matrix in compressed rows, the form in which graphs and features are kept, and what is made once of one."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.errors import PcnetError

Arguments = ParamSpec("Arguments")
T = TypeVar("T")

#: Kinds of a thing that are kept of one matrix or operator.
KINDS = 8

with warnings.catch_warnings():
    # The first compressed-row tensor of a process makes torch say that they are new; users need not hear it from us.
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor(torch.tensor([0, 0]), torch.tensor([], dtype=torch.int64), torch.tensor([]), (1, 1))


@dataclass(frozen=True, eq=False)
class RowsByLength:
    """Rows of a matrix and where their entries begin and end, rows with most entries first."""

    rows: Tensor
    start: Tensor
    stop: Tensor
    lengths: NDArray[np.int_]

    def longer_than(self, limit: int) -> int:
        """How many rows have more entries."""
        return int(np.searchsorted(-self.lengths, -limit))


@dataclass(frozen=True, eq=False)
class CSR:
    """Row i holds `values[crow[i]:crow[i+1]]` in the columns `col[crow[i]:crow[i+1]]`.

    Columns ascend within a row and no entry is stored twice. `transposed` is computed once and kept, because
    the gradient of a product needs it at every step; `to_transposed[e]` is the place of entry e's twin there.
    """

    crow: Tensor
    col: Tensor
    values: Tensor
    shape: tuple[int, int]

    @staticmethod
    def from_scipy(matrix: scipy.sparse.spmatrix, dtype: torch.dtype = torch.float32) -> CSR:
        """Take a SciPy matrix; duplicates are summed and columns sorted."""
        csr = scipy.sparse.csr_matrix(matrix, copy=True)
        csr.sum_duplicates()
        # 32-bit indices halve the index traffic of every product.
        index = np.int32 if max(csr.nnz, *csr.shape) < 2**31 else np.int64
        return CSR(
            torch.from_numpy(csr.indptr.astype(index)),
            torch.from_numpy(csr.indices.astype(index)),
            torch.from_numpy(np.asarray(csr.data)).to(dtype, copy=True),
            csr.shape,
        )

    @staticmethod
    def from_torch(matrix: Tensor) -> CSR:
        """Take a torch sparse tensor (COO or CSR)."""
        if matrix.layout == torch.sparse_coo:
            matrix = matrix.coalesce().to_sparse_csr()
        if matrix.layout != torch.sparse_csr:
            raise PcnetError(f"A sparse tensor must be COO or CSR, not {matrix.layout}; call .to_sparse_csr() first.")
        parts = (matrix.crow_indices(), matrix.col_indices(), matrix.values())
        crow, col, values = (part.detach().cpu().numpy() for part in parts)
        rows, columns = matrix.shape
        result = CSR.from_scipy(scipy.sparse.csr_matrix((values, col, crow), shape=(rows, columns)), matrix.dtype)
        return result.to(matrix.device)

    def to_scipy(self) -> scipy.sparse.csr_matrix:
        """A float64 SciPy copy, which takes no gradient."""
        parts = (self.values.detach().double(), self.col, self.crow)
        return scipy.sparse.csr_matrix(tuple(part.cpu().numpy() for part in parts), shape=self.shape)

    def to_dense(self) -> Tensor:
        """The same matrix with its zeros written out."""
        return torch.from_numpy(self.to_scipy().toarray()).to(self.values)

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return self.values.numel()

    @property
    def device(self) -> torch.device:
        return self.values.device

    @property
    def dtype(self) -> torch.dtype:
        return self.values.dtype

    def with_values(self, values: Tensor) -> CSR:
        """Other values at the same places."""
        return CSR(self.crow, self.col, values, self.shape)

    def to(self, target: torch.device | torch.dtype | str) -> CSR:
        """The same matrix on another device or in another precision."""
        if isinstance(target, torch.dtype):
            return self if target == self.dtype else self.with_values(self.values.to(target))
        if torch.device(target) == self.device:
            return self
        return CSR(self.crow.to(target), self.col.to(target), self.values.to(target), self.shape)

    @property
    def learned(self) -> bool:
        """Whether a gradient is to reach the values."""
        return self.values.requires_grad and torch.is_grad_enabled()

    @property
    def sums_of_rows(self) -> Tensor:
        """M·1, on the CPU always by the same order of additions."""
        return self.values.new_zeros(self.shape[0]).index_add(0, self.rows, self.values)

    def only(self, some: Tensor) -> CSR:
        """The entries that a mask tells."""
        crow = starts(self.rows[some], self.shape[0]).to(self.crow.dtype)
        return CSR(crow, self.col[some], self.values[some], self.shape)

    def off_diagonal(self) -> CSR:
        """The entries off the diagonal, without those that are 0."""
        return self.only((self.rows != self.col) & (self.values != 0))

    @cached_property
    def rows(self) -> Tensor:
        """The row of every entry."""
        return torch.arange(self.shape[0], device=self.device).repeat_interleave(self.crow.diff().long())

    @cached_property
    def by_length(self) -> RowsByLength:
        """The rows in the order in which a GPU takes them, the longest first; sorted once and kept."""
        order = torch.sort(self.crow.diff(), descending=True, stable=True).indices
        start, stop = self.crow[order], self.crow[order + 1]
        return RowsByLength(order.to(self.crow.dtype), start, stop, (stop - start).cpu().numpy())

    @cached_property
    def to_transposed(self) -> Tensor:
        """Permutation that takes the entries of this matrix to the order of its transpose."""
        return torch.sort(self.col.long(), stable=True).indices

    @cached_property
    def transposed(self) -> CSR:
        """The transpose, as a matrix in compressed rows of its own."""
        crow = starts(self.col.long(), self.shape[1]).to(self.crow.dtype)
        order = self.to_transposed
        # What is made without a gradient, as in a backward pass, is kept for those who need one.
        with torch.enable_grad():
            values = self.values[order]
        return CSR(crow, self.rows[order].to(self.col.dtype), values, (self.shape[1], self.shape[0]))


def starts(rows: Tensor, count: int) -> Tensor:
    """Where each of `count` rows begins and where the last one ends, from the row of every entry."""
    return torch.cat([rows.new_zeros(1), torch.bincount(rows, minlength=count).cumsum(0)])


def made_once(make: Callable[Arguments, T]) -> Callable[Arguments, T]:
    """What `make` makes of a matrix or an operator, once for as long as somebody has that; it must not refer to it.

    Other arguments in order tell kinds of it apart, of which the latest few are kept; those by name say only how it is
    made. One thread makes it and the others wait; a captured step may read it from its address.
    """
    kept: WeakKeyDictionary[Any, dict[tuple[object, ...], T]] = WeakKeyDictionary()
    lock = threading.RLock()

    @wraps(make)
    def found(*arguments: Arguments.args, **how: Arguments.kwargs) -> T:
        of, *kind = arguments
        with lock:
            known = kept.setdefault(of, {})
            if (key := tuple(kind)) not in known:
                with torch.enable_grad():
                    known[key] = make(*arguments, **how)
                if len(known) > KINDS:
                    del known[next(iter(known))]
            return known[key]

    return found
