"""An SQLite file that the processes of one machine share."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from pcnet.errors import PcnetError

#: Seconds to wait for another process: one that asks Optuna for a round of trials needs a while.
PATIENCE = 600.0
#: `PRAGMA application_id` of files that pcnet has made, and the version of their tables.
APPLICATION, FORMAT = int.from_bytes(b"pcnt", "big"), 1

D = TypeVar("D", bound="Database")


class Database:
    """Tables in one file: what a transaction writes is there as a whole or not at all, however its process ends.

    The file is in WAL mode, or in SQLite's default mode on file systems that lack the shared memory for it.
    """

    def __init__(self, path: Path, *tables: str) -> None:
        """Open the file; a new one gets `tables`, each a `CREATE TABLE` statement."""
        self.path = path
        with _explained(self.path):
            self._connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        try:
            # A file system without shared memory refuses, and so does a file that another process is about to open.
            with _explained(self.path), suppress(sqlite3.OperationalError):
                self._connection.execute("PRAGMA journal_mode = WAL")
            with self.transaction():
                self._check_or_make(tables)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self: D) -> D:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is read and written inside no other process interferes with; an exception takes it back."""
        with _explained(self.path):
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield
                self._connection.commit()
            except BaseException:
                self._connection.rollback()
                raise

    def read(self, query: str) -> list[tuple[Any, ...]]:
        """The rows that a query finds."""
        with _explained(self.path):
            return self._connection.execute(query).fetchall()

    def write(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Execute a statement for every row, inside a transaction."""
        self._connection.executemany(statement, rows)

    def _check_or_make(self, tables: Sequence[str]) -> None:
        ((application,),) = self.read("PRAGMA application_id")
        ((version,),) = self.read("PRAGMA user_version")
        if application == 0 and not self.read("SELECT name FROM sqlite_master"):
            for statement in (*tables, f"PRAGMA application_id = {APPLICATION}", f"PRAGMA user_version = {FORMAT}"):
                self._connection.execute(statement)
        elif application != APPLICATION:
            raise PcnetError(f"{self.path} was not made by pcnet; name another folder with --store.")
        elif version != FORMAT:
            raise PcnetError(
                f"{self.path} has format {version}, and this pcnet reads format {FORMAT}; name another folder with "
                "--store."
            )


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """SQLite's errors as sentences."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise PcnetError(
                f"Another process has held {path} for {PATIENCE / 60:.0f} minutes; end it and try again."
            ) from error
        raise PcnetError(f"Cannot write {path}: {error}. Nothing that it holds is lost.") from error
    except sqlite3.DatabaseError as error:
        raise PcnetError(f"{path} is damaged or no SQLite file ({error}); name another folder with --store.") from error


class Lifeline:
    """A file that is locked for as long as its process lives: the system unlocks it, however the process ends.

    The lock is SQLite's, which holds between processes, containers and threads alike.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with _explained(path):
            self._connection = sqlite3.connect(path, isolation_level=None)
            # No journal: nothing is ever written.
            self._connection.execute("PRAGMA journal_mode = MEMORY")
            self._connection.execute("BEGIN EXCLUSIVE")

    def close(self) -> None:
        """Unlock and remove the file."""
        self._connection.close()
        self.path.unlink(missing_ok=True)

    @staticmethod
    def holds(path: Path) -> bool:
        """Whether a living process has locked the file."""
        uri = f"{path.absolute().as_uri()}?mode=rw"
        try:
            with closing(sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None)) as connection:
                connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            return "locked" in str(error)
        return False
