"""Attacks on what runs: signals, kills, full disks, folders that are taken away, two who write at once.

Each attack is a function of an empty folder that returns what went wrong, in sentences; none is what is hoped for.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from small_comparisons import write_folder

from pcnet import csbm

Attack = Callable[[Path], list[str]]
#: Attacks by name, in the order in which they were written.
ATTACKS: dict[str, Attack] = {}
QUICK = ("--threads", "1", "--device", "cpu")
#: Signals and the exit codes that they end with; before Python listens to them, a process just ends by them.
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}
#: Commands that take long enough to be interrupted, and what they write in the end.
WORK = {
    "train": (("train", "pets", "--runs", "2", "--set", "epochs=3000", "--out", "out"), "out/metrics.json"),
    "tune": (
        ("tune", "pets", "--trials", "12", "--runs", "2", "--set", "epochs=300", "--store", "out"),
        "out/best.json",
    ),
    "compare": (
        ("compare", "pets", "--methods", "mlp,gcn", "--runs", "2", "--set", "epochs=1500", "--out", "out"),
        "out/compare.json",
    ),
    "auto": (("train", "pets", "--method", "auto", "--trials", "2", "--runs", "1", "--out", "out"), "out/metrics.json"),
    "reproduce": (
        ("reproduce", "table2", "--methods", "mlp", "--datasets", "citeseer", "--runs", "1", "--store", "out"),
        "results/table2.json",
    ),
}


def attack(function: Attack) -> Attack:
    """Register an attack under the name of its function."""
    ATTACKS[function.__name__] = function
    return function


def start(place: Path, *arguments: str, mark: str = "", **how: object) -> subprocess.Popen[str]:
    """`pcnet …` in a folder; `mark` is found again in the environment of every process that it starts."""
    environment = {**os.environ, "PCNET_THREADS": "1", "OMP_NUM_THREADS": "1", "PCNET_ATTACK": mark}
    command = [sys.executable, "-m", "pcnet", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=place, env=environment, **(pipes | how))  # type: ignore[call-overload]


def marked(mark: str) -> list[int]:
    """Processes with the mark that have not ended."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            alive = folder.name.isdigit() and ") Z " not in (folder / "stat").read_text()
            if alive and f"PCNET_ATTACK={mark}\0" in (folder / "environ").read_text(errors="replace"):
                found.append(int(folder.name))
    return found


def left_behind(mark: str, seconds: float = 10.0) -> list[int]:
    """Those that are still there after a while."""
    until = time.monotonic() + seconds
    while (found := marked(mark)) and time.monotonic() < until:
        time.sleep(0.05)
    return found


def pets(place: Path) -> None:
    """A small graph of one's own."""
    write_folder(place / "pets", csbm(60, 0.5, features=3, seed=0))
    nodes = place / "pets" / "nodes.csv"
    nodes.write_text(nodes.read_text().replace(",pet,", ",label,", 1))


