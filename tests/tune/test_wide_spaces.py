"""The space that every registered method has: what `auto` draws from, and `--space wide` searches."""

from __future__ import annotations

from dataclasses import fields
from numbers import Real
from typing import Any

import pytest
from torch import nn

import pcnet
from pcnet.experiment import method_file
from pcnet.nn import METHODS
from pcnet.tune import Axis, Space, space_of
from pcnet.tune._space import settings_of, value_of

pytestmark = pytest.mark.filterwarnings("ignore::pcnet.PcnetWarning")

#: Filters that can be learned by orthonormal weights.
FILTERS = [name for name in METHODS if "FilterBasis" in {each.type for each in fields(METHODS[name])}]


@pytest.mark.parametrize("method", METHODS)
def test_every_draw_makes_a_model(method):
    """Every value by itself, and values that were drawn together."""
    defaults = method_file(method).defaults
    base, space = (defaults.model, defaults.training), space_of(method, "wide")
    space.check(base)
    for trial in range(25):
        model, training = settings_of(space.draw(0, trial), base)
        training.check_groups(model.groups)
        model.build(3, 2)


def has(axis: Axis, value: Any) -> bool:
    """Whether a value is one of an axis; a number may be as far beyond the ends as three times as much, or a third."""
    numbers = [each for each in axis.values if isinstance(each, Real) and not isinstance(each, bool)]
    if not numbers or not isinstance(value, Real) or isinstance(value, bool):
        return value in axis.values
    low, high = min(numbers), max(numbers)
    return low <= value <= high or any(end > 0 and end / 3 <= value <= 3 * end for end in (low, high))


@pytest.mark.parametrize("method", METHODS)
def test_defaults_and_the_grid_lie_inside_or_near(method):
    file, space = method_file(method), space_of(method, "wide")
    base = (file.defaults.model, file.defaults.training)
    grid = Space.from_json(dict(file.grid), method, file.kind) if file.grid else Space({})
    for name, axis in space.axes.items():
        assert has(axis, value_of(name, base)), name
        for value in grid.axes[name].values if name in grid.axes else ():
            assert has(axis, value), name


def test_filters_search_both_ways_to_learn_them():
    assert sorted(FILTERS) == ["bernnet", "chebnetii", "evennet", "gprgnn", "pcnet"]
    for method in FILTERS:
        assert space_of(method, "wide").axes["basis"].values == ("plain", "orthonormal")


def test_an_axis_of_its_own_counts_instead_of_a_shared_one():
    shared, own = space_of("gcn", "wide").axes, space_of("mixhop", "wide").axes
    assert (shared["lr"].values, own["lr"].values) == ((0.001, 0.05), (0.05, 1.0))
    # Rates of groups take the place of one for all.
    assert {name for name in own if name.startswith("wd")} == {"wd.conv", "wd.mix"}


def test_a_method_of_ones_own_has_one():
    class Mine(nn.Module):
        def __init__(self, in_channels: int, out_channels: int, hidden: int = 32, slope: float = 0.1) -> None: ...

        def forward(self, x, edge_index): ...

    pcnet.method("mine")(Mine)
    try:
        assert {*space_of("mine", "wide").axes} == {"hidden", "lr", "wd"}
    finally:
        METHODS.remove("mine")
