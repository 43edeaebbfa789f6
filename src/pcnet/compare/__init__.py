"""Numbers only: metrics, calibration, intervals, ranks, paired tests, and whether a published figure came out again."""

from pcnet.compare._comparison import (
    BEST,
    PERHAPS,
    UNKNOWN,
    WORSE,
    Comparison,
    CriticalDifference,
    Lead,
    Standing,
    Winners,
    average_ranks,
    critical_difference,
    winners,
)
from pcnet.compare._metrics import METRICS, UNBALANCED, Metric, default_metric, metric_named, scores
from pcnet.compare._summary import (
    Reliability,
    Summary,
    Verdict,
    half_width_of,
    reliability,
    summarise,
    temperature,
    verdict,
    wilson,
)
from pcnet.compare._tests import (
    LEVEL,
    Pair,
    difference_interval,
    holm,
    joined_interval,
    resampled_half_width,
    signed_rank,
)
