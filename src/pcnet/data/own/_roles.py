"""Which column is what: names that tables usually have, unless the owner says."""

from __future__ import annotations

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
_LABELS = ("label", "labels", "class", "target")
#: What pandas calls a row number that it wrote unasked.
_UNNAMED = ("", "__index_level_0__")


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
    _check_names(title, names)
    free = [name for name in names if name not in (*wishes.drop, *_UNNAMED)]
    if len(free) < 2:
        raise PcnetError(f"{title} has {len(free)} columns; edges need two, for instance source,target.")
    if wishes.source is None and all(map(_is_number, free)):
        raise PcnetError(f"The first line of {title} holds numbers; it must name the columns, as in source,target.")
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


def node_columns(title: str, names: Sequence[str], wishes: Wishes) -> NodeColumns:
    """Id, label and features among the columns of the table `title`."""
    _check_names(title, names)
    free = [name for name in names if name not in (*wishes.drop, *_UNNAMED)]
    if not free:
        raise PcnetError(f"{title} has no column to name the nodes by.")
    for name in wishes.drop:
        if name in (wishes.id, wishes.label):
            raise PcnetError(f"The column '{name}' cannot be both used and dropped.")
    label = _given(title, free, wishes.label, "label")
    identity = (
        _given(title, free, wishes.id, "id")
        or _known(free, _IDS)
        or next((name for name in free if name != label), free[0])
    )
    if label == identity:
        raise PcnetError(f"The column '{label}' of {title} cannot be both id and label; name two.")
    rest = [name for name in free if name != identity]
    label = label or _known(rest, _LABELS)
    labels = f"'{label}' holds their labels" if label else "no column holds labels"
    note = f"{title}: '{identity}' names the nodes, {labels}."
    features, unused = [name for name in rest if name != label], []
    if wishes.schema is not None:
        wanted = {column.name for column in wishes.schema.columns}
        features, unused = [n for n in features if n in wanted], [n for n in features if n not in wanted]
    unnamed = [f"{title}: a column without a name is left out."] if any(name in _UNNAMED for name in names) else []
    return NodeColumns(identity, label, features, [note, *unnamed, *_left(title, unused)])


def check_drop(drop: Iterable[str], names: Sequence[str]) -> None:
    """Refuse to drop what is not there: a misspelt column would stay in, and be learned from."""
    for name in drop:
        if name not in names:
            raise PcnetError(f"There is no column '{name}' to drop.{close_match(name, names)}")


def _check_names(title: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen and name not in _UNNAMED:
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
