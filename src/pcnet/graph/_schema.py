"""How features were made from the columns of an owner's table, so that another table can be read the same way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from pcnet.errors import PcnetError

Kind = Literal["number", "boolean", "category", "bag", "vector", "structure"]


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
