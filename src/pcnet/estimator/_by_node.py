"""Nodes of one graph as scikit-learn's samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from pcnet.errors import PcnetError
from pcnet.estimator._classifier import NodeClassifier
from pcnet.graph import Graph


class NodeIndexClassifier(ClassifierMixin, BaseEstimator):
    """A `NodeClassifier` whose samples are node numbers, for `cross_val_score`, `GridSearchCV` and their kin.

        >>> nodes = np.flatnonzero(graph.y >= 0)
        >>> cross_val_score(NodeIndexClassifier(graph), nodes, graph.y[nodes], cv=5)

    The graph is there in whole in every fold, as it is when it is used; of labels, `fit` sees those it is given and no
    others. Parameters of the inner classifier are named as in `classifier__model`.
    """

    def __init__(self, graph: Graph, classifier: NodeClassifier | None = None) -> None:
        self.graph = graph
        self.classifier = classifier

    def fit(self, nodes: ArrayLike, labels: ArrayLike) -> NodeIndexClassifier:
        """Train on these nodes with these labels, given as class numbers."""
        ids, y = _column(nodes), _column(labels)
        if len(ids) != len(y):
            raise PcnetError(f"There are {len(ids)} nodes and {len(y)} labels; give one for each.")
        known = torch.full_like(self.graph.y, -1)
        known[ids] = y
        # Where classes have no names their number must survive: the folds may miss the last one.
        classes = self.graph.classes or tuple(range(self.graph.num_classes))
        seen = replace(self.graph, y=known, published_y=None, fixed_splits=(), classes=classes)
        self.classifier_ = clone(self.classifier or NodeClassifier()).fit(seen)
        self.classes_ = np.arange(len(classes))
        return self

    def predict(self, nodes: ArrayLike) -> NDArray[Any]:
        """The class number of each node."""
        return self.predict_proba(nodes).argmax(axis=1)

    def predict_proba(self, nodes: ArrayLike) -> NDArray[np.float64]:
        """The probability of each class for each node."""
        return self.classifier_.predict_proba()[_column(nodes).numpy()]


def _column(values: ArrayLike) -> torch.Tensor:
    """Scikit-learn's tools hand over one column or a matrix of one column."""
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise PcnetError(f"Nodes and labels must be lists of whole numbers, not {array.dtype} of shape {array.shape}.")
    return torch.from_numpy(array.astype(np.int64))
