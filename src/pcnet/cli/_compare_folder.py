"""The folder of a comparison: each method as soon as it is trained, and half a training that was interrupted."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from pcnet._files import check_target, read_json, write_json
from pcnet.cli._contest import Trained
from pcnet.data import Split
from pcnet.errors import PcnetError
from pcnet.experiment import Experiment
from pcnet.graph import Graph
from pcnet.tune import graph_hash, tensor_hash

#: What a user calls it, where the file has a shorter name.
WORDS = {"data": "graph", "labels": "set of labels", "seeds": "number of --runs or --seed"}


@dataclass(frozen=True)
class CompareFolder:
    """`methods/NAME.json` for every method that is trained, with all that two comparisons must have in common.

    While a method is being trained there also is `checkpoint/`, from which its training goes on.
    """

    path: Path
    #: What the methods are compared on; the same for all.
    ground: Mapping[str, Any]
    #: Folders that did not exist before, the innermost first.
    made: tuple[Path, ...] = ()

    @staticmethod
    def open(
        path: Path | None, graph: Graph, splits: Sequence[Split], experiments: Mapping[str, Experiment], resume: bool
    ) -> CompareFolder:
        """The folder that is named; else the first under runs/ that is free or holds this very comparison."""
        first = next(iter(experiments.values()))
        ground = {
            "graph": graph.name,
            "data": graph_hash(graph),
            "labels": tensor_hash(splits[0].labels),
            "protocol": first.protocol,
            "seeds": list(first.seeds),
            "splits": [split.hash for split in splits],
            "metric": first.metric,
        }
        if path is not None:
            folder = CompareFolder(path, ground)
            folder._check(experiments)
        else:
            places = _numbered(Path("runs") / f"compare-{graph.name}-{first.protocol}")
            folder = next(
                folder
                for folder in (CompareFolder(place, ground) for place in places)
                if not folder.path.exists() or (folder.is_begun and not folder._other(experiments))
            )
        if resume and not folder.is_begun:
            where = f"in {folder.path}" if path is not None else "of these methods under runs/"
            raise PcnetError(f"There is no interrupted comparison {where}; leave out --resume to start one.")
        check_target(folder.path / "compare.json")
        made = tuple(place for place in (folder.path, *folder.path.parents) if not place.exists())
        return CompareFolder(folder.path, ground, made)

    @property
    def is_begun(self) -> bool:
        return self._methods.is_dir() or self._checkpoints.is_dir()

    def kept(self, method: str, experiment: Experiment) -> Trained | None:
        """A method that was trained before."""
        path = self._methods / f"{method}.json"
        if not path.exists():
            return None
        try:
            return Trained.from_dict(experiment, read_json(path)["result"])
        except (KeyError, TypeError) as error:
            raise PcnetError(f"{path} is damaged; delete it, and {experiment.title} is trained again.") from error

    def keep(self, trained: Trained) -> None:
        write_json(self._methods / f"{trained.method}.json", {"ground": self.ground, "result": trained.as_dict()})

    def checkpoint(self, experiment: Experiment, device: str) -> Path:
        """Where a training goes on: never one with other settings, and never on another kind of device."""
        said = json.dumps([self.ground, experiment.settings, torch.device(device).type], sort_keys=True)
        return self._checkpoints / f"{experiment.model.method}-{hashlib.sha256(said.encode()).hexdigest()[:8]}"

    @property
    def is_halfway(self) -> bool:
        """Whether there is something to go on from."""
        return any(self._methods.glob("*.json")) or any(self._checkpoints.glob("*/block-*.safetensors"))

    def clear(self) -> None:
        """Drop half trainings, once nothing is left to train; and what was made here, if there is nothing in it."""
        shutil.rmtree(self._checkpoints, ignore_errors=True)
        for place in self.made:
            if place.is_dir() and not any(place.iterdir()):
                place.rmdir()

    @property
    def _methods(self) -> Path:
        return self.path / "methods"

    @property
    def _checkpoints(self) -> Path:
        return self.path / "checkpoint"

    def _check(self, experiments: Mapping[str, Experiment]) -> None:
        if self.path.is_file():
            raise PcnetError(f"Cannot write into {self.path}: it is a file; name a folder with --out.")
        other = self._other(experiments)
        if other:
            raise PcnetError(
                f"The comparison in {self.path} has another {', '.join(other)}; go on with the same, or name another "
                "folder with --out."
            )

    def _other(self, experiments: Mapping[str, Experiment]) -> list[str]:
        """In what the comparison here is another one."""
        other: dict[str, None] = {}
        for path in sorted(self._methods.glob("*.json")):
            kept = read_json(path)
            try:
                ground, method, settings = kept["ground"], kept["result"]["method"], kept["result"]["settings"]
            except (KeyError, TypeError) as error:
                raise PcnetError(f"{path} is damaged; delete it, and the method is trained again.") from error
            other |= {WORDS.get(name, name): None for name in self.ground if ground.get(name) != self.ground[name]}
            if method in experiments and not other:
                wanted = experiments[method]
                asked = json.loads(json.dumps({**wanted.settings, "source": wanted.source}))
                changed = [name for name in asked if settings.get(name) != asked[name]]
                other |= {f"{name} of {wanted.title}": None for name in changed}
        return list(other)


def _numbered(path: Path) -> Iterator[Path]:
    """The path, and then path-2, path-3, …"""
    yield path
    number = 2
    while True:
        yield path.with_name(f"{path.name}-{number}")
        number += 1
