"""Metrics, calibration, intervals, ranks, paired tests, and whether a published figure came out again."""

from pcnet.evaluation._calibration import Reliability, reliability, temperature
from pcnet.evaluation._intervals import Summary, summarise
from pcnet.evaluation._metrics import scores
from pcnet.evaluation._paired import Comparison, Rival, holm, signed_rank, winners
from pcnet.evaluation._ranks import average_ranks
from pcnet.evaluation._verdict import Verdict, half_width_of, verdict

__all__ = [
    "Comparison",
    "Reliability",
    "Rival",
    "Summary",
    "Verdict",
    "average_ranks",
    "half_width_of",
    "holm",
    "reliability",
    "scores",
    "signed_rank",
    "summarise",
    "temperature",
    "verdict",
    "winners",
]
