"""Figures of what was learned."""

from pcnet.report._critical_difference import plot_critical_difference
from pcnet.report._response import plot_response

__all__ = ["plot_critical_difference", "plot_response"]
