"""The GPU computes what the CPU computes. Run on a machine with a CUDA device; skipped elsewhere."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse
import torch

from pcnet.data import csbm, load_dataset, make_split
from pcnet.graph import CSR, Operator
from pcnet.nn import DeviceDraws, PCNet, PCNetSettings
from pcnet.polynomial import Chebyshev, Powers
from pcnet.propagate import apply_polynomial, product
from pcnet.training import LOSSES, Run, Targets, TrainingSettings, train
from pcnet.training._run import selections

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
CUDA = torch.device("cuda")
NO_DROPOUT = {"drop_in": 0.0, "drop_hidden": 0.0}


def ring(n: int = 500, dtype: torch.dtype = torch.float32) -> Operator:
    generator = torch.Generator().manual_seed(0)
    edges = torch.randint(0, n, (2, 4 * n), generator=generator)
    return Operator.from_edges(torch.cat([edges, edges.flip(0)], dim=1), n, eta=0.45, dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_product(dtype: torch.dtype) -> None:
    operator, x = ring(dtype=dtype), torch.randn(500, 37, dtype=dtype)
    expected = product(operator.matrix, x)
    found = product(operator.to(CUDA).matrix, x.to(CUDA)).cpu()
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("basis", [Powers(1.2), Powers((1.1, 1.2, 1.5)), Chebyshev(-1.5, 1.7)])
def test_polynomial_and_its_gradients(basis) -> None:
    operator = ring(dtype=torch.float64)
    x, c = torch.randn(3, 500, 5, dtype=torch.float64), torch.randn(3, 7, dtype=torch.float64)
    results = []
    for place in ("cpu", "cuda"):
        inputs = [tensor.to(place).requires_grad_() for tensor in (x, c)]
        z = apply_polynomial(operator.to(place), *inputs, basis)
        results.append([z, *torch.autograd.grad(z.square().sum(), inputs)])
    for expected, found in zip(*results, strict=True):
        torch.testing.assert_close(found.cpu(), expected, rtol=1e-9, atol=1e-9)


def test_hubs_and_common_features() -> None:
    """Rows and columns of a thousand entries have a launch of their own."""
    n, hubs = 3000, 3
    ends = torch.randint(0, n, (2, 4000), generator=torch.Generator().manual_seed(1))
    star = torch.stack([torch.arange(n), torch.arange(n) % hubs])
    edges = torch.cat([ends, star], dim=1)
    operator = Operator.from_edges(torch.cat([edges, edges.flip(0)], dim=1), n, eta=0.45)
    dense = (torch.rand(n, 40, generator=torch.Generator().manual_seed(2)) < 0.05).float()
    dense[:, 0], dense[5] = 1.0, 1.0
    x = CSR.from_scipy(scipy.sparse.csr_matrix(dense.numpy()))
    models = [PCNet(40, 16, 3, K=3, N=3, t=0.4, p=2.1, eta=0.45, **NO_DROPOUT) for _ in range(2)]
    results = []
    for place in ("cpu", "cuda"):
        model = PCNet.stack(models).to(place)
        z = model(x.to(place), operator.to(place))
        grads = torch.autograd.grad(z.square().mean(), list(model.parameters()))
        results.append([z.detach().cpu(), *(grad.cpu() for grad in grads)])
    for expected, found in zip(*results, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("activation", [None, "relu", "elu"])
@pytest.mark.parametrize("hidden", [None, 24])
@pytest.mark.parametrize("sparse", [True, False])
def test_model_gradients_without_dropout(activation, hidden, sparse) -> None:
    operator = ring()
    features = CSR.from_scipy(scipy.sparse.random(500, 60, 0.1, random_state=0))
    x = features if sparse else features.to_dense()
    rest = {"activation": activation, **NO_DROPOUT}
    models = [PCNet(60, hidden, 4, K=3, N=5, t=0.4 * k, p=2.1, eta=0.45, **rest) for k in (1, 2, 3)]
    stacked = PCNet.stack(models)
    expected = stacked(x, operator)
    target = torch.randn_like(expected)
    expected_grads = torch.autograd.grad((expected * target).sum(), list(stacked.parameters()))
    device_model = PCNet.stack(models).to(CUDA)
    found = device_model(x.to(CUDA), operator.to(CUDA))
    grads = torch.autograd.grad((found * target.to(CUDA)).sum(), list(device_model.parameters()))
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-4, atol=1e-4)
    for one, other in zip(grads, expected_grads, strict=True):
        torch.testing.assert_close(one.cpu(), other, rtol=2e-4, atol=2e-3)


def test_gradients_with_dropout_are_those_of_the_same_masks() -> None:
    """With the draws held fixed, the loss is linear in each parameter: differences are derivatives, but for rounding.

    Along a direction of standard normal draws, a derivative is about as large as the gradient is long.
    """
    operator = ring(200, torch.float32).to(CUDA)
    x = CSR.from_scipy(scipy.sparse.random(200, 30, 0.2, random_state=0)).to(CUDA)
    model = PCNet.stack(
        [PCNet(30, 16, 3, eta=0.45, drop_in=0.3, drop_hidden=0.4, drop_prop=0.2 * k) for k in range(3)]
    ).to(CUDA)
    model.draws = DeviceDraws(torch.tensor([1, 2, 3], device=CUDA), torch.tensor(5, device=CUDA))
    target = torch.randn(3, 200, 3, device=CUDA)

    def loss() -> torch.Tensor:
        return (model(x, operator) * target).double().sum()

    for parameter in model.parameters():
        (grad,) = torch.autograd.grad(loss(), [parameter])
        direction = torch.randn_like(parameter)
        with torch.no_grad():
            parameter += 1e-2 * direction
            above = loss()
            parameter -= 2e-2 * direction
            below = loss()
            parameter += 1e-2 * direction
        numeric, exact = float((above - below) / 2e-2), float((grad * direction).double().sum())
        assert abs(numeric - exact) <= 1e-3 * float(grad.norm())


@pytest.mark.parametrize("precision", ["float32", "tf32", "bfloat16"])
@pytest.mark.parametrize("hidden", [None, 24])
def test_features_with_few_zeros_are_multiplied_on_tensor_cores(precision, hidden) -> None:
    """In float32 as exactly as elsewhere, and each run by itself: one of them is a billion times larger."""
    operator = ring(3000)
    features = CSR.from_scipy(scipy.sparse.random(3000, 403, 0.1, random_state=0))
    rest = {"precision": precision, **NO_DROPOUT}
    models = [PCNet(403, hidden, 4, K=3, N=3, t=0.3 * k, p=2.1, eta=0.45, **rest) for k in (1, 2, 3)]
    with torch.no_grad():
        models[1].transform.weights[0] *= 1e9
    target = torch.randn(3, 3000, 4)
    results = []
    for place in ("cpu", "cuda"):
        model = PCNet.stack(models).to(place)
        z = model(features.to(place), operator.to(place))
        grads = torch.autograd.grad((z * target.to(place)).sum(), list(model.parameters()))
        results.append([z.detach().cpu(), *(grad.cpu() for grad in grads)])
    tolerance = {"float32": 2e-5, "tf32": 5e-3, "bfloat16": 5e-2}[precision]
    for expected, found in zip(*results, strict=True):
        for one, other in zip(expected, found, strict=True):
            assert float((one - other).norm()) <= tolerance * float(one.norm())


def test_dropout_bits_look_random() -> None:
    from pcnet.nn import device as kernels

    def signs(seeds, epoch, layer):
        draws = DeviceDraws(torch.tensor(seeds, device=CUDA), torch.tensor(epoch, device=CUDA))
        half = kernels.Dropout(torch.full((len(seeds),), 0.5, device=CUDA), layer)
        return (kernels.masked(torch.ones(len(seeds), 1000, 1000, device=CUDA), draws, half) > 0).double() * 2 - 1

    a, b = signs([1, 2], 0, 1)
    (later,), (deeper,) = signs([1], 1, 1), signs([1], 0, 2)
    pairs = [(a, b), (a, later), (a, deeper), (a[1:], a[:-1]), (a[:, 1:], a[:, :-1]), (a, a.T), (a, torch.ones_like(a))]
    for one, other in pairs:
        # A million coin flips: a mean of five thousandths is five deviations away.
        assert abs(float((one * other).mean())) < 5e-3


@pytest.mark.parametrize("precision", ["tf32", "bfloat16"])
def test_coarser_training_ends_about_as_well(precision) -> None:
    graph = load_dataset("citeseer")
    model = PCNetSettings(K=4, N=4, t=0.4, p=3.1, eta=0.6, init=0.5, drop_in=0.0, drop_hidden=0.5)
    training = TrainingSettings(lr={"all": 0.01}, wd={"all": 1e-4}, epochs=200, patience=50)
    batch = runs(graph, 5, model, training)
    coarse = [dataclasses.replace(run, model=dataclasses.replace(run.model, precision=precision)) for run in batch]
    exact, rough = (train(graph, each, device="cuda") for each in (batch, coarse))
    best = [np.mean([outcome.val_score.max() for outcome in outcomes]) for outcomes in (exact, rough)]
    assert best[1] == pytest.approx(best[0], abs=0.01)


def runs(graph, count: int, model: PCNetSettings, training: TrainingSettings) -> list[Run]:
    splits = [make_split(graph, "random-60-20-20", seed) for seed in range(count)]
    return [Run(model, training, Targets.from_split(split), seed) for seed, split in enumerate(splits)]


def assert_logits_of_the_best_epoch(batch, outcomes) -> None:
    for run, outcome in zip(batch, outcomes, strict=True):
        loss = torch.nn.functional.cross_entropy(outcome.logits[run.targets.val], run.targets.val_labels)
        assert float(loss) == pytest.approx(outcome.val_loss[outcome.best_epoch], rel=1e-4)


def test_training_without_dropout_follows_the_cpu() -> None:
    graph = load_dataset("citeseer")
    model = PCNetSettings(K=4, N=4, t=0.4, p=3.1, eta=0.6, init=0.5, drop_in=0.0, drop_hidden=0.0)
    training = TrainingSettings(lr={"all": 0.01}, wd={"all": 1e-4}, epochs=60, patience=20)
    batch = runs(graph, 3, model, training)
    batch[1] = dataclasses.replace(
        batch[1], training=dataclasses.replace(training, optimizer="adamw", select="val_accuracy")
    )
    descent = dataclasses.replace(training, optimizer="sgd", lr={"all": 2.0})
    batch[2] = dataclasses.replace(batch[2], training=descent)
    expected, found = train(graph, batch), train(graph, batch, device="cuda")
    for one, other in zip(expected, found, strict=True):
        assert one.epochs == other.epochs
        np.testing.assert_allclose(other.val_loss, one.val_loss, rtol=2e-3)
        same = (one.logits.argmax(1) == other.logits.argmax(1)).float().mean()
        assert float(same) > 0.995


@pytest.mark.filterwarnings("error::pcnet.PcnetWarning")
def test_every_loss_is_captured_and_follows_the_cpu() -> None:
    """All in one block, those with a kernel and those without, by every stopping rule."""
    graph = csbm(n=400, phi=0.5, classes=3, seed=1)
    model = PCNetSettings(K=3, N=6, t=0.3, drop_in=0.0, drop_hidden=0.0)
    base = TrainingSettings(lr={"all": 0.02}, epochs=60, patience=10)
    training = [
        dataclasses.replace(base, loss=loss, stopping=stopping, class_weight=weight)
        for loss in LOSSES
        for stopping, weight in (("patience", "none"), ("window", "balanced"))
    ]
    batch = [
        dataclasses.replace(run, training=own)
        for run, own in zip(runs(graph, len(training), model, base), training, strict=True)
    ]
    for one, other in zip(train(graph, batch), train(graph, batch, device="cuda"), strict=True):
        length = min(one.epochs, other.epochs)
        assert abs(one.epochs - other.epochs) <= 2
        np.testing.assert_allclose(other.val_loss[:length], one.val_loss[:length], rtol=2e-3)


@pytest.mark.filterwarnings("error::pcnet.PcnetWarning")
def test_every_metric_chooses_epochs_on_the_device() -> None:
    """Captured like any epoch, and the values are those of the logits that are kept."""
    graph = csbm(n=400, phi=0.5, classes=3, seed=1)
    model = PCNetSettings(K=3, N=6, t=0.3, drop_in=0.0, drop_hidden=0.0)
    every = [*selections()] * 2
    training = [TrainingSettings(lr={"all": 0.02}, epochs=40, patience=15, select=select) for select in every]
    batch = runs(graph, len(every), model, training[0])
    batch = [dataclasses.replace(run, training=own) for run, own in zip(batch, training, strict=True)]
    expected, found = train(graph, batch), train(graph, batch, device="cuda")
    for run, one, other in zip(batch, expected, found, strict=True):
        value = run.training.val_metric.share(other.logits[run.targets.val], run.targets.val_labels)
        assert other.val_score[other.best_epoch] == pytest.approx(value, abs=0.02)
        np.testing.assert_allclose(other.val_score[:10], one.val_score[:10], atol=0.02)
    assert_logits_of_the_best_epoch(batch, found)


def test_many_runs_shrink_and_end_like_one_at_a_time() -> None:
    graph = csbm(n=400, phi=0.5, seed=1)
    model = PCNetSettings(K=3, N=3, t=0.3, drop_in=0.2, drop_hidden=0.3, drop_prop=0.1)
    training = TrainingSettings(lr={"all": 0.05}, epochs=300, patience=40, stopping="patience")
    # Longer than the host looks away: runs move to a smaller block while their best epoch is behind them.
    batch = runs(graph, 40, model, training)
    together = train(graph, batch, device="cuda")
    for index in (0, 17, 39):
        (alone,) = train(graph, [batch[index]], device="cuda")
        np.testing.assert_allclose(together[index].val_loss[:10], alone.val_loss[:10], rtol=1e-3)
    assert len({outcome.epochs for outcome in together}) > 3
    for outcome in together:
        assert outcome.best_epoch == int(np.argmin(outcome.val_loss))
        assert outcome.epochs - 1 - outcome.best_epoch in (40, 299 - outcome.best_epoch)
    assert_logits_of_the_best_epoch(batch, together)


def test_interrupted_and_resumed_on_the_device(tmp_path) -> None:
    graph = csbm(n=400, phi=0.5, seed=1)
    model = PCNetSettings(K=3, N=3, t=0.3, drop_in=0.2, drop_hidden=0.3)
    training = TrainingSettings(lr={"all": 0.02}, epochs=120, stopping="none")
    batch = runs(graph, 4, model, training)
    undisturbed = train(graph, batch, device="cuda")

    class Stop:
        seen = 0

        def stage(self, title: str, total: int) -> None: ...

        def advance(self, units: int = 1) -> None:
            self.seen += units
            if self.seen >= 200:
                raise RuntimeError("pulled the plug")

    with pytest.raises(RuntimeError, match="plug"):
        train(graph, batch, device="cuda", checkpoint=tmp_path, progress=Stop())
    resumed = train(graph, batch, device="cuda", checkpoint=tmp_path, resume=True)
    for one, other in zip(undisturbed, resumed, strict=True):
        np.testing.assert_array_equal(one.val_loss, other.val_loss)
        torch.testing.assert_close(one.logits, other.logits, rtol=0, atol=0)
