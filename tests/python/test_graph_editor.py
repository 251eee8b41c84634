"""tf.contrib.graph_editor: selecting, copying and reconnecting parts of graphs.
The expected names are those that TensorFlow 1.15 gives."""
import gc
import importlib
import sys

import numpy as np
import pytest

import headrace as tf
import headrace.compat
from headrace._src.graph_editor import util

ge = tf.contrib.graph_editor


@pytest.fixture
def g():
    """a -> foo/c -> foo/bar/{e, f, g} -> foo/bar/h, which waits for c."""
    with tf.Graph().as_default() as graph:
        a = tf.constant([1., 1.], name="a")
        with tf.name_scope("foo"):
            c = tf.add(a, tf.constant([2., 2.], name="b"), name="c")
            d = tf.constant([3., 3.], name="d")
            with tf.name_scope("bar"):
                tf.add(c, d, name="e")
                f = tf.add(c, d, name="f")
                last = tf.add(c, a, name="g")
                with tf.control_dependencies([c.op]):
                    tf.add(f, last, name="h")
        yield graph


def t(graph, name):
    return graph.get_tensor_by_name("%s:0" % name)


def op(graph, name):
    return graph.get_operation_by_name(name)


def names(elements):
    return " ".join(x.name.replace("foo/", "").replace("bar/", "").replace(
        ":0", "") for x in elements)


@pytest.mark.parametrize("select, expected", [
    (lambda g: ge.get_forward_walk_ops([t(g, "foo/bar/f")]), "h"),
    (lambda g: ge.get_forward_walk_ops(op(g, "foo/c")), "c e f g h"),
    (lambda g: ge.get_forward_walk_ops(op(g, "foo/c"), inclusive=False),
     "e f g h"),
    (lambda g: ge.get_forward_walk_ops([t(g, "a")], stop_at_ts=[t(g, "foo/c")]),
     "c g h"),
    (lambda g: ge.get_forward_walk_ops(
        [t(g, "a")], within_ops_fn=lambda o: not o.name.endswith("h")),
     "c e f g"),
    (lambda g: ge.get_forward_walk_ops(
        [op(g, "foo/bar/f")], within_ops=[op(g, "foo/bar/f")]), "f"),
    (lambda g: ge.get_forward_walk_ops(
        op(g, "foo/c"), stop_at_ts=[t(g, "foo/c")],
        control_outputs=ge.ControlOutputs(g)), "c h"),
    (lambda g: ge.get_backward_walk_ops([t(g, "foo/bar/e")]), "a b c d e"),
    (lambda g: ge.get_backward_walk_ops(
        op(g, "foo/bar/h"), inclusive=False,
        stop_at_ts=[t(g, "foo/bar/f"), t(g, "foo/bar/g")]), ""),
    (lambda g: ge.get_backward_walk_ops(
        op(g, "foo/bar/h"), control_inputs=True,
        stop_at_ts=[t(g, "foo/bar/f"), t(g, "foo/bar/g")]), "a b c h"),
    (lambda g: ge.get_walks_intersection_ops(
        [t(g, "foo/b")], [t(g, "foo/bar/h")]), "c f g h"),
    (lambda g: ge.get_walks_union_ops(
        [t(g, "foo/d")], [t(g, "foo/c")]), "a b c e f h"),
    (lambda g: ge.get_within_boundary_ops(
        g, op(g, "foo/bar/h"), [op(g, "foo/c")]), "a c d e f g h"),
    (lambda g: ge.get_within_boundary_ops(
        g, op(g, "foo/bar/e"), [op(g, "foo/c"), op(g, "foo/d")],
        inclusive=False), "e"),
    (lambda g: ge.get_ops_ios(op(g, "foo/bar/h"),
                              control_ios=ge.ControlOutputs(g)), "f g c"),
    (lambda g: ge.get_ops_ios([op(g, "foo/d")]), "e f"),
    (lambda g: ge.filter_ops(g, lambda o: o.type == "Const"), "a b d"),
    (lambda g: ge.filter_ops_from_regex(g, "bar/[ef]$"), "e f"),
    (lambda g: ge.filter_ts([op(g, "foo/c")], True), "a b c"),
    (lambda g: ge.filter_ts_from_regex(g, "^foo/[bc]:0"), "b c"),
    (lambda g: ge.get_name_scope_ops(g, "foo/bar/"), "e f g h"),
    (lambda g: ge.select_ops("^a$", op(g, "a"), [t(g, "a"), op(g, "foo/d")],
                             "(?#ts)b", graph=g), "a d"),
    (lambda g: ge.select_ops("(?#ops)^a", "^foo/d", graph=g,
                             restrict_ops_regex=True), "a"),
    (lambda g: ge.select_ts("(?#ts)^foo/b:", "(?#ops)a", t(g, "a"), graph=g),
     "b a"),
    (lambda g: sum(ge.select_ops_and_ts("^foo/d$", "(?#ts)^a", graph=g), []),
     "d a"),
    (lambda g: ge.get_generating_ops([t(g, "a")]), "a"),
    (lambda g: ge.get_consuming_ops([t(g, "a"), t(g, "foo/b")]), "c g"),
    (lambda g: ge.get_tensors(g), "a b c d e f g h"),
    (lambda g: sum(map(list, ge.compute_boundary_ts(
        [op(g, "foo/c"), op(g, "foo/bar/f")])), []), "a b d c f c"),
])
def test_selection(g, select, expected):
    found = names(select(g))
    if "walk" in str(select.__code__.co_names):  # TensorFlow has no order there
        found = " ".join(sorted(found.split()))
    assert found == expected


