"""A graph as its owner has it: edges, features and labels of nodes, and the columns of the table they came from."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from pcnet._checks import writable
from pcnet.errors import PcnetError
from pcnet.graph._csr import CSR

Kind = Literal["number", "boolean", "category", "bag", "vector", "structure"]
#: A sentence gives at most three of a column's values, and names at most twelve columns.
_VALUES, _COLUMNS = 3, 12


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes 0..n−1 with features, labels and edges; it checks itself, so that a graph that exists is usable.

        >>> import torch
        >>> from pcnet import Graph
        >>> graph = Graph(torch.tensor([[0, 1], [1, 2]]), torch.eye(3), torch.tensor([0, 1, -1]), classes=("a", "b"))
        >>> graph.num_nodes, graph.num_features, graph.class_names
        (3, 3, ['a', 'b'])

    Args:
        edge_index: sources and targets, 2 × number of edges.
        x: features, one row for each node.
        y: classes, integers; −1 is unknown.
        edge_weight: one number for each edge, not negative.
        name: what results call the graph.
        notes: sentences that a user should see next to any result.
        published_y: what the literature feeds its splits where it differs from `y` (CiteSeer's 15 unlabelled nodes
            as class 0).
        fixed_splits: splits that come with the data, (train, val, test) node ids each.
        ids: the owner's names of the nodes, an array of strings or integers; else they are numbers.
        classes: the owner's names of the classes; else they are numbers.
        schema: how the features came out of the owner's table.
        listed_edges: the edges in the one direction in which they were listed, where `edge_index` has both; they have
            no weights.
        label_candidates: columns that may hold the labels, where no node has one and the owner did not say which does.

    Raises:
        PcnetError: where the parts do not fit together, or hold what no graph can have.
    """

    edge_index: Tensor
    x: Tensor | CSR
    y: Tensor
    edge_weight: Tensor | None = None
    name: str = "graph"
    notes: tuple[str, ...] = ()
    published_y: Tensor | None = None
    fixed_splits: tuple[tuple[Tensor, Tensor, Tensor], ...] = ()
    ids: np.ndarray | None = None
    classes: tuple[str | int, ...] | None = None
    schema: Schema | None = None
    listed_edges: Tensor | None = None
    label_candidates: tuple[LabelCandidate, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.x, Tensor) and (self.x.layout != torch.strided or not self.x.is_floating_point()):
            raise PcnetError(
                f"The features are {self.x.dtype}, {self.x.layout}; give a dense float tensor or CSR.from_torch(x)."
            )
        if len(self.x.shape) != 2:
            raise PcnetError(f"The features have shape {tuple(self.x.shape)}; give one row for each node.")
        n = self.num_nodes
        if n == 0:
            raise PcnetError("The graph has no nodes; give at least one row of features.")
        check_edges(self.edge_index, n, self.edge_weight)
        if self.listed_edges is not None:
            check_edges(self.listed_edges, n, name="listed_edges")
            if self.edge_weight is not None:
                raise PcnetError("Listed edges have no weights; leave edge_weight or listed_edges out.")
        values = self.x.values if isinstance(self.x, CSR) else self.x
        if not bool(torch.isfinite(values).all()):
            raise PcnetError("The features hold NaN or infinite values; replace or drop them first.")
        if self.y.shape != (n,):
            raise PcnetError(f"Labels have shape {tuple(self.y.shape)}, but there are {n} nodes; give one per node.")
        if self.y.is_floating_point() or self.y.dtype == torch.bool:
            raise PcnetError(f"Labels must be integers (−1 for unknown), not {self.y.dtype}.")
        if int(self.y.min()) < -1:
            raise PcnetError(f"Label {int(self.y.min())} is negative; number the classes from 0, −1 means unknown.")
        if self.ids is not None and self.ids.shape != (n,):
            raise PcnetError(f"There are {len(self.ids)} names for {n} nodes; give one per node.")
        if self.classes is not None and len(self.classes) <= int(self.y.max()):
            raise PcnetError(f"There are {len(self.classes)} names for {int(self.y.max()) + 1} classes; name each.")
        if self.schema is not None and self.schema.width != self.num_features:
            raise PcnetError(f"The schema has {self.schema.width} features, the graph {self.num_features}.")
        columns = () if self.schema is None else self.schema.columns
        for what, texts in (
            ("name", [self.name]),
            ("id", self.ids.tolist() if self.ids is not None and self.ids.dtype.kind == "U" else ()),
            ("class", list(map(str, self.classes or ()))),
            ("column", [column.name for column in columns]),
            ("value", [value for column in columns for value in column.values]),
        ):
            if not writable("".join(texts)):
                wrong = next(text for text in texts if not writable(text))
                raise PcnetError(f"The {what} {wrong!r} holds half of a character, which no file can; correct it.")

    @property
    def num_nodes(self) -> int:
        return self.x.shape[0]

    @property
    def num_features(self) -> int:
        return self.x.shape[1]

    @property
    def num_classes(self) -> int:
        """Number of classes; unlabelled nodes are not one of them."""
        return int(self.y.max()) + 1 if self.classes is None else len(self.classes)

    @property
    def class_names(self) -> list[str]:
        """What to call the classes."""
        return [str(name) for name in (range(self.num_classes) if self.classes is None else self.classes)]

    @property
    def labelled(self) -> Tensor:
        """The nodes that have a label."""
        return (self.y >= 0).nonzero().flatten()

    @property
    def node_names(self) -> np.ndarray:
        """What to call the nodes."""
        return np.arange(self.num_nodes) if self.ids is None else self.ids

    @property
    def one_way_edges(self) -> tuple[Tensor, Tensor | None]:
        """Edges and weights for models that keep the direction in which the edges were listed."""
        return (self.edge_index, self.edge_weight) if self.listed_edges is None else (self.listed_edges, None)

    def __sklearn_clone__(self) -> Graph:
        """Clones of an estimator share the graph, which nobody changes."""
        return self

    def as_published(self) -> Graph:
        """The graph with the labels that published protocols use (see `published_y`)."""
        return self if self.published_y is None else replace(self, y=self.published_y, published_y=None)


