"""Graphs: nodes made one by one, what may be fed and fetched, types and shapes
that are equal."""
import copy
import gc
import threading
import weakref

import pytest

import headrace as tf


def test_create_op():
    g = tf.get_default_graph()
    a = tf.constant([1., 2.])
    with tf.name_scope("s"):
        op = g.create_op("Neg", [a], [tf.float32], name="n",
                         attrs={"T": tf.AttrValue(type=1)})
    assert op.name == "s/n" and op.outputs[0].shape.as_list() == [2]
    with tf.Session() as sess:
        assert sess.run(op.outputs[0]).tolist() == [-1, -2]
    with pytest.raises(TypeError, match="Input #0 is not a tensor"):
        g.create_op("Neg", [3.], [tf.float32])
    with pytest.raises(TypeError, match="not the dtypes"):
        g.create_op("Neg", [a], [tf.int32], attrs={"T": tf.AttrValue(type=1)})
    with pytest.raises(Exception, match="Nope"):
        g.create_op("Nope", [], [])
    other = tf.Graph()
    with pytest.raises(ValueError, match="not a tensor of this graph"):
        other.create_op("Neg", [a], attrs={"T": tf.AttrValue(type=1)})


def test_collections_are_named_and_frozen():
    g = tf.get_default_graph()
    tf.add_to_collection("a", 1)
    assert g.collections == ["a"] and not g.building_function
    g.finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        tf.add_to_collection("a", 2)
    with pytest.raises(RuntimeError, match="finalized"):
        g.clear_collection("a")


def test_prevented_feeds_and_fetches():
    g = tf.get_default_graph()
    a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
    g.prevent_feeding(a)
    g.prevent_fetching(b.op)
    assert not g.is_feedable(a) and g.is_feedable(b)
    assert not g.is_fetchable(b) and g.is_fetchable(a)
    with tf.Session() as sess:
        with pytest.raises(ValueError, match="a:0 may not be fed"):
            sess.run(a + 1, {a: 1})
        with pytest.raises(ValueError, match="marked as not fetchable"):
            sess.run(b)
        assert sess.run(a + b) == 3


def test_value_of_a_loop_is_not_for_others():
    inside = []

    def body(i):
        inside.append(tf.add(i, 1, name="inner"))
        return inside[0]
    out = tf.while_loop(lambda i: i < 3, body, [0], name="w")
    x = inside[0]
    message = "Cannot use 'w/inner' as input to '%s' because 'w/inner' is in a"
    with pytest.raises(ValueError, match=message % "add"):
        x + 1
    with pytest.raises(ValueError, match=message % "cond/add"):
        tf.cond(tf.constant(True), lambda: x + 1, lambda: 1)
    with pytest.raises(ValueError, match="they are in different while loops"):
        tf.while_loop(lambda i: i < 3, lambda i: i + x, [0], name="w2")
    with tf.Session() as sess:
        assert sess.run(out + 1) == 4
        with pytest.raises(ValueError, match="may not be fed"):
            sess.run(out, {x: 1})
        assert sess.run(out, {out: 7}) == 7


def test_value_of_an_outer_loop_is_for_inner_ones():
    def body(i, total):
        j = i * 10
        inner = tf.while_loop(lambda k: k < 2,
                              lambda k: k + tf.cond(j > 5, lambda: j - j + 1,
                                                    lambda: 1), [0])
        return i + 1, total + inner + j
    _, total = tf.while_loop(lambda i, t: i < 3, body, [0, 0])
    with tf.Session() as sess:
        assert sess.run(total) == 36


def test_callable_gives_back_what_is_fed():
    p = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        assert sess.make_callable([p], [p])(3.) == [3]
        assert sess.make_callable([p * 2., p, p + 1.], [p])(3.) == [6, 3, 4]
        assert sess.make_callable({"a": p, "b": p.op}, [p])(3.) == {
            "a": 3, "b": None}


def test_python_types_that_are_no_dtype():
    for t in (int, complex, str, bytes, list, "int", "S4", None, True, -1, 99,
              2.5, float("inf"), float("nan")):
        with pytest.raises(TypeError):
            tf.as_dtype(t)
        assert not tf.int32 == t and not tf.string == t
    assert tf.float32 == float and tf.bool == bool and tf.string == object
    assert tf.as_dtype(3) is tf.as_dtype("int32") is tf.int32


def test_unknown_sizes_are_not_equal():
    shape = tf.TensorShape([None])
    assert shape == shape
    assert shape != tf.TensorShape([None])
    assert not shape == tf.TensorShape([None])
    assert tf.TensorShape([1, None]) != [1, None]
    assert tf.TensorShape([1, 2]) == [1, 2]
    assert tf.TensorShape(None) == tf.TensorShape(None)
    with pytest.raises(ValueError, match="inequality of unknown"):
        tf.TensorShape(None) != tf.TensorShape([1])


