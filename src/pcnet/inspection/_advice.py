"""Plain sentences for someone who knows no graph networks, by rules that stand here."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from pcnet.inspection._classes import Classes, Homophily
from pcnet.inspection._features import Features
from pcnet.inspection._links import Links
from pcnet.inspection._methods import Pattern, Suggestion, pattern_of, suggestions
from pcnet.inspection._probe import GUESS, POINTS, Probe
from pcnet.inspection._warnings import warnings_of

Verdict = Literal["both", "graph", "features", "either", "nothing", "unknown"]


@dataclass(frozen=True)
class Advice:
    """What to do (`sentences`), what to look out for (`warnings`), and what to try, best first (`methods`).

    `pattern` is what links say about classes, `verdict` which of features and links are worth using.
    """

    pattern: Pattern
    verdict: Verdict
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    methods: tuple[Suggestion, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "pattern": self.pattern,
            "verdict": self.verdict,
            "advice": list(self.sentences),
            "warnings": list(self.warnings),
            "methods": [{**asdict(each), "settings": list(each.settings)} for each in self.methods],
        }


def advise(links: Links, classes: Classes, homophily: Homophily, features: Features, probe: Probe | None) -> Advice:
    """Advice on a graph from everything that was measured."""
    pattern = pattern_of(homophily)
    verdict = verdict_of(probe)
    sentences = [_on_worth(verdict, probe, classes), _on_pattern(pattern, homophily)]
    return Advice(
        pattern,
        verdict,
        tuple(sentence for sentence in sentences if sentence),
        tuple(warnings_of(links, classes, features)),
        tuple(suggestions(pattern, features, plain=verdict in ("features", "either"))),
    )


def verdict_of(probe: Probe | None) -> Verdict:
    """Which of features and links to use: each counts if adding it, or taking it instead, is a clear gain.

    Features must also be better than a guess by themselves: noise is of use to a filter as so many names of nodes.
    """
    if probe is None or not probe.ways:
        return "unknown"
    if not any(probe.gain(way, GUESS) for way in probe.ways):
        return "nothing"
    if "features" not in probe.ways:
        return "graph"
    if "graph" not in probe.ways:
        return "features"
    links = probe.gain("both", "features") or probe.gain("graph", "features")
    features = (probe.gain("both", "graph") or probe.gain("features", "graph")) and probe.gain("features", GUESS)
    if links and features:
        return "both"
    return "graph" if links else "features" if features else "either"


def _on_worth(verdict: Verdict, probe: Probe | None, classes: Classes) -> str:
    if verdict == "unknown" or probe is None:
        return ""
    if verdict == "nothing":
        best = max(probe.ways, key=lambda way: probe.difference(way, GUESS))
        if probe.difference(best, GUESS) >= POINTS:
            return (
                f"Even the best of these beats always saying '{classes.majority}' by no more than chance allows "
                f"({_unclear(probe, best, GUESS)}). Look for features that have more to do with the classes."
            )
        return (
            f"Nothing here predicts the classes better than always saying '{classes.majority}'. Check that the labels "
            "belong to these nodes, and look for features that have to do with them."
        )
    if probe.missing:
        only = "links" if verdict == "graph" else "features"
        return f"Only the {only} can be learned from, and they do predict the classes better than a guess."
    if verdict == "both":
        over_features = probe.gain("both", "features") or probe.gain("graph", "features")
        over_links = probe.gain("both", "graph") or probe.gain("features", "graph")
        return (
            f"Use the links and the features together: the links add {over_features:.1f} points to what the features "
            f"say, the features {over_links:.1f} to what the links say."
        )
    if verdict == "graph":
        return (
            "The links carry the classes: the features add nothing clear to them "
            f"({_unclear(probe, 'both', 'graph')}). Use the graph; do not spend time on these features."
        )
    if verdict == "features":
        return (
            "The features carry the classes: the links add nothing clear to them "
            f"({_unclear(probe, 'both', 'features')}). A model without the graph (mlp) is simpler; keep the graph only "
            "if another method makes more of it."
        )
    return (
        "Features and links predict the classes equally well, and together not clearly better than the features alone "
        f"({_unclear(probe, 'both', 'features')}). The simplest model (mlp) will do; links help where features lack."
    )


def _on_pattern(pattern: Pattern, homophily: Homophily) -> str:
    if pattern == "unknown":
        return ""
    if pattern == "alike":
        return (
            f"Linked nodes tend to be of one class ({_percent(homophily.edge)} of the links; adjusted homophily "
            f"{homophily.adjusted:.2f}): the classes are smooth over the graph. Methods that average over neighbours "
            "(low frequencies) suit it, and pcnet finds that out by itself."
        )
    if pattern == "patterned":
        return (
            f"Only {_percent(homophily.edge)} of the links join nodes of one class, but which classes meet follows a "
            f"pattern (label informativeness {homophily.label_informativeness:.2f}). Averaging over neighbours (gcn) "
            "blurs that; take methods that can also sharpen differences (high frequencies), such as pcnet."
        )
    return (
        f"A neighbour's class says next to nothing about a node's own (label informativeness "
        f"{homophily.label_informativeness:.2f}, adjusted homophily {homophily.adjusted:.2f}). Do not trust methods "
        "that only average over neighbours; always compare with mlp."
    )


def _unclear(probe: Probe, way: str, other: str) -> str:
    """By how much one way is better than another, which is a loss or may be an accident."""
    points = f"{probe.difference(way, other):+.1f} points"
    if probe.gain(other, way):
        return points
    return f"{points}, which {probe.splits} splits cannot tell from chance; more of them might"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"
