"""tf.function and defun where ops are executed eagerly; tests of
tensorflow.python's test_util."""
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import headrace as tf
from headrace._src.eager import context


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


def test_a_trace_for_each_kind_of_arguments():
    traced = []

    @tf.function
    def double(x, times=2):
        traced.append(x)
        return x * times
    assert float(double(tf.constant(1.))) == 2
    assert float(double(tf.constant(3.))) == 6
    assert double(tf.constant([1., 2.])).numpy().tolist() == [2, 4]
    assert double(np.array([1., 2.])).numpy().tolist() == [2, 4]
    assert double(tf.constant(1.), times=3).numpy() == 3
    assert double(4) .numpy() == 8
    assert len(traced) == 5


def test_structures_and_captures():
    w = tf.Variable(2.)
    factor = tf.constant(10.)

    @tf.function
    def call(x, more):
        w.assign_add(1.)
        return {"a": x * w + more["b"], "c": (None, w * factor)}
    found = call(tf.constant(1.), {"b": tf.constant(5.)})
    assert float(found["a"]) == 8 and found["c"][0] is None
    assert float(found["c"][1]) == 30
    call(tf.constant(1.), {"b": tf.constant(5.)})
    assert float(w.numpy()) == 4

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def total(x):
        return tf.reduce_sum(x)
    assert float(total([1., 2.])) == 3 and float(total([1., 2., 3.])) == 6
    with pytest.raises(ValueError, match="incompatible with input_signature"):
        total(tf.constant([[1.]]))
    concrete = total.get_concrete_function()
    assert concrete.inputs[0].dtype == tf.float32
    assert float(concrete(tf.constant([1., 1.]))) == 2

    @tf.function
    def nothing(v):
        v.assign(9.)
    assert nothing(w) is None and float(w.numpy()) == 9


def test_branches_and_loops_on_tensors():
    @tf.function
    def even(n):
        total = 0
        for i in tf.range(n):
            if tf.equal(i % 2, 0):
                total += i
        return total
    assert int(even(tf.constant(10))) == 20

    @tf.function
    def until(x):
        s = tf.constant(0.)
        while s < 10.:
            s = s + x
        return s
    x = tf.constant(3.)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = until(x)
    assert float(y) == 12 and float(tape.gradient(y, x)) == 4


def test_gradients_through_functions():
    w = tf.Variable(2.)

    @tf.function
    def cube(x):
        return x * x * x * w
    x = tf.constant(3.)
    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape() as first:
            first.watch(x)
            y = cube(x)
        one = first.gradient(y, x)
    assert float(one) == 54 and float(second.gradient(one, x)) == 36
    with tf.GradientTape() as tape:
        y = cube(x)
    assert [v is w for v in tape.watched_variables()] == [True]
    assert float(tape.gradient(y, w)) == 27

    @tf.function
    def inside(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * w
        return tape.gradient(y, [x, w])
    assert [float(g) for g in inside(x)] == [12, 9]


def test_random_numbers_of_a_function_are_those_of_its_gradients():
    @tf.function
    def dropped(x):
        return tf.nn.dropout(x, rate=0.5)
    x = tf.ones([1000])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = dropped(x)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), y.numpy())


def test_variables_that_a_function_makes():
    class Scaled:
        def __init__(self):
            self.v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(3.)
            return x * self.v
    one, other = Scaled(), Scaled()
    assert float(one(tf.constant(2.))) == 6
    assert one(tf.constant([2.])).numpy().tolist() == [6]
    one.v.assign(4.)
    assert float(one(tf.constant(2.))) == 8 and float(
        other(tf.constant(2.))) == 6
    assert one.v.name == "Variable:0"

    @tf.function
    def each(x):
        return tf.Variable(1.) + x
    each(tf.constant(1.))
    with pytest.raises(ValueError, match="variables on non-first call"):
        each(tf.constant([1.]))

    kept = []

    @tf.function
    def of_tensor():
        if not kept:
            kept.append(tf.Variable(tf.zeros([2]) + 5.))
        return kept[0] * 2.
    assert of_tensor().numpy().tolist() == [10, 10]


def test_training_steps():
    x = np.linspace(-1, 1, 20).reshape(10, 2).astype(np.float32)
    y = x.sum(1, keepdims=True)
    losses = {}
    for name in ("eager", "function"):
        layer = tf.keras.layers.Dense(
            1, kernel_initializer=tf.keras.initializers.Constant(0.1))
        for optimizer in (tf.train.AdamOptimizer(0.1),
                          tf.keras.optimizers.SGD(0.1, momentum=0.5)):
            def step(inputs, targets):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(
                        tf.square(layer(inputs) - targets))
                found = tape.gradient(loss, layer.trainable_variables)
                optimizer.apply_gradients(
                    zip(found, layer.trainable_variables))
                return loss
            if name == "function":
                step = tf.function(step)
            losses.setdefault(name, []).extend(
                float(step(x, y)) for _ in range(4))
    np.testing.assert_allclose(losses["eager"], losses["function"], rtol=1e-5)


def test_errors_and_functions_that_run_as_they_are():
    failing = tf.function(lambda x: tf.constant([1, 2, 3])[x])
    with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 7"):
        failing(tf.constant(7))
    seen = []

    @tf.function
    def look(x):
        seen.append(tf.executing_eagerly())
        with tf.init_scope():
            seen.append(tf.executing_eagerly())
        return x
    look(tf.constant(1.))
    tf.config.experimental_run_functions_eagerly(True)
    try:
        look(tf.constant(1.))
    finally:
        tf.config.experimental_run_functions_eagerly(False)
    assert seen == [False, True, True, True]


