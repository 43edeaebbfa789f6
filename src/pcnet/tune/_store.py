"""The folder of a search: everything that is known, in SQLite files that the processes of one machine share."""

from __future__ import annotations

import datetime
import json
import math
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pcnet._checks import from_json
from pcnet._files import hash_of_json, read_json, write_json
from pcnet.errors import PcnetError
from pcnet.tune._strategies import Job, Results, Score

#: Seconds to wait for another process: one that asks Optuna for a round of trials needs a while.
PATIENCE = 600.0
#: `PRAGMA application_id` of files that pcnet has made, and the version of their tables.
APPLICATION, FORMAT = int.from_bytes(b"pcnt", "big"), 1

FILE = "trials.sqlite"
TABLES = (
    # What is searched, as JSON; one row.
    "CREATE TABLE search (description TEXT NOT NULL)",
    # Values on the axes of the space, as JSON.
    "CREATE TABLE trials (trial INTEGER UNIQUE, axes TEXT NOT NULL)",
    # On validation nodes; gain and loss are null where the run diverged.
    "CREATE TABLE scores (trial INTEGER, split INTEGER, gain REAL, loss REAL, epochs INTEGER, seconds REAL, "
    "UNIQUE (trial, split))",
    # Who is working on what, by the name of the worker's lifeline.
    "CREATE TABLE claims (trial INTEGER PRIMARY KEY, worker TEXT NOT NULL)",
)


@dataclass(frozen=True)
class ScoreRow:
    """A row of the table of scores."""

    trial: int
    split: int
    gain: float | None
    loss: float | None
    epochs: int
    seconds: float


#: What a user calls it, where the description has a shorter name.
WORDS = {
    "base": "set of fixed settings",
    "leak": "choice of --leak",
    "labels": "set of labels",
    "per_split": "choice of --shared",
}


