"""Nodes of one graph as scikit-learn's samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from pcnet.data import as_graph
from pcnet.errors import PcnetError
from pcnet.estimator._classifier import NodeClassifier
from pcnet.graph import Graph


class NodeIndexClassifier(ClassifierMixin, BaseEstimator):
    """A `NodeClassifier` whose samples are node numbers, for `cross_val_score`, `GridSearchCV` and their kin.

        >>> nodes = np.flatnonzero(graph.y >= 0)
        >>> cross_val_score(NodeIndexClassifier(graph), nodes, graph.y[nodes], cv=5)

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
        y = _places(given, classes) if named else _numbers("Labels", given)
        if len(ids) != len(y):
            raise PcnetError(f"There are {len(ids)} nodes and {len(y)} labels; give one for each.")
        if len(y) and not 0 <= int(y.min()) <= int(y.max()) < len(classes):
            raise PcnetError(f"Labels must be class numbers from 0 to {len(classes) - 1}, or names of classes.")
        known = torch.full_like(graph.y, -1)
        known[ids] = y
        seen = replace(graph, y=known, published_y=None, fixed_splits=(), classes=classes)
        self.classifier_ = clone(self.classifier or NodeClassifier()).fit(seen)
        self.classes_ = np.asarray(classes) if named else np.arange(len(classes))
        return self

    def predict(self, nodes: ArrayLike) -> NDArray[Any]:
        """The class of each node, as a number or a name like the labels that `fit` was given."""
        return self.classes_[self.predict_proba(nodes).argmax(axis=1)]

    def predict_proba(self, nodes: ArrayLike) -> NDArray[np.float64]:
        """The probability of each class for each node."""
        return self.classifier_.predict_proba()[_numbers("Nodes", nodes).numpy()]


def _column(values: ArrayLike) -> NDArray[Any]:
    """Scikit-learn's tools hand over one column or a matrix of one column."""
    array = np.asarray(values)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _numbers(what: str, values: ArrayLike) -> torch.Tensor:
    array = _column(values)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise PcnetError(f"{what} must be one list of whole numbers, not {array.dtype} of shape {array.shape}.")
    return torch.from_numpy(array.astype(np.int64))


def _places(names: NDArray[Any], classes: Sequence[str | int]) -> torch.Tensor:
    """The number of each named class."""
    place = {str(name): number for number, name in enumerate(classes)}
    words = [str(name) for name in names.ravel()]
    unknown = next((word for word in words if word not in place), None)
    if unknown is not None:
        raise PcnetError(f"The label '{unknown}' is no class of the graph, which has {', '.join(place)}.")
    return torch.tensor([place[word] for word in words], dtype=torch.int64)
