"""Who is working on what."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from pcnet._files import read_json, write_json
from pcnet.errors import PcnetError
from pcnet.tune._process import lives, this_process

#: Seconds between two signs of life, and without one until a claim from another machine lapses.
BEAT, LAPSE = 10.0, 120.0


class Claims:
    """A folder with a file for each claim: its owner and the numbers it claims.

    A claim ends when its owner lets go of it or has died. One from another machine ends when its file was not touched
    for `LAPSE` seconds of our own clock; clocks are never compared. Use it under the store's lock.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seen: dict[str, tuple[int, float]] = {}

    def held(self) -> set[int]:
        """All numbers that someone is working on."""
        numbers: set[int] = set()
        for path in self.folder.glob("*.json"):
            with suppress(FileNotFoundError, PcnetError):
                claim, touched = read_json(path), path.stat().st_mtime_ns
                if self._is_over(path.name, claim["owner"], touched):
                    path.unlink(missing_ok=True)
                else:
                    numbers.update(claim["numbers"])
        return numbers

    def make(self, numbers: Collection[int]) -> Claim:
        """Claim what `held` does not name."""
        path = self.folder / f"{uuid.uuid4().hex}.json"
        write_json(path, {"owner": this_process(), "numbers": sorted(numbers)})
        return Claim(path)

    def _is_over(self, name: str, owner: dict, touched: int) -> bool:
        alive = lives(owner)  # type: ignore[arg-type]
        if alive is not None:
            return not alive
        now = time.monotonic()
        if self._seen.get(name, (None, now))[0] != touched:
            self._seen[name] = (touched, now)
        return now - self._seen[name][1] > LAPSE


class Claim:
    """A claim while it lasts: `with` keeps it alive and lets go of it at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._done = threading.Event()
        self._pulse = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Claim:
        self._pulse.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._pulse.join()
        self.path.unlink(missing_ok=True)

    def _beat(self) -> None:
        while not self._done.wait(BEAT):
            with suppress(FileNotFoundError):
                os.utime(self.path)
