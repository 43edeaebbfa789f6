"""Labels and names of nodes from columns of words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.data.own._coded import Coded
from pcnet.data.own._columns import listed
from pcnet.data.own._table import Table, shortened
from pcnet.errors import PcnetError

Classes = tuple[str | int, ...]

#: What tables write where they have no label.
_MISSING = frozenset({"nan", "null"})
#: Whole numbers in a column with gaps, as a table of floating-point numbers writes them.
_WHOLE = re.compile(r"(-?[0-9]+)\.0+")
_LONGEST_NAME = 1_000


def read_labels(table: Table, column: str, classes: Sequence[str | int] | None) -> tuple[Tensor, Classes]:
    """y and the names of its classes: whole numbers in their order, else words in theirs; −1 where a cell is empty.

    With `classes` the numbering is theirs, and a label that is none of them is refused: leaving it out would make
    every score look better than it is.
    """
    coded = table.coded(column)
    words = ["" if word.lower() in _MISSING else _WHOLE.sub(r"\1", word) for word in coded.words]
    different = Coded.of(words, text=coded.text)
    known: Classes = tuple(np.sort(different.names()).tolist()) if classes is None else tuple(classes)
    if classes is None and len(known) == 1:
        raise PcnetError(
            f"The label column '{column}' of {table.title} has the one value {shortened(str(known[0]))}; "
            "there is nothing to tell apart. Name another column, or leave it out (drop)."
        )
    place = {str(name): number for number, name in enumerate(known)} | {"": -1}
    unknown = next((code for code, word in enumerate(words) if word not in place), None)
    if unknown is not None:
        table.refuse(
            coded.row_of(unknown),
            column,
            f"{shortened(words[unknown])} is no class of the classifier, which knows {listed(list(map(str, known)))}; "
            "correct it or leave the labels out (drop)",
        )
    numbers = np.array([place[word] for word in words], dtype=np.int64)
    return torch.from_numpy(coded.spread(numbers, -1)), known


def read_ids(table: Table, column: str) -> tuple[NDArray, dict[str, int]]:
    """The nodes' names in the order of the table, and the node that each name stands for."""
    coded = table.coded(column)
    if coded.empty:
        table.refuse(coded.row_of(-1), column, "the id is missing; name every node")
    # Words are numbered as they first appear: the first row out of step repeats one.
    steps = coded.codes != np.arange(table.rows)
    if steps.any():
        row = int(np.argmax(steps))
        word = coded.words[coded.codes[row]]
        table.refuse(row, column, f"the id {shortened(word)} was there before; every node needs its own")
    longest = max(coded.words, key=len)
    if len(longest) > _LONGEST_NAME:
        table.refuse(coded.words.index(longest), column, f"an id of {len(longest):,} characters is too long")
    return coded.names(), {word: node for node, word in enumerate(coded.words)}
