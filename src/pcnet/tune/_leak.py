"""How much better a search looks that may choose by test scores."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from pcnet.compare import Metric, summarise
from pcnet.data import Split
from pcnet.errors import PcnetError
from pcnet.tune._database import Database

FILE = "test-scores.sqlite"
TABLE = "CREATE TABLE scores (trial INTEGER, split INTEGER, score REAL NOT NULL, PRIMARY KEY (trial, split))"


class TestScores(Database):
    """The test score of every run, in a file that the search does not open.

    As the worker's observer it is shown logits and gives nothing back: with it or without it, the search takes the
    same steps and makes the same choice.
    """

    __test__ = False  # To pytest, this name looks like a test.

    def __init__(self, splits: Sequence[Split], metric: Metric, folder: Path) -> None:
        super().__init__(folder / FILE, TABLE)
        self._metric = metric
        self._tests = [(split.test, split.labels[split.test]) for split in splits]
        self._seen: list[tuple[int, int, float]] = []

    def see(self, trial: int, split: int, logits: Tensor) -> None:
        """A run is trained."""
        nodes, labels = self._tests[split]
        self._seen.append((trial, split, self._metric.score(logits[nodes], labels)))

    def commit(self) -> None:
        """Write down what was seen. Of two that tell of the same run, the first counts."""
        with self.transaction():
            self.write("INSERT OR IGNORE INTO scores VALUES (?, ?, ?)", self._seen)
        self._seen = []

    def leak(self, chosen: int) -> dict[str, Any]:
        """Of the trials that were trained on all splits, the one validation chose against the best on test nodes."""
        scores: dict[int, list[float]] = defaultdict(list)
        for trial, score in self.read("SELECT trial, score FROM scores ORDER BY trial, split"):
            scores[trial].append(score)
        summaries = {trial: summarise(each) for trial, each in scores.items() if len(each) == len(self._tests)}
        if chosen not in summaries:
            raise PcnetError(f"{self.path} lacks the chosen trial {chosen}; search again with --leak.")
        sign = self._metric.sign
        best = min(summaries, key=lambda trial: (-sign * math.fsum(summaries[trial].per_run), trial))
        return {
            "trials": len(summaries),
            "validation_selected": {"trial": chosen, **summaries[chosen].as_dict()},
            "test_selected": {"trial": best, **summaries[best].as_dict()},
            "gap": sign * (summaries[best].mean - summaries[chosen].mean),
        }
