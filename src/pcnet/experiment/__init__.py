"""From what was asked for to an experiment (`resolve`), to scored runs (`run_experiment`), and to their folder."""

from pcnet._machine import command_line, provenance, versions
from pcnet.experiment._classifier_file import trained_on
from pcnet.experiment._ensemble import Ensemble, FilterResponse, joined
from pcnet.experiment._estimate import Estimate, Pooled, estimates
from pcnet.experiment._experiment import DEFAULT_METHOD, Experiment, Weighted, override, resolve
from pcnet.experiment._folders import Compared, CompareFolder, RunFolder, Trained
from pcnet.experiment._methods import (
    PRESETS,
    MethodFile,
    Preset,
    chosen_on_other_graphs,
    method_file,
    method_files,
    method_name,
    presets,
    starters,
)
from pcnet.experiment._refit import refitted
from pcnet.experiment._runner import (
    MEMBERS,
    VAL_SHARE,
    CandidateEpochs,
    EpochRule,
    Result,
    check_scorable,
    ratios_of,
    run_experiment,
    score_splits,
    splits_of,
    targets_of_all,
)
