"""Graph convolutions in PyG's manner: `conv(x, edge_index, edge_weight)`."""

from pcnet.nn.conv._jacobi_conv import JacobiConv
from pcnet.nn.conv._matrix_conv import BernConv, Cheb2Conv, EvenConv, GPRConv, PPRConv
from pcnet.nn.conv._pc_conv import PCConv, PCFilter
from pcnet.nn.conv._polynomial_conv import FixedBasisConv, PolynomialConv
