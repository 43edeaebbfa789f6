"""What a graph is like, what its links and features are worth, and what to try on it first."""

from pcnet.inspect._advice import Advice, Verdict
from pcnet.inspect._classes import Classes, Homophily
from pcnet.inspect._features import Features
from pcnet.inspect._frequencies import Frequencies
from pcnet.inspect._inspection import Inspection, Watcher, inspect_graph
from pcnet.inspect._links import Degrees, Links, Neighbours
from pcnet.inspect._methods import Pattern, Suggestion, suggested_methods
from pcnet.inspect._plan import FIRST
from pcnet.inspect._probe import WAYS, Probe
from pcnet.inspect._tried import RESAMPLES, Estimate, Tried

__all__ = [
    "FIRST",
    "RESAMPLES",
    "WAYS",
    "Advice",
    "Classes",
    "Degrees",
    "Estimate",
    "Features",
    "Frequencies",
    "Homophily",
    "Inspection",
    "Links",
    "Neighbours",
    "Pattern",
    "Probe",
    "Suggestion",
    "Tried",
    "Verdict",
    "Watcher",
    "inspect_graph",
    "suggested_methods",
]
