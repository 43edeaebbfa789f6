"""The four ways in which the paper splits a graph, reproducible from a seed."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pcnet.data._split import Split
from pcnet.errors import PcnetError, close_match
from pcnet.graph import Graph

MAX_SEED = 2**32 - 1


class _Quota(NamedTuple):
    """Training nodes a class, validation nodes, and test nodes (None: all that remain)."""

    per_class: int
    val: int
    test: int | None


def _share(rate_train: float, rate_val: float) -> Callable[[int, int], _Quota]:
    """Quota r_train·n / C a class and r_val·n validation nodes, rounded as the authors' code does."""
    return lambda n, classes: _Quota(round(rate_train * n / classes), round(rate_val * n), None)


#: The drawn protocols: nominal shares in percent (none: counts are nominal) and quota from (n, C).
_DRAWN: dict[str, tuple[tuple[float, float, float] | None, Callable[[int, int], _Quota]]] = {
    "semi-20-500-1000": (None, lambda n, classes: _Quota(20, 500, 1000)),
    "sparse-2.5-2.5-95": ((2.5, 2.5, 95), _share(0.025, 0.025)),
    "random-60-20-20": ((60, 20, 20), _share(0.6, 0.2)),
}
FIXED = "fixed-48-32-20"
PROTOCOLS: tuple[str, ...] = (*_DRAWN, FIXED)


def make_split(data: Graph, protocol: str, seed: int) -> Split:
    """Split the labelled nodes of `data` by one of `PROTOCOLS`.

    Drawn protocols use one legacy NumPy generator seeded with `seed`: for each class q nodes of its ascending
    list (all of them, without a draw, when it has fewer than q), then the validation nodes from the ascending
    list of the rest, then (semi) the test nodes; otherwise the test set is what remains. `fixed-48-32-20` is
    split number `seed` of those that come with the data. Where the literature relabels nodes
    (`data.published_y`) the split follows it and says so in its notes; other unlabelled nodes are in no set
    and in no quota.
    """
    if protocol not in PROTOCOLS:
        hint = close_match(protocol, PROTOCOLS)
        raise PcnetError(f"There is no split protocol '{protocol}'.{hint} Known: {', '.join(PROTOCOLS)}.")
    labels, notes = data.y, []
    if data.published_y is not None:
        labels = data.published_y
        changed = int((labels != data.y).sum())
        notes.append(f"{changed} unlabelled nodes count as class 0, as in every published split of {data.name}.")
    if protocol == FIXED:
        return _fixed(data, labels, seed).with_notes(*notes)
    return _drawn(labels, protocol, seed).with_notes(*notes)


def _drawn(labels: Tensor, protocol: str, seed: int) -> Split:
    if not _whole(seed) or not 0 <= seed <= MAX_SEED:
        raise PcnetError(f"The seed of a split must be an integer from 0 to {MAX_SEED}, not {seed}.")
    y = labels.numpy()
    labelled = np.flatnonzero(y >= 0)
    members = [np.flatnonzero(y == c) for c in np.unique(y[labelled])]
    nominal, quota_of = _DRAWN[protocol]
    quota = quota_of(len(labelled), max(len(members), 1))
    if quota.per_class < 1 or quota.val < 1:
        raise PcnetError(f"{len(labelled)} labelled nodes are too few for {protocol}; take a denser protocol.")

    random = np.random.RandomState(seed)
    chosen = [ids if len(ids) < quota.per_class else random.choice(ids, quota.per_class, False) for ids in members]
    train = np.concatenate(chosen)
    rest = np.setdiff1d(labelled, train)
    needed = quota.val + (quota.test or 1)
    if len(rest) < needed:
        raise PcnetError(
            f"The graph is too small for {protocol}: {needed} nodes are needed for validation and test, but "
            f"{len(rest)} of {len(labelled)} labelled ones remain beside the training set."
        )
    val = random.choice(rest, quota.val, replace=False)
    test = np.setdiff1d(rest, val)
    if quota.test is not None:
        test = random.choice(test, quota.test, replace=False)
    split = Split(torch.from_numpy(train), torch.from_numpy(val), torch.from_numpy(test), labels, protocol, int(seed))
    small = [int(y[ids[0]]) for ids in members if len(ids) < quota.per_class]
    if not small:
        return split
    return split.with_notes(
        *_share_notes(split, nominal),
        f"Classes {small} have fewer than {quota.per_class} nodes: all of them train, none is tested.",
    )


def _fixed(data: Graph, labels: Tensor, number: int) -> Split:
    count = len(data.fixed_splits)
    if count == 0:
        raise PcnetError(
            f"{data.name} has no fixed splits here; `pcnet data get` fetches those of a named dataset, "
            "and graphs without any need another protocol."
        )
    if not _whole(number) or not 0 <= number < count:
        raise PcnetError(f"{data.name} has the fixed splits 0 to {count - 1}; there is no split {number}.")
    train, val, test = (ids[labels[ids] >= 0] for ids in data.fixed_splits[number])
    split = Split(train, val, test, labels, FIXED, int(number), published=True)
    covered, labelled = sum(split.sizes), int((labels >= 0).sum())
    notes = _share_notes(split, (48, 32, 20))
    if covered < labelled:
        notes.append(f"This split covers {covered} of {labelled} labelled nodes.")
    absent = sorted({*labels[labels >= 0].tolist()} - {*labels[train].tolist()})
    if absent:
        notes.append(f"There is no train node in class {absent[0]}, as published.")
    return split.with_notes(*notes)


def _whole(number: object) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool)


def _share_notes(split: Split, nominal: tuple[float, float, float] | None) -> list[str]:
    """A sentence when the parts are not the shares in the protocol's name, by more than one percent point."""
    shares = [100 * size / sum(split.sizes) for size in split.sizes]
    if nominal is None or all(abs(share - name) <= 1 for share, name in zip(shares, nominal, strict=True)):
        return []
    return [
        "Train, validation and test are " + "/".join(f"{share:.0f}" for share in shares) + " % of the split's nodes."
    ]
