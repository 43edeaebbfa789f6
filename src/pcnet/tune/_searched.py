"""The search of a method that others are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pcnet.experiment import Experiment, Trained, provenance
from pcnet.graph import Graph
from pcnet.tune._search import Search
from pcnet.tune._space import WIDE, space_of
from pcnet.tune._tune import tune

#: Trials of each method, where nobody says how many.
TRIALS = 20


def searched(
    graph: Graph,
    method: str,
    experiment: Experiment,
    folder: Path,
    *,
    trials: int = TRIALS,
    fixed: Sequence[str] = (),
    device: str = "cpu",
    **how: Any,
) -> Trained:
    """The scores of a method for which each split chose its settings among so many trials of the method's wide space.

    `experiment` has the splits and the defaults, `fixed` are assignments that all trials share, `how` is what `tune`
    takes besides.

    >>> import tempfile
    >>> from pcnet import csbm
    >>> from pcnet.experiment import resolve
    >>> graph = csbm(60, 0.8, features=4, seed=0)
    >>> short = resolve(graph, "mlp", overrides=["epochs=3"], runs=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = searched(graph, "mlp", short, Path(folder), trials=2)
    >>> found.title, len(found.test.per_run)
    ('MLP', 2)
    """
    space = space_of(method, WIDE).fixing(fixed, experiment.model)
    search = Search(experiment, space, trials, strategy="random")
    made = provenance(device)
    best = tune(graph, search, folder, device=device, provenance=made, **how).best
    kept = {key: best[key] for key in ("test", "val", "epochs", "date", "machine")}
    basis = {key: best["test"].get(key, 0) for key in ("nodes", "unlabelled")}
    seconds = best["search"]["seconds"]
    return Trained.from_dict(experiment, {**kept, "method": method, "basis": basis, "seconds": seconds})
