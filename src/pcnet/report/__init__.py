"""Figures of what was learned, and the report of a training."""

from pcnet.report._critical_difference import plot_critical_difference
from pcnet.report._learned import Learned, learned
from pcnet.report._page import Step, write_report
from pcnet.report._passband import Passband, describe_response
from pcnet.report._response import plot_response

__all__ = [
    "Learned",
    "Passband",
    "Step",
    "describe_response",
    "learned",
    "plot_critical_difference",
    "plot_response",
    "write_report",
]
