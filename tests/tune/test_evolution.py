"""Generations: a function of the seed and of what is known, better from one to the next."""

from __future__ import annotations

import numpy as np
import pytest
from stored_search import known, scores, values

from pcnet.training import _division
from pcnet.tune import DEFAULTS, Results, Score, Search, Space, published_space, tune
from pcnet.tune._evolution import Evolution, child, ranked
from pcnet.tune._strategies import RandomSearch
from pcnet.tune._worker import Worker

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")

SPACE = published_space()


def quality(drawn: dict, space: Space = SPACE) -> float:
    """1 where every value is the third of its axis, less for each place that one is away from it."""
    away = [abs(axis.values.index(drawn[name]) - 2) / len(axis.values) for name, axis in space.axes.items()]
    return 1 - float(np.mean(away))


def finished(search: RandomSearch, order: int = 0, at_a_time: int = 10**6) -> tuple[Results, int]:
    """A search in which every run scores by `quality` and some noise, in any order, and the number of its runs."""
    random, results, runs = np.random.default_rng(order), Results(), 0
    while jobs := search.jobs(results, ()):
        results.values |= {job.trial: job.values for job in jobs}
        for job in [jobs[place] for place in random.permutation(len(jobs))[:at_a_time]]:
            for split in job.splits:
                noise = np.random.default_rng([job.trial, split]).normal(0, 0.01)
                results.scores[job.trial][split] = Score(quality(job.values) + noise, 1.0, 1)
                runs += 1
    return results, runs


def test_it_begins_as_a_random_search():
    search = Evolution(SPACE, 3, 40, 2, 16)
    assert [job.values for job in search.jobs(Results(), ())] == RandomSearch(SPACE, 3, 16, 2).drawn
    assert [list(generation) for generation in search.generations] == [
        [*range(16)],
        [*range(16, 32)],
        [*range(32, 40)],
    ]


def test_no_order_of_the_work_changes_the_trials():
    search = Evolution(SPACE, 0, 60, 4, 16)
    whole, runs = finished(search)
    parts, again = finished(search, order=1, at_a_time=3)
    assert parts.values == whole.values
    assert runs == again == search.runs == whole.runs
    assert finished(Evolution(SPACE, 1, 60, 4, 16))[0].values != whole.values


def test_it_learns():
    """With as many runs as a random search that finds nothing near it, whatever the seed."""
    for seed in range(5):
        search = Evolution(SPACE, seed, 200, 3, 32)
        results, runs = finished(search)
        drawn = RandomSearch(SPACE, seed, runs // 3, 3).drawn
        chosen = results.values[results.ranking(3)[0].trial]
        assert quality(chosen) > max(map(quality, drawn)) + 0.02
        first, last = (np.mean([quality(results.values[trial]) for trial in part]) for part in _ends(search))
        assert last > first + 0.1


def _ends(search: Evolution) -> tuple[range, range]:
    first, *_, last = search.generations
    return first, last


def test_no_trial_comes_twice():
    space = Space.from_json({"K": [2, 3, 4, 5], "t": {"from": 0, "to": 1, "step": 0.1}}, "f")
    search = Evolution(space, 0, 32, 1, 8)
    results = Results()
    while jobs := search.jobs(results, ()):
        results.values |= {job.trial: job.values for job in jobs}
        results.scores |= {job.trial: {0: Score(quality(job.values, space), 1.0, 1)} for job in jobs}
    assert len({tuple(each.values()) for each in results.values.values()}) == 32


def test_a_trial_that_came_further_is_ahead():
    def scored(*gains: float) -> dict[int, Score]:
        return {split: Score(gain, 1.0, 1) for split, gain in enumerate(gains)}

    results = Results({}, {0: scored(0.9), 1: scored(0.5, 0.5, 0.5), 2: scored(0.8), 3: scored(0.6, 0.6, 0.6)})
    assert ranked(results, [1, 3], range(4)) == [3, 1, 0, 2]
    assert ranked(results, [1, 3], range(3)) == [1, 0, 2]


def test_a_child_is_like_its_parents_but_for_about_one_value():
    random = np.random.default_rng(0)
    parents = [SPACE.draw(0, 0), SPACE.draw(0, 1)]
    children = [child(SPACE, parents, random) for _ in range(500)]
    new = [sum(each[name] not in (parents[0][name], parents[1][name]) for name in each) for each in children]
    assert 0.5 < np.mean(new) < 1.0, "another value may be that of the other parent, or beyond an end"
    # The better one is the best of three twice as often as not.
    different = [name for name in SPACE.axes if parents[0][name] != parents[1][name]]
    of_first = np.mean([[each[name] == parents[0][name] for name in different] for each in children])
    assert 0.75 < of_first < 0.92


@pytest.mark.parametrize(
    ("described", "value", "furthest"),
    [([1, 2, 3, 8], 2, 6), ({"from": 0, "to": 2, "step": 0.1}, 1.0, 1.0), ({"from": 0, "to": 1}, 0.5, 0.5)],
)
def test_near_a_value(described, value, furthest):
    [axis] = Space.from_json({"N" if isinstance(value, int) else "t": described}, "f").axes.values()
    random = np.random.default_rng(0)
    near = np.array([axis.near(value, random) for _ in range(400)])
    assert value not in near
    assert axis.between or {*near.tolist()} <= {*axis.values}
    away = np.abs(near - value)
    assert away.max() <= furthest
    assert near.min() < value < near.max()
    if axis.step or axis.between:
        assert away.mean() < 0.2 * (axis.values[-1] - axis.values[0])


def test_near_a_value_on_a_logarithmic_axis_and_where_there_is_no_other():
    [rates] = Space.from_json({"lr": {"from": 1e-4, "to": 1.0, "scale": "log"}}, "f").axes.values()
    random = np.random.default_rng(0)
    near = np.log10([rates.near(0.01, random) for _ in range(400)])
    assert near.mean() == pytest.approx(-2, abs=0.1)
    assert near.std() == pytest.approx(0.15 * 4, abs=0.1)
    [one] = Space.from_json({"K": [3, 3]}, "f").axes.values()
    assert one.near(3, random) == 3


@pytest.fixture
def asked(experiment, space) -> Search:
    return Search(experiment, space, trials=14, strategy="evolve", batch=6, shared=True)


def test_an_interrupted_search_has_the_trials_it_would_have_had(graph, asked, tmp_path, monkeypatch):
    monkeypatch.setattr(_division, "HOST_RUNS", 4)
    tune(graph, asked, tmp_path / "whole", threads=1)
    assert sorted(values(tmp_path / "whole")) == [DEFAULTS, *range(14)]
    assert len(scores(tmp_path / "whole")) == asked.runs
    trained, calls = Worker._train, 0

    def interrupted(*arguments):
        nonlocal calls
        calls += 1
        if calls % 2:
            raise KeyboardInterrupt
        trained(*arguments)

    monkeypatch.setattr(Worker, "_train", interrupted)
    while True:
        try:
            tune(graph, asked, tmp_path / "broken", threads=1)
            break
        except KeyboardInterrupt:
            continue
    assert calls > 6
    assert known(tmp_path / "broken") == known(tmp_path / "whole")
