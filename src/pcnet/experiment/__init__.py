"""The paper's experiments as data, and the runner that turns them into results."""

from pcnet.experiment._as_published import AS_PUBLISHED, AsPublished
from pcnet.experiment._difference import Basis, difference_interval
from pcnet.experiment._estimate import Estimate, Pooled
from pcnet.experiment._methods import MethodFile, method_file, method_files
from pcnet.experiment._overrides import override
from pcnet.experiment._presets import (
    DEFAULT_METHOD,
    Experiment,
    default_experiment,
    default_settings,
    file_experiment,
    graph_experiment,
    named_experiment,
    preset_datasets,
    preset_experiment,
    preset_names,
    protocol_experiment,
    table_datasets,
    table_experiment,
)
from pcnet.experiment._published import (
    Figure,
    Published,
    Statistics,
    method_name,
    published,
    published_complexity,
    published_names,
    published_statistics,
)
from pcnet.experiment._runner import MEMBERS, VAL_SHARE, Result, run_experiment, splits_of, targets_of_all
from pcnet.experiment._scorable import check_scorable

__all__ = [
    "AS_PUBLISHED",
    "DEFAULT_METHOD",
    "MEMBERS",
    "VAL_SHARE",
    "AsPublished",
    "Basis",
    "Estimate",
    "Experiment",
    "Figure",
    "MethodFile",
    "Pooled",
    "Published",
    "Result",
    "Statistics",
    "check_scorable",
    "default_experiment",
    "default_settings",
    "difference_interval",
    "file_experiment",
    "graph_experiment",
    "method_file",
    "method_files",
    "method_name",
    "named_experiment",
    "override",
    "preset_datasets",
    "preset_experiment",
    "preset_names",
    "protocol_experiment",
    "published",
    "published_complexity",
    "published_names",
    "published_statistics",
    "run_experiment",
    "splits_of",
    "table_datasets",
    "table_experiment",
    "targets_of_all",
]