def test_what_is_known_of_two_shapes():
    both = tf.TensorShape([2, 3]).most_specific_compatible_shape([2, 4])
    assert both.as_list() == [2, None]
    assert tf.TensorShape([2]).most_specific_compatible_shape([2, 3]
                                                              ).ndims is None
    assert ([4] + tf.TensorShape([1, 2])).as_list() == [4, 1, 2]
    with pytest.raises(ValueError, match="Steps"):
        tf.TensorShape(None)[::2]


def test_device_blocks_do_not_hold_for_what_is_colocated():
    with tf.device("/cpu:1"):
        a = tf.constant(1, name="a")
    with tf.colocate_with(a):
        with tf.device("/cpu:2"):
            b = tf.constant(2)
        with tf.colocate_with(None, ignore_existing=True):
            c = tf.constant(3, name="c")
    with tf.device("/cpu:2"), tf.colocate_with(tf.constant(4, name="d")):
        d = tf.constant(5)
    assert b.device == "/device:CPU:1"
    assert b.op.colocation_groups() == [b"loc:@a"]
    assert c.device == "" and c.op.colocation_groups() == [b"loc:@c"]
    assert d.device == "/device:CPU:2"

    def place(op):
        return "/cpu:3" if op.type == "VariableV2" else "/cpu:1"
    with tf.device(place):
        v = tf.Variable(1.)
        assert v.assign_add(1.).device == v.initializer.device == "/cpu:3"
        assert v.value().device == "/cpu:3"
        assert v.initial_value.device == "/cpu:1"


@pytest.mark.parametrize("spelling", [
    "//cpu:0", "/cpu:0/", "/device:cpu:0", "/device:Cpu:0", "//device:CPU:0/",
    "cpu:0", "device:CPU:0", "device:cpu:0/"])
def test_spellings_of_a_device_are_one_device(spelling):
    with tf.device("/job:localhost"):
        with tf.device(spelling):
            a = tf.constant(1., name="a")
        with tf.device(lambda op: spelling):
            b = tf.constant(2., name="b")
    with tf.device(spelling):
        c = tf.constant(3., name="c")
    assert a.device == b.device == "/job:localhost/device:CPU:0"
    assert c.device == "/device:CPU:0"
    with tf.Session() as session:
        assert session.run([a, b, c]) == [1., 2., 3.]


def test_a_device_without_the_first_slash():
    for name in ("job:ps/task:0", "/job:ps/task:0", "job:ps//task:0"):
        with tf.device(name):
            assert tf.no_op().device == "/job:ps/task:0"


def test_names_that_scopes_refuse():
    with pytest.raises(ValueError, match="At least one of name"):
        with tf.name_scope(None, None, [1]):
            pass
    with pytest.raises(TypeError, match="not a string type"):
        tf.name_scope(None, [1])
    with pytest.raises(ValueError, match="can't both be False"):
        tf.get_default_graph().as_graph_element(
            "a", allow_tensor=False, allow_operation=False)


def test_consumers_once_for_each_input():
    a = tf.constant(1)
    assert a + a is not None and len(a.consumers()) == 2


def test_switch_goes_where_its_value_is():
    with tf.device("/cpu:1"):
        x = tf.constant(10., name="x")
    w = tf.Variable(1., name="w")
    tf.cond(tf.less(1., 2.), lambda: tf.assign(w, x), lambda: tf.assign(w, 1.))
    switch = tf.get_default_graph().get_operation_by_name(
        "cond/Assign/Switch_1")
    assert switch.inputs[0] is x and switch.device == "/device:CPU:1"
    assert switch.colocation_groups() == [b"loc:@x"]


def test_graph_defs_leave_out_defaults_that_tensorflow_1_15_does_not_know():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 2], name="x")
        tf.matmul(x, x, transpose_b=True, name="y")
        tf.raw_ops.MatMul(a=x, b=x, grad_a=True, name="z")
        tf.data.Dataset.range(3).map(lambda i: tf.matmul([[i]], [[i]]))
    graph_def = graph.as_graph_def()
    attrs = {n.name: sorted(n.attr) for n in graph_def.node}
    assert attrs["y"] == ["T", "transpose_a", "transpose_b"]
    assert attrs["z"] == ["T", "grad_a", "transpose_a", "transpose_b"]
    inside = [n for f in graph_def.library.function for n in f.node_def
              if n.op == "MatMul"]
    assert inside and all("grad_a" not in n.attr for n in inside)
    with tf.Graph().as_default() as copy:
        tf.import_graph_def(graph_def, name="")
    assert copy.get_operation_by_name("y").get_attr("grad_a") is False
    assert copy.get_operation_by_name("z").get_attr("grad_a") is True


