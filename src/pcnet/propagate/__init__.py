"""Sparse products, and polynomials of a graph operator made of them."""

from pcnet.propagate._apply import LinearMap, apply_matrix, apply_operator, apply_polynomial
from pcnet.propagate._messages import entry_dots, weighted_sums
from pcnet.propagate._sweep import product
from pcnet.propagate._threads import available_threads, one_core, threads_setting
