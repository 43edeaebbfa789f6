"""Under torch.compile a model that contains our layers computes what it computes without."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from pcnet.data import csbm
from pcnet.graph import CSR
from pcnet.nn import Draws, PCConv, PCNet

# The compiler itself warns while it traces; a break in the graph at our NumPy and SciPy parts is fine.
pytestmark = pytest.mark.filterwarnings("ignore")

GRAPH = csbm(100, 0.5, classes=3, features=12, average_degree=12, seed=0)


class Surrounding(nn.Module):
    """Layers of torch before and after ours."""

    def __init__(self, mode: str) -> None:
        super().__init__()
        self.first, self.conv, self.last = nn.Linear(12, 8), PCConv(3, 5, 0.5, mode=mode), nn.Linear(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.last(self.conv(self.first(x).relu(), edge_index).tanh()).log_softmax(1)


@pytest.fixture(autouse=True)
def fresh_compiler():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def check(model: nn.Module, backend: str, x: Tensor | CSR, tolerance: float) -> None:
    """Training output and gradients, then evaluation."""
    compiled = torch.compile(model, backend=backend)
    results = []
    for call in (model, compiled):
        model.draws = Draws([3], 0)  # the same bits for both: a compiler draws from torch's generator in its own way
        z = call(x, GRAPH.edge_index)
        results.append((z, *torch.autograd.grad(z[:, 0].sum(), list(model.parameters()))))
    model.eval()
    with torch.no_grad():
        results[0] += (model(x, GRAPH.edge_index),)
        results[1] += (compiled(x, GRAPH.edge_index),)
    for plain, other in zip(*results, strict=True):
        if tolerance:
            torch.testing.assert_close(other, plain, rtol=tolerance, atol=tolerance * float(plain.detach().abs().max()))
        else:
            assert torch.equal(other, plain)


@pytest.mark.parametrize("mode", ["truncated", "limit"])
@pytest.mark.parametrize("backend", ["eager", pytest.param("inductor", marks=pytest.mark.slow)])
def test_layer_inside_a_compiled_model(backend, mode):
    check(Surrounding(mode), backend, GRAPH.x, 0.0 if backend == "eager" else 1e-5)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
def test_the_whole_model_compiled(backend, sparse):
    """With all three dropouts."""
    x = CSR.from_torch(GRAPH.x.relu().to_sparse()) if sparse else GRAPH.x
    model = PCNet(12, 8, 3, drop_in=0.2, drop_hidden=0.3, drop_prop=0.1)
    check(model, backend, x, 0.0 if backend == "aot_eager" else 1e-5)
