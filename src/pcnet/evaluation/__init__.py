"""Metrics, calibration, intervals, ranks, paired tests, and whether a published figure came out again."""

from pcnet.evaluation._calibration import Reliability, reliability, temperature
from pcnet.evaluation._critical_difference import CriticalDifference, Pair, critical_difference
from pcnet.evaluation._intervals import Summary, summarise, wilson
from pcnet.evaluation._joined import joined_interval
from pcnet.evaluation._metrics import METRICS, UNBALANCED, Metric, default_metric, metric_named, scores
from pcnet.evaluation._paired import LEVEL, Comparison, Rival, holm, signed_rank, winners
from pcnet.evaluation._ranks import average_ranks
from pcnet.evaluation._resampled import paired_half_width, resampled_half_width, resampled_t
from pcnet.evaluation._verdict import Verdict, half_width_of, verdict

__all__ = [
    "LEVEL",
    "METRICS",
    "UNBALANCED",
    "Comparison",
    "CriticalDifference",
    "Metric",
    "Pair",
    "Reliability",
    "Rival",
    "Summary",
    "Verdict",
    "average_ranks",
    "critical_difference",
    "default_metric",
    "half_width_of",
    "holm",
    "joined_interval",
    "metric_named",
    "paired_half_width",
    "reliability",
    "resampled_half_width",
    "resampled_t",
    "scores",
    "signed_rank",
    "summarise",
    "temperature",
    "verdict",
    "wilson",
    "winners",
]
