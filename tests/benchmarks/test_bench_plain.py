"""The scheme that pcnet is measured against computes what pcnet computes."""

import pytest
import torch
from benchmarks.filters import filters
from benchmarks.graphs import Sample, random_graph
from benchmarks.memory import held_bytes, peak_bytes, saved_bytes
from benchmarks.plain import PlainPCNet, charlier
from benchmarks.plain_training import PlainTraining

from pcnet import Graph, PCNet, PCNetSettings, TrainingSettings, make_split, poisson_charlier
from pcnet.experiment import Experiment

NODES, FEATURES, CLASSES = 60, 20, 3
SETTINGS = PCNetSettings(hidden=16, K=3, N=5, t=0.7, p=2.2, eta=0.4, init=0.8, drop_in=0.0, drop_hidden=0.0)


def small_graph(dtype: torch.dtype = torch.float64, nodes: int = NODES) -> Graph:
    draw = torch.Generator().manual_seed(0)
    source, target = torch.randint(nodes, (2, 3 * nodes), generator=draw)
    # Both directions, native loops among them, the last node alone.
    dense = torch.zeros(nodes, nodes)
    dense[source, target] = dense[target, source] = 1
    dense[-1] = dense[:, -1] = 0
    x = torch.rand(nodes, FEATURES, generator=draw, dtype=dtype)
    return Graph(dense.nonzero().t().contiguous(), x, torch.arange(nodes) % CLASSES)


def twins() -> tuple[PCNet, PlainPCNet]:
    """Both models in double precision with the same weights."""
    ours = SETTINGS.build(FEATURES, CLASSES, seed=1).double()
    plain = PlainPCNet(FEATURES, CLASSES, SETTINGS).double()
    with torch.no_grad():
        ours.conv.theta.copy_(torch.linspace(-1, 1, SETTINGS.K + 1))
        plain.conv.theta.copy_(ours.conv.theta)
        for place, layer in enumerate((plain.first, plain.second)):
            layer.weight.copy_(ours.transform.weights[place].t())
            layer.bias.copy_(ours.transform.biases[place])
    return ours, plain


def test_recursive_coefficients():
    for n in range(8):
        for gamma in range(1, 6):
            assert charlier(n, gamma, 0.7) == pytest.approx(float(poisson_charlier(n, gamma, 0.7)), rel=1e-12)


def test_outputs_and_gradients_equal_the_library():
    graph = small_graph()
    ours, plain = twins()
    z, z_plain = ours(graph.x, graph.edge_index), plain.logits(graph.x, graph.edge_index)
    torch.testing.assert_close(z_plain, z, rtol=1e-10, atol=1e-10)
    seed = torch.rand(z.shape, generator=torch.Generator().manual_seed(2), dtype=z.dtype)
    (z * seed).sum().backward()
    (z_plain * seed).sum().backward()
    pairs = [(ours.conv.theta.grad, plain.conv.theta.grad)]
    for place, layer in enumerate((plain.first, plain.second)):
        pairs.append((ours.transform.weights[place].grad.t(), layer.weight.grad))
        pairs.append((ours.transform.biases[place].grad, layer.bias.grad))
    for mine, theirs in pairs:
        torch.testing.assert_close(theirs, mine, rtol=1e-10, atol=1e-10)


def test_every_filter_is_the_same_filter():
    graph = small_graph()
    draw = torch.Generator().manual_seed(3)
    x, gradient = torch.rand(2, NODES, 4, generator=draw, dtype=torch.float64)
    x.requires_grad_()
    reference, *others = [
        (z := way.apply(x), *torch.autograd.grad(z, [x, way.theta], gradient))
        for way in filters(Sample.of(graph, SETTINGS.eta, torch.float64), SETTINGS)
    ]
    for other in others:
        for mine, theirs in zip(reference, other, strict=True):
            torch.testing.assert_close(theirs, mine.view_as(theirs), rtol=1e-10, atol=1e-10)


@pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")
@pytest.mark.parametrize(("order", "runs"), [(2, 1), (20, 1), (5, 3)])
def test_ways_agree_on_a_generated_graph_in_single_precision(order: int, runs: int):
    sample, settings = random_graph(500), PCNetSettings(K=4, N=order, t=0.5, p=2.0, eta=0.5)
    draw = torch.Generator().manual_seed(4)
    x, gradient = torch.rand(2, 500, runs * 4, generator=draw)
    x.requires_grad_()
    reference, *others = [
        (z := way.apply(x), *torch.autograd.grad(z, [x, way.theta], gradient))
        for way in filters(sample, settings, runs)
    ]
    # Each run of the library has a θ of its own, the others one for all runs.
    reference = (*reference[:2], reference[2].view(runs, -1).sum(0))
    for other in others:
        for mine, theirs in zip(reference, other, strict=True):
            torch.testing.assert_close(theirs, mine, rtol=1e-4, atol=1e-5 * mine.abs().max().item())


def test_runs_are_columns():
    graph, runs = small_graph(), 3
    x = torch.rand(NODES, runs * 4, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    ours, plain, *_ = filters(Sample.of(graph, SETTINGS.eta, torch.float64), SETTINGS, runs)
    torch.testing.assert_close(ours.apply(x), plain.apply(x), rtol=1e-10, atol=1e-10)


def test_plain_training_learns():
    graph = small_graph(torch.float32)
    separable = torch.nn.functional.one_hot(graph.y, FEATURES).float()
    graph = Graph(graph.edge_index, separable, graph.y)
    split = make_split(graph, "random-60-20-20", 0)
    rates = {"first": 0.05, "theta": 0.01, "second": 0.05}
    decays = dict.fromkeys(rates, 0.0)
    settings = TrainingSettings(lr=rates, wd=decays)
    training = PlainTraining(graph, split, Experiment("", "", "", (), SETTINGS, settings), seed=0)
    before = training.evaluate()[1]["train"]
    for _ in range(30):
        training.epoch()
    accuracies, losses = training.evaluate()
    assert losses["train"] < 0.7 * before
    assert accuracies["train"] > 0.8
    assert training.best_loss < before


def test_plain_scheme_refuses_what_it_is_not():
    with pytest.raises(ValueError, match="published model"):
        PlainPCNet(FEATURES, CLASSES, PCNetSettings(hidden=None))


def test_saved_bytes_counts_storages_once_and_constants_never():
    x = torch.rand(8, 4, requires_grad=True)
    constant = torch.rand(8, 4)
    assert saved_bytes(lambda h: h * h, x) == 8 * 4 * 4
    assert saved_bytes(lambda h: h * constant, x) == 8 * 4 * 4
    assert saved_bytes(lambda h: h * constant, x, [constant]) == 0
    assert saved_bytes(lambda h: (h.exp() * constant).exp(), x, [constant]) == 2 * 8 * 4 * 4


def test_held_bytes_is_what_a_forward_leaves_behind():
    x = torch.rand(8, 4, requires_grad=True)
    assert held_bytes(lambda h: h + 1, x) == 8 * 4 * 4
    assert held_bytes(lambda h: h.exp().exp(), x) == 2 * 8 * 4 * 4


def test_peak_bytes_is_the_most_at_a_time():
    x = torch.rand(1000, 4)
    size = x.nbytes

    def three_in_turn() -> None:
        a = x + 1
        b = a + 1
        del a
        c = b + 1
        del b, c

    assert peak_bytes(three_in_turn) == pytest.approx(2 * size, abs=100)
    assert peak_bytes(lambda: None) == 0
    # What was there before is not counted when it goes, nor what an operation needs for itself forgotten.
    assert peak_bytes(lambda: torch.sort(x.flatten())) >= 3 * size


@pytest.mark.parametrize("order", [2, 10, 20])
def test_the_library_keeps_x_alone(order: int):
    graph = small_graph(torch.float32, nodes=1000)
    settings = PCNetSettings(K=2, N=order, t=0.7, p=2.2, eta=0.4)
    x = torch.rand(1000, 8, requires_grad=True)
    size = x.nbytes
    ours, plain, *_ = filters(Sample.of(graph, settings.eta), settings)
    assert saved_bytes(ours.apply, x, ours.constants) <= 1.2 * size
    assert saved_bytes(plain.apply, x, plain.constants) > 2 * size
    # The output, and nothing on a shelf that the hooks do not see.
    ours.apply(x)
    assert held_bytes(ours.apply, x) <= 1.3 * size
