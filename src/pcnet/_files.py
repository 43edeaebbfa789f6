"""Files that are either complete or absent: write beside the target, then rename."""

from __future__ import annotations

import csv
import errno
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from pcnet._text import inert
from pcnet.errors import PcnetError


def write_atomically(path: str | Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file in the target's folder, then rename it onto `path`.

    What is no regular file (a pipe, `/dev/stdout` even when redirected into one) is written in place. A link stays a
    link: the file behind it is replaced.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise PcnetError(f"Cannot write {path}: it is a folder; name a file.")
        if _in_place(path):
            write(path)
            return
        path = Path(os.path.realpath(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        os.close(handle)
        try:
            write(Path(temporary))
            os.chmod(temporary, 0o644)
            # A rename may reach the disk before what it names, and a power cut would leave an empty file.
            _flush(temporary)
            os.replace(temporary, path)
            _flush(path.parent)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _not_writable(path, str(error.strerror or error)) from error


def _flush(path: str | Path) -> None:
    """Have a file or a folder on the disk; some file systems cannot do that for folders."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _in_place(path: Path) -> bool:
    """Whether a rename would take the place of something that is more than a name."""
    system = path.is_symlink() and path.absolute().parts[1:2] in (("dev",), ("proc",))
    return path.exists() and (system or not path.is_file())


def check_target(path: str | Path) -> None:
    """Refuse a file that certainly cannot be written, before any work is done for it."""
    path = Path(path)
    try:
        if path.is_dir():
            raise PcnetError(f"Cannot write {path}: it is a folder; name a file.")
        above = next(folder for folder in path.absolute().parents if folder.exists())
        in_place = _in_place(path)
    except OSError as error:
        raise _not_writable(path, str(error.strerror or error)) from error
    if not above.is_dir():
        raise _not_writable(path, f"{above} is not a folder")
    if not os.access(path if in_place else above, os.W_OK):
        raise _not_writable(path, "it is not permitted")


def _not_writable(path: Path, why: str) -> PcnetError:
    return PcnetError(f"Cannot write {path}: {why}. Choose a writable place with enough space.")


def write_text(path: str | Path, text: str) -> None:
    """Write UTF-8 text, whole or not at all."""
    write_atomically(path, lambda target: target.write_text(text, encoding="utf-8"))


def write_csv(path: str | Path, header: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a table row by row; halves of characters, out of a damaged file, become question marks."""

    def write(target: Path) -> None:
        with target.open("w", encoding="utf-8", errors="replace", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(rows)

    write_atomically(path, write)


def arrow() -> ModuleType:
    """PyArrow with its Parquet and its functions on columns: an extra, imported where a table needs it."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        advice = "pip install 'pcnet[io]', or use CSV files"
        raise PcnetError(f"Parquet files and data frames need pyarrow: {advice}.") from None
    return pyarrow


def write_table(path: Path, columns: Mapping[str, Any], *, spreadsheet: bool = False) -> None:
    """Write columns of one length as .csv, where a `spreadsheet` shall compute no name, or else as Parquet."""
    if path.suffix.lower() == ".csv":
        header, rows = columns.keys(), zip(*columns.values(), strict=True)
        if spreadsheet:
            write_csv(path, map(str, map(inert, header)), (map(inert, row) for row in rows))
        else:
            write_csv(path, header, rows)
        return
    pa = arrow()
    write_atomically(path, lambda target: pa.parquet.write_table(pa.table(dict(columns)), target))


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` as indented JSON; numbers that JSON does not know (NaN) are refused."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")


def read_json(path: str | Path) -> Any:
    """Read a JSON file, with one sentence when it is missing or damaged, or holds numbers that JSON does not know."""
    return _read("JSON", partial(json.loads, parse_constant=_no_number), Path(path))


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number")


def hash_of_json(content: Mapping[str, Any]) -> str:
    """SHA-256 of all entries but the one called "hash", where a file keeps its own."""
    rest = {name: value for name, value in content.items() if name != "hash"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def hash_of_file(path: Path) -> str:
    """SHA-256 of what a file holds, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while part := stream.read(2**20):
            digest.update(part)
    return digest.hexdigest()


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file, with one sentence when it is missing or damaged."""
    # Imported here: Python 3.10 has no parser of its own, and most commands read no TOML.
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return _read("TOML", tomllib.loads, Path(path))


def _read(kind: str, parse: Callable[[str], Any], path: Path) -> Any:
    try:
        return parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise PcnetError(f"There is no file {path}.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise PcnetError(f"Cannot read {path} as {kind}: {error}. The file is damaged or not {kind}.") from error
