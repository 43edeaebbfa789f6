"""What layers and models refuse, each in one sentence."""

from __future__ import annotations

import pytest
import torch

from contracts.filter_contract import quiet
from pcnet.errors import PcnetError
from pcnet.graph import CSR, Graph, Operator
from pcnet.nn import PCConv, PCNet, Perceptron
from pcnet.polynomial import Powers
from pcnet.propagate import apply_polynomial

X = torch.ones(3, 2)
RING = torch.tensor([[0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2]])
OPERATOR = Operator.from_edges(RING, 3)
NAN = float("nan")


def conv(**more) -> PCConv:
    return PCConv(**({"K": 2, "N": 4, "t": 0.5} | more))


def net(*widths, **more) -> PCNet:
    return PCNet(*(widths or (2, 4, 3)), **more)


CASES = {
    "K = 0": (lambda: conv(K=0), "K must be at least 1, not 0."),
    "N negative": (lambda: conv(N=-1), "N must be at least 0, not -1."),
    "N not whole": (lambda: conv(N=2.5), "N must be a whole number, not 2.5."),
    "t is NaN": (lambda: conv(t=NAN), "t must be finite, not nan"),
    "p is infinite": (lambda: conv(p=float("inf")), "p must be finite"),
    "eta is NaN": (lambda: conv(eta=NAN), "eta must be finite"),
    "init is NaN": (lambda: conv(init=NAN), "init must be finite"),
    "mode": (
        lambda: conv(mode="limits"),
        "mode cannot be 'limits'; choose from truncated, limit. Did you mean 'limit'?",
    ),
    "operator of another graph": (
        lambda: conv()(torch.ones(4, 2), OPERATOR),
        "x has shape (4, 2); the graph needs (3, d), or (R, 3, d) for R runs.",
    ),
    "operator of another eta": (lambda: conv(eta=0.4)(X, OPERATOR), "The operator has eta = 0.5, the layer 0.4"),
    "dense adjacency": (lambda: conv()(X, torch.ones(3, 3)), "edge_index has shape (3, 3); it must be 2 × number"),
    "float edges": (lambda: conv()(X, RING.float()), "edge_index must hold integer node ids"),
    "edge beyond the graph": (lambda: conv()(X, RING + 1), "Edge endpoint 3 is out of range"),
    "too few weights": (lambda: conv()(X, RING, torch.ones(5)), "edge_weight has shape (5,), but there are 6 edges"),
    "negative weights": (lambda: conv()(X, RING, -torch.ones(6)), "edge_weight holds negative values"),
    "NaN weights": (lambda: conv()(X, RING, torch.full((6,), NAN)), "edge_weight holds NaN or infinite values"),
    "negative adjacency": (lambda: conv()(X, (-torch.ones(3, 3)).to_sparse()), "edge_weight holds negative values"),
    "adjacency of a larger graph": (lambda: conv()(X, torch.ones(5, 5).to_sparse()), "The adjacency matrix is (5, 5)"),
    "overflow of the limit": (lambda: conv(t=900.0, mode="limit")(X, RING), "overflows for t = 900"),
    "limit of a directed graph": (
        lambda: conv(mode="limit")(X, Operator.from_edges(RING[:, :1], 3, direction="keep")),
        "A directed operator has no real spectral interval",
    ),
    "a stack on one run's columns": (
        lambda: PCConv.stack([conv(), conv()])(X[:, :1], OPERATOR),
        "Coefficients have shape (2, 5); this x needs (N+1,), (1, N+1).",
    ),
    "a stack on too few runs": (
        lambda: PCConv.stack([conv(), conv(p=3)])(X.expand(3, 3, 2), OPERATOR),
        "Coefficients have shape (2, 5); this x needs (N+1,), (3, N+1) or (3, 2, N+1).",
    ),
    "no classes": (lambda: net(2, 4, 0), "A layer's width must be at least 1, not 0."),
    "no hidden units": (lambda: net(2, 0, 3), "hidden must be at least 1, not 0."),
    "drop_prop": (lambda: net(drop_prop=1.0), "drop_prop = 1.0 is not a dropout rate; it must be at least 0 and less"),
    "drop_in negative": (lambda: net(drop_in=-0.1), "is not a dropout rate"),
    "drop_hidden is NaN": (lambda: net(drop_hidden=NAN), "is not a dropout rate"),
    "activation": (lambda: net(activation="tanh"), "activation cannot be 'tanh'; choose from relu, elu."),
    "too many features": (
        lambda: net()(torch.ones(3, 5), RING),
        "The features have shape (3, 5); the model expects (nodes, 2).",
    ),
    "too many sparse features": (
        lambda: net()(torch.ones(3, 5).to_sparse(), RING),
        "The features have shape (3, 5); the model expects (nodes, 2).",
    ),
    "features with a run axis": (lambda: net()(torch.ones(2, 3, 2), RING), "The features have shape (2, 3, 2)"),
    "sparse features by columns": (lambda: net()(X.to_sparse_csc(), RING), "must be COO or CSR, not torch.sparse_csc"),
    "features of other nodes": (
        lambda: net()(torch.ones(4, 2), OPERATOR),
        "x has shape (4, 3); the graph needs (3, d)",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_one_sentence(case):
    call, words = CASES[case]
    with quiet(), pytest.raises(PcnetError) as error:
        call()
    assert words in str(error.value)
    assert "\n" not in str(error.value)


#: More input that no error of torch or NumPy should answer.
MORE = {
    "K not whole": lambda: conv(K=1.5),
    "t is a word": lambda: conv(t="short"),
    "N negative in the limit": lambda: conv(N=-3, mode="limit"),
    "x is one column without its axis": lambda: conv()(torch.ones(3), RING),
    "integer x": lambda: conv()(torch.ones(3, 2, dtype=torch.int64), RING),
    "half-precision x": lambda: conv()(X.half(), RING),
    "adjacency of a smaller graph": lambda: conv()(torch.ones(5, 2), torch.ones(3, 3).to_sparse()),
    "weights beside an operator": lambda: conv()(X, OPERATOR, torch.ones(6)),
    "an operator of another precision": lambda: apply_polynomial(
        OPERATOR, X.double(), torch.ones(3).double(), Powers()
    ),
    "coefficients of another precision": lambda: apply_polynomial(OPERATOR, X, torch.ones(3).double(), Powers()),
    "fewer dropout rates than layers": lambda: Perceptron([2, 3, 3, 2], (0.1, 0.2)),
    "no layer": lambda: Perceptron([2]),
    "features of another precision": lambda: net()(X.double(), RING),
    "integer features": lambda: net()(X.long(), RING),
    "width not whole": lambda: net(2, 2.5, 3),
    "nothing to stack": lambda: PCConv.stack([]),
    "a run that is not there": lambda: PCConv.stack([conv(), conv()]).one(5),
    "runs that are not there": lambda: PCConv.stack([conv(), conv()]).select([0, 7]),
    "a graph with features in one row": lambda: Graph(RING, torch.ones(3), torch.zeros(3).long()),
    "a graph with torch-sparse features": lambda: Graph(RING, X.to_sparse(), torch.zeros(3).long()),
    "a graph with integer features": lambda: Graph(RING, X.long(), torch.zeros(3).long()),
}


@pytest.mark.parametrize("case", MORE)
def test_refused_by_pcnet_itself(case):
    with quiet(), pytest.raises(PcnetError):
        MORE[case]()


def test_sparse_features_of_the_right_width_pass():
    assert net()(CSR.from_torch(X.to_sparse()), RING).shape == (3, 3)
