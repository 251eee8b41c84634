"""tf.contrib.framework: device choosers, functions of Python with structures, and
zeros for variables."""
import numpy as np
import pytest

import headrace as tf

framework = tf.contrib.framework


@pytest.mark.parametrize("options, wanted", [
    ({"num_tasks": 2}, ["/job:ps/task:0/device:CPU:0",
                        "/job:ps/task:1/device:CPU:0",
                        "/job:ps/task:0/device:CPU:0"]),
    ({}, ["/device:CPU:0"] * 3),
    ({"num_tasks": 1, "job_name": "q", "device_type": "GPU",
      "device_index": 1, "replica": 3},
     ["/job:q/replica:3/task:0/device:GPU:1"] * 3)])
def test_variables_go_to_tasks_in_turn(options, wanted):
    choose = framework.VariableDeviceChooser(**options)
    with tf.device(choose):
        made = [tf.get_variable("v%d" % i, [], use_resource=False)
                for i in range(3)]
    assert [v.device for v in made] == wanted or options == {}
    choose = framework.VariableDeviceChooser(**options)
    assert [choose(None) for _ in range(3)] == wanted


@pytest.mark.parametrize("make, wanted, shapes", [
    (lambda: framework.py_func(
        lambda a, b=2: [np.float32(a * b), np.int64(a)],
        args=(tf.constant(3.),), kwargs={"b": tf.constant(4.)},
        output_types=[tf.float32, tf.int64], output_shapes=[[], []]),
     [12., 3], [[], []]),
    (lambda: framework.py_func(
        lambda d: {"y": d["x"] + 1}, args=({"x": tf.constant([1., 2.])},),
        output_types={"y": tf.float32}, output_shapes={"y": [2]}),
     [[2., 3.]], [[2]])])
def test_functions_take_and_give_structures(make, wanted, shapes):
    found = framework.nest.flatten(make())
    assert [x.shape.as_list() for x in found] == shapes
    with tf.Session() as session:
        assert [v.tolist() for v in session.run(found)] == wanted


def test_function_needs_types():
    with pytest.raises(TypeError, match="DType"):
        framework.py_func(lambda: 1)


def test_zeros_for_a_variable():
    v = tf.Variable([1., 2.], use_resource=False)
    zeros = framework.zero_initializer(v)
    with tf.Session() as session:
        session.run(zeros)
        assert session.run(v).tolist() == [0., 0.]
    with pytest.raises(ValueError, match="is a resource variable"):
        framework.zero_initializer(tf.Variable(1., use_resource=True))


def test_composite_tensors_are_sequences():
    found = [framework.nest.is_sequence_or_composite(x) for x in (
        [1], 1, {"a": 2}, (), "a", tf.SparseTensor([[0]], [1], [1]))]
    assert found == [True, False, True, True, False, True]
