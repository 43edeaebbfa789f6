"""The page of a comparison of methods: one HTML file that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pcnet.compare import metric_named
from pcnet.show._charts import Score
from pcnet.show._scores import scores_chart
from pcnet.show._template import figure, flat, write_page


def write_comparison(path: str | Path, compared: Mapping[str, Any]) -> None:
    """Write the content of `compare.json` for people: the verdict, scores, differences, and what to do next."""
    metric = metric_named(compared["metric"])
    digits, methods = 1 if metric.percent else 3, compared["methods"]
    scores = scores_of(methods)
    label = f"{metric.title}: {', '.join(f'{each.name} {each.value:.{digits}f}' for each in scores)}"
    titles = {row["method"]: row["title"] for row in methods}
    content = {
        "title": f"{len(methods)} method{'s' if len(methods) > 1 else ''} compared on {compared['graph']}",
        "compared": compared,
        "metric": metric,
        "digits": digits,
        "best": methods[0],
        "picture": scores_chart(scores, metric, label),
        "titles": titles,
        "differences": _differences(compared["pairs"], list(titles), digits),
        "groups": [[titles[method] for method in group] for group in compared["groups"]],
        "settings": {row["title"]: flat(row["settings"]) for row in methods},
    }
    write_page(path, "comparison.html", content)


def scores_of(methods: Sequence[Mapping[str, Any]]) -> list[Score]:
    """The rows of `compare.json` as a picture takes them, the best on top."""
    return [
        Score(row["title"], row["score"], row["interval"] and tuple(row["interval"]), ours=place == 0)
        for place, row in enumerate(methods)
    ]


def _differences(pairs: Sequence[Mapping[str, Any]], order: Sequence[str], digits: int) -> dict[str, list[Any]]:
    """Of each method but the best: how far it is behind each better one, as text, and whether that is sure."""
    known = {(pair["first"], pair["second"]): pair for pair in pairs}
    rows: dict[str, list[Any]] = {}
    for place, behind in enumerate(order[1:], start=1):
        cells = [known[ahead, behind] for ahead in order[:place]]
        rows[behind] = [
            {
                "value": figure(cell["difference"], digits),
                "interval": cell["interval"] and [figure(end, digits) for end in cell["interval"]],
                "sure": cell["interval"] is not None and cell["interval"][0] > 0,
            }
            for cell in cells
        ]
    return rows
