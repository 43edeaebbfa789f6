"""The one door through which raw files come in: every failure becomes a sentence that names the file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from pcnet.errors import PcnetError

#: What to do about a damaged file that was downloaded.
FETCH = "delete it and fetch it again"


@contextlib.contextmanager
def reading(path: Path, advice: str = FETCH) -> Iterator[None]:
    """Turn whatever a reader raises on a missing or damaged `path` into a `PcnetError` that ends with `advice`.

    Every `Exception` is caught, because a truncated pickle, archive or MATLAB file fails in whatever routine
    happens to meet the damage first.
    """
    try:
        yield
    except PcnetError:
        raise
    except OSError as error:
        # zipfile and gzip report damage as an OSError without an errno; a real I/O failure has one.
        if error.errno is None:
            raise damaged(path, str(error), advice) from error
        raise PcnetError(f"Cannot read {path}: {error.strerror}.") from error
    except Exception as error:
        raise damaged(path, f"{type(error).__name__}: {error}", advice) from error


def damaged(path: Path, reason: str, advice: str = FETCH) -> PcnetError:
    """The error for a file that is there but cannot be what it should be."""
    # What a library says may have several lines.
    return PcnetError(f"{path} is damaged or not the expected file ({' '.join(reason.split())}); {advice}.")
