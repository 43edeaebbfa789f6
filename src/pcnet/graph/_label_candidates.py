"""Graphs none of whose nodes has a label: which columns may hold them, and how their owner says so."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pcnet.errors import PcnetError

if TYPE_CHECKING:
    from pcnet.graph._graph import Graph

#: A sentence gives so many of a column's values, and names so many columns.
_VALUES, _COLUMNS = 3, 12


@dataclass(frozen=True)
class LabelCandidate:
    """A column of a graph without labels that may hold them: it has few different `values`, most of them often."""

    name: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        more = ", …" if len(self.values) > _VALUES else ""
        return f"{self.name} ({len(self.values)} values: {', '.join(self.values[:_VALUES])}{more})"

    @property
    def option(self) -> str:
        """What to add to a command so that this column is the label."""
        return f"--read {shlex.quote(f'label={self.name}')}"


def require_labels(graph: Graph) -> None:
    """Refuse to learn from a graph without labels; the sentence names the columns that may hold them."""
    if int(graph.y.max()) < 0:
        advice = label_advice(graph.label_candidates) or (
            "Give some nodes a label, in a column called so, or name the column: --read label=COLUMN (in Python "
            "label='COLUMN')."
        )
        raise PcnetError(f"No node of {graph.name} has a label. {advice}")


def label_advice(candidates: Sequence[LabelCandidate]) -> str:
    """Which columns may hold labels and how to say so; nothing where there are none."""
    if not candidates:
        return ""
    first, more = candidates[0], len(candidates) - _COLUMNS
    known = ", ".join(map(str, candidates[:_COLUMNS])) + (f" and {more:,} more" if more > 0 else "")
    how = f"{first.option} (in Python label={first.name!r})"
    return f"Columns that may hold labels: {known}. Name the one that does: {how}."
