"""Which class goes with which: a square of shares, readable for two classes as for fifty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from pcnet.show._svg import CHARACTER, WIDTH, Drawing, shortened

#: Up to so many classes shares stand in the cells and names beside the rows; beyond, classes are numbers.
FEW = 12
#: Least width of a cell, which then has no number in it, and greatest.
CELL = 13.0, 56.0
#: Letters of a row's name at most, and room for at least so many.
LETTERS = 5, 18
TOP, GAP = 34.0, 1.0
#: From this strength on a cell's number is written in the colour of the page behind.
STRONG = 0.75


def heatmap(counts: NDArray[np.int64], names: Sequence[str], *, rows: str, columns: str, label: str) -> Markup:
    """Each row of counts as shares of it, the stronger the larger; a row without counts is crossed out.

    Where names do not fit above the columns, classes are numbered from 1 in their order.
    """
    classes = len(names)
    few = classes <= FEW
    numbers = [str(number) for number in range(1, classes + 1)]
    heads = numbers if numbered(names) else list(names)
    both = [f"{number} {name}" for number, name in zip(numbers, names, strict=True)]
    texts = [shortened(text, LETTERS[1]) for text in (both if few and numbered(names) else heads)]
    left, cell = _measures(texts)
    drawing = Drawing(TOP + classes * cell, label, width=max(WIDTH, left + classes * cell))
    drawing.text(left, 11, columns, "axis")
    drawing.text(left - 7, TOP - 6, rows, "axis", "end")
    totals = counts.sum(axis=1)
    for place, text in enumerate(texts):
        middle = (place + 0.5) * cell
        # Of fifty column numbers every other one is legible.
        if cell > 15 or place % 2 == 0:
            drawing.text(left + middle, TOP - 6, heads[place], anchor="middle")
        drawing.text(left - 7, TOP + middle + 4, text, anchor="end")
    for row in range(classes):
        y = TOP + row * cell
        if totals[row] == 0:
            drawing.path([(left, y + cell / 2), (left + classes * cell, y + cell / 2)], "none")
            continue
        for column in range(classes):
            x, count = left + column * cell, int(counts[row, column])
            share = count / totals[row]
            # A trace of colour tells few from none; of many classes the rows and columns have numbers only.
            strength = max(share, 0.04) if count else 0.0
            pair = (names[row], names[column]) if few else (heads[row], heads[column])
            title = f"{pair[0]} → {pair[1]}: {count:,} of {totals[row]:,}"
            kind = "cell own" if row == column else "cell"
            drawing.cell(x, y, cell - GAP, cell - GAP, kind, strength, title)
            if few and count:
                style = "share strong" if share >= STRONG else "share"
                drawing.text(x + (cell - GAP) / 2, y + cell / 2 + 4, _percent(share), style, "middle")
    return drawing.markup()


def numbered(names: Sequence[str]) -> bool:
    """Whether columns are headed by numbers because names would not fit there."""
    return len(names) > FEW or CHARACTER * max(len(name) for name in names) > _measures(names)[1] - GAP


def _measures(beside: Sequence[str]) -> tuple[float, float]:
    """Where the cells begin beside these names, and how wide they are."""
    left = 8 + CHARACTER * max(LETTERS[0], *(len(text) for text in beside))
    return left, min(CELL[1], max(CELL[0], (WIDTH - left) / len(beside)))


def _percent(share: float) -> str:
    return "<1" if 0 < share < 0.005 else f"{100 * share:.0f}"
