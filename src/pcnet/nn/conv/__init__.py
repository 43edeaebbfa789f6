"""Graph convolutions in PyG's manner: `conv(x, edge_index, edge_weight)`."""

from pcnet.nn.conv._pc_conv import PCConv, PCFilter

__all__ = ["PCConv", "PCFilter"]
