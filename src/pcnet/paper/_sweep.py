"""Many cells, one after the other or in several processes; what is computed stays computed."""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from pcnet._files import read_json, write_json
from pcnet._progress import OneStage, Progress, Silent
from pcnet.data import dataset_named, load_dataset
from pcnet.errors import PcnetError, PcnetWarning
from pcnet.experiment import Experiment, run_experiment
from pcnet.graph import Graph
from pcnet.paper._cells import Cell, fingerprint

Record = dict[str, Any]


@dataclass(frozen=True)
class TableSweep:
    """How cells are computed, and the folder that keeps them: one file each, which is complete or absent."""

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
        if experiment is None or not path.exists():
            return None
        try:
            record = read_json(path)
            if record["fingerprint"] == fingerprint(experiment) and record["test"]["per_run"]:
                # What is not computed may have been put right since.
                return {**record, **_known_anyway(experiment)}
        except (PcnetError, KeyError, TypeError):
            report(f"{path} is damaged and its cell is computed again.")
        return None

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
                progress=None if progress is None else OneStage(progress, "training"),
                tested=None if cell.original is None else cell.original.epoch,
            )
        found = result.as_dict()
        record = {
            "table": cell.table,
            "method": cell.method,
            "dataset": cell.dataset,
            "as_published": cell.original and cell.original.label,
            "fingerprint": fingerprint(experiment),
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
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(processes, len(cells)), mp_context=context) as pool:
            futures = {pool.submit(replace(self, threads=1).attempt, cell): cell for cell in ordered}
            try:
                for future in as_completed(futures):
                    progress.advance(self.epochs([futures[future]]))
                    yield futures[future], future.result()
            except BaseException:
                # What is under way would be waited for, and nobody wants it any more.
                for process in list((pool._processes or {}).values()):
                    process.terminate()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def epochs(self, cells: Iterable[Cell]) -> int:
        """Epochs of all runs of some cells, at most."""
        experiments = [experiment for cell in cells if (experiment := self.experiment(cell)) is not None]
        return sum(experiment.training.epochs * len(experiment.seeds) for experiment in experiments)


@lru_cache(maxsize=2)
def _dataset(name: str, data: Path | None) -> Graph:
    return load_dataset(name, data)


def _known_anyway(experiment: Experiment) -> Record:
    """What is known of a cell without computing it: where its settings come from, and what its authors' code gave."""
    return {"source": experiment.source, "rerun": None if experiment.rerun is None else list(experiment.rerun)}
