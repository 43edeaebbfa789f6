"""How much better a search looks that may choose by test scores."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from torch import Tensor

from pcnet.compare import Metric, Summary, summarise
from pcnet.data import Split
from pcnet.errors import PcnetError
from pcnet.tune._journal import Journal
from pcnet.tune._store import Store

FILE = "test-scores.jsonl"


class TestScores:
    """The test score of every run, in a file that the search does not open.

    As the search's observer it is shown logits and gives nothing back: with it or without it, the search takes the
    same steps and makes the same choice.
    """

    __test__ = False  # To pytest, this name looks like a test.

    def __init__(self, splits: Sequence[Split], metric: Metric, store: Store) -> None:
        self._metric = metric
        self._tests = [(split.test, split.labels[split.test]) for split in splits]
        self._store, self._journal = store, Journal(store.folder / FILE)
        self._seen: list[dict[str, Any]] = []

    def see(self, trial: int, split: int, logits: Tensor) -> None:
        nodes, labels = self._tests[split]
        self._seen.append({"trial": trial, "split": split, "score": self._metric.score(logits[nodes], labels)})

    def commit(self) -> None:
        with self._store.lock:
            self._journal.append(self._seen)
        self._seen = []

    def summaries(self) -> dict[int, Summary]:
        """Of the trials that were trained on all splits. Of two lines about the same run the first counts."""
        scores: dict[int, dict[int, float]] = defaultdict(dict)
        for line in self._journal.refresh():
            # Files from before there were other metrics call it accuracy.
            scores[line["trial"]].setdefault(line["split"], line["score"] if "score" in line else line["accuracy"])
        every = range(len(self._tests))
        return {
            trial: summarise([of_split[split] for split in every])
            for trial, of_split in scores.items()
            if len(of_split) == len(every)
        }

    def leak(self, chosen: int) -> dict[str, Any]:
        """The trial that validation chose beside the one that looks best on test nodes."""
        summaries = self.summaries()
        if chosen not in summaries:
            raise PcnetError(f"{self._journal.path} does not hold the chosen trial {chosen}; search again with --leak.")
        sign = self._metric.sign
        best = min(summaries, key=lambda trial: (-sign * math.fsum(summaries[trial].per_run), trial))
        return {
            "trials": len(summaries),
            "validation_selected": {"trial": chosen, **summaries[chosen].as_dict()},
            "test_selected": {"trial": best, **summaries[best].as_dict()},
            "gap": sign * (summaries[best].mean - summaries[chosen].mean),
        }
