"""Parts in which every class has the same share, different ones for consecutive seeds."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from pcnet.data._split import Split
from pcnet.errors import PcnetError
from pcnet.graph import Graph

_NUMBER = r"(\d+(?:\.\d+)?)"
_NAME = re.compile(rf"stratified-{_NUMBER}-{_NUMBER}-{_NUMBER}")


def shares_of(protocol: str) -> tuple[float, float, float]:
    """The shares of training, validation and test nodes in a stratified protocol's name, as parts of 1."""
    found = _NAME.fullmatch(protocol)
    shares = [float(share) for share in found.groups()] if found else []
    if not found or min(shares) <= 0 or abs(sum(shares) - 100) > 1e-9:
        raise PcnetError(
            f"'{protocol}' is no split protocol; write stratified-A-B-C with the percentages of training, validation "
            "and test nodes, which add up to 100, as in stratified-60-20-20."
        )
    train, val, test = (share / 100 for share in shares)
    return train, val, test


def stratified_split(data: Graph, protocol: str, seed: int) -> Split:
    """Test nodes are a window of each class, validation nodes follow them, and the rest trains.

    Every class with three labelled nodes or more is in all three parts; two train and test, a single one trains.
    """
    _, val_share, test_share = shares_of(protocol)
    parts: list[list[Tensor]] = [[], [], []]
    alone = []
    for members, size in _windows(data.y, (data.y >= 0).nonzero().flatten(), test_share, seed):
        n = len(members)
        test = min(size, n - 2) if n > 2 else n - 1
        val = min(max(_rounded(n * val_share), 1), n - test - 1) if n > 2 else 0
        for part, ids in zip(parts, members.split([test, val, n - test - val]), strict=True):
            part.append(ids)
        if n == 1:
            alone.append(f"'{data.class_names[int(data.y[members[0]])]}'")
    test_nodes, val_nodes, train = (torch.cat(part) if part else torch.empty(0, dtype=torch.long) for part in parts)
    if len(test_nodes) == 0 or len(val_nodes) == 0:
        raise PcnetError(
            f"{len(train) + len(test_nodes)} labelled nodes are too few for {protocol}: no class has three, which "
            "training, validation and test need; label more nodes."
        )
    split = Split(train, val_nodes, test_nodes, data.y, protocol, seed)
    if not alone:
        return split
    many = len(alone) > 1
    which = f"{'Classes' if many else 'Class'} {', '.join(alone)} {'have' if many else 'has'}"
    each = " each" if many else ""
    return split.with_notes(f"{which} a single labelled node{each}: it trains, and nothing tests it.")


def draw_validation(labels: Tensor, known: Tensor, share: float, seed: int) -> Tensor:
    """A share of each class among the known nodes, but never the last node of a class; the rest is for training.

    As many consecutive seeds as fit draw different nodes: with a share of a fifth, seeds 0 to 4 draw each node once.
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
