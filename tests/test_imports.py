"""Arrows go down only: a room imports from the rooms above it in the list, and heavy extras stay outside."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pcnet

SOURCE = Path(pcnet.__file__).parent
#: In the order of the design; each may import those before it.
ROOMS = (
    "polynomial",
    "graph",
    "propagate",
    "nn",
    "data",
    "compare",
    "training",
    "experiment",
    "tune",
    "inspect",
    "show",
    "estimator",
    "bench",
    "paper",
    "cli",
)
#: Modules of no room, which import no room and serve every one.
SHARED = ("errors", "_files", "_checks", "_machine", "_registry", "_progress")
FILES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))


def room_of(file: Path) -> str:
    return file.parts[0].removesuffix(".py")


def imported(file: Path) -> list[str]:
    """Full names of modules that a file imports, inside functions too."""
    names = []
    for node in ast.walk(ast.parse((SOURCE / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno} imports relatively"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def test_every_module_is_in_a_room():
    known = {*ROOMS, *SHARED, "__init__", "__main__"}
    assert {room_of(file) for file in FILES} <= known


@pytest.mark.parametrize("file", [str(file) for file in FILES if room_of(file) in {*ROOMS, *SHARED}])
def test_arrows_go_down(file):
    room = room_of(Path(file))
    # What stands on top may also ask the package itself for its version.
    allowed = {*SHARED} if room in SHARED else {*SHARED, *ROOMS[: ROOMS.index(room) + 1]}
    if room in ("cli", "estimator"):
        allowed |= {"", "__version__"}
    for name in imported(Path(file)):
        package, _, inside = name.partition(".")
        assert package != "pcnet" or inside.partition(".")[0] in allowed, f"{file} imports {name}"


@pytest.mark.parametrize("file", [str(file) for file in FILES])
def test_private_modules_stay_in_their_room(file):
    for name in imported(Path(file)):
        parts = name.split(".")
        if parts[0] == "pcnet" and len(parts) > 2 and parts[1] in ROOMS and parts[2].startswith("_"):
            assert parts[1] == room_of(Path(file)), f"{file} imports {name}"


@pytest.mark.parametrize("package", ["pydantic", "lightning", "hydra", "torchmetrics", "torch_sparse", "torch_scatter"])
def test_never_used(package):
    assert [str(file) for file in FILES if any(name.split(".")[0] == package for name in imported(file))] == []


def test_importing_pcnet_is_light():
    """Figures, search and clusters are loaded when they are asked for."""
    code = (
        "import sys, pcnet; print(*(m for m in ('matplotlib', 'optuna', 'ray', 'typer', 'rich') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
