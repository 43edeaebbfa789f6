"""A split of the labelled nodes, and how a graph is split: reproducible from a seed, one function a protocol."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pcnet._checks import Registry
from pcnet.errors import PcnetError, close_match
from pcnet.graph import Graph

PARTS = ("train", "val", "test")
_INTEGER = {torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}
MAX_SEED = 2**32 - 1
_NUMBER = r"(\d+(?:\.\d+)?)"
_THREE_NUMBERS = re.compile(rf"[a-z]+-{_NUMBER}-{_NUMBER}-{_NUMBER}")


@dataclass(frozen=True, eq=False)
class Split:
    """Three disjoint sets of node ids, and the labels they were drawn from and are scored with.

    Your own: `Split(train=…, val=…, test=…, labels=…)` with ids or boolean masks; ids are kept sorted, int64.
    Checks itself: a split that exists has at least two classes, no empty part, no unlabelled node, and a
    training node of every class unless `published` says that the split is used as others fixed it.

    >>> Split(train=[0, 1], val=[2], test=[3], labels=[0, 1, 0, 1]).sizes
    (2, 1, 1)
    """

    train: Tensor
    val: Tensor
    test: Tensor
    labels: Tensor
    protocol: str = "custom"
    seed: int = 0
    notes: tuple[str, ...] = ()
    published: bool = False

    def __post_init__(self) -> None:
        labels = _integers("labels", self.labels)
        object.__setattr__(self, "labels", labels)
        part_of = torch.full((len(labels),), -1)
        for code, part in enumerate(PARTS):
            ids = _ids(part, getattr(self, part), labels)
            shared = ids[part_of[ids] >= 0]
            if len(shared):
                other = PARTS[int(part_of[shared[0]])]
                raise PcnetError(f"Node {int(shared[0])} is in the {other} and the {part} set; a node belongs to one.")
            part_of[ids] = code
            object.__setattr__(self, part, ids)
        if len(labels[labels >= 0].unique()) < 2:
            raise PcnetError("All labelled nodes are of one class; there is nothing to classify with fewer than two.")
        absent = self.untrained
        if absent and not self.published:
            raise PcnetError(f"There is no train node in class {absent[0]}; a class never seen cannot be learned.")

    @property
    def untrained(self) -> list[int]:
        """The classes of which no node trains."""
        return sorted({*self.labels[self.labels >= 0].tolist()} - {*self.labels[self.train].tolist()})

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Number of training, validation and test nodes."""
        return len(self.train), len(self.val), len(self.test)

    @cached_property
    def hash(self) -> str:
        """First 16 hexadecimal digits of SHA-256 over n, the three sizes and the three sorted id lists.

        Two splits of n nodes have the same hash when they are the same sets, however they came about.
        """
        head = np.array([len(self.labels), *self.sizes], dtype="<i8")
        ids = [getattr(self, part).numpy().astype("<i8") for part in PARTS]
        return hashlib.sha256(np.concatenate([head, *ids]).tobytes()).hexdigest()[:16]

    def with_notes(self, *notes: str) -> Split:
        """The same split with more to say about it."""
        return replace(self, notes=(*self.notes, *notes))


def _integers(what: str, values: Any) -> Tensor:
    tensor = torch.as_tensor(values).cpu()
    if tensor.ndim != 1 or tensor.dtype not in _INTEGER:
        raise PcnetError(f"{what} must be one list of integers, not {tensor.dtype} of shape {tuple(tensor.shape)}.")
    return tensor.to(torch.int64)


def _ids(part: str, values: Any, labels: Tensor) -> Tensor:
    values, n = torch.as_tensor(values), len(labels)
    if values.dtype == torch.bool:
        if values.shape != (n,):
            raise PcnetError(f"The {part} mask has {values.numel()} entries for {n} nodes; give one per node.")
        values = values.nonzero().flatten()
    if values.numel() == 0:
        raise PcnetError(f"The {part} set is empty; every split needs training, validation and test nodes.")
    ids = _integers(part, values).sort().values
    if ids[0] < 0 or ids[-1] >= n:
        wrong = int(ids[0]) if ids[0] < 0 else int(ids[-1])
        raise PcnetError(f"The {part} set names node {wrong}; node ids run from 0 to {n - 1}.")
    if bool((ids.diff() == 0).any()):
        raise PcnetError(f"The {part} set names node {int(ids[:-1][ids.diff() == 0][0])} twice.")
    if bool((labels[ids] < 0).any()):
        raise PcnetError(f"The {part} set names node {int(ids[labels[ids] < 0][0])}, which has no label.")
    return ids


