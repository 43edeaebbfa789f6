"""A graph as its owner has it, and what tests of `pcnet compare` share."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import scipy.stats

from pcnet import Graph

SMALL = ("--set", "epochs=4", "--set", "hidden=6", "--threads", "1")
LONG = ("compare", "pets", "--read", "label=pet", "--methods", "mlp,gcn,pcnet", "--runs", "2", "--set", "hidden=4",
        "--set", "epochs=60", "--set", "stopping=none", "--threads", "1")  # fmt: skip
PICTURES = [f"{name}.{kind}" for name in ("critical-difference", "scores") for kind in ("png", "svg")]
#: What a comparison leaves in its folder.
FILES = sorted(["compare.html", "compare.json", "compare.md", "methods", *PICTURES])


def write_folder(folder: Path, graph: Graph) -> None:
    """A graph as its owner has it: names of nodes and classes, two CSV files."""
    folder.mkdir()
    with (folder / "edges.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["source", "target"])
        writer.writerows([f"n{u}", f"n{v}"] for u, v in graph.edge_index.t().tolist() if u < v)
    with (folder / "nodes.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "pet", *(f"f{place}" for place in range(graph.num_features))])
        for node, (label, x) in enumerate(zip(graph.y.tolist(), graph.x.tolist(), strict=True)):
            writer.writerow([f"n{node}", ("cat", "dog")[label], *x])


def corrected_interval(differences: np.ndarray, ratio: float, comparisons: int) -> list[float]:
    """SciPy's t interval of the mean, with the variance that Nadeau and Bengio put in its place."""
    k = len(differences)
    scale = np.sqrt((1 / k + ratio) * np.var(differences, ddof=1))
    mean = differences.mean()
    return [mean, *scipy.stats.t.interval(1 - 0.05 / comparisons, k - 1, loc=mean, scale=scale)]
