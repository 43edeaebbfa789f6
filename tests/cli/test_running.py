"""Commands that are stopped, killed, or not allowed to write; the long form of these tests are the attacks."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest
from attacks_on_running import ATTACKS, as_anybody, left_behind, orphans, start, wrong_end

from pcnet._processes import Stop, stoppable, worker_processes


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_its_command(place, how):
    assert orphans(place, how, 1, (5.0, 6.0)) == []


def test_output_that_cannot_be_written_is_one_sentence(place):
    assert ATTACKS["output_that_cannot_be_written"](place) == []


def test_what_the_system_refuses_is_one_sentence(place):
    (place / "closed").mkdir(mode=0o600)
    for name in ("closed/list.json", "x" * 300):
        process = start(place, "data", "list", "--json", name, preexec_fn=as_anybody)
        assert wrong_end(process, (2,), name[:20]) == []
    assert os.listdir(place / "closed") == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_an_interrupt_once_there_is_something_to_save(number):
    before = signal.getsignal(number)
    with stoppable() as stop:
        stop.working = True
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        # A terminal may send it to the group as well as to the process.
        signal.raise_signal(number)
    assert stop.code == 128 + number
    assert signal.getsignal(number) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_before_that_it_leaves_at_once(number):
    program = f"from pcnet._processes import Stop\nimport signal\nStop().install()\nsignal.raise_signal({int(number)})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (128 + number, "pcnet: Interrupted.\n")


def test_a_signal_that_was_turned_off_stays_so():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        Stop().install()
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_block_that_fails_does_not_wait_for_its_workers():
    def interrupted() -> None:
        with worker_processes(1) as pool:
            pool.submit(time.sleep, 600)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    for process in multiprocessing.active_children():
        process.join(60)
        assert process.exitcode == -signal.SIGKILL


def test_workers_end_with_a_parent_that_is_killed(place):
    program = "from pcnet._processes import worker_processes\nimport time\nif __name__ == '__main__':\n"
    program += "    with worker_processes(2) as pool:\n        print(*pool.map(abs, [1, 2]), flush=True)\n"
    program += "        list(pool.map(time.sleep, [600, 600]))\n"
    (place / "parent.py").write_text(program)
    mark = f"{os.getpid()}-parent"
    environment = {**os.environ, "PCNET_ATTACK": mark}
    parent = subprocess.Popen([sys.executable, "parent.py"], cwd=place, env=environment, stdout=subprocess.PIPE)
    assert parent.stdout.readline() == b"1 2\n"
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert left_behind(mark) == []
