"""Fit, predict, save and load: node classification with scikit-learn's manners."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError

from pcnet._checks import whole_number
from pcnet._machine import chosen_device
from pcnet._progress import Progress
from pcnet.compare import Metric, logits_of, metric_named
from pcnet.data import as_graph
from pcnet.errors import PcnetError
from pcnet.experiment import MEMBERS, VAL_SHARE, Ensemble, FilterResponse, refitted, resolve, targets_of_all
from pcnet.graph import Graph, Schema, require_labels
from pcnet.inspect import suggested_methods
from pcnet.nn import ModelSettings, method_named
from pcnet.training import Outcome, Run, Targets, train
from pcnet.tune import AUTO, CONTENDERS, champions

__all__ = ["NodeClassifier", "NodeIndexClassifier"]


class _NotFittedError(PcnetError, NotFittedError):
    """Asked for something before `fit`."""


class NodeClassifier(ClassifierMixin, BaseEstimator):
    """Predicts the classes of the nodes of a graph from those that are known.

    >>> from pcnet import NodeClassifier, csbm
    >>> graph = csbm(100, 0.8, features=4, seed=0)
    >>> classifier = NodeClassifier(settings={"epochs": 5}, runs=2).fit(graph, train_mask=range(60))
    >>> classifier.predict_proba().shape
    (100, 2)

    `model` is a method of the library, or "auto": a few methods that suit the graph are tried and validation chooses.
    `settings` changes what `pcnet train --set` can change, as in `{"hidden": 32, "lr.theta": 0.01}`. `runs` models are
    trained together, each with a seed and, unless `fit` is given one, a validation set of its own, a share
    `val_share` of each class; predictions are the mean of their probabilities, each model's calibrated by a temperature
    on its validation nodes. With "auto" and `minutes`, methods and settings compete for as long, and an ensemble of the
    best predicts. `refit` trains the models that predict once more with no label kept back to stop by.
    `class_weight="balanced"` lets all classes count alike in the training loss.

    `metric` chooses the epoch and the model and is what `score` returns: accuracy, balanced_accuracy, macro_f1,
    roc_auc, average_precision or log_loss. By default it is accuracy, while the method chooses its epochs in its own
    way, and roc_auc for two classes of which the larger one has more than 65 % of the labels.
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
        minutes: float | None = None,
        refit: bool = False,
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
        self.minutes = minutes
        self.refit = refit
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
        known = torch.cat([targets[0].train, targets[0].val])
        # What is chosen for the graph is chosen by labels that may be known.
        seen = _with_labels(graph, known, graph.y[known])
        if self.minutes is not None:
            return self._compete(graph, seen, known, progress)
        changes = [f"{name}={value}" for name, value in (self.settings or {}).items()]
        methods, runs = self._methods(seen), list[Run]()
        for name, suited in methods.items():
            overrides = [*suited, *changes, f"class_weight={self.class_weight or 'none'}"]
            experiment = resolve(seen, name, metric=self.metric, overrides=overrides)
            model, training = experiment.model, experiment.training
            runs += [Run(model, training, own, self.seed + run) for run, own in enumerate(targets)]
        #: What the classifier is scored by.
        self.metric_ = experiment.metric
        how: dict[str, Any] = {"threads": self.threads, "device": chosen_device(self.device), "progress": progress}
        outcomes = train(graph, runs, **how)
        pairs = zip(runs, outcomes, strict=True)
        trained = {name: list(itertools.islice(pairs, len(targets))) for name in methods}
        metric = metric_named(self.metric_)
        #: Of each method that was tried, the mean over its models of the metric on validation; higher is better.
        self.candidates_ = {name: _validation(metric, own) for name, own in trained.items()}
        self.method_ = max(self.candidates_, key=lambda name: self.candidates_[name])
        chosen = trained[self.method_]
        if any(outcome.diverged for _, outcome in chosen):
            raise PcnetError("Training diverged: no epoch had a finite loss. Lower the learning rates.")
        kept = refitted(graph, chosen, **how) if self.refit else chosen
        self.ensemble_ = Ensemble.of(graph, kept, self.metric_, unaware=chosen)
        self.graph_ = graph
        self.train_nodes_ = torch.cat([part for own in targets for part in (own.train, own.val)]).unique()
        self.n_iter_ = max(outcome.epochs for _, outcome in kept)
        return self

    def _compete(self, graph: Graph, seen: Graph, known: torch.Tensor, progress: Progress | None) -> NodeClassifier:
        """Fit an ensemble of what does best in a contest for the known labels."""
        if self.model != AUTO or self.settings or self.class_weight:
            raise PcnetError('minutes belong to model="auto", which finds settings itself; leave out the others.')
        methods = [name for name in CONTENDERS if _is_portable(name)]
        how: dict[str, Any] = {"threads": self.threads, "device": chosen_device(self.device), "progress": progress}
        with TemporaryDirectory() as folder:
            how |= {"metric": self.metric, "seed": self.seed, "methods": methods, "refit": self.refit}
            chosen, members = champions(seen, known, Path(folder), self.minutes, **how)
        self.metric_ = chosen.metric.name
        self.candidates_ = {each.settings[0].method: each.score for each in reversed(chosen.ranking)}
        trained = members.refitted or members.trained
        self.ensemble_ = Ensemble.of(graph, trained, self.metric_, members.weights, members.trained)
        self.method_ = ", ".join(self.ensemble_.shares)
        self.graph_, self.train_nodes_ = graph, known.unique()
        self.n_iter_ = max(outcome.epochs for _, outcome in trained)
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
        chosen = known.labelled if nodes is None else _node_ids("nodes", nodes, known)
        if nodes is None and known is getattr(self, "graph_", None):
            chosen = chosen[~torch.isin(chosen, self.train_nodes_)]
        if len(chosen) == 0:
            raise PcnetError("There is no labelled node left to score on; name some with nodes=…, or fit on fewer.")
        names = np.array(known.class_names)[known.y[chosen].numpy()]
        truth = _places(names, self.classes_, "is no class that the classifier knows; leave its nodes out.")
        metric = metric_named(self.metric_)
        probabilities = torch.from_numpy(self.predict_proba(known)[chosen.numpy()])
        value = metric.sign * metric.share(logits_of(probabilities), truth)
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
        classifier = cls(next(iter(ensemble.shares)), runs=len(ensemble.models))
        classifier.ensemble_, classifier.metric_ = ensemble, ensemble.metric
        classifier.method_ = ", ".join(ensemble.shares)
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
        runs = whole_number("runs", self.runs, least=1)
        known = graph.labelled if train_mask is None else _node_ids("train_mask", train_mask, graph)
        val = None if val_mask is None else _node_ids("val_mask", val_mask, graph)
        if val is not None:
            shared = known[torch.isin(known, val)]
            if train_mask is not None and len(shared):
                raise PcnetError(f"Node {int(shared[0])} is in train_mask and in val_mask; a node belongs to one.")
            known = known[~torch.isin(known, val)]
        if len(graph.y[known].unique()) < 2:
            raise PcnetError("The training nodes are of fewer than two classes; there is nothing to tell apart.")
        if val is not None:
            return [Targets(known, graph.y[known], val, graph.y[val], graph.num_classes)] * runs
        return [targets_of_all(graph, known, self.val_share, self.seed + run) for run in range(runs)]

    def _methods(self, seen: Graph) -> dict[str, tuple[str, ...]]:
        """The methods to try, each with settings that suit the graph.

        Methods with a weight for each node of one graph are no candidates: they could not speak about another.
        """
        if self.model != AUTO:
            return {self.model: ()}
        suited = {each.method: each.settings for each in suggested_methods(seen)}
        return {name: own for name, own in suited.items() if _is_portable(name)}


