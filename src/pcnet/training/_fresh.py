"""The models with which a training begins."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor

from pcnet.nn import PCNet
from pcnet.training._run import Run


def side_by_side(runs: Sequence[Run]) -> PCNet:
    """The models of all runs as one, but for the layers' weights: those are for one feature and one class.

    Equal settings are built once. A search trains each of them on many splits, and the rates, filters and θ of a model
    follow from its settings alone.
    """
    settings = {own: place for place, own in enumerate(dict.fromkeys(run.model for run in runs))}
    return PCNet.stack([own.build(1, 1) for own in settings]).select([settings[run.model] for run in runs])


def initial_weights(models: PCNet, runs: Sequence[Run], features: int, classes: int) -> list[Tensor]:
    """The weights that `run.model.build(features, classes, run.seed)` gives each run, in the order of `models`.

    Those of the layers follow from the seed and the widths alone, so equal seeds draw once.
    """
    device = models.conv.theta.device
    seeds = {seed: place for place, seed in enumerate(dict.fromkeys(run.seed for run in runs))}
    layers = [dict(runs[0].model.build(features, classes, seed).transform.named_parameters()) for seed in seeds]
    which = torch.tensor([seeds[run.seed] for run in runs], device=device)
    drawn = {
        f"transform.{name}": torch.stack([own[name].detach() for own in layers]).to(device)[which] for name in layers[0]
    }
    return [
        drawn[name] if name in drawn else parameter.detach().clone() for name, parameter in models.named_parameters()
    ]


def with_weights(models: PCNet, weights: Sequence[Tensor]) -> PCNet:
    """The same models with these very weights, which need not be of the same width."""
    filled = copy.deepcopy(models)
    for parameter, weight in zip(filled.parameters(), weights, strict=True):
        parameter.data = weight
    return filled
