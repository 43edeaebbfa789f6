"""Labels and names of nodes from columns of words, and the columns that may hold labels where none is called so."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.data.own._cells import MOST_CATEGORIES, Cells, Coded, listed, shortened
from pcnet.errors import PcnetError
from pcnet.graph import LabelCandidate

Classes = tuple[str | int, ...]

#: What tables write where they have no label, if they write anything.
_MISSING = frozenset({"na", "n/a", "nan", "none", "null", "?"})
#: Whole numbers in a column with gaps, as a table of floating-point numbers writes them.
_WHOLE = re.compile(r"\A(-?[0-9]+)\.0+\Z")
_LONGEST_NAME = 1_000
#: Columns whose names hold one of these are named first, then those with the fewest values.
_TELLING = ("label", "class", "target", "category", "type")
_LONGEST_VALUE = 20


def read_labels(cells: Cells, classes: Sequence[str | int] | None, notes: list[str]) -> tuple[Tensor, Classes | None]:
    """y and the names of its classes: whole numbers in their order, else words in theirs; −1 where there is no label.

    With `classes` the numbering is theirs, and a label that is none of them is refused: leaving it out would make
    every score look better than it is. Without them, None where no node has a label.
    """
    coded = cells.coded
    words = label_words(coded, () if classes is None else tuple(map(str, classes)))
    known = tuple(Coded.of(words, text=coded.text).sorted.tolist()) if classes is None else tuple(classes)
    place = {str(name): number for number, name in enumerate(known)} | {"": -1}
    unknown = next((code for code, word in enumerate(words) if word not in place), None)
    if unknown is not None:
        cells.refuse_word(
            unknown,
            f"{shortened(words[unknown])} is no class of the classifier, which knows {listed(list(map(str, known)))}; "
            "correct it or leave the labels out (drop)",
        )
    y = coded.spread(np.array([place[word] for word in words], dtype=np.int64), -1)
    labelled = int((y >= 0).sum())
    if classes is None:
        _check_classes(cells, known, labelled)
    said = [word for word, label in zip(coded.words, words, strict=True) if not label]
    if said:
        notes.append(
            f"{len(y) - labelled - coded.empty:,} cells of '{cells.name}' that say {listed(said)} count as no label; "
            "if that is a class, give it another name."
        )
    if 0 < labelled < len(y):
        notes.append(f"{len(y) - labelled:,} of {len(y):,} nodes have no label.")
    return torch.from_numpy(y), known or None


def label_words(coded: Coded, known: Collection[str] = ()) -> list[str]:
    """The words of a column as labels, "" for those that say that there is none; never for a `known` class.

    −1 says so among whole numbers that are not negative, unless that would leave the one class of −1 and 1.
    """
    words = [_WHOLE.sub(r"\1", word) for word in coded.words]
    words = ["" if word.lower() in _MISSING and word not in known else word for word in words]
    others = set(words) - {"", "-1"}
    if "-1" not in known and all(map(str.isdecimal, others)) and (known or len(others) != 1):
        words = ["" if word == "-1" else word for word in words]
    return words


def _check_classes(cells: Cells, classes: Classes, labelled: int) -> None:
    """Refuse what cannot be learned: one class, or nearly as many classes as labels."""
    if len(classes) == 1:
        raise PcnetError(
            f"The label column '{cells.name}' of {cells.title} has the one value {shortened(str(classes[0]))}; "
            "there is nothing to tell apart. Name another column, or leave it out (drop)."
        )
    if len(classes) > MOST_CATEGORIES and 2 * len(classes) > labelled:
        raise PcnetError(
            f"The label column '{cells.name}' of {cells.title} has {len(classes):,} different values for {labelled:,} "
            "nodes: a quantity or a name, not a class. Group its values into a few, name another column, or leave it "
            "out (drop)."
        )


def read_ids(cells: Cells) -> tuple[NDArray, dict[str, int]]:
    """The nodes' names in the order of the table, and the node that each name stands for."""
    coded = cells.coded
    if coded.empty:
        cells.refuse_word(-1, "the id is missing; name every node")
    # Words are numbered as they first appear: the first row out of step repeats one.
    steps = coded.codes != np.arange(len(coded.codes))
    if steps.any():
        row = int(np.argmax(steps))
        word = coded.words[coded.codes[row]]
        cells.refuse(row, f"the id {shortened(word)} was there before; every node needs its own")
    longest = max(coded.words, key=len)
    if len(longest) > _LONGEST_NAME:
        cells.refuse(coded.words.index(longest), f"an id of {len(longest):,} characters is too long")
    return coded.names(), {word: node for node, word in enumerate(coded.words)}


def label_candidates(columns: Sequence[Cells]) -> tuple[LabelCandidate, ...]:
    """The columns with few different values, each for two rows on average; no fractions."""
    found = [LabelCandidate(cells.name, tuple(map(_short, few))) for cells in columns if (few := _few(cells))]
    telling = {each.name for each in found if any(word in each.name.lower() for word in _TELLING)}
    return tuple(sorted(found, key=lambda each: (each.name not in telling, len(each.values))))


def _few(cells: Cells) -> list[str]:
    """The different values of a column that may hold labels, else none."""
    if cells.kind not in ("boolean", "category", "number"):
        return []
    coded = cells.coded
    # The few ways to write that a label is missing come on top of the classes.
    if not coded.repeated or len(coded.words) > 2 * MOST_CATEGORIES:
        return []
    values = Coded.of({word for word in label_words(coded) if word})
    if not 2 <= len(values.words) <= MOST_CATEGORIES or (cells.kind == "number" and not values.whole):
        return []
    return list(map(str, values.sorted.tolist()))


def _short(value: str) -> str:
    """A value on one line, and never long."""
    line = " ".join(value.split())
    return line if len(line) <= _LONGEST_VALUE else f"{line[: _LONGEST_VALUE - 1]}…"
