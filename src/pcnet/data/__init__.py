"""Named datasets, synthetic graphs, and splits."""

from pcnet.data._catalogue import CATALOGUE, Dataset, Facts, dataset_named
from pcnet.data._csbm import csbm
from pcnet.data._features import normalise_rows
from pcnet.data._load import load_dataset, load_embedded
from pcnet.data._protocols import FIXED, PROTOCOLS, make_split
from pcnet.data._split import Split

__all__ = [
    "CATALOGUE",
    "FIXED",
    "PROTOCOLS",
    "Dataset",
    "Facts",
    "Split",
    "csbm",
    "dataset_named",
    "load_dataset",
    "load_embedded",
    "make_split",
    "normalise_rows",
]
