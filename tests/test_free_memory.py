"""What a process may still take, by files like those that Linux has."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from pcnet._machine import free_bytes, free_memory

MIB = 2**20


def written(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return root


def machine(free: int = 900) -> dict[str, str]:
    return {"proc/meminfo": f"MemTotal: 1024000 kB\nMemFree: 5 kB\nMemAvailable: {free * 1024} kB\n"}


def second(folder: str, limit: int | None, taken: int, cached: int = 0) -> dict[str, str]:
    """The files of a control group of version 2, in MiB."""
    group = f"sys/fs/cgroup{folder}"
    return {
        f"{group}/memory.max": "max\n" if limit is None else f"{limit * MIB}\n",
        f"{group}/memory.current": f"{taken * MIB}\n",
        f"{group}/memory.stat": f"anon 17\ninactive_file {cached * MIB}\nfile 99\n",
    }


def first(folder: str, limit: int | None, taken: int, cached: int = 0) -> dict[str, str]:
    """Those of version 1."""
    group = f"sys/fs/cgroup/memory{folder}"
    return {
        f"{group}/memory.limit_in_bytes": f"{9223372036854771712 if limit is None else limit * MIB}\n",
        f"{group}/memory.usage_in_bytes": f"{taken * MIB}\n",
        f"{group}/memory.stat": f"cache 3\ninactive_file 0\ntotal_inactive_file {cached * MIB}\n",
    }


CASES = {
    "no container": ({"proc/self/cgroup": "0::/user.slice\n"}, 900),
    "no files of groups": ({}, 900),
    "version 2": ({"proc/self/cgroup": "0::/\n", **second("", 400, 150)}, 250),
    "cached files are not taken": ({"proc/self/cgroup": "0::/\n", **second("", 400, 350, 200)}, 250),
    "no limit": ({"proc/self/cgroup": "0::/a\n", **second("/a", None, 150)}, 900),
    "the machine has less": ({"proc/self/cgroup": "0::/\n", **second("", 4000, 0)}, 900),
    "a group inside a group": (
        {"proc/self/cgroup": "0::/a/b\n", **second("/a", 500, 400), **second("/a/b", 400, 100)},
        100,
    ),
    "the path of the host": ({"proc/self/cgroup": "0::/docker/4f2a\n", **second("", 400, 150)}, 250),
    "version 1": ({"proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/x\n", **first("/x", 400, 150, 50)}, 300),
    "version 1 without a limit": ({"proc/self/cgroup": "4:memory:/\n", **first("", None, 150)}, 900),
    "version 1 by the path of the host": ({"proc/self/cgroup": "4:memory:/docker/4f2a\n", **first("", 400, 0)}, 400),
    "both": (
        {"proc/self/cgroup": "4:cpu,memory:/x\n0::/y\n", **first("/x", 700, 0), **second("/y", 300, 0)},
        300,
    ),
    "another resource's group": ({"proc/self/cgroup": "4:cpu:/x\n", **first("/x", 1, 0)}, 900),
    "damaged": ({"proc/self/cgroup": "0::/\n", **second("", 400, 150), "sys/fs/cgroup/memory.current": "?"}, 900),
}


@pytest.mark.parametrize("case", CASES)
def test_free_memory(case, tmp_path):
    files, expected = CASES[case]
    assert free_memory(written(tmp_path, machine() | files)) == expected * MIB


def test_where_nothing_is_known(tmp_path):
    assert free_memory(tmp_path) == math.inf


def test_this_machine():
    assert free_bytes() > 0
