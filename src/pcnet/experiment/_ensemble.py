"""Trained models that predict together, and their files."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pcnet._files import read_json, write_json
from pcnet.compare import logits_of, metric_named, reliability, temperature
from pcnet.errors import PcnetError
from pcnet.graph import Graph, Schema
from pcnet.nn import Model, ModelSettings, filters_of, learned, load_model, save_model
from pcnet.training import Outcome, Run

FORMAT = 2
FILE = "classifier.json"


class FilterResponse(NamedTuple):
    """g(λ) at eigenvalues λ of the Laplacian, over the interval that the graph's eigenvalues span."""

    eigenvalues: NDArray[np.float64]
    response: NDArray[np.float64]


class Member(NamedTuple):
    """A model, what it was made from, the seed of its run, the temperature T that calibrates it, and its weight w."""

    model: Model
    settings: ModelSettings
    seed: int
    temperature: float
    weight: float = 1.0


def joined(logits: Sequence[Tensor], nodes: Tensor, labels: Tensor, weights: Sequence[float]) -> Tensor:
    """Logits of p = Σ_r w_r softmax(z_r / T_r) / Σ_r w_r, each T_r fitted on nodes with these labels.

    Of a single member they are its own.

    >>> undecided, sure = torch.zeros(2, 2), torch.tensor([[90.0, 0.0], [0.0, 90.0]])
    >>> joined([undecided, sure], torch.tensor([0, 1]), torch.tensor([0, 1]), [1, 3]).softmax(1)[0]
    tensor([0.8750, 0.1250])
    """
    if len(logits) == 1:
        return logits[0]
    total = torch.zeros(logits[0].shape, dtype=torch.float64)
    for z, weight in zip(logits, weights, strict=True):
        total += weight * torch.softmax(z.double().cpu() / temperature(z[nodes], labels), dim=1)
    return logits_of(total / sum(weights)).float()


