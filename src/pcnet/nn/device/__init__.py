"""Triton kernels of the layers around a propagation, for R runs. Imported only where a CUDA tensor is at hand."""

from pcnet.nn.device._hidden import hidden_backward, output_layer
from pcnet.nn.device._input import input_layer, input_weight_grad
from pcnet.nn.device._small import Dropout, collect, combine, factors, masked