#: A split of the graph by the protocol of this name with this seed.
Draw = Callable[[Graph, str, int], Split]


class Protocol(NamedTuple):
    """One way to split."""

    draw: Draw
    #: Whether it is of the paper, which has its own way to sum up scores.
    paper: bool = False
    #: Whether its seed is the number of a split that comes with the data.
    fixed: bool = False
    #: Whether another name is one of its family, as stratified-80-10-10 is; it may refuse a name with a reason.
    family: Callable[[str], bool] = lambda name: False


#: Every protocol by its name.
PROTOCOLS: Registry[Protocol] = Registry("split protocol")


def protocol(name: str, **about: Any) -> Callable[[Draw], Draw]:
    """Register a way to split: a function of the graph, the name that was asked for and the seed.

    What else there is to say `about` it (paper, fixed, family) is False unless given; a name that is taken raises a
    `PcnetError`.

    >>> from pcnet import csbm
    >>> @protocol("thirds")
    ... def thirds(graph, name, seed):
    ...     part = (torch.arange(graph.num_nodes) + seed) % 3
    ...     return Split(part == 0, part == 1, part == 2, graph.y, name, seed)
    >>> make_split(csbm(60), "thirds", seed=1).sizes
    (20, 20, 20)
    """

    def register(draw: Draw) -> Draw:
        PROTOCOLS.add(name, Protocol(draw, **about))
        return draw

    return register


def make_split(data: Graph, protocol: str, seed: int) -> Split:
    """Split the labelled nodes of `data` by one of `PROTOCOLS`, or by stratified-A-B-C with shares in percent.

    Stratified: every class has the same shares in training, validation and test, and the test nodes of as many
    consecutive seeds as fit are different ones: with C = 20, seeds 0 to 4 test every node once, and so do 5 to 9.

    The paper's drawn protocols use one legacy NumPy generator seeded with `seed`: for each class q nodes of its
    ascending list (all of them, without a draw, when it has fewer than q), then the validation nodes from the ascending
    list of the rest, then (semi) the test nodes; otherwise the test set is what remains. `fixed-48-32-20` and
    `official` are split number `seed` of those that come with the data. Where the literature relabels nodes
    (`data.published_y`) the paper's protocols follow it and say so in the split's notes; other unlabelled nodes are in
    no set and in no quota.

    An unknown protocol, a seed out of range and a graph with too few labels raise a `PcnetError`.

    >>> from pcnet import load_dataset
    >>> make_split(load_dataset("citeseer"), "random-60-20-20", seed=0).sizes
    (1929, 665, 733)
    """
    entry = check_protocol(protocol)
    if not entry.fixed and not (_whole(seed) and 0 <= seed <= MAX_SEED):
        raise PcnetError(f"The seed of a split must be an integer from 0 to {MAX_SEED}, not {seed}.")
    return entry.draw(data, protocol, seed if entry.fixed else int(seed))


def check_protocol(name: str) -> Protocol:
    """The protocol of this name or family; what names none is refused."""
    known = PROTOCOLS.get(name) or next((entry for entry in PROTOCOLS.values() if entry.family(name)), None)
    if known is None:
        raise PcnetError(
            f"There is no split protocol '{name}'.{close_match(name, PROTOCOLS)} Known: {', '.join(PROTOCOLS)}, or "
            "stratified-A-B-C with shares of your own."
        )
    return known


def is_fixed(name: str) -> bool:
    """Whether a protocol numbers splits that come with the data."""
    return check_protocol(name).fixed


def official_name(data: Graph) -> str:
    """The splits that come with somebody's file, by the shares that they have: official-50-25-25."""
    sizes = np.array([[len(part) for part in split] for split in data.fixed_splits], dtype=float).sum(axis=0)
    return "-".join(["official", *(f"{share:.0f}" for share in 100 * sizes / sizes.sum())])


def _numbers(name: str) -> tuple[float, float, float]:
    """The three numbers in a protocol's name; zeros where it has none."""
    found = _THREE_NUMBERS.fullmatch(name)
    first, second, third = map(float, found.groups()) if found else (0, 0, 0)
    return first, second, third


