"""Runs: what they minimise, how they are optimised, stopped, scored and kept."""

from pcnet.propagate import available_threads
from pcnet.training._division import bytes_of_epoch, bytes_of_run, largest_block
from pcnet.training._losses import LOSSES, Loss
from pcnet.training._run import ALL, Outcome, Run, Targets, TrainingSettings, selection_by
from pcnet.training._train import Limit, clear_checkpoint, train, train_each
