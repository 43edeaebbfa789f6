"""Figures of what was learned, and the pages of a training and of a comparison."""

from pcnet.show._charts import Score
from pcnet.show._comparison import scores_of, write_comparison
from pcnet.show._critical_difference import plot_critical_difference
from pcnet.show._page import Step, write_report
from pcnet.show._passband import Passband, describe_response
from pcnet.show._progress import ProgressBar
from pcnet.show._response import plot_response
from pcnet.show._scores import plot_scores, scores_text

__all__ = [
    "Passband",
    "ProgressBar",
    "Score",
    "Step",
    "describe_response",
    "plot_critical_difference",
    "plot_response",
    "plot_scores",
    "scores_of",
    "scores_text",
    "write_comparison",
    "write_report",
]
