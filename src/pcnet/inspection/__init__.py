"""What a graph is like, what its links and features are worth, and what to try on it first."""

from pcnet.inspection._advice import Advice, Verdict
from pcnet.inspection._classes import Classes, Homophily
from pcnet.inspection._features import Features
from pcnet.inspection._frequencies import Frequencies
from pcnet.inspection._inspection import Inspection, Watcher, inspect_graph
from pcnet.inspection._links import Degrees, Links, Neighbours
from pcnet.inspection._methods import Pattern, Suggestion, suggested_methods
from pcnet.inspection._plan import FIRST
from pcnet.inspection._probe import WAYS, Probe
from pcnet.inspection._tried import RESAMPLES, Estimate, Tried

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
