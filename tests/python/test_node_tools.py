"""What programs do with nodes and graphs beside building them: operations from
NodeDefs, attrs as messages, registries, scopes of devices, names and attrs."""
import copy
import os
import re

import pytest

import headrace as tf
from headrace._src.compat import (
    error_interpolation, gradient_registry, graphs, kernels, node_tools,
    shape_functions)
from headrace._src.framework.autograph_status import (
    ControlStatusCtx, Status, control_status_ctx)
from headrace._src.profiler import statistics
from headrace._src.framework.operation import (
    OperatorNotAllowedInGraphError, Reference)
from headrace._src.training import resources


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


# Operations.

def test_operations_are_made_from_node_defs(graph):
    with tf.name_scope("scope"):
        x = tf.constant([1., 2.], name="x")
        node = node_tools.node_def("Neg", "y", device=tf.DeviceSpec(job="localhost"))
        node.attr["T"].type = 1
        op = node_tools.Operation(node, graph, [x], [tf.float32],
                                  control_inputs=[x.op])
    assert (op.name, op.type, op.device) == ("y", "Neg",
                                               "/job:localhost")
    assert isinstance(op, node_tools.Operation) and isinstance(op, tf.Operation)
    assert not isinstance(x, node_tools.Operation)
    assert op.inputs[0] is x and op.outputs[0].shape.as_list() == [2]
    with tf.Session() as session:
        assert session.run(op.outputs[0]).tolist() == [-1., -2.]


@pytest.mark.parametrize("name", ["", "_a", "-a", "/a", "a:0"])
def test_names_of_nodes_are_checked(graph, name):
    with pytest.raises(ValueError, match="is not a valid node name"):
        node_tools.Operation(node_tools.node_def("NoOp", name), graph)


def test_attrs_that_are_no_numbers_are_messages():
    value = tf.constant([[1, 2]])
    attr = value.op.get_attr("value")
    assert isinstance(attr, type(tf.make_tensor_proto(1)))
    assert tf.make_ndarray(attr).tolist() == [[1, 2]]
    place = tf.placeholder(tf.float32, [None, 2])
    shape = place.op.get_attr("shape")
    assert [d.size for d in shape.dim] == [-1, 2]
    assert tf.TensorShape(shape).as_list() == [None, 2]
    assert place.op.get_attr("dtype") is tf.float32
    queue = tf.FIFOQueue(1, [tf.int32], [[3]])
    assert queue.queue_ref.op.get_attr("shapes") == [
        tf.TensorShape([3]).as_proto()]
    assert queue.queue_ref.op.get_attr("capacity") == 1
    with pytest.raises(ValueError, match="has no attr named 'none'"):
        value.op.get_attr("none")


def test_operations_tell_their_place_and_neighbours():
    x = tf.constant(1, name="x")
    y = tf.constant(2, name="y").op
    y._add_control_inputs([x.op, x.op])
    assert y.control_inputs == [x.op] and x.op._control_outputs == [y]
    (file, line, function, text), = x.op.traceback
    assert os.path.basename(file) == os.path.basename(__file__)
    assert line > 1 and function.startswith("test_operations_tell")
    y._set_device(tf.DeviceSpec(job="w"))
    assert y.device == "/job:w"
    assert (x._value_index, x._as_node_def_input()) == (0, "x")
    assert tf.constant([[1, 2]])._shape_tuple() == (1, 2)


@pytest.mark.parametrize("status,text", [
    (Status.UNSPECIFIED, "not allowed in Graph"),
    (Status.ENABLED, "AutoGraph did not convert this function"),
    (Status.DISABLED, "AutoGraph is disabled in this function")])
def test_errors_about_python_values_tell_of_autograph(status, text):
    with ControlStatusCtx(status):
        for use in bool, iter:
            with pytest.raises(OperatorNotAllowedInGraphError, match=text):
                use(tf.constant([1]))
        assert control_status_ctx().status is status
    with pytest.raises(OperatorNotAllowedInGraphError,
                       match="AutoGraph is disabled"):
        tf.autograph.experimental.do_not_convert(bool)(tf.constant(True))
    assert control_status_ctx().status is Status.UNSPECIFIED


