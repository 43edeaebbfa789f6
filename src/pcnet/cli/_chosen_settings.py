"""Settings that a grid search has chosen, as a TOML file that the presets are read from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pcnet._files import read_toml, write_text

Best = Mapping[str, Any]


def write_chosen(folder: Path, method: str, bests: Sequence[Best]) -> Path:
    """Add the choices to `folder`/METHOD.toml; cells of other searches stay as they are."""
    path = folder / f"{method}.toml"
    tables: dict[str, dict[str, Any]] = read_toml(path) if path.exists() else {}
    for best in bests:
        tables.setdefault(best["preset"], {})[best["dataset"]] = _cell(best)
    lines = [
        f"# Chosen by mean validation accuracy, in percent beside each, from the grid in ../{method}.toml;",
        "# `pcnet tune TABLE --method NAME` searches again and writes this file.",
    ]
    for table, cells in sorted(tables.items()):
        for dataset, cell in cells.items():
            lines += ["", f"[{table}.{dataset}]", *(f"{key} = {_inline(value)}" for key, value in cell.items())]
    write_text(path, "\n".join(lines) + "\n")
    return path


def _cell(best: Best) -> dict[str, Any]:
    """What was searched, as a method's file has it, and where it comes from."""
    search = best["search"]
    names = dict.fromkeys(axis.partition(".")[0] for axis in search["space"])
    model, training = (
        {name: best[part][name] for name in names if name in best[part]} for part in ("model", "training")
    )
    return {
        "source": f"validation on {len(best['seeds'])} splits, {search['trials']} settings",
        "model": model,
        "training": training,
        "validation": round(best["val"]["mean"], 2),
        **{key: best[key] for key in ("command", "date", "machine")},
    }


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_inline(each)}" for key, each in value.items()) + " }" if value else "{}"
    return json.dumps(value, ensure_ascii=False)
