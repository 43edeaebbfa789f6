"""What is in examples/ runs as it stands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(script: str, *arguments: object) -> str:
    command = [sys.executable, EXAMPLES / script, *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_csv_files_to_predictions(tmp_path):
    said = run("classify_people.py", tmp_path / "kept")
    assert "160 people, 31 features, ['climbing', 'rowing', 'tennis']" in said
    assert "of 23 people put aside were predicted right" in said
    right = next(line for line in said.splitlines() if "put aside" in line).partition("%")[0]
    assert 70 <= int(right) <= 100
    assert (tmp_path / "kept" / "classifier.json").is_file()
