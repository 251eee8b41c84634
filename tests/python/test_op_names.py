"""Names of functions that TensorFlow makes of ops' names, and of their
inputs."""
import pytest

import headrace as tf
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


@pytest.mark.parametrize("name, inputs, value", [
    ("_sum", {"input": [[1, 2]], "axis": 1, "keep_dims": True}, [[3]]),
    ("mean", {"input": [[1., 2.]], "axis": [1]}, [1.5]),
    ("expand_dims", {"input": [1], "axis": 0}, [[1]]),
    ("select", {"condition": [True, False], "x": [1, 2], "y": [3, 4]}, [1, 4]),
    ("split_v", {"value": [1, 2], "size_splits": [2], "axis": 0,
                 "num_split": 1}, [[1, 2]]),
    ("split", {"axis": 0, "value": [1, 2], "num_split": 2}, [[1], [2]]),
    ("squeeze", {"input": [[1]], "axis": [0]}, [1]),
    ("where", {"condition": [False, True]}, [[1]])])
def test_the_inputs_of_an_op(name, inputs, value):
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(finder._op(name)(**inputs))
        assert [x.tolist() for x in found] == value
