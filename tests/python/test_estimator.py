"""tf.estimator: the names of the package tensorflow-estimator, found when they
are used; and that package on this library, where it is installed."""
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import headrace as tf

from headrace import _packages

needs_package = pytest.mark.skipif(
    not _packages.is_installed(),
    reason="needs pip install tensorflow-estimator==1.15.2")

# A package in which the modules have names for their values.
FAKE = {
    "__init__.py": "",
    "python/__init__.py": "",
    "python/estimator/__init__.py": "",
    "python/estimator/estimator.py": "class Estimator: pass\n",
    "python/estimator/api/__init__.py": "",
    "python/estimator/api/_v1/__init__.py": "",
    "python/estimator/api/_v1/estimator/__init__.py":
        "import tensorflow as tf\n"
        "from tensorflow.python.framework import ops\n"
        "from tensorflow_estimator.python.estimator.estimator import Estimator\n"
        "assert tf.Session and ops.Graph is tf.Graph\n"
        "EstimatorSpec = 'a spec'\n",
    "python/estimator/api/_v1/estimator/inputs/__init__.py":
        "numpy_input_fn = 'a function'\n",
    "python/estimator/tpu/__init__.py": "",
    "python/estimator/tpu/tpu_config.py": "TPUConfig = 'a config'\n",
    "python/estimator/tpu/tpu_estimator.py":
        "TPUEstimator, _InputPipeline = 'an estimator', 'a pipeline'\n",
}


def run(program, path, **environment):
    """What a program prints, with `path` before the other packages."""
    done = subprocess.run(
        [sys.executable, "-c", program], text=True, capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(
            [str(path), *sys.path]), **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def package(tmp_path):
    for name, text in FAKE.items():
        file = tmp_path / "tensorflow_estimator" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def set_version(folder, version):
    info = folder / ("tensorflow_estimator-%s.dist-info" % version)
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: tensorflow-estimator\nVersion: %s\n"
        % version)


WITHOUT = """if True:
    import importlib.util, sys
    find = importlib.util.find_spec
    importlib.util.find_spec = lambda name, *rest: (
        None if name == "tensorflow_estimator" else find(name, *rest))
"""


@pytest.mark.parametrize("name", [
    "estimator.Estimator", "estimator.inputs.numpy_input_fn",
    "estimator.export.ServingInputReceiver", "contrib.tpu.TPUEstimator",
    "contrib.estimator.add_metrics", "estimator.tpu.RunConfig",
    "estimator.experimental.stop_if_lower_hook"])
def test_without_the_package_an_error_says_how_to_install_it(name, tmp_path):
    space, _, last = name.rpartition(".")
    out = run(WITHOUT + """
    import headrace as tf
    assert not hasattr(tf.%s, "%s")
    assert "%s" not in dir(tf.%s)
    try:
        tf.%s
    except AttributeError as error:
        print(error)
    tf.compat.install()
    try:
        from tensorflow.%s import %s
    except ImportError as error:
        print(error)
    """ % (space, last, last, space, name, space, last), tmp_path)
    text = ("tf.%s is in the package tensorflow-estimator, which is not "
            "installed: pip install tensorflow-estimator==1.15.2" % name)
    assert out.splitlines() == [text, text.replace("tf.", "tensorflow.", 1)]


def test_another_version_of_the_package(package):
    set_version(package, "2.1.0")
    out = run("""if True:
        import headrace as tf
        try:
            tf.estimator.Estimator
        except AttributeError as error:
            print(error)""", package)
    assert out == ("tf.estimator.Estimator is in the package "
                   "tensorflow-estimator, of which 2.1.0 is installed: pip "
                   "install tensorflow-estimator==1.15.2\n")


@pytest.mark.parametrize("version", [None, "1.15.2"])
def test_names_come_from_the_package_at_their_first_use(package, version):
    if version:
        set_version(package, version)
    run("""if True:
        import sys
        import headrace as tf
        estimator = tf.estimator
        tf.estimator.ModeKeys, tf.estimator.inputs
        assert "tensorflow_estimator" not in sys.modules
        assert "tensorflow" not in sys.modules
        assert {"Estimator", "EstimatorSpec", "ModeKeys"} <= set(dir(estimator))
        assert hasattr(tf.estimator.inputs, "numpy_input_fn")
        assert tf.estimator.EstimatorSpec == "a spec"
        import tensorflow
        assert tensorflow.Graph is tf.Graph
        assert tensorflow.estimator.Estimator is tf.estimator.Estimator
        from tensorflow.estimator import Estimator
        from tensorflow.python.estimator.estimator import Estimator as inner
        from tensorflow_estimator.python.estimator.estimator import (
            Estimator as own)
        assert Estimator is inner is own is estimator.Estimator
        from headrace.estimator.inputs import numpy_input_fn
        assert numpy_input_fn == "a function"
        from tensorflow.contrib.tpu.python.tpu import tpu_config
        from tensorflow.contrib.tpu.python.tpu.tpu_estimator import (
            TPUEstimator, _InputPipeline)
        assert tpu_config.TPUConfig == "a config"
        assert (TPUEstimator, _InputPipeline) == ("an estimator", "a pipeline")
        """, package)


