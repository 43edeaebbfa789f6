"""A figure of matplotlib in files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pcnet._files import write_atomically

INK, ACCENT, PALE = "#1f2933", "#1f5fa8", "#6b7280"


def write_figure(figure: Any, paths: Sequence[str | Path]) -> None:
    """Write it to every path, in the format of its suffix: .svg, .png or .pdf; or, if one cannot be drawn, to none."""
    import matplotlib

    pictures = []
    # Neither the date nor random names: the same picture is the same file.
    with matplotlib.rc_context({"svg.hashsalt": "pcnet"}):
        for path in paths:
            buffer = io.BytesIO()
            kind = Path(path).suffix.removeprefix(".")
            figure.savefig(buffer, format=kind, metadata={"Date": None} if kind == "svg" else None)
            pictures.append((path, buffer.getvalue()))
    for path, picture in pictures:
        write_atomically(path, partial(Path.write_bytes, data=picture))
