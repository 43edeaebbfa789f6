"""A contextual stochastic block model: links and features agree with the classes as much as you like."""

from __future__ import annotations

import math

import numpy as np
import torch

from pcnet.errors import PcnetError
from pcnet.graph import Graph, undirected


def csbm(
    n: int = 1000,
    phi: float = 0.5,
    *,
    classes: int = 2,
    features: int = 100,
    average_degree: float = 5.0,
    epsilon: float = 3.25,
    seed: int = 0,
) -> Graph:
    """Draw a graph in which φ moves all information from links (φ = ±1) to features (φ = 0).

    λ = √(1+ε) sin(πφ/2) and μ = √(ξ(1+ε)) cos(πφ/2) with ξ = n/f, so that λ² + μ²/ξ = 1 + ε: as hard for
    every φ, and impossible below ε = 0 (Deshpande et al. 2018; φ as in Chien et al. 2021). Nodes of one class
    are linked with probability c_in/n, others with c_out/n, where c_in = d + (C−1)λ√d and c_out = d − λ√d, so
    the mean degree is d; φ = −1 is most heterophilic, +1 most homophilic. Node i has the features
    √(μ/n) u_{y_i} + z_i/√f with Gaussian z and class means u that sum to zero and have unit expected norm.
    Classes are equally large (up to one node).

    >>> csbm(100, phi=-0.5, seed=1).num_nodes
    100
    """
    enough = classes >= 2 and n >= 2 * classes
    for good, complaint in (
        (enough, f"A block model needs two classes of two nodes at least, not {classes} classes on {n} nodes."),
        (features >= 1, f"features = {features}, but a node needs at least one feature."),
        (-1 <= phi <= 1, f"phi = {phi} is outside [-1, 1]: -1 is most heterophilic, 1 most homophilic."),
        (0 < average_degree < math.inf, f"average_degree = {average_degree} must be positive."),
        (-1 <= epsilon < math.inf, f"epsilon = {epsilon} must be at least -1 (0 is the threshold of detection)."),
        (seed >= 0, f"seed = {seed} must not be negative."),
    ):
        if not good:
            raise PcnetError(complaint)
    strength = math.sqrt(1 + epsilon)
    signal, root = strength * math.sin(math.pi * phi / 2), math.sqrt(average_degree)
    within, between = average_degree + (classes - 1) * signal * root, average_degree - signal * root
    if not (0 <= within <= n and 0 <= between <= n):
        raise PcnetError(
            f"average_degree = {average_degree} gives a link probability outside [0, 1] for phi = {phi}, "
            f"epsilon = {epsilon} and {classes} classes; raise average_degree (below n) or lower epsilon."
        )
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(n) % classes)
    source, target = _draw_edges(random, y, classes, within / n, between / n)

    means = random.standard_normal((classes, features)) / math.sqrt(features)
    means = (means - means.mean(0)) * math.sqrt(classes / (classes - 1))
    mu = math.sqrt(n / features) * strength * math.cos(math.pi * phi / 2)
    noise = random.standard_normal((n, features)) / math.sqrt(features)
    x = torch.from_numpy((math.sqrt(max(mu, 0.0) / n) * means[y] + noise).astype(np.float32))
    edges = undirected(source, target, n, keep_loops=False)
    return Graph(edges, x, torch.from_numpy(y), name=f"csbm(phi={phi:g})")


def _draw_edges(
    random: np.random.Generator, y: np.ndarray, classes: int, within: float, between: float
) -> tuple[np.ndarray, np.ndarray]:
    """Independent links: for each pair of classes a binomial number of distinct node pairs."""
    members = [np.flatnonzero(y == c) for c in range(classes)]
    source, target = [], []
    for a in range(classes):
        for b in range(a + 1):
            if a == b:
                pair = _distinct(random, len(members[a]) * (len(members[a]) - 1) // 2, within)
                # Pair number k of i < j counts j(j−1)/2 pairs before j.
                j = np.floor((1 + np.sqrt(1 + 8 * pair.astype(np.float64))) / 2).astype(np.int64)
                i = pair - j * (j - 1) // 2
            else:
                pair = _distinct(random, len(members[a]) * len(members[b]), between)
                j, i = np.divmod(pair, len(members[b]))
            source.append(members[a][j])
            target.append(members[b][i])
    return np.concatenate(source), np.concatenate(target)


def _distinct(random: np.random.Generator, pairs: int, probability: float) -> np.ndarray:
    return random.choice(pairs, random.binomial(pairs, probability), replace=False, shuffle=False)
