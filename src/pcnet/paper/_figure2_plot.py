"""The picture of Figure 2: the learned responses over their targets, and the errors against K."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pcnet.paper._drawing import GREY, panels, save
from pcnet.paper._figure2 import TARGETS
from pcnet.polynomial import pc_response

#: The larger K, the darker.
PALE = "#c9d1da"
BLUES = ("#a6cde8", "#5aa5d6", "#1f6fb4", "#08306b")
#: Of each way.
LOOKS = (("#D55E00", "s"), ("#08306b", "o"))


def plot_figure2(report: dict[str, Any], path: str | Path) -> None:
    """A column for each target: above, it and what was learned for up to four K; below, all errors."""
    settings, way = report["settings"], list(report["ways"])[-1]
    headline = f"Responses learned end to end by PC-Conv with N = K, t = {settings['t']:g}, p = {settings['p']:g}"
    figure, grid = panels(headline, 2, len(TARGETS), (8.4, 6.2))
    lam = np.linspace(0, 2, 801)
    for (above, below), (name, target) in zip(grid.T, TARGETS.items(), strict=True):
        cells = [cell for cell in report["cells"] if cell["target"] == name]
        above.plot(lam, target(lam), color="black", lw=1.4, ls=(0, (4, 2)), label="target", zorder=3)
        places = np.unique(np.linspace(0, len(cells) - 1, len(BLUES)).round().astype(int))
        for place, colour in zip(places, BLUES[-len(places) :], strict=True):
            K, theta = cells[place]["K"], cells[place]["learned"][way]["theta"]
            response = pc_response(lam + settings["p"] - 2, theta, K, settings["t"])
            above.plot(lam, response, color=colour, lw=1.6, label=f"K = {K}")
        above.set_title(name, fontsize=9)
        above.set_xlabel("eigenvalue λ of I − Ã", fontsize=9)
        above.set_xticks([0, 0.5, 1, 1.5, 2])
        _draw_errors(below, cells, report["ways"])
    grid[1, 1].sharey(grid[1, 0])
    grid[0, 0].set_ylabel("response", fontsize=9)
    grid[1, 0].set_ylabel("error at the graph's eigenvalues", fontsize=9)
    grid[0, -1].legend(frameon=False, fontsize=8, loc="upper center", title=way, title_fontsize=8)
    grid[1, 0].legend(frameon=False, fontsize=8, loc="lower left")
    words = "; ".join(f"{label}: {words}" for label, words in report["ways"].items())
    graph = f"{settings['graph']}; {settings['steps']} steps; medians and ranges over {settings['seeds']} seeds"
    note = f"{graph}\n{words}"
    figure.supxlabel(note, fontsize=7, color=GREY)
    save(figure, path)


def _draw_errors(axes: Any, cells: list[dict[str, Any]], ways: Iterable[str]) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    orders = [cell["K"] for cell in cells]
    best = [cell["optimum"]["eigenvalues"] for cell in cells]
    axes.plot(orders, best, color=PALE, lw=7, label="least-squares optimum", zorder=1, solid_capstyle="round")
    for label, (colour, marker) in zip(ways, LOOKS, strict=True):
        errors = [cell["learned"][label]["eigenvalues"] for cell in cells]
        middle = np.array([each["median"] for each in errors])
        low, high = (np.array([end(each["per_seed"]) for each in errors]) for end in (min, max))
        look = {"lw": 1.6, "ms": 4.5, "capsize": 2, "elinewidth": 0.9, "color": colour, "marker": marker}
        axes.errorbar(orders, middle, yerr=[middle - low, high - middle], label=label, **look)
    axes.set_yscale("log")
    axes.set_xlabel("K = N", fontsize=9)
    axes.xaxis.set_major_locator(FixedLocator(orders))
    axes.yaxis.set_major_locator(FixedLocator([0.02, 0.05, 0.1, 0.2, 0.5]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
