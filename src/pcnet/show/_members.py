"""Who answers together on the splits of a graph, and with which weight."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pcnet.experiment import Experiment
from pcnet.show._table import Table, flat

#: Members that are shown.
SHOWN = 10


def members_of(experiment: Experiment) -> Table:
    """Where every split chose for itself, what was chosen."""
    splits = [
        [({**asdict(model), **asdict(training)}, weight) for model, training, weight in own]
        for own in experiment.per_split.values()
    ]
    return members_table(splits)


def members_of_file(preset: Mapping[str, Any], listed: Iterable[Mapping[str, Any]]) -> Table:
    """The same out of the content of a `best.json` and one of its lists of splits."""
    known = {trial: {**own["model"], **own["training"]} for trial, own in preset["settings"].items()}
    return members_table([[(known[trial], weight) for trial, weight in own["trials"].items()] for own in listed])


def members_table(splits: Sequence[Sequence[tuple[Mapping[str, Any], float]]]) -> Table:
    """Of each of the settings: its weight, the splits that have it, and in what it is unlike others.

    >>> print(members_table([[({"K": 2, "t": 1.0}, 3), ({"K": 4, "t": 1.0}, 1)], [({"K": 2, "t": 1.0}, 1)]]).markdown())
    | weight | splits | settings |
    |---|--:|---|
    | 88% | 2 | K 2 |
    | 12% | 1 | K 4 |
    <BLANKLINE>
    """
    shares, often = dict[tuple[tuple[str, str], ...], float](), defaultdict[tuple[tuple[str, str], ...], int](int)
    for own in splits:
        total = sum(weight for _, weight in own)
        for settings, weight in own:
            key = tuple(flat(settings).items())
            shares[key] = shares.get(key, 0.0) + weight / total / len(splits)
            often[key] += 1
    every = {item for key in shares for item in key}
    alike = {item for item in every if all(item in key for key in shares)} if len(shares) > 1 else set()
    ordered = sorted(shares, key=lambda key: -shares[key])
    rows = [
        [f"{shares[key]:.0%}", str(often[key]), ", ".join(" ".join(item) for item in key if item not in alike)]
        for key in ordered[:SHOWN]
    ]
    rest = sum(shares[key] for key in ordered[SHOWN:])
    notes = [f"and {len(ordered) - SHOWN} others, together {rest:.0%}"] * (len(ordered) > SHOWN)
    return Table("", ("weight", "splits", "settings"), rows, notes, words=("settings",))
