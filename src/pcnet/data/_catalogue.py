"""The named datasets: what a correct reading gives, and where raw files are: a data folder, the cache, the network."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple
from urllib.parse import quote

from pcnet.errors import PcnetError, close_match

Kind = Literal["planetoid", "webkb", "actor", "facebook"]

#: Planetoid's files that carry the graph (`x` and `y`, the public training rows, repeat the head of `allx`, `ally`).
PARTS = ("allx", "ally", "tx", "ty", "graph", "test.index")
#: The two tables of Geom-GCN.
NODES, EDGES = "out1_node_feature_label.txt", "out1_graph_edges.txt"
#: The dataset inside the package.
EMBEDDED = "citeseer"
#: The uncorrected Cornell left Geom-GCN's repository in 2022; the GCNII authors' repository still has it.
_OLD_CORNELL = "https://raw.githubusercontent.com/chennnM/GCNII/ca91f5686c4cd09cc1c6f98431a5d5b7e36acc92"
_TIMEOUT_SECONDS = 30.0


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


_ORIGINS: dict[Kind, str] = {
    "planetoid": "Planetoid (Yang et al. 2016)",
    "webkb": "Geom-GCN (Pei et al. 2020), from CMU WebKB",
    "actor": "Geom-GCN (Pei et al. 2020), from Tang et al. 2009",
    "facebook": "Facebook100 (Traud et al. 2012) as in LINKX (Lim et al. 2021)",
}
_CITESEER_NOTE = (
    "15 nodes of CiteSeer have neither label nor features: y is -1 there. Published protocols count them as "
    "class 0; that labelling is published_y."
)
_CORNELL_NOTE = (
    "cornell has Cornell's links but the features and labels of texas: the files most papers used. "
    "cornell-fixed is the corrected graph."
)


def _dataset(
    kind: Kind, folder: str, facts: Facts, *notes: str, name: str = "", upstream: str = "", origin: str = ""
) -> Dataset:
    """It is called as its folder, and so are the files of its source, unless they have another name."""
    name = name or PurePosixPath(folder).name.lower()
    return Dataset(name, kind, folder, upstream or name, facts, origin or _ORIGINS[kind], notes)


_DATASETS = (
    _dataset("planetoid", "planetoid/Cora", Facts(2708, 1433, 7, 5278, 0, 0.8100)),
    _dataset("planetoid", "planetoid/CiteSeer", Facts(3327, 3703, 6, 4552, 0, 0.7377), _CITESEER_NOTE),
    _dataset("planetoid", "planetoid/PubMed", Facts(19717, 500, 3, 44324, 0, 0.8024)),
    _dataset("webkb", "webkb/texas", Facts(183, 1703, 5, 279, 16, 0.1119)),
    _dataset("webkb", "webkb/wisconsin", Facts(251, 1703, 5, 450, 16, 0.2060)),
    _dataset("webkb", "webkb/cornell", Facts(183, 1703, 5, 277, 3, 0.3036), _CORNELL_NOTE),
    _dataset(
        "webkb",
        "webkb-2022/cornell",
        Facts(183, 1703, 5, 277, 3, 0.1321),
        name="cornell-fixed",
        upstream="cornell",
        origin=f"{_ORIGINS['webkb']}, corrected in July 2022",
    ),
    _dataset("actor", "actor", Facts(7600, 932, 5, 26659, 93, 0.2195), upstream="film"),
    # Its MATLAB file was not at hand when this table was made: edges and homophily are those of the paper.
    _dataset("facebook", "linkx/penn94", Facts(41554, 4814, 2, 1362229, 0, 0.47), upstream="Penn94"),
    _dataset("facebook", "linkx/reed98", Facts(962, 745, 2, 18812, 0, 0.5216), upstream="Reed98"),
    _dataset("facebook", "linkx/amherst41", Facts(2235, 1193, 2, 90954, 0, 0.5306), upstream="Amherst41"),
    _dataset("facebook", "linkx/johnshopkins55", Facts(5180, 2406, 2, 186586, 0, 0.5488), upstream="Johns Hopkins55"),
    _dataset("facebook", "linkx/cornell5", Facts(18660, 4735, 2, 790777, 0, 0.5464), upstream="Cornell5"),
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


def cache_folder() -> Path:
    """`$PCNET_CACHE`, or `~/.cache/pcnet`: the only place this package downloads into."""
    return Path(os.environ.get("PCNET_CACHE") or "~/.cache/pcnet").expanduser()


def data_folder(root: str | Path | None) -> Path | None:
    """`root`, or `$PCNET_DATA`, or nothing; it must exist and is never written to."""
    named = root or os.environ.get("PCNET_DATA")
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        origin = "" if root else " (from PCNET_DATA)"
        raise PcnetError(f"There is no data folder {named}{origin}; name an existing folder of raw datasets.")
    return folder


def find(dataset: Dataset, root: str | Path | None = None) -> Path | None:
    """The first of data folder and cache that holds all of the dataset's graph files."""
    folders = (folder for folder in _folders(root) if all(dataset.path_in(folder, file) for file in dataset.files))
    return next(folders, None)


