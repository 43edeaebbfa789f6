"""The paper's Figure 2: two difficult filters that PC-Conv learns end to end, and the best that any θ could do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median, median_low
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pcnet._checks import FloatArray, whole_number
from pcnet._progress import Progress, Silent
from pcnet.errors import PcnetError
from pcnet.graph import Operator
from pcnet.nn import PCConv
from pcnet.polynomial import comb, filter_family, fit_response, identifiability, low_band_pass, pc_response
from pcnet.propagate import one_core
from pcnet.show import PALE, SOFT, Table, panels, save_figure, styled

Target = Callable[[Any], FloatArray]
TARGETS: dict[str, Target] = {"comb": comb, "low-band-pass": low_band_pass}
FORMULAS = {
    "comb": "|sin(πλ)|",
    "low-band-pass": "1 on [0, ½], e^(−100(λ−½)²) on (½, 1), e^(−50(λ−3/2)²) on [1, 2]",
}
#: Diffusion time and self-loop weight for every K. Of t = 0.1, ½ and 1 the first gives the best conditioned filters,
#: and with p = 2, λ̃ is λ.
T, P = 0.1, 2.0
#: Points on [0, 2], where the spectrum of every graph lies.
POINTS = np.linspace(0.0, 2.0, 2001)
#: The weight of a grid's edge is drawn from this interval; loops weigh 1.
WEIGHTS = (20.0, 30.0)
#: Where a response is compared with its target: at the eigenvalues of the graph, and on [0, 2].
PLACES = ("eigenvalues", "interval")
#: Of the drawn responses, the larger K, the darker; and of each way of learning.
BLUES = ("#a6cde8", "#5aa5d6", "#1f6fb4", "#08306b")
LOOKS = (("#D55E00", "s"), ("#08306b", "o"))


@dataclass(frozen=True, eq=False)
class Spectrum:
    """I − Ã = U Λ Uᵀ, `lam` the diagonal of Λ, ascending."""

    operator: Operator
    lam: FloatArray
    U: FloatArray

    @staticmethod
    def of_grid(side: int) -> Spectrum:
        """A square grid with edges of random weight, whose eigenvalues fill [0, 2).

        The loops that Ã adds are light compared with the edges: with edges of weight 1 the largest eigenvalue would be
        1.6 instead of almost 2. And no two weights are the same, nor any two eigenvalues.
        """
        nodes = torch.arange(side * side).view(side, side)
        starts = torch.cat([nodes[:, :-1].flatten(), nodes[:-1].flatten()])
        ends = torch.cat([nodes[:, 1:].flatten(), nodes[1:].flatten()])
        weight = torch.from_numpy(np.random.default_rng(0).uniform(*WEIGHTS, size=len(starts)))
        edge_index = torch.stack([torch.cat([starts, ends]), torch.cat([ends, starts])])
        operator = Operator.from_edges(edge_index, side * side, weight.repeat(2), dtype=torch.float64)
        laplacian = torch.eye(side * side, dtype=torch.float64) - operator.matrix.to_dense()
        lam, U = torch.linalg.eigh(laplacian)
        # The smallest is 0; round-off may take it for less, where a target need not be defined.
        return Spectrum(operator, lam.clamp(min=0).numpy(), U.numpy())

    def filtered(self, response: Callable[[Any], FloatArray], x: Tensor) -> Tensor:
        """U G(Λ) Uᵀ x."""
        return torch.from_numpy((self.U * response(self.lam)) @ (self.U.T @ x.numpy()))


@dataclass(frozen=True)
class Way:
    """Adam on φ, where θ = Mφ: M is `matrix(K)`, and `lr` the learning rate at first."""

    words: str
    lr: float
    matrix: Callable[[int], FloatArray]


def orthonormal(K: int) -> FloatArray:
    """R⁻¹ of the factors [1, g_1, …, g_K] = QR on [0, 2]: φ weighs filters of length one, at right angles."""
    R = np.linalg.qr(filter_family(POINTS, K, K, T) / np.sqrt(len(POINTS)), mode="r")
    inverse: FloatArray = np.linalg.inv(R)
    return inverse


#: Each with the best of the learning rates 0.1, 0.3 and 1.
WAYS = {
    "Adam on θ": Way("the layer's own parameters", 1.0, lambda K: np.eye(K + 1)),
    "Adam on φ": Way("θ = R⁻¹φ, which makes the filters orthonormal on [0, 2]", 0.1, orthonormal),
}


def learn(K: int, way: Way, x: Tensor, y: Tensor, operator: Operator, seeds: Sequence[int], steps: int) -> FloatArray:
    """argmin_θ mean (PCConv_θ(x) − y)² by Adam, for R trainings side by side that do not see each other.

    The layer has N = K and the gradient is the one of its own backward. φ begins where the seed says, and the learning
    rate falls to zero along a cosine. `x` are signals, (R, n, d), `y` the same signals filtered as wanted; there is a
    seed for each training. Returns θ, (R, K+1).
    """
    stack = PCConv.stack([PCConv(K, K, T, P) for _ in seeds]).double()
    matrix = torch.from_numpy(way.matrix(K))
    phi = torch.stack([torch.randn(K + 1, generator=torch.Generator().manual_seed(seed)) for seed in seeds]).double()
    optimiser = torch.optim.Adam([phi], lr=way.lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        with torch.no_grad():
            stack.theta.copy_(_times(matrix, phi))
        loss = (stack(x, operator) - y).square().mean(dim=(1, 2)).sum()
        (gradient,) = torch.autograd.grad(loss, [stack.theta])
        phi.grad = _times(matrix.T, gradient)
        optimiser.step()
        schedule.step()
    theta: FloatArray = _times(matrix, phi).numpy()
    return theta


def _times(matrix: Tensor, vectors: Tensor) -> Tensor:
    """Mv for each row v, by itself: BLAS would round by how many rows there are."""
    return (matrix * vectors.unsqueeze(1)).sum(dim=-1)


def run_figure2(
    orders: Sequence[int] = (2, 4, 6, 8, 10, 12),
    *,
    seeds: int = 5,
    side: int = 32,
    signals: int = 2,
    steps: int = 1000,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Learn both targets G with PC-Conv for each K = N, from several seeds, in two ways.

    The layer is given signals x and U G(Λ) Uᵀ x, and never sees G or the graph's eigenvalues Λ. A seed draws the
    signals and where the training begins.

    Args:
        orders: the K's.
        seeds: trainings for each target, K and way.
        side: nodes along a side of the grid that is filtered on.
        signals: columns of x.
        steps: of Adam, all on the same x.
        progress: is told how far it is.
    """
    orders = [whole_number("K", K, least=1) for K in orders]
    for K in orders:
        if not identifiability(K, K, T).identifiable:
            raise PcnetError(f"K = {K} is too many: in double precision their filters are not independent.")
    seeds, steps = whole_number("seeds", seeds, least=1), whole_number("steps", steps, least=1)
    side, signals = whole_number("side", side, least=2), whole_number("signals", signals, least=1)
    # Matrices of this size are too small for several threads.
    with one_core():
        spectrum = Spectrum.of_grid(side)
        learned = _learned(orders, spectrum, seeds, signals, steps, progress or Silent())
    return {
        "what": "Two target responses learned end to end by PC-Conv with N = K, and the least-squares optimum",
        "rule": (
            "error: root of the mean squared difference between the response and its target, over the eigenvalues of "
            "the graph and over 2001 equally spaced points of [0, 2]; learned: the median over seeds; optimum: the "
            "smallest error on the same points that any θ has"
        ),
        "targets": FORMULAS,
        "ways": {label: f"{way.words}; learning rate {way.lr:g}" for label, way in WAYS.items()},
        "settings": {
            "graph": f"{side} × {side} grid, edge weights drawn from {WEIGHTS[0]:g} to {WEIGHTS[1]:g}, loops added",
            "spectrum": [round(float(end), 6) for end in (spectrum.lam[0], spectrum.lam[-1])],
            "N": "K",
            "t": T,
            "p": P,
            "eta": spectrum.operator.eta,
            "signals": signals,
            "seeds": seeds,
            "steps": steps,
            "schedule": "learning rates fall to zero along a cosine",
            "precision": "float64",
        },
        "cells": [
            _cell(name, K, {label: theta[place] for label, theta in learned[K].items()}, spectrum.lam)
            for place, name in enumerate(TARGETS)
            for K in learned
        ],
    }


