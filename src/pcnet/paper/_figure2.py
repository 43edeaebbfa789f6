"""The paper's Figure 2: two difficult filters that PC-Conv learns end to end, beside the best that any θ could do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median, median_low
from typing import Any

import numpy as np
import torch

from pcnet._checks import FloatArray, whole_number
from pcnet.errors import PcnetError
from pcnet.paper._learning import POINTS, WAYS, P, T, learn
from pcnet.paper._progress import Tell, silent
from pcnet.paper._sheet import Sheet
from pcnet.paper._spectrum import WEIGHTS, Spectrum
from pcnet.polynomial import comb, fit_response, identifiability, low_band_pass, pc_response
from pcnet.propagate import one_core

Target = Callable[[Any], FloatArray]
TARGETS: dict[str, Target] = {"comb": comb, "low-band-pass": low_band_pass}
FORMULAS = {
    "comb": "|sin(πλ)|",
    "low-band-pass": "1 on [0, ½], e^(−100(λ−½)²) on (½, 1), e^(−50(λ−3/2)²) on [1, 2]",
}
#: Where a response is compared with its target: at the eigenvalues of the graph, and on [0, 2].
PLACES = ("eigenvalues", "interval")


def run_figure2(
    orders: Sequence[int] = (2, 4, 6, 8, 10, 12),
    *,
    seeds: int = 5,
    side: int = 32,
    signals: int = 2,
    steps: int = 1000,
    tell: Tell = silent,
) -> dict[str, Any]:
    """Learn both targets G with PC-Conv for each K = N, from several seeds, in two ways.

    The layer is given signals x and U G(Λ) Uᵀ x, and nothing tells it of G or of the graph's eigenvalues Λ. A seed
    draws the signals and where the training begins.

    Args:
        orders: the K's.
        seeds: trainings for each target, K and way.
        side: nodes along a side of the grid that is filtered on.
        signals: columns of x.
        steps: of Adam, all on the same x.
        tell: is told what is learned now, and which share is done.
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
        learned = _learned(orders, spectrum, seeds, signals, steps, tell)
    return {
        "what": "Two target responses learned end to end by PC-Conv with N = K, beside the least-squares optimum",
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
        "cells": [_cell(name, K, theta, spectrum.lam) for (name, K), theta in learned.items()],
    }


def _learned(
    orders: Sequence[int], spectrum: Spectrum, seeds: int, signals: int, steps: int, tell: Tell
) -> dict[tuple[str, int], dict[str, FloatArray]]:
    """By target and K, and then by way: θ with a row for each seed."""
    nodes, numbers = len(spectrum.lam), range(seeds)
    drawn = [
        torch.randn(nodes, signals, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        for seed in numbers
    ]
    x = torch.stack(drawn * len(TARGETS))
    y = torch.stack([spectrum.filtered(target, each) for target in TARGETS.values() for each in drawn])
    learned: dict[tuple[str, int], dict[str, FloatArray]] = {(name, K): {} for name in TARGETS for K in orders}
    work, done = len(WAYS) * sum(orders), 0
    for K in orders:
        for label, way in WAYS.items():
            tell(f"K = {K}, {label}", done / work)
            theta = learn(K, way, x, y, spectrum.operator, [*numbers] * len(TARGETS), steps)
            for name, of_target in zip(TARGETS, np.split(theta, len(TARGETS)), strict=True):
                learned[name, K][label] = of_target
            done += K
    return learned


def _cell(name: str, K: int, learned: dict[str, FloatArray], lam: FloatArray) -> dict[str, Any]:
    """The errors of one target and K; `learned` has a row of θ for each seed."""
    target = TARGETS[name]
    cell: dict[str, Any] = {"target": name, "K": K, "condition": identifiability(K, K, T).condition, "learned": {}}
    for way, theta in learned.items():
        at_eigenvalues, on_interval = (
            [rmse(pc_response(at, row, K, T), target(at)) for row in theta] for at in (lam, POINTS)
        )
        middle = at_eigenvalues.index(median_low(at_eigenvalues))
        cell["learned"][way] = {
            "eigenvalues": {"median": median(at_eigenvalues), "per_seed": at_eigenvalues},
            "interval": {"median": median(on_interval), "per_seed": on_interval},
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


def figure2_sheet(report: dict[str, Any]) -> Sheet:
    """Errors at the eigenvalues and, in brackets, on [0, 2]."""
    rows = [
        [
            cell["target"],
            str(cell["K"]),
            f"{cell['condition']:.0e}",
            *(_errors({place: each[place]["median"] for place in PLACES}) for each in cell["learned"].values()),
            _errors(cell["optimum"]),
        ]
        for cell in report["cells"]
    ]
    settings = ", ".join(f"{key}: {value}" for key, value in report["settings"].items())
    return Sheet(
        "Figure 2: responses learned by PC-Conv",
        ("target", "K = N", "condition of B", *report["ways"], "optimum"),
        rows,
        (
            *(_finding(report["cells"], name, label) for name in report["targets"] for label in report["ways"]),
            f"{report['rule']}. The table shows the first, and the second in brackets.",
            *(f"{name}: {formula}" for name, formula in report["targets"].items()),
            *(f"{label}: {words}" for label, words in report["ways"].items()),
            settings,
        ),
    )


def _errors(by_place: dict[str, float]) -> str:
    return "{:.4f} ({:.4f})".format(*(by_place[place] for place in PLACES))


def _finding(cells: list[dict[str, Any]], target: str, way: str) -> str:
    """Whether more filters helped."""
    errors = {cell["K"]: cell["learned"][way]["eigenvalues"]["median"] for cell in cells if cell["target"] == target}
    until = next((K for (K, error), (_, after) in pairwise(errors.items()) if after >= error), None)
    return f"{target}, {way}: the error falls " + ("with every K." if until is None else f"up to K = {until} only.")
