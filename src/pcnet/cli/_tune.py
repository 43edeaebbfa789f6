"""`pcnet tune`: search for settings, many at a time, and choose by validation alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from pcnet._machine import chosen_device, device_note
from pcnet.cli import _options as option
from pcnet.data import load_dataset
from pcnet.errors import Interrupted, PcnetError
from pcnet.experiment import DEFAULT_METHOD, command_line, presets, provenance, resolve
from pcnet.show import ProgressBar, Step, print_tuned, tune_headline, tuned_table, write_chosen, write_tuned_tables
from pcnet.tune import Search, cells_to_search, space_of
from pcnet.tune import tune as run_search


def tune(
    dataset: Annotated[
        str,
        Argument(
            metavar="GRAPH",
            help="A name from `pcnet data list`, or your own file or folder; or table1, table2, table3 or all: every "
            "dataset there.",
        ),
    ],
    trials: Annotated[int, Option(help="Number of settings that are tried.")] = 100,
    preset: option.Preset = None,
    protocol: option.Protocol = None,
    metric: option.MetricName = None,
    method: option.Method = DEFAULT_METHOD,
    runs: Annotated[
        int | None, Option("--runs", "--splits", help="Splits that a setting is tried on.", show_default="10")
    ] = None,
    strategy: Annotated[
        str | None,
        Option(
            help="random; halving, a quarter of the work; evolve, which learns from the best; grid, every point of a "
            "small space; or optuna.",
            show_default="grid for a small space, random for a large one",
        ),
    ] = None,
    sampler: Annotated[
        str | None, Option(help="What suggests Optuna's trials: tpe, gp or random.", show_default="tpe")
    ] = None,
    batch: Annotated[int, Option(help="Trials that evolve or optuna suggests at a time.")] = 32,
    seed: Annotated[int, Option(help="Of the search: which settings are drawn.")] = 0,
    space: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Search space as JSON; or wide, of which auto draws.",
            show_default="the paper's for pcnet, a small grid for others",
        ),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        Option("--set", metavar="KEY=VALUE", help="Fix a setting for all trials, as in --set epochs=500."),
    ] = None,
    shared: Annotated[
        bool,
        Option("--shared", help="One setting for all splits, by their mean: a split's test nodes then have a say."),
    ] = False,
    leak: Annotated[bool, Option("--leak", help="Measure what choosing by test scores would pretend to gain.")] = False,
    store: Annotated[
        Path | None,
        Option(metavar="DIR", help="Folder of the search; runs/tune-DATASET-PRESET, or …-shared, by default."),
    ] = None,
    out: Annotated[
        Path, Option(metavar="DIR", help="Of whole tables: folder for tuned-tables.json and .md, or METHOD.toml.")
    ] = Path("results"),
    threads: option.Threads = None,
    device: option.Device = "auto",
    plugin: option.Plugin = None,
    data: option.Data = None,
    read: option.Read = None,
    json_file: option.Json = None,
) -> None:
    """Search a method's settings and choose by validation scores: accuracy, or another metric.

    Every split chooses by its own validation nodes: a setting, and an ensemble of settings, which costs no more
    training. The defaults are tried too, so that in validation the choice is never worse than they are. Test scores of
    what was chosen, and of the defaults next to it, are computed once, at the end, and the log in the store says so.
    Everything is kept in the store: the same command continues a search that was interrupted, and started several times
    at once it shares the work. The results are presets, for `pcnet train DATASET --preset STORE/best.json`, or
    `STORE/ensemble.json`.

    With --shared all splits choose one setting together, by their mean, with halving if you like. It suits any split
    and graph, but test nodes of one split are validation nodes of others, so that its score may flatter. Of another
    method than pcnet, a whole table is searched so where nothing is published, and the choices are written to
    METHOD.toml.
    """
    device, console, fixed = chosen_device(device), option.screen(json_file), assignments or []

    def search(dataset: str, preset: str | None, store: Path | None) -> dict[str, Any]:
        graph = option.graph_at(dataset, data, read)
        of = dataset if option.names_dataset(dataset) else graph
        # A grid that is searched again starts where it did: what it chose the last time does not count.
        published = resolve(of, method, preset=preset, protocol=protocol, fallback=True, chosen=False)
        experiment = published.with_metric(metric).with_overrides(fixed).with_runs(runs)
        axes, paper, defaults = space_of(method, space).fixing(fixed, experiment.model), None, None
        if published.of_a_preset and published.source:
            # Settings of the paper, which test scores chose, are no candidates.
            plain = resolve(graph, method, protocol=experiment.protocol, metric=experiment.metric, overrides=fixed)
            paper, defaults = published, (plain.model, plain.training)
        how: dict[str, Any] = {"strategy": strategy or "", "sampler": sampler, "batch": batch, "seed": seed}
        how |= {"shared": shared, "leak": leak, "published": paper, "defaults": defaults}
        asked = Search(experiment, axes, trials, **how)
        name = published.protocol if preset is None else published.preset
        folder = store or Path("runs") / f"tune-{experiment.dataset}-{name}{'-shared' if shared else ''}"
        words = f"{option.metric_words(graph, asked.metric, metric)}{device_note(device)}"
        said = {**provenance(device), "device": device}
        try:
            console.print(tune_headline(graph, asked, words), style="bold")
            with ProgressBar() as bar:
                tuned = run_search(graph, asked, folder, threads=threads, device=device, progress=bar, provenance=said)
        except KeyboardInterrupt:
            raise Interrupted(f"Interrupted; the same command continues the search in {folder}.") from None
        steps = [
            Step(what, option.command("train", dataset, preset=folder / file, read=read, data=data))
            for what, file in (
                ("Train the choice, for predictions and a report:", "best.json"),
                ("Or the ensemble of each split:", "ensemble.json"),
            )[: 1 if shared else 2]
        ]
        print_tuned(console, graph, tuned, steps)
        return tuned.best

    tables = tuple(presets()) if dataset == "all" else (dataset,)
    if not set(tables) <= set(presets()):
        option.emit_json(json_file, search(dataset, preset, store))
        return
    if preset is not None or protocol is not None:
        raise PcnetError(f"{dataset} has its own splits; leave out --preset and --protocol.")
    if metric is not None:
        raise PcnetError(f"{dataset} is scored by accuracy, as in the paper; leave out --metric.")
    if method != DEFAULT_METHOD and not shared:
        raise PcnetError(f"The file of {method} has one setting for each dataset of a table; add --shared.")
    if method != DEFAULT_METHOD and assignments:
        raise PcnetError(f"The settings of {method} for a table are written to a file; leave out --set.")
    bests, folder, prefix = [], store or Path("runs") / "tune", "" if method == DEFAULT_METHOD else f"{method}-"
    for table in tables:
        for name in cells_to_search(table, method):
            try:
                load_dataset(name, data)
            except PcnetError as error:
                console.print(f"{table} {name}: left out. {error}", style="dim")
                continue
            bests.append(search(name, table, folder / f"{prefix}{table}-{name}"))
    if not bests:
        raise PcnetError("Nothing is left to search, or no dataset of it was found; name a folder with --data.")
    if method == DEFAULT_METHOD:
        bests = write_tuned_tables(out, bests, command_line())
        console.print(tuned_table(bests).rich())
    else:
        console.print(f"The chosen settings are in {write_chosen(out, method, bests)}.")
    option.emit_json(json_file, {"cells": bests})
