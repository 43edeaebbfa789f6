"""The paper's experiments: a method with its settings, on the splits of a table."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pcnet._files import parse_toml, read_json
from pcnet.compare import Metric, default_metric, metric_named
from pcnet.data import EMBEDDED, PAPER_PROTOCOLS, STRATIFIED, check_protocol, dataset_named, is_fixed, official_name
from pcnet.errors import PcnetError, close_match
from pcnet.experiment._methods import Entry, method_file
from pcnet.experiment._overrides import override
from pcnet.experiment._published import method_name, published
from pcnet.graph import Graph
from pcnet.nn import ModelSettings, PCNetSettings, method_named
from pcnet.training import TrainingSettings, selection_by

#: For graphs that the paper has and methods that it has no settings for.
PAPER_PROTOCOL = "random-60-20-20"
#: The method that commands mean unless they are told another.
DEFAULT_METHOD = "pcnet"


@dataclass(frozen=True)
class Experiment:
    """A model, how it is trained, and the seeded splits it is trained on."""

    dataset: str
    preset: str
    protocol: str
    seeds: tuple[int, ...]
    model: ModelSettings = field(default_factory=PCNetSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    #: What a score is, wherever runs, settings or methods are compared or reported.
    metric: str = "accuracy"
    #: Mean and ± of the paper, and of its authors' code run again.
    paper: tuple[float, float] | None = None
    rerun: tuple[float, float] | None = None
    #: Where the settings come from.
    source: str = ""
    #: The row of the paper's table; several may be one method with other settings.
    row: str = ""

    @property
    def title(self) -> str:
        """The method, as the paper writes it."""
        return method_name(self.row or self.model.method)

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that can be set, under the names of `--set`."""
        model, training = vars(self.model), vars(self.training)
        return {
            "method": self.model.method,
            "protocol": self.protocol,
            "metric": self.metric,
            **model,
            **training,
            "lr": dict(self.training.lr),
            "wd": dict(self.training.wd),
        }

    @property
    def scored_by(self) -> Metric:
        """The metric itself."""
        return metric_named(self.metric)

    @property
    def follows_paper(self) -> bool:
        """Whether the splits are those of the paper, and so is how scores are summed up."""
        return self.protocol in PAPER_PROTOCOLS

    @property
    def of_a_table(self) -> bool:
        """Whether the settings are those of a table of the paper, with changes or without."""
        return self.preset.partition(",")[0] in preset_names()

    def with_metric(self, name: str | None) -> Experiment:
        """The experiment scored by another metric, which also chooses the epoch of every run; None changes nothing."""
        if name is None:
            return self
        metric = metric_named(name)
        training = replace(self.training, select=selection_by(metric))
        changed = replace(self, metric=metric.name, training=training)
        # Defaults that are scored in another way are defaults.
        return changed if training == self.training or not self.of_a_table else changed.unpublished()

    def unpublished(self) -> Experiment:
        """The experiment with settings of one's own: no published figure is about it."""
        preset = self.preset if self.preset.endswith(", changed") else f"{self.preset}, changed"
        return replace(self, preset=preset, paper=None, rerun=None)

    def with_overrides(self, assignments: Sequence[str]) -> Experiment:
        """The experiment with `key=value` assignments applied; published figures are then no longer comparable."""
        if not assignments:
            return self
        model, training = override([self.model, self.training], assignments)
        return replace(self, model=model, training=training).unpublished()

    def with_runs(self, runs: int, seed: int | None) -> Experiment:
        """So many runs: the published seeds and then unused small ones, or consecutive ones from `seed` on."""
        if runs < 1:
            raise PcnetError(f"--runs must be at least 1, not {runs}.")
        if seed is None:
            unused = (number for number in itertools.count() if number not in self.seeds)
            seeds = itertools.islice(itertools.chain(self.seeds, unused), runs)
        elif seed < 0:
            raise PcnetError(f"--seed must be at least 0, not {seed}.")
        else:
            seeds = itertools.islice(itertools.count(seed), runs)
        return replace(self, seeds=tuple(seeds))


@cache
def _tables() -> Mapping[str, Mapping[str, Any]]:
    content = files("pcnet.experiment").joinpath("tables.toml").read_text(encoding="utf-8")
    return parse_toml(content, "tables.toml")


def preset_names() -> tuple[str, ...]:
    """table1 to table4."""
    return tuple(_tables())


def table_datasets(preset: str) -> tuple[str, ...]:
    """All datasets of a table."""
    return tuple(_tables()[_known_preset(preset)]["protocols"])


def preset_datasets(preset: str, method: str = DEFAULT_METHOD) -> tuple[str, ...]:
    """Datasets of a table that a method has settings for."""
    return tuple(name for name in table_datasets(preset) if _entry(method, preset, name) is not None)


def preset_experiment(dataset: str, preset: str = "table2", method: str = DEFAULT_METHOD) -> Experiment:
    """A method's settings of a table for a dataset."""
    name = dataset_named(dataset).name
    table = _tables()[_known_preset(preset)]
    entry = _entry(method, preset, name)
    if entry is None:
        known = ", ".join(preset_datasets(preset, method)) or "none"
        raise PcnetError(
            f"{preset} has no settings of {method} for {name}; it has {known}. Leave out --preset for defaults."
        )
    seeds = tuple(table["seeds"][: table.get("splits", {}).get(name)])
    row = method_file(method).name
    figure = published(preset).cell(row, name)
    paper = None if figure is None or figure.mean is None or figure.spread is None else (figure.mean, figure.spread)
    return Experiment(
        name,
        preset,
        table["protocols"][name],
        seeds,
        entry.model,
        entry.training,
        paper=paper,
        rerun=entry.rerun,
        source=entry.source,
        row=row,
    )


