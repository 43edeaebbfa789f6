"""`python -m benchmarks.same_bits`: do two checkouts train the same models, bit for bit, and score them alike?

Both train `pcnet train texas --preset table3`, `pcnet train` (CiteSeer) and ten cells of Table 3 over ten methods on
the CPU, each by its own `python -m pcnet`. What is trained is kept by a hash of the sources: the same command goes on
where it was interrupted, and a checkout that has not changed is not trained again. Exits with 1 where bits differ.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from safetensors.numpy import load_file

from benchmarks.command import Command, keep, start
from pcnet._files import read_json, write_json, write_text
from pcnet.show import Table

#: Graph and method; without a graph it is CiteSeer with the settings of Table 2.
CASES: tuple[tuple[str | None, str], ...] = (
    ("texas", "pcnet"),
    (None, "pcnet"),
    ("wisconsin", "mlp"),
    ("cornell", "gcn"),
    ("texas", "gat"),
    ("wisconsin", "mixhop"),
    ("texas", "gcnii"),
    ("cornell", "gprgnn"),
    ("wisconsin", "h2gcn"),
    ("texas", "acmgcn"),
    ("cornell", "linkx"),
    ("texas", "glognn++"),
)
SAME, DIFFERENT = "the same", "**different**"


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    rows = [compare(graph, method, options) for graph, method in chosen(options)]
    different = [row for row in rows if not row["models"] == row["scores"] == SAME]
    sheet = Table(
        f"Two checkouts, {len(rows) - len(different)} of {len(rows)} trainings the same",
        ("graph", "method", "tensors", "test before", "test after", "models", "scores"),
        [[str(row[column]) for column in COLUMNS] for row in rows],
        (
            "Models: the bytes of every tensor that a run folder holds. Scores: test and validation of every run.",
            f"Settings: {_settings(options)}, on the CPU.",
        ),
    )
    print(sheet.markdown())
    if options.markdown is not None:
        write_text(options.markdown, sheet.markdown())
    sources = {side: fingerprint(getattr(options, side)) for side in ("before", "after")}
    keep(options, {"settings": _settings(options), "sources": sources, "rows": rows})
    if different:
        raise SystemExit(1)


COLUMNS = ("graph", "method", "tensors", "test_before", "test_after", "models", "scores")


def chosen(options: argparse.Namespace) -> list[tuple[str | None, str]]:
    """The cases to train: all of them, or those of the named graphs and methods."""
    return [
        (graph, method)
        for graph, method in CASES
        if options.graphs is None or (graph or "citeseer") in options.graphs
        if options.methods is None or method in options.methods
    ]


def compare(graph: str | None, method: str, options: argparse.Namespace) -> dict[str, Any]:
    """A case in both checkouts."""
    before, after = (trained(folder, graph, method, options) for folder in (options.before, options.after))
    return {
        "graph": graph or "citeseer",
        "method": method,
        "tensors": len(after["tensors"]),
        "test_before": before["test"]["mean"],
        "test_after": after["test"]["mean"],
        "models": SAME if before["tensors"] == after["tensors"] else DIFFERENT,
        "scores": SAME if all(before[part] == after[part] for part in ("test", "val")) else DIFFERENT,
    }


def trained(folder: Path, graph: str | None, method: str, options: argparse.Namespace) -> dict[str, Any]:
    """Hashes of the models that a checkout trains, and their scores; what was trained before is read."""
    settings = [] if options.epochs is None else ["--set", f"epochs={options.epochs}"]
    settings += [] if options.runs is None else ["--runs", str(options.runs)]
    preset = [] if graph is None else [graph, "--preset", "table3"]
    kept = "-".join([graph or "citeseer", method, *settings]).replace("/", "_").replace(" ", "")
    path = options.store / fingerprint(folder) / f"{kept}.json"
    if path.exists():
        return dict(read_json(path))
    print(f"{folder}: {graph or 'citeseer'} {method} …", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as place:
        report, run = Path(place) / "report.json", Path(place) / "run"
        command = [sys.executable, "-m", "pcnet", "train", *preset, "--method", method, *settings]
        command += ["--device", "cpu", "--out", str(run), "--json", str(report)]
        command += [] if options.threads is None else ["--threads", str(options.threads)]
        environment = {**os.environ, "PYTHONPATH": str(folder.resolve() / "src")}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{folder}: {graph or 'citeseer'} {method} failed:\n{done.stderr.strip()}")
        scores = read_json(report)
        found = {
            "tensors": [digest for file in sorted(run.rglob("*.safetensors")) for digest in digests(file)],
            **{part: {key: scores[part][key] for key in ("mean", "per_run")} for part in ("test", "val")},
        }
    write_json(path, found)
    return found


def digests(file: Path) -> list[str]:
    """SHA-256 of the dtype, shape and bytes of every tensor of a file, in an order that does not depend on names."""
    tensors = load_file(file).values()
    return sorted(hashlib.sha256(f"{t.dtype} {t.shape} ".encode() + t.tobytes()).hexdigest()[:16] for t in tensors)


@cache
def fingerprint(folder: Path) -> str:
    """A hash of everything under src/pcnet that Python or pcnet reads."""
    sources = folder / "src" / "pcnet"
    files = sorted(path for path in sources.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    if not files:
        raise SystemExit(f"{folder} is no checkout of pcnet: it has no src/pcnet.")
    total = hashlib.sha256()
    for file in files:
        total.update(f"{file.relative_to(sources)}\0".encode() + file.read_bytes() + b"\0")
    return total.hexdigest()[:16]


def _settings(options: argparse.Namespace) -> str:
    shorter = {name: getattr(options, name) for name in ("epochs", "runs", "threads")}
    given = [f"{name} = {value}" for name, value in shorter.items() if value is not None]
    return ", ".join(given) or "as published"


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Command("same_bits", __doc__)
    parser.add_argument("--before", type=Path, required=True, metavar="FOLDER", help="a checkout")
    parser.add_argument("--after", type=Path, default=Path(), metavar="FOLDER", help="the other; default: this one")
    parser.add_argument("--graphs", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--epochs", type=int, help="at most; default: the published number")
    parser.add_argument("--runs", type=int, help="default: the published ten")
    parser.add_argument("--threads", type=int, help="default: all cores")
    parser.add_argument(
        "--store", type=Path, default=Path("runs/same-bits"), metavar="DIR", help="keeps what is trained"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table as Markdown")
    parser.add_json()
    return parser.options(arguments)


if __name__ == "__main__":
    start(main)
