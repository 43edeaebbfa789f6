"""What a graph is like, what its links and features are worth, and what to try on it first."""

from pcnet.graph import Degrees, Homophily, Links, Neighbours
from pcnet.inspect._advice import Advice, Suggestion, suggested_methods
from pcnet.inspect._inspection import Inspection, inspect_graph
from pcnet.inspect._measures import Classes, Features, Frequencies
from pcnet.inspect._probe import RESAMPLES, WAYS, Attempt, Estimate, Probe
from pcnet.inspect._race import FIRST
