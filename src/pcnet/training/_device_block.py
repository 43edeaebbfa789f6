"""A block of runs on a GPU: a whole epoch is one captured graph, replayed. Imported only where there is one."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, get_args

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from pcnet.compare import Metric
from pcnet.errors import PcnetWarning
from pcnet.nn import DeviceDraws
from pcnet.training import kernels
from pcnet.training._block import Block
from pcnet.training._labels import Scored, TrainingLoss, other_metrics, training_nodes, validation_nodes
from pcnet.training._losses import CrossEntropy
from pcnet.training._optimizer import Groups, OptimizerState
from pcnet.training._run import Optimizer, Run, TrainingSettings

#: Epochs between two looks at the device, which then learns nothing new until the next one.
CHUNK = 25
#: Epochs run before one is captured.
TRIALS = 2
#: Parameters begin at multiples of this many numbers: kernels load whole vectors from there.
ALIGNED = 64
#: Blocks of fewer runs are not made smaller: a step of theirs would not become shorter.
SMALLEST_TO_SHRINK = 16


class DeviceBlock(Block):
    """Step, evaluation, best epochs and stopping of all runs, on the device from beginning to end.

    The host replays the captured epoch and looks at the device every few epochs. A run that has stopped is masked at
    once, on the device, and taken out when half of the runs have stopped. A model whose epoch cannot be captured,
    because it asks the device something on its way, is trained all the same: every epoch is launched anew.
    """

    optimizer: DeviceOptimizer

    def _prepare(self, runs: list[Run]) -> None:
        training = [run.training for run in runs]
        self.optimizer = DeviceOptimizer(self.model.parameter_groups(), training, self.device)
        # A run that moves to a smaller block may not improve there: its best weights come along.
        for kept, best in zip(self.optimizer.best_in_order(self.model), self.best, strict=True):
            kept.copy_(best[self.members])
        self.ledger = Ledger(self)
        self.model.draws = DeviceDraws(torch.tensor([run.seed for run in runs]).to(self.device), self.ledger.epoch)
        losses, count = training_nodes(runs), len(runs)
        # Cross-entropy is differentiated by one kernel, any other loss by torch.
        quick = [own for loss in [*losses] if type(loss).of is CrossEntropy.of for own in losses.pop(loss)]
        self.cross_entropy = labels_by_node(quick, self.x.shape[0], count, self.device) if quick else None
        self.other_losses = TrainingLoss(losses, count, self.device) if losses else None
        self.val_scores = DeviceScores(runs, self.x.shape[0], self.device)
        self.launch_epoch: Callable[[], None] | None = None

    def _epoch(self) -> None:
        """Everything that happens in an epoch, as work for the device."""
        self.model.train()
        logits = self.model(self.x, self.operator)
        # What to differentiate, each with the gradient that begins there: the logits, and sums of losses.
        terms: list[tuple[Tensor, Tensor | None]] = []
        if self.cross_entropy is not None:
            terms.append((logits, kernels.loss_gradient(logits.detach(), *self.cross_entropy)))
        if self.other_losses is not None:
            terms.append((self.other_losses(logits), None))
        if (penalty := self.model.penalty()) is not None:
            terms.append((penalty, None))
        sources, seeds = zip(*terms, strict=True)
        parameters = self.optimizer.parameters
        self.optimizer.step(torch.autograd.grad(sources, parameters, seeds, materialize_grads=True), self.ledger)
        self.model.eval()
        with torch.no_grad():
            kernels.record(self.ledger, *self.val_scores.of(self.model(self.x, self.operator)))
        self.ledger.epoch += 1

    def _launcher(self) -> Callable[[], None]:
        """What launches an epoch; the trial epochs before it, which compile kernels and fill caches, are undone."""
        mutable = [*self.optimizer.flat.values(), *self.ledger.tensors()]
        kept = [tensor.clone() for tensor in mutable]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(TRIALS):
                self._epoch()
        torch.cuda.current_stream().wait_stream(stream)
        launch = self._captured() or self._epoch
        for tensor, value in zip(mutable, kept, strict=True):
            tensor.copy_(value)
        return launch

    def _captured(self) -> Callable[[], None] | None:
        """The epoch as one recorded graph, or nothing where it cannot be recorded."""
        graph = torch.cuda.CUDAGraph()
        try:
            # A capture that fails does not go back to the stream it came from: this one around it does.
            with torch.cuda.stream(torch.cuda.current_stream()), torch.cuda.graph(graph):
                self._epoch()
        except RuntimeError as error:
            why = str(error).partition("\n")[0]
            warnings.warn(
                f"An epoch of {type(self.model).__name__} cannot be recorded and replayed on the GPU ({why}); its "
                "kernels are launched one by one, which gives the same results more slowly.",
                PcnetWarning,
                stacklevel=2,
            )
            return None
        return graph.replay

    def advance(self) -> None:
        """Some epochs of every active run, then one look."""
        longest = max(self.runs[run].training.epochs for run in self.active)
        count = min(CHUNK, longest - self.next_epoch)
        if self.launch_epoch is None:
            self.launch_epoch = self._launcher()
        for _ in range(count):
            self.launch_epoch()
        self.optimizer.keep_best(self.ledger.improved)
        alive = self.ledger.read(self, count)
        where = torch.tensor(self.members, device=self.device)
        for best, found in zip(self.best, self.optimizer.best_in_order(self.model), strict=True):
            best.index_copy_(0, where, found)
        self.next_epoch += count
        self.optimizer.steps.fill_(self.next_epoch)
        self.active = [run for run, lives in zip(self.members, alive, strict=True) if lives]
        if len(self.active) <= len(self.members) // 2 and len(self.members) > SMALLEST_TO_SHRINK:
            self._shrink()


class Ledger:
    """The `History` of a block's members on the device, and who is alive."""

    def __init__(self, block: Block) -> None:
        device, history, members = block.device, block.history, block.members
        epochs, count = history.loss.shape[1], len(members)

        def vector(values: Any, dtype: torch.dtype = torch.int64) -> Tensor:
            return torch.tensor(values, dtype=dtype, device=device)

        rules = history.window, history.patience, history.last, history.by_loss
        self.window, self.patience, self.last, self.by_loss = (vector(each[members]) for each in rules)
        self.epoch = vector(block.next_epoch)
        self.alive, self.improved = vector([1] * count, torch.int32), vector([0] * count, torch.int32)
        # Epochs outermost: an epoch's scores of all runs lie side by side. Trial epochs may reach past the last one.
        loss, score, prefix = (torch.zeros(epochs + TRIALS + 1, count, dtype=torch.float64) for _ in range(3))
        loss[:epochs], score[:epochs] = (
            torch.from_numpy(np.nan_to_num(each[members].T)) for each in (history.loss, history.score)
        )
        prefix[1:] = loss[:-1].cumsum(0)
        self.loss, self.score, self.prefix = (each.to(device) for each in (loss, score, prefix))
        self.best_epoch, self.epochs_done = vector(history.best_epoch[members]), vector(history.epochs[members])
        self.best_score = torch.from_numpy(np.nan_to_num(history.best(members))).to(device)

    def tensors(self) -> list[Tensor]:
        """What an epoch changes."""
        bookkeeping = [self.epoch, self.alive, self.improved, self.best_epoch, self.best_score, self.epochs_done]
        return [*bookkeeping, self.loss, self.score, self.prefix]

    def read(self, block: Block, count: int) -> list[bool]:
        """Bring the last `count` epochs into the block's history; returns who is alive."""
        history, members = block.history, block.members
        epochs = np.arange(block.next_epoch, block.next_epoch + count)
        done = self.epochs_done.cpu().numpy()
        # Of a run that stopped inside the chunk, only the epochs up to its end count.
        real = epochs < done[:, None]
        for kept, mine in ((history.loss, self.loss), (history.score, self.score)):
            scores = mine[epochs[0] : epochs[-1] + 1].T.cpu().numpy()
            kept[np.ix_(np.array(members), epochs)] = np.where(real, scores, np.nan)
        history.epochs[members] = done
        history.best_epoch[members] = self.best_epoch.cpu().numpy()
        return [bool(lives) for lives in self.alive.tolist()]


