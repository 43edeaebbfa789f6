"""The picture of a reproduced table: how far each of our means lies from the printed one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pcnet.experiment import method_name
from pcnet.paper._published import published
from pcnet.show import COLOURS, MARKERS, RULE, SOFT, panels, save_figure, styled

#: A colour and a marker for each verdict, the same in every picture.
WORDS = ("reproduced", "below", "above", "not reproducible")
#: Points beyond which a cell is drawn at the edge, with its number: one outlier must not flatten the others.
EDGE = 8.0


@styled
def plot_differences(report: Mapping[str, Any], path: str | Path) -> None:
    """Ours − paper in points, a panel for each dataset, a row for each method; the bar is our 95 % interval.

    Pale behind it is what the rule allows for that cell.
    """
    cells = [cell for cell in report["cells"] if cell["verdict"] is not None]
    order = [m for m in published(report["table"]).methods if any(cell["method"] == m for cell in cells)]
    datasets = [name for name in report["datasets"] if any(cell["dataset"] == name for cell in cells)]
    if not cells:
        return
    title = f"{report['title']}: ours − paper, in points"
    # A few panels are narrower than what stands above them.
    size = (max(1.6 + 1.55 * len(datasets), 0.08 * len(title)), 1.3 + 0.24 * len(order))
    figure, grid = panels(*size, 1, len(datasets), title=title, squeeze=False)
    for place, (axes, dataset) in enumerate(zip(grid.flat, datasets, strict=True)):
        for cell in cells:
            if cell["dataset"] == dataset:
                _draw(axes, cell, order.index(cell["method"]))
        axes.axvline(0, color=SOFT, lw=0.8)
        axes.set_xlim(-EDGE, EDGE)
        axes.set_ylim(len(order) - 0.5, -0.5)
        axes.set_title(dataset, fontsize=9, loc="center")
        axes.set_yticks(range(len(order)), [method_name(m) for m in order] if place == 0 else [""] * len(order))
        axes.grid(False, axis="y")
    for place, word in enumerate(WORDS):
        if any(cell["verdict"]["word"] == word for cell in cells):
            grid[0, 0].plot([], [], MARKERS[place], color=COLOURS[place], ms=4, label=word)
    figure.legend(loc="outside lower center", ncols=len(WORDS))
    save_figure(figure, path)


def _draw(axes: Any, cell: Mapping[str, Any], row: int) -> None:
    found, test, paper = cell["verdict"], cell["test"], cell["paper"]["mean"]
    place, at = WORDS.index(found["word"]), max(-EDGE, min(EDGE, found["difference"]))
    low, high = (max(-EDGE, min(EDGE, end - paper)) for end in test["ci95"])
    axes.barh(row, 2 * found["allowed"], left=-found["allowed"], height=0.7, color=RULE, zorder=0)
    axes.plot([low, high], [row, row], color=COLOURS[place], lw=1.2)
    axes.plot(at, row, MARKERS[place], color=COLOURS[place], ms=4, clip_on=False)
    if at != found["difference"]:
        side = "right" if at > 0 else "left"
        axes.text(
            at * 0.9, row, f"{found['difference']:+.0f}", fontsize=6.5, ha=side, va="center", color=COLOURS[place]
        )
