"""Exponents are those of the planted laws, and a letter measures what it says."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from benchmarks.complexity import METHODS, Size, Step, complexity_table, run_complexity, with_loops
from benchmarks.exponents import Exponent, fit_exponent
from benchmarks.graphs import random_graph
from benchmarks.plots import plot_complexity
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from pcnet import PcnetError
from pcnet.graph import Operator
from pcnet.paper import published_complexity

SMALL = Size(m=60, degree=4, N=2, K=2, C=3, F=8, d=4)


def quick(key: str):
    """A method with its letters, at two or three small values of each."""
    method = METHODS[key]
    values = {"m": (20, 40, 60), "degree": (2, 4)}
    letters = tuple(replace(letter, values=values.get(letter.field, (2, 5))) for letter in method.letters)
    return replace(method, letters=letters)


@pytest.fixture(scope="module")
def report():
    methods = {key: quick(key) for key in METHODS}
    found = run_complexity(methods, base=SMALL, rounds=2, seconds=1e-5)
    return json.loads(json.dumps(found, allow_nan=False))


@given(
    st.floats(-2, 3),
    st.floats(1e-3, 1e3),
    st.lists(st.integers(1, 10_000), min_size=2, max_size=8, unique=True),
    st.integers(1, 5),
)
def test_a_planted_power_law(b, a, sizes, rounds):
    """Without noise every resample has the same slope."""
    times = [[a * size**b for size in sizes]] * rounds
    found = fit_exponent(sizes, times)
    assert found.value == pytest.approx(b, abs=1e-8)
    assert found.ci95 == pytest.approx((b, b), abs=1e-8)


def test_noise_widens_the_interval_around_the_law():
    sizes, random, held = np.array([10, 20, 40, 80, 160]), np.random.default_rng(0), 0
    for seed in range(40):
        noise = np.exp(0.05 * random.standard_normal((15, 5)))
        found = fit_exponent(sizes, noise * sizes**1.5, seed=seed)
        assert found.ci95[0] < found.value < found.ci95[1]
        assert found.value == pytest.approx(1.5, abs=0.05)
        held += found.ci95[0] <= 1.5 <= found.ci95[1]
    assert held >= 34


def test_a_disturbed_round_does_not_count():
    sizes = [1, 2, 4, 8]
    times = [[3.0 * size for size in sizes] for _ in range(5)]
    times[2] = [50.0, 6.0, 12.0, 24.0]
    assert fit_exponent(sizes, times).value == pytest.approx(1)


def test_a_sum_of_terms_has_the_exponent_of_the_larger_one():
    """t = a + b·v: the slope is 1 where v is large, and 0 where it is small."""
    large, small = [[1.0 + v for v in sizes] for sizes in ((1e3, 1e4, 1e5), (1e-5, 1e-4, 1e-3))]
    assert fit_exponent((1e3, 1e4, 1e5), [large]).value == pytest.approx(1, abs=1e-3)
    assert fit_exponent((1e-5, 1e-4, 1e-3), [small]).value == pytest.approx(0, abs=1e-3)


def test_text_of_an_exponent():
    assert str(Exponent(0.9512, (-0.001, 1.0))) == "0.95 [0.00, 1.00]"


@pytest.mark.parametrize(
    ("sizes", "rounds", "words"),
    [
        ([1, 2], [[1.0]], "one time for each of 2 sizes"),
        ([1, 2], [], "one time for each of 2 sizes"),
        ([3, 3], [[1.0, 2.0]], "two different sizes"),
        ([1, 2], [[0.0, 1.0]], "above 0"),
        ([0, 2], [[1.0, 1.0]], "above 0"),
    ],
)
def test_refusals(sizes, rounds, words):
    with pytest.raises(PcnetError, match=words):
        fit_exponent(sizes, rounds)


def test_rows(report):
    letters = {method.name: [letter.symbol for letter in METHODS[key].letters] for key, method in METHODS.items()}
    assert {"|E|", "N", "C", "K"} <= set(letters["PC-Conv"])
    assert [(row["method"], row["letter"]) for row in report["rows"]] == [
        (name, letter) for name, of_method in letters.items() for letter in of_method
    ]
    for row in report["rows"]:
        values, medians = zip(*((point["value"], point["ms"]["median"]) for point in row["points"]), strict=True)
        assert all(ms > 0 for ms in medians)
        assert row["exponent"]["value"] == pytest.approx(fit_exponent(values, [medians]).value)
    assert report["formulas"] == {METHODS[key].name: published_complexity()[key] for key in METHODS}
    assert report["formulas"]["PC-Conv"] == "O(N|E|C) + O(mNKC) + O(K)"


def test_edges_are_counted_in_the_graph(report):
    row = next(row for row in report["rows"] if row["letter"] == "|E|")
    counted = [random_graph(SMALL.m, degree).edge_index.shape[1] // 2 for degree in (2, 4)]
    assert [point["value"] for point in row["points"]] == counted


def test_the_others_stay_while_one_varies():
    for method in METHODS.values():
        for letter in method.letters:
            sizes = [vars(size) for size in letter.sizes(SMALL)]
            assert len(sizes) >= 5
            assert [size.pop(letter.field) for size in sizes] == list(letter.values)
            rest = {name: value for name, value in vars(SMALL).items() if name != letter.field}
            assert all(size == rest for size in sizes)


@pytest.mark.parametrize("key", METHODS)
def test_a_step_computes_all_gradients(key):
    step = Step(METHODS[key], SMALL, random_graph(SMALL.m, SMALL.degree))
    assert step.gradient.shape == (SMALL.m, SMALL.C)
    assert step.x.shape == (SMALL.m, SMALL.F if key == "mlp" else SMALL.C)
    asked = {id(tensor) for tensor in step.wanted}
    assert {id(parameter) for parameter in step.layer.parameters()} <= asked
    assert (id(step.x) in asked) == (key != "mlp")
    gradients = torch.autograd.grad(step.layer(step.x, step.operator), step.wanted, step.gradient)
    assert all(gradient.abs().sum() > 0 for gradient in gradients)
    step()


@pytest.mark.parametrize("self_loops", ["add", "fill", "keep", "remove"])
def test_operators_have_the_loops_that_a_layer_wants(self_loops):
    sample = random_graph(50, 6)
    found = with_loops(sample, self_loops)
    expected = Operator.from_edges(sample.edge_index, 50, self_loops=self_loops)
    assert found.self_loops == expected.self_loops == self_loops
    torch.testing.assert_close(found.matrix.to_dense(), expected.matrix.to_dense(), rtol=1e-6, atol=0)


def test_table_and_picture(report, tmp_path):
    sheet = complexity_table(report)
    assert len(sheet.rows) == len(report["rows"])
    lines = [line for line in sheet.markdown().splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in lines} == {len(sheet.columns) + 1}
    with (console := Console(width=120)).capture() as shown:
        console.print(sheet.rich())
    assert "|E|" in shown.get()
    busy = complexity_table({**report, "other_processes": 1.5})
    assert "Other processes kept 1.5 cores busy meanwhile; repeat this." in busy.notes
    plot_complexity(report, tmp_path / "complexity.png")
    assert (tmp_path / "complexity.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_bad_settings():
    with pytest.raises(PcnetError, match="rounds must be at least 1, not 0"):
        run_complexity(rounds=0)
    with pytest.raises(PcnetError, match="seconds must be above 0"):
        run_complexity(seconds=0)
