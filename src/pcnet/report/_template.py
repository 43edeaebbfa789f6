"""Pages out of templates: what is in the package beside them, and numbers as a page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from pcnet._files import write_text


def write_page(path: str | Path, template: str, content: Mapping[str, Any]) -> None:
    """Fill a template of the package, with the style sheet in it."""
    # Imported here: commands that write no page need not wait for it.
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["score"] = figure
    environment.filters["number"] = lambda value: f"{value:,}"
    environment.globals["zip"] = zip
    page = environment.from_string(_resource(template)).render({**content, "style": _resource("style.css")})
    # Names that came out of a damaged file may hold halves of characters; they become question marks.
    write_text(path, page.encode("utf-8", "replace").decode("utf-8"))


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
    return files("pcnet.report").joinpath(name).read_text(encoding="utf-8")
