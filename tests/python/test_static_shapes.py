"""What is known of shapes while a graph is built."""
import numpy as np
import pytest

import headrace as tf
from headrace import raw_ops


def static(tensor):
    shape = tensor.get_shape()
    return None if shape.ndims is None else shape.as_list()


def placeholder(*dims, dtype=tf.float32):
    return tf.placeholder(dtype, list(dims))


@pytest.mark.parametrize("limits, dtype, length", [
    ((0., 1., .1), tf.float32, 10), ((0., 3.5, 1.), tf.float64, 4),
    ((1., 0., -.25), tf.float32, 4), ((0., 2049., 1.), tf.float16, 2048),
    ((0., 1., .1), tf.bfloat16, 10),
])
def test_a_range_of_floats_has_a_length(limits, dtype, length):
    ends = [tf.cast(tf.constant(v, tf.float32), dtype) for v in limits]
    numbers = raw_ops.Range(*ends)
    assert static(numbers) == [length]
    with tf.Session() as session:
        assert session.run(numbers).shape == (length,)


def test_a_range_of_floats_that_the_kernel_refuses_has_no_length():
    for limits in ((0., 1., 0.), (1., 0., 1.), (0., float("nan"), 1.),
                   (0., float("inf"), 1.), (0., 1., -1.)):
        numbers = raw_ops.Range(*limits)
        assert static(numbers) == [None]
        with tf.Session() as session:
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(numbers)


def test_pad_knows_the_rows_of_stacked_paddings_that_are_known():
    x = placeholder(dtype=tf.int32)
    assert static(tf.pad(placeholder(2, 3), [[1, x], [2, 2]])) == [None, 7]
    assert static(tf.pad(placeholder(2, 3), tf.stack(
        [[1, 1], tf.stack([x, 2])]))) == [4, None]
    assert static(tf.pad(placeholder(2, 3), tf.reshape(
        tf.stack([1, 1, x, 2]), [-1, 2]))) == [4, None]
    assert static(tf.pad(placeholder(2, 3), [[1, x], [2, 2]],
                         mode="SYMMETRIC")) == [None, 7]
    assert static(tf.pad(placeholder(2, 3), tf.stack(
        [[1, 1], placeholder(2, dtype=tf.int32)]))) == [4, None]
    assert static(tf.pad(tf.placeholder(tf.float32), [[1, x], [2, 2]])) == [
        None, None]
    padded = tf.pad(tf.ones([2, 3]), [[1, x], [2, 2]])
    with tf.Session() as session:
        assert session.run(padded, {x: 5}).shape == (8, 7)


@pytest.mark.parametrize("dims, begin, size, shape", [
    ([3, 4, 6], ["n", 1, 0], [1, -1, -1], [1, 3, 6]),
    ([3, 4, 6], ["n", 1, 0], [-1, -1, 2], [None, 3, 2]),
    ([None, 4], [0, "n"], [-1, -1], [None, None]),
    ([3, 4], [1, "n"], [-1, -1], [2, None]),
    ([3, 4], ["n", 4], [1, -1], [1, 0]),
    ([3, 4], ["n", 5], [1, -1], [1, None]),
    (None, [1, "n"], [2, -1], [2, None])])
def test_slice_to_the_end_from_where_it_is_known(dims, begin, size, shape):
    n = placeholder(dtype=tf.int32)
    begin = [n if b == "n" else b for b in begin]
    assert static(tf.slice(tf.placeholder(tf.float32, dims), begin,
                           size)) == shape


@pytest.mark.parametrize("condition, first, second, shape", [
    ([2], [None, 3], [None, 3], [None, 3]), ([2], [None], [None], [None]),
    ([2], [None, 3], [2, None], [2, 3]), ([2, 3], [None, None], [None, None],
                                          [2, 3]),
    ([2, None], [None, 3], [None, 3], [2, 3]), ([], [None, 3], [2, None],
                                                [2, 3])])
