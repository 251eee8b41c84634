"""What variables can do beside being read: protos, scatters, slices; and where
their nodes go."""
import numpy as np
import pytest

import headrace as tf

KINDS = pytest.mark.parametrize("resource", [False, True])


def value_of(fetch):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetch)


def rows():
    return tf.IndexedSlices(values=tf.constant([5., 6.]),
                            indices=tf.constant([0, 2]))


SCATTERED = {"add": [6, 20, 9], "sub": [-4, 20, -3], "mul": [5, 20, 18],
             "div": [.2, 20, .5], "min": [1, 20, 3], "max": [5, 20, 6],
             "update": [5, 20, 6]}


@KINDS
@pytest.mark.parametrize("how", SCATTERED)
def test_scatter_methods(resource, how):
    v = tf.Variable([1., 20., 3.], use_resource=resource)
    np.testing.assert_allclose(
        value_of(getattr(v, "scatter_" + how)(rows())), SCATTERED[how])
    with pytest.raises(TypeError, match="sparse_delta is not IndexedSlices"):
        getattr(v, "scatter_" + how)([1.])


@KINDS
@pytest.mark.parametrize("how", ["add", "sub", "update"])
def test_scatter_nd_methods_and_functions(resource, how):
    v = tf.Variable([1., 20., 3.], use_resource=resource)
    method = getattr(v, "scatter_nd_" + how)([[0], [2]], [5., 6.])
    assert value_of(method).tolist() == SCATTERED[how]
    function = getattr(tf, "scatter_nd_" + how)(v, [[0], [2]], [5., 6.])
    assert value_of(function).tolist() == SCATTERED[how]


@KINDS
def test_batch_scatter_update(resource):
    v = tf.Variable([[1., 2.], [3., 4.]], use_resource=resource)
    delta = tf.IndexedSlices(indices=tf.constant([[0], [1]]),
                             values=tf.constant([[9.], [8.]]))
    assert value_of(v.batch_scatter_update(delta)).tolist() == [[9, 2], [3, 8]]
    assert value_of(tf.batch_scatter_update(v, [[1], [0]], [[9.], [8.]])
                    ).tolist() == [[1, 9], [8, 4]]


@KINDS
def test_slice_of_a_variable_is_assigned(resource):
    v = tf.Variable([[1., 2.], [3., 4.]], use_resource=resource)
    assert value_of(v[:, 1].assign([7., 8.])).tolist() == [[1, 7], [3, 8]]
    assert value_of(v[..., tf.newaxis, 0].assign([[7.], [8.]])
                    ).tolist() == [[7, 2], [8, 4]]
    w = tf.Variable([1, 2, 3, 4], use_resource=resource)
    assert value_of(w[::-2].assign([7, 8])).tolist() == [1, 8, 3, 7]
    assert value_of(tf.assign(w[1:3], [7, 8])).tolist() == [1, 7, 8, 4]
    with pytest.raises(tf.errors.OpError):
        value_of(w[1:3].assign([7, 8, 9]))


def test_slice_of_a_tensor_is_not_assigned():
    with pytest.raises(ValueError, match="only supported for variables"):
        tf.constant([1, 2])[:1].assign([1])
    assert not hasattr(tf.constant([1, 2]), "assign")


def test_reads_of_parts_are_there_for_resources():
    v = tf.Variable([1, 2, 3, 4], use_resource=True)
    assert value_of(v.sparse_read([1, 2])).tolist() == [2, 3]
    assert value_of(v.gather_nd([[1]])).tolist() == [2]
    assert tf.gather_nd(v, [[1]]).op.inputs[0].op.type == "ResourceGatherNd"
    ref = tf.Variable([1, 2, 3, 4], use_resource=False)
    with pytest.raises(AttributeError):
        ref.sparse_read([1])
    assert value_of([tf.gather(ref, [1]), tf.gather_nd(ref, [[2]])])[1] == [3]


@KINDS
def test_variable_def_names_the_nodes(resource):
    with tf.name_scope("s"):
        v = tf.Variable([1., 2.], name="v", trainable=False,
                        use_resource=resource)
    v._set_save_slice_info(tf.Variable.SaveSliceInfo(
        "whole", [4], [0], [2]))
    d = v.to_proto()
    assert d.variable_name == "s/v:0" and d.is_resource == resource
    assert d.save_slice_info_def.full_name == "whole"
    for w in (tf.Variable.from_proto(d),
              tf.Variable(variable_def=d, use_resource=resource)):
        assert type(w) is type(v) and w.op is v.op
        assert w.initializer is v.initializer
        assert w.initial_value is v.initial_value
        assert w.trainable is False and w.get_shape().as_list() == [2]
        assert w._get_save_slice_info().spec == "4 0,2"
        assert value_of(w).tolist() == [1, 2]
    assert v.to_proto("s").variable_name == "v:0"
    assert v.to_proto("t") is None
    inside = tf.Variable.from_proto(v.to_proto("s"), import_scope="s")
    assert inside.op is v.op
    with pytest.raises(ValueError, match="mutually exclusive"):
        tf.Variable([1.], variable_def=d)


