"""`python -m benchmarks.bases`: PCNet's θ learned as it is, and as coefficients of filters that are orthonormal.

The responses are the same, the way in which they are learned is another. Of every cell of Tables 1 to 3, the published
settings; in each basis every split chooses a learning rate of θ, a fifth of the published one, itself or five times it,
by its own validation nodes. Test nodes are scored for what was chosen, once.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.command import Command, page, quiet, start, with_origin
from pcnet._files import read_json, write_json, write_text
from pcnet.compare import difference_interval, summarise
from pcnet.data import load_dataset
from pcnet.errors import PcnetError
from pcnet.experiment import DEFAULT_METHOD, presets, ratios_of, resolve, splits_of
from pcnet.show import Table
from pcnet.training import Outcome, Run, Targets, train_each

BASES, FACTORS = ("plain", "orthonormal"), (0.2, 1.0, 5.0)


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    quiet()
    file = options.out / "bases.json"
    cells: dict[str, Any] = read_json(file)["cells"] if file.exists() else {}
    for preset in ("table1", "table2", "table3"):
        for dataset in presets()[preset].datasets_of(DEFAULT_METHOD):
            name = f"{preset} {dataset}"
            if name in cells or (options.cells and name not in options.cells):
                continue
            try:
                cells[name] = found = measured(dataset, preset, options)
            except PcnetError as error:
                print(f"{name} is left out: {error}")
                continue
            words = (f"{basis} {own['test']['mean']:.2f} in {own['epochs']:.0f} epochs" for basis, own in found.items())
            print(f"{name}: {', '.join(words)}", flush=True)
            write_json(file, with_origin(options, {"runs": options.runs, "cells": cells}))
    report = with_origin(options, {"runs": options.runs, "cells": cells})
    write_json(file, report)
    write_text(options.out / "bases.md", page(report, table(report)))


def measured(dataset: str, preset: str, options: argparse.Namespace) -> dict[str, Any]:
    """For each basis the test scores of what each split chose, how long it trained, and in which epoch it was best."""
    graph, experiment = load_dataset(dataset), resolve(dataset, preset=preset, runs=options.runs)
    splits = splits_of(graph, experiment)
    rate = experiment.training.lr.get("theta", experiment.training.lr.get("all", 0.0))
    runs, places = list[Run](), list[tuple[str, int]]()
    for basis in BASES:
        for factor in FACTORS:
            training = replace(experiment.training, lr={**experiment.training.lr, "theta": factor * rate})
            for place, (split, seed) in enumerate(zip(splits, experiment.seeds, strict=True)):
                model = replace(experiment.model, basis=basis)
                runs.append(Run(model, training, Targets.from_split(split), seed))
                places.append((basis, place))
    best: dict[tuple[str, int], tuple[tuple[float, float], float, int, int]] = {}

    def collect(index: int, outcome: Outcome) -> None:
        if outcome.diverged:
            return
        (basis, place), epoch = places[index], outcome.best_epoch
        standing = float(outcome.val_score[epoch]), -float(outcome.val_loss[epoch])
        if (basis, place) not in best or standing > best[basis, place][0]:
            test = splits[place].test
            score = experiment.scored_by.score(outcome.logits[test], splits[place].labels[test])
            best[basis, place] = standing, score, epoch, outcome.epochs

    train_each(graph, runs, collect=collect, threads=options.threads)
    found: dict[str, Any] = {}
    for basis in BASES:
        own = [best[basis, place] for place in range(len(splits))]
        found[basis] = {
            "test": summarise([score for _, score, _, _ in own]).as_dict(),
            "validation": 100 * float(np.mean([standing[0] for standing, *_ in own])),
            "best_epoch": float(np.mean([epoch for _, _, epoch, _ in own])),
            "epochs": float(np.mean([epochs for *_, epochs in own])),
        }
    first, second = (summarise([best[basis, place][1] for place in range(len(splits))]) for basis in reversed(BASES))
    found["orthonormal"]["ahead"] = difference_interval(first, second, ratios_of(splits))
    return found


def table(report: Mapping[str, Any]) -> Table:
    rows = []
    for name, cell in report["cells"].items():
        plain, other = (cell[basis] for basis in BASES)
        ahead = other["test"]["mean"] - plain["test"]["mean"]
        interval = "–" if other["ahead"] is None else "[{:.2f}, {:.2f}]".format(*other["ahead"])
        each = [f"{own['test']['mean']:.2f}" for own in (plain, other)]
        epochs = [f"{own['best_epoch']:.0f} of {own['epochs']:.0f}" for own in (plain, other)]
        rows.append([name, *each, f"{ahead:+.2f}", interval, *epochs])
    gains = [cell["orthonormal"]["test"]["mean"] - cell["plain"]["test"]["mean"] for cell in report["cells"].values()]
    return Table(
        f"θ and its orthonormal coordinates on {len(rows)} cells, {report['runs']} splits each",
        ("cell", "θ", "orthonormal", "difference", "95 % interval", "epochs, θ", "epochs, orthonormal"),
        rows,
        (
            "Test accuracy with published settings; in each basis every split chose a learning rate of θ, of three, by "
            "its own validation nodes. The interval allows for the nodes that splits share. Epochs: the best one on "
            "average, and how many were trained.",
            f"On average over the cells the orthonormal basis is {np.mean(gains):+.2f} points ahead.",
        ),
    )


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Command("bases", __doc__)
    parser.add_argument("--cells", nargs="*", metavar="CELL", help='as in "table2 cora"; default: all')
    parser.add_argument("--runs", type=int, default=10, help="splits of each cell; default: 10")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--out", type=Path, metavar="DIR", default=Path("results"))
    return parser.options(arguments)


if __name__ == "__main__":
    start(main)