def test_select_takes_no_rows_from_a_vector(condition, first, second, shape):
    # As TensorFlow 1.15.5 has it.
    assert static(tf.where(
        placeholder(*condition, dtype=tf.bool), placeholder(*first),
        placeholder(*second))) == shape


def test_ref_select_has_the_shape_of_all_inputs():
    variables = [raw_ops.VariableV2(shape=s, dtype=tf.float32)
                 for s in ([2, 3], [2, 3], [2, 4])]
    index = placeholder(dtype=tf.int32)
    assert static(raw_ops.RefSelect(index, variables[:2])) == [2, 3]
    assert static(raw_ops.RefSelect(index, variables)) is None


def test_restore_of_a_slice_has_its_shape():
    def restored(*slices):
        return [static(t) for t in raw_ops.RestoreV2(
            "prefix", ["v"] * len(slices), list(slices),
            dtypes=[tf.float32] * len(slices))]

    assert restored("", "4 5 0,2:-", "4 5 -:3,1") == [None, [2, 5], [4, 1]]
    assert static(raw_ops.RestoreSlice("prefix", "v", "7 0,3",
                                       dt=tf.float32)) == [3]
    with pytest.raises(ValueError, match="0,9"):
        restored("4 5 0,9:-")


@pytest.mark.parametrize("inputs, attr, inferred", [
    (([2, 3], [2, 3]), [2, 3], [2, 3]),
    (([2, None], [None, 3]), None, [2, 3]),
    ((None, None), [2, None], [2, None]),
    (([2, 3], [2, 3]), [4, 3], None),
])
def test_accumulate_n_does_not_contradict_its_inputs(inputs, attr, inferred):
    total = raw_ops.AccumulateNV2(
        [tf.placeholder(tf.float32, shape) for shape in inputs], shape=attr)
    assert static(total) == inferred


def test_handles_that_are_scalars_are_not_said_to_be_vectors():
    handles = [raw_ops.StackV2(3, elem_type=tf.float32),
               raw_ops.ResourceConditionalAccumulator(dtype=tf.float32,
                                                      shape=[2]),
               raw_ops.TensorArrayV3(3, dtype=tf.float32)[0]]
    for handle in handles:
        assert tf.TensorShape([]).is_compatible_with(handle.get_shape())


def test_unused_outputs_of_decompositions_are_scalars():
    matrices = tf.ones([2, 3, 3])
    unused = [*raw_ops.Svd(matrices, compute_uv=False)[1:],
              raw_ops.SelfAdjointEigV2(matrices, compute_v=False)[1],
              raw_ops.Eig(matrices, compute_v=False, Tout=tf.complex64)[1]]
    assert [static(t) for t in unused] == [[]] * 4
    with tf.Session() as session:
        for value in session.run(unused):
            assert value.shape == () and value == 0


def test_counts_of_sparse_and_ragged_values_have_the_rank_that_they_get():
    def rank(outputs):
        return static(outputs[0])[1]

    weights = np.zeros([0], np.float32)
    values = placeholder(None, dtype=tf.int64)
    for dims, wanted in ((1, 1), (2, 2), (3, None), (None, None)):
        assert rank(raw_ops.SparseCountSparseOutput(
            placeholder(None, dims, dtype=tf.int64), values,
            placeholder(dims, dtype=tf.int64), weights,
            binary_output=False)) == wanted
    splits = placeholder(None, dtype=tf.int64)
    assert rank(raw_ops.RaggedCountSparseOutput(
        splits, values, weights, binary_output=False)) == 2
    assert static(raw_ops.DenseBincount(
        placeholder(dtype=tf.int64), placeholder(dtype=tf.int64),
        weights)) is None
    assert static(raw_ops.DenseBincount(
        placeholder(dtype=tf.int64), np.int64(5), weights)) == [5]


