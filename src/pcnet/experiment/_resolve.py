"""From what was asked for to an experiment: the one way for every command, the classifier and the benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pcnet._files import read_json
from pcnet.compare import default_metric, metric_named
from pcnet.data import EMBEDDED, STRATIFIED, check_protocol, dataset_named, is_fixed, official_name
from pcnet.errors import PcnetError
from pcnet.experiment._experiment import Experiment
from pcnet.experiment._methods import MethodFile, Preset, method_file, presets
from pcnet.graph import Graph
from pcnet.nn import method_named
from pcnet.training import TrainingSettings

#: The method that commands mean unless they are told another.
DEFAULT_METHOD = "pcnet"
#: For datasets that a preset has, and methods that it has no settings for.
USUAL_PROTOCOL = "random-60-20-20"


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
    if usual != experiment.metric:
        experiment = experiment.with_metric(usual)
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
        published = {"paper": figure, "rerun": entry.rerun, "source": entry.source}
    place = (name, preset.name, preset.protocols[name], seeds)
    return Experiment(*place, used.model, used.training, row=method.name, of_a_preset=True, **published)


def _from_file(path: str | Path, graph: Graph | str | None) -> Experiment:
    """An experiment from a .json file with dataset, protocol, seeds, model and training, for its dataset or another.

    `pcnet tune` writes such files; what else they say is not read here.
    """
    entry = read_json(path)
    try:
        name = graph.name if isinstance(graph, Graph) else dataset_named(graph or entry["dataset"]).name
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


def _defaults(name: str, method: MethodFile, protocol: str) -> Experiment:
    """A method's defaults; PCNet's own are better for unknown graphs than any published setting."""
    seeds = tuple(range(10))
    if method.name == DEFAULT_METHOD:
        return Experiment(name, "defaults", protocol, seeds)
    entry = method.defaults
    return Experiment(name, "defaults", protocol, seeds, entry.model, entry.training, row=method.name)
