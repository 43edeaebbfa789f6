"""The folder of a search: everything that is known, and nothing that could be lost."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pcnet._files import read_json, write_json
from pcnet.errors import PcnetError
from pcnet.tune._claims import Claims
from pcnet.tune._journal import Journal
from pcnet.tune._lock import Lock
from pcnet.tune._results import Results

#: What a user calls it, where the file has a shorter name.
WORDS = {"base": "set of fixed settings", "leak": "choice of --leak", "labels": "set of labels"}


class Store:
    """What is searched (`search.json`), validation scores (`journal.jsonl`), the choice (`best.json`) and `tune.log`.

    Any number of processes may work on one store. Who reads or adds something on which the next step of the search
    depends holds `lock`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = Lock(folder / "lock")
        self.claims = Claims(folder / "claims")
        self.journal = Journal(folder / "journal.jsonl")
        self._results, self._added = Results(), 0

    @staticmethod
    def open(folder: str | Path, manifest: dict[str, Any], unsaid: Mapping[str, Any] | None = None) -> Store:
        """The store of this search: a new one, or one that began with the very same manifest.

        `unsaid` is what a manifest means that does not mention a setting, because the setting is younger than it.
        """
        store = Store(Path(folder))
        try:
            store.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PcnetError(
                f"Cannot write to the folder {folder}: {error.strerror}. Choose another with --store."
            ) from error
        path = store.folder / "search.json"
        manifest, unsaid = json.loads(json.dumps([manifest, unsaid or {}]))
        with store.lock:
            if path.exists():
                _check_same(folder, _completed(read_json(path), unsaid), manifest)
            elif any(entry.name != "lock" and entry.suffix != ".tmp" for entry in store.folder.iterdir()):
                raise PcnetError(f"The folder {folder} is not empty and holds no search; name another with --store.")
            else:
                write_json(path, manifest)
            store.claims.folder.mkdir(exist_ok=True)
        return store

    def results(self) -> Results:
        """All validation scores so far."""
        lines = self.journal.refresh()
        for line in lines[self._added :]:
            self._results.add(line)
        self._added = len(lines)
        return self._results

    def record(self, entries: Iterable[dict[str, Any]]) -> None:
        """Add validation scores, except those that someone else has added meanwhile."""
        with self.lock:
            known = self.results()
            self.journal.append(entry for entry in entries if not known.knows(entry["trial"], entry["splits"]))

    @property
    def best(self) -> dict[str, Any] | None:
        """The choice, once it is made."""
        path = self.folder / "best.json"
        return read_json(path) if path.exists() else None

    def write_best(self, best: dict[str, Any]) -> None:
        write_json(self.folder / "best.json", best)

    def log(self, sentence: str) -> None:
        """Add a line to the log, with the time."""
        now = datetime.datetime.now().isoformat(sep=" ", timespec="seconds")
        try:
            with (self.folder / "tune.log").open("a", encoding="utf-8") as stream:
                stream.write(f"{now}  {sentence}\n")
        except OSError as error:
            raise PcnetError(f"Cannot write {self.folder / 'tune.log'}: {error.strerror}.") from error


def _completed(known: Any, unsaid: Mapping[str, Any]) -> Any:
    """What a manifest says, and under it what it leaves unsaid."""
    if not isinstance(known, dict):
        return known
    return {**unsaid, **{name: _completed(value, _mapping(unsaid.get(name))) for name, value in known.items()}}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _check_same(folder: str | Path, known: Any, manifest: dict[str, Any]) -> None:
    if not isinstance(known, dict):
        raise PcnetError(f"{folder}/search.json is damaged; name another folder with --store.")
    other = [WORDS.get(name, name) for name in {**known, **manifest} if known.get(name) != manifest.get(name)]
    if other:
        raise PcnetError(
            f"The search in {folder} has another {', '.join(other)}; continue it with the same, or name another folder "
            "with --store."
        )
