"""Lines that are only ever added, each complete or not there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pcnet.errors import PcnetError


class Journal:
    """A file of JSON lines, read on from where it was read last.

    A process that is killed while it writes leaves a line without an end: it does not count, and the next writer cuts
    it off. Writers hold the store's lock.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: list[dict[str, Any]] = []
        self._read = 0

    def refresh(self) -> list[dict[str, Any]]:
        """Every line so far."""
        try:
            with self.path.open("rb") as stream:
                stream.seek(self._read)
                complete, end, _ = stream.read().rpartition(b"\n")
        except FileNotFoundError:
            return self.lines
        for line in complete.split(b"\n") if end else []:
            try:
                entry = json.loads(line)
                if not isinstance(entry, dict):
                    raise ValueError("it is no object")
            except ValueError as error:
                place = len(self.lines) + 1
                raise PcnetError(
                    f"Line {place} of {self.path} is damaged ({error}); delete it, and what it told is trained again."
                ) from error
            self.lines.append(entry)
        self._read += len(complete) + len(end)
        return self.lines

    def append(self, entries: Iterable[dict[str, Any]]) -> None:
        """Add lines, on disk when this returns."""
        text = "".join(json.dumps(entry, allow_nan=False) + "\n" for entry in entries)
        try:
            cut_torn_line(self.path)
            with self.path.open("ab") as stream:
                stream.write(text.encode())
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise PcnetError(f"Cannot write {self.path}: {error.strerror}. Nothing that it holds is lost.") from error


def cut_torn_line(path: Path) -> None:
    """Take away what follows a file's last line end."""
    if not path.exists():
        return
    with path.open("r+b") as stream:
        size = stream.seek(0, os.SEEK_END)
        if size == 0:
            return
        stream.seek(size - 1)
        if stream.read(1) != b"\n":
            stream.seek(0)
            stream.truncate(stream.read().rfind(b"\n") + 1)
