"""What `pcnet inspect` prints: one page, in words and small bars."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from pcnet.graph import MEASURES
from pcnet.inspect import FIRST, RESAMPLES, WAYS, Attempt, Inspection, Probe
from pcnet.show._plot import shortened
from pcnet.show._table import Cell, Table, soft

MARKS = "▁▂▃▄▅▆▇█"
EIGHTHS = " ▏▎▍▌▋▊▉"
#: Characters of the longest bar.
WIDTH = 24
#: Classes beyond are counted, not listed.
LISTED = 12
#: In narrower terminals scores have no bars.
ROOM_FOR_BARS = 78


def print_inspection(console: Console, found: Inspection, arguments: Sequence[str]) -> None:
    """The whole page; `arguments` are what the user calls the graph on the command line."""
    links, classes, features = found.links, found.classes, found.features
    counts = f"{links.nodes:,} nodes, {links.edges:,} edges, {features.count:,} features"
    console.print(Text.assemble((found.name, "bold"), f": {counts}, {len(classes.names)} classes"))
    dense = f"{100 * features.density:.3g} % of the values are not zero"
    columns = [
        ("columns", f"{features.count:,}; {'computed from the links' if features.structural else dense}"),
        ("constant", f"{features.constant:,} of {features.count:,} columns"),
        ("empty", f"{features.empty:,} of {links.nodes:,} nodes"),
    ]
    sections: list[tuple[str, RenderableType]] = [
        ("Links", _links(found)),
        ("Features", _grid(columns)),
        (f"Classes ({classes.labelled:,} nodes labelled, {classes.unlabelled:,} not)", _classes(found)),
        ("Homophily, self loops left out", _homophily(found)),
        ("Frequencies, smooth to rough", _frequencies(found)),
    ]
    if found.probe is not None:
        metric = found.probe.metric
        question = f"What predicts the classes? Test {metric.title}{' in percent' if metric.percent else ''}"
        sections.append((question, _probe(found.probe, console.width)))
    lists = {"Advice": found.advice.sentences, "Look out": found.advice.warnings, "Notes": soft(found.notes)}
    sections += [(title, _grid(("•", each) for each in lists[title])) for title in lists if lists[title]]
    for title, body in sections:
        console.print("", Text(title, style="bold cyan"), Padding(body, (0, 0, 0, 2)), sep="\n")
    if found.advice.methods:
        console.print("", Text("Try first", style="bold cyan"), sep="\n")
    for each in found.advice.methods:
        method = [] if each.method == "pcnet" else ["--method", each.method]
        settings = [word for setting in each.settings for word in ("--set", setting)]
        lines = command_lines(["pcnet", "train", *arguments, *method, *settings], console.width - 2)
        # Nothing may follow the backslash at the end of a line, so it is not filled up.
        console.print(Text("\n".join(f"  {line}" for line in lines)), soft_wrap=True)
        console.print(Padding(Text(each.why, style="dim"), (0, 0, 0, 6)))


def bar(share: float, width: int = WIDTH) -> Cell:
    """`share` of `width` characters, to the eighth of one; what is not zero shows."""
    eighths = round(8 * width * min(max(share, 0.0), 1.0))
    eighths = max(eighths, 1) if share > 0 else eighths
    return Cell("█" * (eighths // 8) + EIGHTHS[eighths % 8].strip(), "bar")


def sparkline(values: Sequence[float]) -> Cell:
    """One character for each value, as high as its share of the largest; what is zero is empty."""
    top = max(values, default=0.0)
    marks = (" " if value <= 0 else MARKS[min(len(MARKS) - 1, int(len(MARKS) * value / top))] for value in values)
    return Cell("".join(marks), "bar")


def command_lines(words: Sequence[str], width: int) -> list[str]:
    """A command as a shell reads it, on more lines where it is wider, an option together with its value."""
    parts: list[str] = []
    for word in map(shlex.quote, words):
        if parts and (parts[-1] == "pcnet" or (parts[-1].startswith("--") and " " not in parts[-1])):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) + 3 <= width:
            lines[-1] += f" {part}"
        else:
            lines[-1] += " \\"
            lines.append(f"    {part}")
    return lines


def _grid(rows: Iterable[Sequence[str]], columns: Sequence[str] = ("", "words")) -> RenderableType:
    """Rows without a head; only columns of these names hold words, the others hold numbers."""
    return Table("", columns, [*rows], words=("words", "bar"), headed=False).rich()


def _links(found: Inspection) -> RenderableType:
    links, degrees = found.links, found.links.degrees
    share = f", the largest with {100 * links.largest_component:.0f} % of the nodes" * (links.components > 1)
    count = len(degrees.histogram)
    bins = ["0", "1", *(f"{2**i}–{2 ** (i + 1) - 1}" for i in range(1, count))][:count]
    bins = bins if count <= 5 else [*bins[:4], "…", bins[-1]]
    facts = [
        ("degree", f"{degrees.min:,} to {degrees.max:,}, median {degrees.median:g}, mean {degrees.mean:.1f}"),
        ("", f"{sparkline(degrees.histogram)}  nodes with {' · '.join(bins)} neighbours"),
        ("components", f"{links.components:,}{share}"),
        ("isolated", f"{links.isolated:,} of {links.nodes:,} nodes"),
        ("self loops", f"{links.self_loops:,}"),
        ("duplicates", f"{links.duplicates:,}"),
    ]
    if links.reciprocal is not None:
        both = "none" if links.reciprocal == 1 else f"{100 * links.reciprocal:.0f} % listed both ways"
        facts.append(("direction", both))
    return _grid(facts)


def _classes(found: Inspection) -> RenderableType:
    classes = found.classes
    if not classes.labelled:
        return "No node has a label."
    ordered = sorted(zip(classes.counts, classes.names, strict=True), key=lambda pair: -pair[0])
    rows = [
        [shortened(name, 28), f"{count:,}", f"{100 * count / classes.labelled:.1f} %", bar(count / ordered[0][0])]
        for count, name in ordered[:LISTED]
    ]
    if len(ordered) > LISTED:
        rest = sum(count for count, _ in ordered[LISTED:])
        rows.append([f"{len(ordered) - LISTED} more", f"{rest:,}", f"{100 * rest / classes.labelled:.1f} %"])
    return _grid(rows, ("", "nodes", "share", "bar"))


def _homophily(found: Inspection) -> RenderableType:
    homophily, rows = found.homophily, []
    for name, (_, title, meaning) in MEASURES.items():
        value = getattr(homophily, name)
        shown = ["–", ""] if value is None else [f"{value:.3f}", bar(value, WIDTH // 2)]
        rows.append([title, *shown, Cell(homophily.undefined.get(name, meaning), "soft")])
    return _grid(rows, ("", "value", "bar", "words"))


def _frequencies(found: Inspection) -> RenderableType:
    frequencies = found.frequencies

    def row(name: str, density: np.ndarray, words: str) -> list[str]:
        # Two neighbouring points for a character; roots, since one peak would flatten all the rest.
        pairs = np.sqrt(density[: len(density) // 2 * 2].reshape(-1, 2).max(axis=1))
        return [name, sparkline(pairs.tolist()), Cell(words, "soft")]

    rows = [row("graph", frequencies.density, f"mean {frequencies.mean:.2f} of 2")]
    if frequencies.labels is None or frequencies.label_mean is None:
        rows.append(["classes", Cell(frequencies.undefined, "soft")])
    else:
        ratio = frequencies.label_mean / frequencies.mean if frequencies.mean > 0 else 1.0
        verdict = "smoother than chance" if ratio < 0.9 else "rougher than chance" if ratio > 1.1 else "as by chance"
        rows.append(row("classes", frequencies.labels, f"mean {frequencies.label_mean:.2f}: {verdict}"))
    return _grid(rows, ("", "bar", "words"))


def _probe(probe: Probe, width: int) -> RenderableType:
    """A row for everything that was tried, best first among what may look at the same."""
    if probe.skipped:
        return Text(f"Not tried: {probe.skipped}")
    rows = []
    for way, words in WAYS.items():
        if way in probe.missing:
            rows.append([words, Cell(probe.missing[way], "soft"), "–"])
        for place, each in enumerate(each for each in probe.ranked if each.way == way):
            rows.append(["" if place else words, *_tried(probe, each)])
    if probe.guess is not None:
        rows.append(soft(["a guess", *_tried(probe, probe.guess)]))
    columns = ["looks at", "method", "mean", "95 % interval", *([""] if width >= ROOM_FOR_BARS else [])]
    table = Table("", columns, [row[: len(columns)] for row in rows], words=("method", ""))
    return Group(table.rich(), *(Text(remark, style="dim") for remark in _remarks(probe)))


def _tried(probe: Probe, each: Attempt) -> list[str]:
    share = each.score.mean / 100 if probe.metric.percent else 0.0
    name = each.name + " *" * (each.splits < probe.splits)
    return [name, probe.number(each.score.mean), probe.interval(each.score), bar(share, WIDTH // 3)]


def _remarks(probe: Probe) -> list[str]:
    """What has to be known to read the table."""
    remarks = [
        f"{probe.splits} stratified splits 60/20/20, every method with its defaults. Intervals: splits and their test "
        f"nodes drawn again {RESAMPLES} times."
    ]
    if any(each.splits < probe.splits for each in probe.attempts):
        remarks.append(f"* clearly worse than another of its kind on the first {FIRST} splits, and given up.")
    if probe.metric.name == "roc_auc":
        remarks.append("ROC-AUC: how often a node of a class is ranked above one that is not; a guess has 50.")
    for reason in dict.fromkeys(probe.left_out.values()):
        names = [name for name, other in probe.left_out.items() if other == reason]
        remarks.append(f"Not tried: {', '.join(names)}. {reason}")
    return [*remarks, probe.note] if probe.note else remarks
