"""What the paper shows, produced again: its tables, a figure and dataset statistics.

Each target is a function that returns plain data, fit for JSON, and others that turn such data into a table or a
picture. Who runs them adds the command, the date, the machine and the versions.
"""

from pcnet.paper._cells import ORIGINAL, Cell, OriginalEvaluation, Record, TableSweep, cells_of
from pcnet.paper._datasets import datasets_table, run_datasets, statistics
from pcnet.paper._figure2 import figure2_table, plot_figure2, run_figure2
from pcnet.paper._published import (
    Figure,
    Published,
    Statistics,
    published,
    published_complexity,
    published_names,
    published_statistics,
)
from pcnet.paper._reproduce import OTHERS, TABLES, reproduce
from pcnet.paper._tables import cells_table, overview_table, plot_differences, table_report, winners_tables
from pcnet.paper._verdicts import verdicts_report, verdicts_table