def test_operations_tell_in_which_scopes_they_were_made(graph):
    def on_cpu(op):
        return "/cpu:*"

    made = [tf.constant(0, name="zero")]
    with tf.device("/cpu"):
        made.append(tf.constant(1))
        with graph.device("/cpu:0"):
            made.append(tf.constant(2))
            with tf.colocate_with(made[0]):
                made.append(tf.constant(3))
                with tf.colocate_with(made[1]):
                    made.append(tf.constant(4))
                with tf.colocate_with(made[1], ignore_existing=True):
                    made.append(tf.constant(5))
    with tf.device(on_cpu), tf.device(None):
        made.append(tf.constant(6))
    made.append(tf.constant(7))
    devices = [[x.obj for x in t.op._device_assignments] for t in made]
    assert devices[:6] == [[], ["/cpu"], ["/cpu:0", "/cpu"], [], [], []]
    assert devices[6][0] == "None" and devices[7] == []
    assert devices[6][1].startswith("on_cpu<" + __file__)
    assert [sorted(t.op._colocation_dict) for t in made] == [
        [], [], [], ["zero"], ["Const", "zero"], ["Const"], [], []]
    place = made[3].op._colocation_dict["zero"]
    assert place.filename == __file__ and place.obj is None
    assert place.lineno == made[2].op._device_assignments[0].lineno + 2


@pytest.mark.parametrize("message,expected", [
    ("no tag", "no tag"),
    ("{{node none}}", "{{node none}}"),
    ("<{{node x}}>", r"<node x \(defined at .*:\d+\) >"),
    (";{{node x}},{{node y}};", r";node x \(.*\) ,node y \(.*\) ;"),
    ("\n{{node sum}}", r"\nnode sum \(defined at (.|\n)*Input Source operations "
     r"connected to node sum:\n x \(defined at"),
    ("{{function_node f}}!", "!"),
    ("{{colocation_node x}}", "No device assignments were active during op 'x'"
     "(.|\n)*No node-device colocations were active"),
    ("{{colocation_node y}}", r"with tf.device\(/cpu:0\): <.*:\d+>(.|\n)*"
     r"with tf.device\(/cpu:0\)"),
    ("{{colocation_node z}}", r"with tf.colocate_with\(x\): <.*:\d+>")])
def test_tags_of_messages_become_places(graph, message, expected):
    x = tf.constant(1, name="x")
    with tf.device("/cpu:0"):
        y = tf.constant(2, name="y")
    with tf.colocate_with(x):
        tf.constant(3, name="z")
    tf.add(x, y, name="sum")
    found = error_interpolation.interpolate(message, graph)
    assert re.search(expected, found), found


def test_messages_consist_of_texts_and_tags(graph):
    texts, tags = error_interpolation.parse_message("1{{node a}}2{{node b}}")
    assert texts == ["1", "2", ""]
    assert tags == [("node", "a"), ("node", "b")]
    x = tf.constant(1, name="x").op
    fields = error_interpolation.compute_field_dict(x)
    assert fields["file"] == os.path.basename(__file__) or (
        fields["file"] == __file__)
    assert fields["defined_at"] == " (defined at %s:%d)" % (
        fields["file"], fields["line"])
    info = error_interpolation.create_graph_debug_info_def([("", x)])
    assert list(info.files) == [fields["file"]]
    assert info.traces["x"].file_line_cols[0].line == fields["line"]


def test_nodes_of_the_c_api_join_loops_and_branches_later(graph):
    x = tf.constant(1, name="x")
    c = tf.constant(2., name="c")

    def add(name):
        node = node_tools.node_def("Identity", name)
        node.attr["T"].type = 3
        node_tools.create_c_op(tf.get_default_graph(), node, [x], [])
        with tf.control_dependencies([c]):
            op, = graph._add_new_tf_operations()
        assert graph._add_new_tf_operations() == []
        return op

    found = []
    tf.while_loop(lambda i: i < 10,
                  lambda i: (found.append(add("loop/op")), i + 1)[1], [0],
                  name="loop")
    tf.cond(x < 1, lambda: (found.append(add("cond/op")), x)[1], lambda: x)
    found.append(add("op"))
    assert [op.inputs[0].op.type for op in found] == ["Enter", "Switch", "Const"]
    assert [op._get_control_flow_context()
            and op._get_control_flow_context().name for op in found] == [
        "loop/while_context", "cond/cond_text", None]
    assert found[2].control_inputs == [c.op]
    node = node_tools.node_def("NoOp", "alone")
    made = node_tools.create_c_op(graph, node, [], [])
    assert graph._create_op_from_tf_operation(made) is made
    assert graph._add_new_tf_operations() == []


def test_scopes_are_taken_from_names_with_more_slashes():
    assert [graphs.strip_name_scope(name, "a") for name in (
        "a/b", "a///b", "^a/b", "loc:@a//b", "aa/b", "a", b"a/b")] == [
            "b", "b", "^b", "loc:@b", "aa/b", "a", "b"]
    assert graphs.prepend_name_scope(b"b", "a") == "a/b"


