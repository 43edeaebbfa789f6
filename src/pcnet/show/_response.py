"""A picture of the learned filter over the frequencies that the graph has."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from pcnet._files import write_atomically
from pcnet.graph import Operator
from pcnet.nn import PolynomialConv, learned

BLUE, GREY = "#1f5fa8", "#9aa3ad"


def plot_response(convs: Sequence[PolynomialConv], operator: Operator, path: str | Path, *, title: str = "") -> None:
    """g(λ) of each run and their mean on the true interval of the Laplacian, above the density of its eigenvalues.

    The runs must share their Laplacian (`learned` says which): they are drawn over one axis.
    """
    # Imported here: drawing is the only thing in the package that needs it, and it takes a second to load.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    found = learned(convs, operator)
    lam, responses, density = found.lam, found.responses, found.density
    figure = Figure(figsize=(7.2, 4.6), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2.4, 1])
    if len(responses) > 1:
        above.plot(lam, responses.T, color=GREY, lw=0.7, alpha=0.7)
        above.plot([], [], color=GREY, lw=0.7, label="each run")
    above.plot(lam, responses.mean(axis=0), color=BLUE, lw=2, label="mean of the runs" if len(responses) > 1 else "g")
    above.axhline(0, color="black", lw=0.6)
    above.set_ylabel("response g")
    above.set_title(title, fontsize=10)
    above.legend(frameon=False, fontsize=8)
    below.fill_between(lam, density, color=BLUE, alpha=0.25, lw=0)
    below.plot(lam, density, color=BLUE, lw=1)
    below.set_ylabel("density")
    below.set_ylim(bottom=0)
    below.set_xlabel(f"eigenvalue of {found.laplacian}:  smooth ← → rough")
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    write_atomically(path, lambda target: target.write_bytes(buffer.getvalue()))
