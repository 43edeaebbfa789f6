"""The paper's table of datasets, counted again from the data and compared number by number."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pcnet._progress import Progress, Silent
from pcnet.data import dataset_named, find, load_dataset
from pcnet.errors import PcnetError, PcnetWarning
from pcnet.graph import Graph, edge_homophily
from pcnet.paper._published import Statistics, published_statistics
from pcnet.show import Table

#: What the paper prints of each dataset, and the heading it has here.
NUMBERS = {"nodes": "nodes", "edges": "edges", "features": "features", "classes": "classes", "homophily": "h(G)"}
RULE = (
    "edges: undirected, each pair once, a loop as one edge; h(G): the share of these edges inside one class, with the "
    "labels of the published protocols; it is the same when it agrees in the two digits that are printed"
)
LOOPS = (
    "The published number includes {gap} loops of the raw file, which the usual loader drops: the graph that everybody "
    "trains on, the paper too, has none."
)
UNKNOWN = "The reason is not known."


def run_datasets(
    data: str | Path | None = None,
    *,
    published: Mapping[str, Statistics] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Count every dataset of the paper's table that can be had, and compare it with the published row.

    Args:
        data: folder of raw datasets, as for `load_dataset`.
        published: rows to compare with; the paper's by default.
        progress: is told how far it is.
    """
    published = published_statistics() if published is None else published
    rows, left_out, progress = [], [], progress or Silent()
    progress.stage("counting datasets", len(published))
    for name, row in published.items():
        try:
            with warnings.catch_warnings():
                # What it warns of stands among the row's notes.
                warnings.simplefilter("ignore", PcnetWarning)
                graph = load_dataset(name, data)
        except PcnetError:
            if find(dataset_named(name), data) is not None:
                raise  # it is there, but damaged
            left_out.append({"dataset": name, "reason": "its data was not at hand"})
        else:
            found = statistics(graph)
            compared = {number: _compare(name, number, found[number], row) for number in NUMBERS}
            notes = [note for note in (*graph.notes, row.note) if note]
            rows.append({"dataset": name, **compared, "loops": found["loops"], "notes": notes})
        progress.advance()
    what = "The paper's datasets, counted from the data as it is trained on, and the published table"
    return {"what": what, "rule": RULE, "rows": rows, "left_out": left_out}


def statistics(graph: Graph) -> dict[str, Any]:
    """Counts of a graph; its edges are undirected and include the loops, each once."""
    source, target = graph.edge_index
    loops = int((source == target).sum())
    return {
        "nodes": graph.num_nodes,
        "edges": (graph.edge_index.shape[1] - loops) // 2 + loops,
        "loops": loops,
        "features": graph.num_features,
        "classes": graph.num_classes,
        "homophily": edge_homophily(graph.as_published()),
    }


def _compare(dataset: str, number: str, found: float, row: Statistics) -> dict[str, Any]:
    """A number and the published one, and where they differ the reason."""
    published = getattr(row, number)
    cell = {"found": found, "published": published, "verdict": "same"}
    if (round(found, 2) if number == "homophily" else found) != published:
        loops = number == "edges" and dataset_named(dataset).kind == "planetoid"
        reason = LOOPS.format(gap=published - found) if loops else row.note or UNKNOWN
        cell |= {"verdict": "differs", "reason": reason}
    return cell


def datasets_table(report: dict[str, Any]) -> Table:
    """A row for each dataset; behind a number that differs stands the published one."""
    rows, reasons = [], list[str]()
    for row in report["rows"]:
        differing = {title: row[number] for number, title in NUMBERS.items() if row[number]["verdict"] == "differs"}
        verdict = f"differs in {', '.join(differing)}" if differing else "same"
        rows.append([row["dataset"], *(_figure(n, row[n]) for n in NUMBERS), f"{row['loops']:,}", verdict])
        reasons += [f"{row['dataset']}, {title}: {cell['reason']}" for title, cell in differing.items()]
    known = " ".join(reasons)
    notes = [f"{row['dataset']}: {note}" for row in report["rows"] for note in row["notes"] if note not in known]
    missing = [f"{each['dataset']} is left out: {each['reason']}." for each in report["left_out"]]
    columns = ("dataset", *NUMBERS.values(), "loops", "verdict")
    return Table(report["what"], columns, rows, [f"{report['rule']}.", *reasons, *notes, *missing], words=("verdict",))


def _figure(number: str, cell: dict[str, Any]) -> str:
    form = ".2f" if number == "homophily" else ","
    found, published = (f"{cell[key]:{form}}" for key in ("found", "published"))
    return found if cell["verdict"] == "same" else f"{found} (paper {published})"
