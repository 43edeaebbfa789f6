"""Fit, predict, save and load: node classification with scikit-learn's manners."""

from pcnet.estimator._by_node import NodeIndexClassifier
from pcnet.estimator._classifier import NodeClassifier
from pcnet.estimator._ensemble import Ensemble

__all__ = ["Ensemble", "NodeClassifier", "NodeIndexClassifier"]
