"""Whether a metric says something on the splits that it is to be used on."""

from __future__ import annotations

from collections.abc import Sequence

from pcnet.compare import Metric
from pcnet.data import Split
from pcnet.errors import PcnetError


def check_scorable(metric: Metric, splits: Sequence[Split]) -> None:
    """Refuse a ranking metric where the validation or the test nodes of a split are all of one class."""
    if not metric.ranks:
        return
    for number, split in enumerate(splits, start=1):
        for part, nodes in (("validation", split.val), ("test", split.test)):
            if len(split.labels[nodes].unique()) < 2:
                raise PcnetError(
                    f"The {part} nodes of split {number} of {len(splits)} are all of one class, where "
                    f"{metric.title} says nothing; use another metric, such as log_loss, or label more nodes."
                )