def find_splits(dataset: Dataset, root: str | Path | None = None) -> list[Path]:
    """The files of its fixed splits, all from one folder; an empty list where no folder has any."""
    for folder in _folders(root):
        missing = [file for file in dataset.split_files if not (folder / file).is_file()]
        if not missing:
            return [folder / file for file in dataset.split_files]
        if len(missing) < len(dataset.split_files):
            raise PcnetError(f"Some fixed splits of {dataset.name} are missing: put {missing[0]} into {folder}.")
    return []


def fetch(dataset: Dataset, root: str | Path | None = None) -> Path:
    """Download what the cache lacks of a dataset and return the cache; every known checksum must hold."""
    # Slow to import, needed only here.
    from http.client import HTTPException
    from urllib.request import urlopen

    cache = cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        # Files move into place only when complete, so an interrupted download leaves nothing half-done.
        with tempfile.TemporaryDirectory(dir=cache) as temporary:
            for file in (*dataset.files, *dataset.split_files):
                if dataset.path_in(cache, file) is not None:
                    continue
                url, downloaded, target = _url(dataset, file), Path(temporary, PurePosixPath(file).name), cache / file
                with urlopen(url, timeout=_TIMEOUT_SECONDS) as answer, downloaded.open("wb") as stream:
                    shutil.copyfileobj(answer, stream)
                if checksums().get(file) not in (None, sha256(downloaded)):
                    raise PcnetError(f"{url} is not the file this package knows as {file} (its checksum differs).")
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(downloaded, target)
    except (OSError, HTTPException) as error:  # URLError and timeouts are OSErrors too
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise PcnetError(_how_to_get(dataset, root, str(reason))) from error
    return cache


def file_states(dataset: Dataset, root: str | Path | None = None) -> list[dict[str, str]]:
    """Of each raw file, where the dataset was found or else should be: ok, changed, missing, or no checksum known."""
    folder = find(dataset, root) or _folders(root)[0]
    rows = []
    for file in (*dataset.files, *dataset.split_files):
        path, known = dataset.path_in(folder, file), checksums().get(file)
        state = "missing" if path is None else "no checksum known"
        if path is not None and known is not None:
            state = "ok" if sha256(path) == known else "changed"
        rows.append({"dataset": dataset.name, "folder": str(folder), "file": file, "state": state})
    return rows


def _url(dataset: Dataset, file: str) -> str:
    """The address that PyG's own dataset class downloads `file` from."""
    # Slow to import, needed only here.
    from torch_geometric.datasets import LINKXDataset, Planetoid, WebKB

    name = PurePosixPath(file).name
    if dataset.kind == "planetoid":
        return f"{Planetoid.geom_gcn_url}/splits/{name}" if "_split_" in name else f"{Planetoid.url}/{name}"
    if dataset.kind == "facebook":
        if name.endswith(".npy"):
            return f"{LINKXDataset.github_url}/splits/{name}"
        return f"{LINKXDataset.github_url}/facebook100/{quote(dataset.upstream)}.mat"
    base = _OLD_CORNELL if dataset.name == "cornell" else WebKB.url
    return f"{base}/splits/{name}" if "_split_" in name else f"{base}/new_data/{dataset.upstream}/{name}"


def _folders(root: str | Path | None) -> list[Path]:
    given = data_folder(root)
    return [cache_folder()] if given is None else [given, cache_folder()]


def _how_to_get(dataset: Dataset, root: str | Path | None, reason: str) -> str:
    folder = data_folder(root)
    lacking = [
        [file for file in files if folder is None or dataset.path_in(folder, file) is None]
        for files in (dataset.files, dataset.split_files)
    ]
    missing = lacking[0] or lacking[1]
    parent = PurePosixPath(missing[0]).parent
    names = ", ".join(PurePosixPath(file).name for file in missing)
    place = f"{folder}/{parent}" if folder else f"{parent} under a folder named by PCNET_DATA or --data"
    return f"{dataset.name} is not on this machine and its download failed ({reason}): put {names} into {place}."
