"""Pages out of templates, and numbers and settings as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from pcnet._files import write_text
from pcnet.compare import Metric
from pcnet.show._scores import digits
from pcnet.show._table import Table

#: Classes of a heat map whose shares and names are written, and letters of all names above its columns.
FEW, NARROW = 12, 50


class Step(NamedTuple):
    """What could be done next, and the command that does it."""

    what: str
    command: str


@cache
def templates() -> Any:
    """The templates of the package."""
    # Imported here: commands that write no page need not wait for it.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("pcnet.show", "")
    found = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=loader)
    found.filters |= {"score": figure, "number": "{:,}".format, "written": lambda value, metric: written(metric, value)}
    return found


def write_page(path: str | Path, template: str, content: Mapping[str, Any]) -> None:
    """Fill a template, with the style sheet and the script in it."""
    # Names that came out of a damaged file may hold halves of characters; they become question marks.
    write_text(path, templates().get_template(template).render(content).encode("utf-8", "replace").decode("utf-8"))


def part(name: str, *args: Any, **how: Any) -> str:
    """A part of a page, as markup."""
    return cast("str", getattr(templates().get_template("parts.html").module, name)(*args, **how))


def heatmap(counts: NDArray[np.int64], names: Sequence[str], rows: str, columns: str, label: str) -> str:
    """Which class goes with which: a square of shares, readable for two classes as for fifty."""
    how = {"few": len(names) <= FEW, "numbered": numbered(names)}
    return part("heatmap", counts.tolist(), names, rows, columns, label, **how)


def numbered(names: Sequence[str]) -> bool:
    """Whether classes are numbered from 1 in their order, because names would not fit above the columns."""
    return len(names) > FEW or max(map(len, names)) * len(names) > NARROW


def written(metric: Metric, value: float | tuple[float, float] | None) -> str:
    """A score in a sentence, or the ends of its interval: 81.2 %, 80.1 to 82.4 %, 0.412; nothing is –."""
    if value is None:
        return "–"
    ends = value if isinstance(value, tuple) else (value,)
    return " to ".join(f"{end:.{digits(metric)}f}" for end in ends) + "\u00a0%" * metric.percent


def with_interval(metric: Metric, value: float | None = None, interval: Sequence[float] | None = None) -> str:
    """A score with its interval as a table shows them: 82.10 [80.05, 84.10]; either may be missing."""
    ends = "" if interval is None else f"[{', '.join(map(metric.text, interval))}]"
    return ends if value is None else f"{metric.text(value)} {ends}".rstrip()


def figure(value: float | None, digits: int = 1) -> str:
    """A number as a table shows it; nothing is –, and zero has no sign."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text.replace("-", "" if float(text) == 0 else "−")


def flat(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings under the names of `--set`: lr.theta for the entry theta of lr."""
    found: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            found |= {f"{key}.{inner}": str(each) for inner, each in value.items()}
        else:
            found[key] = str(value)
    return found


def splits_table(
    seeds: Sequence[int], sizes: Sequence[Sequence[int]], hashes: Sequence[str], more: Mapping[str, Sequence[str]]
) -> Table:
    """A row for each split, with further columns by name."""
    rows = [
        [str(seed), *(f"{part:,}" for part in own), *others, name]
        for seed, own, name, *others in zip(seeds, sizes, hashes, *more.values(), strict=True)
    ]
    return Table("", ("seed", "train", "validation", "test", *more, "hash"), rows, words=("best", "hash"))


def provenance_list(records: Sequence[Mapping[str, Any]], command: str) -> str:
    """Part of a Markdown file: the command that makes its numbers again, when, where and with what they were made."""
    places = dict.fromkeys(f"date: {each['date']}; machine: {each['machine']}" for each in records)
    versions = dict.fromkeys(", ".join(f"{name} {v}" for name, v in each["versions"].items()) for each in records)
    lines = (f"command: `{command}`", *places, *(f"versions: {each}" for each in versions))
    return "".join(f"- {line}\n" for line in lines)


def with_unit(metric: Metric) -> str:
    """accuracy in percent; log loss, lower is better."""
    return f"{metric.title}{' in percent' if metric.percent else ', lower is better'}"