def _learned(
    orders: Sequence[int], spectrum: Spectrum, seeds: int, signals: int, steps: int, progress: Progress
) -> dict[int, dict[str, FloatArray]]:
    """By K and by way: θ, (targets, seeds, K+1)."""
    drawn = [
        torch.randn(len(spectrum.lam), signals, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        for seed in range(seeds)
    ]
    x = torch.stack(drawn * len(TARGETS))
    y = torch.stack([spectrum.filtered(target, each) for target in TARGETS.values() for each in drawn])
    learned: dict[int, dict[str, FloatArray]] = {K: {} for K in orders}
    progress.stage("learning responses", len(WAYS) * sum(orders))
    for K in orders:
        for label, way in WAYS.items():
            theta = learn(K, way, x, y, spectrum.operator, [*range(seeds)] * len(TARGETS), steps)
            learned[K][label] = theta.reshape(len(TARGETS), seeds, K + 1)
            progress.advance(K)
    return learned


def _cell(name: str, K: int, learned: dict[str, FloatArray], lam: FloatArray) -> dict[str, Any]:
    """The errors of one target and K; `learned` has a row of θ for each seed."""
    target = TARGETS[name]
    cell: dict[str, Any] = {"target": name, "K": K, "condition": identifiability(K, K, T).condition, "learned": {}}
    for way, theta in learned.items():
        errors = {
            place: [rmse(pc_response(at, row, K, T), target(at)) for row in theta]
            for place, at in zip(PLACES, (lam, POINTS), strict=True)
        }
        middle = errors["eigenvalues"].index(median_low(errors["eigenvalues"]))
        cell["learned"][way] = {
            **{place: {"median": median(each), "per_seed": each} for place, each in errors.items()},
            "theta": theta[middle].tolist(),
        }
    cell["optimum"] = {
        "eigenvalues": rmse(best_polynomial(K, lam, target), target(lam)),
        "interval": fit_response(target, K, K, T, P, points=len(POINTS)).rmse,
    }
    return cell


def best_polynomial(K: int, at: FloatArray, target: Target) -> FloatArray:
    """The response closest to the target at these points.

    With N = K the filters span all polynomials of degree K, so it is found in a basis that is better conditioned.
    """
    best: FloatArray = np.polynomial.Chebyshev.fit(at, target(at), K, domain=[0, 2])(at)
    return best


def rmse(found: FloatArray, wanted: FloatArray) -> float:
    """√ mean (found − wanted)²."""
    return float(np.sqrt(np.mean((found - wanted) ** 2)))


def figure2_table(report: dict[str, Any]) -> Table:
    """Errors at the eigenvalues and, in brackets, on [0, 2]."""

    def errors(by_place: dict[str, float]) -> str:
        return "{:.4f} ({:.4f})".format(*(by_place[place] for place in PLACES))

    rows = [
        [
            cell["target"],
            str(cell["K"]),
            f"{cell['condition']:.0e}",
            *(errors({place: each[place]["median"] for place in PLACES}) for each in cell["learned"].values()),
            errors(cell["optimum"]),
        ]
        for cell in report["cells"]
    ]
    notes = (
        *(_finding(report["cells"], name, label) for name in report["targets"] for label in report["ways"]),
        f"{report['rule']}. The table shows the first, and the second in brackets.",
        *(f"{name}: {formula}" for name, formula in report["targets"].items()),
        *(f"{label}: {words}" for label, words in report["ways"].items()),
        ", ".join(f"{key}: {value}" for key, value in report["settings"].items()),
    )
    columns = ("target", "K = N", "condition of B", *report["ways"], "optimum")
    return Table("Figure 2: responses learned by PC-Conv", columns, rows, notes)


def _finding(cells: list[dict[str, Any]], target: str, way: str) -> str:
    """Whether more filters helped."""
    errors = {cell["K"]: cell["learned"][way]["eigenvalues"]["median"] for cell in cells if cell["target"] == target}
    until = next((K for (K, error), (_, after) in pairwise(errors.items()) if after >= error), None)
    return f"{target}, {way}: the error falls " + ("with every K." if until is None else f"up to K = {until} only.")


@styled
def plot_figure2(report: dict[str, Any], path: str | Path) -> None:
    """A column for each target: above, it and what was learned for up to four K; below, all errors."""
    settings, way = report["settings"], list(report["ways"])[-1]
    title = f"Responses learned end to end by PC-Conv with N = K, t = {settings['t']:g}, p = {settings['p']:g}"
    figure, grid = panels(8.4, 6.2, 2, len(TARGETS), title=title)
    lam = np.linspace(0, 2, 801)
    for (above, below), (name, target) in zip(grid.T, TARGETS.items(), strict=True):
        cells = [cell for cell in report["cells"] if cell["target"] == name]
        above.plot(lam, target(lam), color="black", lw=1.4, ls=(0, (4, 2)), label="target", zorder=3)
        places = np.unique(np.linspace(0, len(cells) - 1, len(BLUES)).round().astype(int))
        for place, colour in zip(places, BLUES[-len(places) :], strict=True):
            K, theta = cells[place]["K"], cells[place]["learned"][way]["theta"]
            response = pc_response(lam + settings["p"] - 2, theta, K, settings["t"])
            above.plot(lam, response, color=colour, lw=1.6, label=f"K = {K}")
        above.set(title=name, xlabel="eigenvalue λ of I − Ã", xticks=[0, 0.5, 1, 1.5, 2])
        _draw_errors(below, cells, list(report["ways"]))
    grid[1, 1].sharey(grid[1, 0])
    grid[0, 0].set_ylabel("response")
    grid[1, 0].set_ylabel("error at the graph's eigenvalues")
    grid[0, -1].legend(loc="upper center", title=way, title_fontsize=8)
    grid[1, 0].legend(loc="lower left")
    words = "; ".join(f"{label}: {words}" for label, words in report["ways"].items())
    graph = f"{settings['graph']}; {settings['steps']} steps; medians and ranges over {settings['seeds']} seeds"
    figure.supxlabel(f"{graph}\n{words}", fontsize=7, color=SOFT)
    save_figure(figure, path)


def _draw_errors(axes: Any, cells: list[dict[str, Any]], ways: Sequence[str]) -> None:
    orders = [cell["K"] for cell in cells]
    best = [cell["optimum"]["eigenvalues"] for cell in cells]
    axes.plot(orders, best, color=PALE, lw=7, label="least-squares optimum", zorder=1, solid_capstyle="round")
    for label, (colour, marker) in zip(ways, LOOKS, strict=True):
        errors = [cell["learned"][label]["eigenvalues"] for cell in cells]
        middle = np.array([each["median"] for each in errors])
        low, high = (np.array([end(each["per_seed"]) for each in errors]) for end in (min, max))
        look = {"lw": 1.6, "ms": 4.5, "capsize": 2, "elinewidth": 0.9, "color": colour, "marker": marker}
        axes.errorbar(orders, middle, yerr=[middle - low, high - middle], label=label, **look)
    axes.set(yscale="log", xlabel="K = N", xticks=orders, yticks=[0.02, 0.05, 0.1, 0.2, 0.5])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
