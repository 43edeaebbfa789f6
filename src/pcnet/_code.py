"""Which code computed a number: the commit of a checkout, and a hash of everything that a computation runs."""

from __future__ import annotations

import ast
import hashlib
import subprocess
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

PACKAGE = Path(__file__).parent
#: The rooms between a graph and its scores; what shows results, or looks for settings, changes none of them.
ROOMS = ("compare", "data", "experiment", "graph", "nn", "polynomial", "propagate", "training")


@lru_cache(maxsize=1)
def commit(package: Path = PACKAGE) -> str | None:
    """The commit of the checkout that a package is in, with -dirty where its files differ; None where it is in none."""
    try:
        # A package that is installed inside somebody's repository is not of that repository.
        _git(package, "ls-files", "--error-unmatch", "__init__.py")
        changed = _git(package, "status", "--porcelain", "--", ".")
        return _git(package, "rev-parse", "HEAD").strip()[:12] + "-dirty" * bool(changed)
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=True, timeout=10).stdout


@lru_cache(maxsize=1)
def code_hash() -> str:
    """A hash of what the rooms' files do: comments, docstrings and layout are left out."""
    return hash_of(
        path.read_text(encoding="utf-8") for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))
    )


def hash_of(sources: Iterable[str]) -> str:
    """One hash of Python files, in their order.

    >>> hash_of(["x = 1  # one"]) == hash_of(["x   = 1"]) != hash_of(["x = 2"])
    True
    """
    return hashlib.sha256("\n".join(_skeleton(ast.parse(source)) for source in sources).encode()).hexdigest()[:12]


def _skeleton(node: object) -> str:
    """A syntax tree as text; fields that are empty are left out, since versions of Python differ in them."""
    if isinstance(node, list):
        return ",".join(map(_skeleton, node))
    if not isinstance(node, ast.AST):
        return repr(node)
    body = getattr(node, "body", None)
    if isinstance(body, list) and isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
        first = body[:1]
        if first and isinstance(first[0], ast.Expr) and isinstance(first[0].value, ast.Constant):
            node.body = body[1:]
    fields = ((name, value) for name, value in ast.iter_fields(node) if value is not None and value != [])
    return f"{type(node).__name__}({';'.join(f'{name}={_skeleton(value)}' for name, value in fields)})"
