"""tf.contrib.checkpoint. What checkpoints say of it is TensorFlow 1.15's."""
import copy

import numpy as np
import pytest

import headrace as tf
from headrace.contrib import checkpoint as lib


def variable(value, name):
    return tf.Variable(value, name=name, use_resource=True)


@pytest.fixture(name="root")
def make_root():
    v, w = variable([0., 0.], "v"), variable(2., "w")
    root = lib.Checkpointable()
    root.l = lib.List([v])
    root.l.append(w)
    root.m = lib.Mapping(a=v)
    root.u = lib.UniqueNameTracker()
    for x, name in [(v, "x"), (w, "y"), (w, "x")]:
        assert root.u.track(x, name) is x
    root.n = lib.NumpyState()
    root.n.x = np.arange(3)
    root.opt = tf.train.MomentumOptimizer(.1, .9)
    root.train = root.opt.minimize(tf.reduce_sum(v) * w)
    return root


def save(root, tmp_path):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return tf.train.Checkpoint(r=root).save(str(tmp_path / "c"), sess)


def test_objects_of_a_checkpoint(root, tmp_path):
    graph = lib.object_metadata(save(root, tmp_path))
    assert isinstance(graph, lib.CheckpointableObjectGraph)
    children = [[c.local_name for c in node.children] for node in graph.nodes]
    assert ["0", "1"] in children and ["a"] in children and ["x"] in children
    assert ["x", "y", "x_1"] in children
    assert [type(x).__name__ for x in lib.list_objects(root)] == [
        "AutoTrackable", "List", "Mapping", "UniqueNameTracker", "NumpyState",
        "MomentumOptimizer", "ResourceVariable", "ResourceVariable", "_Array",
        "ResourceVariable", "ResourceVariable"]


def test_a_checkpoint_as_a_drawing(root, tmp_path):
    lines = lib.dot_graph_from_checkpoint(save(root, tmp_path)).splitlines()
    assert lines[0] == "digraph {" and lines[-1] == "}"
    for kind, color, count in [("Variable v shape=[2] float32", "blue", 1),
                               ("Variable w shape=[] float32", "blue", 1),
                               ("Slot variable", "orange", 2)]:
        assert sum('color=%s width=.25 tooltip="%s' % (color, kind) in line
                   for line in lines) == count
    assert sum('color=red,tooltip="Optimizer"' in line for line in lines) == 1
    assert sum('label="momentum" style=dotted' in line for line in lines) == 2
    assert 'N_0 -> N_1 [label="r"]' in lines


def test_arrays_are_restored_at_once(root, tmp_path):
    path = save(root, tmp_path)
    root.n.x[1] = 7
    other = lib.Checkpointable()
    other.n = lib.NumpyState()
    for state in (other, root):
        tf.train.Checkpoint(r=state).restore(path)
        assert state.n.x.tolist() == [0, 1, 2]


def test_containers(root):
    v, w = root.l
    assert len(root.l * 2) == 4 and len([v] + root.l) == len(root.l + [v]) == 3
    assert root.l != [v, w] and copy.copy(root.l)[:] == [v, w]
    assert root.l.copy()[1] is w and repr(root.l) == "List(%r)" % ([v, w],)
    root.l += [v]
    root.l *= 2
    assert len(root.l) == 6
    root.m["b"] = w
    root.m["b"] = w
    assert dict(root.m) == {"a": v, "b": w} and copy.copy(root.m)["b"] is w


def test_a_model_has_the_layers_of_its_list():
    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.parts = lib.List([tf.keras.layers.Dense(2)])
            self.parts.append(tf.keras.layers.Dense(3))

        def call(self, x):
            for part in self.parts:
                x = part(x)
            return x

    model = Model()
    model(tf.zeros([1, 4]))
    assert [w.shape.as_list() for w in model.trainable_weights] == [
        [4, 2], [2], [2, 3], [3]]


def of_saver(tmp_path):
    variable(1., "only")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return tf.train.Saver().save(sess, str(tmp_path / "s"))


@pytest.mark.parametrize("do, error, message", [
    (lambda r, _: lib.List([1]), ValueError, "List: only objects that"),
    (lambda r, _: lib.Mapping({1: r.l[0]}), TypeError, "only string keys"),
    (lambda r, _: r.m.update(a=r.l[1]), ValueError, "overwrite the key 'a'"),
    (lambda r, _: setattr(r.n, "y", 3), NotImplementedError,
     "Assigned 3 to the y property"),
    (lambda r, _: r.n.z, AttributeError, "no array 'z'"),
    (lambda r, _: r.u.track(3, "a"), ValueError, "Expected a trackable value"),
    (lambda r, _: r.l.__imul__(0), ValueError, "multiplying in place by 0"),
    (lambda r, path: lib.object_metadata(of_saver(path)), ValueError,
     "does not appear to be object-based"),
    (lambda r, path: lib.object_metadata(str(path / "none")),
     tf.errors.NotFoundError, "none"),
    (lambda r, _: lib.split_dependency, AttributeError, "not supported yet")])
def test_refused(root, tmp_path, do, error, message):
    with pytest.raises(error, match=message):
        do(root, tmp_path)


class TwoLayers(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.kept = tf.keras.layers.Dense(2)
        self.own = tf.contrib.checkpoint.NoDependency(tf.keras.layers.Dense(3))
        self.more = tf.contrib.checkpoint.NoDependency(
            [tf.keras.layers.Dense(3)])

    def call(self, x):
        return self.kept(x)


def saved_keys(thing, tmp_path):
    checkpoint = tf.train.Checkpoint(o=thing)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "x"), session=session)
    return [key.split("/.")[0] for key, _ in tf.train.list_variables(path)
            if key.startswith("o/")]


@pytest.mark.parametrize("make", [
    tf.contrib.checkpoint.Checkpointable, tf.Module, tf.keras.layers.Layer,
    tf.keras.Model, tf.train.Checkpoint])
def test_attributes_without_dependency_are_not_saved(make, tmp_path):
    hidden = tf.contrib.checkpoint.NoDependency
    thing = make()
    thing.a = tf.Variable(1., use_resource=True)
    thing.b = hidden(tf.Variable(2., use_resource=True))
    thing.c = [tf.Variable(3., use_resource=True)]
    thing.d = hidden([tf.Variable(4., use_resource=True)])
    thing.e = hidden({"x": 3})
    assert isinstance(thing.b, tf.Variable)
    assert isinstance(thing.d, list) and thing.e == {"x": 3}
    assert saved_keys(thing, tmp_path) == ["o/a", "o/c/0"]
    thing.b = tf.Variable(2., use_resource=True)  # set again, it is saved
    assert saved_keys(thing, tmp_path) == ["o/a", "o/b", "o/c/0"]


def test_layer_without_dependency_is_a_layer(tmp_path):
    model = TwoLayers()
    model(tf.ones([1, 2]))
    assert [layer.units for layer in model.layers] == [2, 3]
    assert saved_keys(model, tmp_path) == ["o/kept/bias", "o/kept/kernel"]
