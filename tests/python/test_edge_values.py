"""Kernels at the edges of their domains: infinities, NaN, empty tensors. The
values wanted are TensorFlow's."""
import numpy as np
import pytest

import headrace as tf
from headrace import raw_ops

INF, NAN = np.inf, np.nan


def run(outputs, feed_dict=None):
    with tf.Session() as session:
        return session.run(outputs, feed_dict)


def check(outputs, wanted, rtol=1e-5):
    got, wanted = run(outputs), np.asarray(wanted)
    for part in (np.real, np.imag):
        np.testing.assert_allclose(part(got), part(wanted), rtol=rtol,
                                   atol=1e-30)


def fed(op, *values, **attrs):
    """The op's outputs where the shapes of its inputs are not known before."""
    inputs = [tf.placeholder(np.asarray(v).dtype) for v in values]
    return run(op(*inputs, **attrs), dict(zip(inputs, values)))


def test_expm1_of_complex_numbers_beyond_one_turn():
    x = np.array([1 + 4j, 2 - 7j, -3 + 100j, 1e-9 + 1e-9j, .1 + .2j],
                 np.complex64)
    check(tf.expm1(x), np.expm1(x.astype(np.complex128)), rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_incomplete_gamma_functions_of_zero_are_zero(dtype):
    a = np.array([0, -1, NAN, 1, INF, 1, 0], dtype)
    x = np.array([0, 0, 0, 0, 0, -1, 1], dtype)
    wanted = [0, 0, 0, 0, 0, NAN, NAN]
    for op in (raw_ops.Igamma, raw_ops.IgammaGradA):
        np.testing.assert_array_equal(run(op(a, x)), wanted)
    np.testing.assert_array_equal(
        run(raw_ops.RandomGammaGrad(a, x))[:5], wanted[:5])


def test_zeta_of_an_infinite_shift_is_zero():
    check(tf.zeta([2., 3., 1., .5, 2.], [INF, INF, INF, INF, 1.]),
          [0, 0, INF, NAN, np.pi ** 2 / 6])


def test_gradients_of_response_normalization_keep_infinities():
    ones = np.ones([1, 1, 1, 3], np.float32)
    infinite = np.array([INF, 1, 2], np.float32).reshape(ones.shape)

    def gradient(grads, image, output):
        return raw_ops.LRNGrad(grads, image, output, depth_radius=1)

    check(gradient(infinite, ones, ones)[0, 0, 0], [INF, -INF, .238034],
          rtol=1e-4)
    check(gradient(ones, ones, infinite)[0, 0, 0], [-INF, -INF, -.339316],
          rtol=1e-4)
    check(gradient(ones, infinite, ones)[0, 0, 0], [NAN, -.166667, .074915],
          rtol=1e-4)


def test_fourier_transforms_of_infinities_are_not_nan_everywhere():
    check(tf.fft(np.array([INF, 1, 2, 3], np.complex64)),
          [INF, complex(INF, 2), INF, complex(INF, -2)])
    check(tf.fft(np.array([INF, 1, 2], np.complex64)),
          [INF, complex(INF, .8660254), complex(INF, -.8660254)])
    check(tf.fft(np.array([1, INF, 2], np.complex64)),
          [INF, complex(-INF, -INF), complex(-INF, INF)])
    check(tf.ifft(np.array([INF, 1, 2, 3], np.complex64)),
          [INF, complex(INF, -.5), INF, complex(INF, .5)])
    check(raw_ops.FFT2D(np.array([[INF, 1], [2, 3]], np.complex64)),
          [[INF, INF], [INF, INF]])
    check(raw_ops.RFFT(np.array([INF, 1, 2, 3], np.float32), [4]),
          [INF, complex(INF, 2), INF])


@pytest.mark.parametrize("n", [3, 5, 7, 9, 11, 15, 21, 31, 49, 62, 37, 2 * 37])
def test_fourier_transforms_of_odd_lengths(n):
    x = np.random.default_rng(n).standard_normal((2, n, 2)) @ [1, 1j]
    check(tf.fft(tf.constant(x)), np.fft.fft(x), rtol=1e-8)
    check(tf.ifft(tf.constant(x)), np.fft.ifft(x), rtol=1e-8)


def test_rounding_integers_leaves_them_as_they_are():
    for dtype in (np.int32, np.int64):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        x = np.array([low, high, 0, 1, 5, -7], dtype)
        np.testing.assert_array_equal(run(tf.round(x)), x)


NAN_ROWS = np.array([
    [1, NAN, 3, NAN, 2, -1], [NAN, 5, 5, NAN, INF, -INF],
    [0, -0., 0, NAN, 1, 1], [NAN] * 6, [NAN, 1, 2, 3, 4, 5],
    [5, 4, 3, 2, 1, NAN]], np.float32)


@pytest.mark.parametrize("k, indices", [
    (1, [[2], [4], [4], [0], [5], [0]]),
    (2, [[1, 2], [0, 4], [4, 5], [0, 1], [0, 5], [0, 1]]),
    (3, [[1, 2, 4], [0, 4, 1], [4, 5, 0], [0, 1, 2], [0, 5, 4], [0, 1, 2]]),
    (6, [[2, 0, 1, 3, 4, 5], [0, 1, 2, 3, 4, 5], [4, 0, 1, 2, 3, 5],
         [0, 1, 2, 3, 4, 5], [0, 5, 4, 3, 2, 1], [0, 1, 2, 3, 4, 5]]),
])
def test_top_k_of_rows_with_nan_takes_the_same_elements(k, indices):
    values, found = run(tf.nn.top_k(NAN_ROWS, k))
    np.testing.assert_array_equal(found, indices)
    np.testing.assert_array_equal(
        values, np.take_along_axis(NAN_ROWS, np.array(indices), 1))


def test_top_k_of_long_rows_with_nan_ends():
    x = np.where(np.arange(5000) % 3, np.arange(5000.) % 97, NAN)
    for k in (1, 7, 4999, 5000):
        values, found = run(tf.nn.top_k(x, k))
        np.testing.assert_array_equal(values, x[found])
        assert len(set(found)) == k


def test_reversing_what_is_empty_looks_at_no_axis():
    empty = np.zeros([0, 3], np.float32)
    for axes in ([5], [0, 0], [-3]):
        assert fed(raw_ops.ReverseV2, empty, np.int32(axes)).shape == (0, 3)
    assert fed(raw_ops.ReverseV2, np.float32(1), np.int32([0])) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of valid"):
        fed(raw_ops.ReverseV2, np.ones([1, 3], np.float32), np.int32([5]))


def test_segment_gradients_of_no_rows_look_at_no_index():
    for op in (raw_ops.SparseSegmentSqrtNGrad, raw_ops.SparseSegmentMeanGrad,
               raw_ops.SparseSegmentSumGrad):
        grads = np.ones([2, 3], np.float32)
        assert fed(op, grads, np.int32([4, 0]), np.int32([0, 1]),
                   np.int32(0)).shape == (0, 3)
        np.testing.assert_array_equal(
            fed(op, grads[:0], np.int32([]), np.int32([]), np.int32(4)),
            np.zeros([4, 3]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Index 4"):
            fed(op, grads, np.int32([4, 0]), np.int32([0, 1]), np.int32(4))


def test_the_second_form_of_segment_gradients_looks_at_none_either():
    inputs = [np.ones([2, 3], np.float32), np.int32([4, 0]),
              np.int32([0, 1]), np.int32(0)]
    grads, indices = run(raw_ops.SparseSegmentSumGradV2(
        *inputs[:3], dense_output_dim0=inputs[3]))
    assert grads.shape == (0, 3) and indices.shape == (0,)


def test_the_range_of_requantization_is_its_vectors_first_elements():
    sums = tf.bitcast(np.array([1, 1000], np.int32), tf.qint32)
    ends = [tf.placeholder(tf.float32) for _ in range(2)]
    outputs = raw_ops.RequantizationRange(sums, *ends)
    low, high = run(outputs, dict(zip(ends, ([0., 9.], [1., 7.]))))
    assert low == 0
    np.testing.assert_allclose(high, .5000002, rtol=1e-5)
    for bad in ([], [INF]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="input_min"):
            run(outputs, dict(zip(ends, (bad, [1.]))))


def test_the_diagonal_of_a_scalar_is_itself():
    assert fed(raw_ops.DiagPart, np.float32(3)) == 3
    with pytest.raises(ValueError, match="non-zero rank"):
        raw_ops.DiagPart(np.float32(3))


def test_one_part_of_a_split_is_the_whole_whatever_the_axis():
    x = np.arange(8, dtype=np.float32).reshape(2, 4)

    def parts(axis, n):
        shape = np.shape(axis)
        at = tf.placeholder(tf.int32, shape)
        return run(raw_ops.Split(at, x, num_split=n), {at: axis})

    np.testing.assert_array_equal(parts([1], 1)[0], x)
    np.testing.assert_array_equal(parts([1, 7], 1)[0], x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
        parts([1], 2)
    with pytest.raises(ValueError, match="scalar"):
        raw_ops.Split([1], x, num_split=2)
    at = tf.placeholder(tf.int32, [1])
    left, right = run(raw_ops.SplitV(x, [1, 3], at, num_split=2), {at: [1]})
    assert left.shape == (2, 1) and right.shape == (2, 3)


def test_normalizing_nothing_gives_moments_that_are_nan():
    nothing = np.zeros([0, 4, 4, 2], np.float32)
    ones = np.ones(2, np.float32)
    for training in (False, True):
        outputs = run(raw_ops.FusedBatchNormV3(
            nothing, ones, ones, *((ones, ones) if not training else
                                   ([], [])), is_training=training))
        assert outputs[0].shape == nothing.shape
        assert np.isnan(outputs[1]).all() and np.isnan(outputs[2]).all()


def test_the_mean_of_no_complex_numbers_is_zero():
    for dtype in (np.complex64, np.complex128):
        check(tf.reduce_mean(np.zeros([0, 3], dtype), 0), [0, 0, 0])
    assert np.isnan(run(tf.reduce_mean(np.zeros([0], np.float32))))


@pytest.mark.parametrize("values, norm", [
    (np.array([100, 100], np.int8), 5),
    (np.array([2 ** 20, 2 ** 20, 5], np.int32), 5),
    (np.array([60000, 3], np.int32), -2 ** 31),
    (np.array([200, 100], np.uint8), 8), (np.array([3, 4], np.int64), 5),
])
def test_squares_of_integers_wrap_in_norms(values, norm):
    assert run(raw_ops.EuclideanNorm(values, 0)) == norm


def test_a_range_to_infinity_begins_at_its_start():
    np.testing.assert_array_equal(run(tf.linspace(1.5, INF, 3)),
                                  [1.5, INF, INF])


def test_quantization_lets_nan_through():
    x = np.array([NAN, 1, 9], np.float32)
    check(tf.fake_quant_with_min_max_args(x), [NAN, .98823524, 5.9764705])
    grads = np.array([1, NAN, INF], np.float32)
    check(tf.fake_quant_with_min_max_args_gradient(grads, x), [0, NAN, NAN])
    check(raw_ops.QuantizeAndDequantizeV4Grad(
        grads, x, np.float32(-6), np.float32(6))[0], [0, NAN, NAN])


def test_serialized_sparse_strings_are_tensor_content():
    sparse = tf.SparseTensor([[0], [1]], ["ab", "c" * 200], [3])
    serialized = run(tf.serialize_sparse(sparse))
    assert serialized[1] == (b"\x08\x07\x12\x04\x12\x02\x08\x02\x22"
                             b"\xcd\x01\x02\xc8\x01ab" + b"c" * 200)
    again = run(tf.deserialize_many_sparse(serialized[None], tf.string))
    assert again.values.tolist() == [b"ab", b"c" * 200]


@pytest.mark.parametrize("dtype, lowest", [
    (tf.float16, -65504.), (tf.bfloat16, -3.3895314e38),
    (tf.float32, -3.4028235e38)])
def test_empty_segments_have_the_lowest_finite_number(dtype, lowest):
    x = tf.cast([1., 2.], dtype)
    assert run(tf.cast(tf.unsorted_segment_max(x, [1, 1], 2), tf.float32)
               ).tolist() == [np.float32(lowest), 2]
    assert run(tf.cast(tf.unsorted_segment_min(x, [1, 1], 2), tf.float32)
               ).tolist() == [-np.float32(lowest), 1]


def test_extremes_of_infinite_segments_are_infinite():
    x = np.array([INF, INF, -INF, -INF, 1, INF, 2, NAN], np.float32)
    ids = [0, 0, 2, 2, 3, 3, 4, 4]
    np.testing.assert_array_equal(run(tf.segment_min(x, ids)),
                                  [INF, 0, -INF, 1, 2])
    np.testing.assert_array_equal(run(tf.segment_max(x, ids)),
                                  [INF, 0, -INF, INF, 2])
    assert run(tf.segment_max(np.int32([-5, -7]), [0, 0])).tolist() == [-5]


def test_joined_segments_do_not_begin_with_a_separator():
    joined = raw_ops.UnsortedSegmentJoin(
        ["", "a", "", "b", "", ""], [0, 0, 0, 0, 1, 1], 3, separator="-")
    assert run(joined).tolist() == [b"a--b", b"", b""]


def test_half_numbers_are_formatted_as_the_floats_that_they_are():
    assert run(tf.strings.format("{}", [np.float16([.1, 1.5])])) == \
        b"[0.0999755859 1.5]"
