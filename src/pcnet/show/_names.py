"""All public names of the room; what draws and what reads results takes seconds to load."""
# ruff: noqa: F401

from pcnet.show._auto import auto_headline, board, leaderboard, print_auto
from pcnet.show._comparison import (
    comparison_record,
    listed,
    print_comparison,
    scores_of,
    write_comparison,
    write_comparison_page,
)
from pcnet.show._inspect import print_inspection
from pcnet.show._plot import COLOURS, MARKERS, PALE, RULE, SOFT, Score, panels, save_figure, styled
from pcnet.show._progress import CompareProgress, ProgressBar
from pcnet.show._ranking import plot_critical_difference, plot_scores, scores_text
from pcnet.show._report import graph_words, print_notes, print_scores, train_headline, write_report
from pcnet.show._table import Step, provenance_list
from pcnet.show._tuned import print_tuned, tune_headline, tuned_table, write_chosen, write_tuned_tables
from pcnet.show._verdict import Passband, describe_response
