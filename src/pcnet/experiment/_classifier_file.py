"""classifier.json: what a folder of trained models says about itself, with a hash of every file in it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pcnet._checks import from_json
from pcnet._files import hash_of_file, hash_of_json, read_json, write_json
from pcnet.compare import metric_named
from pcnet.errors import PcnetError, warn_once
from pcnet.graph import Schema
from pcnet.nn import model_files

#: Format 1 had no weights of the members, format 2 no hashes.
FORMAT, HASHED = 3, 3
FILE = "classifier.json"
#: Files of a training that say how its graph was read and split, where there are any.
BESIDE = ("settings.json", "splits.json")


@dataclass(frozen=True)
class MemberEntry:
    """The seed of a member's run, the temperature that calibrates it, and how much it weighs."""

    seed: int
    temperature: float
    weight: float = 1.0

    def __post_init__(self) -> None:
        for name, least in (("seed", 0), ("weight", 0.0)):
            if getattr(self, name) < least:
                raise PcnetError(f"the {name} of a member is {getattr(self, name)}, below 0.")
        if self.temperature <= 0:
            raise PcnetError(f"the temperature of a member is {self.temperature:g}, and must be above 0.")


@dataclass(frozen=True)
class ClassifierFile:
    """The content of classifier.json."""

    format: int
    classes: tuple[str | int, ...]
    members: tuple[MemberEntry, ...]
    calibration_error: float
    schema: Schema | None
    edges: str
    metric: str = "accuracy"
    #: The share of each method, for who reads the file.
    methods: dict[str, float] = field(default_factory=dict)
    #: SHA-256 of every other file, by its path in the folder.
    files: dict[str, str] = field(default_factory=dict)
    #: The same of all the rest of this file.
    hash: str = ""

    def __post_init__(self) -> None:
        if not self.members or sum(member.weight for member in self.members) <= 0:
            raise PcnetError("it has no members.")
        if len(set(map(str, self.classes))) < max(len(self.classes), 1):
            raise PcnetError("its classes must have different names.")
        metric_named(self.metric)

    @property
    def models(self) -> list[str]:
        """Where the members' models are: by their seeds, or by their places where several have one seed."""
        names = [f"seed-{member.seed}" for member in self.members]
        if len({*names}) < len(names):
            names = [f"member-{place}" for place in range(len(names))]
        return [f"models/{name}" for name in names]

    @property
    def described(self) -> list[str]:
        """Every other file that belongs to the folder."""
        return [*(str(file) for model in self.models for file in model_files(model)), *BESIDE]

    def write(self, folder: Path) -> None:
        """Write it, with the hashes of the files that are there."""
        files = {name: hash_of_file(folder / name) for name in self.described if (folder / name).is_file()}
        content = {**asdict(self), "files": files}
        write_json(folder / FILE, {**content, "hash": hash_of_json(content)})


def read_classifier(folder: Path) -> ClassifierFile:
    """What classifier.json in a folder says, once it and every file that it speaks of are as they were written.

    A PcnetError names the file that is not. Folders of an older pcnet have no hashes; they are read with a note.
    """
    path = folder / FILE
    if not path.is_file():
        raise PcnetError(f"There is no classifier in {folder}; `pcnet train` and NodeClassifier.save leave one.")
    content = read_json(path)
    version = content.get("format") if isinstance(content, dict) else None
    if type(version) is not int:
        raise PcnetError(f"{path} is no classifier of pcnet; train or copy it again.")
    if not 1 <= version <= FORMAT:
        raise PcnetError(
            f"{path} has format {version}, and this pcnet reads formats up to {FORMAT}; use the one that wrote it."
        )
    try:
        found: ClassifierFile = from_json(ClassifierFile, content)
    except PcnetError as problem:
        raise PcnetError(f"{path} is damaged: {str(problem).rstrip('.')}; train or copy it again.") from problem
    if version < HASHED:
        warn_once([f"{path} was written by an older pcnet, without hashes: a file exchanged since would not be seen."])
    else:
        _check(folder, found, content)
    return found


def _check(folder: Path, found: ClassifierFile, content: dict[str, Any]) -> None:
    """Refuse what was changed since it was written."""
    if found.hash != hash_of_json(content):
        raise _changed(folder / FILE)
    for name in found.described:
        try:
            # Who needs a file that is missing says so.
            if name in found.files and (folder / name).is_file() and found.files[name] != hash_of_file(folder / name):
                raise _changed(folder / name)
        except OSError as error:
            raise PcnetError(f"Cannot read {folder / name}: {error.strerror}.") from error


def _changed(path: Path) -> PcnetError:
    return PcnetError(f"{path} is not as it was written with the classifier; train or copy the whole folder again.")


@dataclass(frozen=True)
class TrainedOn:
    """The graph of a training, by the name or path that was given, and how it was read."""

    graph: str
    read: tuple[str, ...]


def trained_on(run: Path) -> TrainedOn:
    """What settings.json in a run folder says of the graph; a PcnetError says where it does not."""
    path = run / "settings.json"
    try:
        found: TrainedOn = from_json(TrainedOn, read_json(path))
    except PcnetError as problem:
        raise PcnetError(f"{path} does not say which graph to read; name one. ({problem})") from problem
    return found
