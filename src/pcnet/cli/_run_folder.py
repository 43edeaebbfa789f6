"""The folder that a training leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pcnet._files import write_json
from pcnet.cli._next_steps import next_steps
from pcnet.errors import PcnetError
from pcnet.experiment import Experiment, Result
from pcnet.graph import Graph
from pcnet.show import write_report
from pcnet.training import clear_checkpoint


@dataclass(frozen=True)
class RunFolder:
    """settings.json, splits.json, models/ and classifier.json, response.png, report.html with mistakes.csv, and
    last, metrics.json.

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
            path = _unused(Path("runs") / f"{experiment.dataset}-{experiment.preset}".replace(", ", "-"))
        folder = RunFolder(path)
        if resume and not folder.checkpoint.is_dir():
            raise PcnetError(f"There is no interrupted training in {path}; leave out --resume to start one.")
        try:
            if not resume and path.exists() and any(path.iterdir()):
                raise PcnetError(
                    f"The folder {path} is not empty; name another one, or resume its training with --resume."
                )
            made = tuple(place for place in (folder.checkpoint, *folder.checkpoint.parents) if not place.exists())
            folder.checkpoint.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PcnetError(
                f"Cannot write to the folder {path}: {error.strerror}. Choose another with --out."
            ) from error
        return RunFolder(path, made)

    @property
    def checkpoint(self) -> Path:
        return self.path / "checkpoint"

    def discard(self) -> None:
        """After an error, leave nothing but what was there before and what can be resumed."""
        if self.made and not any(self.checkpoint.glob("block-*.safetensors")):
            clear_checkpoint(self.checkpoint)
        for folder in self.made:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()

    def write(self, graph: Graph, result: Result, summary: dict[str, Any], source: str, read: Sequence[str]) -> None:
        """Write the results, then drop the checkpoint. `source` and `read` are what the graph was read with."""
        # Imported here: scikit-learn takes a second to load, and other commands need not wait for it.
        from pcnet.estimator import Ensemble

        experiment = result.experiment
        for stale in self.path.rglob(".*.tmp"):
            # Of a process that was killed while it wrote here.
            stale.unlink()
        write_json(
            self.path / "settings.json",
            {
                "graph": source,
                "read": list(read),
                **{key: summary[key] for key in ("dataset", "preset", "settings", "versions")},
            },
        )
        write_json(
            self.path / "splits.json",
            [
                {
                    "protocol": split.protocol,
                    "seed": split.seed,
                    "hash": split.hash,
                    "sizes": list(split.sizes),
                }
                for split in result.splits
            ],
        )
        runs, outcomes = zip(*result.predictor, strict=True)
        Ensemble.of(graph, runs, outcomes, experiment.metric).save(self.path)
        write_report(
            self.path / "report.html",
            graph,
            result,
            steps=next_steps(self.path, graph, result, source, read),
            **{key: summary[key] for key in ("command", "date", "machine", "versions")},
        )
        metrics = {part: {name: s.as_dict() for name, s in getattr(result, part).items()} for part in ("test", "val")}
        details = {
            **metrics,
            "epochs": summary["epochs"],
            "best_epochs": [o.best_epoch for o in result.outcomes],
            "predictor": {
                "models": len(runs),
                "seeds": [run.seed for run in runs],
                "knows_every_label": bool(result.members),
            },
        }
        write_json(self.path / "metrics.json", {**details, "seconds": result.seconds})
        clear_checkpoint(self.checkpoint)


def _unused(path: Path) -> Path:
    number = 1
    candidate = path
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate
