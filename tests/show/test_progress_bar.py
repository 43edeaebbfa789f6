"""The bar as a terminal receives it, and its silence elsewhere."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import threading

from rich.console import Console

from pcnet.show import ProgressBar

PROGRAM = """
import time
from pcnet.show import ProgressBar

with ProgressBar() as progress:
    progress.stage("looking at [the] graph", 4)
    progress.advance(3)
    time.sleep(0.3)
    progress.print("kept [so far] on the way")
    progress.stage("training", 200)
    progress.advance()
    progress.advance(49)
    time.sleep(0.3)
print("done")
"""


def plain(written: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written)


def drawn_on(file: io.StringIO, *, terminal: bool = True) -> Console:
    return Console(file=file, force_terminal=terminal, force_interactive=terminal, width=100)


def on_a_terminal() -> str:
    """What a real terminal receives on standard error and output."""
    mine, its = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=its, stderr=its, env=environment)
    os.close(its)
    received = b""
    try:
        while chunk := os.read(mine, 4096):
            received += chunk
    except OSError:  # the other end is closed
        pass
    os.close(mine)
    assert process.wait() == 0
    return received.decode()


def test_a_terminal_sees_stages_and_then_no_bar():
    received = on_a_terminal()
    shown = plain(received)
    assert re.search(r"looking at \[the\] graph .*3/4", shown)
    assert re.search(r"training .* 50/200", shown)
    assert "kept [so far] on the way" in shown
    # The last thing before the result erases the bar's line.
    assert re.search(r"\x1b\[2K(\x1b\[\?25h)?[^\n]*done", received)


def test_off_a_terminal_only_sentences_are_written():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stderr == "kept [so far] on the way\n"
    assert done.stdout == "done\n"


def test_units_may_come_from_many_threads():
    file = io.StringIO()
    with ProgressBar(drawn_on(file)) as progress:
        progress.stage("training", 4000)
        threads = [threading.Thread(target=lambda: [progress.advance() for _ in range(1000)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert "4000/4000" in plain(file.getvalue())


def test_nothing_is_drawn_before_the_first_stage():
    file = io.StringIO()
    with ProgressBar(drawn_on(file)):
        pass
    assert "━" not in file.getvalue()


def test_a_line_is_not_broken_where_a_log_is_narrow():
    file = io.StringIO()
    with ProgressBar(drawn_on(file, terminal=False)) as progress:
        progress.print("word " * 60)
    assert file.getvalue().count("\n") == 1


def test_the_bar_goes_when_the_work_fails():
    file = io.StringIO()
    try:
        with ProgressBar(drawn_on(file)) as progress:
            progress.stage("training", 3)
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert file.getvalue().rstrip().endswith("\x1b[2K")
