"""All public names of the room; what draws and what reads results takes seconds to load."""
# ruff: noqa: F401

from pcnet.show._charts import plot_critical_difference, plot_response, plot_scores
from pcnet.show._comparison import (
    comparison_record,
    listed,
    print_comparison,
    scores_of,
    write_comparison,
    write_comparison_page,
)
from pcnet.show._inspect import print_inspection
from pcnet.show._page import write_report
from pcnet.show._passband import Passband, describe_response
from pcnet.show._plot import COLOURS, MARKERS, PALE, RULE, SOFT, panels, save_figure, styled
from pcnet.show._progress import CompareProgress, ProgressBar
from pcnet.show._results import (
    graph_words,
    print_notes,
    print_scores,
    print_tuned,
    train_headline,
    tune_headline,
    tuned_table,
    write_tuned_tables,
)
from pcnet.show._scores import Score, scores_text
from pcnet.show._template import Step, provenance_list
