"""What a raw reader hands over: features, labels and edges exactly as the files have them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse

#: (train, val, test) as arrays of node ids.
Ids = tuple[np.ndarray, np.ndarray, np.ndarray]


class Raw(NamedTuple):
    """Unnormalised features (n × F), labels (n, −1: none), and the two ends of every listed edge."""

    x: scipy.sparse.csr_matrix
    y: np.ndarray
    source: np.ndarray
    target: np.ndarray
