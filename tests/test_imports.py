"""Arrows go down only: a room imports from the rooms above it in the list, and heavy extras stay outside."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pcnet
from pcnet._files import read_toml

SOURCE = Path(pcnet.__file__).parent
ROOT = Path(__file__).parents[1]
#: Packages whose modules have another name, or that are in Python since 3.11.
INSTALLED_AS = {"sklearn": "scikit-learn", "tomllib": "tomli"}
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
    "paper",
    "cli",
)
#: Modules of no room, which import no room and serve every one.
SHARED = ("_code", "errors", "_files", "_checks", "_machine", "_processes", "_progress", "_text", "_version")
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
    allowed = {*SHARED} if room in SHARED else {*SHARED, *ROOMS[: ROOMS.index(room) + 1]}
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


def loaded(code: str, *names: str) -> list[str]:
    """Which of these modules a fresh Python has after running the code."""
    code = f"import sys; {code}; print(*(name for name in {names!r} if name in sys.modules))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_importing_pcnet_is_light():
    """Rooms are loaded when they are asked for; figures, search and the command line not even with a model."""
    heavy = ("matplotlib", "optuna", "ray", "typer", "rich", "sklearn")
    assert loaded("import pcnet", "torch", "numpy", *heavy) == []
    assert loaded("from pcnet import Graph, PCNet, train", *heavy) == []


def test_every_public_name_is_there():
    assert {*pcnet.__all__, "__version__"} == {*dir(pcnet)}
    assert pcnet.__all__ == sorted(pcnet.__all__)
    for name in pcnet.__all__:
        assert getattr(pcnet, name).__name__ == name
    assert not hasattr(pcnet, "no_such_name")
    assert pcnet.training.train is pcnet.train


def test_what_is_imported_when_asked_for_is_what_editors_see():
    seen = [name.rsplit(".", 1)[1] for name in imported(Path("__init__.py")) if name.startswith("pcnet.")]
    assert sorted({*seen} - {"__version__"}) == pcnet.__all__


def declared() -> set[str]:
    """Packages that pyproject names, of the core and of the extras."""
    project = read_toml(ROOT / "pyproject.toml")["project"]
    wanted = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    return {re.split(r"[\[<>=; ]", line)[0].lower() for line in wanted}


def test_every_import_is_declared():
    packages = {name.split(".")[0] for file in FILES for name in imported(file)} - {*sys.stdlib_module_names, "pcnet"}
    assert {INSTALLED_AS.get(name, name) for name in packages} <= declared()


def test_the_version_stands_in_one_place():
    text = pcnet.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", text)
    project = read_toml(ROOT / "pyproject.toml")
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/pcnet/_version.py"
    sources = [ROOT / "pyproject.toml", *(SOURCE / file for file in FILES)]
    assert [path.name for path in sources if re.search(rf"version.*{text}", path.read_text("utf-8"))] == ["_version.py"]
