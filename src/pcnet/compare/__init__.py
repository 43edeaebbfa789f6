"""Numbers only: metrics, calibration, intervals, ranks, paired tests, and whether a published figure came out again."""

from pcnet.compare._calibration import Reliability, reliability, temperature
from pcnet.compare._comparison import BEST, PERHAPS, UNKNOWN, WORSE, Comparison, Lead, Standing, Winners, winners
from pcnet.compare._metrics import METRICS, UNBALANCED, Metric, default_metric, metric_named, scores
from pcnet.compare._ranks import CriticalDifference, average_ranks, critical_difference
from pcnet.compare._summary import Summary, Verdict, half_width_of, summarise, verdict, wilson
from pcnet.compare._tests import (
    LEVEL,
    Pair,
    difference_interval,
    holm,
    joined_interval,
    resampled_half_width,
    signed_rank,
)

__all__ = [
    "BEST",
    "LEVEL",
    "METRICS",
    "PERHAPS",
    "UNBALANCED",
    "UNKNOWN",
    "WORSE",
    "Comparison",
    "CriticalDifference",
    "Lead",
    "Metric",
    "Pair",
    "Reliability",
    "Standing",
    "Summary",
    "Verdict",
    "Winners",
    "average_ranks",
    "critical_difference",
    "default_metric",
    "difference_interval",
    "half_width_of",
    "holm",
    "joined_interval",
    "metric_named",
    "reliability",
    "resampled_half_width",
    "scores",
    "signed_rank",
    "summarise",
    "temperature",
    "verdict",
    "wilson",
    "winners",
]
