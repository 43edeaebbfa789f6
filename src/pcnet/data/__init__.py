"""Named datasets, synthetic graphs, and splits."""

from pcnet.data._catalogue import CATALOGUE, Dataset, Facts, checksums, dataset_named, sha256
from pcnet.data._csbm import csbm
from pcnet.data._features import normalise_rows
from pcnet.data._load import EMBEDDED, load_dataset, load_embedded
from pcnet.data._protocols import FIXED, PROTOCOLS, make_split
from pcnet.data._sources import cache_folder, data_folder, fetch, find, find_splits
from pcnet.data._split import Split

__all__ = [
    "CATALOGUE",
    "EMBEDDED",
    "FIXED",
    "PROTOCOLS",
    "Dataset",
    "Facts",
    "Split",
    "cache_folder",
    "checksums",
    "csbm",
    "data_folder",
    "dataset_named",
    "fetch",
    "find",
    "find_splits",
    "load_dataset",
    "load_embedded",
    "make_split",
    "normalise_rows",
    "sha256",
]
