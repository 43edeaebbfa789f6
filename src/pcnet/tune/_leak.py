"""What choosing by test scores would have pretended to gain: measured in a file that the search does not open."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from pcnet.compare import Metric, summarise
from pcnet.data import Split
from pcnet.errors import PcnetError
from pcnet.tune._store import Database
from pcnet.tune._strategies import Score

TABLE = "CREATE TABLE scores (trial INTEGER, split INTEGER, score REAL NOT NULL, PRIMARY KEY (trial, split))"


class ScoresOnTest(Database):
    """The test score of every run, in a file that the search does not open.

    As the worker's observer it is shown logits and gives nothing back: with it or without it, the search takes the
    same steps and makes the same choice.
    """

    def __init__(self, splits: Sequence[Split], metric: Metric, folder: Path) -> None:
        super().__init__(folder / "test-scores.sqlite", TABLE)
        self._metric = metric
        self._tests = [(split.test, split.labels[split.test]) for split in splits]
        self._seen: list[tuple[int, int, float]] = []

    def see(self, trial: int, split: int, score: Score, logits: Tensor) -> None:
        """A run is trained."""
        nodes, labels = self._tests[split]
        self._seen.append((trial, split, self._metric.score(logits[nodes], labels)))

    def commit(self) -> None:
        """Write down what was seen. Of two that tell of the same run, the first counts."""
        with self.transaction():
            self.write("INSERT OR IGNORE INTO scores VALUES (?, ?, ?)", self._seen)
        self._seen = []

    def leak(self, chosen: Sequence[int], shared: bool) -> dict[str, Any]:
        """What each split has by validation, against the same choice made by test scores.

        A `shared` choice is of one trial among those that were trained on all splits.
        """
        rows = self.read("SELECT trial, split, score FROM scores ORDER BY trial, split")
        scores = {(trial, split): score for trial, split, score in rows}
        splits, sign = range(len(self._tests)), self._metric.sign
        on = [[trial for trial, of in scores if of == split] for split in splits]
        missing = [trial for split, trial in enumerate(chosen) if trial not in on[split]]
        if missing:
            raise PcnetError(f"{self.path} lacks the chosen trial {missing[0]}; search again with --leak.")
        complete = [trial for trial in on[0] if all(trial in own for own in on)]

        def worse(trial: int, among: Sequence[int]) -> tuple[float, int]:
            return -sign * math.fsum(scores[trial, split] for split in among), trial

        if shared:
            best = [min(complete, key=lambda trial: worse(trial, splits))] * len(splits)
        else:
            best = [min(on[split], key=lambda trial: worse(trial, [split])) for split in splits]
        by_validation, by_test = (
            summarise([scores[trial, split] for split, trial in enumerate(trials)]) for trials in (chosen, best)
        )
        return {
            "trials": len(complete if shared else on[0]),
            "validation_selected": {"trial": chosen[0] if shared else [*chosen], **by_validation.as_dict()},
            "test_selected": {"trial": best[0] if shared else best, **by_test.as_dict()},
            "gap": sign * (by_test.mean - by_validation.mean),
        }
