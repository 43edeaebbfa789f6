"""Downloads go into the cache, complete and with the right checksum, or not at all."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from torch_geometric.datasets import LINKXDataset, Planetoid, WebKB

from pcnet.data import CATALOGUE, load_dataset
from pcnet.data._catalogue import _url, checksums
from pcnet.errors import PcnetError


@pytest.fixture
def mirror(real: Path, alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Geom-GCN's and Planetoid's folders on this machine, in place of their addresses."""
    folder = tmp_path / "mirror"
    (folder / "splits").mkdir(parents=True)
    for path in (real / "webkb/texas/raw").iterdir():
        target = folder / ("splits" if path.suffix == ".npz" else "new_data/texas")
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    for path in real.glob("planetoid/Cora/*raw/*"):
        shutil.copy(path, folder)
    for path in real.glob("planetoid/Cora/geom-gcn/raw/*"):
        shutil.copy(path, folder / "splits")
    for attribute in ("url", "geom_gcn_url"):
        monkeypatch.setattr(Planetoid, attribute, folder.as_uri())
    monkeypatch.setattr(WebKB, "url", folder.as_uri())
    return folder


@pytest.mark.parametrize("name", ["texas", "cora"])
def test_download_fills_the_cache_only(name, mirror, alone, load):
    graph = load_dataset(name)
    assert torch.equal(graph.edge_index, load(name).edge_index)
    assert len(graph.fixed_splits) == 10
    assert list(alone.iterdir()) == []
    cache = alone.parent / "cache"
    dataset = CATALOGUE[name]
    found = {str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file()}
    assert found == {*dataset.files, *dataset.split_files}
    shutil.rmtree(mirror)
    assert torch.equal(load_dataset(name).y, graph.y), "the second time comes from the cache"


def test_wrong_checksum_is_not_kept(mirror, alone):
    with (mirror / "new_data/texas/out1_graph_edges.txt").open("a") as stream:
        stream.write("0\t1\n")
    with pytest.raises(PcnetError, match="checksum differs"):
        load_dataset("texas")
    assert not (alone.parent / "cache/webkb/texas/raw/out1_graph_edges.txt").exists()


def test_addresses_are_those_of_pyg():
    def urls(name: str) -> list[str]:
        dataset = CATALOGUE[name]
        return [_url(dataset, file) for file in (*dataset.files, *dataset.split_files)]

    for name in ("penn94", "reed98", "johnshopkins55", "amherst41", "cornell5"):
        assert urls(name)[0] == LINKXDataset.datasets[name]["data.mat"]
    assert urls("penn94")[1] == LINKXDataset.splits["penn94"]
    assert urls("cora")[0] == f"{Planetoid.url}/ind.cora.allx"
    assert urls("cora")[-1] == f"{Planetoid.geom_gcn_url}/splits/cora_split_0.6_0.2_9.npz"
    assert urls("actor")[1] == f"{WebKB.url}/new_data/film/out1_graph_edges.txt"
    assert urls("cornell-fixed")[0].startswith(WebKB.url)
    assert not urls("cornell")[0].startswith(WebKB.url), "upstream has only the corrected file now"


def test_every_file_but_one_has_a_checksum():
    files = {file for dataset in CATALOGUE.values() for file in (*dataset.files, *dataset.split_files)}
    assert files - set(checksums()) == {"linkx/penn94/raw/data.mat"}
    assert set(checksums()) <= files
