"""Files that several processes share, and that any of them may leave half-written."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from stored_search import claims, rows, scores

from pcnet import PcnetError
from pcnet.tune import Results, Score
from pcnet.tune._store import Database, Lifeline, Store
from pcnet.tune._strategies import Job

NUMBERS = "CREATE TABLE numbers (number INTEGER)"
SCORES = {(3, 0): Score(0.1 + 0.2, 1 / 3, 7, 1.0), (3, 1): Score(0.25, 2.0, 9, 2.0)}

#: Adds one to a number again and again, never by one statement alone, and says when it begins.
COUNT = """
import sys
from pathlib import Path
from pcnet.tune._store import Database
database = Database(Path(sys.argv[1]), "CREATE TABLE numbers (number INTEGER)")
print("ready", flush=True)
for _ in range(int(sys.argv[2])):
    with database.transaction():
        ((number,),) = database.read("SELECT max(number) FROM numbers")
        database.write("DELETE FROM numbers", [()])
        database.write("INSERT INTO numbers VALUES (?)", [(number + 1,)])
"""
#: Claims trials of a store and stays.
CLAIM = """
import sys, time
from pcnet.tune._store import Store
store = Store(sys.argv[1], {})
with store.transaction():
    store.claim([5, 6])
print("ready", flush=True)
time.sleep(600)
"""


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen]]:
    """Python code in a process of its own that has said it is ready."""
    processes = []

    def run(code: str, *arguments: object) -> subprocess.Popen:
        command = [sys.executable, "-c", code, *map(str, arguments)]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        assert processes[-1].stdout.readline() == "ready\n"
        return processes[-1]

    yield run
    for process in processes:
        process.kill()
        process.communicate(timeout=60)


def open_store(folder: Path) -> Store:
    return Store(folder, {"trials": 1})


def numbers(path: Path) -> list[int]:
    return [number for (number,) in rows(path, "SELECT number FROM numbers")]


def interrupted(database: Database) -> None:
    with database.transaction():
        database.write("INSERT INTO numbers VALUES (?)", [(3,)])
        raise KeyboardInterrupt


def test_a_transaction_is_whole_or_not_at_all(tmp_path):
    path = tmp_path / "n.sqlite"
    with closing(Database(path, NUMBERS)) as database:
        with database.transaction():
            database.write("INSERT INTO numbers VALUES (?)", [(1,), (2,)])
        with pytest.raises(KeyboardInterrupt):
            interrupted(database)
        with database.transaction():
            database.write("INSERT INTO numbers VALUES (?)", [(4,)])
    assert numbers(path) == [1, 2, 4]
    assert [file.name for file in tmp_path.iterdir()] == ["n.sqlite"]


def test_one_process_at_a_time(tmp_path, start):
    path = tmp_path / "n.sqlite"
    with closing(Database(path, NUMBERS)) as database, database.transaction():
        database.write("INSERT INTO numbers VALUES (?)", [(0,)])
    workers = [start(COUNT, path, 100) for _ in range(3)]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0, 0]
    assert numbers(path) == [300]


@pytest.mark.parametrize("after", [0.0, 0.05])
def test_killed_while_it_writes(tmp_path, start, after):
    path = tmp_path / "n.sqlite"
    with closing(Database(path, NUMBERS)) as database, database.transaction():
        database.write("INSERT INTO numbers VALUES (?)", [(0,)])
    worker = start(COUNT, path, 10**9)
    time.sleep(after)
    worker.send_signal(signal.SIGKILL)
    worker.wait(timeout=60)
    with closing(Database(path, NUMBERS)) as database, database.transaction():
        ((count, number),) = database.read("SELECT count(*), max(number) FROM numbers")
        assert (count, number >= 0) == (1, True)
        database.write("INSERT INTO numbers VALUES (?)", [(number,)])
    assert numbers(path) == [number, number]


def test_without_shared_memory(tmp_path, monkeypatch):
    """SQLite's `unix-dotfile` works as on a file system that lacks it: WAL is refused, and the default mode does."""
    if os.name != "posix":
        pytest.skip("needs a system whose SQLite has it")
    connect = sqlite3.connect

    def without(path, uri=False, **options):
        return connect(f"{path if uri else Path(path).as_uri() + '?'}&vfs=unix-dotfile", uri=True, **options)

    monkeypatch.setattr(sqlite3, "connect", without)
    with open_store(tmp_path / "s") as store, open_store(tmp_path / "s") as other:
        assert store.read("PRAGMA journal_mode") == [("delete",)]
        store.record(SCORES)
        with other.transaction():
            assert other.results().scores == {3: {0: SCORES[3, 0], 1: SCORES[3, 1]}}
            other.claim([4])
        with store.transaction():
            assert store.held() == {4}
    with open_store(tmp_path / "s") as store, store.transaction():
        assert store.held() == set()


