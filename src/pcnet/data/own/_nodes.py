"""Everything that tables say about nodes, in one: their own, that of their labels, and their features' list."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import repeat
from typing import NamedTuple

import numpy as np
import scipy.sparse
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet.data.own._cells import MOST_CATEGORIES, Bag, Cells, Coded, Table, shortened, spread_rows
from pcnet.data.own._columns import NodeColumns, ReadOptions, free_columns, id_column, listed, node_columns, usual_label
from pcnet.data.own._readers import FEATURES, ID, Source, Tables, read_listed_features
from pcnet.errors import PcnetError
from pcnet.graph import Kind, LabelCandidate

Classes = tuple[str | int, ...]
#: Edge e joins the nodes `ends[:, e]`.
Ends = NDArray[np.int64]
#: What tables write where they have no label, if they write anything.
_MISSING = frozenset({"na", "n/a", "nan", "none", "null", "?"})
#: Whole numbers in a column with gaps, as a table of floating-point numbers writes them.
_WHOLE = re.compile(r"\A(-?[0-9]+)\.0+\Z")
_LONGEST_NAME = 1_000
#: Columns whose names hold one of these are named first, then those with the fewest values.
_TELLING = ("label", "class", "target", "category", "type")
_LONGEST_VALUE = 20


class Nodes(NamedTuple):
    """A row for each node; `ids` are their names and `places` the row of each; `ends` are those of the edges."""

    table: Table
    ids: NDArray
    places: dict[str, int]
    ends: Ends


class _TakenCells(Cells):
    """Cells of another column in another order: its row `rows[r]` for every r, nothing at −1."""

    def __init__(self, whole: Cells, rows: NDArray[np.int64]) -> None:
        super().__init__(
            whole.title, whole.name, lambda row: whole.where(int(rows[row])), lambda: whole.coded.of_rows(rows)
        )
        self._whole, self._rows = whole, rows

    @cached_property
    def kind(self) -> Kind | None:
        return self._whole.kind

    def numbers(self) -> NDArray[np.float64]:
        return np.append(self._whole.numbers(), np.nan)[self._rows]

    @cached_property
    def lists(self) -> scipy.sparse.csr_matrix:
        return spread_rows(self._rows, self._whole.lists)

    @cached_property
    def bag(self) -> Bag:
        return replace(self._whole.bag, codes=np.append(self._whole.bag.codes, -1)[self._rows])


def read_nodes(
    tables: Tables, ends: Sequence[Cells], options: ReadOptions, notes: list[str]
) -> tuple[Nodes, NodeColumns, ReadOptions]:
    """The nodes that edges join; the options with the label, if a table of labels has only one.

    An edge that lacks an end is refused.
    """
    for cells in ends:
        if cells.coded.empty:
            cells.refuse_word(-1, "the id is missing; an edge has two ends")
    features = None
    # A classifier that was trained without the listed features does not need their file.
    known = options.schema is None or FEATURES in (column.name for column in options.schema.columns)
    if tables.features and known and FEATURES not in options.drop:
        features = read_listed_features(tables.features)
    main = tables.nodes or tables.labels
    if main is None:
        nodes = _named_by(ends, features)
        also = f" and {features.title}" if features else ""
        said = f"There is no table of nodes: they are those that the edges{also} name."
        columns = NodeColumns(ID, None, [FEATURES] if features else [], [said])
        parts = [_part(features, [ID], nodes, notes)] if features else []
        return _joined(nodes, nodes.table.title, parts), columns, options
    # Which column of a table of labels holds them shows when its ids are known: all are read.
    wanted = options if tables.nodes else replace(options, schema=None)
    nodes, identity, reason = _identified(main, tables, ends, wanted)
    parts, title, others = [], main.title, [name for name in free_columns(main.names, options) if name != identity]
    if tables.nodes and tables.labels:
        title = f"{main.title} + {tables.labels.title}"
        labels = tables.rows(tables.labels, free_columns(tables.labels.names, options))
        parts.append(_part(labels, _ids_of_labels(labels, identity, options), nodes, notes))
        usual, others = usual_label(others), [*parts[0]]
        if usual and options.label is None:
            raise PcnetError(
                f"{main.title} has labels ('{usual}'), and so has {labels.title}; name the column (label)."
            )
    if tables.labels and options.label is None and len(others) == 1:
        options = replace(options, label=others[0])
    if features:
        parts.append(_part(features, [ID], nodes, notes))
    names = [*main.names, *(name for part in parts for name in part)]
    return _joined(nodes, title, parts), node_columns(title, names, options, identity, reason), options


def _named_by(ends: Sequence[Cells], features: Table | None) -> Nodes:
    """The nodes that edges and listed features name: whole numbers in their order, else words in theirs."""
    coded = [cells.coded for cells in (*ends, *([features.columns[ID]] if features else []))]
    words = {word for column in coded for word in column.words}
    ordered = Coded.of(words, text=any(column.text for column in coded)).sorted
    names = Coded.of(map(str, ordered.tolist()), text=ordered.dtype.kind == "U")
    return _look_up(Table.of_words(ends[0].title, {ID: names}, len(names.codes), "row {}".format), ID, ends)


def _ids_of_labels(labels: Table, identity: str, options: ReadOptions) -> list[str]:
    """Columns that may name the nodes of a table of labels: as in the table of nodes, as usual, or any other."""
    names = [*labels.columns]
    others = [name for name in names if name not in (options.label, usual_label(names))]
    usual, _ = id_column(labels.title, others, replace(options, id=None))
    return [name for name in dict.fromkeys((options.id, identity, usual, *others)) if name in others]


def _identified(source: Source, tables: Tables, ends: Sequence[Cells], options: ReadOptions) -> tuple[Nodes, str, str]:
    """Read the table and find its ids: asked for, usually called so, or else different and with every end of an edge.

    The usual column gives way to one that fits where it does not fit itself; where none does, the complaint is its.
    Besides the nodes their column, and why it is that one where its name does not say so.
    """
    title, names = source.title, source.names
    usual, certain = id_column(title, names, options)
    if certain:
        table = tables.rows(source, node_columns(title, names, options, usual).names)
        try:
            return _look_up(table, usual, ends), usual, ""
        except PcnetError:
            if options.id is not None:
                raise
    times = Counter(names)
    table = tables.rows(source, [name for name in names if name not in options.drop and times[name] == 1])
    fitting = _fitting(table, ends, options)
    if not fitting or usual in fitting:
        return _look_up(table, usual, ends), usual, ""
    contrast = f", '{usual}' has not" if certain else ""
    return _look_up(table, fitting[0], ends), fitting[0], f" (it has every end of the edges{contrast})"


def _look_up(table: Table, column: str, ends: Sequence[Cells]) -> Nodes:
    """The nodes as a column names them; an id that is missing or there twice is refused, and an end that is no node."""
    ids, places = read_ids(table.columns[column])
    index = []
    for cells in ends:
        words = cells.coded.words
        found = np.fromiter(map(places.get, words, repeat(-1)), dtype=np.int64, count=len(words))
        if (found < 0).any():
            code = int(np.argmax(found < 0))
            cells.refuse_word(code, f"there is no node {shortened(words[code])} in {table.title}")
        index.append(found[cells.coded.codes])
    return Nodes(table, ids, places, np.stack(index))


def _fitting(table: Table, ends: Sequence[Cells], options: ReadOptions) -> list[str]:
    """The columns, all alike, with a name of its own in every row and every end of an edge among them."""
    words = {name: _words(cells) for name, cells in table.columns.items() if name != options.label}
    sought = [end.coded.words for end in ends]
    fitting = [
        name for name in words if len(words[name]) == table.rows and all(map(set(words[name]).issuperset, sought))
    ]
    # The index of a data frame is there unasked.
    fitting = free_columns(fitting, options) or fitting
    different = [name for name in fitting if words[name] != words[fitting[0]]]
    if different:
        raise PcnetError(
            f"{table.title} has two columns with every end of the edges, '{fitting[0]}' and '{different[0]}'; "
            "say which names the nodes (id)."
        )
    return fitting


def _part(table: Table, columns: Sequence[str], nodes: Nodes, notes: list[str]) -> Mapping[str, Cells]:
    """What a table says about the nodes, by whichever of the columns names most of them, the first of equals.

    Rows of no node are ignored and said, and so is how many nodes have no row.
    """
    known = {
        name: np.array([nodes.places.get(word, -1) for word in _words(table.columns[name])], dtype=int)
        for name in columns
    }
    identity = max(columns, key=lambda name: np.count_nonzero(known[name] >= 0))
    there = known[identity] >= 0
    if not there.any():
        raise PcnetError(
            f"No id in the column '{identity}' of {table.title} is one of {nodes.table.title}; correct one of them, or "
            "call the file something else."
        )
    read_ids(table.columns[identity])
    rows = np.full(len(nodes.places), -1)
    rows[known[identity][there]] = np.flatnonzero(there)
    if not there.all():
        first = shortened(table.columns[identity].coded.words[int(np.argmin(there))])
        notes.append(f"{table.title}: {(~there).sum():,} of {len(there):,} ids are no nodes, first {first}; ignored.")
    if (rows < 0).any():
        notes.append(f"{table.title}: {(rows < 0).sum():,} of {len(rows):,} nodes are not in it.")
    return {name: _TakenCells(cells, rows) for name, cells in table.columns.items() if name != identity}


def _joined(nodes: Nodes, title: str, parts: Sequence[Mapping[str, Cells]]) -> Nodes:
    columns = dict(nodes.table.columns)
    for part in parts:
        for name, cells in part.items():
            if name in columns:
                both = f"{columns[name].title} and {cells.title}"
                raise PcnetError(f"{both} both have a column '{name}'; rename one, or leave it out (drop).")
            columns[name] = cells
    return nodes._replace(table=Table(title, columns, nodes.table.rows))


def _words(cells: Cells) -> list[str]:
    """The different words of a column that may name nodes; lists and types without words name nothing."""
    try:
        return [] if cells.kind == "vector" else cells.coded.words
    except PcnetError:
        return []


def read_labels(cells: Cells, classes: Sequence[str | int] | None, notes: list[str]) -> tuple[Tensor, Classes | None]:
    """y and the names of its classes: whole numbers in their order, else words in theirs; −1 where there is no label.

    With `classes` the numbering is theirs, and a label that is none of them is refused: leaving it out would make
    every score look better than it is. Without them, None where no node has a label.
    """
    coded = cells.coded
    words = label_words(coded, () if classes is None else tuple(map(str, classes)))
    known = tuple(Coded.of(words, text=coded.text).sorted.tolist()) if classes is None else tuple(classes)
    place = {str(name): number for number, name in enumerate(known)} | {"": -1}
    unknown = next((code for code, word in enumerate(words) if word not in place), None)
    if unknown is not None:
        cells.refuse_word(
            unknown,
            f"{shortened(words[unknown])} is no class of the classifier, which knows {listed(list(map(str, known)))}; "
            "correct it or leave the labels out (drop)",
        )
    y = coded.spread(np.array([place[word] for word in words], dtype=np.int64), -1)
    labelled = int((y >= 0).sum())
    if classes is None:
        _check_classes(cells, known, labelled)
    said = [word for word, label in zip(coded.words, words, strict=True) if not label]
    if said:
        notes.append(
            f"{len(y) - labelled - coded.empty:,} cells of '{cells.name}' that say {listed(said)} count as no label; "
            "if that is a class, give it another name."
        )
    if 0 < labelled < len(y):
        notes.append(f"{len(y) - labelled:,} of {len(y):,} nodes have no label.")
    return torch.from_numpy(y), known or None


def label_words(coded: Coded, known: Collection[str] = ()) -> list[str]:
    """The words of a column as labels, "" for those that say that there is none; never for a `known` class.

    −1 says so among whole numbers that are not negative, unless that would leave the one class of −1 and 1.
    """
    words = [_WHOLE.sub(r"\1", word) for word in coded.words]
    words = ["" if word.lower() in _MISSING and word not in known else word for word in words]
    others = set(words) - {"", "-1"}
    if "-1" not in known and all(map(str.isdecimal, others)) and (known or len(others) != 1):
        words = ["" if word == "-1" else word for word in words]
    return words


def _check_classes(cells: Cells, classes: Classes, labelled: int) -> None:
    """Refuse what cannot be learned: one class, or nearly as many classes as labels."""
    if len(classes) == 1:
        raise PcnetError(
            f"The label column '{cells.name}' of {cells.title} has the one value {shortened(str(classes[0]))}; "
            "there is nothing to tell apart. Name another column, or leave it out (drop)."
        )
    if len(classes) > MOST_CATEGORIES and 2 * len(classes) > labelled:
        raise PcnetError(
            f"The label column '{cells.name}' of {cells.title} has {len(classes):,} different values for {labelled:,} "
            "nodes: a quantity or a name, not a class. Group its values into a few, name another column, or leave it "
            "out (drop)."
        )


def read_ids(cells: Cells) -> tuple[NDArray, dict[str, int]]:
    """The nodes' names in the order of the table, and the node that each name stands for."""
    coded = cells.coded
    if coded.empty:
        cells.refuse_word(-1, "the id is missing; name every node")
    # Words are numbered as they first appear: the first row out of step repeats one.
    steps = coded.codes != np.arange(len(coded.codes))
    if steps.any():
        row = int(np.argmax(steps))
        word = coded.words[coded.codes[row]]
        cells.refuse(row, f"the id {shortened(word)} was there before; every node needs its own")
    longest = max(coded.words, key=len)
    if len(longest) > _LONGEST_NAME:
        cells.refuse(coded.words.index(longest), f"an id of {len(longest):,} characters is too long")
    return coded.names(), {word: node for node, word in enumerate(coded.words)}


def label_candidates(columns: Sequence[Cells]) -> tuple[LabelCandidate, ...]:
    """The columns with few different values, each for two rows on average; no fractions."""
    found = [LabelCandidate(cells.name, tuple(map(_short, few))) for cells in columns if (few := _few(cells))]
    telling = {each.name for each in found if any(word in each.name.lower() for word in _TELLING)}
    return tuple(sorted(found, key=lambda each: (each.name not in telling, len(each.values))))


def _few(cells: Cells) -> list[str]:
    """The different values of a column that may hold labels, else none."""
    if cells.kind not in ("boolean", "category", "number"):
        return []
    coded = cells.coded
    # The few ways to write that a label is missing come on top of the classes.
    if not coded.repeated or len(coded.words) > 2 * MOST_CATEGORIES:
        return []
    values = Coded.of({word for word in label_words(coded) if word})
    if not 2 <= len(values.words) <= MOST_CATEGORIES or (cells.kind == "number" and not values.whole):
        return []
    return list(map(str, values.sorted.tolist()))


def _short(value: str) -> str:
    """A value on one line, and never long."""
    line = " ".join(value.split())
    return line if len(line) <= _LONGEST_VALUE else f"{line[: _LONGEST_VALUE - 1]}…"