def test_no_second_tensorflow_for_the_package(package):
    (package / "tensorflow.py").write_text("Session = 'another'\n")
    out = run("""if True:
        import tensorflow
        import headrace as tf
        try:
            tf.estimator.Estimator
        except ImportError as error:
            print(error)""", package)
    assert "tensorflow was imported before from" in out


# With the package. The values are those of TensorFlow 1.15.5.

RANDOM = np.random.RandomState(0)
X = RANDOM.randn(200, 4).astype(np.float32)
Y = (X.sum(1) > 0).astype(np.int64)
AGE = RANDOM.randint(18, 80, 200).astype(np.float32)
CITY = np.array(["berlin", "paris", "rome", "oslo"])[RANDOM.randint(0, 4, 200)]
ID = RANDOM.randint(0, 10, 200)


def inputs(epochs=None, shuffle=None, batch=20):
    data = tf.data.Dataset.from_tensor_slices(
        ({"x": X, "age": AGE, "city": CITY, "id": ID}, Y))
    return (data.shuffle(50, seed=shuffle) if shuffle else data).repeat(
        epochs).batch(batch)


def shuffled():
    return inputs(shuffle=5)


def once():
    return inputs(1)


def config(**options):
    return tf.estimator.RunConfig(tf_random_seed=7, **options)


def model_fn(features, labels, mode, params):
    hidden = tf.layers.dense(features["x"], params["units"], tf.nn.relu)
    hidden = tf.layers.dropout(hidden, 0.3, training=mode == "train")
    logits = tf.layers.dense(hidden, 2)
    predictions = {"class": tf.argmax(logits, 1),
                   "p": tf.nn.softmax(logits, name="p")}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(
            mode, predictions=predictions, export_outputs={
                "out": tf.estimator.export.PredictOutput(predictions)})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.01).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, predictions, loss, train_op, {
            "accuracy": tf.metrics.accuracy(labels, predictions["class"])})


def serving():
    x = tf.placeholder(tf.float32, [None, 4])
    return tf.estimator.export.ServingInputReceiver({"x": x}, x)


def close(actual, wanted):
    np.testing.assert_allclose(actual, wanted, rtol=1e-3, atol=1e-5)


PREDICTED = [[0.000993, 0.999007], [0.066565, 0.933435], [0.067087, 0.932913]]


