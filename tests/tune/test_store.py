"""Files that several processes share, and that any of them may leave half-written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from pcnet import PcnetError
from pcnet.tune import _claims, _lock, _process
from pcnet.tune._claims import Claims
from pcnet.tune._journal import Journal, cut_torn_line
from pcnet.tune._lock import Lock
from pcnet.tune._process import Owner, lives, this_process
from pcnet.tune._results import Score, entry_of
from pcnet.tune._store import Store

ENTRY = entry_of(3, {"t": 0.5}, {0: Score(0.5, 1.0, 7), 1: Score(0.25, 2.0, 9)}, 1.5)


def test_lines_come_back(tmp_path):
    journal, other = Journal(tmp_path / "j"), Journal(tmp_path / "j")
    assert journal.refresh() == []
    journal.append([{"a": 1}, {"b": [None, 0.1 + 0.2]}])
    assert other.refresh() == [{"a": 1}, {"b": [None, 0.1 + 0.2]}]
    other.append([{"c": "ä\nb"}])
    assert journal.refresh() == other.refresh() == [{"a": 1}, {"b": [None, 0.1 + 0.2]}, {"c": "ä\nb"}]
    assert len((tmp_path / "j").read_text().splitlines()) == 3


@pytest.mark.parametrize("cut", range(1, 16))
def test_a_torn_line_does_not_count_and_goes(tmp_path, cut):
    path = tmp_path / "j"
    Journal(path).append([{"first": 1}, {"second": "ä"}])
    content = path.read_bytes()
    path.write_bytes(content[:-cut])
    reader = Journal(path)
    assert reader.refresh() == [{"first": 1}]
    Journal(path).append([{"third": 3}])
    assert reader.refresh() == [{"first": 1}, {"third": 3}]
    assert Journal(path).refresh() == [{"first": 1}, {"third": 3}]


def test_cutting_leaves_whole_lines(tmp_path):
    path = tmp_path / "j"
    cut_torn_line(path)
    assert not path.exists()
    for content, left in ((b"", b""), (b"torn", b""), (b"one\n", b"one\n"), (b"one\ntwo\nthr", b"one\ntwo\n")):
        path.write_bytes(content)
        cut_torn_line(path)
        assert path.read_bytes() == left


@pytest.mark.parametrize("line", ["{", "[]", "\x00\x00", "{}{}"])
def test_a_damaged_line_is_refused(tmp_path, line):
    (tmp_path / "j").write_text('{"a": 1}\n' + line + "\n")
    with pytest.raises(PcnetError, match=r"Line 2 of .*j is damaged"):
        Journal(tmp_path / "j").refresh()


def test_one_at_a_time(tmp_path):
    """Four that each add one to a number a hundred times; a lock knows nothing of who shares its process."""
    number = tmp_path / "number"
    number.write_text("0")

    def count():
        for _ in range(100):
            with Lock(tmp_path / "lock"):
                number.write_text(str(int(number.read_text()) + 1))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert number.read_text() == "400"
    assert not (tmp_path / "lock").exists()


@pytest.fixture
def killed() -> Iterator[Owner]:
    """A process that was killed a moment ago, and whose parent has not yet asked how it ended."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    owner = Owner(home=this_process()["home"], pid=process.pid, since=_process._since(process.pid))
    assert lives(owner)
    process.kill()
    until = time.monotonic() + 30
    while lives(owner) and time.monotonic() < until:
        time.sleep(0.001)
    yield owner
    process.wait()


def test_who_lives(killed):
    me = this_process()
    assert lives(me)
    assert not lives(killed)
    os.waitpid(killed["pid"], 0)
    assert not lives(killed)
    # Another one with the same number.
    assert not lives({**me, "since": "1"})
    assert lives({**me, "home": "elsewhere"}) is None
    assert me["pid"] == os.getpid()


@pytest.mark.parametrize("content", ["dead", "", "not JSON", "{}"])
def test_a_lock_that_was_left_behind(tmp_path, content, killed):
    path = tmp_path / "lock"
    path.write_text(json.dumps(killed) if content == "dead" else content)
    with Lock(path):
        assert json.loads(path.read_text()) == this_process()
    assert not path.exists()


def test_a_lock_from_elsewhere_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(_lock, "PATIENCE", 0.3)
    path = tmp_path / "lock"
    path.write_text(json.dumps({**this_process(), "home": "elsewhere"}))
    start = time.monotonic()
    with Lock(path):
        assert time.monotonic() - start >= 0.3


def test_a_lock_of_the_living_is_respected(tmp_path, monkeypatch):
    monkeypatch.setattr(_lock, "PATIENCE", 0.0)
    order = []

    def wait():
        with Lock(tmp_path / "lock"):
            order.append("second")

    with Lock(tmp_path / "lock"):
        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.3)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_claims(tmp_path):
    claims, others = Claims(tmp_path), Claims(tmp_path)
    with claims.make([3, 1]), others.make([7]):
        assert claims.held() == others.held() == {1, 3, 7}
    assert claims.held() == set()
    assert list(tmp_path.iterdir()) == []


