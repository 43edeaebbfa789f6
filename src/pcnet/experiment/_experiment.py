"""What is to be computed: an `Experiment`, the one way from what was asked for to it, and `key=value` changes of it."""

from __future__ import annotations

import itertools
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from pcnet._checks import whole_number
from pcnet._files import read_json
from pcnet.compare import Metric, default_metric, metric_named
from pcnet.data import (
    EMBEDDED,
    PAPER_PROTOCOLS,
    STRATIFIED,
    Split,
    check_protocol,
    dataset_named,
    is_fixed,
    official_name,
)
from pcnet.errors import PcnetError, SettingError, close_match
from pcnet.experiment._methods import MethodFile, Preset, method_file, method_name, presets
from pcnet.graph import Graph
from pcnet.nn import ModelSettings, PCNetSettings, method_named
from pcnet.training import TrainingSettings, selection_by

#: The method that commands mean unless they are told another.
DEFAULT_METHOD = "pcnet"
#: For datasets that a preset has, and methods that it has no settings for.
USUAL_PROTOCOL = "random-60-20-20"


class Weighted(NamedTuple):
    """Settings that have a say of this weight on a split; most splits have one alone."""

    model: ModelSettings
    training: TrainingSettings
    weight: float = 1.0


@dataclass(frozen=True)
class Experiment:
    """A model, how it is trained, and the seeded splits it is trained on; `resolve` makes one.

    >>> experiment = Experiment("mine", "defaults", "random-60-20-20", seeds=(0, 1))
    >>> experiment.with_overrides(["hidden=32"]).model.hidden
    32
    """

    dataset: str
    preset: str
    protocol: str
    seeds: tuple[int, ...]
    model: ModelSettings = field(default_factory=PCNetSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    #: What a score is, wherever runs, settings or methods are compared or reported.
    metric: str = "accuracy"
    #: Printed mean and ± of a preset's paper, and of its authors' code run again.
    paper: tuple[float, float] | None = None
    rerun: tuple[float, float] | None = None
    #: Where the settings come from.
    source: str = ""
    #: How test scores chose the settings, or nothing.
    by_test: str = ""
    #: The row of the preset's table; several may be one method with other settings.
    row: str = ""
    #: Whether the settings are those of a preset, with changes or without.
    of_a_preset: bool = False
    #: Where every split chose for itself: its settings, by its seed and its hash. `model` and `training` are then those
    #: that weigh most on the first split.
    per_split: Mapping[tuple[int, str], tuple[Weighted, ...]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The method, as its authors write it."""
        return method_name(self.row or self.model.method)

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that can be set, under the names of `--set`."""
        own = {"method": self.model.method, "protocol": self.protocol, "metric": self.metric}
        rates = {"lr": dict(self.training.lr), "wd": dict(self.training.wd)}
        return {**own, **vars(self.model), **vars(self.training), **rates}

    def settings_on(self, split: Split, seed: int) -> tuple[Weighted, ...]:
        """What is trained on a split; a `PcnetError` where every split chose for itself and this is none of them."""
        if not self.per_split:
            return (Weighted(self.model, self.training),)
        if (seed, split.hash) not in self.per_split:
            seeds = ", ".join(str(seed) for seed, _ in self.per_split)
            raise PcnetError(
                f"{self.preset} has settings for each split that it was searched on, with the seeds {seeds} of one "
                f"graph, and none for the split of seed {seed} here. Leave out --runs and --seed; for other splits and "
                "graphs, `pcnet tune --shared` searches one setting for all."
            )
        return self.per_split[seed, split.hash]

    @property
    def scored_by(self) -> Metric:
        """The metric itself."""
        return metric_named(self.metric)

    @property
    def follows_paper(self) -> bool:
        """Whether the splits are those of the paper, and so is how scores are summed up."""
        return self.protocol in PAPER_PROTOCOLS

    def with_metric(self, name: str | None) -> Experiment:
        """The experiment scored by another metric, which also chooses the epoch of every run; None changes nothing."""
        if name is None:
            return self
        metric = metric_named(name)
        select = selection_by(metric)
        changed = self._with(lambda model, training: (model, replace(training, select=select)), metric=metric.name)
        # Defaults that are scored in another way are defaults.
        return changed if changed.training == self.training or not self.of_a_preset else changed._changed()

    def with_overrides(self, assignments: Sequence[str]) -> Experiment:
        """The experiment with `key=value` assignments applied; published figures are then no longer comparable."""
        if not assignments:
            return self
        return self._with(lambda *settings: override(settings, assignments))._changed()

    def with_runs(self, runs: int | None = None, seed: int | None = None) -> Experiment:
        """As many runs: the published seeds and then unused small ones, or consecutive ones from `seed` on."""
        runs = whole_number("--runs", len(self.seeds) if runs is None else runs, least=1)
        unused = (number for number in itertools.count() if number not in self.seeds)
        seeds = itertools.chain(self.seeds, unused) if seed is None else itertools.count(whole_number("--seed", seed))
        return replace(self, seeds=tuple(itertools.islice(seeds, runs)))

    def checked(self) -> Experiment:
        """The experiment itself; rates for parameters that its model does not have are refused."""
        self.training.check_groups(self.model.groups)
        return self

    def _with(self, change: Callable[[ModelSettings, TrainingSettings], Sequence[Any]], **more: Any) -> Experiment:
        """With all settings changed, also those of single splits."""

        def changed(own: Weighted) -> Weighted:
            model, training = change(own.model, own.training)
            return Weighted(model, training, own.weight)

        per_split = {split: tuple(map(changed, own)) for split, own in self.per_split.items()}
        first = changed(Weighted(self.model, self.training))
        return replace(self, model=first.model, training=first.training, per_split=per_split, **more)

    def _changed(self) -> Experiment:
        """With settings of one's own: no published figure is about it."""
        preset = self.preset if self.preset.endswith(", changed") else f"{self.preset}, changed"
        return replace(self, preset=preset, paper=None, rerun=None)


def resolve(
    graph: Graph | str | None = None,
    method: str = DEFAULT_METHOD,
    *,
    preset: str | Path | None = None,
    protocol: str | None = None,
    metric: str | None = None,
    overrides: Sequence[str] = (),
    runs: int | None = None,
    seed: int | None = None,
    fallback: bool = False,
    chosen: bool = True,
) -> Experiment:
    """The experiment that a graph, a method and options stand for.

    Args:
        graph: the name of a dataset (None: the one inside the package), which has the settings that are published for
            it; or a graph, which has the method's defaults, on the splits it comes with, else on stratified ones.
        method: its name, in any case.
        preset: a table's name, for its splits and settings; or a .json file of `pcnet tune`, for any graph.
        protocol: how to split. Of a named dataset it picks the table that has it split so, if there is one.
        metric: what a score is; it also chooses the epochs. By default it is accuracy, with the method's own choice of
            epochs, and ROC-AUC on a graph with two classes that are far from equal.
        overrides: `key=value` assignments, as of `--set`.
        runs: how many; by default as many as the preset has, or 10.
        seed: the first one; by default the preset's.
        fallback: where a preset has no settings of the method, its defaults on the preset's splits.
        chosen: whether settings count that a grid search has chosen, where none are published.

    Raises:
        PcnetError: a name that nobody knows, a preset without the method or dataset, options that contradict.

    >>> resolve("texas", "gcn", preset="table3", runs=3).seeds
    (0, 1, 2)
    >>> resolve("texas", overrides=["hidden=32"]).preset
    'table2, changed'
    """
    if protocol is not None:
        check_protocol(protocol)
    if preset is not None and str(preset).endswith(".json"):
        found = _from_file(preset, graph)
    elif preset is not None and isinstance(graph, Graph):
        raise PcnetError(f"{preset} has no settings for your own graph; leave out --preset, or name a .json file.")
    elif isinstance(graph, Graph):
        found = _of_graph(graph, method_file(method), protocol)
    else:
        name, own = dataset_named(graph or EMBEDDED).name, method_file(method)
        if preset is None:
            found = _of_dataset(name, own, protocol)
        else:
            found = _of_preset(name, presets().named(str(preset)), own, fallback, chosen)
    if protocol not in (None, found.protocol):
        raise PcnetError(f"{preset} splits by {found.protocol}, not by {protocol}; leave one of the two out.")
    return found.with_metric(metric).with_overrides(overrides).with_runs(runs, seed)


def _of_graph(graph: Graph, method: MethodFile, protocol: str | None) -> Experiment:
    """The method's defaults, on all splits where the graph brings some."""
    chosen = protocol or (official_name(graph) if graph.fixed_splits else STRATIFIED)
    experiment = _defaults(graph.name, method, chosen)
    usual = default_metric(graph.y).name
    experiment = experiment.with_metric(None if usual == experiment.metric else usual)
    # A graph without the splits that were asked for is refused where they are drawn.
    return replace(experiment, seeds=experiment.seeds[: len(graph.fixed_splits) or None if is_fixed(chosen) else None])


def _of_dataset(name: str, method: MethodFile, protocol: str | None) -> Experiment:
    """The settings of the usual preset, or of the first one with this protocol; else the method's defaults."""
    known = presets().values()
    for preset in known:
        fits = preset.usual if protocol is None else preset.protocols.get(name) == protocol
        if fits and preset.entry(method, name) is not None:
            return _of_preset(name, preset, method)
    usual = USUAL_PROTOCOL if any(name in preset.protocols for preset in known) else STRATIFIED
    return _defaults(name, method, protocol or usual)


def _of_preset(
    name: str, preset: Preset, method: MethodFile, fallback: bool = False, chosen: bool = True
) -> Experiment:
    """A preset's splits of a dataset, with the method's settings there."""
    entry = preset.entry(method, name, chosen=chosen)
    if entry is None and not fallback:
        known = ", ".join(preset.datasets_of(method.name)) or "none"
        raise PcnetError(
            f"{preset.name} has no settings of {method.name} for {name}; it has {known}. "
            "Leave out --preset for defaults."
        )
    if name not in preset.protocols:
        raise PcnetError(f"{preset.name} has no dataset {name}; it has {', '.join(preset.protocols)}.")
    seeds, used, published = tuple(preset.seeds[: preset.splits.get(name)]), entry or method.defaults, dict[str, Any]()
    if entry is not None:
        figure = preset.figures.get((method.name, name))
        published = {"paper": figure, "rerun": entry.rerun, "source": entry.source, "by_test": entry.by_test}
    place = (name, preset.name, preset.protocols[name], seeds)
    return Experiment(*place, used.model, used.training, row=method.name, of_a_preset=True, **published)


def _from_file(path: str | Path, graph: Graph | str | None) -> Experiment:
    """An experiment from a .json file with dataset, protocol, seeds, model and training, for its dataset or another.

    `pcnet tune` writes such files; what else they say is not read here. Where every split chose for itself, there are
    instead `settings`, model and training of each trial, and of every split in `per_split` its seed, its hash, and the
    trials with their weights.
    """
    entry = read_json(path)
    try:
        name = graph.name if isinstance(graph, Graph) else dataset_named(graph or entry["dataset"]).name
        kind = method_named(entry.get("method", DEFAULT_METHOD))
        described = entry.get("settings") or {"": {part: entry[part] for part in ("model", "training")}}
        settings = {
            trial: (kind(**each["model"]), TrainingSettings(**each["training"])) for trial, each in described.items()
        }
        per_split = {
            (each["seed"], each["split"]): tuple(
                Weighted(*settings[trial], weight) for trial, weight in each["trials"].items()
            )
            for each in entry.get("per_split", ())
        }
        first = next(iter(per_split.values()), [Weighted(*next(iter(settings.values())))])
        model, training, _ = max(first, key=lambda each: each.weight)
        seeds, metric = tuple(entry["seeds"]), metric_named(entry.get("metric", "accuracy")).name
        place = (name, Path(path).stem, entry["protocol"], seeds)
        source = "chosen by each split from its own validation nodes" if per_split else ""
        experiment = Experiment(*place, model, training, metric, source=source, per_split=per_split)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise PcnetError(
            f"{path} is no preset ({error}); it needs dataset, protocol, seeds, model and training, as best.json of "
            "`pcnet tune` has them."
        ) from error
    if not experiment.seeds or not all(type(seed) is int for seed in experiment.seeds):
        raise PcnetError(f"{path} is no preset: its seeds must be whole numbers.")
    return experiment


def _defaults(name: str, method: MethodFile, protocol: str) -> Experiment:
    """A method's settings for unknown graphs."""
    entry = method.for_unknown_graphs
    return Experiment(name, "defaults", protocol, tuple(range(10)), entry.model, entry.training, row=method.name)


def override(settings: Sequence[Any], assignments: Sequence[str]) -> list[Any]:
    """Apply each `key=value` to the dataclass that has the field.

    Values are read by the field's type: numbers, true/false, one of the allowed words, "none". A mapping such as `lr`
    takes `lr=0.01` for all its entries or `lr.theta=0.01` for one.
    """
    changed = list(settings)
    owners = {each.name: place for place, part in enumerate(settings) for each in fields(part)}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        key, dot, entry = name.strip().partition(".")
        if not equals:
            raise SettingError(f"'{assignment}' is not of the form key=value, as in --set t=0.5.")
        if key not in owners:
            raise SettingError(f"There is no setting '{key}'.{close_match(key, owners)} Known: {', '.join(owners)}.")
        owner = changed[owners[key]]
        current = getattr(owner, key)
        rates = isinstance(current, Mapping)
        if dot and not rates:
            raise SettingError(f"The setting '{key}' is one value; write {key}={text}.")
        value = _parse(name, text.strip(), float if rates else typing.get_type_hints(type(owner))[key])
        if rates:
            value = {**current, entry: value} if dot else {"all": value}
        changed[owners[key]] = replace(owner, **{key: value})
    return changed


def _parse(name: str, text: str, annotation: Any) -> Any:
    choices = typing.get_args(annotation)
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        if text.lower() == "none" and type(None) in choices:
            return None
        return _parse(name, text, next(each for each in choices if each is not type(None)))
    if choices:
        if text in choices:
            return text
        raise SettingError(f"{name} cannot be '{text}'; choose from {', '.join(choices)}.{close_match(text, choices)}")
    if annotation is bool:
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() in words:
            return words[text.lower()]
        raise SettingError(f"{name} must be true or false, not '{text}'.")
    try:
        return annotation(text)
    except ValueError:
        kind = "a whole number" if annotation is int else "a number"
        raise SettingError(f"{name} must be {kind}, not '{text}'.") from None
