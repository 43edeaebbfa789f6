"""Files that are either complete or absent."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading

import pytest

from pcnet import PcnetError
from pcnet._files import check_target, read_json, write_atomically, write_json, write_text


class Killed(BaseException):
    """Nothing that a writer would handle."""


def test_an_interrupted_writer_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_text(path, "old")

    def half(target):
        target.write_text("ne")
        raise Killed

    with pytest.raises(Killed):
        write_atomically(path, half)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_the_old_file_is_there_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "file"
    write_text(path, "old")

    def write(target):
        assert target != path
        assert target.parent == path.parent
        target.write_text("new")
        assert path.read_text() == "old"

    write_atomically(path, write)
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_file_is_on_the_disk_before_its_name_is(tmp_path, monkeypatch):
    """A power cut between the two would leave an empty file under the final name."""
    path, seen = tmp_path / "file", []
    flush, rename = os.fsync, os.replace

    def fsync(descriptor):
        seen.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else os.fstat(descriptor).st_size)
        flush(descriptor)

    def replace(*paths):
        seen.append("rename")
        rename(*paths)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    write_text(path, "content")
    assert seen == [7, "rename", "folder"]


def test_folders_are_made(tmp_path):
    write_json(tmp_path / "a" / "b" / "file.json", {"η": 0.5})
    assert read_json(tmp_path / "a" / "b" / "file.json") == {"η": 0.5}


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "real").write_text("old")
    (tmp_path / "link").symlink_to("there/real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "real").read_text() == "new"
    assert os.listdir(tmp_path / "there") == ["real"]


def test_a_link_to_nothing_yet(tmp_path):
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_pipe_is_written_in_place(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(path.read_text()), daemon=True)
    reader.start()
    write_text(path, "through")
    reader.join(timeout=10)
    assert read == ["through"]
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.skipif(not os.path.islink("/dev/stdout"), reason="no /dev/stdout here")
@pytest.mark.parametrize(
    "name",
    [
        "/dev/stdout",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("/dev/fd/1", "/proc/self/fd/1")),
    ],
)
def test_a_redirected_standard_output_is_not_replaced(tmp_path, name):
    """A rename onto /dev/stdout would leave this machine without one, and the shell's file empty."""
    before = os.readlink("/dev/stdout")
    with (tmp_path / "out").open("w+") as stream:
        inode = os.fstat(stream.fileno()).st_ino
        code = f"from pcnet._files import write_text; write_text({name!r}, 'hello')"
        subprocess.run(
            [sys.executable, "-c", code],
            stdout=stream,
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        assert os.stat(tmp_path / "out").st_ino == inode
    assert (tmp_path / "out").read_text() == "hello"
    assert os.readlink("/dev/stdout") == before
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_no_space():
    with pytest.raises(PcnetError, match="Cannot write /dev/full: No space left on device"):
        write_text("/dev/full", "x" * 100_000)


def test_a_folder(tmp_path):
    for write in (lambda: write_text(tmp_path, ""), lambda: check_target(tmp_path)):
        with pytest.raises(PcnetError, match="it is a folder; name a file"):
            write()


def test_under_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    for write in (
        lambda: write_text(tmp_path / "file" / "x", ""),
        lambda: check_target(tmp_path / "file" / "a" / "x"),
    ):
        with pytest.raises(PcnetError, match="Cannot write"):
            write()


def test_targets_that_will_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for target in ("new.json", "a/b/new.json", tmp_path / "x", "/dev/null"):
        check_target(target)
    assert os.listdir(tmp_path) == []


def test_nan_is_no_json(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "file.json", float("nan"))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"nope"])
def test_damaged_json(tmp_path, content):
    (tmp_path / "file.json").write_bytes(content)
    with pytest.raises(PcnetError, match="damaged or not JSON"):
        read_json(tmp_path / "file.json")
    with pytest.raises(PcnetError, match="There is no file"):
        read_json(tmp_path / "absent.json")
