"""Sparse products, and polynomials of a graph operator made of them."""

from pcnet.propagate._polynomial import apply_polynomial
from pcnet.propagate._product import product

__all__ = ["apply_polynomial", "product"]
