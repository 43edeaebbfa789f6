"""Responses are learned through the real layer, as well as the best polynomial fits, and K helps."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from counted_progress import Counted
from rich.console import Console

from pcnet import PcnetError
from pcnet.nn import PCConv
from pcnet.paper import figure2_table, plot_figure2, run_figure2
from pcnet.paper._figure2 import POINTS, TARGETS, WAYS, P, Spectrum, T, best_polynomial, learn, orthonormal, rmse
from pcnet.polynomial import filter_family, fit_response

ORDERS = (2, 4, 6)
PLAIN, PHI = WAYS


@pytest.fixture(scope="module")
def spectrum():
    return Spectrum.of_grid(9)


@pytest.fixture(scope="module")
def progress():
    return Counted()


@pytest.fixture(scope="module")
def report(progress):
    found = run_figure2(ORDERS, seeds=3, side=14, steps=300, progress=progress)
    return json.loads(json.dumps(found, allow_nan=False))


def test_eigenvalues_fill_the_interval():
    lam = Spectrum.of_grid(20).lam
    assert lam[0] == pytest.approx(0, abs=1e-12)
    assert 1.95 < lam[-1] < 2
    assert (np.diff(lam) > 1e-9).all(), "no two are the same"
    assert np.histogram(lam, bins=20, range=(0, 2))[0].min() > 0


def test_filtered_is_the_operator_for_a_polynomial(spectrum):
    x = torch.randn(81, 3, dtype=torch.float64)
    once = x - torch.from_numpy(spectrum.operator.matrix.to_scipy() @ x.numpy())
    torch.testing.assert_close(spectrum.filtered(lambda lam: lam, x), once, atol=1e-12, rtol=0)
    torch.testing.assert_close(spectrum.filtered(np.ones_like, x), x, atol=1e-12, rtol=0)


@pytest.mark.parametrize("K", [2, 7, 12])
def test_orthonormal_coordinates(K):
    filters = filter_family(POINTS, K, K, T) @ orthonormal(K)
    np.testing.assert_allclose(filters.T @ filters / len(POINTS), np.eye(K + 1), atol=1e-6)


def test_learns_a_response_that_it_has(spectrum):
    """y comes from the eigenvectors, the gradient from the layer: θ is found again."""
    planted = PCConv(4, 4, T, P)
    torch.nn.init.normal_(planted.theta, generator=torch.Generator().manual_seed(3))
    x = torch.randn(1, 81, 4, dtype=torch.float64)
    y = spectrum.filtered(planted.response, x[0])[None]
    theta = learn(4, WAYS[PHI], x, y, spectrum.operator, [0], 400)
    np.testing.assert_allclose(theta[0], planted.theta.detach().numpy(), atol=2e-3)


@pytest.mark.parametrize("way", WAYS)
def test_trainings_do_not_see_each_other(spectrum, way):
    x = torch.randn(3, 81, 2, dtype=torch.float64)
    y = torch.stack([spectrum.filtered(TARGETS["comb"], each) for each in x])
    together = learn(5, WAYS[way], x, y, spectrum.operator, [0, 1, 2], 30)
    for run in range(3):
        alone = learn(5, WAYS[way], x[run : run + 1], y[run : run + 1], spectrum.operator, [run], 30)
        np.testing.assert_array_equal(alone[0], together[run])


def test_error_falls_with_every_filter(report):
    for name in TARGETS:
        errors = [cell["learned"][PHI]["eigenvalues"]["median"] for cell in report["cells"] if cell["target"] == name]
        assert len(errors) == len(ORDERS)
        assert (np.diff(errors) < 0).all()


def test_nothing_is_better_than_the_optimum_and_one_way_reaches_it(report):
    for cell in report["cells"]:
        for place, best in cell["optimum"].items():
            for way in WAYS:
                assert min(cell["learned"][way][place]["per_seed"]) >= best
        best = cell["optimum"]["eigenvalues"]
        assert cell["learned"][PHI]["eigenvalues"]["median"] < 1.1 * best


@pytest.mark.parametrize("name", TARGETS)
def test_both_optima_are_one(name):
    """The best polynomial is the best filter, where both can be computed."""
    wanted = TARGETS[name](POINTS)
    for K in ORDERS:
        error = rmse(best_polynomial(K, POINTS, TARGETS[name]), wanted)
        assert error == pytest.approx(fit_response(TARGETS[name], K, K, T, P).rmse, rel=1e-6)


def test_the_kept_theta_has_the_median_error(report):
    lam = Spectrum.of_grid(14).lam
    for cell in report["cells"]:
        for way in WAYS:
            found = cell["learned"][way]
            conv = PCConv(cell["K"], cell["K"], T, P).double()
            conv.theta.data = torch.tensor(found["theta"], dtype=torch.float64)
            error = rmse(conv.response(lam), TARGETS[cell["target"]](lam))
            assert error == pytest.approx(found["eigenvalues"]["median"], rel=1e-6)


def test_says_how_far_it_is(report, progress):
    assert progress.advances == len(ORDERS) * len(WAYS)
    assert progress.done == progress.total == len(WAYS) * sum(ORDERS)


def test_table(report):
    sheet = figure2_table(report)
    assert [(row[0], row[1]) for row in sheet.rows] == [(name, str(K)) for name in TARGETS for K in ORDERS]
    assert f"comb, {PHI}: the error falls with every K." in sheet.notes
    worse = json.loads(json.dumps(report))
    worse["cells"][1]["learned"][PHI]["eigenvalues"]["median"] = 9.0
    assert f"comb, {PHI}: the error falls up to K = 2 only." in figure2_table(worse).notes
    assert "\\|sin" not in sheet.markdown(), "only cells need an escape"
    with (console := Console(width=120)).capture() as shown:
        console.print(sheet.rich())
    assert "low-band-pass" in shown.get()


def test_picture(report, tmp_path):
    plot_figure2(report, tmp_path / "figure2.png")
    picture = (tmp_path / "figure2.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(picture) > 30_000
    plot_figure2(report, tmp_path / "figure2.png")
    assert (tmp_path / "figure2.png").read_bytes() == picture


def test_refusals():
    with pytest.raises(PcnetError, match="K = 40 is too many"):
        run_figure2([2, 40])
    with pytest.raises(PcnetError, match="K must be at least 1, not 0"):
        run_figure2([0])
    with pytest.raises(PcnetError, match="steps must be at least 1"):
        run_figure2([2], steps=0)
