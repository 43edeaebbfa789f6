"""Methods trained on the same splits of a graph, and what is kept of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pcnet.compare import Comparison, Metric, Summary
from pcnet.data import Split
from pcnet.experiment._experiment import Experiment
from pcnet.experiment._runner import Result, ratios_of
from pcnet.graph import Graph


@dataclass(frozen=True)
class Trained:
    """What is kept of a method's runs, all of it by the metric that methods are compared by."""

    method: str
    experiment: Experiment
    test: Summary
    val: Summary
    epochs: tuple[int, ...]
    seconds: float
    #: The day and the machine.
    made: Mapping[str, str]

    @staticmethod
    def of(method: str, result: Result, made: Mapping[str, str]) -> Trained:
        """Of a finished experiment."""
        metric = result.experiment.metric
        epochs = tuple(outcome.epochs for outcome in result.outcomes)
        return Trained(method, result.experiment, result.test[metric], result.val[metric], epochs, result.seconds, made)

    @property
    def score(self) -> float:
        """What is shown of the method, and what orders methods."""
        return self.test.mean

    @property
    def interval(self) -> tuple[float, float] | None:
        """None where a single run says nothing about it."""
        return self.test.ci95 if self.test.nodes or len(self.test.per_run) > 1 else None

    @property
    def title(self) -> str:
        """The method, as its authors write it."""
        return self.experiment.title

    @property
    def metric(self) -> Metric:
        """What it is scored by."""
        return self.experiment.scored_by

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for a file."""
        return {
            "method": self.method,
            "title": self.title,
            "settings": {**self.experiment.settings, "source": self.experiment.source},
            "score": self.score,
            "interval": self.interval and list(self.interval),
            "basis": {"nodes": self.test.nodes, "unlabelled": self.test.unlabelled},
            # What else an estimate knows is for `pcnet train` to show.
            "test": Summary.as_dict(self.test),
            "val": self.val.as_dict(),
            "epochs": list(self.epochs),
            "seconds": self.seconds,
            **self.made,
        }

    @staticmethod
    def from_dict(experiment: Experiment, kept: Mapping[str, Any]) -> Trained:
        """What `as_dict` made of the runs of this experiment."""
        test, val = (
            Summary(part["mean"], tuple(part["ci95"]), part["std"], tuple(part["per_run"]))
            for part in (kept["test"], kept["val"])
        )
        made = {key: kept[key] for key in ("date", "machine")}
        test = replace(test, **kept["basis"])
        return Trained(kept["method"], experiment, test, val, tuple(kept["epochs"]), kept["seconds"], made)


@dataclass(frozen=True, eq=False)
class Compared:
    """Methods trained on the same splits of a graph; those that could not be, by title with the reason."""

    graph: Graph
    splits: Sequence[Split]
    trained: Sequence[Trained]
    left_out: Mapping[str, str]

    @property
    def metric(self) -> Metric:
        """What all are scored by."""
        return self.trained[0].metric

    @cached_property
    def numbers(self) -> Comparison:
        """Who is best, ranks and intervals."""
        scores = {each.method: each.test for each in self.trained}
        return Comparison(scores, self.metric, ratios_of(self.splits))

    @cached_property
    def by_method(self) -> dict[str, Trained]:
        """Best first."""
        known = {each.method: each for each in self.trained}
        return {method: known[method] for method in self.numbers.order}
