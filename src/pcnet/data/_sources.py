"""Where raw files come from: a data folder, then the cache, then the network."""

from __future__ import annotations

import os
import shutil
import tempfile
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from urllib.parse import quote
from urllib.request import urlopen

from pcnet.data._catalogue import Dataset, checksums, sha256
from pcnet.errors import PcnetError

#: The uncorrected Cornell left Geom-GCN's repository in 2022; the GCNII authors' repository still has it.
_OLD_CORNELL = "https://raw.githubusercontent.com/chennnM/GCNII/ca91f5686c4cd09cc1c6f98431a5d5b7e36acc92"
_TIMEOUT_SECONDS = 30.0


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
    cache = cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        # Files move into place only when complete, so an interrupted download leaves nothing half-done.
        with tempfile.TemporaryDirectory(dir=cache) as temporary:
            for file in (*dataset.files, *dataset.split_files):
                if dataset.path_in(cache, file) is None:
                    _fetch_file(dataset, file, cache, Path(temporary))
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


def _fetch_file(dataset: Dataset, file: str, cache: Path, temporary: Path) -> None:
    url, downloaded = _url(dataset, file), temporary / PurePosixPath(file).name
    with urlopen(url, timeout=_TIMEOUT_SECONDS) as answer, downloaded.open("wb") as stream:
        shutil.copyfileobj(answer, stream)
    expected = checksums().get(file)
    if expected is not None and sha256(downloaded) != expected:
        raise PcnetError(f"{url} is not the file this package knows as {file} (its checksum differs).")
    target = cache / file
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(downloaded, target)


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
