"""The catalogue and the places of its files are known without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pcnet.data

SOURCE = Path(pcnet.__file__).parent

# The package itself stands in for its `__init__`, which may import whatever it likes.
CODE = """
import sys, types
package = types.ModuleType("pcnet")
package.__path__ = [{source!r}]
sys.modules["pcnet"] = package
from pcnet.data import {names}
print(*sorted({{"torch", "numpy", "scipy", "torch_geometric"}} & set(sys.modules)))
"""


def test_names_that_need_no_torch():
    names = "CATALOGUE, EMBEDDED, READ_KEYS, ReadOptions, cache_folder, dataset_named, find, find_splits"
    code = CODE.format(source=str(SOURCE), names=names)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_every_name_is_there():
    names = {name for name in dir(pcnet.data) if not name.startswith("_")}
    assert {"CATALOGUE", "READERS", "ReadOptions", "Split", "csbm", "load_dataset", "read_graph"} <= names
    assert all(getattr(pcnet.data, name) is not None for name in names)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pcnet.data.nothing  # noqa: B018