def test_it_is_in_wal_mode(tmp_path):
    with open_store(tmp_path / "s") as store:
        assert store.read("PRAGMA journal_mode") == [("wal",)]


def test_a_lifeline(tmp_path, start):
    path = tmp_path / "worker"
    assert not Lifeline.holds(path)
    line = Lifeline(path)
    assert Lifeline.holds(path)
    line.close()
    assert (Lifeline.holds(path), list(tmp_path.iterdir())) == (False, [])
    code = (
        "import sys, time, pathlib; from pcnet.tune._store import Lifeline; "
        "line = Lifeline(pathlib.Path(sys.argv[1])); print('ready', flush=True); time.sleep(600)"
    )
    process = start(code, path)
    assert Lifeline.holds(path)
    process.kill()
    # Nobody has asked yet how it ended: a zombie holds nothing.
    until = time.monotonic() + 30
    while Lifeline.holds(path) and time.monotonic() < until:
        time.sleep(0.001)
    assert not Lifeline.holds(path)
    assert [file.name for file in tmp_path.iterdir()] == ["worker"]


def test_claims(tmp_path):
    with open_store(tmp_path / "s") as store:
        with open_store(tmp_path / "s") as other:
            with store.transaction():
                store.claim([3, 1])
            with other.transaction():
                assert other.held() == {1, 3}
                other.claim([7])
            with store.transaction():
                assert store.held() == {1, 3, 7}
                store.release([3])
        # The other one is closed.
        with store.transaction():
            assert store.held() == {1}
    assert {path.name for path in (tmp_path / "s").iterdir()} == {"trials.sqlite"}


def test_a_claim_ends_with_its_process(tmp_path, start):
    process = start(CLAIM, tmp_path / "s")
    with Store(tmp_path / "s", {}) as store:
        with store.transaction():
            assert store.held() == {5, 6}
        process.kill()
        process.wait(timeout=60)
        assert len(list((tmp_path / "s").glob("*.worker"))) == 2
        with store.transaction():
            assert store.held() == set()
    assert claims(tmp_path / "s") == []
    assert list((tmp_path / "s").glob("*.worker")) == []


def test_threads_share_a_store_like_processes(tmp_path):
    """Four that each claim what is free, until nothing is: nothing is claimed twice, though the process is the same."""
    got: list[int] = []

    def work():
        with open_store(tmp_path / "s") as store:
            while True:
                with store.transaction():
                    free = sorted({*range(40)} - store.held() - {*store.results().scores})
                    store.claim(free[:1])
                if not free:
                    return
                got.append(free[0])
                store.record({(free[0], 0): Score(0.5, 1.0, 1)})

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == [*range(40)]


def test_what_is_kept_comes_back(tmp_path):
    with open_store(tmp_path / "s") as store, open_store(tmp_path / "s") as other:
        with store.transaction():
            jobs = [Job(trial, {"t": 0.1 + 0.2, "hidden": None}, (0, 1)) for trial in (-1, 3)]
            store.plan(jobs)
        diverged = {(-1, 0): Score(-float("inf"), float("inf"), 1, 0.5)}
        store.record(SCORES)
        store.record(diverged)
        values = {-1: {"t": 0.1 + 0.2, "hidden": None}, 3: {"t": 0.1 + 0.2, "hidden": None}}
        expected = Results(
            values, {3: {0: SCORES[3, 0], 1: SCORES[3, 1]}, -1: {0: diverged[-1, 0]}}, {3: 3.0, -1: 0.5}, 3.5
        )
        expected.ended |= {3: 3.0, -1: 3.5}
        assert store.results() == other.results() == expected
        # Whoever comes second with the same run is not heard.
        other.record({(3, 0): Score(1.0, 0.0, 1), (4, 0): Score(0.5, 0.5, 5, 1.0)})
        assert store.results().scores[3] == expected.scores[3]
        assert store.results().scores[4] == {0: Score(0.5, 0.5, 5, 1.0)}
        assert store.results().runs == 4
        assert store.results().seconds == 4.5
    assert scores(tmp_path / "s")[-1, 0] == (None, None, 1)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_another_search_is_refused(tmp_path):
    description = {"trials": 5, "base": {"lr": (0.1,)}, "seed": 0}
    for _ in range(2):
        Store(tmp_path / "s", description).close()
    before = files(tmp_path / "s")
    with pytest.raises(PcnetError, match="has another trials, set of fixed settings; continue it with the same"):
        Store(tmp_path / "s", {**description, "trials": 6, "base": {"lr": [0.2]}})
    with pytest.raises(PcnetError, match="has another sampler;"):
        Store(tmp_path / "s", {**description, "sampler": "tpe"})
    assert files(tmp_path / "s") == before


