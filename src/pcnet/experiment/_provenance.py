"""What a number was computed with: the command, the day, the machine and the versions."""

from __future__ import annotations

import datetime
import os
import platform
import shlex
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from pcnet._machine import processor
from pcnet._version import __version__


def command_line() -> str:
    """What was typed, so that it can be typed again."""
    return shlex.join(["pcnet", *sys.argv[1:]])


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that touch a number."""
    found = {"pcnet": __version__, "python": platform.python_version()}
    for package in ("torch", "torch_geometric", "numpy", "scipy", "scikit-learn"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def provenance(device: str = "cpu", command: Sequence[str] = ()) -> dict[str, Any]:
    """What is kept with every number; `command`, in words, is what was typed where that was not pcnet."""
    typed, today = shlex.join(command) or command_line(), datetime.date.today().isoformat()
    return {"command": typed, "date": today, "machine": machine(device), "versions": versions()}


def machine(device: str = "cpu") -> str:
    """The processor that did the work, in words."""
    if torch.device(device).type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{processor()}, {os.cpu_count()} cores"
