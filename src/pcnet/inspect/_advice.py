"""Plain sentences for someone who knows no graph networks, each with the figures that it follows from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from pcnet.compare import Metric
from pcnet.inspect._classes import Classes, Homophily
from pcnet.inspect._features import Features
from pcnet.inspect._links import Links
from pcnet.inspect._methods import Pattern, Suggestion, measured, pattern_of, suggestions
from pcnet.inspect._probe import Gain, Probe
from pcnet.inspect._tried import Estimate, Tried
from pcnet.inspect._warnings import warnings_of

#: Whether something adds to the rest: clearly, too little to matter if at all, or the splits do not settle it.
Worth = Literal["adds", "little", "open"]
Verdict = Literal["both", "graph", "features", "either", "open", "nothing", "unknown"]
#: Points of ROC-AUC above a guess that are next to nothing.
NO_SIGNAL = 5.0


@dataclass(frozen=True)
class Advice:
    """What to do (`sentences`), what to look out for (`warnings`), and what to try, best first (`methods`).

    `pattern` is what links say about classes, `verdict` which of features and links are worth using: "both", the
    "graph" or the "features" where the other adds nothing that matters, "either" where neither does, "open" where the
    splits do not settle it. Without two labelled classes there is nothing to try.
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


def advise(
    links: Links,
    classes: Classes,
    homophily: Homophily,
    features: Features,
    probe: Probe | None,
    *,
    metric: Metric,
    untrainable: str = "",
) -> Advice:
    """Advice on a graph from everything that was measured; `untrainable` says why nothing can be trained on it."""
    pattern, warnings = pattern_of(homophily), tuple(warnings_of(links, classes, features, metric))
    if untrainable:
        return Advice(pattern, "unknown", (untrainable,), warnings, ())
    probe = None if probe is None or not probe.tried else probe
    verdict = verdict_of(probe)
    sentences = [*_on_worth(verdict, probe, classes), _on_pattern(pattern, homophily, probe is not None)]
    methods = [] if probe is None else measured(probe)
    if not methods:
        methods = suggestions(pattern, features, plain=verdict in ("features", "either") or links.edges == 0)
    return Advice(pattern, verdict, tuple(filter(None, sentences)), warnings, tuple(methods))


def verdict_of(probe: Probe | None) -> Verdict:
    """Which of features and links to use."""
    if probe is None:
        return "unknown"
    if probe.signal is not None:
        return "nothing" if probe.signal.high < NO_SIGNAL else "open"
    if "features" not in probe.ways or probe.ways == ["features"]:
        return "features" if probe.ways == ["features"] else "graph"
    verdicts: dict[tuple[Worth, Worth], Verdict] = {
        ("adds", "adds"): "both",
        ("adds", "little"): "graph",
        ("little", "adds"): "features",
        ("little", "little"): "either",
    }
    return verdicts.get((worth(probe, probe.links_add), worth(probe, probe.features_add)), "open")


def worth(probe: Probe, gain: Gain | None) -> Worth:
    """What the interval of a gain leaves possible."""
    if gain is None:
        return "open"
    if gain.by.high < probe.matters:
        return "little"
    return "adds" if gain.by.low > 0 else "open"


def _on_worth(verdict: Verdict, probe: Probe | None, classes: Classes) -> list[str]:
    if probe is None:
        return []
    best = probe.ranked[0]
    if probe.signal is not None:
        return [_on_signal(verdict, probe, probe.signal, best, classes)]
    if verdict in ("features", "graph") and probe.links_add is None:
        only = "features" if verdict == "features" else "links"
        return [f"Only the {only} can be learned from; {best.name} is {probe.said(probe.over_guess.by)} above a guess."]
    return [_on_links(probe, probe.links_add), _on_features(probe, probe.features_add)]


def _on_signal(verdict: Verdict, probe: Probe, signal: Estimate, best: Tried, classes: Classes) -> str:
    low, high = 50 + signal.low, 50 + signal.high
    auc = f"ROC-AUC of the best is {50 + signal.mean:.1f} [{low:.1f}, {high:.1f}] where a guess has 50"
    if verdict == "nothing":
        return (
            f"Nothing that was tried predicts the classes: {auc}. Check that the labels belong to these nodes, and "
            "look for features that have to do with them."
        )
    over = f"{best.name} is {probe.said(probe.over_guess.by)} above always saying '{classes.majority}'"
    if signal.low > 0:
        return (
            f"By {probe.metric.title} nothing is clearly better than a guess ({over}), but something is known: {auc}."
        )
    return (
        f"Nothing that was tried is clearly better than a guess: {over}, and {auc}. {classes.labelled:,} labels do not "
        "settle it; more of them would, or features that have more to do with the classes."
    )


def _on_links(probe: Probe, gain: Gain | None) -> str:
    if gain is None:
        return ""
    found = f"{gain.best.name} is {probe.said(gain.by)} beside {gain.over.name}"
    if worth(probe, gain) == "adds":
        return f"The links add to what the features say: {found}."
    if worth(probe, gain) == "little":
        return (
            f"The links add nothing that matters to what the features say: {found}. A model without the graph "
            f"({gain.over.name}) is simpler and as good."
        )
    return f"Whether the links add to what the features say, {gain.splits} splits do not settle: {found}."


def _on_features(probe: Probe, gain: Gain | None) -> str:
    if gain is None:
        return ""
    alone = probe.features_alone
    found = f"{gain.best.name} is {probe.said(gain.by)} beside {gain.over.name}"
    if worth(probe, gain) == "adds":
        useless = alone is not None and alone.by.low <= 0
        start = "Alone the features are not clearly better than a guess, but they" if useless else "The features"
        return f"{start} add to what the links say: {found}."
    if worth(probe, gain) == "little":
        return f"The features add nothing that matters to what the links say: {found}. A model can do without them."
    return f"Whether the features add to what the links say, {gain.splits} splits do not settle: {found}."


def _on_pattern(pattern: Pattern, homophily: Homophily, tried: bool) -> str:
    """What the links say about the classes; what usually follows from it, where nothing was tried."""
    if pattern == "unknown":
        return ""
    if pattern == "alike":
        found = (
            f"Linked nodes tend to be of one class ({_percent(homophily.edge)} of the links; adjusted homophily "
            f"{homophily.adjusted:.2f}): the classes are smooth over the graph."
        )
        usual = "Methods that average over neighbours (low frequencies) usually suit that."
    elif pattern == "patterned":
        found = (
            f"Only {_percent(homophily.edge)} of the links join nodes of one class, but which classes meet follows a "
            f"pattern (label informativeness {homophily.label_informativeness:.2f})."
        )
        usual = "Averaging over neighbours usually blurs that; methods that can also sharpen differences keep it."
    else:
        found = (
            f"A neighbour's class says next to nothing about a node's own (label informativeness "
            f"{homophily.label_informativeness:.2f}, adjusted homophily {homophily.adjusted:.2f})."
        )
        usual = "Compare methods with mlp, which ignores the links."
    return found if tried else f"{found} {usual}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"