def check_edges(
    edge_index: Tensor, num_nodes: int, edge_weight: Tensor | None = None, *, name: str = "edge_index"
) -> None:
    """Refuse edges that no graph of `num_nodes` nodes can have."""
    if edge_index.ndim != 2 or edge_index.shape[0] != 2:
        raise PcnetError(f"{name} has shape {tuple(edge_index.shape)}; it must be 2 × number of edges.")
    if edge_index.is_floating_point() or edge_index.dtype == torch.bool:
        raise PcnetError(f"{name} must hold integer node ids, not {edge_index.dtype}.")
    if edge_index.numel():
        low, high = (int(bound) for bound in torch.aminmax(edge_index))
        if low < 0 or high >= num_nodes:
            wrong = low if low < 0 else high
            raise PcnetError(f"Edge endpoint {wrong} is out of range; node ids run from 0 to {num_nodes - 1}.")
    if edge_weight is None:
        return
    if edge_weight.shape != (edge_index.shape[1],):
        raise PcnetError(
            f"edge_weight has shape {tuple(edge_weight.shape)}, but there are {edge_index.shape[1]} edges; "
            "give one per edge."
        )
    if not bool(torch.isfinite(edge_weight).all()):
        raise PcnetError("edge_weight holds NaN or infinite values; replace them or drop those edges.")
    if bool((edge_weight < 0).any()):
        raise PcnetError("edge_weight holds negative values; degrees would lose their meaning. Shift or drop them.")


def undirected(source: np.ndarray, target: np.ndarray, num_nodes: int, *, keep_loops: bool) -> Tensor:
    """Both directions of every edge, each once, loops once, sorted by (source, target), int64."""
    source, target = (np.asarray(ends, dtype=np.int64) for ends in (source, target))
    if not keep_loops:
        proper = source != target
        source, target = source[proper], target[proper]
    return _merged(np.concatenate([source * num_nodes + target, target * num_nodes + source]), num_nodes)


def one_way(source: np.ndarray, target: np.ndarray, num_nodes: int) -> Tensor:
    """Every edge once in the direction that it has, loops too, sorted by (source, target), int64."""
    return _merged(np.asarray(source, dtype=np.int64) * num_nodes + target, num_nodes)


def _merged(keys: np.ndarray, num_nodes: int) -> Tensor:
    """Edges from source · n + target: one integer per entry sorts and merges faster than a pair."""
    keys.sort()
    keys = keys[np.diff(keys, prepend=-1) > 0]
    return torch.from_numpy(np.stack(np.divmod(keys, num_nodes)))


def graph_hash(graph: Graph) -> str:
    """16 hexadecimal digits of SHA-256 over edges, weights and features."""
    x = (graph.x.crow, graph.x.col, graph.x.values) if isinstance(graph.x, CSR) else (graph.x,)
    weight = () if graph.edge_weight is None else (graph.edge_weight,)
    return tensor_hash(graph.edge_index, *weight, *x)


def tensor_hash(*tensors: Tensor) -> str:
    """The same over tensors, their types and shapes."""
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(f"{tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Column:
    """One column of the table and the features it became, `width` of them.

    number: (value − shift) / scale; boolean: 0 or 1; category: one feature for each of `values`; bag: how often each
    of `values` occurs among the words; vector: a list of numbers. A column of kind structure is not in the table: it
    was computed from the edges (degree, spectral embedding). A PcnetError says where the parts do not fit together.
    """

    name: str
    kind: Kind
    width: int = 1
    values: tuple[str, ...] = ()
    shift: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        named = self.kind in ("category", "bag")
        width = len(set(self.values)) if named else 1 if self.kind in ("number", "boolean") else max(self.width, 0)
        if self.width != width or (self.values and not named):
            raise PcnetError(f"The column '{self.name}' ({self.kind}) cannot have {self.width} features.")
        if self.scale <= 0:
            raise PcnetError(f"The column '{self.name}' is divided by {self.scale:g}; that must be above 0.")

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