def test_views(g):
    view = ge.sgv_scope("foo/bar", g)
    assert names(view.inputs) == "c d a" and names(view.outputs) == "e h"
    assert names(view.remap([2, t(g, "foo/c")], [1, 1]).inputs) == "a c"
    assert names(view.remap(None, [1, 1]).outputs) == "h h"
    assert names(view.remap_inputs([]).remap_default().inputs) == "c d a"
    assert names(view.remap_outputs([1]).remap_inputs([1])
                 .remove_unused_ops().ops) == "e f g h"
    through = ge.sgv(op(g, "foo/c"), t(g, "foo/d"), t(g, "a"), graph=g)
    assert names(through.passthroughs) == "d"
    assert names(through.outputs) == "c d" and through.output_index(
        t(g, "foo/d")) == 1
    assert names(through.connected_inputs) == "a b"
    assert names(through.consumers()) == "e f g"
    assert names(ge.sgv(op(g, "foo/c")).remap_outputs_to_consumers().outputs
                 ) == "c c c"
    assert through.find_op_by_name("foo/c") is through.op(0)
    assert "** ops[1]:\n  foo/c\n" in str(through) and "foo/d:0 *" in str(through)
    assert not ge.sgv() and ge.sgv().graph is None


def test_copies(g):
    values = [t(g, "foo/bar/h"), t(g, "foo/bar/e")]
    g.add_to_collection("foo/mine", t(g, "foo/c"))
    part = ge.sgv("^foo/", graph=g)
    with tf.control_dependencies([op(g, "a")]), tf.device("/cpu:1"):
        view, info = ge.copy(part, dst_scope="new", src_scope="foo")
    assert op(g, "new/c").device == "" and op(g, "new/c").inputs[0].op.type == (
        "Placeholder")
    assert [o.name for o in view.ops] == ["new/" + n for n in (
        "b c d bar/e bar/f bar/g bar/h".split())]
    assert names(op(g, "new/bar/h").control_inputs) == "new/c"
    assert info.original(op(g, "new/c")) is op(g, "foo/c")
    assert info.transformed({"x": (values[0],)})["x"][0].name == "new/bar/h:0"
    assert info.transformed(t(g, "a")) is None
    assert names(g.get_collection("new/mine")) == "new/c"
    _, info = ge.copy_with_input_replacements(
        part, {t(g, "a"): tf.constant([5., 6.])})
    replaced = ge.graph_replace(values, {t(g, "foo/b"): t(g, "foo/d")})
    other = tf.Graph()
    ge.copy(part, other)
    assert names(other.get_operations()) == (
        "b geph__a_0 c d e f geph__a_0_1 g h")
    with tf.Session() as session:
        assert [v.tolist() for v in session.run(
            values + replaced + [info.transformed(values[0])])] == [
                [10., 10.], [6., 6.], [12., 12.], [7., 7.], [22., 25.]]