def _is_portable(method: str) -> bool:
    """Whether its models can speak about another graph than that of their training."""
    return method_named(method).for_graph is ModelSettings.for_graph


def _validation(metric: Metric, trained: list[tuple[Run, Outcome]]) -> float:
    """Mean over runs of the metric on validation nodes, higher being better; −∞ where one diverged."""
    if any(outcome.diverged for _, outcome in trained):
        return -math.inf
    shares = [metric.share(outcome.logits[run.targets.val], run.targets.val_labels) for run, outcome in trained]
    return metric.sign * float(np.mean(shares))


class NodeIndexClassifier(ClassifierMixin, BaseEstimator):
    """A `NodeClassifier` whose samples are node numbers, for `cross_val_score`, `GridSearchCV` and their kin.

    >>> from pcnet import NodeClassifier, NodeIndexClassifier, csbm
    >>> from sklearn.model_selection import cross_val_score
    >>> graph = csbm(60, 0.8, features=4, seed=0)
    >>> quick = NodeClassifier(settings={"epochs": 5}, runs=1)
    >>> len(cross_val_score(NodeIndexClassifier(graph, quick), range(60), graph.y.numpy(), cv=3))
    3

    The graph is there in whole in every fold, as it is when it is used; of labels, `fit` sees those it is given and no
    others: class numbers as in `graph.y`, or the classes' names. Parameters of the inner classifier are named as in
    `classifier__model`.
    """

    def __init__(self, graph: Graph, classifier: NodeClassifier | None = None) -> None:
        self.graph = graph
        self.classifier = classifier

    def fit(self, nodes: ArrayLike, labels: ArrayLike) -> NodeIndexClassifier:
        """Train on these nodes with these labels, given as class numbers or as names of classes."""
        # Where classes have no names their number must survive: the folds may miss the last one.
        graph = as_graph(self.graph)
        classes = graph.classes or tuple(range(graph.num_classes))
        ids, given = _numbers("Nodes", nodes), _column(labels)
        named = given.dtype.kind in "OUS"
        unknown = f"is no class of the graph, which has {', '.join(map(str, classes))}."
        y = _places(given, classes, unknown) if named else _numbers("Labels", given)
        if len(ids) != len(y):
            raise PcnetError(f"There are {len(ids)} nodes and {len(y)} labels; give one for each.")
        if len(y) and not 0 <= int(y.min()) <= int(y.max()) < len(classes):
            raise PcnetError(f"Labels must be class numbers from 0 to {len(classes) - 1}, or names of classes.")
        seen = _with_labels(replace(graph, classes=classes), ids, y)
        self.classifier_ = clone(self.classifier or NodeClassifier()).fit(seen)
        self.classes_ = np.asarray(classes) if named else np.arange(len(classes))
        return self

    def predict(self, nodes: ArrayLike) -> NDArray[Any]:
        """The class of each node, as a number or a name like the labels that `fit` was given."""
        return self.classes_[self.predict_proba(nodes).argmax(axis=1)]

    def predict_proba(self, nodes: ArrayLike) -> NDArray[np.float64]:
        """The probability of each class for each node."""
        return self.classifier_.predict_proba()[_numbers("Nodes", nodes).numpy()]


