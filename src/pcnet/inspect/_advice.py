"""Plain sentences for someone who knows no graph networks, each with the figures that it follows from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import torch

from pcnet.compare import Metric
from pcnet.graph import Graph, Homophily, Links, Neighbours
from pcnet.inspect._measures import Classes, Features
from pcnet.inspect._probe import Estimate, Gain, Probe

#: Whether something adds to the rest: clearly, too little to matter if at all, or the splits do not settle it.
Worth = Literal["adds", "little", "open"]
Pattern = Literal["alike", "patterned", "silent", "unknown"]
Verdict = Literal["both", "graph", "features", "either", "open", "nothing", "unknown"]
#: By what the links add, and the features.
VERDICTS: dict[tuple[Worth, Worth], Verdict] = {
    ("adds", "adds"): "both",
    ("adds", "little"): "graph",
    ("little", "adds"): "features",
    ("little", "little"): "either",
}
#: Points of ROC-AUC above a guess that are next to nothing.
NO_SIGNAL = 5.0
#: What the links say about the classes, and what usually follows from it.
PATTERNS: dict[Pattern, tuple[str, str]] = {
    "alike": (
        "Linked nodes tend to be of one class ({share} of the links; adjusted homophily {adjusted:.2f}): the classes "
        "are smooth over the graph.",
        "Methods that average over neighbours (low frequencies) usually suit that.",
    ),
    "patterned": (
        "Only {share} of the links join nodes of one class, but which classes meet follows a pattern (label "
        "informativeness {label_informativeness:.2f}).",
        "Averaging over neighbours usually blurs that; methods that can also sharpen differences keep it.",
    ),
    "silent": (
        "A neighbour's class says next to nothing about a node's own (label informativeness "
        "{label_informativeness:.2f}, adjusted homophily {adjusted:.2f}).",
        "Compare methods with mlp, which ignores the links.",
    ),
}
#: A class is rare when another has ten times its labels; labels are few below twenty for each class; a class with
#: fewer than ten has next to no test nodes.
UNBALANCED, FEW, TINY = 10, 20, 10
#: Linked nodes are alike from this adjusted homophily on: Cora has 0.77, Amazon's ratings 0.14, chance 0.
ALIKE = 0.2
#: A neighbour's class is informative from this label informativeness on: Texas has 0.19, Actor 0.00.
INFORMATIVE = 0.05
#: What each method does.
WHAT: Mapping[str, str] = {
    "pcnet": "learns which frequencies of the graph to keep",
    "gcn": "averages over neighbours",
    "mlp": "ignores the links",
    "acmgcn": "lets each node keep, average or sharpen",
    "linkx": "learns from whom a node is linked to",
    "h2gcn": "keeps a node, its neighbours and theirs separate",
}


@dataclass(frozen=True)
class Suggestion:
    """A method to try, why, and the settings (`--set`) that suit the graph better than its defaults."""

    method: str
    why: str
    settings: tuple[str, ...] = ()


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
    metric: Metric,
    untrainable: str = "",
) -> Advice:
    """Advice on a graph from everything that was measured; `untrainable` says why nothing can be trained on it."""
    pattern, warnings = pattern_of(homophily), tuple(warnings_of(links, classes, features, metric))
    if untrainable:
        return Advice(pattern, "unknown", (untrainable,), warnings, ())
    verdict: Verdict = "unknown"
    sentences, methods = list[str](), list[Suggestion]()
    if probe is not None and probe.attempts:
        verdict, sentences, methods = verdict_of(probe), _on_worth(probe, classes), _best_of(probe)
    if pattern in PATTERNS:
        share = "–" if homophily.edge is None else f"{100 * homophily.edge:.0f} %"
        found, usual = PATTERNS[pattern]
        # What usually follows is of no interest where it was tried.
        sentences.append((found if verdict != "unknown" else f"{found} {usual}").format(share=share, **vars(homophily)))
    if not methods:
        methods = suggestions(pattern, features, plain=verdict in ("features", "either") or links.edges == 0)
    return Advice(pattern, verdict, tuple(sentences), warnings, tuple(methods))


def verdict_of(probe: Probe) -> Verdict:
    """Which of features and links to use."""
    if probe.signal is not None:
        return "nothing" if probe.signal.high < NO_SIGNAL else "open"
    if probe.links_add is None or probe.features_add is None:
        return "features" if probe.ways == ["features"] else "open" if "features" in probe.ways else "graph"
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
        if behind.high < 0:
            continue
        if each is not named[0]:
            figures += f", {probe.points(behind)} against the first"
        found.append(Suggestion(each.method, f"{figures}; {WHAT[each.method]}", each.settings))
    return found


def _on_worth(probe: Probe, classes: Classes) -> list[str]:
    """What features and links are worth."""
    best, alone = probe.ranked[0], probe.features_alone
    if probe.signal is not None:
        return [_on_signal(probe, probe.signal, classes)]
    if probe.links_add is None:
        only = "features" if probe.ways == ["features"] else "links"
        return [
            f"Only the {only} can be learned from; {best.name} is {probe.points(probe.over_guess.by)} above a guess."
        ]
    without = f"A model without the graph ({probe.links_add.over.name}) is simpler and as good."
    sentences = [_on_gain(probe, probe.links_add, "The links", "features", without)]
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


def _on_signal(probe: Probe, signal: Estimate, classes: Classes) -> str:
    """What is known where nothing is clearly better than a guess."""
    mean, low, high = (50 + value for value in signal)
    auc = f"ROC-AUC of the best is {mean:.1f} [{low:.1f}, {high:.1f}] where a guess has 50"
    above = probe.points(probe.over_guess.by)
    over = f"{probe.ranked[0].name} is {above} above always saying '{classes.majority}'"
    if signal.high < NO_SIGNAL:
        return (
            f"Nothing that was tried predicts the classes: {auc}. Check that the labels belong to these nodes, and "
            "look for features that have to do with them."
        )
    if signal.low > 0:
        return (
            f"By {probe.metric.title} nothing is clearly better than a guess ({over}), but something is known: {auc}."
        )
    return (
        f"Nothing that was tried is clearly better than a guess: {over}, and {auc}. {classes.labelled:,} labels do not "
        "settle it; more of them would, or features that have more to do with the classes."
    )


def warnings_of(links: Links, classes: Classes, features: Features, metric: Metric) -> Iterator[str]:
    """What may mislead in a graph, in sentences; `metric` is what scores."""
    yield from _on_labels(classes, metric)
    if links.edges == 0:
        yield "There are no links: this is a table, not a graph."
    elif links.isolated:
        yield (
            f"Nodes without links: {links.isolated:,} of {links.nodes:,} ({100 * links.isolated / links.nodes:.1f} %); "
            "only their features can say anything about them."
        )
    if links.edges and links.duplicates:
        yield f"Edges that repeat another: {links.duplicates:,}; without weights, each counts once."
    if links.reciprocal is not None and links.reciprocal < 1:
        yield (
            f"The edges have a direction ({100 * links.reciprocal:.0f} % are listed both ways); most methods here use "
            "every edge in both."
        )
    if features.structural:
        yield "The features were computed from the links, since the nodes have none of their own."
    elif features.constant:
        named = f" ({_listed(features.constant_names)})" if features.constant_names else ""
        same = f"{features.constant:,} of {features.count:,}{named}"
        yield f"Features that are the same for all nodes: {same}; drop them."
    if features.empty:
        yield (
            f"Nodes whose features are all zero: {features.empty:,} of {links.nodes:,}; only their links can say "
            "anything about them."
        )


def _on_labels(classes: Classes, metric: Metric) -> Iterator[str]:
    if classes.majority_share is None:
        yield "No node has a label; nothing can be trained before some have."
        return
    present = [(count, name) for count, name in zip(classes.counts, classes.names, strict=True) if count]
    small = [name for count, name in present if count < TINY]
    if len(present) < 2:
        yield f"All labelled nodes are of the class '{classes.majority}'; there is nothing to distinguish."
    elif classes.majority_share >= 0.8 or max(present)[0] >= UNBALANCED * min(present)[0]:
        yield (
            f"The classes are unbalanced: '{classes.majority}' has {100 * classes.majority_share:.0f} % of the labels, "
            f"'{min(present)[1]}' {min(present)[0]:,} of {classes.labelled:,}. {_remedy(metric)}"
        )
    if small and len(present) > 1:
        what = f"{'classes' if len(small) > 1 else 'class'} {_listed(small)}"
        yield f"Fewer than ten labels in the {what}: scores there are accidents."
    if classes.labelled < FEW * len(present):
        yield (
            f"{classes.labelled:,} labels for {len(present)} classes are few: expect wide intervals, and label more "
            "nodes before you tune anything."
        )


def _remedy(metric: Metric) -> str:
    """What to do about unbalanced classes when this metric scores."""
    if metric.name in ("balanced_accuracy", "macro_f1"):
        return "--set class_weight=balanced trains with all of them alike, too."
    if metric.ranks:
        return (
            f"{metric.title} is blind to that, but the answers are not: for those look at balanced accuracy, and try "
            "--set class_weight=balanced."
        )
    return (
        f"{metric.title.capitalize()} hardly sees the small ones: --metric macro_f1 or "
        "balanced_accuracy does, and --set class_weight=balanced trains with all of them alike."
    )


def _listed(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def pattern_of(homophily: Homophily) -> Pattern:
    """What a link says about the classes of its ends: they are alike, differ in a regular way, or nothing."""
    if homophily.adjusted is None or homophily.label_informativeness is None:
        return "unknown"
    if homophily.adjusted >= ALIKE:
        return "alike"
    return "patterned" if homophily.label_informativeness >= INFORMATIVE else "silent"


def suggestions(pattern: Pattern, features: Features, *, plain: bool = False) -> list[Suggestion]:
    """mlp, gcn and pcnet always, and where neighbours are not alike two methods made for that; mlp first if `plain`."""
    alike = pattern in ("alike", "unknown")
    chosen = ["pcnet", "gcn", "mlp"] if alike else ["pcnet", "acmgcn", "linkx", "mlp", "gcn"]
    if plain:
        chosen.sort(key=lambda method: method != "mlp")
    return [Suggestion(method, WHAT[method], tuned_for(method, features)) for method in chosen]


def tuned_for(method: str, features: Features) -> tuple[str, ...]:
    """Settings that suit a graph better than the defaults do, as far as its features say.

    PCNet's published model is linear before its filter: enough for many sparse columns, but not for few numbers.
    """
    return ("activation=relu",) if method == "pcnet" and features.dense else ()


def suggested_methods(graph: Graph, known: torch.Tensor | None = None) -> list[Suggestion]:
    """Methods to try on a graph, best first, without any training.

    `known` are the nodes whose labels may be looked at, all labelled ones by default: leave out those you test on.
    """
    if known is not None:
        hidden = torch.full_like(graph.y, -1)
        hidden[known] = graph.y[known]
        graph = replace(graph, y=hidden, published_y=None)
    homophily = Homophily.of(graph, Neighbours.of(graph))
    return suggestions(pattern_of(homophily), Features.of(graph))