def test_transformers_with_other_handlers(g):
    def on_cpu(info, op_, inputs):
        def place(node_def):
            node_def.device = "/cpu:0"
            return node_def
        return ge.copy_op_handler(info, op_, inputs, copy_shape=True,
                                  nodedef_fn=place)

    copier = ge.Transformer()
    copier.transform_op_handler = on_cpu
    copier.transform_external_input_handler = lambda info, x: x * 2.
    view, _ = copier(op(g, "foo/c"), g, "new")
    assert (view.op(0).name, view.op(0).device) == ("new/foo/c", "/cpu:0")
    with tf.Session() as session:
        assert session.run(view.outputs[0]).tolist() == [6., 6.]
    copier.transform_op_handler = lambda info, op_, inputs: (op_, op_.outputs)
    with pytest.raises(ValueError, match="In-place"):
        copier(op(g, "foo/c"), g, "new")


def test_copies_of_python_functions_outlive_their_graph():
    other = tf.Graph()
    with tf.Graph().as_default():
        y = tf.py_func(lambda x: x * 3, [tf.constant(2.)], tf.float32)
        _, info = ge.copy([y.op, y.op.inputs[0].op], other)
        new = info.transformed(y)
    del y, info
    gc.collect()
    with tf.Session(graph=other) as session:
        assert session.run(new) == 6.


def test_loops_and_branches_are_copied():
    with tf.Graph().as_default() as graph:
        n = tf.constant(3, name="n")
        power = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s * 2.),
                              [tf.constant(0), tf.constant(1.)])[1]
        branch = tf.cond(n > 2, lambda: power + 1., lambda: power - 1.)
        new = ge.graph_replace([power, branch], {n: tf.constant(5)})
        with tf.Session() as session:
            assert session.run(new) == [32., 33.]
            assert session.run([power, branch]) == [8., 9.]
        other = tf.Graph()
        ge.copy(ge.sgv(graph), other)
    with tf.Session(graph=other) as session:
        assert session.run([power.name, branch.name]) == [8., 9.]


def test_inputs_are_rerouted(g):
    a, b, d, e, f = (t(g, n) for n in ("a", "foo/b", "foo/d", "foo/bar/e",
                                       "foo/bar/f"))
    h, last = op(g, "foo/bar/h"), op(g, "foo/bar/g")
    assert ge.reroute_ts([b], [a], cannot_modify=last) == 1
    assert names(op(g, "foo/c").inputs) == "b b" and last.inputs[1] is a
    assert ge.swap_ts(e, f) == 1 and names(h.inputs) == "e g"
    assert ge.swap_ts({e: 0}.keys(), [f]) == 1 and names(h.inputs) == "f g"
    x, y = ge.swap_inputs(e.op, ge.sgv(op(g, "foo/bar/g")))
    assert names(e.op.inputs) == "c a" and names(last.inputs) == "c d"
    assert names(x.inputs) == "c a" and names(y.inputs) == "c d"
    ge.swap_ios(e.op, f.op)
    assert names(h.inputs) == "e g"
    ge.reroute_outputs(f.op, e.op)
    assert names(h.inputs) == "f g"
    ge.remove_control_inputs(h, op(g, "foo/c"))
    ge.add_control_inputs(h, [d.op, b.op])
    assert names(h.control_inputs) == "d b"
    with tf.Session() as session:
        session.run(h)


