"""Search for settings: by validation alone, many at a time, by any number of workers."""

from pcnet.tune._optuna import SAMPLERS
from pcnet.tune._results import Results, Score, Standing, reported
from pcnet.tune._search import Watcher
from pcnet.tune._space import Settings, Space, published_space, read_space
from pcnet.tune._strategies import DEFAULTS
from pcnet.tune._tune import Tuned, metric_of, named, reading, tune
from pcnet.tune._tuning import STRATEGIES, Tuning

__all__ = [
    "DEFAULTS",
    "SAMPLERS",
    "STRATEGIES",
    "Results",
    "Score",
    "Settings",
    "Space",
    "Standing",
    "Tuned",
    "Tuning",
    "Watcher",
    "metric_of",
    "named",
    "published_space",
    "read_space",
    "reading",
    "reported",
    "tune",
]
