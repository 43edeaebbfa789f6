"""Every attack by its name, and how many of its trials were survived."""

from __future__ import annotations

import resource
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

import numpy as np

from pcnet import PcnetError

#: One trial: it damages what it likes in an empty folder and lets pcnet read it. A return is a reading that was judged
#: to be right; a `PcnetError` refuses what was damaged; whatever else it raises is lost.
Trial = Callable[[np.random.Generator, Path], None]
ATTACKS: dict[str, Trial] = {}
#: Memory that a trial may take besides what was taken before.
MEMORY = 2 * 2**30


def attack(name: str) -> Callable[[Trial], Trial]:
    """Register a trial under a name."""

    def register(trial: Trial) -> Trial:
        ATTACKS[name] = trial
        return trial

    return register


@dataclass
class Tally:
    """How the trials of an attack ended: "read", "refused" or "lost", and for each that was lost its seed and why."""

    counts: Counter[str] = field(default_factory=Counter)
    lost: dict[int, str] = field(default_factory=dict)


def run(name: str, seeds: Iterable[int], seconds: float = np.inf) -> Tally:
    """Trials of an attack, one a seed, until the time is over."""
    tally, start = Tally(), time.perf_counter()
    for seed in seeds:
        end, why = one(name, seed)
        tally.counts[end] += 1
        if end == "lost":
            tally.lost[seed] = why
        if time.perf_counter() - start > seconds:
            break
    return tally


def one(name: str, seed: int) -> tuple[str, str]:
    """How a single trial ends, and the sentence or the traceback."""
    random = np.random.default_rng([crc32(name.encode()), seed])
    try:
        with tempfile.TemporaryDirectory() as folder, limited_memory():
            ATTACKS[name](random, Path(folder))
    except PcnetError as error:
        sentence = str(error)
        # The limit was met: a file made pcnet ask for more than it may.
        kind = sentence and len(sentence.splitlines()) == 1 and "MemoryError" not in sentence
        return "refused" if kind else "lost", sentence
    except Exception:
        return "lost", traceback.format_exc()
    return "read", ""


@contextmanager
def limited_memory(more: int = MEMORY) -> Iterator[None]:
    """What asks for more memory inside gets a MemoryError."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
