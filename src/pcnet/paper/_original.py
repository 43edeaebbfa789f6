"""What authors did to get the figures they print, where that is not to test once the epoch that validation chose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pcnet.experiment import EpochRule, Experiment


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
