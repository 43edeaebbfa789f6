"""From what was asked for to an experiment (`resolve`), to scored runs (`run_experiment`), and to their folder."""

from pcnet._machine import command_line, provenance, versions
from pcnet.experiment._compared import Compared, CompareFolder, Trained
from pcnet.experiment._ensemble import Ensemble, FilterResponse
from pcnet.experiment._estimate import Estimate, Pooled
from pcnet.experiment._experiment import Experiment, override
from pcnet.experiment._methods import PRESETS, MethodFile, Preset, method_file, method_files, method_name, presets
from pcnet.experiment._resolve import DEFAULT_METHOD, resolve
from pcnet.experiment._run_folder import RunFolder
from pcnet.experiment._runner import (
    MEMBERS,
    VAL_SHARE,
    CandidateEpochs,
    EpochRule,
    Result,
    check_scorable,
    ratios_of,
    run_experiment,
    splits_of,
    targets_of_all,
)
