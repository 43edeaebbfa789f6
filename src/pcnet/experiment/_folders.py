"""The folders that a training and a comparison of methods leave behind, and what is kept of each method compared."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from pcnet._files import check_target, read_json, write_json
from pcnet._machine import provenance
from pcnet.compare import Comparison, Metric, Summary
from pcnet.data import Split
from pcnet.errors import PcnetError
from pcnet.experiment._ensemble import Ensemble
from pcnet.experiment._experiment import Experiment
from pcnet.experiment._runner import Result, ratios_of, run_experiment
from pcnet.graph import Graph, graph_hash, tensor_hash
from pcnet.training import bytes_of_epoch, clear_checkpoint

#: What a user calls it, where the file has a shorter name.
WORDS = {
    "data": "graph",
    "labels": "set of labels",
    "seeds": "number of --runs or --seed",
    "trials": "number of --trials",
}


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
        try:
            folder = RunFolder(path, missing(path / "checkpoint"))
            if resume and not folder.checkpoint.is_dir():
                raise PcnetError(f"There is no interrupted training in {path}; leave out --resume to start one.")
            if not resume and path.exists() and any(path.iterdir()):
                raise PcnetError(
                    f"The folder {path} is not empty; name another one, or resume its training with --resume."
                )
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
        metric, members = result.experiment.metric, result.members
        Ensemble.of(graph, result.predictor, metric, result.weights, members).save(self.path)

    def finish(self, result: Result) -> None:
        """All scores; then what could be resumed is dropped."""
        seeds = [run.seed for run, _ in result.predictor]
        metrics = {part: {name: s.as_dict() for name, s in getattr(result, part).items()} for part in ("test", "val")}
        details = {
            **metrics,
            "epochs": [outcome.epochs for outcome in result.outcomes],
            "best_epochs": [outcome.best_epoch for outcome in result.outcomes],
            "predictor": {
                "models": len(seeds),
                "seeds": seeds,
                "knows_every_label": bool(result.members),
                "refit": bool(result.refitted),
            },
            "seconds": result.seconds,
        }
        write_json(self.path / "metrics.json", details)
        clear_checkpoint(self.checkpoint)


@dataclass(frozen=True)
class Trained:
    """What is kept of a method's runs, all of it by the metric that methods are compared by."""

    method: str
    experiment: Experiment
    test: Summary
    val: Summary
    epochs: tuple[int, ...]
    seconds: float
    #: The day and the machine.
    made: Mapping[str, str]

    @staticmethod
    def of(method: str, result: Result, device: str) -> Trained:
        """A result that was computed just now."""
        metric, epochs = result.experiment.metric, tuple(outcome.epochs for outcome in result.outcomes)
        made = {key: value for key, value in provenance(device).items() if key in ("date", "machine")}
        scores = result.test[metric], result.val[metric]
        return Trained(method, result.experiment, *scores, epochs, result.seconds, made)

    @property
    def score(self) -> float:
        """What is shown of the method, and what orders methods."""
        return self.test.mean

    @property
    def interval(self) -> tuple[float, float] | None:
        """None where a single run says nothing about it."""
        return self.test.ci95 if self.test.nodes or len(self.test.per_run) > 1 else None

    @property
    def title(self) -> str:
        """The method, as its authors write it."""
        return self.experiment.title

    @property
    def metric(self) -> Metric:
        """What it is scored by."""
        return self.experiment.scored_by

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for a file."""
        return {
            "method": self.method,
            "title": self.title,
            "settings": {**self.experiment.settings, "source": self.experiment.source},
            "score": self.score,
            "interval": self.interval and list(self.interval),
            "basis": {"nodes": self.test.nodes, "unlabelled": self.test.unlabelled},
            # What else an estimate knows is for `pcnet train` to show.
            "test": Summary.as_dict(self.test),
            "val": self.val.as_dict(),
            "epochs": list(self.epochs),
            "seconds": self.seconds,
            **self.made,
        }

    @staticmethod
    def from_dict(experiment: Experiment, kept: Mapping[str, Any]) -> Trained:
        """What `as_dict` made of the runs of this experiment."""
        made = {key: kept[key] for key in ("date", "machine")}
        test, val = replace(Summary.from_dict(kept["test"]), **kept["basis"]), Summary.from_dict(kept["val"])
        return Trained(kept["method"], experiment, test, val, tuple(kept["epochs"]), kept["seconds"], made)


@dataclass(frozen=True, eq=False)
class Compared:
    """Methods trained on the same splits of a graph; those that could not be, by title with the reason."""

    graph: Graph
    splits: Sequence[Split]
    trained: Sequence[Trained]
    left_out: Mapping[str, str]

    @property
    def metric(self) -> Metric:
        """What all are scored by."""
        return self.trained[0].metric

    @cached_property
    def numbers(self) -> Comparison:
        """Who is best, ranks and intervals."""
        return Comparison({each.method: each.test for each in self.trained}, self.metric, ratios_of(self.splits))

    @cached_property
    def by_method(self) -> dict[str, Trained]:
        """Best first."""
        known = {each.method: each for each in self.trained}
        return {method: known[method] for method in self.numbers.order}


@dataclass(frozen=True)
class CompareFolder:
    """`methods/NAME.json` for every method that is trained, with all that two comparisons must have in common.

    While a method is being trained there also is `checkpoint/`, from which its training goes on. Where methods are
    tuned, `search/NAME` keeps the search of each.
    """

    path: Path
    experiments: Mapping[str, Experiment]
    #: What the methods are compared on; the same for all.
    ground: Mapping[str, Any]
    #: Folders that did not exist before, the innermost first.
    made: tuple[Path, ...] = ()

    @staticmethod
    def open(
        path: Path | None,
        graph: Graph,
        splits: Sequence[Split],
        experiments: Mapping[str, Experiment],
        resume: bool,
        trials: int | None = None,
    ) -> CompareFolder:
        """The folder that is named; else the first under runs/ that is free or holds this very comparison.

        `trials` are those of each method's search, where methods are tuned.
        """
        first = next(iter(experiments.values()))
        ground = {
            "graph": graph.name,
            "data": graph_hash(graph),
            "labels": tensor_hash(splits[0].labels),
            "protocol": first.protocol,
            "seeds": list(first.seeds),
            "splits": [split.hash for split in splits],
            "metric": first.metric,
            **({} if trials is None else {"trials": trials}),
        }
        name = f"compare-{graph.name}-{first.protocol}{'' if trials is None else '-tuned'}"
        if path is not None and path.is_file():
            raise PcnetError(f"Cannot write into {path}: it is a file; name a folder with --out.")
        places = numbered(Path("runs") / name) if path is None else [path]
        for place in places:
            folder = CompareFolder(place, experiments, ground, missing(place))
            other = folder._other()
            if path is not None and other:
                raise PcnetError(
                    f"The comparison in {path} has another {', '.join(other)}; go on with the same, or name another "
                    "folder with --out."
                )
            if path is not None or not place.exists() or (folder.is_begun and not other):
                break
        if resume and not folder.is_begun:
            where = f"in {folder.path}" if path is not None else "of these methods under runs/"
            raise PcnetError(f"There is no interrupted comparison {where}; leave out --resume to start one.")
        check_target(folder.path / "compare.json")
        return folder

    def expected_work(self, graph: Graph) -> dict[str, float]:
        """What the time of each method grows with: the bytes that its epochs keep, if all are trained."""
        return {
            name: bytes_of_epoch(graph, own.model, graph.num_classes) * own.training.epochs
            for name, own in self.experiments.items()
        }

    @property
    def is_begun(self) -> bool:
        """Whether a method was trained here, or half of one."""
        return any(place.is_dir() for place in (self._methods, self._checkpoints, self.searches))

    @property
    def is_halfway(self) -> bool:
        """Whether there is something to go on from."""
        kept = (
            (self._methods, "*.json"),
            (self._checkpoints, "*/block-*.safetensors"),
            (self.searches, "*/trials.sqlite"),
        )
        return any(any(place.glob(files)) for place, files in kept)

    def kept(self) -> dict[str, Trained]:
        """The methods that were trained before."""
        found = {}
        for method, experiment in self.experiments.items():
            path = self._methods / f"{method}.json"
            if path.exists():
                with _opened(path) as kept:
                    found[method] = Trained.from_dict(experiment, kept["result"])
        return found

    def train(
        self,
        graph: Graph,
        method: str,
        *,
        device: str = "cpu",
        search: Callable[..., Trained] | None = None,
        **how: Any,
    ) -> Trained | str:
        """A method's scores, which are kept at once; or why there are none.

        `how` is that of `run_experiment`, or of a `search`, which is given the graph, the method, where it starts, and
        a folder of its own.
        """
        experiment = self.experiments[method]
        try:
            if search is not None:
                trained = search(graph, method, experiment, self.searches / method, device=device, **how)
            else:
                place: dict[str, Any] = {"checkpoint": self._checkpoint(method, device), "resume": True}
                trained = Trained.of(method, run_experiment(graph, experiment, device=device, **place, **how), device)
        except PcnetError as error:
            return str(error)
        except (MemoryError, torch.cuda.OutOfMemoryError):
            return "there is not enough memory for it"
        write_json(self._methods / f"{method}.json", {"ground": self.ground, "result": trained.as_dict()})
        return trained

    def _checkpoint(self, method: str, device: str) -> Path:
        """Where a training goes on: never one with other settings, and never on another kind of device."""
        experiment = self.experiments[method]
        settings = json.dumps([self.ground, experiment.settings, torch.device(device).type], sort_keys=True)
        return self._checkpoints / f"{experiment.model.method}-{hashlib.sha256(settings.encode()).hexdigest()[:8]}"

    def clear(self) -> None:
        """Drop half trainings, once nothing is left to train; and the folders, if there is nothing in them."""
        shutil.rmtree(self._checkpoints, ignore_errors=True)
        remove_empty(self.made)

    @property
    def searches(self) -> Path:
        """Where the search of each method is kept, by its name."""
        return self.path / "search"

    @property
    def _methods(self) -> Path:
        return self.path / "methods"

    @property
    def _checkpoints(self) -> Path:
        return self.path / "checkpoint"

    def _other(self) -> list[str]:
        """In what the comparison here is another one."""
        other: dict[str, None] = {}
        for path in sorted(self._methods.glob("*.json")):
            with _opened(path) as kept:
                ground, method, settings = kept["ground"], kept["result"]["method"], kept["result"]["settings"]
                other |= {WORDS.get(name, name): None for name in self.ground if ground.get(name) != self.ground[name]}
                if method in self.experiments and not other:
                    wanted = self.experiments[method]
                    asked = json.loads(json.dumps({**wanted.settings, "source": wanted.source}))
                    changed = [name for name in asked if settings.get(name) != asked[name]]
                    other |= {f"{name} of {wanted.title}": None for name in changed}
        return list(other)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """What a method's file says; something that is missing in it is damage."""
    try:
        yield read_json(path)
    except (KeyError, TypeError) as error:
        raise PcnetError(f"{path} is damaged; delete it, and its method is trained again.") from error


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
