"""A registry finds by name in any case, and its refusals say what to do."""

from __future__ import annotations

import pytest

from pcnet._checks import Registry
from pcnet.errors import PcnetError


@pytest.fixture
def colours() -> Registry[int]:
    registry = Registry[int]("colour")
    registry.add("red", 1)
    registry.add("Green", 2)
    return registry


def test_found_in_any_case_and_in_order(colours):
    assert (colours.named("RED"), colours.named("green")) == (1, 2)
    assert list(colours) == ["red", "green"]
    assert dict(colours) == {"red": 1, "green": 2}


def test_an_unknown_name_is_answered_with_the_known_ones(colours):
    with pytest.raises(PcnetError, match=r"There is no colour 'gren'; choose from red, green\..*green"):
        colours.named("gren")


def test_a_name_is_taken_once(colours):
    with pytest.raises(PcnetError, match="There is a colour 'GREEN' already"):
        colours.add("GREEN", 3)
