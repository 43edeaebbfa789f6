"""The benchmark on a GPU. Run on a machine with a CUDA device; skipped elsewhere."""

from __future__ import annotations

import json

import pytest
import torch
from benchmarks.bandwidth import Copy, measure_bandwidth
from benchmarks.effort import Effort
from benchmarks.filters import filters
from benchmarks.graphs import Sample, random_graph
from benchmarks.memory import peak_bytes
from benchmarks.race import measure_scale, measure_ways
from benchmarks.training import measure_methods, measure_training

from pcnet import PCNetSettings
from pcnet._machine import free_bytes
from pcnet._progress import Silent
from pcnet.data import load_embedded

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
    pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning"),
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta"),
]


def results(sample: Sample, x: torch.Tensor, gradient: torch.Tensor) -> list[list[torch.Tensor]]:
    found = []
    for way in filters(sample, PCNetSettings(K=4, N=6, eta=0.5)):
        z = way.apply(x)
        found.append([part.cpu().flatten() for part in (z, *torch.autograd.grad(z, [x, way.theta], gradient))])
    return found


def test_ways_agree_with_each_other_and_with_the_cpu() -> None:
    draw = torch.Generator().manual_seed(0)
    x, gradient = torch.rand(2, 700, 12, generator=draw)
    (expected, *_), sample = results(random_graph(700), x.clone().requires_grad_(), gradient), random_graph(700)
    for found in results(sample.to("cuda"), x.cuda().requires_grad_(), gradient.cuda()):
        for theirs, mine in zip(found, expected, strict=True):
            torch.testing.assert_close(theirs, mine, rtol=1e-4, atol=1e-4 * mine.abs().max().item())


def test_memory_of_a_call() -> None:
    x = torch.rand(2**20, device="cuda")
    assert peak_bytes(lambda: (x + 1) * 2, "cuda") == 2 * x.nbytes
    assert free_bytes("cuda") > x.nbytes


def test_sections() -> None:
    effort = Effort.planned("cuda", quick=True, rounds=1, largest=500)
    for measure in (measure_ways, measure_scale, measure_bandwidth):
        result = measure(effort, Silent())
        assert json.loads(json.dumps(result, allow_nan=False)) == result
        assert [row for row in result["rows"] if "skipped" in row] == []
    rows = measure_training(effort, Silent(), {"citeseer": load_embedded()})["rows"]
    assert [row["runs"] for row in rows] == [1, 10]
    rows = measure_methods(effort, Silent(), {"citeseer": load_embedded()})["rows"]
    assert [row["runs"] for row in rows] == [10] * 4
    assert Copy(effort)() > 1e10
