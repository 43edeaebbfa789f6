"""A graph checks itself; what it refuses, it refuses in a sentence."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
import torch

from pcnet._checks import from_json
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Column, Graph, Operator, Schema, check_edges

X, Y = torch.ones(3, 2), torch.tensor([0, 1, -1])
E = torch.tensor([[0, 1], [1, 0]])


def test_a_good_graph():
    graph = Graph(E, X, Y, edge_weight=torch.tensor([0.5, 0.5]))
    assert (graph.num_nodes, graph.num_features, graph.num_classes) == (3, 2, 2)
    assert graph.labelled.tolist() == [0, 1]
    assert graph.as_published() is graph


def test_one_way_edges():
    weight = torch.tensor([0.5, 0.5])
    edges, weights = Graph(E, X, Y, edge_weight=weight).one_way_edges
    assert edges is E
    assert weights is weight
    listed = E[:, :1]
    assert Graph(E, X, Y, listed_edges=listed).as_published().one_way_edges == (listed, None)


def test_sparse_features():
    graph = Graph(E, CSR.from_torch(X.to_sparse()), Y)
    assert (graph.num_nodes, graph.num_features) == (3, 2)


def test_published_labels():
    graph = Graph(E, X, Y, published_y=torch.tensor([0, 1, 0]))
    assert graph.y.tolist() == [0, 1, -1]
    assert graph.as_published().y.tolist() == [0, 1, 0]
    assert graph.as_published().as_published().published_y is None


def test_names_of_nodes_and_classes():
    graph = Graph(E, X, Y)
    assert (graph.class_names, graph.node_names.tolist()) == (["0", "1"], [0, 1, 2])
    named = Graph(E, X, Y, ids=np.array(["a", "b", "c"]), classes=("cat", "dog", "eel"))
    assert (named.class_names, named.node_names.tolist()) == (["cat", "dog", "eel"], ["a", "b", "c"])
    assert named.num_classes == 3


COLUMNS = (Column("age", "number", shift=40.0, scale=9.5), Column("job", "category", 2, ("baker", "poet")))


def test_a_schema_as_plain_data():
    schema = Schema((*COLUMNS, Column("embedding", "structure", 2)))
    assert from_json(Schema, json.loads(json.dumps(asdict(schema)))) == schema
    assert [name for column in schema.columns for name in column.features] == [
        "age", "job=baker", "job=poet", "embedding[0]", "embedding[1]",
    ]  # fmt: skip
    assert (schema.width, schema.structural, Schema(COLUMNS).structural) == (5, True, False)


AGE = {"name": "age", "kind": "number"}


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"name": "age"}, "columns[0].kind is missing"),
        ({**AGE, "kind": "odd"}, "columns[0].kind must be one of 'number', 'boolean'"),
        ({**AGE, "width": 4}, "'age' (number) cannot have 4 features"),
        ({**AGE, "width": 10**12, "kind": "bag", "values": ["old"]}, "(bag) cannot have 1000000000000 features"),
        ({**AGE, "width": 2, "kind": "category", "values": ["old", "old"]}, "(category) cannot have 2 features"),
        ({**AGE, "kind": "vector", "width": -1}, "(vector) cannot have -1 features"),
        ({**AGE, "scale": 0}, "'age' is divided by 0"),
        ({**AGE, "shift": 10**400}, "columns[0].shift must be a finite number"),
    ],
)
def test_a_damaged_schema(column, words):
    with pytest.raises(PcnetError) as error:
        from_json(Schema, {"columns": [column]})
    assert words in str(error.value)


NAN, INF = float("nan"), float("inf")
CASES = {
    "names of nodes": (lambda: Graph(E, X, Y, ids=np.array(["a"])), "There are 1 names for 3 nodes"),
    "names of classes": (lambda: Graph(E, X, Y, classes=("cat",)), "There are 1 names for 2 classes"),
    "a schema": (lambda: Graph(E, X, Y, schema=Schema(COLUMNS)), "The schema has 3 features, the graph 2"),
    "half a character in an id": (lambda: Graph(E, X, Y, ids=np.array(["a", "\ud83d", "c"])), r"The id '\ud83d' holds"),
    "half a character in a class": (
        lambda: Graph(E, X, Y, classes=("\udc80", "b")),
        r"The class '\udc80' holds half of",
    ),
    "half a character in a word": (
        lambda: Graph(E, X, Y, schema=Schema((Column("w", "bag", 2, ("a", "\ud83d")),))),
        r"The value '\ud83d' holds half of a character, which no file can; correct it",
    ),
    "no nodes": (lambda: Graph(E, torch.ones(0, 2), Y), "The graph has no nodes; give at least one row of features."),
    "NaN features": (lambda: Graph(E, X * NAN, Y), "The features hold NaN or infinite values"),
    "infinite features": (lambda: Graph(E, X / 0, Y), "The features hold NaN or infinite values"),
    "NaN in sparse features": (
        lambda: Graph(E, CSR.from_torch((X * NAN).to_sparse()), Y),
        "The features hold NaN or infinite values",
    ),
    "too few labels": (lambda: Graph(E, X, Y[:2]), "Labels have shape (2,), but there are 3 nodes; give one per node."),
    "one-hot labels": (lambda: Graph(E, X, torch.eye(3).long()), "Labels have shape (3, 3), but there are 3 nodes"),
    "float labels": (lambda: Graph(E, X, Y.float()), "Labels must be integers (−1 for unknown), not torch.float32."),
    "boolean labels": (lambda: Graph(E, X, Y > 0), "Labels must be integers (−1 for unknown), not torch.bool."),
    "negative labels": (lambda: Graph(E, X, Y - 1), "Label -2 is negative; number the classes from 0"),
    "edges as pairs": (lambda: Graph(torch.zeros(5, 2).long(), X, Y), "edge_index has shape (5, 2); it must be 2 ×"),
    "edges in one row": (lambda: check_edges(torch.tensor([0, 1]), 3), "edge_index has shape (2,)"),
    "float edges": (lambda: check_edges(E.float(), 3), "edge_index must hold integer node ids, not torch.float32."),
    "boolean edges": (lambda: check_edges(E > 0, 3), "edge_index must hold integer node ids, not torch.bool."),
    "id too large": (lambda: Graph(E + 2, X, Y), "Edge endpoint 3 is out of range; node ids run from 0 to 2."),
    "id negative": (lambda: check_edges(E - 1, 3), "Edge endpoint -1 is out of range; node ids run from 0 to 2."),
    "too few weights": (lambda: check_edges(E, 3, torch.ones(1)), "edge_weight has shape (1,), but there are 2 edges"),
    "weights in a column": (lambda: check_edges(E, 3, torch.ones(2, 1)), "edge_weight has shape (2, 1)"),
    "NaN weight": (lambda: check_edges(E, 3, torch.tensor([1, NAN])), "edge_weight holds NaN or infinite values"),
    "infinite weight": (lambda: check_edges(E, 3, torch.tensor([1, INF])), "edge_weight holds NaN or infinite values"),
    "negative weight": (lambda: check_edges(E, 3, torch.tensor([1.0, -1])), "edge_weight holds negative values"),
    "a listed id too large": (lambda: Graph(E, X, Y, listed_edges=E + 2), "Edge endpoint 3 is out of range"),
    "listed edges as pairs": (
        lambda: Graph(E, X, Y, listed_edges=torch.zeros(5, 2).long()),
        "listed_edges has shape (5, 2); it must be 2 ×",
    ),
    "float listed edges": (
        lambda: Graph(E, X, Y, listed_edges=E.float()),
        "listed_edges must hold integer node ids, not torch.float32.",
    ),
    "listed edges beside weights": (
        lambda: Graph(E, X, Y, edge_weight=torch.ones(2), listed_edges=E),
        "Listed edges have no weights; leave edge_weight or listed_edges out.",
    ),
    "operator of nothing": (lambda: Operator.from_edges(E[:, :0], 0), "The graph has no nodes; an operator needs"),
    "NaN eta": (lambda: Operator.from_edges(E, 2, eta=NAN), "eta must be a finite number, not nan."),
    "self-loop policy": (
        lambda: Operator.from_edges(E, 2, self_loops="removed"),
        "self_loops cannot be 'removed'; choose from add, fill, keep, remove. Did you mean 'remove'?",
    ),
    "direction policy": (
        lambda: Operator.from_edges(E, 2, direction="symmetrize"),
        "direction cannot be 'symmetrize'; choose from symmetrise, keep, out. Did you mean 'symmetrise'?",
    ),
    "operator with an id too large": (lambda: Operator.from_edges(E, 1), "Edge endpoint 1 is out of range"),
    "operator with a negative weight": (
        lambda: Operator.from_edges(E, 2, torch.tensor([-1.0, -1.0])),
        "edge_weight holds negative values; degrees would lose their meaning.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_one_sentence(case):
    call, words = CASES[case]
    with pytest.raises(PcnetError) as error:
        call()
    assert words in str(error.value)
    assert "\n" not in str(error.value)
