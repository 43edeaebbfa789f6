"""Which column is what: names that tables usually have, unless the owner says."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pcnet.data.own._columns import listed
from pcnet.errors import PcnetError, close_match
from pcnet.graph import Kind, Schema

_ENDS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("head", "tail"),
    ("u", "v"),
    ("node1", "node2"),
    ("id1", "id2"),
)
_WEIGHTS = ("weight", "weights", "edge_weight", "w")
_IDS = ("id", "node_id", "nodeid", "node", "name", "key")
#: Not y, which is as often a place on a map.
_LABELS = ("label", "labels", "class", "classes", "target", "node_label", "class_label", "ground_truth")
#: What pandas calls the index of rows, which it writes unasked.
_INDEX = re.compile(r"|__index_level_[0-9]+__")


@dataclass(frozen=True)
class Wishes:
    """What the owner of a table says about it; None where it is to be guessed."""

    source: str | None = None
    target: str | None = None
    weight: str | None = None
    id: str | None = None
    label: str | None = None
    drop: Collection[str] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    directed: bool = False
    schema: Schema | None = None
    classes: Sequence[str | int] | None = None

    def __post_init__(self) -> None:
        for name in (self.source, self.target, self.weight, self.id, self.label):
            if name is not None and name in self.drop:
                raise PcnetError(f"The column '{name}' cannot be both used and dropped.")

    @property
    def columns(self) -> list[str]:
        """The wishes that are about columns of a table."""
        return [name for name in ("source", "target", "weight", "id", "label", "drop", "kinds") if getattr(self, name)]


class EdgeColumns(NamedTuple):
    """The columns of an edge table."""

    source: str
    target: str
    weight: str | None
    notes: list[str]

    @property
    def names(self) -> list[str]:
        return [self.source, self.target, *([] if self.weight is None else [self.weight])]


class NodeColumns(NamedTuple):
    """The columns of a node table."""

    id: str
    label: str | None
    features: list[str]
    notes: list[str]

    @property
    def names(self) -> list[str]:
        return [self.id, *([] if self.label is None else [self.label]), *self.features]


def edge_columns(title: str, names: Sequence[str], wishes: Wishes) -> EdgeColumns:
    """Source, target and weight among the columns of the table `title`."""
    free = free_columns(names, wishes)
    if len(free) < 2:
        raise PcnetError(f"{title} has {len(free)} columns; edges need two, for instance source,target.")
    if wishes.source is None and all(map(_is_number, free)):
        raise PcnetError(
            f"The columns of {title} are called {listed(free)}; the first line of a file must name them, "
            "as in source,target."
        )
    pairs = ((_known(free, (one,)), _known(free, (other,))) for one, other in _ENDS)
    usual = next(((one, other) for one, other in pairs if one and other), None)
    source = _given(title, free, wishes.source, "source") or (usual or free)[0]
    target = _given(title, free, wishes.target, "target") or next(
        name for name in ((usual or free)[1], *free) if name != source
    )
    if source == target:
        raise PcnetError(f"Source and target of {title} are both the column '{source}'; name two.")
    weight = _given(title, free, wishes.weight, "weight") or _known(free, _WEIGHTS)
    weight = None if weight in (source, target) else weight
    note = f"{title}: edges from '{source}' to '{target}'" + (f", weighted by '{weight}'." if weight else ".")
    unused = [name for name in free if name not in (source, target, weight)]
    return EdgeColumns(source, target, weight, [note, *_left(title, unused)])


def id_column(title: str, names: Sequence[str], wishes: Wishes) -> tuple[str, bool]:
    """The column that names the nodes, and whether its owner or its name says so; else it is the first one."""
    free = free_columns(names, wishes)
    if not free:
        raise PcnetError(f"{title} has no column to name the nodes by.")
    others = [name for name in free if name != wishes.label]
    certain = _given(title, free, wishes.id, "id") or _known(others, _IDS)
    return certain or [*others, *free][0], certain is not None


def node_columns(title: str, names: Sequence[str], wishes: Wishes, identity: str, reason: str = "") -> NodeColumns:
    """Label and features among the columns of the table `title`, whose nodes `identity` names for that reason.

    A label that was asked for and is not there is left to `graph_of_table`, which sees what could be one.
    """
    if wishes.label == identity:
        raise PcnetError(f"The column '{identity}' of {title} cannot be both id and label; name two.")
    rest = [name for name in free_columns(names, wishes) if name != identity]
    label = usual_label(rest) if wishes.label is None else wishes.label if wishes.label in rest else None
    called = ("the index" if identity else "the column without a name") if is_unnamed(identity) else f"'{identity}'"
    labels = f"'{label}' holds their labels" if label else "no column holds labels"
    note = f"{title}: {called} names the nodes{reason}, {labels}."
    features, unused = [name for name in rest if name != label], []
    if wishes.schema is not None:
        wanted = {column.name for column in wishes.schema.columns}
        features, unused = [n for n in features if n in wanted], [n for n in features if n not in wanted]
    left = [f"{title}: a column without a name is left out."] if "" in names and identity else []
    return NodeColumns(identity, label, features, [note, *left, *_left(title, unused)])


def usual_label(names: Sequence[str]) -> str | None:
    """The column that is called as labels usually are."""
    return _known(names, _LABELS)


def free_columns(names: Sequence[str], wishes: Wishes) -> list[str]:
    """The columns that have a name and are not to be dropped."""
    return [name for name in names if name not in wishes.drop and not is_unnamed(name)]


def is_unnamed(name: str) -> bool:
    """Whether a column has no name of its own."""
    return _INDEX.fullmatch(name) is not None


def check_drop(drop: Iterable[str], names: Sequence[str]) -> None:
    """Refuse to drop what is not there: a misspelt column would stay in, and be learned from."""
    for name in drop:
        if name not in names:
            raise PcnetError(f"There is no column '{name}' to drop.{close_match(name, names)}")


def check_names(title: str, names: Sequence[str]) -> None:
    """Refuse a table two of whose columns have one name."""
    seen: set[str] = set()
    for name in names:
        if name in seen and not is_unnamed(name):
            raise PcnetError(f"{title} has two columns '{name}'; give each its own name.")
        seen.add(name)


def _given(title: str, names: Sequence[str], wish: str | None, role: str) -> str | None:
    if wish is not None and wish not in names:
        hint = close_match(wish, names)
        raise PcnetError(f"{title} has no column '{wish}' for the {role}.{hint}")
    return wish


def _known(names: Iterable[str], usual: Sequence[str]) -> str | None:
    """The first usual name among the names, in any case."""
    lowered = {name.lower(): name for name in reversed(list(names))}
    return next((lowered[name] for name in usual if name in lowered), None)


def _left(title: str, names: list[str]) -> list[str]:
    return [f"{title}: not used: {listed(names)}."] if names else []


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def collection(drop: Collection[str]) -> Collection[str]:
    """One name is as good as a list of it."""
    return (drop,) if isinstance(drop, str) else tuple(drop)