@KINDS
def test_initialized_value_reads_the_variable(resource):
    v = tf.Variable(3, use_resource=resource)
    known = v.initialized_value()
    with tf.Session() as sess:
        assert sess.run(known) == 3
        sess.run(v.initializer)
        sess.run(v.assign_add(1))
        assert sess.run(known) == 4


def test_assign_of_a_resource_can_be_assigned_to():
    v = tf.Variable(3, use_resource=True)
    assert value_of(v.assign_add(1).assign_add(2)) == 6
    assert v.assign(1).op.type == "AssignVariableOp"
    with pytest.raises(RuntimeError, match="not supported"):
        v += 1


def test_state_ops_are_colocated_with_their_variable():
    with tf.device("/cpu:1"):
        v = tf.Variable([1.], name="v")
    with tf.device("/cpu:0"):
        updates = [v.assign([2.]), tf.assign_add(v, [1.]),
                   tf.scatter_update(v, [0], [2.]), v[:1].assign([3.])]
    for op in [u.op for u in updates] + [v.initializer]:
        assert op.colocation_groups() == [b"loc:@v"], op
        assert op.device == "/device:CPU:1"
    with tf.device("/cpu:1"):
        r = tf.Variable(1., name="r", use_resource=True)
    assert r.op.colocation_groups() == [b"loc:@r"]
    assert r.initializer.device == r.value().device == "/device:CPU:1"


def test_caching_device_has_a_copy():
    with tf.variable_scope("a", caching_device="/cpu:1"):
        got = tf.get_variable("v", [2])
    ref = tf.Variable(1., caching_device="/cpu:1")
    resource = tf.Variable(1., caching_device="/cpu:1", use_resource=True)
    for v in (got, ref, resource):
        assert v.value().device == "/device:CPU:1"
        assert v.value().op.type == "Identity"
    assert value_of([ref, resource]) == [1, 1]


def test_container_holds_what_is_made_inside():
    with tf.container("kept"):
        v = tf.Variable(1.)
        r = tf.Variable(1., use_resource=True)
        q = tf.FIFOQueue(1, tf.float32)
        with tf.container("other"):
            w = tf.Variable(1.)
        c = tf.constant(1)
    for x in (v, r):
        assert x.op.get_attr("container") == b"kept"
    assert q.queue_ref.op.get_attr("container") == b"kept"
    assert w.op.get_attr("container") == b"other"
    assert tf.Variable(1.).op.get_attr("container") == b""
    assert "container" not in c.op.node_def.attr


@KINDS
def test_initial_value_of_unknown_shape(resource):
    x = tf.placeholder(tf.float32, [None])
    if resource:
        assert tf.Variable(x, use_resource=True).shape.as_list() == [None]
        return
    with pytest.raises(ValueError, match="must have a shape specified"):
        tf.Variable(x)
    assert tf.Variable(x, validate_shape=False).shape.ndims is None


@KINDS
def test_variable_initialised_inside_a_loop(resource):
    def from_value(i):
        tf.Variable(i, use_resource=resource)
        return i + 1
    with pytest.raises(ValueError, match="inside a control-flow construct"):
        tf.while_loop(lambda i: i < 3, from_value, [0])

    def from_function(i):
        return i + tf.Variable(lambda: tf.constant(4), use_resource=resource)
    assert value_of(tf.while_loop(lambda i: i < 3, from_function, [0])) == 4


def test_creators_make_variables():
    def creator(following, **arguments):
        arguments["name"] = "x"
        return following(**arguments)
    with tf.variable_creator_scope(creator):
        assert tf.Variable(1., name="v").name == "x:0"
        assert tf.get_variable("w", []).name == "x_1:0"
    assert tf.Variable(1., name="v").name == "v:0"
    outer = tf.variable_creator_scope(creator)
    outer.__enter__()
    inner = tf.variable_creator_scope(creator)
    inner.__enter__()
    with pytest.raises(RuntimeError, match="proper nesting"):
        outer.__exit__(None, None, None)


def test_modes_of_replicas():
    v = tf.Variable(1, synchronization=tf.VariableSynchronization.ON_READ)
    assert not v.trainable and tf.trainable_variables() == []
    assert v.aggregation is tf.VariableAggregation.NONE
    with pytest.raises(ValueError, match="aggregation mode"):
        tf.Variable(1, aggregation="most")
    with pytest.raises(ValueError, match="must be a callable"):
        tf.Variable(1, constraint=3)


def test_a_tensor_in_the_place_of_a_variable():
    v = tf.get_variable("v", initializer=[1., 2., 3.])
    stands_for = tf.identity(v)
    for name in "assign assign_add assign_sub initialized_value".split():
        setattr(stands_for, name, getattr(v, name))
    other = tf.identity(v)
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(stands_for.assign([4., 5., 6.]))
        session.run(v[1:].assign([8., 9.]))
        assert session.run(v).tolist() == [4, 8, 9]
    assert not hasattr(other, "assign")
    sliced = v[0]
    sliced.assign = 3
    assert sliced.assign == 3
