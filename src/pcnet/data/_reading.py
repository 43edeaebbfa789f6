"""The one door through which files come in: failures become sentences, and pickles are read as data, never run."""

from __future__ import annotations

import _codecs
import contextlib
import io
import pickle
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from pcnet.errors import PcnetError

#: What to do about a damaged file: one that was downloaded, and one of the user's own.
FETCH, ADVICE = "delete it and fetch it again", "write it again"


@contextlib.contextmanager
def reading(path: Path, advice: str = FETCH) -> Iterator[None]:
    """Turn whatever a reader raises on a missing or damaged `path` into a `PcnetError` that ends with `advice`.

    Every `Exception` is caught, because a truncated pickle, archive or MATLAB file fails in whatever routine
    happens to meet the damage first.
    """
    try:
        yield
    except PcnetError:
        raise
    except OSError as error:
        # zipfile and gzip report damage as an OSError without an errno; a real I/O failure has one.
        if error.errno is None:
            raise damaged(path, str(error), advice) from error
        raise PcnetError(f"Cannot read {path}: {error.strerror}.") from error
    except Exception as error:
        raise damaged(path, f"{type(error).__name__}: {error}", advice) from error


def damaged(path: Path, reason: str, advice: str = FETCH) -> PcnetError:
    """The error for a file that is there but cannot be what it should be."""
    # What a library says may have several lines.
    return PcnetError(f"{path} is damaged or not the expected file ({' '.join(reason.split())}); {advice}.")


class _CsrState:
    """Stands in for SciPy's `csr_matrix` while unpickling, so that no SciPy code runs on unchecked state."""


# NumPy moved these two functions between releases; its own pickles know where they are.
_ARRAY = np.empty(0).__reduce__()[0]
_SCALAR = np.float64(0).__reduce__()[0]

#: Modules that are private by now (numpy._core, scipy.sparse._csr) have their former names here.
_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): _ARRAY,
    ("numpy.core.multiarray", "scalar"): _SCALAR,
    ("scipy.sparse.csr", "csr_matrix"): _CsrState,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
    ("_codecs", "encode"): _codecs.encode,
}


class _Unpickler(pickle.Unpickler):
    """Builds arrays, lists and dictionaries: it resolves the names in the allow-list and no others."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module.replace("._", "."), name]
        except KeyError:
            raise PcnetError(f"the pickle asks for {module}.{name}, which raw graph data never needs") from None


def unpickle(path: Path, skip: int = 0) -> Any:
    """The object pickled in `path` after its first `skip` bytes; strings of Python 2 are read as Latin-1."""
    with reading(path):
        stream = io.BytesIO(path.read_bytes()[skip:])
        with warnings.catch_warnings():
            # Arrays pickled by old NumPy carry 0 where new NumPy wants False.
            warnings.simplefilter("ignore")
            try:
                value = _Unpickler(stream, encoding="latin1").load()
            except PcnetError as error:
                raise PcnetError(f"Refused to read {path}: {error}. Fetch it again from its source.") from None
        return value


def unpickle_csr(path: Path) -> scipy.sparse.csr_matrix:
    """A pickled SciPy matrix in compressed rows, rebuilt (and so checked) from its three arrays."""
    value = unpickle(path)
    with reading(path):
        if not isinstance(value, _CsrState):
            raise damaged(path, "no sparse matrix inside")
        state = vars(value)
        shape = state.get("_shape") or state["shape"]
        return scipy.sparse.csr_matrix((state["data"], state["indices"], state["indptr"]), shape=shape)


def unpickle_npy(path: Path) -> Any:
    """An `.npy` file of Python objects: NumPy's header is skipped and the pickle behind it read safely."""
    with reading(path), path.open("rb") as stream:
        version = np.lib.format.read_magic(stream)
        if version != (1, 0):
            raise damaged(path, f"npy version {version}")
        np.lib.format.read_array_header_1_0(stream)
        start = stream.tell()
    return unpickle(path, skip=start)