@dataclass(frozen=True, eq=False)
class Ensemble:
    """p = Σ_r w_r softmax(z_r / T_r) / Σ_r w_r: models, of one method or of several, each calibrated on its own
    validation nodes.

    It remembers what the graph was like that it was trained on, and refuses graphs that it cannot speak about.
    """

    members: tuple[Member, ...]
    classes: tuple[str | int, ...]
    #: Expected calibration error on validation nodes, after the temperatures; the mean over the models.
    calibration_error: float
    schema: Schema | None
    #: A hash of the edges that it was trained on.
    edges: str
    #: What its owner scores it by.
    metric: str = "accuracy"

    @staticmethod
    def of(
        graph: Graph,
        trained: Sequence[tuple[Run, Outcome]],
        metric: str,
        weights: Sequence[float] = (),
        unaware: Sequence[tuple[Run, Outcome]] = (),
    ) -> Ensemble:
        """Trained runs on one graph; they count alike unless there are `weights`.

        T is fitted on answers to labels that a run did not know: its own, or, where those who predict know all of them,
        the answers of the run of `unaware` in its place.
        """
        members, errors = [], []
        every = zip(trained, unaware or trained, weights or [1.0] * len(trained), strict=True)
        for (run, outcome), (before, answers), weight in every:
            logits, labels = answers.logits[before.targets.val], before.targets.val_labels
            scale = temperature(logits, labels)
            members.append(Member(outcome.model.eval(), run.model.for_graph(graph), run.seed, scale, weight))
            errors.append(reliability(torch.softmax(logits.double() / scale, dim=1), labels).error)
        # A class that no node of the split had could not be learned.
        classes = tuple(graph.classes or range(graph.num_classes))[: trained[0][0].targets.num_classes]
        error = float(np.average(errors, weights=[member.weight for member in members]))
        return Ensemble(tuple(members), classes, error, graph.schema, hash_of_edges(graph), metric)

    @property
    def models(self) -> tuple[Model, ...]:
        """Those of its members."""
        return tuple(member.model for member in self.members)

    @property
    def shares(self) -> dict[str, float]:
        """How much the members of each method weigh, the heaviest first; together 1."""
        found: dict[str, float] = defaultdict(float)
        for member in self.members:
            found[member.settings.method] += member.weight
        return {name: found[name] / sum(found.values()) for name in sorted(found, key=lambda name: -found[name])}

    def probabilities(self, graph: Graph, device: torch.device | str = "cpu") -> Tensor:
        """The probability of each class for every node of a graph, (n, C) in float64."""
        self.check(graph)
        x, total = (
            graph.x.to(torch.device(device)),
            torch.zeros(graph.num_nodes, len(self.classes), dtype=torch.float64),
        )
        with torch.no_grad():
            for model, settings, _, scale, weight in self.members:
                logits = model.to(device)(x, settings.operator(graph, device=device))
                total += weight * torch.softmax(logits.double().cpu() / scale, dim=1)
        return total / sum(member.weight for member in self.members)

    @property
    def reading_schema(self) -> Schema | None:
        """How to read another graph's columns. Features of the edges are computed anew: `check` says if they may be."""
        return None if self.schema is None or self.schema.structural else self.schema

    def response(self, graph: Graph) -> FilterResponse | None:
        """What the learned filter does to each frequency, the mean of the models; None where there is no one filter."""
        convs = filters_of(self.models)
        if not convs or len({member.settings for member in self.members}) > 1:
            return None
        found = learned(convs, self.members[0].settings.operator(graph))
        order = np.argsort(found.lam)
        return FilterResponse(found.lam[order], found.mean[order])

    def check(self, graph: Graph) -> None:
        """Refuse a graph whose features are not those of the training."""
        width = self.models[0].in_channels
        if self.schema is not None and graph.schema is not None and self.schema != graph.schema:
            raise PcnetError(_mismatch(self.schema, graph.schema))
        if graph.num_features != width:
            raise PcnetError(f"The graph has {graph.num_features} features; the classifier was trained with {width}.")
        if self.schema is not None and self.schema.structural and hash_of_edges(graph) != self.edges:
            raise PcnetError(
                "The classifier was trained on features computed from the edges of its own graph, which mean nothing "
                "on another one; give the nodes features of their own and train again."
            )

    def save(self, folder: str | Path) -> None:
        """Write models/ (safetensors and JSON) and, last, classifier.json."""
        folder = Path(folder)
        for member, path in zip(self.members, _paths(folder, [member.seed for member in self.members]), strict=True):
            save_model(member.model, member.settings, path)
        description = {
            "format": FORMAT,
            "methods": self.shares,
            "metric": self.metric,
            "classes": list(self.classes),
            "members": [
                {name: getattr(each, name) for name in ("seed", "temperature", "weight")} for each in self.members
            ],
            "calibration_error": self.calibration_error,
            "schema": None if self.schema is None else self.schema.as_dict(),
            "edges": self.edges,
        }
        write_json(folder / FILE, description)

    @staticmethod
    def load(folder: str | Path) -> Ensemble:
        """Read what `save` wrote."""
        folder = Path(folder)
        file = folder / FILE
        if not file.is_file():
            raise PcnetError(f"There is no classifier in {folder}; `pcnet train` and NodeClassifier.save leave one.")
        content = read_json(file)
        version = content.get("format") if isinstance(content, dict) else None
        if not isinstance(version, int):
            raise PcnetError(f"{file} is no classifier of pcnet; train or copy it again.")
        if not 1 <= version <= FORMAT:
            raise PcnetError(
                f"{file} has format {version}, and this pcnet reads formats up to {FORMAT}; use the one that wrote it."
            )
        try:
            # Format 1 had no weights.
            known = [
                (int(each["seed"]), float(each["temperature"]), float(each.get("weight", 1.0)))
                for each in content["members"]
            ]
            schema = None if content["schema"] is None else Schema.from_dict(content["schema"])
            classes, error, edges = tuple(content["classes"]), float(content["calibration_error"]), content["edges"]
            metric = metric_named(content.get("metric", "accuracy")).name
        except (KeyError, TypeError, ValueError) as problem:
            raise PcnetError(f"{file} is damaged ({problem}); train or copy it again.") from problem
        loaded = [load_model(path) for path in _paths(folder, [seed for seed, _, _ in known])]
        if not loaded or any(model.out_channels != len(classes) for model, _ in loaded):
            raise PcnetError(f"{file} and its models do not fit together; train or copy them again.")
        members = tuple(Member(model, settings, *how) for (model, settings), how in zip(loaded, known, strict=True))
        return Ensemble(members, classes, error, schema, edges, metric)


def hash_of_edges(graph: Graph) -> str:
    """Of the number of nodes and the list of edges."""
    digest = hashlib.sha256(str(graph.num_nodes).encode())
    digest.update(graph.edge_index.contiguous().cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


def _paths(folder: Path, seeds: Sequence[int]) -> list[Path]:
    """Where the members' models are: by their seeds, or by their places where several have one seed."""
    names = [f"seed-{seed}" for seed in seeds]
    if len({*names}) < len(names):
        names = [f"member-{place}" for place in range(len(seeds))]
    return [folder / "models" / name for name in names]


def _mismatch(trained: Schema, given: Schema) -> str:
    """What is different about two schemas, in words."""
    ours, theirs = ({column.name: column for column in schema.columns} for schema in (trained, given))
    missing = [name for name in ours if name not in theirs]
    if missing:
        return f"The column '{missing[0]}' is missing; the classifier was trained with it."
    more = [name for name in theirs if name not in ours]
    if more:
        return f"The classifier was not trained with the column '{more[0]}'; drop it."
    other = next((name for name in ours if ours[name] != theirs[name]), None)
    what = "other columns in another order" if other is None else f"the column '{other}' read differently"
    return f"The graph has {what} than the classifier was trained with; read it with schema=classifier.schema_."
