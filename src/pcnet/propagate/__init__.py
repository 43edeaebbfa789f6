"""Sparse products, and polynomials of a graph operator made of them."""

from pcnet.propagate._polynomial import apply_polynomial
from pcnet.propagate._product import apply_matrix, apply_operator, product
from pcnet.propagate._threads import available_threads, one_core, threads_setting