def test_parts_are_detached_and_connected(g):
    c, e, f, h = (op(g, n) for n in ("foo/c", "foo/bar/e", "foo/bar/f",
                                     "foo/bar/h"))
    _, inputs, outputs = ge.detach(ge.sgv(c), control_ios=ge.ControlOutputs(g))
    assert names(inputs) == "geph__a_0 geph__b_0" and names(outputs) == (
        "geph__c_0")
    assert names(c.inputs) == names(inputs) and names(f.inputs) == (
        "geph__c_0 d")
    assert not h.control_inputs
    ge.connect(ge.sgv(c), ge.sgv(f).remap_inputs([0]))
    assert names(f.inputs) == "c d"
    ge.bypass(ge.sgv(f).remap_inputs([0]))
    assert names(h.inputs) == "c g" and names(f.inputs) == "geph__c_0_1 d"


@pytest.mark.parametrize("make, error, text", [
    (lambda g: ge.select_ops("a"), ValueError, "keyword argument 'graph'"),
    (lambda g: ge.select_ops(graph="a"), TypeError, "Expected a tf.Graph"),
    (lambda g: ge.select_ts(grap=g), ValueError, "grap"),
    (lambda g: ge.make_list_of_op([t(g, "a")]), TypeError, "Expected a type"),
    (lambda g: ge.make_list_of_t(g, allow_graph=False), TypeError, "allow_graph"),
    (lambda g: ge.get_tensors("a"), TypeError, "Expected a graph"),
    (lambda g: ge.make_regex(3), ValueError, "string or a regex"),
    (lambda g: ge.ControlOutputs(3), TypeError, "Expected a tf.Graph"),
    (lambda g: ge.check_cios(control_outputs=3), TypeError, "ControlOutputs"),
    (lambda g: ge.get_within_boundary_ops(g, op(g, "a"), op(g, "a")), ValueError,
     "Boundary is intersecting"),
    (lambda g: ge.graph_replace(t(g, "foo/b"), {t(g, "a"): t(g, "a")}),
     ValueError, "not connected"),
    (lambda g: ge.reroute_ts([t(g, "a")], []), ValueError, "different sizes"),
    (lambda g: ge.reroute_ts(t(g, "a"), tf.constant([1, 2])), ValueError,
     "Dtypes"),
    (lambda g: ge.reroute_ts(t(g, "a"), tf.constant([1.])), ValueError, "Shapes"),
    (lambda g: ge.sgv(op(g, "foo/c")).remap_inputs([2]), ValueError,
     "new_input_indices: index 2"),
    (lambda g: ge.sgv(op(g, "foo/c")).remap_inputs([1, 1]), ValueError,
     "repetition"),
    (lambda g: ge.sgv(op(g, "foo/c")).input_index(t(g, "foo/d")), ValueError,
     "foo/d:0"),
    (lambda g: ge.sgv(op(g, "a"), graph=tf.Graph()), ValueError, "mismatch"),
    (lambda g: ge.copy(op(g, "foo/c"), dst_graph=3), TypeError, "dst_graph"),
    (lambda g: ge.copy(op(g, "foo/c"), src_scope="bar"), ValueError,
     "does not belong to source scope: bar/"),
    (lambda g: ge.remove_control_inputs(op(g, "a"), op(g, "foo/c")), ValueError,
     "foo/c is not a control_input of a"),
    (lambda g: ge.add_control_inputs(op(g, "foo/bar/h"), op(g, "foo/c")),
     ValueError, "already a control_input"),
    (lambda g: ge.detach_control_outputs(op(g, "a"), None), TypeError,
     "util.ControlOutputs"),
    (lambda g: ge.placeholder_name("a"), TypeError, "tf.Tensor"),
])
def test_refusals(g, make, error, text):
    with pytest.raises(error, match=text):
        make(g)