def _is_stratified(name: str) -> bool:
    """Whether it is stratified-A-B-C; shares that are none are refused."""
    if not name.startswith("stratified"):
        return False
    if min(_numbers(name)) <= 0 or abs(sum(_numbers(name)) - 100) > 1e-9:
        raise PcnetError(
            f"'{name}' is no split protocol; write stratified-A-B-C with the percentages of training, validation "
            "and test nodes, which add up to 100, as in stratified-60-20-20."
        )
    return True


#: For graphs that the paper does not have; any shares do, as in stratified-80-10-10.
STRATIFIED = "stratified-60-20-20"


@protocol(STRATIFIED, family=_is_stratified)
def _stratified(data: Graph, name: str, seed: int) -> Split:
    """Test nodes are a window of each class, validation nodes follow them, and the rest trains.

    Every class with three labelled nodes or more is in all three parts; two train and test, a single one trains.
    """
    _, val_share, test_share = (share / 100 for share in _numbers(name))
    parts = [[torch.empty(0, dtype=torch.long)] for _ in PARTS]
    alone = []
    for members, size in _windows(data.y, data.labelled, test_share, seed):
        n = len(members)
        test = min(size, n - 2) if n > 2 else n - 1
        val = min(max(_rounded(n * val_share), 1), n - test - 1) if n > 2 else 0
        for part, ids in zip(parts, members.split([test, val, n - test - val]), strict=True):
            part.append(ids)
        if n == 1:
            alone.append(f"'{data.class_names[int(data.y[members[0]])]}'")
    test_nodes, val_nodes, train = map(torch.cat, parts)
    if len(test_nodes) == 0 or len(val_nodes) == 0:
        raise PcnetError(
            f"{len(train) + len(test_nodes)} labelled nodes are too few for {name}: no class has three, which "
            "training, validation and test need; label more nodes."
        )
    split = Split(train, val_nodes, test_nodes, data.y, name, seed)
    if not alone:
        return split
    which, have, each = ("Classes", "have", " each") if len(alone) > 1 else ("Class", "has", "")
    return split.with_notes(
        f"{which} {', '.join(alone)} {have} a single labelled node{each}: it trains, and nothing tests it."
    )


def draw_validation(labels: Tensor, known: Tensor, share: float, seed: int) -> Tensor:
    """A share of each class among the known nodes, but never the last node of a class; the rest is for training.

    As many consecutive seeds as fit draw different nodes: with a share of a fifth, seeds 0 to 4 draw each node once.

    >>> draw_validation(torch.tensor([0, 0, 0, 1, 1, 1]), torch.arange(6), share=0.34, seed=0).tolist()
    [2, 5]
    """
    if not 0 < share < 1:
        raise PcnetError(f"val_share must lie between 0 and 1, not {share}.")
    drawn = torch.cat(
        [members[: min(size, len(members) - 1)] for members, size in _windows(labels, known, share, seed)]
    )
    if len(drawn) == 0:
        raise PcnetError("Every class has a single labelled node, so none is left to validate on; label more nodes.")
    return drawn.sort().values


def _windows(labels: Tensor, known: Tensor, share: float, seed: int) -> Iterator[tuple[Tensor, int]]:
    """For each class its known nodes in random order, from the seed's window on, and the size of that window.

    Windows of consecutive seeds lie side by side, floor(1 / share) of them in one order; each has a node at least.
    """
    turn, window = divmod(seed, max(1, int(1 / share + 1e-9)))
    random = np.random.default_rng(turn)
    for label in labels[known].unique():
        members = known[labels[known] == label]
        n = len(members)
        begin, end = (_rounded(n * step * share) for step in (window, window + 1))
        order = np.roll(random.permutation(n), -begin)
        yield members[torch.from_numpy(order)], max(end - begin, 1)


def _rounded(value: float) -> int:
    """To the nearest whole number, halves up, whatever the last bits of a product say."""
    return int(np.floor(value + 0.5 + 1e-9))


