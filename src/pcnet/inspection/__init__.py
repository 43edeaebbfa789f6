"""What a graph is like, what its links and features are worth, and what to try on it first."""

from pcnet.inspection._advice import Advice, Verdict
from pcnet.inspection._classes import Classes, Homophily
from pcnet.inspection._features import Features
from pcnet.inspection._frequencies import Frequencies
from pcnet.inspection._inspection import Inspection, Watcher, inspect_graph
from pcnet.inspection._links import Degrees, Links, Neighbours
from pcnet.inspection._methods import Pattern, Suggestion, suggested_methods
from pcnet.inspection._probe import Probe

__all__ = [
    "Advice",
    "Classes",
    "Degrees",
    "Features",
    "Frequencies",
    "Homophily",
    "Inspection",
    "Links",
    "Neighbours",
    "Pattern",
    "Probe",
    "Suggestion",
    "Verdict",
    "Watcher",
    "inspect_graph",
    "suggested_methods",
]
