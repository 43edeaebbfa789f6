"""Search for settings: by validation alone, many at a time, by any number of processes."""

from pcnet.tune._auto import AUTO, MINUTES, Auto, auto, champions
from pcnet.tune._compete import Chosen, Ranked, compete
from pcnet.tune._contest import CONTENDERS, Contest
from pcnet.tune._members import Members, train_members
from pcnet.tune._reading import ENSEMBLES, is_shared, metric_of, named, reading, shared_words
from pcnet.tune._search import DEFAULTS, STRATEGIES, Search, cells_to_search
from pcnet.tune._searched import TRIALS, searched
from pcnet.tune._space import WIDE, Axis, Settings, Space, published_space, read_space, space_of
from pcnet.tune._strategies import SAMPLERS, Results, Score, Standing, reported
from pcnet.tune._tune import Tuned, tune
