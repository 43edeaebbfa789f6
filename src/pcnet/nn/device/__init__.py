"""Triton kernels of the layers around a propagation, for R runs. Imported only where a CUDA tensor is at hand."""

from pcnet.nn.device._layers import hidden_backward, input_layer, input_weight_grad, output_layer
from pcnet.nn.device._small import Dropout, collect, combine, factors, masked
