"""Which runs share a block, how many of them, and how many workers train blocks at the same time.

Workers have a core each but share Python's lock. Of the t seconds that an epoch takes, P are Python's own, spent under
the lock: t/P workers keep it busy, and more would only wait for it. Both are measured, which takes a few epochs of one
run. Neither the number of workers nor the size of blocks makes a difference to any bit of a result.
"""

from __future__ import annotations

import math
import threading
import time
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from pcnet._machine import free_bytes
from pcnet.graph import CSR, Graph, Operator
from pcnet.nn import ModelSettings
from pcnet.propagate import available_threads, one_core, threads_setting
from pcnet.training._block import HostBlock
from pcnet.training._run import Run, Targets

#: Runs in a block at most. On the CPU more of them make no step shorter, and each run that stops copies the rest; on a
#: GPU a step is as long as its launches up to a hundred runs and grows with them from there.
HOST_RUNS, DEVICE_RUNS = 32, 1024
#: Bytes that an epoch of a block keeps on the CPU: deep networks on large graphs are trained one or two at a time, for
#: what one run of them keeps is more than any cache holds.
HOST_BYTES = 2**29
#: What a training may take of the memory that is free.
SHARE = 0.6
#: Kernels count elements in 32 bits.
COUNTABLE = 2**31
#: Epochs that are timed, of which the shortest counts, and seconds after which none is begun.
EPOCHS, ENOUGH = 4, 1.0

_chosen: dict[Hashable, int] = {}
_choosing = threading.Lock()


def divide(graph: Graph, runs: Sequence[Run], device: torch.device, workers: int) -> list[list[int]]:
    """Runs that can be trained side by side, in blocks of even size: one for each worker, more where memory asks."""
    alike: dict[Hashable, list[int]] = defaultdict(list)
    for index, run in enumerate(runs):
        alike[run.model.batch_key].append(index)
    blocks = []
    for members in alike.values():
        largest = largest_block(graph, runs[members[0]], device=device, workers=workers)
        parts = max(min(workers, len(members)), -(-len(members) // largest))
        blocks += [part.tolist() for part in np.array_split(members, parts)]
    return blocks


def largest_block(graph: Graph, run: Run, *, device: torch.device | str = "cpu", workers: int = 1) -> int:
    """How many runs like this one a block can hold, when `workers` blocks are trained at the same time.

    >>> from pcnet import PCNetSettings, TrainingSettings, csbm, make_split
    >>> graph = csbm(100, 0.5, seed=0)
    >>> targets = Targets.from_split(make_split(graph, "random-60-20-20", 0))
    >>> largest_block(graph, Run(PCNetSettings(), TrainingSettings(), targets, 0))
    32
    """
    device, model = torch.device(device), run.model
    if device.type == "cpu" and not model.side_by_side:
        return 1
    classes = run.targets.num_classes
    memory = model.memory(classes)
    limits = [
        HOST_RUNS if device.type == "cpu" else DEVICE_RUNS,
        COUNTABLE // (_rows(graph, memory.edges) * memory.widest),
    ]
    if device.type == "cpu":
        limits.append(int(HOST_BYTES / bytes_of_epoch(graph, model, classes)))
    free = free_bytes(device)
    if math.isfinite(free):
        limits.append(int(SHARE * free / workers / bytes_of_run(graph, model, classes, run.training.epochs)))
    return max(1, min(limits))


def bytes_of_epoch(graph: Graph, model: ModelSettings, classes: int) -> float:
    """What an epoch keeps of nodes and edges, from above; about what its time grows with, too."""
    memory = model.memory(classes)
    # Dense features are masked for each run.
    dense = 0 if isinstance(graph.x, CSR) else 3 * graph.num_features
    return 4.0 * (graph.num_nodes * (memory.nodes + dense) + _rows(graph, memory.edges) * memory.edges)


def bytes_of_run(graph: Graph, model: ModelSettings, classes: int, epochs: int) -> float:
    """What training a run takes, from above."""
    # Of weights: model, best epoch, gradient, moments and the factors of a product, and as many again while an epoch
    # is captured or the block shrinks.
    weights = sum(p.numel() for p in model.for_graph(graph).build(graph.num_features, classes).parameters())
    return bytes_of_epoch(graph, model, classes) + 4.0 * (16 * weights + 6 * epochs)


def _rows(graph: Graph, of_edges: int) -> int:
    """Entries of an operator, where a model keeps anything of them: both directions of every edge, and self loops."""
    return graph.num_nodes + (2 * graph.edge_index.shape[1] if of_edges else 0)


def choose_workers(
    x: Tensor | CSR, operators: Mapping[Hashable, Operator], runs: Sequence[Run], num_classes: int
) -> int:
    """`PCNET_THREADS` where it is set; else t/P, but no more than processors and runs.

    The number is kept for graphs of the same size as long as the process lives.
    """
    run, setting = runs[0], threads_setting()
    limit = min(available_threads(), len(runs))
    if setting is not None or limit == 1:
        return setting or limit
    operator = operators[run.model.batch_key]
    stored = x.nnz if isinstance(x, CSR) else x.numel()
    key = type(run.model), x.shape, stored, operator.matrix.nnz, limit
    with _choosing, one_core():
        if key not in _chosen:
            # The same run on a graph of two nodes: an epoch of it is nothing but Python.
            nodes = torch.tensor([0, 1])
            graph = Graph(torch.stack([nodes, nodes.flip(0)]), torch.eye(2), nodes)
            targets = Targets(nodes[:1], nodes[:1], nodes[1:], nodes[1:], 2)
            idle = replace(run, model=run.model.for_graph(graph), targets=targets)
            blocks = (
                HostBlock(x, operator, [run], num_classes),
                HostBlock(graph.x, idle.model.operator(graph), [idle], 2),
            )
            whole, python = map(_epoch_seconds, blocks)
            _chosen[key] = max(1, min(limit, int(whole / python)))
        return _chosen[key]


def _epoch_seconds(block: HostBlock) -> float:
    """Seconds of this thread in the shortest of a few epochs; what neighbours take of it is not counted."""
    taken: list[float] = []
    while block.active and len(taken) < EPOCHS and sum(taken) < ENOUGH:
        start = time.thread_time()
        block.advance()
        taken.append(time.thread_time() - start)
    # A coarse clock may say that it took no time at all.
    return max(min(taken), 1e-4)
