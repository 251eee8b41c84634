"""tf.compat.v2: its names, their arguments, and what they do."""
import importlib
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import headrace as tf
from headrace import _names, _second_api, _second_interface
from headrace._src.compat import finder
from test_signatures import arguments, text_of, wanted_arguments

v2 = tf.compat.v2
SPACES = sorted(_second_api.spaces())
# Names whose arguments are not TensorFlow's, by the reason.
EXCEPTIONS = {
    "made by the library, not by users": "Operation Tensor data.Dataset",
    "of 1.x too: see test_signatures.py": """
        data.experimental.ignore_errors errors.error_code_from_exception_type""",
    "TensorFlow shows the arguments that layers have in common as **kwargs": """
        keras.layers.Add keras.layers.Average keras.layers.Maximum
        keras.layers.Minimum keras.layers.Multiply keras.layers.Subtract""",
    "an own argument stands at the end, or before **kwargs": """
        data.experimental.Optional keras.utils.Progbar""",
}


def attribute(name):
    found = v2
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def signatures():
    """{name: arguments} of tf2_signatures.tsv"""
    path = pathlib.Path(__file__).with_name("tf2_signatures.tsv")
    found = {}
    for line in path.read_text().splitlines():
        text, _, names = line.partition("\t")
        if text != "*args, **kwargs":  # a decorator's
            found.update(dict.fromkeys(names.split(), text))
    return found


TABLE = signatures()
EXCEPTED = [n for names in EXCEPTIONS.values() for n in names.split()]


def difference(name):
    try:
        ours = arguments(attribute(name))
    except (TypeError, ValueError):
        return "no signature"
    if ours == wanted_arguments(TABLE[name]):
        return None
    return "(%s), TensorFlow (%s)" % (text_of(ours), TABLE[name])


# Names.

@pytest.mark.parametrize("space", SPACES)
def test_a_namespace_has_the_names_of_its_table(space):
    module = importlib.import_module("headrace." + space)
    inner = {s[len(space) + 1:] for s in SPACES if s.startswith(space + ".")
             and "." not in s[len(space) + 1:]}
    others = {"compat.v2": {"raw_ops"}, "compat.v2.compat": {"v1"}}
    public = {n for n in dir(module) if not n.startswith("_")}
    assert public == {*_names.table(space), *inner, *others.get(space, ())}
    for name in public:
        assert getattr(module, name) is getattr(module, name)


@pytest.mark.parametrize("space", SPACES)
def test_names_are_tensorflows(space):
    known = set(_second_api.interface()[space])
    assert set(_names.table(space)) <= known


def test_own_names_are_those_that_differ_from_1x():
    for space, homes in _second_api.OWN.items():
        names = [e.partition("=")[0] for text in homes.values()
                 for e in text.split()]
        marked = {e[:-1] for e in _second_interface.NAMES[space].split()
                  if e.endswith("!")}
        assert set(names) <= marked, space
        assert len(names) == len(set(names))


@pytest.mark.parametrize("name", """
    Variable function Module reduce_sum math.argmax nn.conv2d where
    keras.layers.Dense optimizers.Adam losses.MeanSquaredError metrics.Mean
    initializers.GlorotUniform linalg.norm random.set_seed io.decode_raw
    saved_model.contains_saved_model sparse.add debugging.assert_equal
    data.Dataset lookup.StaticHashTable test.compute_gradient newaxis
    float32 compat.dimension_value raw_ops.Add""".split())
def test_what_is_there(name):
    space, _, last = name.rpartition(".")
    assert last in dir(attribute(space) if space else v2)
    attribute(name)


def test_the_same_objects_as_1x():
    assert v2.abs is tf.abs and v2.math.add is tf.math.add
    assert v2.where is tf.where_v2 and v2.losses.Huber is tf.keras.losses.Huber
    assert v2.compat.v1 is tf and v2.raw_ops is tf.raw_ops
    assert v2.nn.max_pool is tf.nn.max_pool_v2 and v2.nn.relu is tf.nn.relu
    assert v2.reduce_sum is not tf.reduce_sum and v2.Module is tf.Module


@pytest.mark.parametrize("name, text", [
    ("nn.softmaks", "did you mean tf.compat.v2.nn.softmax"),
    ("placeholder", "has no attribute 'placeholder'")])
