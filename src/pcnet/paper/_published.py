"""What the paper prints, read from `published.toml`, and Tables 1 to 4 as presets, split as `tables.toml` says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pcnet._checks import Registry
from pcnet._files import read_toml
from pcnet.compare import half_width_of
from pcnet.experiment import PRESETS, Preset

#: PCNet with settings that validation chose; below PCNet's row, whose settings its authors chose by test.
BY_VALIDATION = "pcnet-by-validation"


@dataclass(frozen=True)
class Figure:
    """A printed mean ± spread in percent; both are None where the paper prints OOM, for out of memory."""

    mean: float | None
    spread: float | None
    #: The half-width of a 95 % interval of the mean, or the standard deviation between runs.
    spread_is: Literal["ci95", "std"]
    #: How many runs a standard deviation is between; not known for intervals, which do not need it.
    runs: int | None
    #: What is wrong with the printed cell, or nothing.
    note: str = ""

    @property
    def half_width(self) -> float | None:
        """Half of the mean's 95 % interval, whichever spread is printed."""
        if self.spread is None or self.spread_is == "ci95":
            return self.spread
        assert self.runs is not None
        return half_width_of(self.spread, self.runs)


@dataclass(frozen=True)
class Published:
    """One table, or one row of figures from the text; `cell(method, dataset)` is a figure of it.

    `protocol_of` is the preset with the same splits, `ranks` the printed average ranks (Table 3 has them), `groups` the
    methods by the heading they stand under (Table 4 has two).
    """

    name: str
    title: str
    protocol_of: str
    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    figures: Mapping[tuple[str, str], Figure]
    ranks: Mapping[str, float]
    groups: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """The methods that are computed: the printed ones, and below PCNet's row one that the paper does not have."""
        return tuple(row for method in self.methods for row in (method, BY_VALIDATION)[: 1 + (method == "pcnet")])

    def cell(self, method: str, dataset: str) -> Figure | None:
        """The figure of a method on a dataset, or None where the table has no such cell."""
        return self.figures.get((method, dataset))


@dataclass(frozen=True)
class Statistics:
    """A row of the paper's dataset table; `note` says where the data itself has another number."""

    nodes: int
    edges: int
    features: int
    classes: int
    homophily: float
    note: str = ""


_DOCUMENT = read_toml(Path(__file__).with_name("published.toml"))
TABLES: Registry[Published] = Registry("table of the paper")


def published_names() -> tuple[str, ...]:
    """table1 to table4, and the two ablations of the text: eta-half and no-identity."""
    return tuple(TABLES)


def published(table: str) -> Published:
    """The figures that the paper prints under one of `published_names()`."""
    return TABLES.named(table)


def published_complexity() -> dict[str, str]:
    """The cost of one forward pass by method, as the paper's formulas."""
    return dict(_DOCUMENT["complexity"])


def published_statistics() -> dict[str, Statistics]:
    """The paper's dataset table by dataset."""
    notes = _DOCUMENT["statistics_notes"]
    return {name: Statistics(**row, note=notes.get(name, "")) for name, row in _DOCUMENT["statistics"].items()}


def _table(name: str, part: Mapping[str, Any]) -> Published:
    def figure(method: str, dataset: str, cell: Any) -> Figure:
        mean, spread = (None, None) if cell == "OOM" else cell
        spread_is = part.get("spread_of", {}).get(method, part["spread"])
        runs = part.get("runs_on", {}).get(dataset, part.get("runs"))
        return Figure(mean, spread, spread_is, runs, part.get("cell_notes", {}).get(method, {}).get(dataset, ""))

    datasets, rows = tuple(part["datasets"]), part["rows"]
    return Published(
        name=name,
        title=part["title"],
        protocol_of=part["protocol_of"],
        methods=tuple(rows),
        datasets=datasets,
        figures={
            (method, dataset): figure(method, dataset, cell)
            for method, row in rows.items()
            for dataset, cell in zip(datasets, row, strict=True)
        },
        ranks=part.get("ranks", {}),
        groups={heading: tuple(methods) for heading, methods in part.get("groups", {}).items()},
        notes=tuple(part.get("notes", ())),
    )


for _name, _part in _DOCUMENT.items():
    if "rows" in _part:
        TABLES.add(_name, _table(_name, _part))
for _name, _settings in read_toml(Path(__file__).with_name("tables.toml")).items():
    _figures, _rows = published(_name).figures, published(_name).methods
    _printed = {
        place: (f.mean, f.spread) for place, f in _figures.items() if f.mean is not None and f.spread is not None
    }
    PRESETS.add(_name, Preset(_name, **_settings, figures=_printed, rows=_rows))
