"""Train any number of runs on one graph."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import torch

from pcnet._checks import whole_number
from pcnet._progress import Progress, Silent
from pcnet.errors import PcnetError
from pcnet.graph import Graph
from pcnet.propagate import one_core
from pcnet.training._block import Block, HostBlock, OnEpoch
from pcnet.training._checkpoint import Checkpoint, fingerprint
from pcnet.training._division import choose_workers, divide
from pcnet.training._run import Outcome, Run, Targets

T = TypeVar("T")

#: Seconds between two checkpoints of a block.
CHECKPOINT_INTERVAL = 10.0


def train(
    graph: Graph,
    runs: Sequence[Run],
    *,
    threads: int | None = None,
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    on_epoch: OnEpoch | None = None,
) -> list[Outcome]:
    """Train every run; outcomes come in the order of the runs.

    Runs that allow it are trained side by side in blocks. On the CPU each of `threads` workers takes a block of its
    own and computes it on one core: workers never wait for each other inside a product, so a busy neighbour slows a
    training in proportion and no more. Where `threads` is None, `PCNET_THREADS` or else a short measurement says how
    many. Neither the number of threads nor the division into blocks changes a bit of the outcome.

    `progress` hears of two stages: "looking at the graph", where a method first has long to do so, and "training",
    whose units are epochs of single runs. With `checkpoint`, a folder, the state is written there every few seconds;
    `resume=True` continues from it and ends with the same bits as a training that was never disturbed.

    `on_epoch`, on the CPU only, is called with every epoch of every run: the run's number, its accuracy in validation,
    and the logits of all nodes. What it makes of them does not reach the training.

    Test labels are no argument of this function. A PcnetError says what is wrong with runs that cannot be trained.

    >>> from pcnet import PCNetSettings, TrainingSettings, csbm, make_split
    >>> graph = csbm(100, 0.0, seed=0)
    >>> targets = Targets.from_split(make_split(graph, "random-60-20-20", 0))
    >>> runs = [Run(PCNetSettings(), TrainingSettings(epochs=5), targets, seed) for seed in range(3)]
    >>> [outcome.epochs for outcome in train(graph, runs)]
    [5, 5, 5]
    """
    return train_each(
        graph,
        runs,
        collect=lambda _, outcome: outcome,
        threads=threads,
        device=device,
        progress=progress,
        checkpoint=checkpoint,
        resume=resume,
        on_epoch=on_epoch,
    )


def train_each(
    graph: Graph,
    runs: Sequence[Run],
    *,
    collect: Callable[[int, Outcome], T],
    threads: int | None = None,
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    on_epoch: OnEpoch | None = None,
) -> list[T]:
    """`train`, but what `collect` returns for a run's number and its outcome takes the outcome's place.

    It is called as soon as a block is done, one call at a time: of ten thousand runs, no more than a block's logits are
    in memory together, and no model is made that it does not ask for.

    >>> from pcnet import PCNetSettings, TrainingSettings, csbm, make_split
    >>> graph = csbm(100, 0.0, seed=0)
    >>> targets = Targets.from_split(make_split(graph, "random-60-20-20", 0))
    >>> runs = [Run(PCNetSettings(), TrainingSettings(epochs=5), targets, seed) for seed in range(3)]
    >>> train_each(graph, runs, collect=lambda index, outcome: (index, outcome.epochs))
    [(0, 5), (1, 5), (2, 5)]
    """
    if not runs:
        raise PcnetError("There is nothing to train; give at least one run.")
    if threads is not None:
        whole_number("threads", threads, least=1)
    if on_epoch is not None and torch.device(device).type != "cpu":
        raise PcnetError("Single epochs can be followed on the CPU only.")
    progress, device = progress or Silent(), torch.device(device)
    settings = [run.model.for_graph(graph, progress) for run in runs]
    runs = [run if model is run.model else replace(run, model=model) for run, model in zip(runs, settings, strict=True)]
    num_classes = max(run.targets.num_classes for run in runs)
    for run in runs:
        run.training.check_groups(run.model.groups)
        _check_metric(run)
    for targets in dict.fromkeys(run.targets for run in runs):
        _check_targets(targets, graph.num_nodes)
    x = graph.x.to(device)
    models = {run.model.batch_key: run.model for run in runs}
    operators = {key: model.operator(graph, device=device) for key, model in models.items()}
    kind: type[Block]
    if device.type == "cpu":
        kind, workers = HostBlock, threads or choose_workers(x, operators, runs, num_classes)
    else:
        # Its kernels can be imported only where there is a GPU.
        from pcnet.training._device_block import DeviceBlock

        # One worker keeps a GPU busy; a second one could not launch anything while the first records a graph.
        kind, workers = DeviceBlock, 1
    plan = divide(graph, runs, device, workers)
    store = Checkpoint(checkpoint) if checkpoint is not None else None
    if store is not None:
        plan = store.plan(fingerprint(x, list(operators.values()), runs), plan, resume)
    interrupted, collecting = threading.Event(), threading.Lock()
    collected: dict[int, T] = {}
    progress.stage("training", sum(run.training.epochs for run in runs))

    def work(number: int) -> None:
        if interrupted.is_set():
            return
        members = [runs[index] for index in plan[number]]
        block = kind(x, operators[members[0].model.batch_key], members, num_classes)
        if on_epoch is not None:
            block.on_epoch = lambda member, accuracy, logits: on_epoch(plan[number][member], accuracy, logits)
        if store is not None:
            store.load(number, block)
            progress.advance(block.epochs_settled)
        saved = time.monotonic()
        while block.active and not interrupted.is_set():
            before = block.epochs_settled
            block.advance()
            progress.advance(block.epochs_settled - before)
            if store is not None and time.monotonic() - saved > CHECKPOINT_INTERVAL:
                store.save(number, block)
                saved = time.monotonic()
        if store is not None:
            store.save(number, block)
        if not block.active:
            for index, outcome in zip(plan[number], block.outcomes(), strict=True):
                with collecting:
                    collected[index] = collect(index, outcome)

    # The number of threads inside a product is kept for each thread: a worker that did not set it would use all cores.
    with one_core(), ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        futures = [pool.submit(work, number) for number in range(len(plan))]
        try:
            while wait(futures, timeout=0.2, return_when="FIRST_EXCEPTION").not_done:
                if any(future.done() and future.exception() for future in futures):
                    break
        finally:
            interrupted.set()
    for future in futures:
        future.result()
    return [collected[index] for index in range(len(runs))]


def _check_targets(targets: Targets, num_nodes: int) -> None:
    parts = ("train", targets.train, targets.train_labels), ("val", targets.val, targets.val_labels)
    for name, nodes, labels in parts:
        if len(nodes) == 0:
            raise PcnetError(f"The split has no {name} node; every run needs at least one.")
        if int(nodes.min()) < 0 or int(nodes.max()) >= num_nodes:
            raise PcnetError(
                f"A {name} node of the split is not in the graph, whose ids run from 0 to {num_nodes - 1}."
            )
        if int(labels.min()) < 0:
            raise PcnetError(f"A {name} node of the split has no label; leave unlabelled nodes out of splits.")
        if int(labels.max()) >= targets.num_classes:
            raise PcnetError(
                f"A {name} node has class {int(labels.max())}, but there are {targets.num_classes} classes."
            )


def _check_metric(run: Run) -> None:
    metric = run.training.val_metric
    if metric.ranks and len(run.targets.val_labels.unique()) < 2:
        raise PcnetError(
            f"The validation nodes are all of one class, so {metric.title} says nothing there; choose the epoch by "
            "another metric, such as log_loss, or label more nodes."
        )
