"""What the owner of a graph says about reading it, and which column is what where nothing is said."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pcnet.errors import PcnetError, close_match

if TYPE_CHECKING:
    from pcnet.graph import Kind, Schema

KINDS = ("number", "boolean", "category", "bag", "vector")
#: Options that take a text.
_TEXTS = ("nodes", "features", "source", "target", "weight", "id", "label")
_SOURCES = ("source", "src", "from", "head", "u", "node1", "id1")
_TARGETS = ("target", "dst", "to", "tail", "v", "node2", "id2")
_WEIGHTS = ("weight", "weights", "edge_weight", "w")
_IDS = ("id", "node_id", "nodeid", "node", "name", "key")
#: Not y, which is as often a place on a map.
_LABELS = ("label", "labels", "class", "classes", "target", "node_label", "class_label", "ground_truth")
#: What pandas calls the index of rows, which it writes unasked.
_INDEX = re.compile(r"|__index_level_[0-9]+__")
#: A sentence names at most this many columns and counts the rest.
_NAMED = 12
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


class NodeColumns(NamedTuple):
    """The columns of a node table."""

    id: str
    label: str | None
    features: list[str]
    notes: list[str]

    @property
    def names(self) -> list[str]:
        return [self.id, *([] if self.label is None else [self.label]), *self.features]


def edge_columns(title: str, names: Sequence[str], options: ReadOptions) -> tuple[str, str, str | None, list[str]]:
    """Source, target and weight among the columns of the table `title`, and notes on them."""
    free = free_columns(names, options)
    if len(free) < 2:
        raise PcnetError(f"{title} has {len(free)} columns; edges need two, for instance source,target.")
    if options.source is None and not any(map(math.isnan, map(number_in, free))):
        raise PcnetError(
            f"The columns of {title} are called {listed(free)}; the first line of a file must name them, "
            "as in source,target."
        )
    pairs = ((_known(free, (one,)), _known(free, (other,))) for one, other in zip(_SOURCES, _TARGETS, strict=True))
    usual = next(((one, other) for one, other in pairs if one and other), None)
    source = _given(title, free, options.source, "source") or (usual or free)[0]
    target = _given(title, free, options.target, "target") or next(
        name for name in ((usual or free)[1], *free) if name != source
    )
    if source == target:
        raise PcnetError(f"Source and target of {title} are both the column '{source}'; name two.")
    weight = _given(title, free, options.weight, "weight") or _known(free, _WEIGHTS)
    weight = None if weight in (source, target) else weight
    note = f"{title}: edges from '{source}' to '{target}'" + (f", weighted by '{weight}'." if weight else ".")
    unused = [name for name in free if name not in (source, target, weight)]
    return source, target, weight, [note, *_left(title, unused)]


def id_column(title: str, names: Sequence[str], options: ReadOptions) -> tuple[str, bool]:
    """The column that names the nodes, and whether its owner or its name says so; else it is the first one."""
    free = free_columns(names, options)
    if not free:
        raise PcnetError(f"{title} has no column to name the nodes by.")
    others = [name for name in free if name != options.label]
    certain = _given(title, free, options.id, "id") or _known(others, _IDS)
    return certain or [*others, *free][0], certain is not None


def node_columns(
    title: str, names: Sequence[str], options: ReadOptions, identity: str, reason: str = ""
) -> NodeColumns:
    """Label and features among the columns of the table `title`, whose nodes `identity` names for that reason.

    A label that was asked for and is not there is left to `graph_of_nodes`, which sees what could be one.
    """
    if options.label == identity:
        raise PcnetError(f"The column '{identity}' of {title} cannot be both id and label; name two.")
    rest = [name for name in free_columns(names, options) if name != identity]
    label = usual_label(rest) if options.label is None else options.label if options.label in rest else None
    called = ("the index" if identity else "the column without a name") if is_unnamed(identity) else f"'{identity}'"
    labels = f"'{label}' holds their labels" if label else "no column holds labels"
    note = f"{title}: {called} names the nodes{reason}, {labels}."
    features, unused = [name for name in rest if name != label], []
    if options.schema is not None:
        wanted = {column.name for column in options.schema.columns}
        features, unused = [n for n in features if n in wanted], [n for n in features if n not in wanted]
    left = [f"{title}: a column without a name is left out."] if "" in names and identity else []
    return NodeColumns(identity, label, features, [note, *left, *_left(title, unused)])


def usual_label(names: Sequence[str]) -> str | None:
    """The column that is called as labels usually are."""
    return _known(names, _LABELS)


def free_columns(names: Sequence[str], options: ReadOptions) -> list[str]:
    """The columns that have a name and are not to be dropped."""
    return [name for name in names if name not in options.drop and not is_unnamed(name)]


def is_unnamed(name: str) -> bool:
    return _INDEX.fullmatch(name) is not None


def check_drop(drop: Iterable[str], names: Sequence[str]) -> None:
    """Refuse to drop what is not there: a misspelt column would stay in, and be learned from."""
    for name in drop:
        if name not in names:
            raise PcnetError(f"There is no column '{name}' to drop.{close_match(name, names)}")


def _given(title: str, names: Sequence[str], name: str | None, role: str) -> str | None:
    if name is not None and name not in names:
        raise PcnetError(f"{title} has no column '{name}' for the {role}.{close_match(name, names)}")
    return name


def _known(names: Iterable[str], usual: Sequence[str]) -> str | None:
    """The first usual name among the names, in any case."""
    lowered = {name.lower(): name for name in reversed(list(names))}
    return next((lowered[name] for name in usual if name in lowered), None)


def _left(title: str, names: list[str]) -> list[str]:
    return [f"{title}: not used: {listed(names)}."] if names else []


def listed(names: Sequence[str]) -> str:
    """Names in a sentence; many are counted."""
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def number_in(word: str) -> float:
    """The number that a word is, else NaN. Python would read 1_2 as twelve; most tables mean a name."""
    try:
        return math.nan if "_" in word else float(word)
    except ValueError:
        return math.nan
