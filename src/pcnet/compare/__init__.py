"""Metrics, calibration, intervals, ranks, paired tests, and whether a published figure came out again."""

from pcnet.compare._calibration import Reliability, reliability, temperature
from pcnet.compare._critical_difference import CriticalDifference, Pair, critical_difference
from pcnet.compare._intervals import Summary, summarise, wilson
from pcnet.compare._joined import joined_interval
from pcnet.compare._metrics import METRICS, UNBALANCED, Metric, default_metric, metric_named, scores
from pcnet.compare._paired import LEVEL, Comparison, Rival, holm, signed_rank, winners
from pcnet.compare._ranks import average_ranks
from pcnet.compare._resampled import paired_half_width, resampled_half_width, resampled_t
from pcnet.compare._verdict import Verdict, half_width_of, verdict

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
