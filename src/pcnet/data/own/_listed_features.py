"""`features.json`: for each node the ids of the features that it has, as MUSAE's graphs have them."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from pcnet.data._reading import ADVICE, reading
from pcnet.data.own._table import Table, shortened
from pcnet.data.own._words import Bag, Coded
from pcnet.errors import PcnetError
from pcnet.graph import Kind

#: The columns: a node and its features, whatever the file is called.
ID, FEATURES = "id", "features"
#: In memory JSON is some ten times as large.
_LARGEST = 2**29


class _Object(list[tuple[str, Any]]):
    """A JSON object with all of its keys, repeated ones too."""


class ListedFeatures(Table):
    """An object of ids and lists, or a list of lists whose places are the ids; a feature counts once."""

    def __init__(self, path: Path) -> None:
        self._keys, lists = _read(path)
        super().__init__(path.name, {ID: Coded.of(map(str.strip, self._keys))}, len(lists))
        self.names = (ID, FEATURES)
        for row, items in enumerate(lists):
            if type(items) is not list:
                self.refuse(row, FEATURES, f"{shortened(str(items))} is no list of features")
        if not set(map(type, chain.from_iterable(lists))) <= {int, str}:
            wrong = ((row, item) for row, items in enumerate(lists) for item in items if type(item) not in (int, str))
            row, item = next(wrong)
            self.refuse(row, FEATURES, f"{shortened(str(item))} is no feature, which is a whole number or a word")
        if _are_values(lists):
            raise PcnetError(
                f"{self.title} has as many zeros and ones for every node, not the features that it has; "
                "put such lists into a column of the table of nodes."
            )
        features = (list(dict.fromkeys(str(item).lower() for item in items)) for items in lists)
        self._bags[FEATURES] = Bag.of(features, np.arange(self.rows))

    def kind(self, column: str) -> Kind | None:
        """Lists of features are a bag."""
        return "bag" if column == FEATURES else super().kind(column)

    def coded(self, column: str) -> Coded:
        """The ids; lists of features are nothing but a bag."""
        if column == FEATURES:
            raise PcnetError(f"{self.title} can only be read as a bag; leave out the kind of '{FEATURES}'.")
        return super().coded(column)

    def where(self, row: int, column: str) -> str:
        """The key of a list."""
        return f"{self.title}, key {shortened(self._keys[row])}"


def _read(path: Path) -> tuple[list[str], list[Any]]:
    """Keys and values."""
    with reading(path, ADVICE):
        if path.stat().st_size > _LARGEST:
            raise PcnetError(f"{path} is larger than {_LARGEST / 2**20:,.0f} MiB; make it a column of nodes.parquet.")
        content = json.loads(path.read_bytes(), object_pairs_hook=_Object)
    if isinstance(content, list) and not isinstance(content, _Object):
        content = [(str(place), items) for place, items in enumerate(content)]
    if not isinstance(content, list):
        raise PcnetError(
            f'{path} must hold an object, as in {{"17": [3, 8]}}, that lists the features of each id; write it again.'
        )
    if not content:
        raise PcnetError(f"{path} lists no features; fill or remove it.")
    return [key for key, _ in content], [items for _, items in content]


def _are_values(lists: list[list[Any]]) -> bool:
    """Whether the lists hold the value of every feature, one after the other."""
    lengths = set(map(len, lists))
    return len(lengths) == 1 and lengths.pop() > 2 and set(chain.from_iterable(lists)) <= {0, 1}
