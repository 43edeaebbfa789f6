"""A strategy that learns: trials that did well have children, many at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pcnet.tune._space import Space, Values
from pcnet.tune._strategies import Halving, Job, RandomSearch, Results, next_jobs

#: A parent is the best of this many.
TOURNAMENT = 3
#: Of a generation, the share that are parents of the next, and one of how many is drawn from the space instead.
PARENTS, FRESH = 0.25, 8
#: How often a child that was a trial before is changed further.
TRIES = 50


@dataclass(frozen=True)
class Evolution(RandomSearch):
    """Generations of `batch` trials, each a function of the seed and of what the ones before it came to.

    1. Generation 0 is drawn from the space, as by a random search.
    2. A generation is trained under successive halving; the next one begins when all of it is known.
    3. All trials so far are ranked: those on more splits first, then by mean validation gain, loss and number.
       A quarter as many as a generation has, the best ones, are parents.
    4. A parent is the best of three that are drawn among them; a child has two, and of each the value on about half
       of the axes (uniform crossover).
    5. On each axis, with a chance of one in their number, it has another value: a neighbour where they have an order,
       any other of a list (`Axis.near`).
    6. One in eight is not bred but drawn from the space, so that nothing is ever out of reach.
    7. A child that was a trial before is changed further, until it was none or there is hardly another.
    """

    batch: int

    @property
    def generations(self) -> Iterator[range]:
        """The numbers of their trials."""
        for first in range(0, self.trials, self.batch):
            yield range(first, min(first + self.batch, self.trials))

    @property
    def runs(self) -> int:
        return sum(self._halving(generation).runs for generation in self.generations)

    def jobs(self, results: Results, held: Collection[int]) -> list[Job]:
        for generation in self.generations:
            # Kept as a whole before any of it is trained.
            kept = generation[0] in results.values
            values = results.values if kept else self._bred(results, generation)
            if jobs := next_jobs(generation, self._halving(generation).rungs, results, values.__getitem__):
                return jobs
        return []

    def _halving(self, generation: Sequence[int]) -> Halving:
        return Halving(self.space, self.seed, len(generation), self.splits)

    def _bred(self, results: Results, generation: range) -> dict[int, Values]:
        """The trials of a generation, all before it being known."""
        earlier, splits = range(generation[0]), [splits for _, splits in self._halving(generation).rungs]
        parents = [results.values[trial] for trial in ranked(results, splits, earlier)]
        parents = parents[: max(2, round(PARENTS * self.batch))]
        bred: dict[int, Values] = {}
        known = {tuple(results.values[trial].values()) for trial in earlier}
        for trial in generation:
            random = np.random.default_rng([self.seed, trial, 1])
            drawn = not parents or trial % FRESH == 0
            values = self.space.draw(self.seed, trial) if drawn else child(self.space, parents, random)
            bred[trial] = values = renewed(self.space, values, known, random)
            known.add(tuple(values.values()))
        return bred


def ranked(results: Results, splits: Sequence[int], among: Sequence[int]) -> list[int]:
    """Trials by how many of the `splits` they came to, then by what they gained on them: best first."""
    furthest = (standing.trial for count in sorted(splits, reverse=True) for standing in results.ranking(count, among))
    return list(dict.fromkeys(furthest))


def child(space: Space, parents: Sequence[Values], random: np.random.Generator) -> Values:
    """A mixture of two of the parents, which are ordered, the best first, and about one value that is new."""
    one, other = _tournament(parents, random), _tournament(parents, random)
    mixed = {name: (one if random.random() < 0.5 else other)[name] for name in space.axes}
    return mutated(space, mixed, random)


def child_of_any(
    spaces: Mapping[str, Space], parents: Sequence[Values], known: Collection[Values], random: np.random.Generator
) -> Values:
    """A child of one of the parents, each of which names a method, and of those with the same method; none that is
    `known`."""
    method = _tournament(parents, random)["method"]
    space, before = spaces[method], [each for each in known if each["method"] == method]
    values = child(space, [each for each in parents if each["method"] == method], random)
    return {
        "method": method,
        **renewed(space, values, {tuple(each[name] for name in values) for each in before}, random),
    }


def renewed(space: Space, values: Values, known: Collection[tuple[Any, ...]], random: np.random.Generator) -> Values:
    """The values, changed further until they are not `known`, or there is hardly another."""
    for _ in range(TRIES):
        if tuple(values.values()) not in known:
            break
        values = mutated(space, values, random)
    return values


def _tournament(parents: Sequence[Values], random: np.random.Generator) -> Values:
    """The best of a few that are drawn."""
    return parents[int(random.integers(len(parents), size=TOURNAMENT).min())]


def mutated(space: Space, values: Values, random: np.random.Generator) -> Values:
    """The values, each with a chance of one in their number of being another one."""
    chance = 1 / len(space.axes)
    return {
        name: axis.near(values[name], random) if random.random() < chance else values[name]
        for name, axis in space.axes.items()
    }
