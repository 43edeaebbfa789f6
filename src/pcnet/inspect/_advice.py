"""Plain sentences for someone who knows no graph networks, each with the figures that it follows from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from pcnet.compare import Metric
from pcnet.inspect._measures import Classes, Features, Homophily, Links
from pcnet.inspect._methods import WHAT, Pattern, Suggestion, pattern_of, suggestions
from pcnet.inspect._probe import Estimate, Gain, Probe
from pcnet.inspect._warnings import warnings_of

#: Whether something adds to the rest: clearly, too little to matter if at all, or the splits do not settle it.
Worth = Literal["adds", "little", "open"]
Verdict = Literal["both", "graph", "features", "either", "open", "nothing", "unknown"]
VERDICTS: dict[tuple[Worth, Worth], Verdict] = {
    ("adds", "adds"): "both",
    ("adds", "little"): "graph",
    ("little", "adds"): "features",
    ("little", "little"): "either",
}
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
    probe = None if probe is None or not probe.attempts else probe
    verdict = verdict_of(probe)
    sentences = [] if probe is None else _on_worth(verdict, probe, classes)
    sentences += _on_pattern(pattern, homophily, probe is not None)
    methods = [] if probe is None else _best_of(probe)
    if not methods:
        methods = suggestions(pattern, features, plain=verdict in ("features", "either") or links.edges == 0)
    return Advice(pattern, verdict, tuple(sentences), warnings, tuple(methods))


def verdict_of(probe: Probe | None) -> Verdict:
    """Which of features and links to use."""
    if probe is None:
        return "unknown"
    if probe.signal is not None:
        return "nothing" if probe.signal.high < NO_SIGNAL else "open"
    if probe.links_add is None or probe.features_add is None:
        only_features = probe.ways == ["features"]
        return "features" if only_features else "open" if "features" in probe.ways else "graph"
    return VERDICTS.get((_worth(probe, probe.links_add), _worth(probe, probe.features_add)), "open")


def _worth(probe: Probe, gain: Gain) -> Worth:
    """What the interval of a gain leaves possible."""
    if gain.by.high < probe.matters:
        return "little"
    return "adds" if gain.by.low > 0 else "open"


def _best_of(probe: Probe) -> list[Suggestion]:
    """What did best in a probe, and what is not clearly worse than that, with the figures; nothing on a sample."""
    named = [each for each in probe.ranked if each.method and each.splits == probe.splits]
    found = []
    for each in named:
        figures = f"{probe.metric.title} {probe.number(each.score.mean)} {probe.interval(each.score)}"
        behind = probe.difference(each, named[0])
        if each is not named[0]:
            if behind.high < 0:
                continue
            figures += f", {probe.points(behind)} against the first"
        found.append(Suggestion(each.method, f"{figures}; {WHAT[each.method]}", each.settings))
    return found


def _on_worth(verdict: Verdict, probe: Probe, classes: Classes) -> list[str]:
    """What features and links are worth."""
    best, alone, sentences = probe.ranked[0], probe.features_alone, []
    if probe.signal is not None:
        return [_on_signal(verdict, probe, probe.signal, classes)]
    if verdict in ("features", "graph") and probe.links_add is None:
        only = "features" if verdict == "features" else "links"
        above = probe.points(probe.over_guess.by)
        return [f"Only the {only} can be learned from; {best.name} is {above} above a guess."]
    if probe.links_add is not None:
        without = f"A model without the graph ({probe.links_add.over.name}) is simpler and as good."
        sentences.append(_on_gain(probe, probe.links_add, "The links", "features", without))
    if probe.features_add is not None:
        useless = alone is not None and alone.by.low <= 0
        start = "Alone the features are not clearly better than a guess, but they" if useless else "The features"
        without = "A model can do without them."
        sentences.append(_on_gain(probe, probe.features_add, "The features", "links", without, start))
    return sentences


def _on_gain(probe: Probe, gain: Gain, part: str, rest: str, without: str, start: str = "") -> str:
    """Whether a part adds to the rest; `without` is what follows where it does not, `start` begins where it does."""
    found = f"{gain.best.name} is {probe.points(gain.by)} against {gain.over.name}"
    worth = _worth(probe, gain)
    if worth == "adds":
        return f"{start or part} add to what the {rest} say: {found}."
    if worth == "little":
        return f"{part} add nothing that matters to what the {rest} say: {found}. {without}"
    return f"Whether {part.lower()} add to what the {rest} say, {gain.splits} splits do not settle: {found}."


def _on_signal(verdict: Verdict, probe: Probe, signal: Estimate, classes: Classes) -> str:
    """What is known where nothing is clearly better than a guess."""
    mean, low, high = (50 + value for value in signal)
    auc = f"ROC-AUC of the best is {mean:.1f} [{low:.1f}, {high:.1f}] where a guess has 50"
    if verdict == "nothing":
        return (
            f"Nothing that was tried predicts the classes: {auc}. Check that the labels belong to these nodes, and "
            "look for features that have to do with them."
        )
    above = probe.points(probe.over_guess.by)
    over = f"{probe.ranked[0].name} is {above} above always saying '{classes.majority}'"
    if signal.low > 0:
        return (
            f"By {probe.metric.title} nothing is clearly better than a guess ({over}), but something is known: {auc}."
        )
    return (
        f"Nothing that was tried is clearly better than a guess: {over}, and {auc}. {classes.labelled:,} labels do not "
        "settle it; more of them would, or features that have more to do with the classes."
    )


def _on_pattern(pattern: Pattern, homophily: Homophily, tried: bool) -> list[str]:
    """What the links say about the classes; what usually follows from it, where nothing was tried."""
    if pattern == "unknown":
        return []
    share = "–" if homophily.edge is None else f"{100 * homophily.edge:.0f} %"
    if pattern == "alike":
        found = (
            f"Linked nodes tend to be of one class ({share} of the links; adjusted homophily "
            f"{homophily.adjusted:.2f}): the classes are smooth over the graph."
        )
        usual = "Methods that average over neighbours (low frequencies) usually suit that."
    elif pattern == "patterned":
        found = (
            f"Only {share} of the links join nodes of one class, but which classes meet follows a "
            f"pattern (label informativeness {homophily.label_informativeness:.2f})."
        )
        usual = "Averaging over neighbours usually blurs that; methods that can also sharpen differences keep it."
    else:
        found = (
            f"A neighbour's class says next to nothing about a node's own (label informativeness "
            f"{homophily.label_informativeness:.2f}, adjusted homophily {homophily.adjusted:.2f})."
        )
        usual = "Compare methods with mlp, which ignores the links."
    return [found if tried else f"{found} {usual}"]