@protocol("random-60-20-20", paper=True)
@protocol("sparse-2.5-2.5-95", paper=True)
@protocol("semi-20-500-1000", paper=True)
def _drawn(data: Graph, name: str, seed: int) -> Split:
    """20 training nodes a class, 500 for validation and 1000 for the test; or shares of the n nodes.

    Those are r_train·n / C in each class and r_val·n, rounded as the authors' code does; the rest tests.
    """
    labels, notes = _published_labels(data)
    y = labels.numpy()
    labelled = np.flatnonzero(y >= 0)
    members = [np.flatnonzero(y == c) for c in np.unique(y[labelled])]
    per_class, val_count, test_count = map(int, _numbers(name))
    if not (counted := name.startswith("semi")):
        train_share, val_share, _ = (share / 100 for share in _numbers(name))
        per_class = round(train_share * len(labelled) / max(len(members), 1))
        val_count, test_count = round(val_share * len(labelled)), 0
    if per_class < 1 or val_count < 1:
        raise PcnetError(f"{len(labelled)} labelled nodes are too few for {name}; take a denser protocol.")

    random = np.random.RandomState(seed)
    train = np.concatenate([ids if len(ids) < per_class else random.choice(ids, per_class, False) for ids in members])
    rest = np.setdiff1d(labelled, train)
    needed = val_count + max(test_count, 1)
    if len(rest) < needed:
        raise PcnetError(
            f"The graph is too small for {name}: {needed} nodes are needed for validation and test, but "
            f"{len(rest)} of {len(labelled)} labelled ones remain outside the training set."
        )
    val = random.choice(rest, val_count, replace=False)
    test = np.setdiff1d(rest, val)
    if counted:
        test = random.choice(test, test_count, replace=False)
    split = Split(torch.from_numpy(train), torch.from_numpy(val), torch.from_numpy(test), labels, name, seed)
    small = [int(y[ids[0]]) for ids in members if len(ids) < per_class]
    if small:
        fewer = f"Classes {small} have fewer than {per_class} nodes: all of them train, none is tested."
        notes = [*([] if counted else _share_notes(split)), fewer, *notes]
    return split.with_notes(*notes)


@protocol("official", fixed=True, family=lambda name: name.startswith("official-"))
@protocol("fixed-48-32-20", paper=True, fixed=True)
def _fixed(data: Graph, name: str, number: int) -> Split:
    """Split `number` of those that come with the data; `official` has the shares in its name that they have."""
    labels, notes = _published_labels(data)
    count = len(data.fixed_splits)
    if count == 0:
        raise PcnetError(
            f"{data.name} has no fixed splits here; `pcnet data get` fetches those of a named dataset, "
            "and graphs without any need another protocol."
        )
    if not _whole(number) or not 0 <= number < count:
        raise PcnetError(f"{data.name} has the fixed splits 0 to {count - 1}; there is no split {number}.")
    official = name.startswith("official")
    called = official_name(data) if official else name
    if name not in ("official", called):
        raise PcnetError(f"The splits that come with {data.name} are {called}, not {name}.")
    train, val, test = (ids[labels[ids] >= 0] for ids in data.fixed_splits[number])
    split = Split(train, val, test, labels, called, int(number), published=True)
    said = [] if official else _share_notes(split)
    covered, labelled = sum(split.sizes), int((labels >= 0).sum())
    if covered < labelled:
        said.append(f"This split covers {covered} of {labelled} labelled nodes.")
    if split.untrained:
        said.append(f"There is no train node in class {split.untrained[0]}, as published.")
    return split.with_notes(*said, *notes)


def _published_labels(data: Graph) -> tuple[Tensor, list[str]]:
    """The labels that published splits were drawn from, and a sentence where they are not the true ones."""
    if data.published_y is None:
        return data.y, []
    changed = int((data.published_y != data.y).sum())
    return data.published_y, [
        f"{changed} unlabelled nodes count as class 0, as in every published split of {data.name}."
    ]


def _share_notes(split: Split) -> list[str]:
    """A sentence when the parts are not the shares in the protocol's name, by more than one percent point."""
    shares = [100 * size / sum(split.sizes) for size in split.sizes]
    if all(abs(share - nominal) <= 1 for share, nominal in zip(shares, _numbers(split.protocol), strict=True)):
        return []
    return [
        "Train, validation and test are " + "/".join(f"{share:.0f}" for share in shares) + " % of the split's nodes."
    ]


def _whole(number: object) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool)


#: The protocols of the paper.
PAPER_PROTOCOLS = tuple(name for name, entry in PROTOCOLS.items() if entry.paper)
