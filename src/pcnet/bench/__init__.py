"""Speed and memory, side by side in one process: this library, the authors' scheme, and the usual ways between them."""

from pcnet.bench._bandwidth import Copy, measure_bandwidth, product_bytes, sweep_bytes
from pcnet.bench._contest import Contest
from pcnet.bench._effort import Effort, Tell
from pcnet.bench._filters import WAYS, Filter, faster_layout, filters
from pcnet.bench._graphs import Sample, random_graph
from pcnet.bench._machine import TOLERATED, Others, machine
from pcnet.bench._memory import held_bytes, peak_bytes, saved_bytes
from pcnet.bench._methods import measure_methods
from pcnet.bench._plain import PlainPCNet, charlier
from pcnet.bench._plain_methods import plain_filter, plain_model
from pcnet.bench._plain_training import FrugalTraining, PlainTraining, plain_training
from pcnet.bench._plots import plot_report
from pcnet.bench._scale import measure_scale
from pcnet.bench._tables import section_table
from pcnet.bench._timing import Rounds, Spread, elapsed, faster_threads, fastest, per_call, take_turns, torch_threads
from pcnet.bench._training import (
    WARM_UP,
    Clock,
    Enough,
    compare_training,
    endless_runs,
    measure_training,
    time_library,
)
from pcnet.bench._ways import measure_ways

__all__ = [
    "TOLERATED",
    "WARM_UP",
    "WAYS",
    "Clock",
    "Contest",
    "Copy",
    "Effort",
    "Enough",
    "Filter",
    "FrugalTraining",
    "Others",
    "PlainPCNet",
    "PlainTraining",
    "Rounds",
    "Sample",
    "Spread",
    "Tell",
    "charlier",
    "compare_training",
    "elapsed",
    "endless_runs",
    "faster_layout",
    "faster_threads",
    "fastest",
    "filters",
    "held_bytes",
    "machine",
    "measure_bandwidth",
    "measure_methods",
    "measure_scale",
    "measure_training",
    "measure_ways",
    "peak_bytes",
    "per_call",
    "plain_filter",
    "plain_model",
    "plain_training",
    "plot_report",
    "product_bytes",
    "random_graph",
    "saved_bytes",
    "section_table",
    "sweep_bytes",
    "take_turns",
    "time_library",
    "torch_threads",
]
