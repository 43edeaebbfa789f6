"""Graph convolutions in PyG's manner: `conv(x, edge_index, edge_weight)`."""

from pcnet.nn.conv._fixed_basis_conv import BernConv, Cheb2Conv, EvenConv, FixedBasisConv, GPRConv, JacobiConv, PPRConv
from pcnet.nn.conv._pc_conv import PCConv, PCFilter
from pcnet.nn.conv._polynomial_conv import Learned, PolynomialConv, learned
