"""A model that is trained, saved for serving, frozen, and used from files."""
import os

import tensorflow as tf
from tensorflow.python.framework import graph_util
from tensorflow.python.platform import gfile

from data import blobs, own_folder, show

points, which = blobs(90, [(0, 0), (3, 1), (1, 4)])
folder = own_folder()
export = os.path.join(folder, "export")
with tf.Graph().as_default() as graph:
    tf.set_random_seed(22)
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.placeholder(tf.int64, [None], name="y")
    net = tf.layers.dense(x, 8, tf.nn.relu)
    net = tf.layers.dropout(net, 0.2, training=False)
    logits = tf.layers.dense(net, 3)
    scores = tf.nn.softmax(logits, name="scores")
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    train = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(30):
            sess.run(train, {x: points, y: which})
        want = sess.run(scores, {x: points[:2]})
        show("scores", want)
        builder = tf.saved_model.builder.SavedModelBuilder(export)
        signature = tf.saved_model.signature_def_utils.predict_signature_def(
            {"points": x}, {"scores": scores})
        builder.add_meta_graph_and_variables(
            sess, [tf.saved_model.tag_constants.SERVING],
            signature_def_map={"serving_default": signature})
        builder.save()
        frozen = graph_util.convert_variables_to_constants(
            sess, graph.as_graph_def(), ["scores"])
        tf.train.write_graph(frozen, folder, "frozen.pb", as_text=False)
        tf.train.write_graph(frozen, folder, "frozen.pbtxt")
print(sorted(os.listdir(folder)), sorted(os.listdir(export)))
print(sorted({n.op for n in frozen.node}))

with tf.Graph().as_default(), tf.Session() as sess:
    meta = tf.saved_model.loader.load(sess, ["serve"], export)
    found = meta.signature_def["serving_default"]
    names = found.inputs["points"].name, found.outputs["scores"].name
    print(found.method_name, names)
    show("loaded", sess.run(names[1], {names[0]: points[:2]}) - want)

with tf.Graph().as_default(), tf.Session() as sess:
    graph_def = tf.GraphDef()
    with gfile.FastGFile(os.path.join(folder, "frozen.pb"), "rb") as file:
        graph_def.ParseFromString(file.read())
    x2 = tf.placeholder(tf.float32, [None, 2])
    out, = tf.import_graph_def(graph_def, {"x:0": x2}, ["scores:0"],
                               name="served")
    show("frozen", sess.run(out, {x2: points[:2]}) - want)
    print(out.name, len(tf.trainable_variables()))
