"""The paper's experiments as data, and the runner that turns them into results."""

from pcnet.experiments._overrides import override
from pcnet.experiments._presets import (
    Experiment,
    default_experiment,
    preset_datasets,
    preset_experiment,
    preset_names,
)
from pcnet.experiments._runner import Result, run_experiment

__all__ = [
    "Experiment",
    "Result",
    "default_experiment",
    "override",
    "preset_datasets",
    "preset_experiment",
    "preset_names",
    "run_experiment",
]