def wrong_end(process: subprocess.Popen[str], codes: Sequence[int], what: str, seconds: int = 60) -> list[str]:
    """What is wrong with how a process ended: its code, a traceback, or that it did not end."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return [f"{what}: still running after {seconds} s"]
    wrong = (
        [] if process.returncode in codes else [f"{what}: exit code {process.returncode}, not {codes}: {err[-300:]}"]
    )
    return wrong + [f"{what}: a traceback: {err[-600:]}"] * ("Traceback" in f"{err}{out}")


def orphans(place: Path, how: signal.Signals, trials: int, moments: tuple[float, float] = (1.0, 8.0)) -> list[str]:
    """`reproduce` in two processes, stopped at random moments once Python runs our code: nothing is left behind."""
    wrong = []
    table = ("reproduce", "table2", "--methods", "mlp,gcn,pcnet", "--datasets", "citeseer", "--processes", "2")
    for trial in range(trials):
        moment, mark = random.Random(trial).uniform(*moments), f"{os.getpid()}-{trial}"
        process = start(place, *table, "--store", "store", "--anew", mark=mark)
        time.sleep(moment)
        process.send_signal(how)
        what = f"{how.name} after {moment:.2f} s"
        wrong += wrong_end(process, (CODES[how],), what)
        if left := left_behind(mark):
            wrong.append(f"{what}: {len(left)} processes are left behind")
            for each in left:
                os.kill(each, signal.SIGKILL)
    return wrong


@attack
def stopped_by_ctrl_c(place: Path) -> list[str]:
    return orphans(place, signal.SIGINT, 50)


@attack
def stopped_by_sigterm(place: Path) -> list[str]:
    return orphans(place, signal.SIGTERM, 50)


@attack
def killed(place: Path) -> list[str]:
    return orphans(place, signal.SIGKILL, 50)


def resumed(place: Path, command: str, trials: int = 3) -> list[str]:
    """Killed at random moments and started again until it is done: it ends, and its report is whole."""
    pets(place)
    arguments, written = WORK[command]
    chance, wrong = random.Random(command), []
    resume = ("--resume",) if command in ("train", "auto") else ()
    for trial in range(trials):
        goes_on = resume if (place / "out" / "checkpoint").exists() else ()
        process = start(place, *arguments, *QUICK, *goes_on)
        time.sleep(chance.uniform(2, 6))
        process.kill()
        wrong += wrong_end(process, (0, -signal.SIGKILL), f"{command}, kill {trial}")
        if (place / written).exists():
            break
    if not (place / written).exists():
        goes_on = resume if (place / "out" / "checkpoint").exists() else ()
        wrong += wrong_end(start(place, *arguments, *QUICK, *goes_on), (0,), f"{command}, resumed", 300)
    try:
        json.loads((place / written).read_text())
    except (OSError, ValueError) as error:
        wrong.append(f"{command}: {written} is not what it should be: {error}")
    return wrong


@attack
def kill_and_resume(place: Path) -> list[str]:
    wrong = []
    for command in WORK:
        (place / command).mkdir()
        wrong += resumed(place / command, command)
    return wrong


@attack
def disk_full(place: Path) -> list[str]:
    """Files may grow to a few sizes and no further: a sentence, and no half file under a final name."""
    pets(place)
    wrong = []
    for size, codes in {0: (2,), 100: (2,), 2_000: (2,), 20_000: (2,), 2**24: (0,)}.items():

        def limit(size: int = size) -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        train = ("train", "pets", "--runs", "2", "--set", "epochs=5", "--out", f"out{size}", "--json", f"{size}.json")
        wrong += wrong_end(start(place, *train, *QUICK, preexec_fn=limit), codes, f"files of at most {size} bytes")
        for path in [*place.glob("*.json"), *place.glob("out*/*.json")]:
            try:
                json.loads(path.read_text())
            except ValueError:
                wrong.append(f"files of at most {size} bytes: {path.name} is half a file")
    return wrong


def as_anybody() -> None:
    """In a child: permissions count for root, too, once CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH cannot be had."""
    prctl, drop_from_bounding_set = ctypes.CDLL(None).prctl, 24
    for capability in (1, 2):
        prctl(drop_from_bounding_set, capability, 0, 0, 0)


@attack
def folders_without_permission(place: Path) -> list[str]:
    """A folder that may not be written to, one that may not be searched, and names that are too long."""
    pets(place)
    (place / "readonly").mkdir(mode=0o555)
    (place / "closed").mkdir(mode=0o600)
    wrong = []
    train = ("train", "pets", "--runs", "1", "--set", "epochs=2", *QUICK)
    for what, arguments in {
        "a read-only folder": (*train, "--out", "readonly/out"),
        "a closed folder": (*train, "--out", "closed/out"),
        "JSON in a closed folder": ("data", "list", "--json", "closed/list.json"),
        "a graph in a closed folder": ("train", "closed/graph", *QUICK),
        "a long name": ("data", "list", "--json", "x" * 300),
    }.items():
        wrong += wrong_end(start(place, *arguments, preexec_fn=as_anybody), (2,), what)
    return wrong + wrong_end(start(place, *train, "--out", "open", preexec_fn=as_anybody), (0,), "an open folder")


@attack
def output_that_cannot_be_written(place: Path) -> list[str]:
    """Standard output on a full device, and a reader who has gone."""
    with open("/dev/full", "w") as full:
        wrong = wrong_end(start(place, "data", "list", stdout=full), (2,), "> /dev/full")
    reading, writing = os.pipe()
    os.close(reading)
    process = start(place, "data", "list", stdout=writing)
    os.close(writing)
    return wrong + wrong_end(process, (141,), "| head")


@attack
def folder_deleted_while_in_use(place: Path) -> list[str]:
    pets(place)
    arguments, _ = WORK["train"]
    process = start(place, *arguments, *QUICK)
    until = time.monotonic() + 30
    while not (place / "out" / "checkpoint").exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    shutil.rmtree(place / "out", ignore_errors=True)
    return wrong_end(process, (0, 2), "the folder is deleted")


@attack
def two_writers_of_one_folder(place: Path) -> list[str]:
    """One of them may be refused; what is there in the end is whole."""
    pets(place)
    arguments, written = WORK["compare"]
    both = [start(place, *arguments, *QUICK) for _ in range(2)]
    wrong = [each for process in both for each in wrong_end(process, (0, 2), "two writers")]
    if not any(process.returncode == 0 for process in both):
        wrong.append("two writers: none of them came to an end")
    with contextlib.suppress(FileNotFoundError):
        json.loads((place / written).read_text())
    return wrong
