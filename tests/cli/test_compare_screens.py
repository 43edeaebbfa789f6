"""What `pcnet compare` looks like: on a narrow and a wide screen, in a pipe, and alive on a terminal."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console
from small_comparisons import LONG, SMALL, corrected_interval

from pcnet import csbm
from pcnet.compare import summarise
from pcnet.experiment import Compared, Experiment, Trained, splits_of
from pcnet.show import comparison_record, print_comparison

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")
MADE = {"date": "2025-03-01", "machine": "a machine"}


@pytest.fixture(scope="module")
def compared() -> Compared:
    """Three methods of which one is close to the best and one is not."""
    graph = csbm(60, 0.5, features=3, seed=0)
    experiments = {method: Experiment("g", "p", "random-60-20-20", tuple(range(8)), row=method) for method in TITLES}
    best = np.linspace(80, 84, 8)
    scores = {"pcnet": best, "pcnet-half-lin": best - 1 + np.tile([2.0, -1.8], 4), "glognn++": best - np.arange(1, 9)}
    splits = splits_of(graph, experiments["pcnet"])
    trained = [
        Trained(m, experiments[m], found, found, (5,) * 8, 1.0, MADE)
        for m, found in ((m, summarise(each)) for m, each in scores.items())
    ]
    return Compared(graph, splits, trained, {"GAT": "there is [not] enough memory for it"})


TITLES = ("pcnet", "pcnet-half-lin", "glognn++")


@pytest.mark.parametrize("width", [80, 120])
def test_on_screens(compared, width):
    console = Console(file=io.StringIO(), width=width, highlight=False, markup=False)
    print_comparison(console, comparison_record(compared, "accuracy", [], "cpu"))
    text = console.file.getvalue()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    assert ("rank" in text) == (width == 120)
    assert "there is [not] enough memory for it" in text
    whole = " ".join(text.split())
    ratio = np.mean([len(split.test) / len(split.train) for split in compared.splits])
    mean, low, high = corrected_interval(np.arange(1.0, 9.0), ratio, 2)
    assert compared.numbers.standings[2].behind.interval == pytest.approx((low, high))
    assert f"GloGNN++ (behind by {mean:.2f} [{low:.2f}, {high:.2f}])".replace("-", "−") in whole
    # The picture: each dot where its score is among the numbers below, in columns of the same width.
    rows = [line for line in text.splitlines() if "●" in line]
    assert [line.split()[0] for line in rows] == ["PCNet", "PCNet₀.₅-Lin", "GloGNN++"]
    columns = [line.index("●") for line in rows]
    scores = [each.score for each in compared.by_method.values()]
    assert np.allclose(np.corrcoef(columns, scores)[0, 1], 1, atol=0.01)


def test_in_a_pipe_and_80_columns(place, pets, process, monkeypatch):
    """A line for each method as it is finished, the quick ones first, and none that is longer than the screen."""
    monkeypatch.setenv("COLUMNS", "80")
    arguments = ("--methods", "mlp,gcn,pcnet,mixhop", "--runs", "3", *SMALL, "--set", "hidden=2")
    answer = process("compare", "pets", "--read", "label=pet", *arguments)
    assert answer.code == 0, answer.err
    # A command is one line, to be copied.
    assert [line for line in answer.out.splitlines() if len(line) > 80 and not line.startswith("  pcnet ")] == []
    done = [line for line in answer.out.splitlines() if " of 3 done: " in line]
    assert [line.split()[4] for line in done] == ["MLP", "PCNet", "GCN"]
    assert all(" s; about " in line for line in done[:2])
    assert "MixHop is left out: 3 powers cannot share 2 hidden channels" in " ".join(answer.out.split())
    assert "Everything is in runs/compare-pets-stratified-60-20-20;" in answer.out


def test_live_on_a_terminal(place, pets):
    """A terminal sees the bar of the method at work, a line for each that is finished, and the result."""
    pty = pytest.importorskip("pty")
    main, other = pty.openpty()
    command = [sys.executable, "-m", "pcnet", *LONG]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "40"}
    running = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=environment)
    os.close(other)
    seen = b""
    with contextlib.suppress(OSError):
        while more := os.read(main, 1 << 16):
            seen += more
    assert running.wait(timeout=60) == 0
    os.close(main)
    text = seen.decode()
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert re.search(r", 2 of 3: training .*━", plain)
    assert "1 of 3 done: " in plain
    assert plain.rindex("Everything is in") > plain.rindex("━")
