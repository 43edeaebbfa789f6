"""Everything that a person looks at: tables, pictures, pages, and how far work has come.

A table and a progress bar are there at once; all other names are imported when they are first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pcnet.show._progress import ProgressBar as ProgressBar
from pcnet.show._screen import Screen as Screen
from pcnet.show._table import Cell as Cell
from pcnet.show._table import Table as Table
from pcnet.show._table import strong as strong

if TYPE_CHECKING:
    from pcnet.show._names import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'pcnet.show' has no attribute '{name}'")
    return getattr(import_module("pcnet.show._names"), name)
