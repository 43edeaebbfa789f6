"""The columns of an owner's table: how features were made from them, and which of them may hold labels."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from pcnet.errors import PcnetError

if TYPE_CHECKING:
    from pcnet.graph._graph import Graph

Kind = Literal["number", "boolean", "category", "bag", "vector", "structure"]
#: A sentence gives at most three of a column's values, and names at most twelve columns.
_VALUES, _COLUMNS = 3, 12


@dataclass(frozen=True)
class Column:
    """One column of the table and the features it became, `width` of them.

    number: (value − shift) / scale; boolean: 0 or 1; category: one feature for each of `values`; bag: how often each
    of `values` occurs among the words; vector: a list of numbers. A column of kind structure is not in the table: it
    was computed from the edges (degree, spectral embedding).
    """

    name: str
    kind: Kind
    width: int = 1
    values: tuple[str, ...] = ()
    shift: float = 0.0
    scale: float = 1.0

    @property
    def features(self) -> list[str]:
        """Names of its features."""
        if self.kind in ("category", "bag"):
            return [f"{self.name}={value}" for value in self.values]
        return [self.name] if self.width == 1 else [f"{self.name}[{place}]" for place in range(self.width)]


@dataclass(frozen=True)
class Schema:
    """All columns that became features, in the order of the features."""

    columns: tuple[Column, ...]

    @property
    def width(self) -> int:
        return sum(column.width for column in self.columns)

    @property
    def structural(self) -> bool:
        """Whether features were computed from the edges: they mean nothing on another graph."""
        return any(column.kind == "structure" for column in self.columns)

    def as_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        return {"columns": [{**asdict(column), "values": list(column.values)} for column in self.columns]}

    @staticmethod
    def from_dict(content: Mapping[str, Any]) -> Schema:
        """What `as_dict` gave."""
        try:
            columns = [Column(**{**each, "values": tuple(each["values"])}) for each in content["columns"]]
        except (KeyError, TypeError) as error:
            raise PcnetError(f"The description of the columns is damaged ({error}); train or copy it again.") from error
        for column in columns:
            if column.kind not in get_args(Kind):
                raise PcnetError(f"The column {column.name} is of the unknown kind '{column.kind}'; update pcnet.")
        return Schema(tuple(columns))


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
