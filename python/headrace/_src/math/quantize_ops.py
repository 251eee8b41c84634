"""Quantization: numbers as integers and a range, as tf.quantization."""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor

fake_quant_with_min_max_args = _raw.FakeQuantWithMinMaxArgs
fake_quant_with_min_max_args_gradient = _raw.FakeQuantWithMinMaxArgsGradient
fake_quant_with_min_max_vars = _raw.FakeQuantWithMinMaxVars
fake_quant_with_min_max_vars_gradient = _raw.FakeQuantWithMinMaxVarsGradient
fake_quant_with_min_max_vars_per_channel = (
    _raw.FakeQuantWithMinMaxVarsPerChannel)
fake_quant_with_min_max_vars_per_channel_gradient = (
    _raw.FakeQuantWithMinMaxVarsPerChannelGradient)
quantized_concat = _raw.QuantizedConcat


def quantize_v2(input, min_range, max_range, T, mode="MIN_COMBINED", name=None,
                round_mode="HALF_AWAY_FROM_ZERO"):
    """(floats as numbers of the quantized type T, the smallest and the largest
    float that they stand for)."""
    return _raw.QuantizeV2(input, min_range, max_range, T=T, mode=mode,
                           round_mode=round_mode, name=name)


def quantize(input, min_range, max_range, T, mode="MIN_COMBINED",
             round_mode="HALF_AWAY_FROM_ZERO", name=None):
    """As quantize_v2."""
    return quantize_v2(input, min_range, max_range, T, mode, name, round_mode)


def dequantize(input, min_range, max_range, mode="MIN_COMBINED", name=None):
    """The floats that quantized numbers stand for."""
    return _raw.Dequantize(input, min_range, max_range, mode=mode, name=name)


def quantize_and_dequantize(input, input_min, input_max, signed_input=True,
                            num_bits=8, range_given=False,
                            round_mode="HALF_TO_EVEN", name=None,
                            narrow_range=False):
    """Floats rounded as quantization to num_bits would round them. Without
    range_given the range is that of the input."""
    with name_scope(name, "quantize_and_dequantize", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        return _raw.QuantizeAndDequantizeV2(
            input, input_min, input_max, signed_input=signed_input,
            num_bits=num_bits, range_given=range_given, round_mode=round_mode,
            narrow_range=narrow_range, name=scope)


def quantized_conv2d(input, filter, min_input, max_input, min_filter,
                     max_filter, strides, padding, out_type=dtypes.qint32,
                     dilations=[1, 1, 1, 1], name=None):
    """conv2d of quantized images and filters, as (y, the smallest and the
    largest float that it stands for)."""
    return _raw.QuantizedConv2D(
        input, filter, min_input, max_input, min_filter, max_filter,
        strides=strides, padding=padding, out_type=out_type,
        dilations=dilations, name=name)


def quantized_relu_x(features, max_value, min_features, max_features,
                     out_type=dtypes.quint8, name=None):
    """min(max(x, 0), max_value) of quantized numbers, as (y, the smallest and
    the largest float that it stands for)."""
    return _raw.QuantizedReluX(features, max_value, min_features, max_features,
                               out_type=out_type, name=name)
