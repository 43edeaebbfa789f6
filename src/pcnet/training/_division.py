"""Which runs share a block, and how many."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Hashable, Sequence
from pathlib import Path

import torch

from pcnet.graph import CSR, Graph
from pcnet.training._run import Run

#: Runs in a block at most. On the CPU more of them make no step shorter, and each run that stops copies the rest; on a
#: GPU a step is as long as its launches up to a hundred runs and grows with them from there.
HOST_RUNS, DEVICE_RUNS = 32, 1024
#: What a training may take of the memory that is free.
SHARE = 0.6
#: Kernels count elements in 32 bits.
COUNTABLE = 2**31


def divide(graph: Graph, runs: Sequence[Run], device: torch.device, workers: int) -> list[list[int]]:
    """Runs that can be trained side by side, in blocks of even size: one for each worker, more where memory asks."""
    alike: dict[Hashable, list[int]] = defaultdict(list)
    for index, run in enumerate(runs):
        alike[run.model.batch_key].append(index)
    blocks = []
    for members in alike.values():
        largest = largest_block(graph, runs[members[0]], device=device, workers=workers)
        parts = max(min(workers, len(members)), -(-len(members) // largest))
        bounds = [len(members) * part // parts for part in range(parts + 1)]
        blocks += [members[start:stop] for start, stop in itertools.pairwise(bounds)]
    return blocks


def largest_block(graph: Graph, run: Run, *, device: torch.device | str = "cpu", workers: int = 1) -> int:
    """How many runs like this one a block can hold; `workers` blocks are trained at the same time."""
    device = torch.device(device)
    if device.type == "cpu" and not run.model.side_by_side:
        return 1
    width = run.model.widest(run.targets.num_classes)
    rows = _entries_of(graph) if run.model.edge_floats(run.targets.num_classes) else graph.num_nodes
    limits = [HOST_RUNS if device.type == "cpu" else DEVICE_RUNS, COUNTABLE // (rows * width)]
    free = _free_memory(device)
    if free is not None:
        limits.append(int(SHARE * free / workers / _bytes_of(graph, run)))
    return max(1, min(limits))


def _bytes_of(graph: Graph, run: Run) -> int:
    """Memory of one more run in a block, from above.

    Weights: model, best epoch, gradient, moments and the factors of a product, and as many again while an epoch is
    captured or a run leaves. Nodes and edges: what the model says; dense features are masked for each run.
    """
    n, classes = graph.num_nodes, run.targets.num_classes
    weights = sum(p.numel() for p in run.model.build(graph.num_features, classes).parameters())
    dense = 0 if isinstance(graph.x, CSR) else 3 * graph.num_features
    nodes = n * (run.model.node_floats(classes) + dense)
    edges = _entries_of(graph) * run.model.edge_floats(classes)
    return 4 * (16 * weights + nodes + edges + 6 * run.training.epochs)


def _entries_of(graph: Graph) -> int:
    """Entries of an operator, from above: both directions of every edge, and self loops."""
    return 2 * graph.edge_index.shape[1] + graph.num_nodes


def _free_memory(device: torch.device) -> int | None:
    """Bytes that nobody uses, if the system says."""
    if device.type == "cuda":
        idle = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + idle
    try:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1])
    except (OSError, StopIteration):
        return None
