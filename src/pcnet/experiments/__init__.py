"""The paper's experiments as data, and the runner that turns them into results."""

from pcnet.experiments._overrides import override
from pcnet.experiments._presets import (
    Experiment,
    default_experiment,
    file_experiment,
    named_experiment,
    preset_datasets,
    preset_experiment,
    preset_names,
    protocol_experiment,
)
from pcnet.experiments._runner import Result, run_experiment, splits_of

__all__ = [
    "Experiment",
    "Result",
    "default_experiment",
    "file_experiment",
    "named_experiment",
    "override",
    "preset_datasets",
    "preset_experiment",
    "preset_names",
    "protocol_experiment",
    "run_experiment",
    "splits_of",
]
