"""Everything that a person looks at: tables, pictures, pages, and how far work has come."""

from pcnet.show._charts import plot_response, plot_scores
from pcnet.show._comparison import print_comparison, scores_of, write_comparison, write_comparison_page
from pcnet.show._critical_difference import plot_critical_difference
from pcnet.show._learned import Learned, learned
from pcnet.show._page import Step, write_report
from pcnet.show._passband import Passband, describe_response
from pcnet.show._progress import ProgressBar
from pcnet.show._scores import Score, scores_text
from pcnet.show._table import Cell, Table

__all__ = [
    "Cell",
    "Learned",
    "Passband",
    "ProgressBar",
    "Score",
    "Step",
    "Table",
    "describe_response",
    "learned",
    "plot_critical_difference",
    "plot_response",
    "plot_scores",
    "print_comparison",
    "scores_of",
    "scores_text",
    "write_comparison",
    "write_comparison_page",
    "write_report",
]
