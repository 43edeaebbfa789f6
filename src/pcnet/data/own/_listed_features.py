"""`features.json`: for each node the ids of the features that it has, as MUSAE's graphs have them."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from pcnet.data._reading import ADVICE, reading
from pcnet.data.own._cells import Bag, Cells, Coded, Table, shortened
from pcnet.errors import PcnetError
from pcnet.graph import Kind

#: The columns: a node and its features, whatever the file is called.
ID, FEATURES = "id", "features"
#: In memory JSON is some ten times as large.
_LARGEST = 2**29


class _ListCells(Cells):
    """Lists of features, which are a bag and nothing else; a feature counts once."""

    def __init__(self, title: str, where: Callable[[int], str], lists: list[Any]) -> None:
        super().__init__(title, FEATURES, where, self._no_words)
        for row, items in enumerate(lists):
            if type(items) is not list:
                self.refuse(row, f"{shortened(str(items))} is no list of features")
        if not set(map(type, chain.from_iterable(lists))) <= {int, str}:
            wrong = ((row, item) for row, items in enumerate(lists) for item in items if type(item) not in (int, str))
            row, item = next(wrong)
            self.refuse(row, f"{shortened(str(item))} is no feature, which is a whole number or a word")
        if len(set(map(len, lists))) == 1 and len(lists[0]) > 2 and set(chain.from_iterable(lists)) <= {0, 1}:
            raise PcnetError(
                f"{self.title} has as many zeros and ones for every node, not the features that it has; "
                "put such lists into a column of the table of nodes."
            )
        self._lists = lists

    @cached_property
    def kind(self) -> Kind | None:
        return "bag"

    @cached_property
    def bag(self) -> Bag:
        features = (list(dict.fromkeys(str(item).lower() for item in items)) for items in self._lists)
        return Bag.of(features, np.arange(len(self._lists)))

    def _no_words(self) -> Coded:
        raise PcnetError(f"{self.title} can only be read as a bag; leave out the kind of '{self.name}'.")


def read_listed_features(path: Path) -> Table:
    """An object of ids and lists, or a list of lists whose places are the ids."""
    with reading(path, ADVICE):
        if path.stat().st_size > _LARGEST:
            raise PcnetError(f"{path} is larger than {_LARGEST / 2**20:,.0f} MiB; make it a column of nodes.parquet.")
        # With keys that are there twice; a tuple is an object, for a list stays one.
        content = json.loads(path.read_bytes(), object_pairs_hook=tuple)
    if isinstance(content, list):
        content = [(str(place), items) for place, items in enumerate(content)]
    if not isinstance(content, (list, tuple)):
        raise PcnetError(
            f'{path} must hold an object, as in {{"17": [3, 8]}}, that lists the features of each id; write it again.'
        )
    if not content:
        raise PcnetError(f"{path} lists no features; fill or remove it.")
    keys, lists = zip(*content, strict=True)

    def where(row: int) -> str:
        return f"{path.name}, key {shortened(keys[row])}"

    ids = Cells(path.name, ID, where, lambda: Coded.of(map(str.strip, keys)))
    return Table(path.name, {ID: ids, FEATURES: _ListCells(path.name, where, list(lists))}, len(keys))