def test_what_is_said_of_others(name, text):
    space, _, last = name.rpartition(".")
    with pytest.raises(AttributeError, match=text):
        getattr(attribute(space) if space else v2, last)


def test_import_of_headrace_does_not_load_it():
    done = subprocess.run(
        [sys.executable, "-c", "import headrace as tf, sys; tf.nn.relu\n"
         "assert 'headrace.compat.v2' not in sys.modules\n"
         "import headrace.compat.v2.nn as nn; nn.relu\n"
         "from headrace.compat import v2; assert v2 is tf.compat.v2"],
        text=True, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_programs_import_it():
    done = subprocess.run([sys.executable, "-c", """if True:
        import headrace.compat; headrace.compat.install()
        import tensorflow as tf1
        import tensorflow.compat.v2 as tf
        from tensorflow.compat import v2
        from tensorflow.compat.v2 import nn
        import tensorflow.compat.v2.keras.layers as layers
        assert tf is v2 is tf1.compat.v2 and nn.relu is tf1.nn.relu
        assert tf.compat.v1 is tf1 and tf.__version__ == "1.15.5"
        import tensorflow.compat.v2.compat.v1 as first
        assert first is tf1 and layers.Dense is tf1.keras.layers.Dense
        assert not hasattr(tf, "placeholder") and hasattr(tf1, "placeholder")
        from tensorflow.compat.v2 import ragged
        assert ragged.constant is tf1.ragged.constant
        """], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_the_finder_knows_the_namespaces():
    assert set(SPACES) <= finder._spaces()


# Arguments.

def test_names_take_the_arguments_of_tensorflow():
    there = [n for n in TABLE if attribute(n) is not None]
    assert len(there) > 1200
    wrong = {n: difference(n) for n in there if n not in EXCEPTED}
    wrong = {n: text for n, text in wrong.items() if text}
    assert not wrong, "\n" + "\n".join(map(": ".join, wrong.items()))


@pytest.mark.parametrize("name", EXCEPTED)
def test_exceptions_are_needed(name):
    assert difference(name) is not None


# What names that differ from those of 1.x do: values of TensorFlow 1.15.5.

# second_values.tsv has a line for each expression: of X, IMAGE, V and S, below.

PATH = pathlib.Path(__file__).with_name("second_values.tsv")
VALUES = [line.split("\t") for line in PATH.read_text().splitlines()]
X = np.arange(6, dtype=np.float32).reshape(2, 3)
IMAGE = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)


def evaluated(expression):
    given = {"v2": v2, "X": X, "IMAGE": IMAGE, "np": np,
             "V": tf.constant([1., 2.]),
             "S": tf.SparseTensor([[0, 0], [1, 2]], [1., 2.], [2, 3])}
    made = eval(expression, given)
    with tf.Session() as session:
        return session.run(
            list(made) if isinstance(made, (list, tuple)) else made)


def agrees(found, wanted):
    """Whether numbers and strings of nested lists are equal, or nearly."""
    if isinstance(found, list):
        return len(found) == len(wanted) and all(map(agrees, found, wanted))
    found = np.asarray(found)
    if found.dtype.kind in "OS":
        return np.array_equal(found.astype(bytes), np.array(wanted).astype(bytes))
    return found.shape == np.shape(wanted) and np.allclose(
        found, wanted, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("expression, wanted", VALUES)
def test_values_are_those_of_tensorflow(expression, wanted):
    found = evaluated(expression)
    assert agrees(found, json.loads(wanted)), found


def test_each_name_of_its_own_is_looked_at():
    assert len(VALUES) > 85


@pytest.mark.parametrize("make, error, text", [
    (lambda: v2.constant([1, 2], shape=[3]), TypeError, "Expected Tensor's shape"),
    (lambda: v2.name_scope(None), ValueError, "must be a string"),
    (lambda: v2.device(lambda op: "/cpu:0"), RuntimeError, "functions"),
    (lambda: setattr(v2.DeviceSpec(job="a"), "job", "b"), AttributeError, "job|set"),
    (lambda: v2.Variable(), ValueError, "initial_value must be specified"),
    (lambda: v2.Variable(1., collections=["a"]), TypeError, "collections"),
    (lambda: v2.Module(name="8x"), ValueError, "not a valid module name"),
    (lambda: v2.nn.dilation2d(X, X, [1], "SAME", "NCHW", [1]), ValueError, "NHWC"),
    (lambda: v2.image.resize(IMAGE, [2, 2], "none"), ValueError, "not implemented"),
    (lambda: v2.initializers.GlorotNormal()([2, 2], tf.int32), ValueError,
     "Expected floating point type"),
])
def test_refusals(make, error, text):
    with pytest.raises(error, match=text):
        make()


# Variables and modules.

def test_a_variable_is_a_resource():
    v = v2.Variable([1., 2.], name="v")
    assert isinstance(v, v2.Variable) and isinstance(v, tf.Variable)
    assert v.dtype == tf.float32 and v.handle.dtype == tf.resource
    assert isinstance(tf.Variable(1.), v2.Variable)
    assert not isinstance(tf.constant(1.), v2.Variable)
    assert issubclass(type(v), v2.Variable)
    assert v in tf.global_variables() and v in tf.trainable_variables()
    assert v2.Variable(1., trainable=False) not in tf.trainable_variables()
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(v.assign_add([1., 1.]) * 2.).tolist() == [4, 6]


def test_creators_make_variables():
    seen = []

    def creator(following, **arguments):
        seen.append((arguments["name"], arguments["use_resource"]))
        return following(**arguments)
    with v2.variable_creator_scope(creator):
        v2.Variable(1., name="a")
    assert seen == [("a", True)]


class Part(v2.Module):
    def __init__(self, value, name=None):
        super().__init__(name=name)
        self.w = v2.Variable(value, name="w")
        self.a = [v2.Variable(1., trainable=False, name="fixed"),
                  {"z": v2.Variable(2., name="z"), "b": v2.Variable(3., name="b")}]

    @v2.Module.with_name_scope
    def __call__(self, x):
        return x * self.w


class HTTPNet2Whole(v2.Module):
    def __init__(self):
        super().__init__()
        with self.name_scope:
            self.l10 = Part(10.)
            self.l9 = Part(9., name="nine")
        self.both = (self.l9, self.l10)
        self.layer = tf.keras.layers.Dense(2)


def test_a_module_finds_its_variables():
    # As TensorFlow 1.15.5 has it.
    m = HTTPNet2Whole()
    assert m.l9(3.).name == "http_net2_whole/nine/mul:0"
    m.layer(tf.ones([1, 3]))
    scope = "http_net2_whole/"
    assert [v.name for v in m.variables] == [
        scope + "fixed_1:0", scope + "b_1:0", scope + "z_1:0", scope + "w_1:0",
        scope + "fixed:0", scope + "b:0", scope + "z:0", scope + "w:0",
        "dense/kernel:0", "dense/bias:0"]
    assert len(m.trainable_variables) == 8
    assert [x.name for x in m.submodules] == ["nine", "part", "dense"]
    paths = m._flatten(predicate=lambda x: isinstance(x, v2.Variable),
                       recursive=False, with_path=True)
    assert list(paths) == []
    assert [p for p, _ in m.l9._flatten(
        predicate=lambda x: isinstance(x, v2.Variable), with_path=True)] == [
            ("a", 0), ("a", 1, "b"), ("a", 1, "z"), ("w",)]
    with m.l9.name_scope as name:
        assert name == scope + "nine/"


@pytest.mark.parametrize("name, snake", [
    ("A", "a"), ("AB", "ab"), ("ABc", "a_bc"), ("HTTPServer", "http_server"),
    ("Net2D", "net2_d"), ("MyNetV2x", "my_net_v2x"), ("LSTM2", "lstm2")])
def test_names_of_modules(name, snake):
    assert type(name, (v2.Module,), {})().name == snake


# tf.function.

def run(fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


def test_effects_of_a_function_run_in_order():
    v = v2.Variable(1.)

    @v2.function(autograph=False)
    def f(x):
        first = v.read_value()
        v.assign(x * 10.)
        second = v.read_value()
        v.assign_add(1.)
        return first, second, v.read_value(), None, 3
    first, second, third, nothing, three = f(tf.constant(3.))
    assert nothing is None and three.dtype == tf.int32
    assert run([first, second, third, three]) == [1, 30, 31, 3]


def test_a_call_without_results_is_an_operation():
    v = v2.Variable(1.)

    @v2.function
    def f(x):
        v.assign(x)
    operation = f(7.)
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(operation)
        assert session.run(v) == 7


def test_a_function_in_a_loop_waits_for_its_arguments():
    v = v2.Variable(0.)

    @tf.function
    def step(before, i):
        return v.assign_add(1.) + 0. * before
    values = tf.scan(step, tf.range(20), initializer=0.)
    assert run(values).tolist() == list(range(1, 21))


def test_branches_and_loops_of_a_function():
    @v2.function
    def total(n):
        """The sum of what is not 3."""
        s = 0
        for i in tf.range(n):
            if i > 3 or i < 3:
                s += i
        return s
    assert total.__doc__.startswith("The sum") and total.__name__ == "total"
    assert run(total(tf.constant(6))) == 12
    assert total.python_function.__name__ == "total"


def test_a_method_makes_its_variables_in_the_first_call():
    class Net:
        def __init__(self):
            self.w = None

        def __eq__(self, other):  # so that it has no hash
            return self is other

        @v2.function
        def __call__(self, x, k=2.):
            if self.w is None:
                self.w = v2.Variable(3., name="w")
            return self.w * x * k
    net, other = Net(), Net()
    y, again = net(tf.constant(2.), k=3.), net(4.)
    assert net.w is not None and other(1.) is not None
    assert other.w is not net.w
    assert run([y, again, tf.gradients(y, net.w)[0]]) == [18, 24, 6]

    @v2.function
    def always(x):
        return v2.Variable(1.) * x
    always(1.)
    with pytest.raises(ValueError, match="variables on non-first call"):
        always(2.)


def test_signatures_of_functions():
    @tf.function(input_signature=[v2.TensorSpec([None], tf.float32)])
    def f(x):
        return {"x": x, "y": (x + 1, None)}
    found = f(np.ones(3))
    assert found["x"].dtype == tf.float32 and found["y"][1] is None
    assert run(found["y"][0]).tolist() == [2, 2, 2]
    for wrong in (tf.ones([2, 2]), tf.ones([2], tf.int32)):
        with pytest.raises(ValueError, match="incompatible with input_signature"):
            f(wrong)
    with pytest.raises(ValueError, match="1 arguments"):
        f(1., 2.)
    concrete = f.get_concrete_function()
    assert concrete.output_shapes["x"].as_list() == [None]
    assert concrete.output_dtypes["y"][0] == tf.float32
    assert run(concrete([1.])["x"]).tolist() == [1]


# Layers whose defaults differ.

@pytest.mark.parametrize("name, bias, wanted", [
    ("GRU", "zeros", -0.06009406), ("GRU", "ones", 0.20391542),
    ("LSTM", "zeros", 0.12869741)])
def test_recurrent_layers(name, bias, wanted):
    x = np.array([[[1., -2.], [.5, .25]]], np.float32)
    made = getattr(v2.keras.layers, name)(
        2, kernel_initializer="ones", recurrent_initializer="ones",
        bias_initializer=bias)
    assert np.allclose(run(made(tf.constant(x))), [[wanted] * 2], rtol=1e-5)
    assert made.get_config()["recurrent_activation"] == "sigmoid"


def test_custom_objects():
    class Twice(v2.keras.initializers.Initializer):
        def __call__(self, shape, dtype=None):
            return v2.constant(2., shape=shape)
    with tf.keras.utils.custom_object_scope({"Twice": Twice}):
        layer = tf.keras.layers.Dense(1, kernel_initializer="Twice")
    assert run(layer(tf.ones([1, 3]))).tolist() == [[6]]
    assert "Twice" not in tf.keras.utils.get_custom_objects()
    with pytest.raises(ValueError, match="Unknown initializer: Twice"):
        tf.keras.layers.Dense(1, kernel_initializer="Twice")
    made = tf.keras.utils.deserialize_keras_object(
        {"class_name": "L1L2", "config": {"l1": .5, "l2": 0.}},
        {"L1L2": tf.keras.regularizers.L1L2})
    assert made.l1 == .5
    with pytest.raises(ValueError, match="Unknown thing: no"):
        tf.keras.utils.deserialize_keras_object("no", {}, None, "thing")


def test_a_dataset_is_no_python_iterator():
    with pytest.raises(RuntimeError, match="when eager execution is enabled"):
        list(v2.data.Dataset.range(3))