def table_experiment(
    dataset: str, preset: str, method: str = DEFAULT_METHOD, *, only_published: bool = False
) -> Experiment:
    """As `preset_experiment`; where the method has no settings for the cell, its defaults on the cell's splits.

    With `only_published`, what a grid has chosen does not count: a grid that is searched again starts where it did.
    """
    name = dataset_named(dataset).name
    known = _entry(method, _known_preset(preset), name) is not None
    if known and not (only_published and method_file(method).is_chosen(preset, name)):
        return preset_experiment(name, preset, method)
    table, entry = _tables()[preset], method_file(method).defaults
    if name not in table["protocols"]:
        raise PcnetError(f"{preset} has no dataset {name}; it has {', '.join(table['protocols'])}.")
    seeds = tuple(table["seeds"][: table.get("splits", {}).get(name)])
    return Experiment(name, preset, table["protocols"][name], seeds, entry.model, entry.training, row=method.lower())


def _entry(method: str, preset: str, dataset: str) -> Entry | None:
    """A method's settings for a cell of a table, or of the table that this one takes its settings from."""
    table, known = _tables()[preset], method_file(method)
    if dataset not in table["protocols"]:
        return None
    entry = known.cell(preset, dataset)
    if entry is None and "settings_of" in table and known.name in published(preset).methods:
        return known.cell(table["settings_of"], dataset)
    return entry


def file_experiment(path: str | Path, dataset: str | Graph | None = None) -> Experiment:
    """An experiment from a .json file with dataset, protocol, seeds, model and training, for its dataset or another.

    `pcnet tune` writes such files; what else they say is not read here.
    """
    entry = read_json(path)
    try:
        name = dataset.name if isinstance(dataset, Graph) else dataset_named(dataset or entry["dataset"]).name
        kind = method_named(entry.get("method", DEFAULT_METHOD))
        model, training = kind(**entry["model"]), TrainingSettings(**entry["training"])
        seeds, metric = tuple(entry["seeds"]), metric_named(entry.get("metric", "accuracy")).name
        experiment = Experiment(name, Path(path).stem, entry["protocol"], seeds, model, training, metric)
    except (KeyError, TypeError, AttributeError) as error:
        raise PcnetError(
            f"{path} is no preset ({error}); it needs dataset, protocol, seeds, model and training, as best.json of "
            "`pcnet tune` has them."
        ) from error
    if not experiment.seeds or not all(type(seed) is int for seed in experiment.seeds):
        raise PcnetError(f"{path} is no preset: its seeds must be whole numbers.")
    return experiment


def default_experiment(dataset: str, method: str = DEFAULT_METHOD) -> Experiment:
    """Table 2's settings where the method has them, else its defaults; a graph of no table is split like one's own."""
    name = dataset_named(dataset).name
    if method_file(method).cell("table2", name) is not None:
        return preset_experiment(name, "table2", method)
    of_the_paper = any(name in table["protocols"] for table in _tables().values())
    return default_settings(name, method, PAPER_PROTOCOL if of_the_paper else STRATIFIED)


def protocol_experiment(dataset: str, protocol: str, method: str = DEFAULT_METHOD) -> Experiment:
    """The settings of the table that has the dataset under this protocol, the method's defaults where none has."""
    name = dataset_named(dataset).name
    check_protocol(protocol)
    for preset, table in _tables().items():
        if table["protocols"].get(name) == protocol and method_file(method).cell(preset, name) is not None:
            return preset_experiment(name, preset, method)
    return default_settings(name, method, protocol)


def graph_experiment(
    graph: Graph, method: str = DEFAULT_METHOD, protocol: str | None = None, metric: str | None = None
) -> Experiment:
    """A method's defaults on a graph that is in no catalogue: on the splits it comes with, else on stratified ones.

    Scored by accuracy with the method's own choice of the epoch, or by another metric, which then chooses the epoch
    too: the one that is asked for, or ROC-AUC for two classes that are far from equal.
    """
    chosen = protocol or (official_name(graph) if graph.fixed_splits else STRATIFIED)
    check_protocol(chosen)
    experiment = default_settings(graph.name, method, chosen)
    if metric is not None or default_metric(graph.y).name != experiment.metric:
        experiment = experiment.with_metric(metric or default_metric(graph.y).name)
    return replace(experiment, seeds=experiment.seeds[: len(graph.fixed_splits) if is_fixed(chosen) else None])


def default_settings(name: str, method: str = DEFAULT_METHOD, protocol: str = STRATIFIED) -> Experiment:
    """A method's defaults; PCNet's own are better for unknown graphs than any published setting."""
    seeds = tuple(range(10))
    if method == DEFAULT_METHOD:
        return Experiment(name, "defaults", protocol, seeds)
    entry = method_file(method).defaults
    return Experiment(name, "defaults", protocol, seeds, entry.model, entry.training, row=method.lower())


def named_experiment(
    dataset: str | None, preset: str | None, method: str = DEFAULT_METHOD, protocol: str | None = None
) -> Experiment:
    """What a command is asked for: a table's settings, those of a .json file, or without a preset a protocol's.

    With neither, the default ones.
    """
    if preset is not None and preset.endswith(".json"):
        return file_experiment(preset, dataset)
    dataset = dataset or EMBEDDED
    if preset is not None:
        return preset_experiment(dataset, preset, method)
    return default_experiment(dataset, method) if protocol is None else protocol_experiment(dataset, protocol, method)


def _known_preset(preset: str) -> str:
    if preset not in _tables():
        known = ", ".join(_tables())
        raise PcnetError(
            f"There is no preset '{preset}'; choose from {known}, or name a .json file.{close_match(preset, _tables())}"
        )
    return preset