def test_image_gradients_say_nothing_of_sizes_that_differ():
    for op in (raw_ops.ResizeBicubicGrad, raw_ops.ResizeBilinearGrad):
        assert static(op(placeholder(2, 3, 3, None),
                         placeholder(None, 5, 4, 1))) == [2, 5, 4, None]
        assert static(op(placeholder(2, 3, 3, 1),
                         placeholder(3, 5, 4, 2))) == [None, 5, 4, None]


def test_quantization_gradients_merge_the_shapes_of_both_ends():
    def ends(low, high, axis):
        outputs = raw_ops.QuantizeAndDequantizeV4Grad(
            placeholder(2, 3), placeholder(2, 3),
            tf.placeholder(tf.float32, low), tf.placeholder(tf.float32, high),
            axis=axis)
        return static(outputs[1])

    assert ends(None, None, -1) == []
    assert ends([2], None, 0) == [2]
    with pytest.raises(ValueError, match="equal rank"):
        ends([], [2, 2], -1)


def test_gru_gradients_of_gates_are_as_wide_as_the_weights():
    outputs = raw_ops.GRUBlockCellGrad(
        *[tf.placeholder(tf.float32, shape) for shape in (
            [2, 3], [2, 4], [7, 8], None, None, None, None, None, None, None)])
    assert [static(t) for t in outputs] == [[2, 3], [2, 4], [2, 4], [2, 8]]


def test_counts_of_values_of_unknown_rank_have_that_of_their_weights():
    values = tf.placeholder(tf.int64)

    def rank(weights):
        return static(raw_ops.DenseCountSparseOutput(
            values, weights, binary_output=False)[0])[1]

    assert rank(placeholder(2, 3)) == 2
    assert rank(placeholder(0)) is None  # left out
    assert rank(tf.placeholder(tf.float32)) is None


def test_a_product_without_broadcasting_has_the_batch_of_either_side():
    unknown = tf.placeholder(tf.float32)
    assert static(raw_ops.BatchMatMul(unknown, placeholder(5, 2, 3))) == [
        5, None, 3]
    assert static(raw_ops.BatchMatMulV2(unknown, placeholder(5, 2, 3))) is None


def test_broadcasting_keeps_sizes_above_one():
    sizes = tf.placeholder(tf.int32, [3])
    assert static(tf.broadcast_to(placeholder(4, 1), sizes)) == [
        None, 4, None]


def test_setting_diagonals_of_unknown_matrices_tells_their_batch():
    unknown = tf.placeholder(tf.float32)
    assert static(raw_ops.MatrixSetDiag(unknown, placeholder(5, 3))) == [
        5, None, None]
    assert static(raw_ops.MatrixSetDiagV2(
        unknown, placeholder(5, 2, 3), [0, 1])) == [5, None, None]


def test_ragged_examples_have_a_row_for_each_record():
    outputs = raw_ops.ParseExampleV2(
        placeholder(7, dtype=tf.string), [], [], [], ["r"], [], num_sparse=0,
        sparse_types=[], ragged_value_types=[tf.float32],
        ragged_split_types=[tf.int64], dense_shapes=[])
    assert [static(t) for t in outputs.ragged_values +
            outputs.ragged_row_splits] == [[None], [8]]


def test_solvers_know_the_batch_from_either_side():
    unknown = tf.placeholder(tf.float32)
    assert static(raw_ops.MatrixSolve(placeholder(2, 5, 5), unknown)) == [
        2, 5, None]
    assert static(raw_ops.MatrixSolve(unknown, placeholder(2, 5, 3))) == [
        2, 5, 3]
    assert static(raw_ops.TridiagonalSolve(unknown, placeholder(2, 5, 3))) == [
        2, 5, 3]


def test_joined_strings_have_the_shape_of_those_that_are_no_scalars():
    unknown = tf.placeholder(tf.string)
    assert static(tf.string_join([unknown, ["a", "b"], "c"])) == [2]
    assert static(tf.string_join([unknown, "c"])) is None


