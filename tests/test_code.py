"""Which code computed a number."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pcnet._code import PACKAGE, ROOMS, code_hash, commit, hash_of
from pcnet._machine import versions

BEFORE = """
def area(r):
    \"\"\"πr².\"\"\"
    return 3.14 * r ** 2  # nearly
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    package = tmp_path / "src" / "package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("x = 1\n")
    (tmp_path / "README.md").write_text("before\n")
    (tmp_path / ".gitignore").write_text("installed\n")
    own = ("-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "."), (*own, "commit", "-q", "-m", "one")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return package


def test_the_commit_and_whether_the_package_differs_from_it(checkout):
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=checkout, capture_output=True, text=True).stdout
    assert commit.__wrapped__(checkout) == head[:12]
    (checkout.parents[1] / "README.md").write_text("after\n")
    assert commit.__wrapped__(checkout) == head[:12]
    (checkout / "__init__.py").write_text("x = 2\n")
    assert commit.__wrapped__(checkout) == f"{head[:12]}-dirty"


def test_a_package_that_is_only_installed_there_has_none(checkout, tmp_path):
    installed = checkout.parents[1] / "installed"
    shutil.copytree(checkout, installed)
    assert commit.__wrapped__(installed) is None
    assert commit.__wrapped__(tmp_path / "nowhere") is None


def test_it_is_among_the_versions():
    assert versions().get("commit") == commit()


@pytest.mark.parametrize(
    ("after", "same"),
    [
        (BEFORE.replace("# nearly", "# not quite"), True),
        (BEFORE.replace("πr²", "The area"), True),
        (BEFORE.replace("    return", "\n\n    return").replace("r ** 2", "(r**2)"), True),
        (BEFORE.replace("3.14", "3.15"), False),
        (BEFORE.replace("* r", "+ r"), False),
        (BEFORE.replace("r ** 2", "(3.14 * r) ** 2").replace("3.14 * (", "("), False),
    ],
)
def test_only_what_code_does_changes_its_hash(after, same):
    assert after != BEFORE
    assert (hash_of([after]) == hash_of([BEFORE])) == same


def test_every_room_counts():
    assert all((PACKAGE / room / "__init__.py").is_file() for room in ROOMS)
    assert len(code_hash()) == 12
    assert hash_of(["a = 1", "b = 2"]) != hash_of(["b = 2", "a = 1"])
