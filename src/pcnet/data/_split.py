"""A split of the labelled nodes into training, validation and test sets."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pcnet.errors import PcnetError

PARTS = ("train", "val", "test")
_INTEGER = {torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}


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
