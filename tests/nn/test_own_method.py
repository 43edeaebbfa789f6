"""Methods from outside: plain modules are trained like any other, and bad ones are refused in a sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import pcnet
from contracts.model_contract import SHORT, TRAINING, planted, same
from pcnet import PcnetError
from pcnet.graph import CSR, Graph
from pcnet.nn import METHODS, LayeredNet, ModelSettings, load_model, load_plugin, method_named, save_model
from pcnet.nn.models._layered_net import LayeredNetSettings, empty
from pcnet.training import Run, Targets, train

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_method.py"


@pytest.fixture(autouse=True)
def _methods() -> Iterator[None]:
    """What a test registers is gone after it."""
    before = dict(METHODS)
    yield
    METHODS._entries.clear()
    METHODS._entries.update(before)


class Sums(nn.Module):
    """Two layers with batch normalisation, dropout and noise of its own between them."""

    def __init__(
        self, in_channels: int, out_channels: int, hidden: int = 8, dropout: float = 0.3, noise=0.1, bias: bool = False
    ) -> None:
        super().__init__()
        self.first, self.norm = nn.Linear(in_channels, hidden, bias=bias), nn.BatchNorm1d(hidden)
        self.second, self.dropout, self.noise = nn.Linear(hidden, out_channels), nn.Dropout(dropout), noise
        self.register_buffer("scale", torch.full((1,), 0.5))

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        h = self.dropout(self.norm(self.first(x)).relu())
        h = h + self.noise * torch.randn_like(h) if self.training else h
        source, target = edge_index
        message = h[source] if edge_weight is None else edge_weight.unsqueeze(1) * h[source]
        return self.second(h + self.scale * torch.zeros_like(h).index_add(0, target, message))


def registered(**more: Any) -> ModelSettings:
    pcnet.method("sums", title="Sums")(Sums)
    return method_named("sums")(**more)


def runs(settings: ModelSettings, count: int = 3, training=SHORT) -> tuple[Graph, list[Run]]:
    graph, split = planted(0.8)
    return graph, [Run(settings, training, Targets.from_split(split), seed) for seed in range(count)]


def test_settings_are_those_of_the_signature():
    settings = registered(noise=0.2)
    assert vars(settings) == {"hidden": 8, "dropout": 0.3, "noise": 0.2, "bias": False}
    assert (settings.method, settings.title, settings.groups) == ("sums", "Sums", ("all",))
    assert pcnet.nn.method_named("SUMS") is type(settings)
    for wrong, words in (({"dropout": 1.0}, "dropout = 1.0"), ({"hidden": 2.5}, "hidden must be a whole number")):
        with pytest.raises(PcnetError, match=words):
            replace(settings, **wrong)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_seed_gives_the_same_bits_beside_whatever_runs(threads):
    graph, batch = runs(registered())
    together = train(graph, batch, threads=threads)
    for run, outcome in zip(batch, together, strict=True):
        same(outcome, train(graph, [run], threads=1)[0])
    assert not torch.equal(together[0].logits, together[1].logits)


def test_it_learns_and_is_what_its_module_computes():
    graph, [run] = runs(registered(dropout=0.0, noise=0.0), 1, TRAINING)
    [outcome] = train(graph, [run], threads=1)
    _, split = planted(0.8)
    assert (outcome.logits.argmax(1)[split.test] == split.labels[split.test]).double().mean() > 0.8
    module = Sums(30, 3)
    module.load_state_dict({k: v for k, v in outcome.model.module.state_dict().items()}, strict=False)
    edges = torch.cat([graph.edge_index, graph.edge_index.flip(0)], dim=1).unique(dim=1)
    module.train()
    module.dropout.p = module.noise = 0.0
    torch.testing.assert_close(module(graph.x, edges), outcome.logits, rtol=1e-4, atol=1e-4)


def test_side_by_side_is_one_by_one():
    """As on a GPU: several runs in one stack, with gradients of their own."""
    graph, settings = planted(0.8)[0], registered(noise=0.0)
    models = [settings.build(30, 3, seed=seed).eval() for seed in range(3)]
    stacked = type(models[0]).stack(models)
    together = stacked(graph.x, settings.operator(graph))
    together.square().sum().backward()
    for run, model in enumerate(models):
        alone = model(graph.x, graph.edge_index)
        torch.testing.assert_close(together[run], alone)
        alone.square().sum().backward()
        for ours, own in zip(stacked.parameters(), model.parameters(), strict=True):
            assert ours.requires_grad == own.requires_grad
            if own.requires_grad:
                torch.testing.assert_close(ours.grad[run], own.grad, rtol=1e-4, atol=1e-5)
    assert len(stacked.parameter_groups()["all"]) == len(list(stacked.parameters())) - 1, "a buffer is not trained"


def test_saved_and_loaded(tmp_path):
    graph, [run] = runs(registered(), 1)
    [outcome] = train(graph, [run], threads=1)
    save_model(outcome.model, run.model, tmp_path / "model")
    model, settings = load_model(tmp_path / "model")
    assert settings == run.model
    with torch.no_grad():
        assert torch.equal(model(graph.x, settings.operator(graph)), outcome.logits)
    del METHODS._entries["sums"]
    with pytest.raises(PcnetError, match=r"the method 'sums', which test_own_method.py registers; .*--plugin"):
        load_model(tmp_path / "model")


def test_weights_and_sparse_features():
    """A graph's weights reach a forward that takes them; X comes as torch's sparse matrix where it is asked for."""
    edges, weight = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), torch.tensor([2.0, 2.0, 0.5, 0.5])
    x = CSR.from_torch(torch.eye(3).to_sparse())
    seen: dict[str, Any] = {}

    @pcnet.method("seen")
    class Seen(nn.Module):
        sparse_features = True

        def __init__(self, in_channels: int, out_channels: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(in_channels, out_channels))

        def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
            seen.update(x=x, edge_index=edge_index, edge_weight=edge_weight)
            return x @ self.weight

    model = method_named("seen")().build(3, 2)
    model(x, edges, weight)
    assert seen["x"].layout == torch.sparse_coo
    pairs = list(zip(*seen["edge_index"].tolist(), seen["edge_weight"].tolist(), strict=True))
    assert sorted(pairs) == [(0, 1, 2.0), (1, 0, 2.0), (1, 2, 0.5), (2, 1, 0.5)]
    model(x, edges)
    assert seen["edge_weight"] is None


def test_a_derived_model_is_batched():
    """A class derived from the package's base is as good as one in it."""
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class OwnSettings(LayeredNetSettings):
        gain: float = 1.0

    @pcnet.method("own")
    class Own(LayeredNet[OwnSettings]):
        def setup(self, s: OwnSettings) -> None:
            self.first = self.opening(s.hidden, drop=s.dropout)
            self.last = empty(s.hidden, self.out_channels)

        def reset_parameters(self, generator: torch.Generator | None = None) -> None:
            for weight in self.parameters():
                nn.init.xavier_uniform_(weight, generator=generator)

        def layers(self, h: Tensor, operator: Any) -> Tensor:
            return self.settings.gain * self.drop(h.relu()) @ self.last

    assert isinstance(Own(4, 8, 3, gain=2.0).settings, OwnSettings)
    graph, batch = runs(method_named("own")(hidden=4))
    assert len(train(graph, batch, threads=1)) == 3


