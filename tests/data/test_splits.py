"""Splits are those of the published protocols, node for node."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pcnet.data import Split, load_embedded, make_split
from pcnet.graph import Graph

LONG = 1941488137
DENSE, SPARSE, SEMI, FIXED = "random-60-20-20", "sparse-2.5-2.5-95", "semi-20-500-1000", "fixed-48-32-20"

# Sums of node ids in train, validation and test.
VECTORS = {
    ("cora", DENSE, LONG): (2077178, 738557, 849543),
    ("cora", DENSE, 0): (2090493, 754768, 820017),
    ("cora", SPARSE, LONG): (93743, 91209, 3480326),
    ("cora", SEMI, LONG): (174839, 684825, 1344613),
    ("citeseer", DENSE, LONG): (3293823, 1054305, 1184673),
    ("citeseer", DENSE, 0): (3248345, 1089003, 1195453),
    ("citeseer", SPARSE, LONG): (148904, 128038, 5255859),
    ("citeseer", SEMI, LONG): (209876, 829492, 1665569),
    ("pubmed", DENSE, LONG): (116133627, 39211414, 39025145),
    ("pubmed", DENSE, 0): (116828002, 38761699, 38780485),
    ("pubmed", SPARSE, LONG): (4622829, 4843605, 184903752),
    ("pubmed", SEMI, LONG): (553960, 4910841, 10255995),
    ("texas", DENSE, LONG): (7493, 3336, 5824),
    ("texas", DENSE, 0): (7986, 3390, 5277),
    ("texas", SPARSE, LONG): (305, 597, 15751),
    ("cornell", DENSE, LONG): (7493, 3336, 5824),
    ("cornell", DENSE, 0): (7986, 3390, 5277),
    ("cornell", SPARSE, LONG): (305, 597, 15751),
    ("wisconsin", DENSE, LONG): (15669, 5826, 9880),
    ("wisconsin", DENSE, 0): (15585, 6498, 9292),
    ("wisconsin", SPARSE, LONG): (686, 832, 29857),
    ("actor", DENSE, LONG): (17179522, 5762498, 5934180),
    ("actor", DENSE, 0): (17036778, 5847561, 5991861),
    ("actor", SPARSE, LONG): (722366, 719838, 27433996),
}
# Dense sizes, classes absent from validation and test, sparse sizes.
SIZES = {
    "cora": ((1557, 542, 609), {1, 6}, (70, 68, 2570)),
    "citeseer": ((1929, 665, 733), {0}, (84, 83, 3160)),
    "pubmed": ((11829, 3943, 3945), set(), (492, 493, 18732)),
    "texas": ((85, 37, 61), {1, 2}, (5, 5, 173)),
    "cornell": ((85, 37, 61), {1, 2}, (5, 5, 173)),
    "cornell-fixed": ((99, 37, 47), None, None),
    "wisconsin": ((121, 50, 80), {0, 4}, (5, 6, 240)),
    "actor": ((4501, 1520, 1579), {0}, (190, 190, 7220)),
}
FIXED_SIZES = {
    "cora": (1192, 796, 497),
    "pubmed": (9463, 6310, 3944),
    "texas": (87, 59, 37),
    "cornell": (87, 59, 37),
    "cornell-fixed": (87, 59, 37),
    "wisconsin": (120, 80, 51),
    "actor": (3648, 2432, 1520),
}
HASHES = {
    ("citeseer", DENSE, 0): "bd92bb536872c244",
    ("citeseer", SEMI, LONG): "89cb0eddd78be048",
    ("texas", SPARSE, LONG): "4b4b41de8e21a4bf",
    ("texas", FIXED, 3): "fd179f4d91aa7e2c",
}


def sums(split: Split) -> tuple[int, int, int]:
    return int(split.train.sum()), int(split.val.sum()), int(split.test.sum())


@pytest.mark.parametrize(("name", "protocol", "seed"), VECTORS)
def test_vectors(name, protocol, seed, load):
    assert sums(make_split(load(name), protocol, seed)) == VECTORS[name, protocol, seed]


@pytest.mark.parametrize("key", [key for key in VECTORS if key[0] == "citeseer"])
def test_vectors_of_the_embedded_graph(key):
    assert sums(make_split(load_embedded(), *key[1:])) == VECTORS[key]


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name, load):
    dense, absent, sparse = SIZES[name]
    split = make_split(load(name), DENSE, 5)
    assert split.sizes == dense
    if absent is not None:
        evaluated = split.labels[torch.cat([split.val, split.test])].tolist()
        assert set(range(int(split.labels.max()) + 1)) - set(evaluated) == absent
        assert any(str(sorted(absent)) in note for note in split.notes) == bool(absent)
    if sparse is not None:
        assert make_split(load(name), SPARSE, 5).sizes == sparse
    if name in ("cora", "citeseer", "pubmed"):
        assert make_split(load(name), SEMI, 5).sizes == (20 * int(split.labels.max() + 1), 500, 1000)


@pytest.mark.parametrize("name", FIXED_SIZES)
def test_fixed_sizes(name, load):
    assert [make_split(load(name), FIXED, i).sizes for i in range(10)] == [FIXED_SIZES[name]] * 10


def test_fixed_citeseer_splits_4_and_5_are_smaller(load):
    sizes = [make_split(load("citeseer"), FIXED, i).sizes for i in range(10)]
    small = (1017, 679, 424)
    assert sizes == [small if i in (4, 5) else (1596, 1065, 666) for i in range(10)]
    assert any("2120 of 3327" in note for note in make_split(load("citeseer"), FIXED, 4).notes)


def test_fixed_cora_covers_part_of_the_graph(load):
    graph = load("cora")
    covered = {tuple(torch.cat(split).sort().values.tolist()) for split in graph.fixed_splits}
    assert {len(ids) for ids in covered} == {2485}
    assert any("2485 of 2708" in note for note in make_split(graph, FIXED, 0).notes)


def test_fixed_citeseer_keeps_the_unlabelled_as_class_0(load):
    graph = load("citeseer")
    split = make_split(graph, FIXED, 0)
    counts = [int((graph.y[ids] == -1).sum()) for ids in (split.train, split.val, split.test)]
    assert counts == [10, 4, 1]
    assert bool((split.labels >= 0).all())


def test_fixed_splits_without_a_training_node_of_some_class_are_kept_and_say_so(load):
    lacking = [i for i in range(10) if any("no train node" in n for n in make_split(load("texas"), FIXED, i).notes)]
    assert lacking == [0, 1, 2, 7]


@pytest.mark.parametrize(("name", "protocol", "seed"), HASHES)
def test_hashes(name, protocol, seed, load):
    assert make_split(load(name), protocol, seed).hash == HASHES[name, protocol, seed]


def test_hash_sees_sets_only():
    labels = torch.tensor([0, 1, 0, 1, 0, 1])
    split = Split(train=[0, 1], val=[2, 3], test=[5, 4], labels=labels)
    masks = [torch.isin(torch.arange(6), ids) for ids in (split.train, split.val, split.test)]
    assert split.hash == Split(*masks, labels=labels, protocol="mine", seed=9).hash
    assert split.hash != Split(train=[0, 1], val=[4, 3], test=[5, 2], labels=labels).hash
    assert split.test.tolist() == [4, 5]


def test_numpy_integers_are_seeds():
    assert make_split(load_embedded(), DENSE, np.int64(3)).hash == make_split(load_embedded(), DENSE, 3).hash


def test_published_labels_are_named(load):
    assert any("15 unlabelled nodes count as class 0" in n for n in make_split(load("citeseer"), DENSE, 0).notes)
    assert make_split(load("pubmed"), DENSE, 0).notes == ()
    assert any("46/20/33" in note for note in make_split(load("texas"), DENSE, 0).notes)


def test_unlabelled_nodes_are_in_no_set_and_no_quota():
    rng = np.random.RandomState(0)
    y = torch.from_numpy(rng.randint(0, 3, 400))
    hidden = torch.arange(0, 400, 4)
    partly = y.clone()
    partly[hidden] = -1
    x = torch.ones(400, 1)
    edges = torch.tensor([[0], [1]])
    split = make_split(Graph(edges, x, partly), DENSE, 1)
    assert sum(split.sizes) == 300
    assert not torch.isin(torch.cat([split.train, split.val, split.test]), hidden).any()
    # The same draw as on the labelled nodes alone.
    kept = (partly >= 0).nonzero().flatten()
    alone = make_split(Graph(edges, x[kept], y[kept]), DENSE, 1)
    assert torch.equal(kept[alone.train], split.train)
    assert torch.equal(kept[alone.test], split.test)


def test_penn94_official_splits(real):
    from pcnet.data._load import read_object_splits

    splits = read_object_splits(real / "linkx/penn94/raw/fb100-Penn94-splits.npy", 41554)
    assert [tuple(map(len, split)) for split in splits] == [(19407, 9703, 9705)] * 5
    y = torch.full((41554,), -1)
    y[torch.cat(splits[0])] = torch.arange(38815) % 2
    graph = Graph(torch.tensor([[0], [1]]), torch.ones(41554, 1), y, fixed_splits=tuple(splits))
    split = make_split(graph, FIXED, 4)
    assert split.sizes == (19407, 9703, 9705)
    assert any("50/25/25" in note for note in split.notes)
