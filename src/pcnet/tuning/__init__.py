"""Search for settings: by validation alone, many at a time, by any number of workers."""

from pcnet.tuning._hash import graph_hash, tensor_hash
from pcnet.tuning._optuna import SAMPLERS
from pcnet.tuning._results import Results, Score, Standing, reported
from pcnet.tuning._search import Watcher
from pcnet.tuning._space import Settings, Space, published_space, read_space
from pcnet.tuning._strategies import DEFAULTS
from pcnet.tuning._tune import Tuned, metric_of, named, reading, tune
from pcnet.tuning._tuning import STRATEGIES, Tuning

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
    "graph_hash",
    "metric_of",
    "named",
    "published_space",
    "read_space",
    "reading",
    "reported",
    "tensor_hash",
    "tune",
]
