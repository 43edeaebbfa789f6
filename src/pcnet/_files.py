"""Files that are either complete or absent: write beside the target, then rename."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pcnet.errors import PcnetError


def write_atomically(path: str | Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file in the target's folder, then rename it onto `path`.

    A special file such as `/dev/stdout` cannot be renamed onto and is written in place.
    """
    path = Path(path)
    try:
        if path.exists() and not path.is_file():
            if path.is_dir():
                raise PcnetError(f"Cannot write {path}: it is a folder; name a file.")
            write(path)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        os.close(handle)
        try:
            write(Path(temporary))
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise PcnetError(
            f"Cannot write {path}: {error.strerror or error}. Choose a writable place with enough space."
        ) from error


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text, whole or not at all."""

    def write(target: Path) -> None:
        with target.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()

    write_atomically(path, write)


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` as indented JSON; numbers that JSON does not know (NaN) are refused."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")


def read_json(path: str | Path) -> Any:
    """Read a JSON file, with one sentence when it is missing or damaged."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise PcnetError(f"There is no file {path}.") from error
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise PcnetError(f"Cannot read {path} as JSON: {error}. The file is damaged or not JSON.") from error
