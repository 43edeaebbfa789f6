"""`NodeClassifier`: fit a graph, predict its nodes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from pcnet._machine import chosen_device
from pcnet._progress import Progress
from pcnet.compare import Metric, default_metric, metric_named
from pcnet.data import as_graph
from pcnet.errors import PcnetError
from pcnet.estimator._ensemble import Ensemble, FilterResponse
from pcnet.estimator._nodes import node_ids
from pcnet.experiment import MEMBERS, VAL_SHARE, default_settings, override, targets_of_all
from pcnet.graph import Graph, Schema, require_labels
from pcnet.inspect import suggested_methods
from pcnet.nn import ModelSettings, method_named
from pcnet.training import Outcome, Run, Targets, train

AUTO = "auto"


class _NotFittedError(PcnetError, NotFittedError):
    """Asked for something before `fit`."""


class NodeClassifier(ClassifierMixin, BaseEstimator):
    """Predicts the classes of the nodes of a graph from those that are known.

        >>> graph = pcnet.load_dataset("citeseer")
        >>> classifier = pcnet.NodeClassifier().fit(graph, train_mask=nodes)
        >>> classifier.predict_proba()[:3]

    `model` is a method of the library, or "auto": a few methods that suit the graph are tried and validation chooses.
    `settings` changes what `pcnet train --set` can change, as in `{"hidden": 32, "lr.theta": 0.01}`. `runs` models are
    trained side by side, each with a seed and, unless `fit` is given one, a validation set of its own, a share
    `val_share` of each class; predictions are the mean of their probabilities, each model's calibrated by a temperature
    on its validation nodes. `class_weight="balanced"` lets all classes count alike in the training loss.

    `metric` chooses the epoch and the model and is what `score` returns: accuracy, balanced_accuracy, macro_f1,
    roc_auc, average_precision or log_loss. By default it is accuracy, beside which the method chooses its epochs in
    its own way, and roc_auc for two classes of which the larger one has more than 65 % of the labels.
    """

    def __init__(
        self,
        model: str = "pcnet",
        *,
        settings: Mapping[str, Any] | None = None,
        runs: int = MEMBERS,
        val_share: float = VAL_SHARE,
        class_weight: str | None = None,
        metric: str | None = None,
        seed: int = 0,
        threads: int | None = None,
        device: str = "auto",
    ) -> None:
        self.model = model
        self.settings = settings
        self.runs = runs
        self.val_share = val_share
        self.class_weight = class_weight
        self.metric = metric
        self.seed = seed
        self.threads = threads
        self.device = device

    def fit(
        self,
        graph: Any,
        train_mask: ArrayLike | None = None,
        val_mask: ArrayLike | None = None,
        *,
        progress: Progress | None = None,
    ) -> NodeClassifier:
        """Train on the nodes of `train_mask` (a mask or ids; all labelled ones by default), validate on `val_mask`.

        `graph` is a pcnet.Graph or anything that `read_graph` takes: a path, data frames (edges, or a pair of edges
        and nodes), a NetworkX graph, PyG's Data, a SciPy matrix. So are the graphs of `predict` and `score`, whose
        columns are read as those of the training.
        """
        graph = as_graph(graph)
        require_labels(graph)
        targets = self._targets(graph, train_mask, val_mask)
        #: What the classifier is scored by.
        self.metric_ = self._metric(graph, targets).name
        methods = self._candidates(graph, targets) if self.model == AUTO else {self.model: ()}
        runs = {
            name: [self._run(graph, name, changes, own, self.seed + run) for run, own in enumerate(targets)]
            for name, changes in methods.items()
        }
        flat = [run for own in runs.values() for run in own]
        device = chosen_device(self.device)
        outcomes = iter(train(graph, flat, threads=self.threads, device=device, progress=progress))
        found = {name: [next(outcomes) for _ in own] for name, own in runs.items()}
        #: Of each method that was tried, the mean over its models of the metric on validation; higher is better.
        metric = metric_named(self.metric_)
        self.candidates_ = {name: _validation(metric, runs[name], own) for name, own in found.items()}
        self.method_ = max(self.candidates_, key=lambda name: self.candidates_[name])
        return self._keep(graph, runs[self.method_], found[self.method_])

    def _keep(self, graph: Graph, runs: list[Run], outcomes: list[Outcome]) -> NodeClassifier:
        if any(outcome.diverged for outcome in outcomes):
            raise PcnetError("Training diverged: no epoch had a finite loss. Lower the learning rates.")
        self.ensemble_ = Ensemble.of(graph, runs, outcomes, self.metric_)
        self.graph_ = graph
        self.train_nodes_ = torch.cat([node for run in runs for node in (run.targets.train, run.targets.val)]).unique()
        self.n_iter_ = max(outcome.epochs for outcome in outcomes)
        return self

    def predict(self, graph: Any = None) -> NDArray[Any]:
        """The most probable class of every node, by its name."""
        return self.classes_[self.predict_proba(graph).argmax(axis=1)]

    def predict_proba(self, graph: Any = None) -> NDArray[np.float64]:
        """The probability of each class, in the order of `classes_`, for every node of the graph or of another one."""
        ensemble = self._fitted()
        return ensemble.probabilities(self._graph(graph), chosen_device(self.device)).numpy()

    def score(self, graph: Any = None, nodes: ArrayLike | None = None) -> float:
        """The metric on `nodes` (a mask or ids): by default all labelled nodes that `fit` has not seen the labels of.

        A share is one of 1, and log loss is negative, so that higher is better as scikit-learn's tools expect.
        """
        known = self._graph(graph)
        labelled = (known.y >= 0).nonzero().flatten()
        if nodes is not None:
            chosen = node_ids("nodes", nodes, known)
        elif known is getattr(self, "graph_", None):
            chosen = labelled[~torch.isin(labelled, self.train_nodes_)]
        else:
            chosen = labelled
        if len(chosen) == 0:
            raise PcnetError("There is no labelled node left to score on; name some with nodes=…, or fit on fewer.")
        place = {str(name): number for number, name in enumerate(self.classes_)}
        truth = torch.tensor([place.get(known.class_names[label], -1) for label in known.y[chosen].tolist()])
        if (truth < 0).any():
            unknown = known.class_names[int(known.y[chosen][truth < 0][0])]
            raise PcnetError(f"The class '{unknown}' is none that the classifier knows; leave its nodes out.")
        metric = metric_named(self.metric_)
        probabilities = torch.from_numpy(self.predict_proba(known)[chosen.numpy()])
        value = metric.sign * metric.share(probabilities.clamp(min=torch.finfo(torch.float64).tiny).log(), truth)
        if value != value:
            raise PcnetError(f"The nodes are all of one class, so {metric.title} says nothing; name more nodes.")
        return value

    @property
    def classes_(self) -> NDArray[Any]:
        """Names of the classes."""
        return np.asarray(self._fitted().classes)

    @property
    def schema_(self) -> Schema | None:
        """How the features were made from the owner's columns; for `read_graph(path, schema=…)`."""
        return self._fitted().schema

    @property
    def n_features_in_(self) -> int:
        return self._fitted().models[0].in_channels

    @property
    def calibration_error_(self) -> float:
        """Expected calibration error on the validation nodes that the temperatures were fitted on."""
        return self._fitted().calibration_error

    @property
    def filter_response_(self) -> FilterResponse | None:
        """What the learned filter does to each frequency of the graph; None where a method has no one filter."""
        ensemble = self._fitted()
        if not hasattr(self, "graph_"):
            raise PcnetError("A classifier that was loaded has no graph whose eigenvalues the filter acts on; fit one.")
        return ensemble.response(self.graph_)

    def save(self, path: str | Path) -> None:
        """Write a folder with classifier.json and the models (safetensors and JSON; never pickle)."""
        self._fitted().save(path)

    @classmethod
    def load(cls, path: str | Path) -> NodeClassifier:
        """A classifier that `save`, or `pcnet train`, has written; it knows no graph until it is given one."""
        ensemble = Ensemble.load(path)
        classifier = cls(ensemble.settings.method, runs=len(ensemble.models))
        classifier.ensemble_, classifier.method_, classifier.metric_ = (
            ensemble,
            ensemble.settings.method,
            ensemble.metric,
        )
        return classifier

    def _graph(self, given: Any) -> Graph:
        """The graph that was given, read as that of the training was, or that one."""
        ensemble = self._fitted()
        if given is not None:
            return as_graph(given, schema=ensemble.reading_schema, classes=ensemble.classes)
        if not hasattr(self, "graph_"):
            raise PcnetError("A classifier that was loaded has no graph; say which one to predict.")
        return self.graph_

    def _fitted(self) -> Ensemble:
        if not hasattr(self, "ensemble_"):
            raise _NotFittedError("This classifier is not fitted yet; call fit(graph) first.")
        return self.ensemble_

    def _targets(self, graph: Graph, train_mask: ArrayLike | None, val_mask: ArrayLike | None) -> list[Targets]:
        if isinstance(self.runs, bool) or not isinstance(self.runs, int) or self.runs < 1:
            raise PcnetError(f"runs must be a whole number of at least 1, not {self.runs!r}.")
        labelled = (graph.y >= 0).nonzero().flatten()
        known = labelled if train_mask is None else node_ids("train_mask", train_mask, graph)
        val = None if val_mask is None else node_ids("val_mask", val_mask, graph)
        if val is not None:
            shared = known[torch.isin(known, val)]
            if train_mask is not None and len(shared):
                raise PcnetError(f"Node {int(shared[0])} is in train_mask and in val_mask; a node belongs to one.")
            known = known[~torch.isin(known, val)]
        if len(graph.y[known].unique()) < 2:
            raise PcnetError("The training nodes are of fewer than two classes; there is nothing to tell apart.")

        if val is not None:
            return [Targets(known, graph.y[known], val, graph.y[val], graph.num_classes)] * self.runs
        return [targets_of_all(graph, known, self.val_share, self.seed + run) for run in range(self.runs)]

    def _metric(self, graph: Graph, targets: list[Targets]) -> Metric:
        """The metric that was asked for, or the one that suits the labels that may be known."""
        if self.metric is not None:
            return metric_named(self.metric)
        return default_metric(torch.cat([targets[0].train_labels, targets[0].val_labels]))

    def _candidates(self, graph: Graph, targets: list[Targets]) -> dict[str, tuple[str, ...]]:
        """Methods that suit the graph, with settings; only labels that may be known are looked at.

        Methods with a weight for each node of one graph are left out: they could not speak about another.
        """
        known = torch.cat([targets[0].train, targets[0].val])
        chosen = {each.method: each.settings for each in suggested_methods(graph, known)}
        return {name: own for name, own in chosen.items() if method_named(name).for_graph is ModelSettings.for_graph}

    def _run(self, graph: Graph, method: str, suited: Sequence[str], targets: Targets, seed: int) -> Run:
        experiment = default_settings(graph.name, method)
        if self.metric is not None or self.metric_ != experiment.metric:
            experiment = experiment.with_metric(self.metric_)
        changes = [f"{name}={value}" for name, value in (self.settings or {}).items()]
        model, training = override([experiment.model, experiment.training], [*suited, *changes])
        training = replace(training, class_weight=self.class_weight or "none")
        return Run(model, training, targets, seed)


def _validation(metric: Metric, runs: list[Run], outcomes: list[Outcome]) -> float:
    """Mean over runs of the metric on validation nodes, higher being better; −∞ where one diverged."""
    if any(outcome.diverged for outcome in outcomes):
        return -math.inf
    pairs = zip(runs, outcomes, strict=True)
    shares = [metric.share(outcome.logits[run.targets.val], run.targets.val_labels) for run, outcome in pairs]
    return metric.sign * float(np.mean(shares))