def test_a_cell_that_is_run_again_defines_its_method_anew():
    registered()
    assert registered(hidden=3).hidden == 3
    with pytest.raises(PcnetError, match="There is a method 'gcn' already"):
        pcnet.method("gcn")(Sums)


def with_init(init: Any) -> type[nn.Module]:
    return type("Wrong", (Sums,), {"__init__": init})


def with_forward(forward: Any) -> type[nn.Module]:
    return type("Wrong", (Sums,), {"forward": forward})


SIGNATURES = {
    "no channels": (with_init(lambda self, features, classes: None), "takes (features, classes); a method takes in_ch"),
    "no default": (
        with_init(lambda self, in_channels, out_channels, hidden: None),
        "The setting 'hidden' of Wrong.__init__ has no default",
    ),
    "a list": (
        with_init(lambda self, in_channels, out_channels, widths=[8]: None),
        "has the default [8]; settings are numbers",
    ),
    "None without a type": (with_init(lambda self, in_channels, out_channels, k=None: None), "has the default None"),
    "a taken name": (with_init(lambda self, in_channels, out_channels, model=1: None), "cannot be called 'model'"),
    "no forward": (with_forward(lambda self, x: x), "Wrong.forward must take x, edge_index"),
    "no module": (int, "belongs above a class that is derived from torch.nn.Module"),
}


