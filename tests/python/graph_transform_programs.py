"""TransformGraph of tensorflow.tools.graph_transforms: texts of transforms, and
the graph on which they work. graph_transform_values.json has the nodes that
TensorFlow 1.15.5 gives, or its error.

    PYTHON tests/python/graph_transform_programs.py

with an interpreter that has TensorFlow 1.15 writes the file again."""
import os

import recorded

VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "graph_transform_values.json")

# Name: transforms, inputs, outputs.
CASES = {
    "strip": (["strip_unused_nodes"], ["x"], ["out"]),
    "strip to a node": (["strip_unused_nodes"], ["s"], ["out"]),
    "strip to half": (['strip_unused_nodes(type=half, shape="1,2")'], ["s"],
                      ["out"]),
    "strip by name": (['strip_unused_nodes(name=m, type_for_name=int32, '
                       'shape_for_name="7", name=s, type_for_name=bool, '
                       'shape_for_name="2,3")'], ["m", "s"], ["out"]),
    "strip, no sizes": (['strip_unused_nodes(shape="")'], ["s"], ["out"]),
    "strip, no such output": (["strip_unused_nodes"], ["x"], ["nope"]),
    "strip, no such type": (["strip_unused_nodes(type=foo)"], ["s"], ["out"]),
    "ignored": (["strip_unused_nodes(ignore_errors=true, type=foo)"], ["s"],
                ["out"]),
    "sort": (["sort_by_execution_order"], ["x"], ["out"]),
    "remove attribute": (["remove_attribute(attribute_name=T)"], ["x"],
                         ["out"]),
    "remove attribute of an op": (
        ["remove_attribute(attribute_name=T, op_name=Mul)"], ["x"], ["out"]),
    "remove no attribute": (["remove_attribute"], ["x"], ["out"]),
    "rename attribute": (["rename_attribute(old_attribute_name=T,"
                          "new_attribute_name=U)"], ["x"], ["out"]),
    "rename attribute of an op": (
        ["rename_attribute(old_attribute_name=T, new_attribute_name=U, "
         "op_name=Mul)"], ["x"], ["out"]),
    "rename op": (["rename_op(old_op_name=Mul,new_op_name=Sub)"], ["x"],
                  ["out"]),
    "rename no op": (["rename_op"], ["x"], ["out"]),
    "device": (["remove_device"], ["x"], ["out"]),
    "obfuscate": (["obfuscate_names"], ["x"], ["out"]),
    "two": (["remove_device", "strip_unused_nodes"], ["x"], ["out"]),
    "nothing": ([], ["x"], ["out"]),
    "no such transform": (["no_such"], ["x"], ["out"]),
}


def graph_def(tf):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        a = tf.constant([[1., 2, 3], [4, 5, 6]], name="a")
        b = tf.constant([[1., 2, 3], [4, 5, 6]], name="b")
        with tf.device("/cpu:0"):
            i = tf.identity(x, name="i")
        c = tf.check_numerics(i, "m", name="c")
        s, t = tf.add(c, a, name="s"), tf.add(c, b, name="t")
        parts = tf.split(b, 3, axis=1, name="parts")
        with tf.control_dependencies([i, parts[0]]):
            m = tf.multiply(s + parts[1], t, name="m")
        tf.square(m, name="unused")
        for k in range(70):
            tf.square(x, name="many%d" % k)
        tf.identity(m, name="out")
    return graph.as_graph_def()


def run(tf, transform, name):
    """Each node as a list, in the order of the graph; or the error."""
    transforms, inputs, outputs = CASES[name]
    try:
        got = transform(graph_def(tf), inputs, outputs, transforms)
    except tf.errors.InvalidArgumentError as error:
        return str(error).split("\n")[0]
    return [[n.name, n.op, list(n.input), n.device, sorted(
        [k, "" if k == "value" else " ".join(str(v).split())]
        for k, v in n.attr.items())] for n in got.node]


def main():
    import tensorflow
    from tensorflow.tools.graph_transforms import TransformGraph
    recorded.write(VALUES, {
        name: run(tensorflow, TransformGraph, name) for name in CASES})


if __name__ == "__main__":
    main()
