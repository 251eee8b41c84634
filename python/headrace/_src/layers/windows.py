"""What convolutions and pooling share: the arguments that describe windows."""


def numbers(value, n, name):
    """n integers: `value` itself, or n times the one that it is."""
    if isinstance(value, int):
        return (value,) * n
    try:
        found = tuple(value)
    except TypeError:
        found = ()
    if len(found) != n:
        raise ValueError("The `%s` argument must be a tuple of %d integers. "
                         "Received: %s" % (name, n, value))
    for one in found:
        try:
            int(one)
        except (TypeError, ValueError):
            raise ValueError(
                "The `%s` argument must be a tuple of %d integers. Received: "
                "%s including element %s of type %s"
                % (name, n, value, one, type(one))) from None
    return tuple(int(one) for one in found)


def padding_of(value, causal=False):
    """"valid" or "same"; "causal" too, where that is possible."""
    allowed = ("valid", "same", "causal") if causal else ("valid", "same")
    if isinstance(value, str) and value.lower() in allowed:
        return value.lower()
    raise ValueError("The `padding` argument must be one of %s. Received: %s"
                     % (", ".join('"%s"' % a for a in allowed), value))


def op_format(data_format, ndim):
    """The ops' name of "channels_last" or "channels_first"."""
    first = data_format == "channels_first"
    return {3: ("NWC", "NCW"), 4: ("NHWC", "NCHW"),
            5: ("NDHWC", "NCDHW")}[ndim][first]


def output_length(length, window, padding, stride, dilation=1):
    """The size of a convolution's output; None for an unknown one."""
    if length is None:
        return None
    wide = (window - 1) * dilation + 1
    if padding == "valid":
        length = length - wide + 1
    return (length + stride - 1) // stride


def transposed_length(length, window, padding, output_padding, stride,
                      dilation=1):
    """The size that a transposed convolution has; `length` may be a tensor."""
    if length is None:
        return None
    window = (window - 1) * dilation + 1
    if output_padding is None:
        length = length * stride
        return length + max(window - stride, 0) if padding == "valid" else (
            length)
    around = window // 2 if padding == "same" else 0
    return (length - 1) * stride + window - 2 * around + output_padding


def spatial(shape, data_format):
    """(sizes between batch and channels, function that puts others there)"""
    if data_format == "channels_first":
        return shape[2:], lambda sizes, c: [shape[0], c] + sizes
    return shape[1:-1], lambda sizes, c: [shape[0]] + sizes + [c]
