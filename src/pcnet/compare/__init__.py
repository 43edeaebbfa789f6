"""Numbers only: metrics, calibration, intervals, ranks, paired tests, and whether a published figure came out again."""

from pcnet.compare._comparison import (
    BEST,
    LEVEL,
    PERHAPS,
    UNKNOWN,
    WORSE,
    Comparison,
    CriticalDifference,
    Lead,
    Pair,
    Standing,
    Winners,
    average_ranks,
    critical_difference,
    difference_interval,
    holm,
    joined_interval,
    resampled_half_width,
    signed_rank,
    winners,
)
from pcnet.compare._metrics import METRICS, UNBALANCED, Metric, default_metric, logits_of, metric_named, scores
from pcnet.compare._summary import (
    Reliability,
    Summary,
    Verdict,
    half_width_of,
    percent_interval,
    reliability,
    summarise,
    temperature,
    verdict,
    wilson,
)
