"""What a number was computed with."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import pcnet


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that touch a number."""
    found = {"pcnet": pcnet.__version__, "python": platform.python_version()}
    for package in ("torch", "torch_geometric", "numpy", "scipy", "scikit-learn"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