def test_batches_and_space_of_unknown_rank_have_four_dimensions():
    image = tf.placeholder(tf.float32)
    none = [[0, 0], [0, 0]]
    assert static(tf.batch_to_space(image, none, 2)) == [None] * 4
    assert static(tf.space_to_batch(image, none, 2)) == [None] * 4
    with pytest.raises(ValueError, match="rank 4"):
        tf.batch_to_space(placeholder(None, None, 3), none, 2)


def test_boxes_of_images_of_unknown_rank_are_those_of_one_image():
    image = tf.placeholder(tf.float32)
    pad, crop = tf.image.pad_to_bounding_box, tf.image.crop_to_bounding_box
    assert static(pad(image, 1, 2, 9, 8)) == [9, 8, None]
    assert static(crop(image, 1, 2, 3, 4)) == [3, 4, None]
    with tf.Session() as session:
        assert session.run(pad(image, 1, 2, 9, 8),
                           {image: np.ones([2, 3, 5])}).shape == (9, 8, 5)


def test_the_axis_of_a_concatenation_is_a_scalar():
    for axis in ([1], placeholder(1, dtype=tf.int32)):
        with pytest.raises(ValueError, match="rank 0"):
            raw_ops.ConcatV2([tf.ones([2, 3])] * 2, axis)


@pytest.mark.parametrize("op", [
    lambda shape: raw_ops.Fill(shape, 1.),
    lambda shape: raw_ops.RandomUniform(shape, dtype=tf.float32),
    lambda shape: raw_ops.Reshape(tf.ones([2, 3]), shape),
    lambda shape: raw_ops.Tile(tf.ones([2, 3]), shape),
    lambda shape: raw_ops.BroadcastTo(tf.ones([2, 3]), shape),
    lambda shape: raw_ops.ScatterNd(tf.zeros([3, 1], tf.int32), tf.zeros([3]),
                                    shape),
    lambda shape: raw_ops.SparseToDense([[0]], shape, [1.], 0.),
])
def test_a_shape_that_is_a_scalar_is_refused_while_the_graph_is_built(op):
    with pytest.raises(ValueError, match="rank 1 but is rank 0"):
        op(placeholder(dtype=tf.int32))


def test_sparse_sums_have_the_shape_of_their_terms():
    def sparse(shape):
        return tf.SparseTensor(np.zeros([1, 2], np.int64), [1.], shape)

    assert tf.sparse_add(sparse([2, 3]), sparse([2, 3])).get_shape() == [2, 3]
    with pytest.raises(ValueError, match="incompatible"):
        tf.sparse_add(sparse([2, 3]), sparse([2, 4]))


@pytest.mark.parametrize("first, second, common", [
    ([3], [3], [3]), ([3], [4], [None]), ([None], [4], [None]),
    ([3], [3, 4], None), ([3, None], [3, 4], [3, None]),
])
def test_a_queue_from_a_list_has_the_common_shape(first, second, common):
    queues = [tf.PaddingFIFOQueue(10, [tf.float32], [shape])
              for shape in (first, second)]
    picked = tf.QueueBase.from_list(placeholder(dtype=tf.int32), queues)
    assert static(picked.dequeue()) == common


def test_a_loop_sees_the_values_of_its_invariants():
    length = tf.constant([2])
    columns = tf.stack([tf.shape(tf.zeros([3, 2]))[1]])
    seen = []

    def body(i):
        seen.extend([tf.fill(columns, i), tf.fill(length, i), tf.zeros(length),
                     tf.reshape(tf.range(6), tf.stack([length[0], -1]))])
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    assert [static(t) for t in seen] == [[2], [2], [2], [None, None]]


def test_the_batch_of_a_glimpse_is_that_of_the_offsets():
    image = placeholder(None, None, None, 3)
    assert static(tf.image.extract_glimpse(
        image, [4, 5], np.zeros([2, 2], np.float32))) == [2, 4, 5, 3]
    assert static(tf.image.extract_glimpse(
        tf.zeros([7, 8, 8, 1]), [4, 5], placeholder(None, 2))) == [7, 4, 5, 1]


