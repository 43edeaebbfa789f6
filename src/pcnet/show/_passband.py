"""What a learned filter does, in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pcnet._checks import FloatArray
from pcnet.errors import PcnetError

Kind = Literal["identity", "smooth", "rough", "middle", "ends", "nothing"]

#: Differences between thirds below this share of the largest gain are called none.
MARGIN = 0.2
#: What differs by no more than this is said with reserve.
MILD = 0.5

_SAYS: dict[Kind, str] = {
    "identity": "is almost the identity: it passes all frequencies alike, so that a node's own features decide "
    "more than its neighbours.",
    "smooth": "keeps the smooth part: what neighbours have in common comes through, and differences between them "
    "are damped. That suits graphs whose links join nodes of one class.",
    "rough": "sharpens differences: what sets a node apart from its neighbours comes through, and what they have in "
    "common is damped. That suits graphs whose links join nodes of different classes.",
    "middle": "is a band: the middle frequencies come through, and both what neighbours have in common and what "
    "sets them most apart is damped.",
    "ends": "keeps both ends: what neighbours have in common and what sets them most apart comes through, and the "
    "middle is damped. Links that agree and links that differ regularly are both used.",
    "nothing": "passes nothing: its response is zero at every frequency of the graph.",
}


@dataclass(frozen=True)
class Passband:
    """The gain over the smoothest, the middle and the roughest third of the frequencies, and its kind.

    Gains are relative to the largest of the three, which is 1; a negative one turns signs round in comparison.
    """

    kind: Kind
    gains: tuple[float, float, float]

    @property
    def sentence(self) -> str:
        """What the filter does, and the numbers behind it."""
        if self.kind == "nothing":
            return f"It {_SAYS[self.kind]}"
        mild = self.kind != "identity" and max(self.gains) - min(self.gains) <= MILD
        low, middle, high = (f"{100 * gain:.0f}\u00a0%".replace("-", "−") for gain in self.gains)
        numbers = (
            f"Its mean gain is {low} on the smoothest third of the graph's frequencies, {middle} on the middle third "
            f"and {high} on the roughest third, relative to the largest of the three."
        )
        turned = " A negative gain turns the sign round." if min(self.gains) < 0 else ""
        return f"{'To some degree it' if mild else 'It'} {_SAYS[self.kind]} {numbers}{turned}"


def describe_response(lam: FloatArray, response: FloatArray, density: FloatArray) -> Passband:
    """The kind of a filter g from its mean over each third of the eigenvalues, weighted by their density.

    ḡ_i = 3 ∫ g(λ) ρ(λ) dλ over the i-th third of the mass of ρ, smallest λ first; all are divided by the one that is
    largest in size, since a layer before or after can absorb a factor. With a margin of 0.2: all within it, "identity";
    the middle above both others, "middle", or below both, "ends"; else by the larger of the outer two "smooth" or
    "rough". Without any gain, "nothing".
    """
    order = np.argsort(lam)
    lam, response, density = lam[order], response[order], density[order]
    mass = density * np.gradient(lam)
    if not mass.sum() > 0:
        raise PcnetError("The density of the eigenvalues is zero everywhere; give the points where it is not.")
    upper = np.cumsum(mass) / mass.sum()
    lower = np.concatenate([[0.0], upper[:-1]])
    means = [float(response @ (np.clip(3 * upper - i, 0, 1) - np.clip(3 * lower - i, 0, 1))) for i in range(3)]
    largest = max(means, key=abs)
    if abs(largest) <= 1e-9 * max(1.0, float(np.abs(response).max())):
        return Passband("nothing", (0.0, 0.0, 0.0))
    low, middle, high = (mean / largest for mean in means)
    if max(low, middle, high) - min(low, middle, high) <= MARGIN:
        kind: Kind = "identity"
    elif middle > max(low, high) + MARGIN:
        kind = "middle"
    elif middle < min(low, high) - MARGIN:
        kind = "ends"
    else:
        kind = "smooth" if low > high else "rough"
    return Passband(kind, (low, middle, high))
