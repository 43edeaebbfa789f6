"""All public names of the room; what draws and what reads results takes seconds to load."""

from pcnet.show._charts import plot_response, plot_scores
from pcnet.show._compare_progress import CompareProgress
from pcnet.show._compared import comparison_record, listed
from pcnet.show._comparison import print_comparison, scores_of, write_comparison, write_comparison_page
from pcnet.show._critical_difference import plot_critical_difference
from pcnet.show._inspect import print_inspection
from pcnet.show._page import Step, write_report
from pcnet.show._passband import Passband, describe_response
from pcnet.show._plot import COLOURS, MARKERS, PALE, RULE, SOFT, panels, save_figure, styled
from pcnet.show._progress import ProgressBar
from pcnet.show._scores import Score, scores_text
from pcnet.show._table import Cell, Table, strong
from pcnet.show._template import provenance_list
from pcnet.show._train import graph_words, print_scores, train_headline
from pcnet.show._tune import print_tuned, tune_headline, tuned_table, write_tuned_tables

__all__ = [
    "COLOURS",
    "MARKERS",
    "PALE",
    "RULE",
    "SOFT",
    "Cell",
    "CompareProgress",
    "Passband",
    "ProgressBar",
    "Score",
    "Step",
    "Table",
    "comparison_record",
    "describe_response",
    "graph_words",
    "listed",
    "panels",
    "plot_critical_difference",
    "plot_response",
    "plot_scores",
    "print_comparison",
    "print_inspection",
    "print_scores",
    "print_tuned",
    "provenance_list",
    "save_figure",
    "scores_of",
    "scores_text",
    "strong",
    "styled",
    "train_headline",
    "tune_headline",
    "tuned_table",
    "write_comparison",
    "write_comparison_page",
    "write_report",
    "write_tuned_tables",
]
