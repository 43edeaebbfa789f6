"""Average ranks: ties, missing figures, and SciPy's ranking."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pcnet import PcnetError
from pcnet.compare import average_ranks


@st.composite
def tables(draw, missing: bool = False):
    """Methods × datasets; few different values, so that ties are common."""
    methods, datasets = draw(st.integers(1, 8)), draw(st.integers(1, 6))
    value = st.integers(0, 5).map(float)
    cell = value | st.none() if missing else value
    rows = draw(st.lists(st.lists(cell, min_size=datasets, max_size=datasets), min_size=methods, max_size=methods))
    return {f"method {i}": row for i, row in enumerate(rows)}


@given(tables())
def test_against_scipy(table):
    theirs = scipy.stats.rankdata(-np.array(list(table.values())), axis=0).mean(axis=1)
    assert list(average_ranks(table).values()) == pytest.approx(theirs)


@given(tables(missing=True))
def test_missing_is_worse_than_any_figure(table):
    """As if the method had scored below all others; and places are handed out once each."""
    seen = [column for column in zip(*table.values(), strict=True) if any(mean is not None for mean in column)]
    if not seen:
        with pytest.raises(PcnetError, match="at least one dataset"):
            average_ranks(table)
        return
    ranks = average_ranks(table)
    bottom = {
        method: [-1.0 if column[place] is None else column[place] for column in seen]
        for place, method in enumerate(table)
    }
    assert ranks == average_ranks(bottom)
    assert sum(ranks.values()) == pytest.approx(len(table) * (len(table) + 1) / 2)


def test_by_hand():
    table = {"a": [90.0, 50.0, None], "b": [80.0, 50.0, 70.0], "c": [80.0, None, None], "d": [70.0, 40.0, 60.0]}
    # 1, 1½, 3½; 2½, 1½, 1; 2½, 4, 3½; 4, 3, 2.
    assert average_ranks(table) == pytest.approx({"a": 2.0, "b": 5 / 3, "c": 10 / 3, "d": 3.0})


def test_a_dataset_that_nobody_has_changes_nothing():
    assert average_ranks({"a": [2.0, None], "b": [1.0, None]}) == {"a": 1.0, "b": 2.0}


@pytest.mark.parametrize("table", [{}, {"a": [1.0], "b": [1.0, 2.0]}])
def test_a_table_has_rows_of_one_length(table):
    with pytest.raises(PcnetError, match="one or more methods"):
        average_ranks(table)


@pytest.mark.parametrize("mean", [float("nan"), float("inf"), float("-inf")])
def test_numbers_are_finite(mean):
    with pytest.raises(PcnetError, match="no finite number"):
        average_ranks({"a": [1.0], "b": [mean]})
