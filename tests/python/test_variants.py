"""Sums and zeros of what variants hold. Values are TensorFlow's."""
import pytest

import headrace as tf

raw = tf.raw_ops


def run(*fetches):
    with tf.Session() as sess:
        return [v.tolist() if hasattr(v, "tolist") else v
                for v in sess.run(list(fetches))]


def tensor_list(value, dtype=tf.float32):
    return raw.TensorListFromTensor(tf.constant(value, dtype), [2])


def stack(handle, dtype=tf.float32):
    return raw.TensorListStack(handle, [2], element_dtype=dtype)


def add(*values):
    return raw.AddN(list(values))


def test_lists():
    a = tensor_list([[1, 2], [3, 4]])
    b = tensor_list([[10, 20], [30, 40]])
    unset = raw.TensorListReserve([2], 2, element_dtype=tf.float32)
    partly = raw.TensorListSetItem(unset, 1, [5., 6.])
    got = run(stack(add(a, b, a)), stack(add(a)), stack(add(a, unset)),
              stack(add(unset, a)), stack(add(partly, a)),
              raw.TensorListLength(add(unset, unset)),
              stack(raw.ZerosLike(a)), stack(add(raw.ZerosLike(partly), a)),
              stack(a))
    assert got == [
        [[12, 24], [36, 48]], [[1, 2], [3, 4]], [[1, 2], [3, 4]],
        [[1, 2], [3, 4]], [[1, 2], [8, 10]], 2, [[0, 0], [0, 0]],
        [[1, 2], [3, 4]], [[1, 2], [3, 4]]]
    largest = tensor_list([[2**31 - 1, 1]], tf.int32)
    assert run(stack(add(largest, largest), tf.int32)) == [[[-2, 2]]]


def test_lists_of_lists():
    inner = tensor_list([[1, 2]])
    empty = raw.EmptyTensorList(tf.constant([], tf.int32), -1,
                                element_dtype=tf.variant)
    outer = raw.TensorListPushBack(empty, inner)
    twice = add(outer, outer)
    first = raw.TensorListGetItem(twice, 0, tf.constant([], tf.int32),
                                  element_dtype=tf.variant)
    assert run(stack(first)) == [[[2, 4]]]
    deep = inner
    for _ in range(100):
        deep = raw.TensorListPushBack(empty, deep)
    for op in (add(deep, deep), raw.ZerosLike(deep)):
        with pytest.raises(tf.errors.ResourceExhaustedError, match="64 deep"):
            run(raw.TensorListLength(op))


def test_maps_and_optionals():
    key, other = tf.constant(1), tf.constant(2)
    a = raw.TensorMapInsert(raw.EmptyTensorMap(), key, tf.constant([1., 2.]))
    b = raw.TensorMapInsert(a, other, tf.constant(3.))

    def item(handle, k):
        return raw.TensorMapLookup(handle, k, value_dtype=tf.float32)
    both = add(a, b)
    assert run(raw.TensorMapSize(both), item(both, key), item(both, other),
               item(raw.ZerosLike(b), key)) == [2, [2, 4], 3, [0, 0]]

    some = raw.OptionalFromValue([tf.constant(3.), tf.constant([1, 2])])

    def values(optional):
        return raw.OptionalGetValue(optional,
                                    output_types=[tf.float32, tf.int32],
                                    output_shapes=[[], [2]])
    assert run(*values(add(some, some)), *values(raw.ZerosLike(some))) == [
        6, [2, 4], 0, [0, 0]]
    nothing = raw.OptionalNone()
    assert run(raw.OptionalHasValue(add(nothing, nothing))) == [False]
    with pytest.raises(tf.errors.InvalidArgumentError, match="optionals"):
        run(raw.OptionalHasValue(add(some, nothing)))


@pytest.mark.parametrize("make, message", [
    (lambda a: (a, tensor_list([[1, 2]])), "different lengths"),
    (lambda a: (a, tensor_list([[1, 2], [3, 4]], tf.int32)),
     "different dtypes"),
    (lambda a: (a, raw.EmptyTensorMap()), "'tensorflow::TensorMap'"),
    (lambda a: (tf.stack([a, a]), tf.stack([a, a])), "no scalars"),
    (lambda a: (tf.data.Dataset.range(3)._variant_tensor,) * 2,
     "cannot be added"),
    (lambda a: (raw.TensorListReserve([3], 2, element_dtype=tf.float32), a),
     "incompatible element shapes"),
    (lambda a: [raw.TensorListPushBack(raw.EmptyTensorList(
        -1, -1, element_dtype=tf.string), "x")] * 2, "type string"),
])
def test_what_cannot_be_added(make, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(raw.AsString(add(*make(tensor_list([[1, 2], [3, 4]])))))


def test_as_string():
    assert run(raw.AsString(tensor_list([[1, 2]])),
               raw.AsString(raw.EmptyTensorMap())) == [
        b"Variant<type: tensorflow::TensorList value: TensorList>",
        b"Variant<type: tensorflow::TensorMap value: TensorMap>"]


def test_immutable_const(tmp_path):
    path = tmp_path / "region"
    path.write_bytes(bytes(range(24)) + b"\1\0\1")

    def const(dtype, shape, name=path):
        return raw.ImmutableConst(dtype=dtype, shape=shape,
                                  memory_region_name=str(name))
    x = const(tf.uint8, [2, 3])
    assert run(x, x + x, const(tf.int16, []), const(tf.float32, [0])) == [
        [[0, 1, 2], [3, 4, 5]], [[0, 2, 4], [6, 8, 10]], 256, []]
    for dtype, shape, name, error, message in [
            (tf.float32, [7], path, tf.errors.InvalidArgumentError,
             "has 27 bytes, fewer than"),
            (tf.float32, [2**62 - 1], path, tf.errors.InvalidArgumentError,
             "fewer than"),
            (tf.float32, [2**31, 2**31], path, tf.errors.OpError, "."),
            (tf.float32, None, path, tf.errors.InvalidArgumentError,
             "fully known"),
            (tf.string, [1], path, tf.errors.UnimplementedError, "string"),
            (tf.bool, [3], path, tf.errors.InvalidArgumentError, "booleans"),
            (tf.float32, [1], tmp_path / "none", tf.errors.NotFoundError,
             "none"),
            (tf.float32, [1], tmp_path, tf.errors.OpError, ".")]:
        with tf.Graph().as_default(), pytest.raises(error, match=message):
            run(const(dtype, shape, name))
