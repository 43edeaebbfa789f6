"""How a graph of one's own is read: what its owner says about it, from keywords or from `--read key=value`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pcnet.errors import PcnetError, close_match

if TYPE_CHECKING:
    from pcnet.graph import Kind, Schema

KINDS = ("number", "boolean", "category", "bag", "vector")
#: Options that take a text.
_TEXTS = ("nodes", "features", "source", "target", "weight", "id", "label")
#: What `--read` takes.
READ_KEYS = (*_TEXTS, "drop", "directed", "kind.COLUMN")


@dataclass(frozen=True)
class ReadOptions:
    """The keywords of `read_graph` in one object; None where it is to be guessed.

    >>> ReadOptions(label="topic", drop="phone").drop
    ('phone',)
    """

    #: Path or data frame of the table of nodes, and the file that lists features.
    nodes: Any = None
    features: str | Path | None = None
    #: Columns of the edges, and of the nodes.
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    id: str | None = None
    label: str | None = None
    #: Columns to leave out, one or several, and how others are to be read.
    drop: Collection[str] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    #: Whether edges stay as they are listed.
    directed: bool = False
    #: Of a trained classifier, to encode another table exactly as the first.
    schema: Schema | None = None
    classes: Sequence[str | int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "drop", (self.drop,) if isinstance(self.drop, str) else tuple(self.drop))
        object.__setattr__(self, "kinds", self.kinds or {})
        for name in (self.source, self.target, self.weight, self.id, self.label):
            if name is not None and name in self.drop:
                raise PcnetError(f"The column '{name}' cannot be both used and dropped.")

    @property
    def columns(self) -> list[str]:
        """The options that are given and are about columns of a table."""
        return [name for name in ("source", "target", "weight", "id", "label", "drop", "kinds") if getattr(self, name)]

    @staticmethod
    def parse(assignments: Sequence[str] | None) -> ReadOptions:
        """The options that `key=value` assignments give, as `--read` takes them; others raise a `PcnetError`.

        >>> ReadOptions.parse(["label=topic", "kind.zip=category"]).kinds
        {'zip': 'category'}
        """
        texts: dict[str, Any] = {}
        drop, kinds, directed = [], {}, False
        for assignment in assignments or ():
            key, equals, value = (part.strip() for part in assignment.partition("="))
            kind, dot, column = key.partition(".")
            if equals and value and key in _TEXTS:
                texts[key] = value
            elif equals and value and key == "drop":
                drop.append(value)
            elif key == "directed" and value.lower() in ("true", "false"):
                directed = value.lower() == "true"
            elif kind == "kind" and dot and column and value in KINDS:
                kinds[column] = cast("Kind", value)
            elif kind == "kind" or key == "directed":
                choices = KINDS if kind == "kind" else ("true", "false")
                raise PcnetError(f"--read {key} must be one of {', '.join(choices)}, not '{value}'.")
            else:
                known, hint = ", ".join(READ_KEYS), close_match(key, _TEXTS)
                raise PcnetError(f"--read takes KEY=VALUE with a key of {known}, not '{assignment}'.{hint}")
        return ReadOptions(**texts, drop=drop, kinds=kinds, directed=directed)
