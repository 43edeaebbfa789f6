"""What the paper shows beside its tables of accuracies, produced again: a figure, dataset statistics, complexities.

Each target is a function that returns plain data, fit for JSON, and others that turn such data into a table or a
picture. Who runs them adds the command, the date, the machine and the versions.
"""

from pcnet.paper._cells import Cell, cells_of
from pcnet.paper._complexity import complexity_table, run_complexity
from pcnet.paper._complexity_plot import plot_complexity
from pcnet.paper._datasets import datasets_table, run_datasets, statistics
from pcnet.paper._differences_plot import plot_differences
from pcnet.paper._exponents import Exponent, fit_exponent
from pcnet.paper._figure2 import figure2_table, plot_figure2, run_figure2
from pcnet.paper._methods import FILTER, METHODS, Method, Size, Sweep
from pcnet.paper._original import ORIGINAL, OriginalEvaluation
from pcnet.paper._presets import USUAL
from pcnet.paper._published import (
    Figure,
    Published,
    Statistics,
    published,
    published_complexity,
    published_names,
    published_statistics,
)
from pcnet.paper._sweep import Record, TableSweep
from pcnet.paper._tables import cells_table, overview_table, table_report, winners_table

__all__ = [
    "FILTER",
    "METHODS",
    "ORIGINAL",
    "USUAL",
    "Cell",
    "Exponent",
    "Figure",
    "Method",
    "OriginalEvaluation",
    "Published",
    "Record",
    "Size",
    "Statistics",
    "Sweep",
    "TableSweep",
    "cells_of",
    "cells_table",
    "complexity_table",
    "datasets_table",
    "figure2_table",
    "fit_exponent",
    "overview_table",
    "plot_complexity",
    "plot_differences",
    "plot_figure2",
    "published",
    "published_complexity",
    "published_names",
    "published_statistics",
    "run_complexity",
    "run_datasets",
    "run_figure2",
    "statistics",
    "table_report",
    "winners_table",
]
