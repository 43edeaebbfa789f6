"""The labelled graphs at hand, as a practitioner would bring them: without published splits or settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from pcnet import PcnetError, load_dataset, read_graph
from pcnet.data import data_folder
from pcnet.graph import Graph

#: Cornell carries Texas's features and labels in the literature's files: the corrected graph stands for it.
NAMED = (
    "texas",
    "cornell-fixed",
    "wisconsin",
    "reed98",
    "cora",
    "citeseer",
    "amherst41",
    "johnshopkins55",
    "actor",
    "pubmed",
    "cornell5",
)
#: Files of other people under `own/`, with how to read them.
OWN: dict[str, dict[str, str]] = {
    "chameleon_filtered.npz": {},
    "amazon_photo.npz": {},
    "musae-engb": {"label": "mature"},
}


def graphs() -> Iterator[tuple[str, Callable[[], Graph]]]:
    """Names, and what reads each; those that cannot be found are left out."""
    for name in NAMED:
        try:
            load_dataset(name)
        except PcnetError:
            continue
        yield name, partial(_as_own, partial(load_dataset, name))
    folder = data_folder(os.environ.get("PCNET_DATA"))
    for file, how in OWN.items():
        path = Path(folder or ".") / "own" / file
        if path.exists():
            yield path.stem, partial(_as_own, partial(read_graph, path, **how))


def _as_own(read: Callable[[], Graph]) -> Graph:
    return replace(read(), published_y=None, fixed_splits=())
