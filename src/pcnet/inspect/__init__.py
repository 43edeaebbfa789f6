"""What a graph is like, what its links and features are worth, and what to try on it first."""

from pcnet.inspect._advice import Advice
from pcnet.inspect._classes import Classes, Homophily
from pcnet.inspect._features import Features
from pcnet.inspect._frequencies import Frequencies
from pcnet.inspect._inspection import Inspection, inspect_graph
from pcnet.inspect._links import Degrees, Links, Neighbours
from pcnet.inspect._methods import Suggestion, suggested_methods
from pcnet.inspect._plan import FIRST
from pcnet.inspect._probe import WAYS, Probe
from pcnet.inspect._scores import RESAMPLES, Attempt, Estimate

__all__ = [
    "FIRST",
    "RESAMPLES",
    "WAYS",
    "Advice",
    "Attempt",
    "Classes",
    "Degrees",
    "Estimate",
    "Features",
    "Frequencies",
    "Homophily",
    "Inspection",
    "Links",
    "Neighbours",
    "Probe",
    "Suggestion",
    "inspect_graph",
    "suggested_methods",
]
