"""Which class goes with which: a square of shares, readable for two classes as for fifty."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from pcnet.show._plot import Markup
from pcnet.show._scores import shortened

#: Up to this many classes shares stand in the cells and names stand at the rows; beyond, classes are numbers.
FEW = 12
#: Letters of a row's name at most, and of one that heads a column of few.
LETTERS, NARROW = 18, 50
#: From this share on a cell's number is written in the colour of the page behind.
STRONG = 0.75


def heatmap(counts: NDArray[np.int64], names: Sequence[str], rows: str, columns: str, label: str) -> Markup:
    """Each row of counts as shares of it, the stronger the larger; a row without counts is crossed out.

    Where names do not fit above the columns, classes are numbered from 1 in their order.
    """
    few, numbers = len(names) <= FEW, [str(number) for number in range(1, len(names) + 1)]
    heads = numbers if numbered(names) else list(names)
    known = names if few else numbers
    texts = [f"{number} {name}" for number, name in zip(numbers, names, strict=True)] if numbered(names) else names
    texts = [shortened(text, LETTERS) for text in texts] if few else numbers
    lines = [
        f'<table class="heat{"" if few else " many"}" aria-label="{escape(label)}" style="--classes: {len(names)}">',
        f'<thead><tr><th>{escape(rows)}</th><th class="axis" colspan="{len(names)}">{escape(columns)}</th></tr>',
        f"<tr><td></td>{''.join(f'<th>{escape(head)}</th>' for head in heads)}</tr></thead>",
        "<tbody>",
    ]
    for row, (text, own) in enumerate(zip(texts, counts.tolist(), strict=True)):
        total, cells = sum(own), []
        for column, count in enumerate(own):
            share = count / max(total, 1)
            look = " ".join(["own"] * (row == column) + ["deep"] * (share >= STRONG))
            # A trace of colour tells few from none.
            strength = f' style="--share: {max(share, 0.04):.3g}"' if count else ""
            title = f"{known[row]} → {known[column]}: {count:,} of {total:,}"
            percent = _percent(share) if few and count else ""
            cells.append(f'<td class="{look}"{strength} title="{escape(title)}">{percent}</td>')
        if not total:
            cells = [f'<td class="none" colspan="{len(names)}"></td>']
        lines.append(f"<tr><th>{escape(text)}</th>{''.join(cells)}</tr>")
    return Markup("\n".join([*lines, "</tbody>", "</table>"]))


def numbered(names: Sequence[str]) -> bool:
    """Whether columns are headed by numbers because names would not fit there."""
    return len(names) > FEW or max(map(len, names)) * len(names) > NARROW


def _percent(share: float) -> str:
    return "<1" if 0 < share < 0.005 else f"{100 * share:.0f}"
