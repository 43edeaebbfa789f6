"""The folder that a training leaves behind."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pcnet._files import write_json
from pcnet.errors import PcnetError
from pcnet.experiment._ensemble import Ensemble
from pcnet.experiment._experiment import Experiment
from pcnet.experiment._runner import Result
from pcnet.graph import Graph
from pcnet.training import clear_checkpoint


@dataclass(frozen=True)
class RunFolder:
    """settings.json, splits.json, models/ and classifier.json, what others draw, and last, metrics.json.

    While a training goes on there is only `checkpoint/`, from which it can be resumed.
    """

    path: Path
    #: Folders that did not exist before, the innermost first.
    made: tuple[Path, ...] = ()

    @staticmethod
    def open(path: Path | None, experiment: Experiment, resume: bool) -> RunFolder:
        """Make the folder, or find the one to resume in."""
        if path is None:
            if resume:
                raise PcnetError("--resume needs --out, the folder of the interrupted training.")
            places = numbered(Path("runs") / f"{experiment.dataset}-{experiment.preset}".replace(", ", "-"))
            path = next(place for place in places if not place.exists())
        folder = RunFolder(path)
        if resume and not folder.checkpoint.is_dir():
            raise PcnetError(f"There is no interrupted training in {path}; leave out --resume to start one.")
        try:
            if not resume and path.exists() and any(path.iterdir()):
                raise PcnetError(
                    f"The folder {path} is not empty; name another one, or resume its training with --resume."
                )
            folder = RunFolder(path, missing(folder.checkpoint))
            folder.checkpoint.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PcnetError(
                f"Cannot write to the folder {path}: {error.strerror}. Choose another with --out."
            ) from error
        return folder

    @property
    def checkpoint(self) -> Path:
        """Where half a training is kept."""
        return self.path / "checkpoint"

    def discard(self) -> None:
        """After an error, nothing remains but what was there before and what can be resumed."""
        if self.made and not any(self.checkpoint.glob("block-*.safetensors")):
            clear_checkpoint(self.checkpoint)
        remove_empty(self.made)

    def write(self, graph: Graph, result: Result, summary: Mapping[str, Any], source: str, read: Sequence[str]) -> None:
        """Settings, splits and models. `source` and `read` are what the graph was read with."""
        for stale in self.path.rglob(".*.tmp"):
            # Of a process that was killed while it wrote here.
            stale.unlink()
        settings = {key: summary[key] for key in ("dataset", "preset", "settings", "versions")}
        write_json(self.path / "settings.json", {"graph": source, "read": list(read), **settings})
        splits = [
            {"protocol": split.protocol, "seed": split.seed, "hash": split.hash, "sizes": list(split.sizes)}
            for split in result.splits
        ]
        write_json(self.path / "splits.json", splits)
        runs, outcomes = zip(*result.predictor, strict=True)
        Ensemble.of(graph, runs, outcomes, result.experiment.metric).save(self.path)

    def finish(self, result: Result) -> None:
        """All scores; then what could be resumed is dropped."""
        seeds = [run.seed for run, _ in result.predictor]
        metrics = {part: {name: s.as_dict() for name, s in getattr(result, part).items()} for part in ("test", "val")}
        details = {
            **metrics,
            "epochs": [outcome.epochs for outcome in result.outcomes],
            "best_epochs": [outcome.best_epoch for outcome in result.outcomes],
            "predictor": {"models": len(seeds), "seeds": seeds, "knows_every_label": bool(result.members)},
            "seconds": result.seconds,
        }
        write_json(self.path / "metrics.json", details)
        clear_checkpoint(self.checkpoint)


def numbered(path: Path) -> Iterator[Path]:
    """The path, and then path-2, path-3, …"""
    yield path
    for number in itertools.count(2):
        yield path.with_name(f"{path.name}-{number}")


def missing(folder: Path) -> tuple[Path, ...]:
    """Which of a folder and those above it do not exist, the innermost first."""
    return tuple(place for place in (folder, *folder.parents) if not place.exists())


def remove_empty(folders: Sequence[Path]) -> None:
    """Remove those that exist and hold nothing, the innermost first."""
    for folder in folders:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
