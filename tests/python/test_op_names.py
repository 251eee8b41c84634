"""Names of functions that TensorFlow makes of ops' names."""
import pytest

from headrace import _hints
from headrace._src.compat import finder


@pytest.mark.parametrize("op, name", [
    ("Conv3D", "conv3d"), ("Conv2DBackpropFilter", "conv2d_backprop_filter"),
    ("MaxPool3DGradGrad", "max_pool3d_grad_grad"), ("FFT2D", "fft2d"),
    ("IRFFT3D", "irfft3d"), ("L2Loss", "l2_loss"), ("LSTMBlockCell",
     "lstm_block_cell"), ("SpaceToBatchND", "space_to_batch_nd"),
    ("RGBToHSV", "rgb_to_hsv"), ("Relu6Grad", "relu6_grad"),
    ("TensorArrayV3", "tensor_array_v3"), ("ReadVariableOp",
     "read_variable_op"), ("BiasAddV1", "bias_add_v1"), ("Einsum", "einsum"),
    ("CTCGreedyDecoder", "ctc_greedy_decoder"), ("BesselI0e", "bessel_i0e"),
    ("ResourceApplyAdagradDA", "resource_apply_adagrad_da"),
    ("QuantizedConv2DWithBiasSumAndRelu",
     "quantized_conv2d_with_bias_sum_and_relu")])
def test_the_function_of_an_op(op, name):
    assert _hints.snake_case(op) == name
    for spelled in name, "_" + name, op:
        assert finder._op(spelled).op_type == op
