"""Every named dataset has the counts the literature knows and equals what PyG reads from the same files."""

from __future__ import annotations

import shutil
import time
import warnings
from pathlib import Path

import pytest
import torch

from pcnet import errors
from pcnet.data import CATALOGUE, load_dataset
from pcnet.data._load import _read
from pcnet.errors import PcnetWarning
from pcnet.graph import CSR
from pcnet.graph._homophily import edge_homophily

# nodes, features, classes, undirected edges without loops, loops in the files, class counts
FACTS = {
    "cora": (2708, 1433, 7, 5278, 0, [351, 217, 418, 818, 426, 298, 180]),
    "citeseer": (3327, 3703, 6, 4552, 124, [249, 590, 668, 701, 596, 508]),
    "pubmed": (19717, 500, 3, 44324, 3, [4103, 7739, 7875]),
    "texas": (183, 1703, 5, 279, 16, [33, 1, 18, 101, 30]),
    "cornell": (183, 1703, 5, 277, 3, [33, 1, 18, 101, 30]),
    "cornell-fixed": (183, 1703, 5, 277, 3, [38, 16, 30, 82, 17]),
    "wisconsin": (251, 1703, 5, 450, 16, [10, 70, 118, 32, 21]),
    "actor": (7600, 932, 5, 26659, 93, [853, 1337, 1630, 1815, 1965]),
    "reed98": (962, 745, 2, 18812, 0, [504, 361]),
    "amherst41": (2235, 1193, 2, 90954, 0, [1015, 1017]),
    "johnshopkins55": (5180, 2406, 2, 186586, 0, [2153, 2609]),
    "cornell5": (18660, 4735, 2, 790777, 0, [8135, 8687]),
}
# Links of one page to another, and those to itself among them.
LISTED = {
    "texas": (325, 16),
    "cornell": (298, 3),
    "cornell-fixed": (298, 3),
    "wisconsin": (515, 16),
    "actor": (30019, 93),
}
PLANETOID = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}


@pytest.mark.parametrize("name", FACTS)
def test_facts(name, load, real):
    nodes, features, classes, edges, loops, counts = FACTS[name]
    graph = load(name)
    source, target = graph.edge_index
    assert (graph.num_nodes, graph.num_features, graph.num_classes) == (nodes, features, classes)
    assert int((source < target).sum()) == int((source > target).sum()) == edges
    raw = _read(CATALOGUE[name], real)
    assert len(set(raw.source[raw.source == raw.target])) == loops
    assert int((source == target).sum()) == (0 if name in PLANETOID else loops)
    assert torch.bincount(graph.y[graph.y >= 0]).tolist() == counts


@pytest.mark.parametrize("name", FACTS)
def test_form(name, load):
    graph = load(name)
    assert isinstance(graph.x, CSR)
    assert graph.x.dtype == torch.float32
    assert graph.edge_index.dtype == graph.y.dtype == torch.int64
    keys = graph.edge_index[0] * graph.num_nodes + graph.edge_index[1]
    assert bool((keys.diff() > 0).all()), "sorted, no entry twice"
    assert torch.equal((graph.edge_index[1] * graph.num_nodes + graph.edge_index[0]).sort().values, keys)
    sums = torch.from_numpy(graph.x.to_scipy().sum(1)).flatten()
    assert bool((((sums - 1).abs() < 1e-6) | (sums == 0)).all())


@pytest.mark.parametrize("name", FACTS)
def test_listed_edges(name, load, real):
    """One way, where the files are lists of links; both ways of them are the edges."""
    graph = load(name)
    if name not in LISTED:
        assert graph.listed_edges is None
        return
    source, target = graph.listed_edges
    assert (len(source), int((source == target).sum())) == LISTED[name]
    lines = (real / CATALOGUE[name].folder / "raw" / "out1_graph_edges.txt").read_text().splitlines()[1:]
    links = {(int(start), int(end)) for start, end in (line.split("\t") for line in lines)}
    assert [*zip(source.tolist(), target.tolist(), strict=True)] == sorted(links)
    both = links | {(end, start) for start, end in links}
    assert [*map(tuple, graph.edge_index.T.tolist())] == sorted(both)


@pytest.mark.parametrize("name", FACTS)
def test_catalogue_homophily(name, load):
    assert edge_homophily(load(name)) == pytest.approx(CATALOGUE[name].facts.homophily, abs=5e-5)


def test_unlabelled_nodes(load):
    citeseer = load("citeseer")
    unlabelled = citeseer.y == -1
    assert int(unlabelled.sum()) == 15
    assert citeseer.published_y is not None
    assert citeseer.published_y[unlabelled].tolist() == [0] * 15
    assert torch.equal(citeseer.published_y[~unlabelled], citeseer.y[~unlabelled])
    assert int((citeseer.x.crow.diff() == 0)[unlabelled].sum()) == 15
    assert citeseer.num_nodes - len(citeseer.edge_index.unique()) == 48
    assert any("15 nodes" in note for note in citeseer.notes)
    assert int((load("reed98").y == -1).sum()) == 97
    assert load("reed98").published_y is None


