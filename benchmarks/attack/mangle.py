"""Damage: of bytes, and of the values in a JSON file."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

CODES = ("utf-16", "latin-1", "cp500")
CUTTINGS = (b"", b"\n", b",", b'"', b"\0", b"\xff\xfe", b"nan", b"inf", b"-1", b"1e400", b"9" * 30, b"[", b";", b"\r")
#: What no file should hold where it stands.
EVIL: tuple[Any, ...] = (
    None, True, 0, -1, 5, 10**9, 10**30, 0.5, 1e308, float("nan"), float("inf"), "", "warm", "../../etc/passwd",
    "\ud83d", "9" * 400, [], [[]], [None, "a"], {}, {"a": {}},
)  # fmt: skip


def mangle(random: np.random.Generator, data: bytes) -> bytes:
    """One to three of: bytes flipped, a piece cut out, doubled or replaced, the end lost, columns dropped, recoded."""
    for _ in range(random.integers(1, 4)):
        start, stop = np.sort(random.integers(0, len(data) + 1, size=2)).tolist()
        stop = min(stop, start + int(random.integers(1, 40)))
        lines = data.split(b"\n")
        row = int(random.integers(len(lines)))
        match random.integers(8):
            case 0:
                flipped = bytearray(data)
                for place in random.integers(0, max(len(data), 1), size=3 if data else 0):
                    flipped[place] ^= 1 << int(random.integers(8))
                data = bytes(flipped)
            case 1:
                data = data[:start]
            case 2:
                data = data[:start] + data[stop:]
            case 3:
                data = data[:stop] + data[start:]
            case 4:
                data = data[:start] + CUTTINGS[random.integers(len(CUTTINGS))] + data[stop:]
            case 5:
                data = b"\n".join(lines[:row] + lines[row + 1 :])
            case 6:
                data = b"\n".join(line.partition(b",")[2] for line in lines)
            case 7:
                data = data.decode("utf-8", "ignore").encode(CODES[random.integers(3)], "replace")
    return data


def mangle_json(random: np.random.Generator, text: str) -> str:
    """One value anywhere exchanged for an evil one, or lost."""
    content = json.loads(text)
    places = list(_places(content))
    inside, key = places[random.integers(len(places))]
    if random.random() < 0.15:
        del inside[key]
    else:
        inside[key] = EVIL[random.integers(len(EVIL))]
    return json.dumps(content)


def _places(content: Any) -> Any:
    """Every (object or list, key or place)."""
    for key in content if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ():
        yield content, key
        yield from _places(content[key])
