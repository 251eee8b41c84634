"""tensorflow.python.distribute.all_reduce, which tf.contrib.all_reduce is too,
on processors of one process. The values have the bits of TensorFlow 1.15.5."""
import numpy as np
import pytest

import headrace as tf
from tensorflow_modules import tensorflow

with tensorflow():
    from tensorflow.contrib.all_reduce.python import all_reduce
    from tensorflow.contrib.nccl.python.ops import nccl_ops

DEVICES = ["/job:localhost/replica:0/task:0/device:CPU:%d" % i
           for i in range(8)]


def inputs(n, shape):
    made = []
    for i in range(n):
        with tf.device(DEVICES[i]):
            made.append(tf.constant(values(i, shape)))
    return made


def values(i, shape):
    return np.random.RandomState(i).randn(*shape).astype(np.float32)


def ring(x, red_op=tf.add, **options):
    options = {"num_workers": 1, "num_subchunks": 1,
               "gpu_perm": list(range(len(x))), **options}
    return all_reduce.build_ring_all_reduce(x, red_op=red_op, **options)


def in_order(arrays):
    total = arrays[0]
    for a in arrays[1:]:
        total = total + a
    return total


@pytest.mark.parametrize("shape", [[16, 4], [8], [3], [37], [1]])
@pytest.mark.parametrize("reduce, wanted", [
    (ring, sum), (lambda x: ring(x, tf.maximum), np.max),
    (lambda x: ring(x, num_subchunks=2, gpu_perm=[3, 2, 1, 0],
                    un_op=tf.negative), lambda a: -sum(a)),
    (lambda x: ring(x, num_workers=2, gpu_perm=[1, 0]), sum),
    (lambda x: all_reduce.build_shuffle_all_reduce(
        x, DEVICES[2:5], tf.add_n, tf.negative), lambda a: -in_order(a)),
    (lambda x: all_reduce.build_shuffle_then_ring(
        x, DEVICES[:1], 1, tf.add_n, tf.add, tf.negative),
     lambda a: -in_order(a)),
    (lambda x: all_reduce.build_shuffle_then_shuffle(
        x, DEVICES[:1], DEVICES[1:3], tf.add_n), in_order)])
def test_each_device_gets_the_reduction(reduce, wanted, shape):
    arrays = [values(i, shape) for i in range(4)]
    wanted = np.max(arrays, 0) if wanted is np.max else wanted(arrays)
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(
            device_count={"CPU": 8})) as s:
        results = reduce(inputs(4, shape))
        assert [r.device for r in results] == DEVICES[:4]
        found = s.run(results)
        for value in found:
            assert value.tobytes() == found[0].tobytes()
            np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 8])
def test_pairs_exchange_halves(n):
    arrays = [values(i, [4, 4]) for i in range(n)]
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(
            device_count={"CPU": 8})) as s:
        results = all_reduce.build_recursive_hd_all_reduce(
            inputs(n, [4, 4]), tf.add, tf.negative)
        for value in s.run(results):
            np.testing.assert_allclose(value, -sum(arrays), rtol=1e-5,
                                       atol=1e-6)


@pytest.mark.parametrize("arguments, before, rank", [
    ((1, 1, [0, 1]), [[1, 0]], [[0, 1]]),
    ((3, 1, [1, 0]), [[1, 4, 3, 0, 5, 2]], [[1, 0, 3, 2, 5, 4]]),
    ((2, 2, [0, 1]), [[3, 0, 1, 2], [1, 2, 3, 0]],
     [[0, 1, 2, 3], [1, 0, 3, 2]]), ((0, 1, []), [], [])])
def test_rings(arguments, before, rank):
    assert all_reduce._ring_permutations(*arguments) == (before, rank)


def test_parts():
    with tf.Graph().as_default(), tf.Session() as s:
        x = tf.range(7)
        for pieces, sizes, padding in ((3, [3, 3, 3], 2), (7, [1] * 7, 0),
                                       (9, [1] * 9, 2), (5, [2] * 5, 3)):
            parts, padded = all_reduce._padded_split(x, pieces)
            assert [p.shape.as_list()[0] for p in parts] == sizes
            assert padded == padding
            whole = tf.concat(parts, 0)
            assert s.run(all_reduce._strip_padding([whole], padded))[
                0].tolist() == list(range(7))
        parts = s.run(all_reduce._ragged_split(x, 3))
        assert [p.tolist() for p in parts] == [[0, 1], [2, 3], [4, 5, 6]]
    assert all_reduce._split_by_task(
        ["/job:a/task:1/cpu:0", "/task:0/cpu:0", "/job:a/task:1/cpu:1"],
        [1, 2, 3]) == ([["/job:a/task:1/cpu:0", "/job:a/task:1/cpu:1"],
                        ["/task:0/cpu:0"]], [[1, 3], [2]])


@pytest.mark.parametrize("call, words", [
    (lambda: ring(inputs(1, [2])), "length 2 or longer"),
    (lambda: ring(inputs(2, [2]), num_subchunks=3), "3 must be <= num_gpus 2"),
    (lambda: all_reduce.build_recursive_hd_all_reduce(inputs(3, [8]), tf.add),
     "power of 2, got 3"),
    (lambda: all_reduce.build_shuffle_all_reduce([], DEVICES, tf.add_n),
     "cannot be empty"),
    (lambda: all_reduce.build_shuffle_all_reduce(
        [tf.placeholder(tf.float32)], DEVICES, tf.add_n), "known shape"),
    (lambda: all_reduce.build_shuffle_then_ring(
        inputs(2, [2]), DEVICES[:2], 1, tf.add_n, tf.add),
     "one device per worker. Got 2 for 1"),
    (lambda: all_reduce._split_by_task(["/cpu:0"], [1]), "has no task"),
    (lambda: all_reduce.build_nccl_all_reduce(inputs(2, [2]), tf.multiply),
     "red_op not supported by NCCL"),
    (lambda: nccl_ops.all_sum([]), "Must pass >0 tensors"),
    (lambda: nccl_ops.broadcast(tf.constant(1.)), "Device assignment")])
def test_refusals(call, words):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("call", [
    nccl_ops.all_sum, nccl_ops.all_prod, nccl_ops.all_min, nccl_ops.all_max,
    nccl_ops.reduce_sum, lambda x: nccl_ops.broadcast(x[0]),
    lambda x: all_reduce.build_nccl_all_reduce(x, tf.add),
    lambda x: all_reduce.build_nccl_then_ring(x, 1, tf.add),
    lambda x: all_reduce.build_nccl_then_recursive_hd(x, tf.add),
    lambda x: all_reduce.build_nccl_then_shuffle(x, DEVICES, tf.add,
                                                 tf.add_n)])
def test_there_is_no_nccl(call):
    with tf.Graph().as_default(), pytest.raises(
            tf.errors.UnimplementedError,
            match="no op Nccl.*device:CPU:0.*; use tf.add_n"):
        call(inputs(2, [2]))