def test_placeholders_and_trees(g):
    assert [ge.placeholder_name(t(g, "foo/c")), ge.placeholder_name(
        t(g, "foo/c"), scope="x"), ge.placeholder_name(scope="x")] == [
            "foo/geph__c_0", "x/geph__c_0", "x/geph"]
    x = ge.ph(tf.int32, [2])
    y = ge.make_placeholder_from_tensor(x, scope="s")
    assert (x.op.name, y.op.name, y.dtype, y.shape.as_list()) == (
        "geph", "s/geph__geph_0", tf.int32, [2])
    assert util.flatten_tree({"a": [1, (2,)], "b": 3}) == [1, 2, 3]
    assert util.transform_tree({"a": [1, (2,)]}, str) == {"a": ["1", ("2",)]}
    assert util.ListView([1]) + (2,) == [1, 2]
    other = tf.Graph()
    ge.copy(ge.sgv(g), other, dst_scope="new", src_scope="")
    found = util.find_corresponding([t(g, "foo/c"), op(g, "a")], other, "new")
    assert [x.name for x in found] == ["new/foo/c:0", "new/a"]
    assert found[1].graph is other


def test_modules_are_imported_by_name():
    headrace.compat.install()
    for name in "select util subgraph transform reroute edit".split():
        importlib.import_module("tensorflow.contrib.graph_editor." + name)
    module = sys.modules["tensorflow.contrib.graph_editor.util"]
    assert module.ListView is util.ListView
    assert sys.modules[
        "tensorflow.contrib.graph_editor.subgraph"].SubGraphView is (
            ge.SubGraphView)


# Gradients that compute activations again.

def checkpointed_gradients(y, xs, kept):
    """The gradients of `y` by `xs`, and the operations that compute activations
    again. Between two of the tensors `kept`, in the order in which they are
    computed, the backward pass takes a copy of the forward pass. The copy waits
    for the gradient that comes in."""
    forward = ge.get_backward_walk_ops(y, stop_at_ts=xs)
    held = {k: tf.stop_gradient(k) for k in kept}
    incoming, gradients, copies = {y: tf.ones_like(y)}, [0.] * len(xs), []
    for end in [y] + kept[::-1]:
        part = ge.get_backward_walk_ops(
            end, within_ops=forward, stop_at_ts=xs + [k for k in kept
                                                      if k is not end])
        _, info = ge.copy_with_input_replacements(ge.sgv(part), {})
        copied = list(info._transformed_ops.values())
        ge.reroute_ts(held.values(), held.keys(), can_modify=copied)
        for op_ in copied:
            ge.add_control_inputs(op_, incoming[end].op)
        sources = [k for k in kept if k is not end]
        found = tf.gradients(info.transformed(end),
                             xs + [held[k] for k in sources], incoming[end])
        gradients = [old if new is None else old + new
                     for old, new in zip(gradients, found)]
        for k, new in zip(sources, found[len(xs):]):
            if new is not None:
                incoming[k] = incoming[k] + new if k in incoming else new
        copies += copied
    return gradients, copies


def test_gradients_from_recomputed_activations():
    """Same gradients; the backward pass takes copies of the activations."""
    rng = np.random.RandomState(3)
    with tf.Graph().as_default():
        x = tf.constant(rng.randn(5, 4), tf.float32)
        ws, layers = [], [x]
        for i in range(6):
            w = tf.get_variable("w%d" % i, initializer=tf.constant(
                rng.randn(4, 4), tf.float32))
            ws.append(w)
            layers.append(tf.tanh(tf.matmul(layers[-1], w), name="h%d" % i))
        loss = tf.reduce_sum(tf.square(layers[-1]))
        read = [w.value() for w in ws]
        plain = tf.gradients(loss, ws)
        again, copies = checkpointed_gradients(
            loss, [layers[0]] + read, [layers[2], layers[4]])
        # The new gradients take the activations up to the last that is kept.
        needed = set(ge.get_backward_walk_ops(again))
        assert [h.op in needed for h in layers] == [True] * 5 + [False] * 2
        assert sum(o.type == "Tanh" for o in copies) == 6
        assert sum(o.type == "Tanh" and o in needed for o in copies) == 6
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for one, two in zip(*session.run([plain, again[1:]])):
                np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)
                assert np.abs(one).max() > 0
