"""What holds of every registered method, whichever there are: adding one adds it here, too."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace

import pytest
import torch

import pcnet.nn
from contracts.model_contract import SHORT, planted, same
from pcnet import PcnetError
from pcnet.experiment import method_file, method_name
from pcnet.graph import Graph
from pcnet.nn import METHODS, ModelSettings, load_model, save_model
from pcnet.training import Run, Targets, train


def small(method: str) -> ModelSettings:
    """Its defaults, narrower and less deep."""
    settings = METHODS[method]()
    limits = {"hidden": 8, "layers": 3}
    own = {name: limit for name, limit in limits.items() if (getattr(settings, name, None) or 0) > limit}
    return replace(settings, **own)


def runs(method: str, seeds: int = 2) -> tuple[Graph, list[Run]]:
    graph, split = planted(0.8)
    return graph, [Run(small(method), SHORT, Targets.from_split(split), seed) for seed in range(seeds)]


@pytest.mark.parametrize("method", METHODS)
def test_runs_have_bits_of_their_own_and_are_kept(method, tmp_path):
    graph, batch = runs(method)
    together = train(graph, batch, threads=1)
    for run, outcome in zip(batch, together, strict=True):
        same(outcome, train(graph, [run], threads=1)[0])
    assert not torch.equal(together[0].logits, together[1].logits)
    settings = batch[0].model.for_graph(graph)
    save_model(together[0].model, settings, tmp_path / "model")
    model, loaded = load_model(tmp_path / "model")
    assert loaded == settings
    with torch.no_grad():
        assert torch.equal(model(graph.x, settings.operator(graph)), together[0].logits)


@pytest.mark.parametrize("method", METHODS)
def test_settings_stand_once(method):
    """The model's arguments are its settings, with their defaults and their checks."""
    kind = METHODS[method]
    graph, [run] = runs(method, 1)
    settings = run.model.for_graph(graph)
    model = kind.model(5, out_channels=3, **vars(settings))
    assert model.settings == settings
    assert list(inspect.signature(kind.model).parameters) == ["in_channels", "hidden", "out_channels", "settings"]
    assert sorted(model.parameter_groups()) == sorted(settings.groups)
    grouped = [id(parameter) for group in model.parameter_groups().values() for parameter in group]
    assert sorted(grouped) == sorted(map(id, model.parameters()))
    for field in fields(kind):
        if field.name.startswith("drop"):
            with pytest.raises(PcnetError, match="is not a dropout rate"):
                replace(settings, **{field.name: 1.0})


@pytest.mark.parametrize("method", METHODS)
def test_it_can_be_imported_and_has_a_name_and_settings(method):
    kind = METHODS[method]
    assert getattr(pcnet.nn, kind.__name__) is kind
    assert getattr(pcnet.nn, kind.model.__name__) is kind.model
    assert {kind.__name__, kind.model.__name__} <= {*dir(pcnet.nn)}
    assert method_name(method) == kind.title
    assert method_file(method).kind is kind
    assert kind.model.__doc__


def test_what_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'GNC'"):
        _ = pcnet.nn.GNC
    with pytest.raises(PcnetError, match="Did you mean 'chebnet'"):
        pcnet.nn.method_named("chebnett")
    with pytest.raises(PcnetError, match=r"no method 'acmigcn'.*Did you mean 'acmiigcn'"):
        method_file("acmigcn")