def _with_labels(graph: Graph, nodes: torch.Tensor, labels: torch.Tensor) -> Graph:
    """The graph where these nodes have these labels and no other node has one."""
    y = torch.full_like(graph.y, -1)
    y[nodes] = labels
    return replace(graph, y=y, published_y=None, fixed_splits=())


def _column(values: ArrayLike) -> NDArray[Any]:
    """Scikit-learn's tools hand over one column or a matrix of one column."""
    array = np.asarray(values)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _numbers(what: str, values: ArrayLike) -> torch.Tensor:
    array = _column(values)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise PcnetError(f"{what} must be one list of whole numbers, not {array.dtype} of shape {array.shape}.")
    return torch.from_numpy(array.astype(np.int64))


def _places(names: NDArray[Any], classes: Iterable[object], wrong: str) -> torch.Tensor:
    """The number of each named class; `wrong` says what is the matter with any other label."""
    place = {str(name): number for number, name in enumerate(classes)}
    words = [str(name) for name in names.ravel()]
    for word in words:
        if word not in place:
            raise PcnetError(f"The label '{word}' {wrong}")
    return torch.tensor([place[word] for word in words], dtype=torch.int64)


def _node_ids(what: str, nodes: ArrayLike | torch.Tensor, graph: Graph) -> torch.Tensor:
    """A mask or a list of node numbers as sorted numbers of labelled nodes, each once."""
    given = torch.as_tensor(np.asarray(nodes))
    if given.dtype == torch.bool:
        if given.shape != (graph.num_nodes,):
            raise PcnetError(f"{what} has {given.numel()} entries for {graph.num_nodes} nodes; give one per node.")
        given = given.nonzero().flatten()
    if given.ndim != 1 or given.is_floating_point():
        raise PcnetError(f"{what} must be a mask or a list of node numbers, not {given.dtype}.")
    ids = given.long().unique()
    if len(ids) == 0:
        raise PcnetError(f"{what} names no node; it needs at least one.")
    if int(ids[0]) < 0 or int(ids[-1]) >= graph.num_nodes:
        wrong = int(ids[0]) if int(ids[0]) < 0 else int(ids[-1])
        raise PcnetError(f"{what} names node {wrong}; nodes are numbered from 0 to {graph.num_nodes - 1}.")
    without = ids[graph.y[ids] < 0]
    if len(without):
        name = graph.node_names[int(without[0])]
        raise PcnetError(f"{what} names node {name}, which has no label; leave it out.")
    return ids