def test_maps_of_messages_are_compared_by_value():
    one, other = tf.NodeDef(), tf.NodeDef()
    for node in (one, other):
        node.attr["a"].i = 3
        node.attr["b"].s = b"x"
    assert one.attr == other.attr
    assert one.attr == {"b": other.attr["b"], "a": other.attr["a"]}
    other.attr["b"].s = b"y"
    assert one.attr != other.attr and one.attr != {} and one.attr != None  # noqa: E711


def _relu_of_a_newer_program(attr):
    with tf.Graph().as_default() as g:
        tf.nn.relu(tf.constant(2.), name="r")
    graph_def = g.as_graph_def()
    for node in graph_def.node:
        if node.op == "Relu":
            node.attr[attr].i = 3
    return graph_def


def _op_list(default):
    ops = tf.MetaGraphDef().meta_info_def.stripped_op_list
    op = ops.op.add(name="Relu")
    op.attr.add(name="T", type="type")
    newer = op.attr.add(name="newer", type="int")
    if default is not None:
        newer.default_value.i = default
    ops.op.add(name="AnOpThatNobodyKnows").attr.add(name="newer")
    return ops


@pytest.mark.parametrize("form", ["message", "bytes", "file", "text file"])
def test_attrs_of_a_newer_producer_with_their_defaults_are_left_out(
        form, tmp_path):
    graph_def = _relu_of_a_newer_program("newer")
    before = graph_def.SerializeToString()
    path = tmp_path / "graph.pb"
    given = graph_def
    if form == "bytes":
        given = before
    elif form == "file":
        path.write_bytes(before)
        given = path
    elif form == "text file":
        path.write_text(str(graph_def))
        given = path
    y, = tf.import_graph_def(given, name="", return_elements=["r:0"],
                             producer_op_list=_op_list(3))
    assert sorted(y.op.node_def.attr) == ["T"]
    assert graph_def.SerializeToString() == before
    with tf.Session() as sess:
        assert sess.run(y) == 2


@pytest.mark.parametrize("attr, default", [("newer", 4), ("newer", None),
                                           ("other", 3)])
def test_attrs_of_a_newer_producer_without_their_defaults_are_refused(
        attr, default):
    with pytest.raises(ValueError, match="mentions attr '%s'" % attr):
        tf.import_graph_def(_relu_of_a_newer_program(attr),
                            producer_op_list=_op_list(default))
    assert not tf.get_default_graph().get_operations()


def test_a_meta_graph_of_a_newer_producer_is_imported():
    meta_graph = tf.MetaGraphDef()
    meta_graph.graph_def.CopyFrom(_relu_of_a_newer_program("newer"))
    meta_graph.meta_info_def.stripped_op_list.CopyFrom(_op_list(3))
    tf.train.import_meta_graph(meta_graph)
    assert tf.get_default_graph().get_operation_by_name("r").type == "Relu"


def test_attributes_of_tensors_and_operations():
    g = tf.get_default_graph()
    x = tf.constant([1., 2.], name="x")
    x.scope, x.op.made_by = "a", [x]
    # Another object of the same tensor has them too.
    del x
    assert g.get_tensor_by_name("x:0").scope == "a"
    assert g.get_operation_by_name("x").made_by[0].scope == "a"
    y = tf.unstack(tf.constant([1., 2.]))
    y[0].scope = "b"
    assert not hasattr(y[1], "scope")
    del y[0].scope
    with pytest.raises(AttributeError, match="'Tensor' object has no "
                                             "attribute 'scope'"):
        y[0].scope
    with pytest.raises(AttributeError):
        del y[0].scope
    for name in "name", "op", "shape", "dtype", "graph":
        with pytest.raises(AttributeError):
            setattr(y[0], name, None)
    with pytest.raises(AttributeError):
        y[0].op.name = "z"


def test_attributes_do_not_keep_a_graph():
    g = tf.Graph()
    with g.as_default():
        x = tf.constant(1.)
        x.self, x.op.graph_of_it = x, g
    gone = weakref.ref(g)
    del g, x
    gc.collect()
    assert gone() is None


def test_an_object_of_the_program_learns_the_device():
    class Learner:
        device = None

        def _set_device_from_string(self, device):
            self.device = tf.DeviceSpec.from_string(device)

    def learned():
        learner = Learner()
        tf.get_default_graph()._apply_device_functions(learner)
        return learner.device

    assert learned() is None
    with tf.device("/job:a"):
        assert learned().to_string() == "/job:a"
        with tf.device("/gpu:1"):
            assert learned().to_string() == "/job:a/device:GPU:1"
        with tf.device(None):
            assert learned() is None
    with tf.device(lambda op: "/cpu:0"):
        assert learned().device_type == "CPU"


