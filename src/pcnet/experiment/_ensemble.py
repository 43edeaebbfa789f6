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

from pcnet.compare import logits_of, reliability, temperature
from pcnet.errors import PcnetError
from pcnet.experiment._classifier_file import FILE, FORMAT, ClassifierFile, MemberEntry, read_classifier
from pcnet.graph import Graph, Schema
from pcnet.nn import Model, ModelSettings, filters_of, learned, load_model, save_model
from pcnet.training import Outcome, Run


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
        if not bool(torch.isfinite(total).all()):
            raise PcnetError("The classifier predicts NaN: its weights or the features are too large; train it again.")
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
        """Write models/ (safetensors and JSON) and, last, classifier.json with the hashes of all files."""
        described = ClassifierFile(
            FORMAT,
            self.classes,
            tuple(MemberEntry(each.seed, each.temperature, each.weight) for each in self.members),
            self.calibration_error,
            self.schema,
            self.edges,
            self.metric,
            self.shares,
        )
        for member, path in zip(self.members, described.models, strict=True):
            save_model(member.model, member.settings, Path(folder) / path)
        described.write(Path(folder))

    @staticmethod
    def load(folder: str | Path) -> Ensemble:
        """Read what `save` wrote; a PcnetError names the file that is missing, damaged or none of this classifier."""
        folder = Path(folder)
        found = read_classifier(folder)
        members = []
        for path, entry in zip(found.models, found.members, strict=True):
            model, settings = load_model(folder / path)
            members.append(Member(model, settings, entry.seed, entry.temperature, entry.weight))
            width = model.in_channels if found.schema is None else found.schema.width
            if (
                model.out_channels != len(found.classes)
                or not model.in_channels == members[0].model.in_channels == width
            ):
                raise PcnetError(
                    f"{folder / FILE} and {folder / path}.json do not fit together: they have {len(found.classes)} and "
                    f"{model.out_channels} classes, {width} and {model.in_channels} features; copy them again."
                )
        return Ensemble(tuple(members), found.classes, found.calibration_error, found.schema, found.edges, found.metric)


def hash_of_edges(graph: Graph) -> str:
    """Of the number of nodes and the list of edges."""
    digest = hashlib.sha256(str(graph.num_nodes).encode())
    digest.update(graph.edge_index.contiguous().cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


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