def test_references_compare_by_identity():
    x, y, v = tf.constant(1), tf.constant(1), tf.Variable(1)
    assert len({t.experimental_ref() for t in (x, x, y, v)}) == 3
    assert v.experimental_ref().deref() is v
    with pytest.raises(TypeError):
        Reference(x) == x


@pytest.mark.parametrize("use,text", [
    (bool, "using a `tf.Tensor` as a Python `bool` is not allowed in Graph"),
    (iter, "iterating over `tf.Tensor` is not allowed in Graph")])
def test_tensors_are_no_python_values(use, text):
    with pytest.raises(OperatorNotAllowedInGraphError, match=text):
        use(tf.constant([1]))
    assert issubclass(OperatorNotAllowedInGraphError, TypeError)


def test_a_finalized_graph_keeps_its_names(graph):
    graph.finalize()
    with pytest.raises(RuntimeError):
        graph.create_op("NoOp", [], [], name="a")
    graph._unsafe_unfinalize()
    assert graph.create_op("NoOp", [], [], name="a").name == "a"


# Scopes.

def _attrs(op):
    found = []
    for name in ("_A", "_B"):
        try:
            found.append(op.get_attr(name))
        except ValueError:
            found.append(None)
    return found


def test_attr_scopes_nest(graph):
    def value(text):
        return tf.AttrValue(s=text)
    found = []
    with graph._attr_scope({"_A": value(b"a")}):
        with graph._attr_scope({"_A": None, "_B": value(b"b")}):
            with graph.device("/cpu:0"):
                found.append(_attrs(tf.no_op()))
            with graph._attr_scope({"_A": value(b"c")}):
                found.append(_attrs(tf.no_op()))
        found.append(_attrs(tf.no_op()))
    found.append(_attrs(tf.no_op()))
    assert found == [[None, b"b"], [b"c", b"b"], [b"a", None], [None, None]]


def test_kernel_labels_are_attrs_of_their_ops(graph):
    with graph._kernel_label_map({"Neg": "fast"}):
        x = -tf.constant(1.)
        with graph._kernel_label_map({"Neg": ""}):
            y = -x
    assert x.op.get_attr("_kernel") == b"fast"
    assert y.op.get_attr("_kernel") == b""


def test_device_functions_merge_devices(graph):
    with graph.device(node_tools.merge_device("/device:GPU:0")):
        with graph.device(node_tools.merge_device("/job:worker")):
            with graph.device(node_tools.merge_device(None)):
                assert tf.no_op().device == "/job:worker/device:GPU:0"
    with graph.device("/cpu"):
        assert tf.no_op().device == "/device:CPU:*"
    assert node_tools.canonical_name("/gpu:1") == "/device:GPU:1"


def test_device_scopes_end_in_their_order(graph):
    scope = graph.device("/cpu:1")
    scope.__enter__()
    with pytest.raises(RuntimeError, match="without proper scope nesting"):
        with graph.device("/cpu:2"):
            scope.__exit__(None, None, None)


@pytest.mark.parametrize("name,scope", [
    ("a", "s/a/"), ("a/", "a/"), ("a//b", "s/a//b/"), ("a//", "a//"),
    ("/", "/"), ("//", "//"), ("", ""), (None, "")])
def test_name_scopes_with_slashes(graph, name, scope):
    with graph.name_scope("s"), graph.name_scope(name) as found:
        assert found == scope


@pytest.mark.parametrize("name", ["/", "//", "_", "a:0", "a b"])
def test_outermost_name_scopes_are_checked(name):
    with pytest.raises(ValueError, match="not a valid scope name"):
        with tf.Graph().as_default(), tf.name_scope(name):
            pass
    assert tf.get_default_graph().get_name_scope() == ""


def test_name_scopes_of_two_are_entered_again():
    a, b = node_tools.name_scope_v2("a"), node_tools.name_scope_v2("b")
    found = []
    for scopes in ((a, a), (b, a)):
        with scopes[0] as outer, scopes[1] as inner:
            found.append((outer, inner))
    assert found == [("a/", "a/a/"), ("b/", "b/a/")]


def test_name_scopes_refuse_values_of_two_graphs():
    x = tf.constant(1)
    with tf.Graph().as_default():
        y = tf.constant(1)
    with pytest.raises(ValueError, match="must be from the same graph as"):
        with tf.name_scope("a", values=[x, y]):
            pass