def test_each_thread_has_its_own_name_scope():
    graph = tf.Graph()
    inside, go_on, names = threading.Barrier(4), threading.Event(), []

    def build():
        with graph.as_default():
            with graph.name_scope("foo"):
                inside.wait(20)
                go_on.wait(20)
                names.append(tf.no_op(name="a").name)
            names.append(tf.no_op(name="b").name)

    threads = [threading.Thread(target=build) for _ in range(3)]
    with graph.as_default(), graph.name_scope("main"):
        for t in threads:
            t.start()
        inside.wait(20)
        names.append(tf.no_op(name="c").name)
        go_on.set()
        for t in threads:
            t.join()
        names.append(tf.no_op(name="c").name)
    assert sorted(names) == ["b", "b_1", "b_2", "foo/a", "foo_1/a", "foo_2/a",
                             "main/c", "main/c_1"]


def test_an_edge_that_cannot_be_updated():
    x, y = tf.zeros([2, 2]), tf.zeros([3, 1])
    op = tf.negative(x).op
    with pytest.raises(tf.errors.InvalidArgumentError,
                       match=r"incompatible shapes: \[3,1\] and \[2,2\]"):
        op._update_input(0, y)
    with pytest.raises(tf.errors.OutOfRangeError,
                       match=r"Input index \[1\] is greater than the number of "
                             r"total inputs \[1\]"):
        op._update_input(1, x)
    with tf.Graph().as_default():
        other = tf.zeros([2, 2])
    with pytest.raises(ValueError, match="must be from the same graph"):
        op._update_input(0, other)
    with pytest.raises(ValueError, match="must be from the same graph"):
        tf.add(x, other)
    op._add_control_input(y.op)
    op._add_control_input(x.op)
    op._remove_all_control_inputs()
    assert op.control_inputs == []


def test_an_op_that_was_removed():
    with pytest.raises(NotImplementedError, match="is not available in GraphDef "
                                                  "version .* removed in"):
        tf.raw_ops.BatchMatrixDiag(diagonal=[1.])


def test_what_programs_read_of_tensors_and_operations():
    x = tf.constant([1., 2.], name="x")
    y = -x
    assert x._shape.as_list() == [2] and x._op is x.op
    assert x._dtype == tf.float32 and x._consumers == [y.op]
    assert copy.copy(x) is x
    op = x.op
    assert op._graph is x.graph and op._outputs == [x]
    assert op._id_value == op._id and not op._is_stateful
    assert tf.raw_ops.RandomUniformInt(
        shape=[1], minval=0, maxval=2).op._is_stateful
    assert op._get_control_flow_context() is None

    def body(i):
        seen.append(i.op._control_flow_context)
        return i + 1

    seen = []
    tf.while_loop(lambda i: i < 3, body, [0])
    assert seen[0] is not None
    assert "__or__" in tf.Tensor.OVERLOADABLE_OPERATORS
    with pytest.raises(ValueError, match="Overriding __len__ is disallowed"):
        tf.Tensor._override_operator("__len__", len)


def test_a_graph_with_an_init_of_its_own():
    class Named(tf.Graph):
        def __init__(self, label):
            super().__init__()
            self.label = label

    graph = Named("x")
    with graph.as_default():
        one = tf.constant(1.)
        assert tf.get_default_graph() is graph
    assert one.graph.label == "x"
    with tf.Session(graph=graph) as sess:
        assert sess.run(one) == 1


def test_the_nodes_of_a_graph_by_name_and_by_number():
    x = tf.constant(1.0, name="x")
    y = tf.identity(x, name="scope/y")
    graph = tf.get_default_graph()
    assert graph._nodes_by_name["x"] is x.op
    assert graph._nodes_by_name["scope/y"] is y.op
    assert graph._nodes_by_id[y.op._id] is y.op


def test_a_block_of_a_default_graph_that_ends_too_early_keeps_the_graph():
    g, other = tf.Graph(), tf.Graph()
    early, late = g.as_default(), other.as_default()
    early.__enter__()
    late.__enter__()
    with pytest.raises(AssertionError, match="Nesting violated"):
        early.__exit__(None, None, None)
    assert tf.get_default_graph() is other
    name = str(id(g))
    del g, early
    gc.collect()
    late.__exit__(None, None, None)
    # As in TensorFlow, the first one is the default graph again.
    try:
        assert str(id(tf.get_default_graph())) == name
        tf.constant(1.)
    finally:
        tf._headrace.pop_default_graph()
