"""What the figures of this room share."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from pcnet._files import write_atomically

#: Okabe and Ito's colours, which everybody can tell apart, and a marker for each.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
GREY, PALE = "#6b7280", "#e5e7eb"


def panels(headline: str, rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    """A figure, so many inches wide and high, and its rows × columns axes."""
    # Imported here: it takes a second to load, and only figures need it.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(headline, fontsize=10)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(True, which="major", color=PALE, lw=0.7)
        axes.set_axisbelow(True)
        axes.tick_params(labelsize=8)
    return figure, grid


def save(figure: Any, path: str | Path) -> None:
    """Write the figure as PNG, whole or not at all."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    write_atomically(path, lambda target: target.write_bytes(buffer.getvalue()))
