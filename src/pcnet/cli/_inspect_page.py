"""What `pcnet inspect` prints: one page, in words and small bars."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import numpy as np
from rich.box import SIMPLE
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pcnet.inspect import (
    FIRST,
    RESAMPLES,
    WAYS,
    Attempt,
    Classes,
    Features,
    Frequencies,
    Homophily,
    Inspection,
    Links,
    Probe,
    Suggestion,
)

MARKS = "▁▂▃▄▅▆▇█"
EIGHTHS = " ▏▎▍▌▋▊▉"
WIDTH = 24
#: Classes beyond are counted, not listed.
LISTED = 12
MEASURES = {
    "edge": "links that join nodes of one class",
    "node": "the same share, node by node",
    "class_insensitive": "beyond what the sizes of the classes explain",
    "adjusted": "0 is chance, 1 always; below 0, less than chance",
    "label_informativeness": "what a neighbour's class says about a node's own",
}
#: In narrower terminals scores have no bars.
ROOM_FOR_BARS = 78


def print_page(console: Console, found: Inspection, arguments: Sequence[str]) -> None:
    """The whole page; `arguments` are what the user calls the graph on the command line."""
    links = found.links
    head = Text(found.name, style="bold")
    head.append(
        f": {links.nodes:,} nodes, {links.edges:,} edges, {found.features.count:,} features, "
        f"{len(found.classes.names)} classes",
        style="not bold",
    )
    console.print(head)
    sections: list[tuple[str, RenderableType]] = [
        ("Links", _links(links)),
        ("Features", _features(found.features, links.nodes)),
        (
            f"Classes ({found.classes.labelled:,} nodes labelled, {found.classes.unlabelled:,} not)",
            _classes(found.classes),
        ),
        ("Homophily, self loops left out", _homophily(found.homophily)),
        ("Frequencies, smooth to rough", _frequencies(found.frequencies)),
    ]
    if found.probe is not None:
        sections.append((_question(found.probe), _probe(found.probe, console.width)))
    sections.append(("Advice", _sentences(found.advice.sentences)))
    if found.advice.warnings:
        sections.append(("Look out", _sentences(found.advice.warnings)))
    if found.notes:
        sections.append(("Notes", _sentences(found.notes, "dim")))
    for title, body in sections:
        console.print()
        console.print(Text(title, style="bold cyan"))
        console.print(Padding(body, (0, 0, 0, 2)))
    if found.advice.methods:
        _print_commands(console, found.advice.methods, arguments)


def bar(share: float, width: int = WIDTH) -> str:
    """`share` of `width` characters, to the eighth of one; what is not zero shows."""
    eighths = round(8 * width * min(max(share, 0.0), 1.0))
    eighths = max(eighths, 1) if share > 0 else eighths
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def sparkline(values: Sequence[float]) -> str:
    """One character for each value, as high as its share of the largest; what is zero is empty."""
    top = max(values, default=0.0)
    return "".join(" " if value <= 0 else MARKS[min(len(MARKS) - 1, int(len(MARKS) * value / top))] for value in values)


def _grid(*justify: str) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for side in justify:
        grid.add_column(justify="right" if side == "right" else "left", no_wrap=side != "wrap")
    return grid


def _links(links: Links) -> Table:
    grid = _grid("left", "wrap")
    degrees = links.degrees
    grid.add_row("degree", f"{degrees.min:,} to {degrees.max:,}, median {degrees.median:g}, mean {degrees.mean:.1f}")
    grid.add_row("", Text.assemble(sparkline(degrees.histogram), ("  " + _bins(len(degrees.histogram)), "dim")))
    share = f", the largest with {100 * links.largest_component:.0f} % of the nodes" if links.components > 1 else ""
    grid.add_row("components", f"{links.components:,}{share}")
    grid.add_row("isolated", f"{links.isolated:,} of {links.nodes:,} nodes")
    grid.add_row("self loops", f"{links.self_loops:,}")
    grid.add_row("duplicates", f"{links.duplicates:,}")
    if links.reciprocal is not None:
        grid.add_row(
            "direction", "none" if links.reciprocal == 1 else f"{100 * links.reciprocal:.0f} % listed both ways"
        )
    return grid


def _bins(count: int) -> str:
    """What the places of a histogram of degrees stand for."""
    names = ["0", "1", *(f"{2**i}–{2 ** (i + 1) - 1}" for i in range(1, count))][:count]
    shown = names if count <= 5 else [*names[:4], "…", names[-1]]
    return f"nodes with {' · '.join(shown)} neighbours"


def _features(features: Features, nodes: int) -> Table:
    grid = _grid("left", "wrap")
    where = (
        "computed from the links"
        if features.structural
        else f"{100 * features.density:.3g} % of the values are not zero"
    )
    grid.add_row("columns", f"{features.count:,}; {where}")
    grid.add_row("constant", f"{features.constant:,} of {features.count:,} columns")
    grid.add_row("empty", f"{features.empty:,} of {nodes:,} nodes")
    return grid


def _classes(classes: Classes) -> RenderableType:
    if not classes.labelled:
        return "No node has a label."
    grid = _grid("left", "right", "right", "left")
    ordered = sorted(zip(classes.counts, classes.names, strict=True), key=lambda pair: -pair[0])
    for count, name in ordered[:LISTED]:
        cut = name if len(name) <= 28 else name[:27] + "…"
        marks = Text(bar(count / ordered[0][0]), style="blue")
        grid.add_row(Text(cut), f"{count:,}", f"{100 * count / classes.labelled:.1f} %", marks)
    if len(ordered) > LISTED:
        rest = sum(count for count, _ in ordered[LISTED:])
        grid.add_row(f"{len(ordered) - LISTED} more", f"{rest:,}", f"{100 * rest / classes.labelled:.1f} %", "")
    return grid


def _homophily(homophily: Homophily) -> Table:
    grid = _grid("left", "right", "left", "wrap")
    for name, meaning in MEASURES.items():
        value = getattr(homophily, name)
        words = name.replace("class_", "class-").replace("_", " ")
        if value is None:
            grid.add_row(words, "–", "", Text(homophily.undefined[name], style="dim"))
        else:
            marks = Text(bar(value, WIDTH // 2), style="blue")
            grid.add_row(words, f"{value:.3f}", marks, Text(meaning, style="dim"))
    return grid


def _frequencies(frequencies: Frequencies) -> Table:
    grid = _grid("left", "left", "wrap")

    def row(name: str, density: np.ndarray, words: str) -> None:
        # Two neighbouring points for a character; roots, since one peak would flatten all the rest.
        pairs = np.sqrt(density[: len(density) // 2 * 2].reshape(-1, 2).max(axis=1))
        grid.add_row(name, Text(sparkline(pairs.tolist()), style="blue"), Text(words, style="dim"))

    row("graph", frequencies.density, f"mean {frequencies.mean:.2f} of 2")
    if frequencies.labels is None or frequencies.label_mean is None:
        grid.add_row("classes", Text(frequencies.undefined, style="dim"))
        return grid
    ratio = frequencies.label_mean / frequencies.mean if frequencies.mean > 0 else 1.0
    verdict = "smoother than chance" if ratio < 0.9 else "rougher than chance" if ratio > 1.1 else "as by chance"
    row("classes", frequencies.labels, f"mean {frequencies.label_mean:.2f}: {verdict}")
    return grid


def _question(probe: Probe) -> str:
    return f"What predicts the classes? Test {probe.metric.title}{' in percent' if probe.metric.percent else ''}"


def _probe(probe: Probe, width: int) -> RenderableType:
    """A row for everything that was tried, best first among what may look at the same."""
    if probe.skipped:
        return Text(f"Not tried: {probe.skipped}")
    table = Table(box=SIMPLE, show_header=True, padding=(0, 2, 0, 0), show_edge=False)
    for column, side in (("", "left"), ("", "left"), ("mean", "right"), ("95 % interval", "right")):
        table.add_column(column, justify="right" if side == "right" else "left")
    if width >= ROOM_FOR_BARS:
        table.add_column("", no_wrap=True)

    def row(first: str, each: Attempt, style: str = "") -> None:
        given_up = " *" if each.splits < probe.splits else ""
        cells: list[RenderableType] = [
            first,
            each.name + given_up,
            probe.number(each.score.mean),
            Text(probe.interval(each.score)),
        ]
        share = each.score.mean / 100 if probe.metric.percent else 0.0
        marks = [Text(bar(share, WIDTH // 3), style="blue")] if width >= ROOM_FOR_BARS else []
        table.add_row(*cells, *marks, style=style)

    for way, words in WAYS.items():
        if way in probe.missing:
            table.add_row(words, Text(probe.missing[way], style="dim"), "–", "")
        for place, each in enumerate(each for each in probe.ranked if each.way == way):
            row("" if place else words, each)
    if probe.guess is not None:
        row("a guess", probe.guess, "dim")
    return Group(table, *(Text(remark, style="dim") for remark in _remarks(probe)))


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


def _sentences(sentences: Sequence[str], style: str = "") -> Table:
    grid = Table.grid(padding=(0, 1, 0, 0))
    for sentence in sentences:
        grid.add_row("•", Text(sentence), style=style)
    return grid


def _print_commands(console: Console, methods: Sequence[Suggestion], arguments: Sequence[str]) -> None:
    """Every command on lines of its own, which a shell understands as they are, and why below it."""
    console.print()
    console.print(Text("Try first", style="bold cyan"))
    for each in methods:
        method = [] if each.method == "pcnet" else ["--method", each.method]
        settings = [word for setting in each.settings for word in ("--set", setting)]
        lines = command_lines(["pcnet", "train", *arguments, *method, *settings], console.width - 2)
        # Nothing may follow the backslash at the end of a line, so it is not filled up.
        console.print(Text("\n".join(f"  {line}" for line in lines)), soft_wrap=True)
        console.print(Padding(Text(each.why, style="dim"), (0, 0, 0, 6)))


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
