"""Everything in examples/ runs as it stands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py"))
#: Those that are tested below by what they print or write.
READ = {"classify_people.py", "make_people.py"}


def run(script: str, place: Path, *arguments: object) -> str:
    """What a script prints, in a folder of its own."""
    command = [sys.executable, EXAMPLES / script, *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=place, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("script", sorted({*SCRIPTS} - READ))
def test_runs(script, tmp_path):
    assert run(script, tmp_path).strip()


def test_the_scripts_that_are_read_are_there():
    assert {*SCRIPTS} >= READ


def test_two_csv_files_to_predictions(tmp_path):
    said = run("classify_people.py", tmp_path, "kept")
    assert "160 people, 31 features, ['climbing', 'rowing', 'tennis']" in said
    assert "of 23 people put aside were predicted right" in said
    right = next(line for line in said.splitlines() if "put aside" in line).partition("%")[0]
    assert 70 <= int(right) <= 100
    assert (tmp_path / "kept" / "classifier.json").is_file()


def test_the_people_are_those_that_are_generated(tmp_path):
    run("make_people.py", tmp_path, "people")
    for name in ("nodes.csv", "edges.csv"):
        assert (tmp_path / "people" / name).read_bytes() == (EXAMPLES / "people" / name).read_bytes()
