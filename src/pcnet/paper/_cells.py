"""The cells of the paper's tables: what each is trained with, how its authors tested it, and many of them computed.

What is computed stays computed: a cell is a file.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, as_completed
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import torch

from pcnet._code import code_hash
from pcnet._files import read_json, write_json
from pcnet._processes import worker_processes
from pcnet._progress import OneStage, Progress, Silent
from pcnet.data import dataset_named, load_dataset
from pcnet.errors import PcnetError, PcnetWarning, close_match
from pcnet.experiment import EpochRule, Experiment, presets, resolve, run_experiment
from pcnet.paper._published import published

Record = dict[str, Any]
#: Cells of one dataset are computed one after the other.
_dataset = lru_cache(maxsize=2)(load_dataset)

#: Figures that nobody can produce again, and why.
_BROKEN = "the published layer has −Mⁿ for (−M)ⁿ and its driver cannot call it; ours is the formula"
NOT_REPRODUCIBLE = {("table4", method): _BROKEN for method in ("pcnet-half", "pcnet-half-lin")}

_STACKED = {"layers": 2, "norm": "none", "residual": False, "jumping": False}
#: Settings that cells of earlier versions do not have, and what they meant: of all methods, and of single ones.
LATER_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "": {"metric": "accuracy", "loss": "cross_entropy", "loss_parameter": None},
    "gcn": _STACKED,
    "gat": _STACKED,
    "pcnet": {"layers": 1, "norm": "layer", "basis": "plain"},
    **{name: {"basis": "plain"} for name in ("gprgnn", "evennet", "bernnet", "chebnetii")},
}


@dataclass(frozen=True)
class OriginalEvaluation:
    """How a method's authors came to their figures: the epoch they test, and how their training differs from ours."""

    epoch: EpochRule
    #: Marks every number that was made in this way.
    label: str
    training: Mapping[str, Any] = field(default_factory=dict)

    def applied(self, experiment: Experiment) -> Experiment:
        """The experiment with the training that goes with it."""
        return replace(experiment, training=replace(experiment.training, **self.training))


_LAST = "as published: last epoch, not the one that validation chooses"

#: By the rows of tables. WRGAT's authors look at validation every tenth epoch and stop, after 210 of 300 at the
#: earliest, when it has rarely improved: here all epochs are trained.
ORIGINAL: dict[str, OriginalEvaluation] = {
    "mixhop": OriginalEvaluation(
        "best test of equals", "as published: chosen by test among epochs equal in validation"
    ),
    "linkx": OriginalEvaluation("first of equals", "as published: the first of epochs equal in validation"),
    "wrgat": OriginalEvaluation("last", _LAST, {"stopping": "none"}),
    "glognn": OriginalEvaluation("last", _LAST),
    "glognn++": OriginalEvaluation("last", _LAST),
    "pdegcn": OriginalEvaluation("best test", "as published: the epoch that is best on test"),
}


@dataclass(frozen=True)
class Cell:
    """One figure of the paper."""

    table: str
    method: str
    dataset: str
    #: Whether it is made as its authors made it, not by what validation chooses.
    as_published: bool = False
    #: Why there is nothing that computes a cell without an experiment.
    missing: ClassVar[str] = "no settings yet"

    def __str__(self) -> str:
        return f"{self.table} {self.method} {self.dataset}{' as published' if self.as_published else ''}"

    @property
    def original(self) -> OriginalEvaluation | None:
        """The authors' own way, where that is wanted."""
        return ORIGINAL[self.method] if self.as_published else None

    @property
    def experiment(self) -> Experiment | None:
        """What computes it, or None where there are no settings for it yet."""
        # An ablation of the text is a row of its own with the splits of a table.
        table = self.table if self.table in presets() else published(self.table).protocol_of
        if self.dataset not in presets()[table].datasets_of(self.method):
            return None
        experiment = resolve(self.dataset, self.method, preset=table)
        return experiment if self.original is None else self.original.applied(experiment)


def cells_of(
    tables: Sequence[str], methods: Sequence[str], datasets: Sequence[str], *, as_published: bool = False
) -> list[Cell]:
    """The cells of some tables, of all methods and datasets or of those that are named.

    With `as_published`, those of methods whose authors did not test what validation chose are made in their way.
    """
    cells = [
        Cell(each.name, method, dataset, as_published and method in ORIGINAL)
        for each in map(published, tables)
        for method in each.rows
        for dataset in each.datasets
    ]
    chosen = {"method": [each.lower() for each in methods], "dataset": [dataset_named(each).name for each in datasets]}
    for what, names in chosen.items():
        known = dict.fromkeys(getattr(cell, what) for cell in cells)
        for name in names:
            if name not in known:
                raise PcnetError(
                    f"These tables have no {what} '{name}'; they have {', '.join(known)}.{close_match(name, known)}"
                )
    found = [cell for cell in cells if all(getattr(cell, what) in names for what, names in chosen.items() if names)]
    if not found:
        raise PcnetError("No table has these methods on these datasets; leave out one or the other.")
    return found