def test_init_scope_leaves_functions(graph):
    inner, innermost = tf.Graph(), tf.Graph()
    inner._building_function = innermost._building_function = True
    with graph.device("/cpu:1"), inner.as_default(), innermost.as_default():
        with tf.name_scope("names"), tf.init_scope():
            x = tf.constant(1)
        with tf.device("/cpu:2"), tf.init_scope():
            y = tf.constant(1)
        assert tf.get_default_graph() is innermost
        assert len(node_tools.default_graph_stack.stack) == 3
        with tf.init_scope():
            assert len(node_tools.default_graph_stack.stack) == 4
    assert [len(g.get_operations()) for g in (graph, inner, innermost)] == [
        2, 0, 0]
    assert (x.name, x.device, y.device) == (
        "names/Const:0", "/device:CPU:1", "/device:CPU:2")


# Registries.

def test_gradient_functions_of_programs_are_found():
    @tf.RegisterGradient("NodeToolsGradient")
    def gradient(op, grad):
        return grad
    x = tf.constant(1.)
    with tf.get_default_graph().gradient_override_map(
            {"Identity": "NodeToolsGradient", "Neg": "NodeToolsNone"}):
        y, z = tf.identity(x), -x
    assert node_tools.get_gradient_function(y.op) is gradient
    assert node_tools.get_gradient_function(x.op) is None
    with pytest.raises(LookupError, match="no entry for: NodeToolsNone"):
        node_tools.get_gradient_function(z.op)


def test_gradient_functions_are_replaced_in_the_registry(graph):
    table, x = gradient_registry.registry._registry, tf.constant(-2.)
    before = copy.copy(table)
    relu, mul = table["Relu"]["type"], table["Mul"]["type"]

    def of(y):
        return tf.Session().run(tf.gradients(y, x)[0])
    try:
        assert "Relu" in table and table["Shape"]["type"] is None
        table["Relu"] = {"type": lambda op, g: 5 * g}
        assert of(tf.nn.relu(x)) == 5
        table["Relu"]["type"] = lambda op, g: 3 * relu(op, -op.inputs[0] * g)
        assert of(tf.nn.relu(x)) == 0 and of(tf.nn.relu(-x)) == 6
        table["Relu"]["type"] = relu
        assert of(tf.nn.relu(-x)) == -1
        # An input that occurs twice, and one that another type has.
        table["Mul"]["type"] = lambda op, g: [2 * t for t in mul(op, g)]
        assert of(x * x) == -8 and of(3 * x) == 6
        gradient_registry.registry.register(
            lambda op, g: relu(op, 7 * g), "Seven")
        with graph.gradient_override_map({"Relu": "Seven"}):
            assert of(tf.nn.relu(-x)) == -7
        del table["Relu"]
        with pytest.raises(LookupError, match="No gradient defined"):
            of(tf.nn.relu(x))
        tf.RegisterGradient("Relu")(lambda op, g: 9 * g)
        assert of(tf.nn.relu(x)) == 9
    finally:
        gradient_registry.registry._registry = before
    assert of(tf.nn.relu(x)) == 0 and of(x * x) == -4 and "Seven" not in table
    assert gradient_registry.registry.lookup("Relu") == relu
    assert len(table) == len(before) and "Relu" in table.copy()
    with pytest.raises(LookupError, match="no entry for: Nope"):
        gradient_registry.registry.lookup("Nope")
    with pytest.raises(KeyError, match="two gradient with name 'Relu'"):
        gradient_registry.registry.register(relu, "Relu")


def test_gradient_functions_of_the_library(graph):
    find = gradient_registry.registry.lookup
    parts = tf.split(tf.constant([1., 2., 3.]), 3)
    grads = find("Split")(parts[0].op, tf.constant([4.]), None,
                          tf.constant([5.]))
    run = tf.Session().run
    assert grads[0] is None and run(grads[1]).tolist() == [4, 0, 5]
    rows = tf.gather(tf.constant([1., 2.]), [1]).op
    slices = find("GatherV2")(rows, tf.constant([6.]))[0]
    assert run(slices).values.tolist() == [6]
    assert find("Neg")(tf.negative(1.).op, None) is None
    with pytest.raises(NotImplementedError, match="has a state"):
        find("Relu")(tf.raw_ops.RandomUniform(shape=[1], dtype=tf.float32).op)
    table = gradient_registry.registry._registry
    mul = table["Mul"]["type"]
    table["Mul"]["type"] = lambda op, g: mul(op, g)
    try:
        u = tf.constant(3.)
        y = tf.while_loop(lambda x: x < 9, lambda x: x * u, [tf.constant(2.)])
        with pytest.raises(NotImplementedError, match="while_loop"):
            tf.gradients(y, u)
    finally:
        table["Mul"]["type"] = mul


