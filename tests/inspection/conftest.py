"""Graphs whose links and features know what a test wants them to know."""

from __future__ import annotations

import numpy as np
import torch

from pcnet import Graph


def planted(links: np.ndarray, features: np.ndarray, y: np.ndarray, *, degree: int = 10, seed: int = 0) -> Graph:
    """Links join nodes that agree in `links`, nine times of ten; the two features are `features` ± 1 with little noise.

    What either knows of the classes `y` is up to the caller.
    """
    random = np.random.default_rng(seed)
    n = len(y)
    source = random.integers(0, n, size=degree * n // 2)
    alike = [random.choice(np.flatnonzero(links == links[node])) for node in source]
    target = np.where(random.random(len(source)) < 0.9, alike, random.integers(0, n, size=len(source)))
    kept = source != target
    edges = np.stack([np.append(source[kept], target[kept]), np.append(target[kept], source[kept])])
    x = np.stack([2.0 * features - 1, 1 - 2.0 * features], axis=1) + 0.3 * random.standard_normal((n, 2))
    return Graph(torch.from_numpy(edges), torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y))
