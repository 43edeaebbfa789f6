"""A folder of small tables that a test writes as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

_NODES = "id,label,age\na,x,1\nb,y,2\nc,x,3\n"
_EDGES = "source,target\na,b\nb,c\n"


@pytest.fixture
def tables(tmp_path: Path) -> Callable[..., Path]:
    """`tables(nodes=…, edges=…)`: a folder with both; `.csv` if not said otherwise."""

    def write(nodes: str | bytes | None = _NODES, edges: str | bytes | None = _EDGES, suffix: str = ".csv") -> Path:
        folder = tmp_path / "mine"
        folder.mkdir(exist_ok=True)
        for stem, content in (("nodes", nodes), ("edges", edges)):
            if content is not None:
                data = content.encode() if isinstance(content, str) else content
                (folder / f"{stem}{suffix}").write_bytes(data)
        return folder

    return write