@pytest.mark.parametrize("name", ["search.json", "journal.jsonl"])
def test_a_search_of_an_older_version(tmp_path, name):
    (tmp_path / name).write_text("{}")
    before = files(tmp_path)
    with pytest.raises(PcnetError, match="written by an older pcnet and cannot be continued; start a new one"):
        Store(tmp_path, {})
    assert files(tmp_path) == before


def test_a_folder_of_something_else(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(PcnetError, match="is not empty and holds no search"):
        Store(tmp_path / "mine", {})
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]
    with pytest.raises(PcnetError, match="Cannot write to the folder"):
        Store(tmp_path / "mine" / "notes.txt", {})
    with pytest.raises(PcnetError, match="Cannot write to the folder"):
        Store(tmp_path / "mine" / "notes.txt" / "under", {})


def write_foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE search (mine TEXT)")


def write_newer(path: Path) -> None:
    Store(path.parent, {}).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 9")


def write_other_json(path: Path) -> None:
    Store(path.parent, {}).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE search SET description = '{'")


def write_cut(path: Path) -> None:
    with Store(path.parent, {}) as store, store.transaction():
        store.plan(Job(trial, {"t": "x" * 100}, (0,)) for trial in range(200))
    path.write_bytes(path.read_bytes()[:9000])


REFUSED = {
    "text": (lambda path: path.write_text("no database, but long enough" * 50), "is damaged or no SQLite file"),
    "a folder": (Path.mkdir, "Cannot write"),
    "someone else's": (write_foreign, "was not made by pcnet; name another folder with --store"),
    "of a newer version": (write_newer, "has format 9, and this pcnet reads format 1"),
    "a description that is no JSON": (write_other_json, "is damaged"),
    "cut off": (write_cut, "is damaged or no SQLite file"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_is_no_store(tmp_path, case):
    write, words = REFUSED[case]
    write(tmp_path / "trials.sqlite")
    names = {path.name for path in tmp_path.iterdir()}
    with pytest.raises(PcnetError) as error, Store(tmp_path, {}) as store:
        store.results()
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert {path.name for path in tmp_path.iterdir()} == names


EDITS = {
    "axes a list": ("UPDATE trials SET axes = '[1]'", "an entry must be an object, not"),
    "axes no number": ("UPDATE trials SET axes = '{\"t\": 1e999'", "Expecting"),
    "trial a word": ("INSERT INTO trials VALUES ('seven', '{}')", "trial must be a whole number, not 'seven'"),
    "gain a word": ("UPDATE scores SET gain = 'high'", "scores.gain must be a finite number, not 'high'"),
    "loss infinite": ("UPDATE scores SET loss = 9e999", "scores.loss must be a finite number"),
    "no epochs": ("UPDATE scores SET epochs = NULL", "scores.epochs must be a whole number, not None"),
    "seconds bytes": ("UPDATE scores SET seconds = x'00'", "scores.seconds must be a finite number"),
}


@pytest.mark.parametrize("case", EDITS)
def test_an_edited_table(tmp_path, case):
    statement, words = EDITS[case]
    with Store(tmp_path, {}) as store, store.transaction():
        store.plan([Job(0, {"t": 1.0}, (0,))])
        store.write("INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?)", [(0, 0, 0.5, 0.7, 3, 0.1)])
    with closing(sqlite3.connect(tmp_path / "trials.sqlite")) as connection, connection:
        connection.execute(statement)
    with Store(tmp_path, {}) as store, pytest.raises(PcnetError, match=r"trials\.sqlite is damaged") as error:
        store.results()
    assert words in str(error.value)


@pytest.mark.parametrize("content", ["[]", "5", '{"val": 1, "hash": "0"}', '{"val": NaN}', "{"])
def test_an_edited_choice(tmp_path, content):
    with Store(tmp_path, {}) as store:
        store.write_best({"val": 0.5})
        assert store.best == {"val": 0.5}
        (tmp_path / "best.json").write_text(content)
        with pytest.raises(PcnetError, match=r"best\.json"):
            _ = store.best
        # Written by an older pcnet.
        (tmp_path / "best.json").write_text('{"val": 0.25}')
        assert store.best == {"val": 0.25}


def test_what_a_killed_process_leaves_at_the_very_beginning(tmp_path):
    """An empty file, and a lifeline that nobody holds."""
    (tmp_path / "trials.sqlite").touch()
    (tmp_path / "0.worker").touch()
    with Store(tmp_path, {"trials": 1}) as store, store.transaction():
        assert store.results() == Results()
        assert store.held() == set()
    assert {path.name for path in tmp_path.iterdir()} == {"trials.sqlite"}
    assert json.loads(rows(tmp_path / "trials.sqlite", "SELECT description FROM search")[0][0]) == {"trials": 1}