def fingerprint(experiment: Experiment) -> str:
    """A hash of everything that the outcome depends on besides the data: settings, splits and seeds."""
    content = {**experiment.settings, "dataset": experiment.dataset, "seeds": list(experiment.seeds)}
    # What became a setting later is left out where it is as it was before: cells that were computed then stay known.
    later = {**LATER_SETTINGS[""], **LATER_SETTINGS.get(experiment.model.method, {})}
    for name, before in later.items():
        if content[name] == before:
            del content[name]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class TableSweep:
    """How cells are computed, and the folder that keeps them: one file each, which is complete or absent.

    A cell that has no file there may stand in the report of its table, if that lies in the folder, as in `results/`.
    """

    folder: Path
    data: Path | None = None
    runs: int = 10
    device: str = "cpu"
    threads: int | None = None
    #: Where it was computed, for every record.
    provenance: Mapping[str, Any] | None = None

    def path(self, cell: Cell) -> Path:
        name = f"{cell.method}-{cell.dataset}{'-as-published' if cell.as_published else ''}"
        return self.folder / cell.table / f"{name}.json"

    def experiment(self, cell: Cell) -> Experiment | None:
        """The cell's experiment with at most as many runs as it has seeds."""
        experiment = cell.experiment
        return None if experiment is None else experiment.with_runs(min(self.runs, len(experiment.seeds)), None)

    def known(self, cell: Cell, report: Callable[[str], object]) -> Record | None:
        """What the folder has of a cell; a damaged file, or one of other settings, is as good as none."""
        path, experiment = self.path(cell), self.experiment(cell)
        if experiment is None:
            return None
        try:
            record = read_json(path) if path.exists() else self._reported(cell)
            if record is None:
                return None
            if record["fingerprint"] == fingerprint(experiment) and record["test"]["per_run"]:
                # What is not computed may have been put right since.
                return {**record, **_known_anyway(experiment)}
        except (PcnetError, KeyError, TypeError):
            report(f"{path} is damaged and its cell is computed again.")
        return None

    def _reported(self, cell: Cell) -> Record | None:
        path = self.folder / f"{cell.table}{'-as-published' * cell.as_published}.json"
        if not path.exists():
            return None
        return _reported_cells(path, path.stat().st_mtime_ns).get((cell.method, cell.dataset, cell.as_published))

    def compute(self, cell: Cell, progress: Progress | None = None) -> Record:
        """Train and score a cell, and keep it."""
        experiment = self.experiment(cell)
        if experiment is None:
            raise PcnetError(f"{cell}: {cell.missing}.")
        with warnings.catch_warnings():
            # What is odd about data and settings is noted in the record.
            warnings.simplefilter("ignore", PcnetWarning)
            graph = _dataset(cell.dataset, self.data)
            result = run_experiment(
                graph,
                experiment,
                threads=self.threads,
                device=self.device,
                progress=OneStage(progress or Silent(), "training"),
                tested=None if cell.original is None else cell.original.epoch,
            )
        found = result.as_dict()
        record = {
            "table": cell.table,
            "method": cell.method,
            "dataset": cell.dataset,
            "as_published": cell.original and cell.original.label,
            "fingerprint": fingerprint(experiment),
            "code": code_hash(),
            **_known_anyway(experiment),
            **{name: found[name] for name in ("settings", "test", "val", "epochs", "seconds")},
            "split_hashes": [split.hash for split in result.splits],
            "notes": [*graph.notes, *experiment.model.remarks(), *result.notes],
            **(self.provenance or {}),
        }
        write_json(self.path(cell), record)
        return record

    def attempt(self, cell: Cell, progress: Progress | None = None) -> Record | str:
        """The record of a cell, or why there is none: one that fails does not cost the others."""
        try:
            return self.compute(cell, progress)
        except PcnetError as error:
            return f"failed: {error}"
        except (MemoryError, torch.cuda.OutOfMemoryError):
            return "failed: out of memory"

    def each(
        self, cells: Sequence[Cell], processes: int, progress: Progress | None = None
    ) -> Iterator[tuple[Cell, Record | str]]:
        """The attempts at cells as they end; in several processes, each on a core of its own."""
        progress = progress or Silent()
        progress.stage(f"{len(cells)} cells", self.epochs(cells))
        # Cells of one dataset in a row share its operators. The largest comes first: none is left over at the end, and
        # on a GPU small ones do not wait behind its kernels all the time.
        ordered = sorted(cells, key=lambda cell: (-dataset_named(cell.dataset).facts.nodes, cell.dataset))
        if processes <= 1 or len(cells) <= 1:
            for cell in ordered:
                yield cell, self.attempt(cell, progress)
            return
        with worker_processes(min(processes, len(cells))) as pool:
            futures = {pool.submit(replace(self, threads=1).attempt, cell): cell for cell in ordered}
            for future in as_completed(futures):
                progress.advance(self.epochs([futures[future]]))
                yield futures[future], self._ended(future)

    def _ended(self, future: Future[Record | str]) -> Record | str:
        """What a worker found."""
        try:
            return future.result()
        except BrokenExecutor as error:
            raise PcnetError(
                "A worker process was ended by the system, probably for want of memory. Every finished cell is in "
                f"{self.folder}: the same command with fewer --processes goes on."
            ) from error

    def epochs(self, cells: Iterable[Cell]) -> int:
        """Epochs of all runs of some cells, at most."""
        experiments = [experiment for cell in cells if (experiment := self.experiment(cell)) is not None]
        return sum(experiment.training.epochs * len(experiment.seeds) for experiment in experiments)


@lru_cache(maxsize=8)
def _reported_cells(path: Path, changed: int) -> dict[tuple[str, str, bool], Record]:
    """The cells of a table's report by method, dataset and whether they are as published; `changed` is when it was."""
    return {(each["method"], each["dataset"], bool(each["as_published"])): each for each in read_json(path)["cells"]}


def is_stale(record: Record) -> bool:
    """Whether a cell was computed by code that does something else than this, or by nobody knows which."""
    return record.get("code") != code_hash()


def _known_anyway(experiment: Experiment) -> Record:
    """What is known of a cell without computing it: where its settings come from, and what its authors' code gave."""
    rerun = None if experiment.rerun is None else list(experiment.rerun)
    return {"source": experiment.source, "by_test": experiment.by_test, "rerun": rerun}
