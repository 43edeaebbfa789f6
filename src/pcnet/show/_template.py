"""Pages out of templates: what is in the package beside them, and numbers as a page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from pcnet._files import write_text
from pcnet.compare import Metric


def write_page(path: str | Path, template: str, content: Mapping[str, Any]) -> None:
    """Fill a template of the package, with the style sheet and the script in it."""
    # Imported here: commands that write no page need not wait for it.
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["score"] = figure
    environment.filters["number"] = lambda value: f"{value:,}"
    environment.globals["zip"] = zip
    environment.filters["written"] = lambda value, metric: written(metric, value)
    resources = {"style": _resource("style.css"), "script": _resource("page.js")}
    page = environment.from_string(_resource(template)).render({**content, **resources})
    # Names that came out of a damaged file may hold halves of characters; they become question marks.
    write_text(path, page.encode("utf-8", "replace").decode("utf-8"))


def written(metric: Metric, value: float | tuple[float, float]) -> str:
    """A score in a sentence, or the ends of its interval: 81.2 %, 80.1 to 82.4 %, 0.412."""
    ends = value if isinstance(value, tuple) else (value,)
    return " to ".join(f"{end:.{1 if metric.percent else 3}f}" for end in ends) + "\u00a0%" * metric.percent


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


def _resource(name: str) -> str:
    return files("pcnet.show").joinpath(name).read_text(encoding="utf-8")
