"""What a command says about the metric that it scores by."""

from __future__ import annotations

import torch

from pcnet.compare import Metric, default_metric
from pcnet.graph import Graph


def metric_words(graph: Graph, metric: Metric, asked: str | None) -> str:
    """Its name, and why it was taken where nobody asked for it: "ROC-AUC, because 'yes' has 78 % of the labels"."""
    if asked is not None or metric.name == "accuracy" or metric.name != default_metric(graph.y).name:
        return metric.title
    counts = torch.bincount(graph.y[graph.y >= 0])
    largest = int(counts.argmax())
    share = float(counts[largest]) / float(counts.sum())
    return f"{metric.title}, because '{graph.class_names[largest]}' has {100 * share:.0f} % of the labels"
