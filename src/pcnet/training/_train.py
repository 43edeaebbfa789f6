"""Train any number of runs on one graph, with what is half trained on disk."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import TypeVar

import safetensors
import safetensors.torch
import torch

from pcnet._checks import whole_number
from pcnet._files import read_json, write_atomically, write_json
from pcnet._progress import Progress, Silent
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Graph, Operator
from pcnet.propagate import one_core
from pcnet.training._block import Block, HostBlock, OnEpoch
from pcnet.training._division import choose_workers, divide
from pcnet.training._run import Outcome, Run, Targets

T = TypeVar("T")
#: Whether a block that began at a time is to end now.
Limit = Callable[[float], bool]

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
    limit: Limit | None = None,
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

    `limit` is asked after every epoch of a block, with the time (`time.monotonic`) at which the block began: where it
    says so, its runs end there, each at its best epoch so far. Blocks that it lets not even begin have no outcomes.

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
        limit=limit,
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
    limit: Limit | None = None,
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

    def over(began: float) -> bool:
        return limit is not None and limit(began)

    def work(number: int) -> None:
        began = time.monotonic()
        if interrupted.is_set() or over(began):
            return
        members = [runs[index] for index in plan[number]]
        block = kind(x, operators[members[0].model.batch_key], members, num_classes)
        if on_epoch is not None:
            block.on_epoch = lambda member, accuracy, logits: on_epoch(plan[number][member], accuracy, logits)
        if store is not None:
            store.load(number, block)
            progress.advance(block.epochs_settled)
        saved = began
        ended = False
        while block.active and not interrupted.is_set() and not ended:
            before = block.epochs_settled
            block.advance()
            progress.advance(block.epochs_settled - before)
            ended = over(began)
            if store is not None and time.monotonic() - saved > CHECKPOINT_INTERVAL:
                store.save(number, block)
                saved = time.monotonic()
        if store is not None:
            store.save(number, block)
        if ended or not block.active:
            each = (time.monotonic() - began) / len(plan[number])
            for index, outcome in zip(plan[number], block.outcomes(), strict=True):
                with collecting:
                    collected[index] = collect(index, replace(outcome, seconds=each))

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
    return [collected[index] for index in sorted(collected)]


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


class Checkpoint:
    """A folder with one file for each block, replaced as a whole; a killed training continues from them.

    `plan.json` names what is trained (a fingerprint of data, settings and splits) and how the runs are divided into
    blocks, so that a training is never continued with something else.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def plan(self, fingerprint: str, blocks: list[list[int]], resume: bool) -> list[list[int]]:
        """Divide the runs as the interrupted training did, or note how a new one does."""
        path = self.folder / "plan.json"
        if not (resume and path.exists()):
            for stale in self.folder.glob("block-*.safetensors"):
                stale.unlink()
            write_json(path, {"fingerprint": fingerprint, "blocks": blocks})
            return blocks
        kept = read_json(path)
        try:
            known, divided = kept["fingerprint"], [[int(run) for run in block] for block in kept["blocks"]]
        except (KeyError, TypeError, ValueError):
            known, divided = fingerprint, []
        if known != fingerprint:
            raise PcnetError(
                f"The training in {self.folder} has other data, settings or splits; resume it with the same ones, "
                "or start anew in another folder."
            )
        if sorted(chain(*divided)) != sorted(chain(*blocks)):
            raise PcnetError(f"The checkpoint {path} is damaged; delete {self.folder} and start anew.")
        return divided

    def _path(self, number: int) -> Path:
        return self.folder / f"block-{number}.safetensors"

    def save(self, number: int, block: Block) -> None:
        """Write a block's state to a new file, then put it in the place of the old one."""
        tensors, numbers = block.state()
        tensors = {name: tensor.contiguous().cpu() for name, tensor in tensors.items()}
        # Not `save_file`: that makes a temporary file of its own, and does not raise OSError when space runs out.
        content = safetensors.torch.save(tensors, {"numbers": json.dumps(numbers)})
        write_atomically(self._path(number), lambda path: path.write_bytes(content))

    def load(self, number: int, block: Block) -> None:
        """Bring a block to its saved state, if there is one."""
        path = self._path(number)
        if not path.exists():
            return
        try:
            with safetensors.safe_open(path, "pt") as file:
                numbers = json.loads(file.metadata()["numbers"])
            block.restore(safetensors.torch.load_file(path), numbers)
        except (safetensors.SafetensorError, KeyError, TypeError, ValueError, RuntimeError, OSError) as error:
            raise PcnetError(f"The checkpoint {path} is damaged ({error}); delete it and start anew.") from error


def clear_checkpoint(folder: str | Path) -> None:
    """Remove the files of a training that is finished, and the folder with them."""
    folder = Path(folder)
    # A process that was killed while it wrote leaves a temporary file.
    for path in (*folder.glob("block-*.safetensors"), *folder.glob(".*.tmp"), folder / "plan.json"):
        path.unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def fingerprint(x: torch.Tensor | CSR, operators: Sequence[Operator], runs: Sequence[Run]) -> str:
    """A hash of everything that the outcome depends on."""
    digest = hashlib.sha256()

    def add(*tensors: torch.Tensor) -> None:
        for tensor in tensors:
            digest.update(str(tuple(tensor.shape)).encode())
            digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())

    for matrix in [x, *(operator.matrix for operator in operators)]:
        add(*(matrix.crow, matrix.col, matrix.values) if isinstance(matrix, CSR) else (matrix,))
    for run in runs:
        own = run.targets
        settings = {"model": asdict(run.model), "training": asdict(run.training), "seed": run.seed}
        digest.update(json.dumps({**settings, "classes": own.num_classes}, sort_keys=True).encode())
        add(own.train, own.train_labels, own.val, own.val_labels)
    return digest.hexdigest()
