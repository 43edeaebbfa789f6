"""One process at a time, on any file system."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from types import TracebackType

from pcnet.errors import PcnetError
from pcnet.tune._process import lives, this_process

#: Seconds after which a lock of a process on another machine, which cannot be asked, counts as forgotten.
PATIENCE = 60.0


class Lock:
    """A file that only one process can create, which network file systems grant too.

    What a killed process left behind is taken away: at once on this machine, after `PATIENCE` when it was on
    another. Two that do so in the same instant might both enter; what is written inside is
    therefore appended in whole lines, and readers take the first of two lines that say the same.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Lock:
        seen, since, pause = b"", time.monotonic(), 0.001
        while not self._create():
            content = self._content()
            if content != seen:
                seen, since = content, time.monotonic()
            if _is_forgotten(content, time.monotonic() - since):
                self._take_away(content)
            time.sleep(pause)
            pause = min(2 * pause, 0.1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.path.unlink(missing_ok=True)

    def _create(self) -> bool:
        try:
            handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except FileExistsError:
            return False
        except OSError as error:
            raise PcnetError(
                f"Cannot write to {self.path.parent}: {error.strerror}. Choose another --store."
            ) from error
        try:
            os.write(handle, json.dumps(this_process()).encode())
        finally:
            os.close(handle)
        return True

    def _content(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError:
            return b""

    def _take_away(self, content: bytes) -> None:
        # Another process may have done so a moment ago, and the lock be someone's again.
        if self._content() == content:
            self.path.unlink(missing_ok=True)


def _is_forgotten(content: bytes, waited: float) -> bool:
    try:
        alive = lives(json.loads(content))
    except (ValueError, KeyError, TypeError):
        # Its maker is about to fill it, or was killed before that.
        return waited > 1.0
    return waited > PATIENCE if alive is None else not alive
