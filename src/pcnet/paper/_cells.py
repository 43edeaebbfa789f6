"""The cells of the paper's tables: a method on a dataset, what it is trained with, and how its authors tested it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from pcnet.data import dataset_named
from pcnet.errors import PcnetError, close_match
from pcnet.experiment import EpochRule, Experiment, presets, resolve
from pcnet.paper._published import published

#: Figures that nobody can produce again, and why.
_BROKEN = "the published layer has −Mⁿ for (−M)ⁿ and its driver cannot call it; ours is the formula"
NOT_REPRODUCIBLE = {("table4", method): _BROKEN for method in ("pcnet-half", "pcnet-half-lin")}

#: Settings that cells of earlier versions do not have, and what they meant.
LATER_SETTINGS = {"metric": "accuracy", "loss": "cross_entropy", "loss_parameter": None}


@dataclass(frozen=True)
class OriginalEvaluation:
    """How a method's authors came to their figures: the epoch they test, and how their training differs from ours."""

    epoch: EpochRule
    #: Marks every number that was made in this way.
    label: str
    training: Mapping[str, Any] = field(default_factory=dict)

    def applied(self, experiment: Experiment) -> Experiment:
        """The experiment with the training that goes with it."""
        return replace(experiment, training=replace(experiment.training, **self.training))


_LAST = "as published: last epoch, not the one that validation chooses"

#: By the rows of tables. WRGAT's authors look at validation every tenth epoch and stop, after 210 of 300 at the
#: earliest, when it has rarely improved: here all epochs are trained.
ORIGINAL: dict[str, OriginalEvaluation] = {
    "mixhop": OriginalEvaluation(
        "best test of equals", "as published: chosen by test among epochs equal in validation"
    ),
    "linkx": OriginalEvaluation("first of equals", "as published: the first of epochs equal in validation"),
    "wrgat": OriginalEvaluation("last", _LAST, {"stopping": "none"}),
    "glognn": OriginalEvaluation("last", _LAST),
    "glognn++": OriginalEvaluation("last", _LAST),
    "pdegcn": OriginalEvaluation("best test", "as published: the epoch that is best on test"),
}


@dataclass(frozen=True)
class Cell:
    """One figure of the paper."""

    table: str
    method: str
    dataset: str
    #: Whether it is made as its authors made it, not by what validation chooses.
    as_published: bool = False
    #: Why there is nothing that computes a cell without an experiment.
    missing: ClassVar[str] = "no settings yet"

    def __str__(self) -> str:
        return f"{self.table} {self.method} {self.dataset}{' as published' if self.as_published else ''}"

    @property
    def original(self) -> OriginalEvaluation | None:
        """The authors' own way, where that is wanted."""
        return ORIGINAL[self.method] if self.as_published else None

    @property
    def experiment(self) -> Experiment | None:
        """What computes it, or None where there are no settings for it yet."""
        # An ablation of the text is a row of its own with the splits of a table.
        table = self.table if self.table in presets() else published(self.table).protocol_of
        if self.dataset not in presets()[table].datasets_of(self.method):
            return None
        experiment = resolve(self.dataset, self.method, preset=table)
        return experiment if self.original is None else self.original.applied(experiment)


def cells_of(
    tables: Sequence[str], methods: Sequence[str], datasets: Sequence[str], *, as_published: bool = False
) -> list[Cell]:
    """The cells of some tables, of all methods and datasets or of those that are named.

    With `as_published`, those of methods whose authors did not test what validation chose are made in their way.
    """
    known = [published(table) for table in tables]
    chosen_methods = _known("method", [name.lower() for name in methods], [m for each in known for m in each.methods])
    chosen_datasets = _known(
        "dataset", [dataset_named(name).name for name in datasets], [d for each in known for d in each.datasets]
    )
    return [
        Cell(each.name, method, dataset, as_published and method in ORIGINAL)
        for each in known
        for method in each.methods
        for dataset in each.datasets
        if method in chosen_methods and dataset in chosen_datasets
    ]


def fingerprint(experiment: Experiment) -> str:
    """A hash of everything that the outcome depends on besides the data: settings, splits and seeds."""
    content = {**experiment.settings, "dataset": experiment.dataset, "seeds": list(experiment.seeds)}
    # What became a setting later is left out where it is as it was before: cells that were computed then stay known.
    for name, before in LATER_SETTINGS.items():
        if content[name] == before:
            del content[name]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


def _known(what: str, chosen: Sequence[str], known: Sequence[str]) -> set[str]:
    for name in chosen:
        if name not in known:
            names = ", ".join(dict.fromkeys(known))
            raise PcnetError(f"These tables have no {what} '{name}'; they have {names}.{close_match(name, known)}")
    return set(chosen or known)
