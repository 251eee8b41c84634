"""Objects that TensorFlow 1.15 saved by tf.train.Checkpoint. checkpoint_values.json
has the files, as text, and the tensors in them.

    PYTHON tests/python/checkpoint_programs.py

with an interpreter that has TensorFlow 1.15 writes the file again. With a folder
as argument it says whether TensorFlow finds what it wants in the files there,
which test_object_checkpoints.py writes:

    PYTHON tests/python/checkpoint_programs.py FOLDER"""
import os
import sys
import tempfile

import numpy as np
import recorded

VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "checkpoint_values.json")


def variables(tf):
    return dict(v=tf.get_variable("v", [2], use_resource=True),
                w=tf.Variable([1., 2., 3.], name="w"),
                step=tf.train.get_or_create_global_step())


def module(tf):
    class Parts(tf.Module):
        def __init__(self):
            super(Parts, self).__init__(name="parts")
            self.one = tf.Variable(1., name="other_name")
            self.some = [tf.Variable(2.), tf.Variable(3.)]
            self.named = {"x": tf.Variable(4.), "y.z/a": {"b": tf.Variable(5.)}}
            self.again = self.one
            self._hidden = tf.Variable(6.)
            self.empty, self.number, self.text = [], 3, "t"
    return dict(parts=Parts())


def adam(tf):
    w = tf.get_variable("w", [2], use_resource=True)
    u = tf.get_variable("u", [3])
    optimizer = tf.train.AdamOptimizer(.1)
    optimizer.minimize(tf.reduce_sum(w * w) + tf.reduce_sum(u * u))
    return dict(optimizer=optimizer, w=w, u=u)


def momentum(tf):
    w = tf.get_variable("w", [2], use_resource=True)
    optimizer = tf.train.MomentumOptimizer(.1, .9)
    optimizer.minimize(tf.reduce_sum(w * w))
    return dict(optimizer=optimizer, w=w)


def compiled_model(tf):
    L = tf.keras.layers
    model = tf.keras.Sequential([
        L.Dense(2, input_shape=(3,)), L.BatchNormalization(), L.Dropout(.1),
        L.Dense(1)])
    model.compile("adam", "mse")
    make = getattr(model, "_make_train_function", None) or model._make_train_op
    make()
    return dict(model=model)


def model_and_optimizer(tf):
    x = tf.keras.Input((4,))
    model = tf.keras.Model(x, tf.keras.layers.Dense(1)(
        tf.keras.layers.Dense(2)(x)))
    optimizer = tf.keras.optimizers.SGD(.1, momentum=.9)
    optimizer.get_updates(tf.reduce_sum(model.output),
                          model.trainable_weights)
    return dict(model=model, optimizer=optimizer)


def own_model(tf):
    L = tf.keras.layers

    class Net(tf.keras.Model):
        def __init__(self):
            super(Net, self).__init__()
            self.first = L.Dense(5)
            self.rest = [L.Dense(1), L.Dense(2)]
            self.v = tf.Variable(1.)

        def call(self, x):
            return self.rest[1](self.rest[0](self.first(x)))
    net = Net()
    net(tf.ones([1, 3]))
    return dict(net=net, layer=net.first)


def layers(tf):
    L = tf.keras.layers
    made = dict(embedding=L.Embedding(3, 2), both=L.Bidirectional(L.GRU(2)),
                stacked=L.RNN([L.GRUCell(2)]), lstm=L.LSTM(2))
    made["embedding"](tf.constant([[1]]))
    for name in ("both", "stacked", "lstm"):
        made[name](tf.ones([1, 2, 3]))
    return made


CASES = {f.__name__: f for f in (
    variables, module, adam, momentum, compiled_model, model_and_optimizer,
    own_model, layers)}


def value(i, shape):
    return np.cos(np.arange(np.prod(shape, dtype=int)) + i).reshape(shape)


def checkpoint(tf, name):
    """A Checkpoint of objects of the default graph."""
    return tf.train.Checkpoint(**CASES[name](tf))


def fill(tf, session):
    """Gives all variables values that are easily told."""
    session.run(tf.global_variables_initializer())
    for i, v in enumerate(sorted(tf.global_variables(), key=lambda v: v.name)):
        kind = v.dtype.base_dtype.as_numpy_dtype
        v.load((10 * value(i, v.shape.as_list())).astype(kind), session)


def tensors(tf, path):
    """{key: value} of a checkpoint, but for the graph of objects."""
    reader = tf.train.NewCheckpointReader(path)
    return {key: reader.get_tensor(key).tolist()
            for key in reader.get_variable_to_shape_map()
            if key != "_CHECKPOINTABLE_OBJECT_GRAPH"}


def save(tf, name, folder):
    """The path of a checkpoint of known values."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.keras.backend.set_session(session)
        saved = checkpoint(tf, name)
        fill(tf, session)
        return saved.save(os.path.join(folder, name, "ckpt"), session)


def restored(tf, name, path):
    """{key: value} of what a checkpoint gave to new objects, once more saved."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.keras.backend.set_session(session)
        new = checkpoint(tf, name)
        new.restore(path).assert_consumed().initialize_or_restore(session)
        return tensors(tf, new.write(path + "_again", session))


def main():
    import tensorflow
    assert tensorflow.__version__.startswith("1.15"), tensorflow.__version__
    tf = tensorflow.compat.v1
    folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
    results = {}
    for name in CASES:
        if len(sys.argv) > 1:
            path = os.path.join(folder, name, "ckpt-1")
            print(name, restored(tf, name, path) == tensors(tf, path))
            continue
        path = save(tf, name, folder)
        files = {}
        for file in os.listdir(os.path.join(folder, name)):
            files[file] = recorded.packed(os.path.join(folder, name, file))
        results[name] = {"files": files, "tensors": tensors(tf, path)}
    if results:
        recorded.write(VALUES, results)


if __name__ == "__main__":
    main()
