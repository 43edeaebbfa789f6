"""The models with which a training begins."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor

from pcnet.nn import Model
from pcnet.training._run import Run


def side_by_side(runs: Sequence[Run], features: int, classes: int) -> Model:
    """The models of all runs as one, but for weights that are drawn: those may be for one feature.

    Equal settings are built once. A search trains each of them on many splits, and the rates, filters and θ of a model
    follow from its settings alone.
    """
    settings = {own: place for place, own in enumerate(dict.fromkeys(run.model for run in runs))}
    models = [own.skeleton(features, classes) for own in settings]
    return type(models[0]).stack(models).select([settings[run.model] for run in runs])


def initial_weights(models: Model, runs: Sequence[Run], features: int, classes: int) -> list[Tensor]:
    """The weights that `run.model.build(features, classes, run.seed)` gives each run, in the order of `models`.

    Those that are drawn follow from the seed and the widths alone, so equal seeds draw once.
    """
    device = next(models.parameters()).device
    seeds = {seed: place for place, seed in enumerate(dict.fromkeys(run.seed for run in runs))}
    built = [dict(runs[0].model.build(features, classes, seed).named_parameters()) for seed in seeds]
    which = torch.tensor([seeds[run.seed] for run in runs], device=device)
    drawn = {
        name: torch.stack([own[name].detach() for own in built]).to(device)[which]
        for name in built[0]
        if name.startswith(models.seeded)
    }
    return [
        drawn[name] if name in drawn else parameter.detach().clone() for name, parameter in models.named_parameters()
    ]


def with_weights(models: Model, weights: Sequence[Tensor]) -> Model:
    """The same models with these very weights, which need not be of the same width."""
    filled = copy.deepcopy(models)
    for parameter, weight in zip(filled.parameters(), weights, strict=True):
        parameter.data = weight
    return filled
