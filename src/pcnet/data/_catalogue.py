"""The named datasets: where their raw files lie under a data folder, and what a correct reading gives."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from pcnet.errors import PcnetError, close_match

Kind = Literal["planetoid", "webkb", "actor", "facebook"]

#: Planetoid's files that carry the graph (`x` and `y`, the public training rows, repeat the head of `allx`, `ally`).
PARTS = ("allx", "ally", "tx", "ty", "graph", "test.index")
#: The two tables of Geom-GCN.
NODES, EDGES = "out1_node_feature_label.txt", "out1_graph_edges.txt"
#: The dataset inside the package.
EMBEDDED = "citeseer"


class Facts(NamedTuple):
    """Counts of the graph that is returned; `edges` are undirected and without loops, `loops` the kept ones.

    `homophily` is the edge homophily among labelled nodes, a loop counted as one edge.
    """

    nodes: int
    features: int
    classes: int
    edges: int
    loops: int
    homophily: float


@dataclass(frozen=True)
class Dataset:
    """One named graph; `folder` is relative to a data folder, `upstream` the stem of its source's files."""

    name: str
    kind: Kind
    folder: str
    upstream: str
    facts: Facts
    origin: str
    notes: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The raw files that carry the graph."""
        planetoid = tuple(f"ind.{self.upstream}.{part}" for part in PARTS)
        names = {"planetoid": planetoid, "facebook": ("data.mat",)}.get(self.kind, (NODES, EDGES))
        return tuple(f"{self.folder}/raw/{name}" for name in names)

    @property
    def split_files(self) -> tuple[str, ...]:
        """The files that carry its fixed splits; none for most Facebook graphs."""
        if self.kind == "facebook":
            return (f"{self.folder}/raw/fb100-Penn94-splits.npy",) if self.name == "penn94" else ()
        folder = f"{self.folder}/geom-gcn/raw" if self.kind == "planetoid" else f"{self.folder}/raw"
        return tuple(f"{folder}/{self.upstream}_split_0.6_0.2_{i}.npz" for i in range(10))

    def path_in(self, root: Path, file: str) -> Path | None:
        """Where `file` lies under `root`; a MATLAB file may also have the name its source gave it."""
        places = [root / file]
        if file.endswith(".mat"):
            places.append(places[0].with_name(f"{self.upstream}.mat"))
        return next((path for path in places if path.is_file()), None)


_PLANETOID = "Planetoid (Yang et al. 2016)"
_GEOM_GCN = "Geom-GCN (Pei et al. 2020), from CMU WebKB"
_FILM = "Geom-GCN (Pei et al. 2020), from Tang et al. 2009"
_FB100 = "Facebook100 (Traud et al. 2012) as in LINKX (Lim et al. 2021)"

_CITESEER_NOTE = (
    "15 nodes of CiteSeer have neither label nor features: y is -1 there. Published protocols count them as "
    "class 0; that labelling is published_y."
)
_CORNELL_NOTE = (
    "cornell has Cornell's links but the features and labels of texas: the files most papers used. "
    "cornell-fixed is the corrected graph."
)


def _planetoid_graph(title: str, facts: Facts, *notes: str) -> Dataset:
    name = title.lower()
    return Dataset(name, "planetoid", f"planetoid/{title}", name, facts, _PLANETOID, notes)


def _webkb_graph(name: str, facts: Facts, *notes: str) -> Dataset:
    return Dataset(name, "webkb", f"webkb/{name}", name, facts, _GEOM_GCN, notes)


def _facebook_graph(upstream: str, facts: Facts) -> Dataset:
    name = upstream.replace(" ", "").lower()
    return Dataset(name, "facebook", f"linkx/{name}", upstream, facts, _FB100)


_DATASETS = (
    _planetoid_graph("Cora", Facts(2708, 1433, 7, 5278, 0, 0.8100)),
    _planetoid_graph("CiteSeer", Facts(3327, 3703, 6, 4552, 0, 0.7377), _CITESEER_NOTE),
    _planetoid_graph("PubMed", Facts(19717, 500, 3, 44324, 0, 0.8024)),
    _webkb_graph("texas", Facts(183, 1703, 5, 279, 16, 0.1119)),
    _webkb_graph("wisconsin", Facts(251, 1703, 5, 450, 16, 0.2060)),
    _webkb_graph("cornell", Facts(183, 1703, 5, 277, 3, 0.3036), _CORNELL_NOTE),
    replace(
        _webkb_graph("cornell", Facts(183, 1703, 5, 277, 3, 0.1321)),
        name="cornell-fixed",
        folder="webkb-2022/cornell",
        origin=f"{_GEOM_GCN}, corrected in July 2022",
    ),
    Dataset("actor", "actor", "actor", "film", Facts(7600, 932, 5, 26659, 93, 0.2195), _FILM),
    # Its MATLAB file was not at hand when this table was made: edges and homophily are those of the paper.
    _facebook_graph("Penn94", Facts(41554, 4814, 2, 1362229, 0, 0.47)),
    _facebook_graph("Reed98", Facts(962, 745, 2, 18812, 0, 0.5216)),
    _facebook_graph("Amherst41", Facts(2235, 1193, 2, 90954, 0, 0.5306)),
    _facebook_graph("Johns Hopkins55", Facts(5180, 2406, 2, 186586, 0, 0.5488)),
    _facebook_graph("Cornell5", Facts(18660, 4735, 2, 790777, 0, 0.5464)),
)

CATALOGUE: dict[str, Dataset] = {dataset.name: dataset for dataset in _DATASETS}


def dataset_named(name: str) -> Dataset:
    """The catalogue's entry for `name`, in any case; `film` is `actor`."""
    known, key = {**CATALOGUE, "film": CATALOGUE["actor"]}, name.strip().lower()
    if key not in known:
        raise PcnetError(f"There is no dataset '{name}'.{close_match(key, known)} Known: {', '.join(CATALOGUE)}.")
    return known[key]


@cache
def checksums() -> dict[str, str]:
    """SHA-256 of every raw file that was at hand when the catalogue was made, by relative path."""
    lines = Path(__file__).with_name("checksums.txt").read_text(encoding="utf-8").splitlines()
    return {path: digest for digest, path in (line.split(maxsplit=1) for line in lines)}


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