@needs_package
def test_a_model_function_is_trained_measured_exported_and_goes_on(tmp_path):
    folder = str(tmp_path / "model")
    make = tf.estimator.Estimator(model_fn, folder, config(
        save_checkpoints_steps=20, keep_checkpoint_max=2), {"units": 8})
    seen = []

    class Listener(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            seen.append(int(global_step_value))

    make.train(shuffled, steps=50, saving_listeners=[Listener()])
    assert seen == [0, 20, 40, 50]
    close(make.get_variable_value("dense/bias"), [
        0.421005, 0.206037, -0.173338, -0.147029, -0.125593, 0.38132, 0.256589,
        0.066585])
    found = make.evaluate(once)
    close([found["loss"], found["accuracy"]], [0.204009, 0.97])
    assert found["global_step"] == 50
    make.train(shuffled, max_steps=60)
    assert make.latest_checkpoint() == folder + "/model.ckpt-60"
    predicted = list(make.predict(tf.estimator.inputs.numpy_input_fn(
        {"x": X[:3]}, shuffle=False)))
    close(np.stack([p["p"] for p in predicted]), PREDICTED)
    exported = make.export_saved_model(str(tmp_path / "out"), serving).decode()
    with tf.Session(graph=tf.Graph()) as session:
        signature = tf.saved_model.load(
            session, ["serve"], exported).signature_def["serving_default"]
        close(session.run(signature.outputs["p"].name,
                          {signature.inputs["input"].name: X[:3]}), PREDICTED)
    warm = tf.estimator.Estimator(
        model_fn, str(tmp_path / "warm"), config(), {"units": 8},
        tf.estimator.WarmStartSettings(folder, "dense/.*"))
    warm.train(once, steps=1)
    moved = warm.get_variable_value("dense/bias") - make.get_variable_value(
        "dense/bias")  # by a step of Adam
    assert 0 < np.abs(moved).max() < 0.0101


@needs_package
def test_train_and_evaluate_with_exporters(tmp_path):
    make = tf.estimator.Estimator(model_fn, str(tmp_path), config(
        save_checkpoints_steps=15), {"units": 3})
    result, exports = tf.estimator.train_and_evaluate(
        make, tf.estimator.TrainSpec(shuffled, max_steps=30),
        tf.estimator.EvalSpec(
            once, steps=None, throttle_secs=0, start_delay_secs=0, exporters=[
                tf.estimator.BestExporter(
                    serving_input_receiver_fn=serving, exports_to_keep=1),
                tf.estimator.FinalExporter("final", serving)]))
    close(result["loss"], 0.529987)
    assert result["global_step"] == 30 and exports[1] is not None
    assert sorted(os.listdir(str(tmp_path / "export"))) == [
        "best_exporter", "final"]
    assert len(os.listdir(str(tmp_path / "export/best_exporter"))) == 1


@needs_package
def test_a_training_stops_early(tmp_path):
    make = tf.estimator.Estimator(model_fn, str(tmp_path), config(
        save_checkpoints_steps=15), {"units": 3})
    os.makedirs(make.eval_dir())
    stop = tf.estimator.experimental.stop_if_lower_hook(
        make, "loss", 0.65, run_every_secs=None, run_every_steps=1)
    result, _ = tf.estimator.train_and_evaluate(
        make, tf.estimator.TrainSpec(shuffled, max_steps=90, hooks=[stop]),
        tf.estimator.EvalSpec(once, steps=None, throttle_secs=0,
                              start_delay_secs=0))
    close(result["loss"], 0.617547)
    assert result["global_step"] == 15


def columns():
    fc = tf.feature_column
    age = fc.numeric_column("age", normalizer_fn=lambda x: x / 50)
    ages = fc.bucketized_column(fc.numeric_column("age"), [30, 45, 60])
    city = fc.categorical_column_with_vocabulary_list(
        "city", ["berlin", "paris", "rome"], num_oov_buckets=1)
    number = fc.categorical_column_with_identity("id", 10)
    wide = [ages, city, fc.crossed_column([ages, "city"], 30)]
    deep = [age, fc.embedding_column(city, 3), fc.indicator_column(number)]
    return wide, deep


# Mean loss and prediction, and the sum of the sizes of all variables.
CANNED = {
    "LinearClassifier": [0.64733, 0.415205, 608.690034],
    "DNNClassifier": [0.686074, 0.466867, 202.00268],
    "DNNLinearCombinedClassifier": [0.693905, 0.497177, 1050.46255],
    "LinearRegressor": [0.231651, 0.348924, 4278.361282],
    "DNNRegressor": [0.223668, 0.425398, 2623.657645],
    "DNNLinearCombinedRegressor": [0.325839, 0.166987, 12943.785263],
    "BaselineClassifier": [0.683336, 0.426789, 154.020774],
    "BaselineRegressor": [0.246002, 0.399971, 1186.74765],
}


@needs_package
@pytest.mark.parametrize("name", CANNED)
def test_canned_estimators_have_tensorflows_values(name, tmp_path):
    wide, deep = columns()
    arguments = dict(model_dir=str(tmp_path), config=config())
    if name.startswith("Linear"):
        arguments.update(feature_columns=wide)
    elif "Combined" in name:
        arguments.update(linear_feature_columns=wide, dnn_hidden_units=[5, 3],
                         dnn_feature_columns=deep)
    elif name.startswith("DNN"):
        arguments.update(feature_columns=deep, hidden_units=[5, 3])
    make = getattr(tf.estimator, name)(**arguments)
    make.train(shuffled, steps=20)
    found = make.evaluate(once)
    total = sum(np.abs(make.get_variable_value(n)).sum()
                for n in make.get_variable_names() if n != "global_step")
    close([found["average_loss"], found["prediction/mean"], total],
          CANNED[name])


@needs_package
def test_an_estimator_for_tpus_trains_on_cpus(tmp_path):
    from tensorflow.contrib import tpu

    def fn(features, labels, mode, params):
        logits = tf.layers.dense(features["x"], 2)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        optimizer = tf.train.GradientDescentOptimizer(params["rate"])
        return tpu.TPUEstimatorSpec(
            mode, loss=loss,
            train_op=optimizer.minimize(loss, tf.train.get_global_step()),
            eval_metrics=(lambda labels, logits: {
                "accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))},
                [labels, logits]))

    def read(params):
        return inputs(batch=params["batch_size"])
    make = tpu.TPUEstimator(
        fn, use_tpu=False, train_batch_size=16, eval_batch_size=20,
        params={"rate": .1}, config=tpu.RunConfig(
            model_dir=str(tmp_path), tf_random_seed=3,
            tpu_config=tpu.TPUConfig(iterations_per_loop=5)))
    make.train(read, max_steps=20)
    found = make.evaluate(read, steps=10)
    close([found["loss"], found["accuracy"]], [0.355738, 0.84])


CLUSTER = {"ps": ["a:1", "b:2"], "worker": ["c:3", "d:4"], "master": ["e:5"]}


def task(kind, index, **more):
    return dict(cluster=CLUSTER, task={"type": kind, "index": index}, **more)


@needs_package
@pytest.mark.parametrize("environment, arguments, values", [
    ({}, {}, dict(
        master="", evaluation_master="", is_chief=True, num_ps_replicas=0,
        num_worker_replicas=0, task_id=0, task_type=None, environment="local",
        save_summary_steps=100, save_checkpoints_secs=600,
        save_checkpoints_steps=None, keep_checkpoint_max=5, model_dir=None,
        session_config=None, session_creation_timeout_secs=7200)),
    ({}, {"save_checkpoints_steps": 10}, dict(
        save_checkpoints_secs=None, save_checkpoints_steps=10)),
    ({}, {"master": "x", "evaluation_master": "y", "model_dir": "/m"}, dict(
        master="x", evaluation_master="y", model_dir="/m")),
    (task("worker", 1), {}, dict(
        master="grpc://d:4", is_chief=False, num_ps_replicas=2,
        num_worker_replicas=3, task_id=1, task_type="worker")),
    (task("worker", 0), {}, dict(master="grpc://c:3", is_chief=True)),
    (task("master", 0), {}, dict(master="grpc://e:5", is_chief=False)),
    (task("master", 0, environment="cloud"), {}, dict(
        is_chief=True, environment="cloud")),
    ({"cluster": CLUSTER}, {}, dict(master="", is_chief=True)),
    ({"model_dir": "/q"}, {}, dict(model_dir="/q")),
    (task("nonsense", 0), {}, "nonsense is not a valid task_type"),
    (task("ps", 7), {}, "7 is not a valid task_id for task_type ps"),
    ({"model_dir": "/q"}, {"model_dir": "/r"}, "must have the same value")])
def test_the_configuration_of_contrib_learn(monkeypatch, environment, arguments,
                                            values):
    monkeypatch.setenv("TF_CONFIG", json.dumps(environment))
    if isinstance(values, str):
        with pytest.raises(ValueError, match=values):
            tf.contrib.learn.RunConfig(**arguments)
        return
    made = tf.contrib.learn.RunConfig(**arguments)
    assert {name: getattr(made, name) for name in values} == values


@needs_package
def test_an_estimator_takes_the_configuration_of_contrib_learn(tmp_path):
    learn = tf.contrib.learn
    first = learn.RunConfig(num_cores=2, save_checkpoints_steps=2,
                            keep_checkpoint_max=1, model_dir=str(tmp_path))
    assert first.tf_config.intra_op_parallelism_threads == 2
    assert learn.TaskType.PS == "ps"
    again = first.replace(keep_checkpoint_max=3)
    assert type(again) is learn.RunConfig and first.keep_checkpoint_max == 1
    assert first.uid() == again.uid() and first.uid([]) != again.uid([])
    tf.estimator.Estimator(
        model_fn, config=first, params={"units": 2}).train(once)
    assert [f.name for f in tmp_path.glob("*.index")] == ["model.ckpt-10.index"]


def approaching_3(features, labels, mode):
    v = tf.get_variable("v", [], initializer=tf.constant_initializer(1.))
    loss = tf.square(v - tf.reduce_mean(features), name="loss")
    optimizer = tf.train.GradientDescentOptimizer(.1)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=(
        optimizer.minimize(loss, tf.train.get_global_step())))


def threes():
    return tf.data.Dataset.from_tensors(([3.], [0])).repeat(30)


@needs_package
@pytest.mark.parametrize("options, values, error", [
    ({}, (False, None, None, 30), None),
    ({"early_stopping_rounds": 4, "early_stopping_metric_minimize": False},
     (True, 3, 1.6384, 9), None),
    ({"early_stopping_rounds": 4, "early_stopping_metric": "nonsense"},
     (False, None, None, 2), "Metric nonsense missing from outputs"),
    ({"x": 1}, (False, None, None, 2), "does not support following arguments")])
def test_monitors_that_validate(tmp_path, options, values, error):
    monitors = tf.contrib.learn.monitors
    estimator = tf.estimator.Estimator(
        approaching_3, str(tmp_path), config=config(save_checkpoints_steps=2))
    monitor = monitors.ValidationMonitor(
        input_fn=threes, eval_steps=1, every_n_steps=3, check_interval_secs=None,
        **options)
    hooks = monitors.replace_monitors_with_hooks([monitor], estimator)
    if error is None:
        estimator.train(threes, hooks=hooks)
    else:
        with pytest.raises(ValueError, match=error):
            estimator.train(threes, hooks=hooks)
    close([monitor.best_value or 0], [values[2] or 0])
    assert (monitor.early_stopped, monitor.best_step) == values[:2]
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("-%d" % values[3])