def test_statistics_add_up(graph):
    @statistics.RegisterStatistics("NodeToolsOp", "flops")
    def flops(graph, node):
        return statistics.OpStats("flops", 20)
    node = node_tools.node_def("NodeToolsOp", "a")
    total = statistics.OpStats("flops")
    total += statistics.get_stats_for_node_def(graph, node, "flops")
    total += statistics.OpStats("flops", 1)
    assert total.value == 21
    assert statistics.get_stats_for_node_def(graph, node, "x").value is None
    with pytest.raises(ValueError):
        total += statistics.OpStats("bytes", 1)


class NoProperty:
    def name(self):
        pass


class Dense:
    name = dtype = property(lambda self: None)


def test_classes_count_as_tensors_once_they_are_registered():
    with pytest.raises(TypeError, match="does not define a `name` property"):
        graphs.register_dense_tensor_like_type(NoProperty)
    assert not graphs.is_dense_tensor_like(Dense())
    graphs.register_dense_tensor_like_type(Dense)
    assert graphs.is_dense_tensor_like(Dense())
    assert graphs.is_dense_tensor_like(tf.Variable(1))


def test_meta_graphs_hold_items_that_a_program_describes(graph):
    class Item:
        def __init__(self, name):
            self.name = name

    node_tools.register_proto_function(
        "node_tools_items", tf.NodeDef,
        lambda item, export_scope=None: tf.NodeDef(name=item.name),
        lambda message, import_scope=None: Item(message.name))
    tf.add_to_collection("node_tools_items", Item("first"))
    meta_graph = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta_graph)
        item, = tf.get_collection("node_tools_items")
        assert isinstance(item, Item) and item.name == "first"
    with pytest.raises(KeyError, match="Registering two proto functions"):
        node_tools.register_proto_function("node_tools_items")
    assert node_tools.get_collection_proto_type("variables") is type(
        tf.Variable(1).to_proto())


def test_resources_are_made_and_reported():
    handle = tf.constant(0, name="handle")
    ready = tf.Variable(False)
    resources.register_resource(handle, ready.assign(True).op, ready)
    with tf.Session() as session:
        session.run(ready.initializer)
        missing = resources.report_uninitialized_resources()
        assert session.run(missing).tolist() == [b"handle:0"]
        session.run(resources.initialize_resources(
            resources.shared_resources()))
        assert session.run(missing).tolist() == []
        assert resources.local_resources() == []


def test_shape_functions_tell_shapes():
    x = tf.placeholder(tf.float32, [2, None])
    assert shape_functions.unchanged_shape(tf.identity(x).op)[0].as_list() == [
        2, None]
    assert shape_functions.broadcast_shape(
        tf.TensorShape([1, 3]), tf.TensorShape([2, 1])).as_list() == [2, 3]
    assert not shape_functions.is_broadcast_compatible(
        tf.TensorShape([2]), tf.TensorShape([3]))
    with pytest.raises(ValueError):
        shape_functions.broadcast_shape(tf.TensorShape([2]),
                                        tf.TensorShape([3]))


# Types.

def test_types_are_made_from_their_numbers():
    assert tf.DType(1) is tf.float32 and tf.DType(103)._is_ref_dtype
    for number in (0, 11111):
        with pytest.raises(TypeError, match="not a valid types_pb2.DataType"):
            tf.DType(number)
    assert tf.int16.limits == (0, 32767) and tf.bool.limits == (False, True)
    assert tf.string.size == 8 and tf.resource.size == 1
    for dtype in (tf.bool, tf.qint8, tf.string):
        with pytest.raises(TypeError, match="Cannot find minimum value of "
                                            "<dtype: '%s'>" % dtype.name):
            dtype.min


def test_dimensions_are_divided_to_whole_numbers():
    with pytest.raises(TypeError, match="please use // instead"):
        tf.Dimension(12) / 5
    with pytest.raises(TypeError, match="please use // instead"):
        5 / tf.Dimension(12)


def test_kernels_are_listed():
    found = kernels.get_registered_kernels_for_op("MatMul").kernel
    assert {k.op for k in found} == {"MatMul"}
    assert "CPU" in {k.device_type for k in found}
    assert len(kernels.get_registered_kernels_for_op("NoSuchOp").kernel) == 0
    assert len(kernels.get_all_registered_kernels().kernel) > len(found)
