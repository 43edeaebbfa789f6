"""Figures of what was learned."""

from pcnet.report._response import plot_response

__all__ = ["plot_response"]