@pytest.mark.parametrize("case", SIGNATURES)
def test_a_wrong_signature_is_refused_at_once(case):
    kind, words = SIGNATURES[case]
    with pytest.raises(PcnetError) as error:
        pcnet.method("wrong")(kind)
    assert words in str(error.value)
    assert "wrong" not in METHODS


def failing(self: Any, x: Tensor, edge_index: Tensor) -> Tensor:
    return self.second(x)


def counting(self: Any, x: Tensor, edge_index: Tensor) -> Tensor:
    self.scale.add_(1)
    return self.second(self.first(x))


FORWARDS = {
    "shape": (
        lambda self, x, edge_index: self.first(x),
        "returns (240, 8); forward must return logits of shape (2",
    ),
    "no tensor": (lambda self, x, edge_index: None, "returns NoneType; forward must return logits"),
    "NaN": (lambda self, x, edge_index: self.second(self.first(x)) * math.nan, "NaN or infinite logits in its first"),
    "its own error": (failing, "failed in line"),
    "a buffer that changes": (counting, "changes 'scale' while it computes"),
}


@pytest.mark.parametrize("case", FORWARDS)
def test_a_wrong_output_is_refused_in_the_first_epoch(case):
    forward, words = FORWARDS[case]
    pcnet.method("wrong")(with_forward(forward))
    graph, [run] = runs(method_named("wrong")(), 1)
    with pytest.raises(PcnetError) as error:
        train(graph, [run], threads=1)
    assert words in str(error.value)
    assert str(error.value).startswith("The method 'wrong'")
    assert "\n" not in str(error.value)


PARAMETERS = {
    "lazy": (lambda in_channels: nn.LazyLinear(3), "has lazy layers"),
    "nothing to train": (lambda in_channels: nn.Identity(), "has no parameters to train"),
    "an error": (lambda in_channels: nn.Linear(-1, 3), "cannot be made in line"),
}


@pytest.mark.parametrize("case", PARAMETERS)
def test_parameters_that_cannot_be_trained(case):
    make, words = PARAMETERS[case]

    def init(self: Any, in_channels: int, out_channels: int) -> None:
        nn.Module.__init__(self)
        self.inner = make(in_channels)

    pcnet.method("wrong")(with_init(init))
    with pytest.raises(PcnetError, match=words):
        method_named("wrong")().build(4, 3)


FILES = {
    "not there": (None, "There is no file"),
    "not Python": ("def (", "is not Python: invalid syntax in line 1"),
    "an error": ("x = 1\ny = x / 0\n", "stopped in line 2 of plugin.py with ZeroDivisionError"),
    "an import that is not there": ("import no_such_package\n", "stopped in line 1 of plugin.py with ModuleNotFound"),
    "no method": ("x = 1\n", "registers no method"),
    "a taken name": (EXAMPLE.read_text().replace('"mine"', '"gcn"'), "There is a method 'gcn' already"),
    "a wrong signature": (EXAMPLE.read_text().replace("hidden: int = 32", "hidden: int"), "takes|default"),
}


@pytest.mark.parametrize("case", FILES)
def test_a_bad_file_is_a_sentence(case, tmp_path):
    content, words = FILES[case]
    path = tmp_path / "plugin.py"
    if content is not None:
        path.write_text(content)
    with pytest.raises(PcnetError, match=words) as error:
        load_plugin(path)
    assert "plugin.py" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_good_file_is_run_once(tmp_path):
    path = tmp_path / "plugin.py"
    path.write_text(EXAMPLE.read_text())
    load_plugin(path)
    kind = method_named("mine")
    load_plugin(tmp_path / "." / "plugin.py")
    assert method_named("mine") is kind
    assert len(EXAMPLE.read_text().splitlines()) <= 40


def test_an_entry_point_is_loaded_when_its_method_is_asked_for(tmp_path, monkeypatch):
    """As an installed package has it: metadata on the path, and a module."""
    (tmp_path / "offered_method.py").write_text(EXAMPLE.read_text().replace('"mine"', '"offered"'))
    info = tmp_path / "offered-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: offered\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pcnet.methods]\noffered = offered_method\nbroken = no_such_module\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert method_named("Offered")().hidden == 32
    with pytest.raises(PcnetError, match="which offers the method 'broken', stopped"):
        method_named("broken")


def test_models_say_what_registered_them(tmp_path):
    settings = registered()
    save_model(settings.build(4, 3, seed=0), settings, tmp_path / "model")
    assert json.loads((tmp_path / "model.json").read_text())["registered_by"] == "test_own_method.py"