class Database(ExitStack):
    """Tables in one file: what a transaction writes is there as a whole or not at all, however its process ends.

    The file is in WAL mode, or in SQLite's default mode on file systems that lack the shared memory for it. The end of
    a `with` block closes it.
    """

    def __init__(self, path: Path, *tables: str) -> None:
        """Open the file; a new one gets `tables`, each a `CREATE TABLE` statement."""
        super().__init__()
        self.path = path
        with _explained(path):
            self._connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        self.callback(self._connection.close)
        try:
            # A file system without shared memory refuses, and so does a file that another process is about to open.
            with _explained(path), suppress(sqlite3.OperationalError):
                self._connection.execute("PRAGMA journal_mode = WAL")
            with self.transaction():
                self._check_or_make(tables)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is read and written inside no other process interferes with; an exception takes it back."""
        # The connection commits, or rolls back.
        with _explained(self.path), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield

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
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
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


class Store(Database):
    """What is searched, trials and validation scores (`trials.sqlite`), the choice (`best.json`) and `tune.log`.

    Where each split chooses for itself, also what runs answered (`answers.sqlite`) and the ensembles (`ensemble.json`).

    Any number of processes of one machine may work on one store. Who reads or adds something on which the next step of
    the search depends does so in a `transaction`. What a worker has claimed is free again when its store is closed, or
    its process has ended in any other way.
    """

    def __init__(self, folder: str | Path, description: Mapping[str, Any]) -> None:
        """Open the store of a search: a new one, or one that began with the very same description."""
        self.folder = Path(folder)
        self._check_folder()
        super().__init__(self.folder / FILE, *TABLES)
        #: What was read, and the last row of each table that was.
        self._results, self._last = Results(), dict[str, int]()
        try:
            with self.transaction():
                self._begin_or_continue(json.loads(json.dumps(description)))
                # In the transaction: until it is locked, `held` would take it for that of a dead worker.
                self._lifeline = Lifeline(self.folder / f"{uuid.uuid4().hex[:12]}.worker")
                self.callback(self._lifeline.close)
        except BaseException:
            self.close()
            raise

    def results(self) -> Results:
        """All trials and validation scores so far; rows are never changed, so that only new ones are read."""
        for trial, axes in self._new_rows("trials"):
            self._results.values[self._checked(int, trial, "trial")] = self._parsed(axes)
        for row in self._new_rows("scores"):
            own: ScoreRow = self._checked(ScoreRow, dict(zip(ScoreRow.__annotations__, row, strict=True)), "scores")
            gain, loss = (-math.inf, math.inf) if own.gain is None or own.loss is None else (own.gain, own.loss)
            self._results.scores[own.trial][own.split] = Score(gain, loss, own.epochs, own.seconds)
            self._results.seconds_of[own.trial] += own.seconds
            self._results.seconds += own.seconds
            self._results.ended[own.trial] = self._results.seconds
        return self._results

    def _new_rows(self, table: str) -> list[tuple[Any, ...]]:
        rows = self.read(f"SELECT rowid, * FROM {table} WHERE rowid > {self._last.get(table, 0)} ORDER BY rowid")
        if rows:
            self._last[table] = rows[-1][0]
        return [row[1:] for row in rows]

    def plan(self, jobs: Iterable[Job]) -> None:
        """Keep the values of trials that are new, inside a transaction."""
        new = [(job.trial, json.dumps(job.values)) for job in jobs if job.trial not in self._results.values]
        self.write("INSERT INTO trials VALUES (?, ?)", new)

    def claim(self, trials: Iterable[int]) -> None:
        """Claim what `held` does not name, inside the same transaction."""
        self.write("INSERT INTO claims VALUES (?, ?)", [(trial, self._lifeline.path.name) for trial in trials])

    def release(self, trials: Iterable[int]) -> None:
        """Let go of what was claimed, inside a transaction."""
        self.write("DELETE FROM claims WHERE trial = ?", [(trial,) for trial in trials])

    def held(self) -> set[int]:
        """All trials that someone is working on, inside a transaction; claims of the dead are removed."""
        living = set()
        for path in self.folder.glob("*.worker"):
            if Lifeline.holds(path):
                living.add(path.name)
            else:
                path.unlink(missing_ok=True)
        claims = self.read("SELECT trial, worker FROM claims")
        self.release(trial for trial, worker in claims if worker not in living)
        return {trial for trial, worker in claims if worker in living}

    def record(self, scores: Mapping[tuple[int, int], Score]) -> None:
        """Add the scores of runs by trial and split, and let go of their trials.

        Of two that tell of the same run, the first counts.
        """
        rows = []
        for run, score in scores.items():
            figures = (score.gain, score.loss) if math.isfinite(score.loss) else (None, None)
            rows.append((*run, *figures, score.epochs, score.seconds))
        with self.transaction():
            self.write("INSERT OR IGNORE INTO scores VALUES (?, ?, ?, ?, ?, ?)", rows)
            self.release({trial for trial, _ in scores})

    @property
    def best(self) -> dict[str, Any] | None:
        """The choice, once it is made."""
        path = self.folder / "best.json"
        if not path.exists():
            return None
        best = read_json(path)
        # Those of an older pcnet have no hash.
        if not isinstance(best, dict) or best.pop("hash", None) not in (None, hash_of_json(best)):
            raise PcnetError(f"{path} is not as the search wrote it; remove it, and the choice is made again.")
        return best

    def write_best(self, best: dict[str, Any]) -> None:
        """Write the choice down, as far as it is known."""
        write_json(self.folder / "best.json", {**best, "hash": hash_of_json(best)})

    def write_ensemble(self, ensemble: dict[str, Any]) -> None:
        """Write down what each split lets answer together."""
        write_json(self.folder / "ensemble.json", ensemble)

    def log(self, sentence: str) -> None:
        """Add a line to the log, with the time."""
        now = datetime.datetime.now().isoformat(sep=" ", timespec="seconds")
        try:
            with (self.folder / "tune.log").open("a", encoding="utf-8") as stream:
                stream.write(f"{now}  {sentence}\n")
        except OSError as error:
            raise PcnetError(f"Cannot write {self.folder / 'tune.log'}: {error.strerror}.") from error

    def _parsed(self, text: str) -> dict[str, Any]:
        """An object that a table keeps as JSON."""
        try:
            content = json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise self._damaged(error) from error
        return cast("dict[str, Any]", self._checked(dict[str, Any], content, "an entry"))

    def _checked(self, kind: Any, value: Any, name: str) -> Any:
        """A value of a table, which SQLite keeps whatever its type."""
        try:
            return from_json(kind, value, name)
        except PcnetError as error:
            raise self._damaged(error) from error

    def _damaged(self, error: object) -> PcnetError:
        return PcnetError(f"{self.path} is damaged ({str(error).rstrip('.')}); name another folder with --store.")

    def _check_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            names = {entry.name for entry in self.folder.iterdir()}
        except OSError as error:
            raise PcnetError(
                f"Cannot write to the folder {self.folder}: {error.strerror}. Choose another with --store."
            ) from error
        if FILE in names or not names:
            return
        if names & {"journal.jsonl", "search.json"}:
            raise PcnetError(
                f"The search in {self.folder} was written by an older pcnet and cannot be continued; start a new one "
                "in another folder with --store, or remove it."
            )
        raise PcnetError(f"The folder {self.folder} is not empty and holds no search; name another with --store.")

    def _begin_or_continue(self, description: dict[str, Any]) -> None:
        known = self.read("SELECT description FROM search")
        begun = self._parsed(known[0][0]) if known else description
        other = [WORDS.get(name, name) for name in {**begun, **description} if begun.get(name) != description.get(name)]
        if other:
            raise PcnetError(
                f"The search in {self.folder} has another {', '.join(other)}; continue it with the same, or name "
                "another folder with --store."
            )
        if not known:
            self.write("INSERT INTO search VALUES (?)", [(json.dumps(description),)])