def test_a_test_runs_in_both_modes():
    program = textwrap.dedent("""
        from tensorflow.python.eager import context, test
        from tensorflow.python.framework import test_util
        import tensorflow as tf
        modes = []

        class Case(tf.test.TestCase):
            @test_util.run_in_graph_and_eager_modes
            def test_values(self):
                modes.append(context.executing_eagerly())
                v = tf.get_variable("v", [], initializer=tf.ones_initializer(),
                                    use_resource=True)
                self.evaluate(tf.global_variables_initializer())
                self.evaluate(v.assign_add(1.))
                self.assertAllEqual(2., self.evaluate(v))
                self.assertAllEqual([2, 4], tf.constant([1, 2]) * 2)

            def tearDown(self):
                print("modes", modes)
                super(Case, self).tearDown()

        test.main()
        """)
    done = subprocess.run(
        [sys.executable, "-c", "import headrace.compat\n"
         "headrace.compat.install()\n" + program],
        text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "modes [False, True]" in done.stdout


def test_v2_behavior():
    program = textwrap.dedent("""
        import headrace as tf
        tf.enable_v2_behavior()
        assert tf.executing_eagerly()
        x = tf.ones([2, 3])
        assert x.shape[0] == 2 and isinstance(x.shape[0], int)
        assert repr(x.shape) == "TensorShape([2, 3])"
        assert (tf.constant([1, 2]) == tf.constant([1, 3])).numpy().tolist() == [
            True, False]
        layer = tf.keras.layers.Dense(2)
        assert layer(x).shape[1] == 2
        tf.disable_v2_behavior()
        assert not tf.executing_eagerly()
        """)
    done = subprocess.run([sys.executable, "-c", program], text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_saved_models(tmp_path):
    class Line(tf.Module):
        def __init__(self):
            super().__init__()
            self.w, self.b = tf.Variable(2.), tf.Variable(1.)
            self.factor = tf.constant(4.)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def line(self, x):
            return {"y": self.w * x + self.b * self.factor}

        @tf.function
        def more(self, x):
            return self.line(x)["y"] + 1.
    folder = str(tmp_path / "line")
    line = Line()
    line.more(tf.constant([1., 2.]))
    tf.saved_model.save(line, folder, signatures=line.line)
    found = tf.saved_model.load_v2(folder)
    x = tf.constant([1., 3.])
    serve = found.signatures["serving_default"]
    for results in (found.line(x)["y"], serve(x)["y"], found.more(x) - 1.,
                    tf.function(lambda x: found.line(x)["y"])(x)):
        assert results.numpy().tolist() == [6, 10]
    with tf.GradientTape() as tape:
        y = found.line(x)["y"]
    assert [float(g) for g in tape.gradient(y, [found.w, found.b])] == [4, 8]
    found.b.assign(0.)
    assert found.more(x).numpy().tolist() == [3, 7]
    with tf.Graph().as_default(), tf.Session() as session:
        meta = tf.saved_model.loader.load(session, ["serve"], folder)
        signature = meta.signature_def["serving_default"]
        assert session.run(signature.outputs["y"].name, {
            signature.inputs["x"].name: [1., 3.]}).tolist() == [6, 10]
    other = tf.Module()
    untracked = tf.Variable(2.)
    other.scaled = tf.function(lambda x: x * untracked, input_signature=[
        tf.TensorSpec([], tf.float32)])
    with pytest.raises(AssertionError, match="untracked object"):
        tf.saved_model.save(other, str(tmp_path / "other"))


def test_saved_models_of_keras(tmp_path):
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.Dense(3, activation="relu", input_shape=(2,)),
        layers.BatchNormalization(), layers.Dense(1)])
    model.compile("adam", "mse")
    x, y = np.ones((4, 2), "f"), np.ones((4, 1), "f")
    model.fit(x, y, verbose=0)
    folder = str(tmp_path / "model")
    model.save(folder, save_format="tf")
    found = tf.keras.models.load_model(folder)
    np.testing.assert_allclose(found.predict(x), model.predict(x), rtol=1e-5)
    found.fit(x, y, verbose=0)
    serve = tf.saved_model.load_v2(folder).signatures["serving_default"]
    np.testing.assert_allclose(list(serve(tf.constant(x)).values())[0],
                               model.predict(x), rtol=1e-5)


def test_enabling_is_for_the_beginning_of_a_program():
    program = textwrap.dedent("""
        import headrace as tf
        tf.constant(1)
        try:
            tf.enable_eager_execution()
        except ValueError as error:
            assert "must be called at program startup" in str(error)
        else:
            raise SystemExit("no error")
        tf.reset_default_graph()
        for wrong in (dict(config=3), dict(device_policy=9),
                      dict(execution_mode=7)):
            try:
                tf.enable_eager_execution(**wrong)
            except (TypeError, ValueError):
                continue
            raise SystemExit("no error for %s" % wrong)
        tf.enable_eager_execution(
            config=tf.ConfigProto(intra_op_parallelism_threads=1),
            device_policy=tf.contrib.eager.DEVICE_PLACEMENT_SILENT,
            execution_mode=tf.contrib.eager.SYNC)
        tf.enable_eager_execution()
        assert float(tf.constant(1.) + 1) == 2
        """)
    done = subprocess.run([sys.executable, "-c", program], text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
