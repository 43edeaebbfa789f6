"""Whether a published figure came out again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from pcnet._checks import whole_number
from pcnet.compare._summary import Summary
from pcnet.errors import PcnetError

Word = Literal["reproduced", "above", "below", "not reproducible"]

#: Points of accuracy that are called the same figure however narrow the intervals are.
TOLERANCE = 1.5
#: Published figures have two digits: a difference is known no better than this.
ROUNDING = 0.005


@dataclass(frozen=True)
class Verdict:
    """The word, and the numbers of the rule that gave it: `difference` is ours − published, in points.

    `allowed` is how far apart the two may be, `reason` why a figure cannot be reproduced at all, or nothing.
    """

    word: Word
    difference: float
    allowed: float
    reason: str = ""


def verdict(ours: Summary, mean: float, half_width: float, *, not_reproducible: str = "") -> Verdict:
    """|ours − published| ≤ max(1.5, √(h₁² + h₂²)) is "reproduced"; else ours is "above" or "below".

    h₁ and h₂ are the half-widths of the two 95 % intervals, ours the larger half where it is skew. √(h₁² + h₂²) is that
    of the difference of two independent means: where nothing differs, a difference beyond it has a chance of 5 %.
    Intervals that still touch may be h₁ + h₂ apart, a chance of 0.6 % when they are equally wide, and would call more
    the same than 95 % intervals should. Half a unit of the published second digit is forgiven.

    A sentence in `not_reproducible` says why the figure cannot be had again, and is the verdict whatever the numbers.

    >>> from pcnet.compare import summarise
    >>> verdict(summarise([80.0, 81.0, 82.0]), 82.0, 0.5).word
    'reproduced'
    """
    if not (math.isfinite(mean) and math.isfinite(half_width) and half_width >= 0):
        raise PcnetError(
            f"A published figure must be a mean and a half-width of at least 0, not {mean} ± {half_width}."
        )
    difference = ours.mean - mean
    allowed = max(TOLERANCE, math.hypot(ours.half_width, half_width))
    if not_reproducible:
        return Verdict("not reproducible", difference, allowed, not_reproducible)
    if abs(difference) <= allowed + ROUNDING:
        return Verdict("reproduced", difference, allowed)
    return Verdict("above" if difference > 0 else "below", difference, allowed)


def half_width_of(std: float, runs: int) -> float:
    """1.96 · std / √runs: half of the 95 % interval of a mean over `runs` runs with this standard deviation."""
    if not (math.isfinite(std) and std >= 0):
        raise PcnetError(f"A standard deviation must be at least 0, not {std}.")
    return 1.96 * std / math.sqrt(whole_number("runs", runs, least=1))