@pytest.mark.parametrize("reduce", [tf.reduce_sum, tf.reduce_max, tf.reduce_mean])
def test_axes_are_at_most_a_vector(reduce):
    with pytest.raises(ValueError, match="must be at most rank 1 but is rank 2"):
        reduce([[1., 2.]], [[0, 1]])
    with pytest.raises(ValueError, match="Invalid reduction dimension 5 for "
                                         "input with 2 dimensions"):
        reduce([[1., 2.]], [5])


def test_tensordot_knows_the_axes_of_a_constant():
    x = placeholder(2, 3, 4)
    product = tf.tensordot(x, placeholder(2, 5), tf.constant([[0], [0]]))
    assert static(product) == [3, 4, 5]


def test_sparse_tensors_made_of_others_know_their_shapes():
    x = tf.SparseTensor(np.zeros([1, 2], np.int64), [1.], [2, 3])
    wide = tf.SparseTensor(np.zeros([1, 2], np.int64), [1.], [2, 5])
    assert tf.sparse_concat(0, [x, x]).get_shape().as_list() == [4, 3]
    assert tf.sparse_concat(-1, [x, wide]).get_shape().as_list() == [2, 8]
    assert tf.sparse_concat(0, [x, wide], expand_nonconcat_dim=True
                            ).get_shape().as_list() == [4, 5]
    dense = placeholder(2, None)
    assert tf.sparse.from_dense(dense).get_shape().as_list() == [2, None]
    assert tf.sparse.expand_dims(x, 0).get_shape().as_list() == [
        1, None, None]


@pytest.mark.parametrize("function", [
    tf.image.flip_left_right, tf.image.flip_up_down, tf.image.rot90,
    lambda x: tf.image.rot90(x, tf.constant(2)),
    lambda x: tf.image.rot90(x, 0), lambda x: tf.image.rot90(
        x, tf.placeholder(tf.int32, [])),
    tf.image.random_flip_left_right, tf.image.random_flip_up_down])
def test_an_image_of_unknown_rank_is_turned_as_one(function):
    image = tf.placeholder(tf.float32)
    assert static(function(image)) == [None] * 3
    assert static(image) is None
    assert static(function(placeholder(2, None, 4, 3)))[::3] == [2, 3]


def test_padded_batches_know_the_shape_of_a_constant():
    rows = tf.data.Dataset.range(1, 4).map(lambda x: tf.fill([x], x))
    batches = rows.padded_batch(2, tf.constant([5], tf.int64))
    assert batches.output_shapes.as_list() == [None, 5]


def test_stacked_and_joined_invariants_of_a_loop():
    # What TensorFlow 1.15.5 knows.
    n = tf.constant(1) + 2
    m = tf.constant([2, 3])
    seen = []

    def body(i):
        seen.extend([
            tf.ones([n]), tf.ones([n, n]), tf.ones(tf.concat([m, [n]], 0)),
            tf.ones([m[0], 4]), tf.ones(m * 2), tf.ones(m[:1]),
            tf.ones(tf.concat([m[:1], [n]], 0)), tf.ones(tf.cast(m, tf.int64)),
            tf.ones([n + 1]), tf.ones(tf.identity(m))])
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    assert [static(t) for t in seen] == [
        [3], [3, 3], [2, 3, 3], [None, 4], [None, None], [2], [2, 3],
        [None, None], [None], [None, None]]


@pytest.mark.parametrize("shift, axis, message", [
    ([1], [0, 1], "Dimension 0 in both shapes must be equal, but are 1 and 2"),
    (1, [0, 1], "Shapes must be equal rank, but are 0 and 1"),
])
def test_roll_wants_as_many_axes_as_shifts(shift, axis, message):
    with pytest.raises(ValueError, match=message):
        tf.roll(tf.ones([2, 3]), shift, axis)
