"""Terminals and pipes that cannot show every character: something alike takes its place, and nothing stops."""

from __future__ import annotations

import codecs
import unicodedata
from typing import TextIO

#: What stands for characters that have no plain form of their own.
ALIKE = {
    **dict.fromkeys("−–—─━", "-"),
    **dict.fromkeys("•●", "*"),
    **dict.fromkeys("“”", '"'),
    **dict.fromkeys("‘’", "'"),
    "×": "x",
    "±": "+-",
    "→": "->",
    "≤": "<=",
    "≥": ">=",
    "·": ".",
    **dict.fromkeys(map(chr, range(0x2581, 0x2590)), "#"),
}


def speak_plainly(stream: TextIO) -> None:
    """Let a stream write what its encoding lacks as ASCII that looks alike, or as a question mark."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors=alike.__name__)


def alike(error: UnicodeError) -> tuple[str, int]:
    """What Python asks for where characters cannot be encoded.

    >>> "−0.3 … 1 × ‘é’ 漢".encode("ascii", "alike").decode()
    "-0.3 ... 1 x 'e' ?"
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(character: str) -> str:
    decomposed = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return ALIKE.get(character) or decomposed or "?"


codecs.register_error(alike.__name__, alike)
