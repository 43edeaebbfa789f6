"""Train any number of runs on one graph."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar, overload

import torch

from pcnet.errors import PcnetError
from pcnet.graph import Graph, Operator
from pcnet.training._block import Block, Watch
from pcnet.training._checkpoint import Checkpoint, fingerprint
from pcnet.training._device_block import DeviceBlock
from pcnet.training._division import divide
from pcnet.training._host_block import HostBlock
from pcnet.training._run import Outcome, Run, Targets
from pcnet.training._workers import choose_workers

T = TypeVar("T")

#: Seconds between two checkpoints of a block.
CHECKPOINT_INTERVAL = 10.0


class Reporter(Protocol):
    """Is told how far a training has come; called from several threads.

    One that also has `prepare(done, total)` is told how far a method is that first has long to look at the graph.
    """

    def advance(self, epochs: int) -> None:
        """So many more epochs of single runs are done, or will not be needed."""


@overload
def train(
    graph: Graph,
    runs: Sequence[Run],
    *,
    threads: int | None = None,
    device: torch.device | str = "cpu",
    reporter: Reporter | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    watch: Watch | None = None,
) -> list[Outcome]: ...


@overload
def train(
    graph: Graph,
    runs: Sequence[Run],
    *,
    threads: int | None = None,
    device: torch.device | str = "cpu",
    reporter: Reporter | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    watch: Watch | None = None,
    collect: Callable[[int, Outcome], T],
) -> list[T]: ...


def train(
    graph: Graph,
    runs: Sequence[Run],
    *,
    threads: int | None = None,
    device: torch.device | str = "cpu",
    reporter: Reporter | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    watch: Watch | None = None,
    collect: Callable[[int, Outcome], Any] | None = None,
) -> list[Any]:
    """Train every run; outcomes come in the order of the runs.

    Runs that allow it are trained side by side in blocks. On the CPU each of `threads` workers takes a block of its
    own and computes it on one core: workers never wait for each other inside a product, so a busy neighbour slows a
    training in proportion and no more. Where `threads` is None, `PCNET_THREADS` or else a short measurement says how
    many. Neither the number of threads nor the division into blocks changes a bit of the outcome.

    With `collect`, what it returns for a run's number and outcome takes the outcome's place. It is called as soon as
    a block is done, one call at a time: of ten thousand runs, no more than a block's logits are in memory together,
    and no model is made that it does not ask for.

    With `checkpoint`, a folder, the state is written there every few seconds; `resume=True` continues from it and ends
    with the same bits as a training that was never disturbed. Test labels are no argument of this function.

    `watch`, on the CPU only, is told of every epoch of every run: the run's number, its accuracy in validation, and
    the logits of all nodes. What it makes of them does not reach the training.
    """
    if not runs:
        raise PcnetError("There is nothing to train; give at least one run.")
    if threads is not None and threads < 1:
        raise PcnetError(f"threads must be at least 1, not {threads}.")
    if watch is not None and torch.device(device).type != "cpu":
        raise PcnetError("Single epochs can be watched on the CPU only.")
    runs = [_on(graph, run, reporter) for run in runs]
    num_classes = max(run.targets.num_classes for run in runs)
    for run in runs:
        run.training.check_groups(run.model.groups)
        _check_metric(run)
    for targets in {id(run.targets): run.targets for run in runs}.values():
        _check_targets(targets, graph.num_nodes)
    x = graph.x.to(torch.device(device))
    operators: dict[Hashable, Operator] = {}
    for run in runs:
        if run.model.batch_key not in operators:
            operators[run.model.batch_key] = run.model.operator(graph, device=device)
    # One worker keeps a GPU busy; a second one could not launch anything while the first records a graph.
    workers = 1 if x.device.type != "cpu" else threads or choose_workers(x, operators, runs, num_classes)
    plan = divide(graph, runs, x.device, workers)
    store = Checkpoint(checkpoint) if checkpoint is not None else None
    if store is not None:
        plan = store.plan(fingerprint(x, list(operators.values()), runs), plan, resume)
    interrupted, collecting = threading.Event(), threading.Lock()

    def take(index: int, outcome: Outcome) -> Any:
        if collect is None:
            return outcome.whole()
        with collecting:
            return collect(index, outcome)

    def work(number: int) -> list[Any]:
        if interrupted.is_set():
            return []
        members = [runs[index] for index in plan[number]]
        make = DeviceBlock if x.device.type == "cuda" else HostBlock
        block = make(x, operators[members[0].model.batch_key], members, num_classes)
        if watch is not None:
            block.watch = lambda member, accuracy, logits: watch(plan[number][member], accuracy, logits)
        if store is not None:
            store.load(number, block)
            _report(reporter, block.epochs_settled)
        _train_block(block, number, store, reporter, interrupted)
        if block.going:
            return []
        return [take(index, outcome) for index, outcome in zip(plan[number], block.outcomes(), strict=True)]

    # The number of threads inside a product is kept for each thread: a worker that did not set it would use all cores.
    with _one_core_each(), ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        futures = [pool.submit(work, number) for number in range(len(plan))]
        try:
            while wait(futures, timeout=0.2, return_when="FIRST_EXCEPTION").not_done:
                if any(future.done() and future.exception() for future in futures):
                    break
        finally:
            interrupted.set()
    collected: list[Any] = [None] * len(runs)
    for members, results in zip(plan, [future.result() for future in futures], strict=True):
        for index, result in zip(members, results, strict=True):
            collected[index] = result
    return collected


def _train_block(
    block: Block,
    number: int,
    store: Checkpoint | None,
    reporter: Reporter | None,
    interrupted: threading.Event,
) -> None:
    saved = time.monotonic()
    while block.going and not interrupted.is_set():
        before = block.epochs_settled
        block.advance()
        _report(reporter, block.epochs_settled - before)
        if store is not None and time.monotonic() - saved > CHECKPOINT_INTERVAL:
            store.save(number, block)
            saved = time.monotonic()
    if store is not None:
        store.save(number, block)


def _on(graph: Graph, run: Run, reporter: Reporter | None) -> Run:
    model = run.model.for_graph(graph, getattr(reporter, "prepare", None))
    return run if model is run.model else replace(run, model=model)


def _report(reporter: Reporter | None, epochs: int) -> None:
    if reporter is not None:
        reporter.advance(int(epochs))


def _check_targets(targets: Targets, num_nodes: int) -> None:
    for name in ("train", "val"):
        nodes, labels = getattr(targets, name), getattr(targets, f"{name}_labels")
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


@contextmanager
def _one_core_each() -> Iterator[None]:
    """Let every worker compute on its own core: threads inside products collapse beside a busy process."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
