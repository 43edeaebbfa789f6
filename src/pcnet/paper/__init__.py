"""What the paper shows beside its tables of accuracies, produced again: a figure and dataset statistics.

Each target is a function that returns plain data, fit for JSON, and others that turn such data into a table or a
picture. Who runs them adds the command, the date, the machine and the versions.
"""

from pcnet.paper._cells import Cell, cells_of, known_tables
from pcnet.paper._datasets import datasets_sheet, run_datasets, statistics
from pcnet.paper._differences_plot import plot_differences
from pcnet.paper._figure2 import figure2_sheet, run_figure2
from pcnet.paper._figure2_plot import plot_figure2
from pcnet.paper._progress import Tell
from pcnet.paper._sheet import Sheet
from pcnet.paper._sweep import Record, TableSweep
from pcnet.paper._tables import cells_sheet, overview_sheet, table_report, winners_sheet

__all__ = [
    "Cell",
    "Record",
    "Sheet",
    "TableSweep",
    "Tell",
    "cells_of",
    "cells_sheet",
    "datasets_sheet",
    "figure2_sheet",
    "known_tables",
    "overview_sheet",
    "plot_differences",
    "plot_figure2",
    "run_datasets",
    "run_figure2",
    "statistics",
    "table_report",
    "winners_sheet",
]
