"""What may mislead in a graph, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from pcnet.compare import Metric
from pcnet.inspect._measures import Classes, Features, Links

#: A class is rare when another has ten times its labels; labels are few below twenty for each class.
UNBALANCED, FEW = 10, 20
#: A class with fewer labels has next to no test nodes.
TINY = 10


def warnings_of(links: Links, classes: Classes, features: Features, metric: Metric) -> list[str]:
    """What may mislead, in sentences; `metric` is what scores."""
    return [*_on_labels(classes, metric), *_on_links(links), *_on_features(links, features)]


def _on_labels(classes: Classes, metric: Metric) -> list[str]:
    if classes.labelled == 0 or classes.majority_share is None:
        return ["No node has a label; nothing can be trained before some have."]
    found = []
    present = [(count, name) for count, name in zip(classes.counts, classes.names, strict=True) if count]
    small = [name for count, name in present if count < TINY]
    if len(present) < 2:
        found.append(f"All labelled nodes are of the class '{classes.majority}'; there is nothing to distinguish.")
    elif classes.majority_share >= 0.8 or max(present)[0] >= UNBALANCED * min(present)[0]:
        found.append(
            f"The classes are unbalanced: '{classes.majority}' has {100 * classes.majority_share:.0f} % of the labels, "
            f"'{min(present)[1]}' {min(present)[0]:,} of {classes.labelled:,}. {_remedy(metric)}"
        )
    if small and len(present) > 1:
        what = f"{'classes' if len(small) > 1 else 'class'} {_listed(small)}"
        found.append(f"Fewer than ten labels in the {what}: scores there are accidents.")
    if classes.labelled < FEW * len(present):
        found.append(
            f"{classes.labelled:,} labels for {len(present)} classes are few: expect wide intervals, and label more "
            "nodes before you tune anything."
        )
    return found


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


def _on_links(links: Links) -> list[str]:
    found = []
    if links.edges == 0:
        return ["There are no links: this is a table, not a graph."]
    if links.isolated:
        found.append(
            f"Nodes without links: {links.isolated:,} of {links.nodes:,} ({100 * links.isolated / links.nodes:.1f} %); "
            "only their features can say anything about them."
        )
    if links.duplicates:
        found.append(f"Edges that repeat another: {links.duplicates:,}; without weights, each counts once.")
    if links.reciprocal is not None and links.reciprocal < 1:
        found.append(
            f"The edges have a direction ({100 * links.reciprocal:.0f} % are listed both ways); most methods here use "
            "every edge in both."
        )
    return found


def _on_features(links: Links, features: Features) -> list[str]:
    found = []
    if features.structural:
        found.append("The features were computed from the links, since the nodes have none of their own.")
    elif features.constant:
        named = f" ({_listed(features.constant_names)})" if features.constant_names else ""
        found.append(
            f"Features that are the same for all nodes: {features.constant:,} of {features.count:,}{named}; drop them."
        )
    if features.empty:
        found.append(
            f"Nodes whose features are all zero: {features.empty:,} of {links.nodes:,}; only their links can say "
            "anything about them."
        )
    return found


def _listed(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
