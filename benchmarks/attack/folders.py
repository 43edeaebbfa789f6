"""Folders of models and searches that were tampered with: refused in a sentence, or as good as they were."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

from benchmarks.attack.mangle import EVIL, mangle, mangle_json
from benchmarks.attack.registry import attack
from pcnet import PcnetError, Targets, csbm, make_split, train
from pcnet.experiment import Ensemble, resolve
from pcnet.graph import Graph
from pcnet.training import Run
from pcnet.tune import Search, Space, tune

METHODS = ("pcnet", "gcn")
#: What is trained for all trials; removed at the end.
_KEEPER: list[tempfile.TemporaryDirectory[str]] = []


def _kept() -> Path:
    if not _KEEPER:
        _KEEPER.append(tempfile.TemporaryDirectory())
    return Path(_KEEPER[0].name)


@dataclass(frozen=True, eq=False)
class Models:
    """Two folders of models with the same seeds, of two graphs, and what the first one predicts."""

    graph: Graph
    folders: tuple[Path, Path]
    predicted: Tensor


@cache
def models() -> Models:
    """Trained once for all trials."""
    graphs = [csbm(60, homophily, features=6, seed=1) for homophily in (0.6, -0.6)]
    folders = _kept() / "one", _kept() / "other"
    for graph, folder in zip(graphs, folders, strict=True):
        targets = Targets.from_split(make_split(graph, "random-60-20-20", 0))
        own = [resolve(graph, method, overrides=["epochs=5", "hidden=4"]) for method in METHODS]
        runs = [Run(each.model, each.training, targets, seed) for seed, each in enumerate(own)]
        Ensemble.of(graph, list(zip(runs, train(graph, runs, threads=1), strict=True)), "accuracy").save(folder)
    return Models(graphs[0], folders, Ensemble.load(folders[0]).probabilities(graphs[0]))


def _copied(random: np.random.Generator, folder: Path, known: Models) -> None:
    """A folder in which one file was damaged, or comes from the other training."""
    shutil.copytree(known.folders[0], folder, dirs_exist_ok=True)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    victim = files[random.integers(len(files))]
    match random.integers(4):
        case 0:
            shutil.copy(known.folders[1] / victim.relative_to(folder), victim)
        case 1:
            victim.write_bytes(mangle(random, victim.read_bytes()))
        case 2 if victim.suffix == ".safetensors":
            weights = safetensors.torch.load_file(victim)
            own = weights[[*weights][random.integers(len(weights))]].view(-1)
            own[random.integers(len(own))] = (torch.nan, torch.inf, 1e38)[random.integers(3)]
            safetensors.torch.save_file(weights, victim)
        case _ if victim.suffix == ".json":
            victim.write_text(mangle_json(random, victim.read_text()))
        case _:
            victim.unlink()


@attack("models")
def folder_of_models(random: np.random.Generator, folder: Path) -> None:
    """With hashes, what is read predicts what it predicted, to the bit."""
    known = models()
    _copied(random, folder, known)
    assert torch.equal(Ensemble.load(folder).probabilities(known.graph), known.predicted)


@attack("old models")
def folder_without_hashes(random: np.random.Generator, folder: Path) -> None:
    """Of an older pcnet, whose exchanged files nothing shows: what is read predicts probabilities."""
    known = models()
    _copied(random, folder, known)
    path = folder / "classifier.json"
    try:
        content = json.loads(path.read_text())
        kept = {name: value for name, value in content.items() if name not in ("files", "hash")}
        path.write_text(json.dumps({**kept, "format": min(content["format"], 2)}))
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        # So damaged that it has nothing to take away.
        pass
    found = Ensemble.load(folder).probabilities(known.graph)
    assert torch.isfinite(found).all()
    assert (found >= 0).all()
    torch.testing.assert_close(found.sum(dim=1), torch.ones(len(found), dtype=torch.float64))


@cache
def searched() -> tuple[Graph, Search, Path, dict[str, Any]]:
    """A finished search, its folder and its choice."""
    graph, folder = csbm(60, 0.6, features=6, seed=0), _kept() / "search"
    experiment = resolve(graph, protocol="random-60-20-20", runs=1, overrides=["epochs=3", "hidden=4"])
    search = Search(experiment, Space.from_json({"K": [2, 3], "t": [0.5, 1.0]}, "attack"), strategy="grid")
    return graph, search, folder, tune(graph, search, folder, threads=1).best


@attack("searches")
def folder_of_a_search(random: np.random.Generator, folder: Path) -> None:
    """What goes on from a damaged folder ends with a choice as good in validation, unless it is refused."""
    graph, search, known, best = searched()
    shutil.copytree(known, folder, dirs_exist_ok=True)
    match random.integers(3):
        case 0:
            stores = sorted(folder.glob("*.sqlite"))
            victim = stores[random.integers(len(stores))]
            victim.write_bytes(mangle(random, victim.read_bytes()))
        case 1:
            path = folder / "best.json"
            path.write_text(mangle_json(random, path.read_text()))
        case 2:
            _edit(random, folder / "trials.sqlite")
    found = tune(graph, search, folder, threads=1).best
    assert found["val"]["mean"] >= best["val"]["mean"]


def _edit(random: np.random.Generator, path: Path) -> None:
    """An evil value in one column of a row or of all."""
    columns = {"search": ["description"], "trials": ["trial", "axes"], "claims": ["trial", "worker"]}
    columns["scores"] = ["trial", "split", "gain", "loss", "epochs", "seconds"]
    table = [*columns][random.integers(len(columns))]
    column, evil = (each[random.integers(len(each))] for each in (columns[table], EVIL))
    value = json.dumps(evil) if not isinstance(evil, (int, float, type(None))) or abs(evil or 0) > 2**62 else evil
    where = "" if random.random() < 0.5 else f"WHERE rowid = (SELECT max(rowid) FROM {table})"
    with closing(sqlite3.connect(path)) as connection, connection:
        try:
            connection.execute(f"UPDATE {table} SET {column} = ? {where}", (value,))
        except sqlite3.IntegrityError as error:
            raise PcnetError("SQLite keeps its own rules.") from error
