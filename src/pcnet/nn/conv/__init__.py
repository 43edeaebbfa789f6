"""Graph convolutions in PyG's manner: `conv(x, edge_index, edge_weight)`."""

from pcnet.nn.conv._bern_conv import BernConv
from pcnet.nn.conv._cheb2_conv import Cheb2Conv
from pcnet.nn.conv._even_conv import EvenConv
from pcnet.nn.conv._gpr_conv import GPRConv, PPRConv
from pcnet.nn.conv._jacobi_conv import JacobiConv
from pcnet.nn.conv._pc_conv import PCConv, PCFilter
from pcnet.nn.conv._polynomial_conv import FixedBasisConv, PolynomialConv

__all__ = [
    "BernConv",
    "Cheb2Conv",
    "EvenConv",
    "FixedBasisConv",
    "GPRConv",
    "JacobiConv",
    "PCConv",
    "PCFilter",
    "PPRConv",
    "PolynomialConv",
]