def test_a_claim_ends_with_its_process(tmp_path, killed):
    claims = Claims(tmp_path)
    claim = claims.make([5])
    claim.path.write_text(json.dumps({"owner": killed, "numbers": [5]}))
    assert claims.held() == set()
    assert list(tmp_path.iterdir()) == []


def test_a_claim_from_elsewhere_lives_as_long_as_it_is_touched(tmp_path, monkeypatch):
    monkeypatch.setattr(_claims, "LAPSE", 0.2)
    path = tmp_path / "claim.json"
    path.write_text(json.dumps({"owner": {**this_process(), "home": "elsewhere"}, "numbers": [5]}))
    claims = Claims(tmp_path)
    for beat in range(4):
        # With a clock that is wrong by years.
        os.utime(path, (beat, beat))
        assert claims.held() == {5}
        time.sleep(0.1)
    time.sleep(0.3)
    assert claims.held() == set()


def test_a_claim_beats_while_it_lasts(tmp_path, monkeypatch):
    monkeypatch.setattr(_claims, "BEAT", 0.02)
    claim = Claims(tmp_path).make([1])
    os.utime(claim.path, (0, 0))
    with claim:
        until = time.monotonic() + 30
        while claim.path.stat().st_mtime < 1 and time.monotonic() < until:
            time.sleep(0.01)
        assert claim.path.stat().st_mtime > 1


def test_results_are_added_once(tmp_path):
    store, other = (Store.open(tmp_path / "s", {"trials": 1}) for _ in range(2))
    store.record([ENTRY])
    other.record([ENTRY, {**ENTRY, "trial": 4}])
    assert [line["trial"] for line in store.journal.refresh()] == [3, 4]
    assert store.results().runs == other.results().runs == 4
    assert store.results().seconds == 3.0


def test_another_search_is_refused(tmp_path):
    manifest = {"trials": 5, "base": {"lr": (0.1,)}, "seed": 0}
    Store.open(tmp_path / "s", manifest)
    Store.open(tmp_path / "s", manifest)
    before = {path.name: path.read_bytes() for path in (tmp_path / "s").iterdir() if path.is_file()}
    with pytest.raises(PcnetError, match="has another trials, set of fixed settings; continue it with the same"):
        Store.open(tmp_path / "s", {**manifest, "trials": 6, "base": {"lr": [0.2]}})
    with pytest.raises(PcnetError, match="has another sampler;"):
        Store.open(tmp_path / "s", {**manifest, "sampler": "tpe"})
    assert {path.name: path.read_bytes() for path in (tmp_path / "s").iterdir() if path.is_file()} == before


def test_a_search_from_before_a_setting_existed(tmp_path):
    """Of an older store, what it does not mention is what was so before it could be said."""
    base = {"training": {"lr": {"all": 0.1}, "epochs": 10}}
    Store.open(tmp_path, {"trials": 3, "base": base})
    grown = {"trials": 3, "method": "pcnet", "base": {"training": {**base["training"], "class_weight": "none"}}}
    unsaid = {"method": "pcnet", "base": {"training": {"class_weight": "none", "epochs": 1000}}}
    with pytest.raises(PcnetError, match="has another"):
        Store.open(tmp_path, grown)
    assert Store.open(tmp_path, grown, unsaid).best is None
    for changed in ({"method": "gcn"}, {"base": {"training": {**base["training"], "class_weight": "balanced"}}}):
        with pytest.raises(PcnetError, match="has another"):
            Store.open(tmp_path, {**grown, **changed}, unsaid)


def test_a_folder_of_something_else(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(PcnetError, match="is not empty and holds no search"):
        Store.open(tmp_path / "mine", {})
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]
    with pytest.raises(PcnetError, match="Cannot write to the folder"):
        Store.open(tmp_path / "mine" / "notes.txt", {})
    with pytest.raises(PcnetError, match="Cannot write to the folder"):
        Store.open(tmp_path / "mine" / "notes.txt" / "under", {})


@pytest.mark.parametrize("content", ["", "{", "[]", "3"])
def test_a_damaged_description(tmp_path, content):
    Store.open(tmp_path / "s", {})
    (tmp_path / "s" / "search.json").write_text(content)
    with pytest.raises(PcnetError, match=r"search\.json"):
        Store.open(tmp_path / "s", {})


def test_what_a_killed_process_leaves_at_the_very_beginning(tmp_path, killed):
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "lock").write_text(json.dumps(killed))
    (folder / ".search.json.abc.tmp").write_text("{")
    assert Store.open(folder, {"trials": 1}).results().runs == 0
