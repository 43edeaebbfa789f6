"""What a graph is like, what its links and features are worth, and what to try on it first."""

from pcnet.inspect._advice import Advice
from pcnet.inspect._frequencies import Frequencies
from pcnet.inspect._inspection import Inspection, inspect_graph
from pcnet.inspect._measures import Classes, Degrees, Features, Homophily, Links, Neighbours
from pcnet.inspect._methods import Suggestion, suggested_methods
from pcnet.inspect._plan import FIRST
from pcnet.inspect._probe import RESAMPLES, WAYS, Attempt, Estimate, Probe
