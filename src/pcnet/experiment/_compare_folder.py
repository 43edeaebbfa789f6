"""The folder of a comparison: each method as soon as it is trained, and half a training that was interrupted."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from pcnet._files import check_target, read_json, write_json
from pcnet.data import Split
from pcnet.errors import PcnetError
from pcnet.experiment._compared import Trained
from pcnet.experiment._experiment import Experiment
from pcnet.experiment._provenance import provenance
from pcnet.experiment._run_folder import numbered, remove_empty
from pcnet.experiment._runner import run_experiment
from pcnet.graph import Graph, graph_hash, tensor_hash

#: What a user calls it, where the file has a shorter name.
WORDS = {"data": "graph", "labels": "set of labels", "seeds": "number of --runs or --seed"}


@dataclass(frozen=True)
class CompareFolder:
    """`methods/NAME.json` for every method that is trained, with all that two comparisons must have in common.

    While a method is being trained there also is `checkpoint/`, from which its training goes on.
    """

    path: Path
    experiments: Mapping[str, Experiment]
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
            folder = CompareFolder(path, experiments, ground)
            if path.is_file():
                raise PcnetError(f"Cannot write into {path}: it is a file; name a folder with --out.")
            if other := folder._other():
                raise PcnetError(
                    f"The comparison in {path} has another {', '.join(other)}; go on with the same, or name another "
                    "folder with --out."
                )
        else:
            places = numbered(Path("runs") / f"compare-{graph.name}-{first.protocol}")
            folders = (CompareFolder(place, experiments, ground) for place in places)
            folder = next(
                folder for folder in folders if not folder.path.exists() or (folder.is_begun and not folder._other())
            )
        if resume and not folder.is_begun:
            where = f"in {folder.path}" if path is not None else "of these methods under runs/"
            raise PcnetError(f"There is no interrupted comparison {where}; leave out --resume to start one.")
        check_target(folder.path / "compare.json")
        return replace(folder, made=tuple(place for place in (folder.path, *folder.path.parents) if not place.exists()))

    @property
    def is_begun(self) -> bool:
        """Whether a method was trained here, or half of one."""
        return self._methods.is_dir() or self._checkpoints.is_dir()

    @property
    def is_halfway(self) -> bool:
        """Whether there is something to go on from."""
        return any(self._methods.glob("*.json")) or any(self._checkpoints.glob("*/block-*.safetensors"))

    def kept(self) -> dict[str, Trained]:
        """The methods that were trained before."""
        found = {}
        for method, experiment in self.experiments.items():
            path = self._methods / f"{method}.json"
            try:
                if path.exists():
                    found[method] = Trained.from_dict(experiment, read_json(path)["result"])
            except (KeyError, TypeError) as error:
                raise PcnetError(f"{path} is damaged; delete it, and {experiment.title} is trained again.") from error
        return found

    def train(self, graph: Graph, method: str, *, device: str = "cpu", **how: Any) -> Trained | str:
        """A method's scores, which are kept at once; or why there are none. `how` is that of `run_experiment`."""
        place: dict[str, Any] = {"checkpoint": self._checkpoint(method, device), "resume": True}
        try:
            result = run_experiment(graph, self.experiments[method], device=device, **place, **how)
        except PcnetError as error:
            return str(error)
        except (MemoryError, torch.cuda.OutOfMemoryError):
            return "there is not enough memory for it"
        origin = provenance(device)
        trained = Trained.of(method, result, {"date": origin["date"], "machine": origin["machine"]})
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
    def _methods(self) -> Path:
        return self.path / "methods"

    @property
    def _checkpoints(self) -> Path:
        return self.path / "checkpoint"

    def _other(self) -> list[str]:
        """In what the comparison here is another one."""
        other: dict[str, None] = {}
        for path in sorted(self._methods.glob("*.json")):
            kept = read_json(path)
            try:
                ground, method, settings = kept["ground"], kept["result"]["method"], kept["result"]["settings"]
            except (KeyError, TypeError) as error:
                raise PcnetError(f"{path} is damaged; delete it, and the method is trained again.") from error
            other |= {WORDS.get(name, name): None for name in self.ground if ground.get(name) != self.ground[name]}
            if method in self.experiments and not other:
                wanted = self.experiments[method]
                asked = json.loads(json.dumps({**wanted.settings, "source": wanted.source}))
                changed = [name for name in asked if settings.get(name) != asked[name]]
                other |= {f"{name} of {wanted.title}": None for name in changed}
        return list(other)
