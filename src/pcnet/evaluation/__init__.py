"""Metrics and intervals."""

from pcnet.evaluation._intervals import Summary, summarise
from pcnet.evaluation._metrics import scores

__all__ = ["Summary", "scores", "summarise"]
