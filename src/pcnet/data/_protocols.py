"""How a graph is split, reproducible from a seed: stratified for any graph, and the four ways of the paper."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pcnet.data._split import Split
from pcnet.data._stratified import shares_of, stratified_split
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
#: Splits that come with somebody's own file, named by the shares that they have: official-50-25-25.
OFFICIAL = "official"
#: For graphs that the paper does not have; any shares do, as in stratified-80-10-10.
STRATIFIED = "stratified-60-20-20"
PAPER_PROTOCOLS: tuple[str, ...] = (*_DRAWN, FIXED)
PROTOCOLS: tuple[str, ...] = (STRATIFIED, *PAPER_PROTOCOLS, OFFICIAL)


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
    """
    check_protocol(protocol)
    if protocol.startswith("stratified"):
        _check_seed(seed)
        return stratified_split(data, protocol, int(seed))
    labels, notes = data.y, []
    if data.published_y is not None:
        labels = data.published_y
        changed = int((labels != data.y).sum())
        notes.append(f"{changed} unlabelled nodes count as class 0, as in every published split of {data.name}.")
    if is_fixed(protocol):
        return _fixed(data, labels, protocol, seed).with_notes(*notes)
    return _drawn(labels, protocol, seed).with_notes(*notes)


def check_protocol(name: str) -> None:
    """Refuse what is the name of no protocol."""
    if name.startswith("stratified"):
        shares_of(name)
    elif name not in PROTOCOLS and not name.startswith(f"{OFFICIAL}-"):
        raise PcnetError(
            f"There is no split protocol '{name}'.{close_match(name, PROTOCOLS)} Known: {', '.join(PROTOCOLS)}, or "
            "stratified-A-B-C with shares of your own."
        )


def is_fixed(protocol: str) -> bool:
    """Whether it numbers splits that come with the data."""
    return protocol == FIXED or protocol.startswith(OFFICIAL)


def official_name(data: Graph) -> str:
    """The splits that come with somebody's file, by the shares that they have: official-50-25-25."""
    sizes = np.array([[len(part) for part in split] for split in data.fixed_splits], dtype=float).sum(axis=0)
    return "-".join([OFFICIAL, *(f"{share:.0f}" for share in 100 * sizes / sizes.sum())])


def _check_seed(seed: int) -> None:
    if not _whole(seed) or not 0 <= seed <= MAX_SEED:
        raise PcnetError(f"The seed of a split must be an integer from 0 to {MAX_SEED}, not {seed}.")


def _drawn(labels: Tensor, protocol: str, seed: int) -> Split:
    _check_seed(seed)
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


def _fixed(data: Graph, labels: Tensor, protocol: str, number: int) -> Split:
    count = len(data.fixed_splits)
    if count == 0:
        raise PcnetError(
            f"{data.name} has no fixed splits here; `pcnet data get` fetches those of a named dataset, "
            "and graphs without any need another protocol."
        )
    if not _whole(number) or not 0 <= number < count:
        raise PcnetError(f"{data.name} has the fixed splits 0 to {count - 1}; there is no split {number}.")
    if protocol.startswith(OFFICIAL):
        known = official_name(data)
        if protocol not in (OFFICIAL, known):
            raise PcnetError(f"The splits that come with {data.name} are {known}, not {protocol}.")
        protocol = known
    train, val, test = (ids[labels[ids] >= 0] for ids in data.fixed_splits[number])
    split = Split(train, val, test, labels, protocol, int(number), published=True)
    covered, labelled = sum(split.sizes), int((labels >= 0).sum())
    notes = _share_notes(split, (48, 32, 20) if protocol == FIXED else None)
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
