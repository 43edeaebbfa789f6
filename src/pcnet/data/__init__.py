"""Named datasets, synthetic graphs, your own graph, and splits.

The catalogue, where its files are, and what can be said about reading are there at once and need no torch; all other
names are imported when they are first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pcnet.data._catalogue import (
    CATALOGUE,
    EMBEDDED,
    Dataset,
    Facts,
    cache_folder,
    data_folder,
    dataset_named,
    fetch,
    file_states,
    find,
    find_splits,
)
from pcnet.data.own._columns import READ_KEYS, ReadOptions

if TYPE_CHECKING:
    from pcnet.data._names import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'pcnet.data' has no attribute '{name}'")
    return getattr(import_module("pcnet.data._names"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(import_module("pcnet.data._names"))})
