"""How many workers train at the same time.

Workers have a core each but share Python's lock. Of the t seconds that an epoch takes, P are Python's own, spent under
the lock: t/P workers keep it busy, and more would only wait for it. Both are measured, which takes a few epochs of one
run. The number of workers makes no difference to any bit of a result.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from pcnet.graph import CSR, Graph, Operator
from pcnet.propagate import available_threads, one_core, threads_setting
from pcnet.training._host_block import HostBlock
from pcnet.training._run import Run, Targets

#: Epochs that are timed, of which the shortest counts; none is begun after so many seconds.
EPOCHS, ENOUGH = 4, 1.0

_chosen: dict[Hashable, int] = {}
_choosing = threading.Lock()


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
            ratio = _epoch_seconds(HostBlock(x, operator, [run], num_classes)) / _epoch_seconds(_idle_block(run))
            _chosen[key] = max(1, min(limit, int(ratio)))
        return _chosen[key]


def _idle_block(run: Run) -> HostBlock:
    """The same run on a graph of two nodes: an epoch of it is nothing but Python."""
    nodes = torch.tensor([0, 1])
    graph = Graph(torch.stack([nodes, nodes.flip(0)]), torch.eye(2), nodes)
    targets = Targets(nodes[:1], nodes[:1], nodes[1:], nodes[1:], 2)
    model = run.model.for_graph(graph)
    return HostBlock(graph.x, model.operator(graph), [replace(run, model=model, targets=targets)], 2)


def _epoch_seconds(block: HostBlock) -> float:
    """Seconds of this thread in the shortest of a few epochs; what neighbours take of it is not counted."""
    taken: list[float] = []
    while block.going and len(taken) < EPOCHS and sum(taken) < ENOUGH:
        start = time.thread_time()
        block.advance()
        taken.append(time.thread_time() - start)
    # A coarse clock may say that it took no time at all.
    return max(min(taken), 1e-4)