@pytest.mark.parametrize("name", PLANETOID)
def test_planetoid_equals_pyg(name, load, real, tmp_path):
    from torch_geometric.datasets import Planetoid
    from torch_geometric.transforms import NormalizeFeatures

    title = PLANETOID[name]
    shutil.copytree(real / "planetoid" / title / "raw", tmp_path / title / "raw")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = NormalizeFeatures()(Planetoid(str(tmp_path), title)[0])
    graph = load(name)
    # PyG sorts by target; the graph is symmetric, so that is ours with the rows exchanged.
    assert torch.equal(graph.edge_index.flip(0), theirs.edge_index)
    assert torch.equal(graph.as_published().y, theirs.y)
    difference = (graph.x.to_dense() - theirs.x).abs().max()
    assert difference == 0 if name != "pubmed" else difference < 1e-7


@pytest.mark.parametrize("name", ["texas", "cornell", "wisconsin", "cornell-fixed", "actor"])
def test_geom_gcn_equals_pyg(name, load, real, tmp_path):
    from torch_geometric.datasets import Actor, WebKB
    from torch_geometric.transforms import NormalizeFeatures
    from torch_geometric.utils import to_undirected

    dataset = CATALOGUE[name]
    target = tmp_path if name == "actor" else tmp_path / dataset.upstream
    shutil.copytree(real / dataset.folder / "raw", target / "raw")
    theirs = Actor(str(tmp_path))[0] if name == "actor" else WebKB(str(tmp_path), dataset.upstream)[0]
    graph = load(name)
    assert torch.equal(graph.x.to_dense(), NormalizeFeatures()(theirs.clone()).x)
    assert torch.equal(graph.y, theirs.y)
    assert torch.equal(graph.edge_index, to_undirected(theirs.edge_index))
    assert torch.equal(graph.listed_edges, theirs.edge_index)
    for number, split in enumerate(graph.fixed_splits):
        masks = (theirs.train_mask, theirs.val_mask, theirs.test_mask)
        for ids, mask in zip(split, masks, strict=True):
            assert torch.equal(ids, mask[:, number].nonzero().flatten())


def test_facebook_equals_pyg(load, real, tmp_path):
    from torch_geometric.datasets import LINKXDataset
    from torch_geometric.transforms import NormalizeFeatures

    shutil.copytree(real / "linkx" / "reed98" / "raw", tmp_path / "reed98" / "raw")
    theirs = LINKXDataset(str(tmp_path), "reed98")[0]
    theirs.x = theirs.x.float()
    graph = load("reed98")
    assert torch.equal(graph.x.to_dense(), NormalizeFeatures()(theirs).x)
    assert torch.equal(graph.y, theirs.y)
    assert torch.equal(graph.edge_index, theirs.edge_index)


def test_facebook_file_under_its_upstream_name(load, real, tmp_path):
    folder = tmp_path / "linkx" / "reed98" / "raw"
    folder.mkdir(parents=True)
    shutil.copy(real / "linkx" / "reed98" / "raw" / "data.mat", folder / "Reed98.mat")
    assert torch.equal(load_dataset("reed98", tmp_path).edge_index, load("reed98").edge_index)


def test_cornell_is_texas_with_other_links(load):
    texas, cornell, fixed = load("texas"), load("cornell"), load("cornell-fixed")
    assert torch.equal(texas.y, cornell.y)
    assert torch.equal(texas.x.to_dense(), cornell.x.to_dense())
    assert not torch.equal(texas.edge_index, cornell.edge_index)
    assert not torch.equal(fixed.y, cornell.y)
    assert any("texas" in note for note in cornell.notes)
    assert not fixed.notes


def test_cornell_warns_once(real, monkeypatch):
    monkeypatch.setattr(errors, "_already_said", set())
    with pytest.warns(PcnetWarning, match="cornell-fixed"):
        load_dataset("Cornell", real)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_dataset("cornell", real)


def test_names_in_any_case_and_alias(load, real):
    assert load_dataset(" TEXAS ", real).name == "texas"
    assert load_dataset("film", real).name == "actor"


def test_pubmed_loads_within_a_second(real):
    start = time.process_time()
    load_dataset("pubmed", real)
    assert time.process_time() - start < 1


def test_data_folder_is_not_written_to(real):
    before = {path: path.stat().st_mtime_ns for path in Path(real).rglob("*")}
    load_dataset("citeseer", real)
    assert {path: path.stat().st_mtime_ns for path in Path(real).rglob("*")} == before
