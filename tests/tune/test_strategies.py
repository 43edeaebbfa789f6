"""Who is trained on what, and who is best."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pcnet import PcnetError
from pcnet.experiment import resolve
from pcnet.tune import DEFAULTS, Results, Score, Search, Space, Standing
from pcnet.tune._strategies import GridSearch, Halving, RandomSearch

SPACE = Space.from_json({"t": {"from": 0, "to": 1}}, "space.json")


def known(scores: dict[int, dict[int, Score]]) -> Results:
    return Results({trial: {} for trial in scores}, scores)


def scored(*accuracies: float, loss: float = 1.0) -> dict[int, Score]:
    gains = [accuracy if math.isfinite(loss) else -math.inf for accuracy in accuracies]
    return {split: Score(gain, loss, 5) for split, gain in enumerate(gains)}


def test_ranking():
    results = known(
        {
            0: scored(0.5, 0.7),
            1: scored(0.9, 0.9, loss=math.inf),
            2: scored(0.7, 0.5, loss=0.9),
            3: scored(0.8, 0.8, loss=9.0),
            4: scored(0.7, 0.5),
            5: scored(1.0),
            6: scored(0.0, 0.0),
            7: {0: Score(1.0, 0.1, 5), 1: Score(-math.inf, math.inf, 2)},
        }
    )
    ranking = results.ranking(2)
    # 2 has the lower loss of three with equal accuracy; 5 lacks a split; 1 and 7 diverged somewhere.
    assert [standing.trial for standing in ranking] == [3, 2, 0, 4, 6, 1, 7]
    assert ranking[0] == Standing(3, 0.8, 9.0)
    assert [standing.gain for standing in ranking[-2:]] == [-math.inf, -math.inf]
    assert results.runs == 15


def test_the_order_of_splits_makes_no_difference():
    # 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 when it is rounded on the way.
    results = known({0: scored(0.3, 0.2, 0.1), 1: scored(0.1, 0.2, 0.3), 2: scored(0.2, 0.1, 0.3)})
    assert [standing.trial for standing in results.ranking(3)] == [0, 1, 2]
    assert len({standing.gain for standing in results.ranking(3)}) == 1


def test_random_search_asks_for_what_is_missing():
    search = RandomSearch(SPACE, 0, 4, 2)
    assert search.runs == 8
    jobs = search.jobs(known({1: scored(0.5, 0.5), 2: scored(0.5)}), [])
    assert [(job.trial, job.splits) for job in jobs] == [(0, (0, 1)), (2, (0, 1)), (3, (0, 1))]
    assert [job.values for job in jobs] == [SPACE.draw(0, trial) for trial in (0, 2, 3)]
    assert search.jobs(known({trial: scored(0.1, 0.1) for trial in range(4)}), []) == []


@pytest.mark.parametrize(
    ("trials", "splits", "rungs"),
    [
        (1000, 10, [(1000, 1), (334, 3), (112, 10)]),
        (30, 10, [(30, 1), (10, 3), (4, 10)]),
        (7, 1, [(7, 1)]),
        (7, 2, [(7, 1), (3, 2)]),
        (7, 4, [(7, 1), (3, 4)]),
        (9, 5, [(9, 1), (3, 3), (1, 5)]),
        (1, 10, [(1, 1), (1, 3), (1, 10)]),
    ],
)
def test_rungs(trials, splits, rungs):
    assert Halving(SPACE, 0, trials, splits).rungs == rungs


@settings(max_examples=40)
@given(st.integers(1, 40), st.integers(1, 12), st.integers(0, 10**6), st.integers(1, 9))
def test_halving_against_a_simulation(trials, splits, seed, at_a_time):
    """Few scores, so that ties are common; results come in any order and in any portions."""
    random = np.random.default_rng(seed)
    truth = [
        {split: Score(float(random.integers(4)) / 4, float(random.integers(3)), 1) for split in range(splits)}
        for _ in range(trials)
    ]
    search, results = Halving(SPACE, seed, trials, splits), Results()
    trained: list[tuple[int, int]] = []
    while jobs := search.jobs(results, []):
        portion = [jobs[place] for place in random.permutation(len(jobs))[:at_a_time]]
        for job in portion:
            trained += [(job.trial, split) for split in job.splits]
            results.scores[job.trial] |= {split: truth[job.trial][split] for split in job.splits}

    expected, survivors, done = [], list(range(trials)), 0
    for count, upto in search.rungs:

        def standing(trial, seen=done):
            scores = [truth[trial][split] for split in range(seen)]
            return -sum(s.gain for s in scores), sum(s.loss for s in scores), trial

        survivors = sorted(survivors, key=standing)[:count]
        expected += [(trial, split) for trial in survivors for split in range(done, upto)]
        done = upto
    assert len(trained) == len(set(trained)) == search.runs
    assert {*trained} == {*expected}
    # The winner of halving is the best of those who were trained on everything.
    assert results.ranking(splits)[0].trial == min(survivors, key=lambda trial: standing(trial, splits))


def test_the_defaults_are_tried_first_and_once():
    search = Search(resolve("citeseer", runs=3), SPACE, trials=2)
    assert search.runs == 9
    assert [(job.trial, job.splits) for job in search.jobs(Results(), [])] == [
        (DEFAULTS, (0, 1, 2)),
        (0, (0, 1, 2)),
        (1, (0, 1, 2)),
    ]
    assert [job.trial for job in search.jobs(known({DEFAULTS: scored(0.5, 0.5, 0.5)}), [])] == [0, 1]
    assert [job.trial for job in search.jobs(known({DEFAULTS: scored(0.5, 0.5)}), [])] == [DEFAULTS, 0, 1]


def test_a_grid_search_tries_every_point_once():
    space = Space.from_json({"t": [0.0, 0.5, 1.0], "K": [2, 3]}, "f")
    grid = GridSearch(space, 0, 6, 2)
    assert space.size == 6
    assert [(job.values["t"], job.values["K"]) for job in grid.jobs(Results(), ())] == [
        (0.0, 2), (0.0, 3), (0.5, 2), (0.5, 3), (1.0, 2), (1.0, 3)
    ]  # fmt: skip
    assert all(job.splits == (0, 1) for job in grid.jobs(Results(), ()))


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ({"t": {"from": 0, "to": 1}}, "infinitely many points"),
        ({"t": {"from": 0, "to": 2, "step": 1e-4}}, "20,001 points"),
    ],
)
def test_a_grid_must_be_small(axes, words):
    experiment = resolve("citeseer", preset="table2")
    with pytest.raises(PcnetError, match=words):
        Search(experiment, Space.from_json(axes, "f"), strategy="grid")