class DeviceOptimizer(OptimizerState):
    """`RunOptimizer` in one kernel; it also keeps the weights that the last evaluation found best.

    Parameters lie end to end in one piece of memory, and so do their means, squares and best values.
    """

    def __init__(self, groups: Groups, settings: Sequence[TrainingSettings], device: torch.device) -> None:
        super().__init__(groups, settings)
        self.best = [parameter.detach().clone() for parameter in self.parameters]
        sizes = [parameter.numel() for parameter in self.parameters]
        starts = np.cumsum([0, *(-(-size // ALIGNED) * ALIGNED for size in sizes)])
        self.flat: dict[str, Tensor] = {}
        for name in ("parameters", "means", "squares", "best"):
            tensors = getattr(self, name)
            self.flat[name] = torch.zeros(int(starts[-1]), device=device)
            for place, (tensor, start) in enumerate(zip(tensors, starts, strict=False)):
                home = self.flat[name][start : start + tensor.numel()].view_as(tensor)
                home.copy_(tensor.detach())
                if name == "parameters":
                    tensor.data = home
                else:
                    tensors[place] = home
        per_run = [size // len(settings) for size in sizes]
        self.layout = torch.tensor(np.stack([starts[:-1], np.cumsum([0, *sizes[:-1]]), per_run], axis=1)).to(device)
        piece = kernels.PIECE
        pieces = [
            (begin, min(begin + piece, size), place)
            for place, size in enumerate(sizes)
            for begin in range(0, size, piece)
        ]
        self.pieces = torch.tensor(pieces).to(device)
        self.lr, self.wd = (rates.contiguous().to(device) for rates in torch.tensor(self.rates).unbind(-1))
        #: Each run's place in the list of optimisers: Adam, AdamW, gradient descent.
        kinds = [get_args(Optimizer).index(own.optimizer) for own in settings]
        self.kind = torch.tensor(kinds, dtype=torch.int32).to(device)

    def step(self, grads: Sequence[Tensor], ledger: Ledger) -> None:
        """Apply the gradients."""
        kernels.step(self, torch.cat([grad.reshape(-1) for grad in grads]), ledger.improved, ledger.epoch)

    @torch.no_grad()
    def keep_best(self, improved: Tensor) -> None:
        """Keep what the next step would keep first."""
        for parameter, best in zip(self.parameters, self.best, strict=True):
            flag = improved.view(-1, *[1] * (parameter.ndim - 1)) > 0
            best.copy_(torch.where(flag, parameter, best))

    def best_in_order(self, model: torch.nn.Module) -> list[Tensor]:
        """The best weights in the order of the model's own parameters; what is not trained is what it is."""
        place = {id(parameter): best for parameter, best in zip(self.parameters, self.best, strict=True)}
        return [place.get(id(parameter), parameter.detach()) for parameter in model.parameters()]


def labels_by_node(scored: Sequence[Scored], n: int, runs: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Some nodes of runs with their labels, as a label and a weight (share/count, or 0) for every node and run."""
    weight, label = torch.zeros(n, runs), torch.zeros(n, runs, dtype=torch.int32)
    for place, nodes, labels, shares in scored:
        weight[nodes, place] = torch.from_numpy(shares / len(nodes)).float()
        label[nodes, place] = labels.int()
    return label.to(device), weight.to(device)


class DeviceScores:
    """`ValidationScores` on the device: runs that share a metric are scored together, their nodes padded to one length.

    Nothing here waits for the device, so an epoch that scores by ROC-AUC is captured like any other.
    """

    def __init__(self, runs: Sequence[Run], n: int, device: torch.device) -> None:
        self._labels = labels_by_node(validation_nodes(runs), n, len(runs), device)
        places_of: dict[Metric, list[int]] = defaultdict(list)
        for place, metric in other_metrics(runs).items():
            places_of[metric].append(place)
        #: Each metric with the places of its runs, and their nodes, labels, and which of those are no padding.
        self._groups: list[tuple[Metric, list[Tensor]]] = []
        for metric, places in places_of.items():
            nodes = [runs[place].targets.val for place in places]
            labels = [runs[place].targets.val_labels for place in places]
            counted = [torch.ones_like(own, dtype=torch.bool) for own in nodes]
            padded = [pad_sequence(each, batch_first=True).to(device) for each in (nodes, labels, counted)]
            self._groups.append((metric, [torch.tensor(places).to(device), *padded]))

    def of(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """Each run's mean loss and score, as parts to be added up."""
        loss, score = kernels.scores(logits, *self._labels)
        for metric, (places, nodes, labels, counted) in self._groups:
            # The whole score is the first part; the other parts are nothing.
            score.index_fill_(1, places, 0.0)
            found = metric.sign * metric.of(logits[places.unsqueeze(1), nodes], labels, counted)
            score[0].index_copy_(0, places, found.to(score.dtype))
        return loss, score
