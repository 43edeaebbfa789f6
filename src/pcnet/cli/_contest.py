"""Methods trained on the same splits: how they stand to the best, and what has to be known to read that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pcnet.data import Split
from pcnet.evaluation import (
    LEVEL,
    Comparison,
    CriticalDifference,
    Summary,
    critical_difference,
    holm,
    resampled_t,
    summarise,
    winners,
)
from pcnet.experiments import DEFAULT_METHOD, Experiment, Result
from pcnet.graph import Graph

OPTIMISTIC = (
    "Splits of one graph share most of their nodes, and the best is picked by the same runs it is tested on: p is too "
    "low. p (t) allows for the shared nodes (Nadeau and Bengio 2003). Both are about this graph and these settings."
)


def headline(graph: Graph, protocol: str, splits: int) -> str:
    """What the methods are compared on."""
    return (
        f"on {graph.name} ({graph.num_nodes:,} nodes, {graph.num_features:,} features, {graph.num_classes} classes): "
        f"{protocol}, {splits} splits"
    )


@dataclass(frozen=True)
class Trained:
    """What is kept of a method's runs."""

    method: str
    experiment: Experiment
    test: Summary
    val: Summary
    epochs: tuple[int, ...]
    seconds: float

    @staticmethod
    def of(method: str, result: Result) -> Trained:
        epochs = tuple(outcome.epochs for outcome in result.outcomes)
        return Trained(
            method, result.experiment, result.test["accuracy"], result.val["accuracy"], epochs, result.seconds
        )

    @property
    def title(self) -> str:
        return self.experiment.title


@dataclass(frozen=True)
class Standing:
    """A method's place: its rank, how far it is behind the best, and how sure that is; None for the best itself."""

    trained: Trained
    rank: float
    behind: Summary | None = None
    p: float | None = None
    corrected: float | None = None
    resampled: float | None = None
    verdict: str = "best"


@dataclass(frozen=True, eq=False)
class Contest:
    """Methods trained on the same splits of a graph; those that could not be, by title with the reason."""

    graph: Graph
    splits: Sequence[Split]
    trained: Sequence[Trained]
    left_out: Mapping[str, str]

    @property
    def per_run(self) -> dict[str, tuple[float, ...]]:
        return {each.method: each.test.per_run for each in self.trained}

    @cached_property
    def compared(self) -> Comparison:
        """All against the best."""
        return winners(self.per_run)

    @cached_property
    def pairs(self) -> CriticalDifference:
        """All against all."""
        return critical_difference(self.per_run)

    @cached_property
    def standings(self) -> list[Standing]:
        """Best first."""
        known = {each.method: each for each in self.trained}
        best, rivals = self.compared.best, self.compared.rivals
        ratio = float(np.mean([len(split.test) / len(split.train) for split in self.splits]))
        top = np.array(self.per_run[best])
        chances: Sequence[float | None] = [None] * len(rivals)
        if len(top) > 1:
            chances = holm([resampled_t(top, self.per_run[rival.method], ratio) for rival in rivals])
        unlike = {True: "no different from the best", False: "worse"}
        return [Standing(known[best], self.pairs.ranks[best])] + [
            Standing(
                known[rival.method],
                self.pairs.ranks[rival.method],
                summarise(top - np.array(self.per_run[rival.method])),
                rival.p,
                rival.corrected,
                chance,
                "too few runs to tell" if self.compared.note else unlike[rival.indistinguishable],
            )
            for rival, chance in zip(rivals, chances, strict=True)
        ]

    @property
    def sentence(self) -> str:
        """The outcome in plain words."""
        best, *others = self.standings
        lead = f"{best.trained.title} has the highest mean, {best.trained.test.mean:.2f} %"
        if not others:
            return f"{lead}, but there is no other to compare it with."
        if self.compared.note:
            return f"{lead}; {self.compared.note}."
        worse = [each for each in others if each.verdict == "worse"]
        alike = [each for each in others if each not in worse]
        parts = [
            f"{_titles(group)} {'are' if len(group) > 1 else 'is'} {words}"
            for group, words in ((alike, "no different from it"), (worse, "worse"))
            if group
        ]
        sure = [each for each in worse if each.resampled is not None and each.resampled <= LEVEL]
        known = f"{_titles(sure)} only" if sure else "none"
        doubt = (
            "" if sure == worse else f" Where the nodes that splits share are allowed for, worse is sure of {known}."
        )
        return f"{lead}; {listed(parts)} on these splits.{doubt}"

    @property
    def notes(self) -> list[str]:
        """What has to be known to read the figures."""
        return [*self.graph.notes, *dict.fromkeys(note for split in self.splits for note in split.notes), *self._own()]

    def _own(self) -> Iterator[str]:
        different = len({split.hash for split in self.splits})
        if different < len(self.splits):
            yield f"There are {different} splits for {len(self.splits)} runs; runs on one split share its luck."
        plain = [each.title for each in self.trained if not each.experiment.source]
        tuned = [f"{each.title} ({each.experiment.source})" for each in self.trained if each.experiment.source]
        if tuned:
            others = f"; defaults: {listed(plain)}. --defaults treats all alike" if plain else ""
            yield f"Settings for this graph: {listed(tuned)}{others}."
        else:
            yield "Every method has its defaults, which nobody tuned for this graph; `pcnet tune` may change the order."
        if any(each.method == DEFAULT_METHOD and each.experiment.source for each in self.trained):
            yield "The published settings of PCNet were chosen by its authors by test scores."
        if len(self.trained) > 1:
            yield OPTIMISTIC


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def _titles(standings: Sequence[Standing]) -> str:
    return listed([each.trained.title for each in standings])
