"""tf.contrib.learn: what it refuses, heads, metrics, feeders, exports and
Experiments. tests/programs/learn_*.py compare whole programs with TensorFlow."""
import functools
import json
import os

import numpy as np
import pytest

import headrace as tf
from headrace._src.contrib.learn import (
    data_feeder, exports, frames, heads, input_functions, metric_spec,
    signatures)
from headrace._src.contrib.learn.experiment import run as run_experiment

learn, layers = tf.contrib.learn, tf.contrib.layers
X = np.arange(12, dtype=np.float32).reshape(6, 2) / 12
Y = np.array([0, 1, 2, 0, 1, 2])
COLUMNS = [layers.real_valued_column("", 2)]


def input_fn():
    return tf.constant(X), tf.constant(Y)


def features():
    return {"x": tf.constant(X)}


def values(made):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(),
                     tf.local_variables_initializer(),
                     tf.tables_initializer()])
        return session.run(made)


def own_model(features, labels, mode):
    return learn.ModelFnOps(mode, tf.constant([1.]), tf.constant(1.),
                            tf.assign_add(tf.train.get_global_step(), 1))


def estimator(**options):
    return learn.Estimator(own_model, **options)


HEADS = {
    "regression": (lambda: learn.regression_head(), 1, [[1.], [2.]]),
    "poisson": (lambda: learn.poisson_regression_head(), 1, [[1.], [2.]]),
    "logistic": (lambda: learn.multi_class_head(2), 1, [[0], [1]]),
    "softmax": (lambda: learn.multi_class_head(3, metric_class_ids=[1]), 3,
                [[0], [2]]),
    "words": (lambda: learn.multi_class_head(
        3, label_keys=["a", "b", "c"]), 3, [["c"], ["a"]]),
    "svm": (lambda: learn.binary_svm_head(), 1, [[0], [1]]),
    "labels": (lambda: learn.multi_label_head(3, metric_class_ids=[2]), 3,
               [[0, 1, 1], [1, 0, 0]]),
    "weighted": (lambda: learn.regression_head(weight_column_name="w"), 1,
                 [[1.], [2.]]),
    "biased": (lambda: learn.multi_class_head(
        3, enable_centered_bias=True, head_name="h"), 3, [[0], [2]]),
}
# The loss and the number of metrics, from TensorFlow 1.15.5.
WANTED = {
    "biased": (1.0585, 2), "labels": (0.7398, 10), "logistic": (0.6437, 10),
    "poisson": (1.2594, 1), "regression": (0.625, 1), "softmax": (1.0585, 6),
    "svm": (0.75, 2), "weighted": (0.375, 1), "words": (1.1085, 2)}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def head_ops(name, mode):
    make, size, labels = HEADS[name]
    logits = tf.constant([[.5, .1, -.3], [1., .2, .3]])[:, :size]
    tf.train.get_or_create_global_step()
    return make().create_model_fn_ops(
        {"w": tf.constant([1., .5])}, mode, tf.constant(labels),
        train_op_fn=lambda loss: tf.no_op(), logits=logits)


@pytest.mark.parametrize("name", sorted(HEADS))
def test_losses_and_metrics_of_heads(name):
    made = head_ops(name, "eval")
    loss, count = WANTED[name]
    assert values(made.loss) == pytest.approx(loss, abs=1e-4)
    assert len(made.eval_metric_ops) == count
    assert head_ops(name, "infer").loss is None
    assert head_ops(name, "train").train_op.type == "NoOp"
    if name == "words":
        assert values(made.predictions["classes"]).tolist() == [b"a", b"a"]


def test_several_heads():
    both = learn.multi_head([
        learn.regression_head(head_name="a", label_name="a"),
        learn.multi_class_head(3, head_name="b", label_name="b")], [1., 2.])
    assert both.logits_dimension == 4
    labels = {"a": tf.constant([[1.]]), "b": tf.constant([[2]])}
    made = both.create_model_fn_ops(
        features(), "eval", labels, logits=tf.constant([[.5, 0., 0., 0.]]))
    assert sorted(made.eval_metric_ops) == ["accuracy/b", "loss/a", "loss/b"]
    assert values(made.loss) == pytest.approx(.25 + 2 * np.log(3))
    infer = both.create_model_fn_ops(
        features(), "infer", logits=tf.constant([[.5, 0., 0., 0.]]))
    assert sorted(infer.output_alternatives) == ["a", "b"]
    only = heads.loss_only_head(lambda: [tf.constant(1.), tf.constant(2.)])
    assert values(only.create_model_fn_ops({}, "eval").loss) == 3


def spec_of(function):
    return metric_spec.MetricSpec(function).metric_fn


@pytest.mark.parametrize("metric", [
    lambda labels, predictions, weights=None: (labels, predictions),
    lambda prediction, target, weight=None: (target, prediction),
    lambda x, labels: (labels, x), lambda labels, x: (labels, x),
    functools.partial(lambda labels, predictions, k: (labels, predictions),
                      k=3)])
def test_a_metric_may_call_its_arguments_otherwise(metric):
    assert spec_of(metric)(labels=1, predictions=2) == (1, 2)


MIXED = {"a": tf.float32}


@pytest.mark.parametrize("make, error, text", [
    (lambda: learn.ModelFnOps("x"), ValueError, "Invalid mode x."),
    (lambda: learn.ModelFnOps("train", loss=1.), ValueError,
     "Missing train_op."),
    (lambda: learn.ModelFnOps("eval", predictions=1.), ValueError,
     "Missing loss."),
    (lambda: learn.ModelFnOps("infer"), ValueError, "Missing predictions."),
    (lambda: learn.ModelFnOps("eval", 1., [1., 2.]), ValueError,
     "Loss must be scalar"),
    (lambda: learn.ModelFnOps("eval", 1., 1., eval_metric_ops=[]), ValueError,
     "eval_metric_ops must be a dict."),
    (lambda: learn.ModelFnOps("eval", 1., 1., training_hooks=[1]), TypeError,
     "All hooks returned from model_fn must be SessionRunHook instances"),
    (lambda: learn.multi_class_head(1), ValueError, "n_classes must be > 1"),
    (lambda: learn.multi_class_head(2, metric_class_ids=[1]), ValueError,
     "metric_class_ids invalid for n_classes==2."),
    (lambda: learn.multi_class_head(3, metric_class_ids=[3]), ValueError,
     "Class ID 3 not in [0, 3)."),
    (lambda: learn.multi_class_head(3, label_keys=["a"]), ValueError,
     "Length of label_keys must equal n_classes."),
    (lambda: learn.multi_class_head(3, loss_fn=lambda labels: 1), ValueError,
     "Argument logits not found in loss_fn."),
    (lambda: learn.regression_head().create_model_fn_ops({}, "infer"),
     ValueError, "Neither logits nor logits_input supplied."),
    (lambda: learn.regression_head().create_model_fn_ops(
        {}, "train", [[1.]], logits=[[1.]]), ValueError,
     "train_op_fn can not be None in TRAIN mode"),
    (lambda: learn.regression_head().create_model_fn_ops(
        {}, "x", logits=[[1.]]), ValueError, "mode=x unrecognized."),
    (lambda: learn.multi_head([learn.regression_head()]), ValueError,
     "Members of MultiHead must have names."),
    (lambda: learn.MetricSpec(lambda labels, target: 1, label_key="a"),
     ValueError, "Ambiguous arguments"),
    (lambda: learn.MetricSpec(lambda x: 1, weight_key="w"), ValueError,
     "missing from"),
    (lambda: learn.MetricSpec(lambda labels, predictions: 1, "p")
     .create_metric_ops({}, 1, 2), ValueError,
     "MetricSpec with prediction_key specified requires predictions dict"),
    (lambda: learn.MetricSpec(lambda labels, predictions: 1, "p")
     .create_metric_ops({}, 1, {"q": 2}), KeyError, "Key 'p' missing from"),
    (lambda: estimator(params={}), ValueError,
     "does not have a params argument"),
    (lambda: estimator().fit(X, Y, steps=1, max_steps=1), ValueError,
     "Can not provide both steps and max_steps."),
    (lambda: estimator().fit(steps=1), ValueError,
     "Either x or input_fn must be provided."),
    (lambda: estimator().fit(X, input_fn=input_fn), ValueError,
     "Can not provide both input_fn and x or y."),
    (lambda: estimator().fit(input_fn=input_fn, batch_size=1), ValueError,
     "Can not provide both input_fn and batch_size."),
    (lambda: estimator().fit(tf.constant(X), Y, steps=1), ValueError,
     "Inputs cannot be tensors. Please provide input_fn."),
    (lambda: estimator().evaluate(input_fn=input_fn), learn.NotFittedError,
     "Couldn't find trained model at"),
    (lambda: estimator().predict(input_fn=input_fn), learn.NotFittedError,
     "Couldn't find trained model at"),
    (lambda: estimator().export_savedmodel("x", None), ValueError,
     "serving_input_fn must be defined."),
    (lambda: estimator().evaluate(input_fn=input_fn, metrics=[1]), ValueError,
     "Metrics argument should be None or dict."),
    (lambda: learn.LinearClassifier([]), AssertionError, "feature_columns"),
    (lambda: learn.DNNLinearCombinedClassifier(), ValueError,
     "Either linear_feature_columns or dnn_feature_columns must be defined."),
    (lambda: data_feeder.DataFeeder(X, Y, None, 0), ValueError,
     "Invalid batch_size 0."),
    (lambda: exports.build_standardized_signature_def({}, {}, 1), ValueError,
     "input_tensors must be provided."),
    (lambda: learn.Experiment(1, None, None), ValueError,
     "`estimator` must implement `tf.contrib.learn.Evaluable`"),
    (lambda: learn.Experiment(estimator(), None, None, export_strategies=[1]),
     ValueError, "`export_strategies` must be an ExportStrategy"),
    (lambda: run_experiment(None, "x"), TypeError, "is not callable."),
    (lambda: run_experiment(lambda output_dir: 1, "x"), TypeError,
     "Experiment builder did not return an Experiment"),
    (lambda: run_experiment(1), ValueError,
     "Must set value for `output_dir` or `run_config`"),
])
def test_what_learn_refuses(make, error, text):
    with pytest.raises(error) as refused:
        make()
    assert text in str(refused.value)


def test_other_features_than_those_of_training_are_refused():
    made = estimator()
    made.fit(input_fn=input_fn, steps=1)
    with pytest.raises(ValueError, match="Features are incompatible"):
        made.fit(input_fn=lambda: (tf.constant(X[:, :1]), tf.constant(Y)),
                 steps=1)
    assert [*made.predict(input_fn=input_fn)] == [1.]
    assert made.get_params() == {"params": None}
    with pytest.raises(ValueError, match="Invalid parameter x"):
        made.set_params(x=1)


@pytest.mark.parametrize("config", ["given", "none"])
def test_an_estimator_needs_no_other_package(config, monkeypatch, tmp_path):
    from headrace import _packages
    from headrace._src.contrib.learn import run_config
    run_config._run_config.cache_clear()
    monkeypatch.setattr(_packages, "is_installed", lambda: False)
    try:
        options = {} if config == "none" else {
            "config": run_config.new_config().replace(tf_random_seed=2)}
        made = estimator(model_dir=str(tmp_path), **options)
        assert made.config.model_dir == str(tmp_path)
        assert made.fit(input_fn=input_fn, max_steps=3) is made
        assert made.evaluate(input_fn=input_fn, steps=1) == {
            "loss": 1, "global_step": 3}
        with pytest.raises(ValueError, match="Replacing master"):
            made.config.replace(master="x")
    finally:
        run_config._run_config.cache_clear()


def test_arrays_are_fed_in_batches():
    feeder = data_feeder.setup_train_data_feeder(
        {"a": X, "b": Y}, Y, None, batch_size=4, shuffle=False, epochs=1)
    inputs, labels = feeder.input_builder()
    assert inputs["b"].shape.as_list() == [None, 1]
    next_feeds = feeder.get_feed_dict_fn()
    first = next_feeds()
    assert first[inputs["a"].name].tolist() == X[:4].tolist()
    assert first[labels.name].tolist() == Y[:4].tolist()
    assert next_feeds()[labels.name].tolist() == Y[4:].tolist()
    with pytest.raises(StopIteration):
        next_feeds()


@pytest.mark.parametrize("n_classes, want", [
    (None, [0, 1]), (3, [[1, 0, 0], [0, 1, 0]])])
def test_iterators_are_fed_in_batches(n_classes, want):
    feeder = data_feeder.setup_train_data_feeder(
        iter(X), iter(Y), n_classes, batch_size=2)
    inputs, labels = feeder.input_builder()
    feeds = feeder.get_feed_dict_fn()()
    assert feeds[inputs.name].tolist() == X[:2].tolist()
    assert feeds[labels.name].tolist() == want
    batches = list(data_feeder.setup_predict_data_feeder(X, 4))
    assert [len(b) for b in batches] == [4, 2]


def test_frames_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": [True, False]})
    assert frames.extract_pandas_data(frame).tolist() == [[1, 1], [2, 0]]
    assert frames.extract_pandas_labels(frame[["a"]]).tolist() == [[1], [2]]
    with pytest.raises(ValueError, match="'c' type='object'|'c' type='str'"):
        frames.extract_pandas_data(pandas.DataFrame({"c": ["x"]}))
    with pytest.raises(ValueError, match="Only one column for labels"):
        frames.extract_pandas_labels(frame)


IRIS = "3,2,a,b\n1.5,2,0\n3,4,1\n5,6,2\n"


def test_small_data_sets_of_files(tmp_path):
    path = tmp_path / "iris.csv"
    path.write_text(IRIS)
    base = learn.datasets.base
    iris = base.load_iris(str(path))
    assert iris.data.tolist() == [[1.5, 2], [3, 4], [5, 6]]
    assert iris.target.tolist() == [0, 1, 2]
    assert base.load_boston(str(path)).target.dtype == np.float64
    base.shrink_csv(str(path), 2)
    assert (tmp_path / "iris_small.csv").read_text().split() == [
        "3,2,a,b", "3,4,1"]
    for name, error, text in (
            ("x", ValueError, "Name of dataset is not found: x"),
            ("dbpedia", NotImplementedError, "dbpedia is not downloaded"),
            ("boston", FileNotFoundError, "Give its file as data_path")):
        with pytest.raises(error, match=text):
            learn.datasets.load_dataset(name)


@pytest.mark.parametrize("make, error, text", [
    (lambda: learn.monitors.StopAtStep(), ValueError,
     "One of num_steps or last_step must be specified."),
    (lambda: learn.monitors.StopAtStep(1, 2), ValueError,
     "Only one of num_steps or last_step can be specified."),
    (lambda: learn.monitors.CheckpointSaver("x"), ValueError,
     "Either save_steps or save_secs should be provided"),
    (lambda: learn.monitors.CheckpointSaver("x", 1, 1), ValueError,
     "Can not provide both save_steps and save_secs."),
    (lambda: learn.run_feeds({}, [{}]), ValueError, "output_dict is invalid"),
    (lambda: learn.train(None, "", None, None), ValueError,
     "Output directory should be non-empty"),
    (lambda: input_functions.generator_input_fn(1), TypeError,
     "x must be generator function; got int"),
    (lambda: input_functions.generator_input_fn(lambda: 1), TypeError,
     r"x\(\) must be generator; got int"),
])
def test_what_monitors_and_inputs_refuse(make, error, text, tmp_path,
                                         monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=text):
        make()


class OlderMonitor(learn.monitors.BaseMonitor):
    """A monitor whose methods take what the first ones took."""

    def __init__(self, names=None):
        super().__init__()
        self.names, self.calls = names, []

    def begin(self, max_steps):
        self.calls.append("begin")

    def step_begin(self, step):
        self.calls.append(step)
        return self.names

    def step_end(self, step, outputs):
        return False

    def end(self):
        self.calls.append("end")


def test_a_monitor_whose_end_takes_no_session():
    monitor = OlderMonitor()
    estimator().fit(input_fn=input_fn, steps=2, monitors=[monitor])
    assert monitor.calls == ["begin", 1, 2, "end"]


@pytest.mark.parametrize("names, text", [
    ({"a": 1}, "Monitor.step_begin should return a list."),
    (["split"], "Name split is ambiguous"),
    ([tf.Graph()], "should have graph attribute that is equal")])
def test_what_a_monitor_may_not_ask_for(names, text):
    def model_fn(features, labels, mode):
        tf.split(features, 2, axis=1, name="split")
        return own_model(features, labels, mode)
    with pytest.raises(ValueError, match=text):
        learn.Estimator(model_fn).fit(input_fn=input_fn, steps=1,
                                      monitors=[OlderMonitor(names)])


def test_monitors_save_summarise_and_compare(tmp_path):
    from headrace._src.contrib import further_monitors as monitors
    loss = tf.Variable(1., name="loss")
    tf.summary.scalar("s", loss)
    given = tf.placeholder_with_default(1., [], name="given")
    step = tf.train.create_global_step()
    train_op = tf.group(tf.assign_add(step, 1), tf.assign(loss, loss * 2))
    scaffold = tf.train.Scaffold()
    dump = monitors.GraphDump()
    saver = monitors.CheckpointSaver(str(tmp_path), save_steps=2,
                                     scaffold=scaffold)
    summaries = monitors.SummarySaver(tf.summary.merge_all(), 1, str(tmp_path))
    nan = monitors.NanLoss("given", 1, fail_on_nan_loss=False)
    hook = learn.monitors.RunHookAdapterForMonitors(
        [dump, saver, summaries, nan])
    with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold),
                                   [hook]) as session:
        while not session.should_stop():
            session.run(train_op, {given: float("nan")} if len(
                dump.data) == 3 else None)
    assert len(dump.data) == 4
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-4")
    found = [v.tag for path in tmp_path.glob("events*")
             for event in tf.train.summary_iterator(str(path))
             for v in event.summary.value]
    assert found == ["s"] * 4
    assert monitors.get_default_monitors(loss, "s") != []


def test_signatures_compare_all_but_the_batch():
    one = signatures.create_signatures({"a": tf.zeros([2, 3])})
    assert signatures.tensors_compatible({"a": tf.zeros([5, 3])}, one)
    for other in ({"a": tf.zeros([2, 4])}, {"b": tf.zeros([2, 3])},
                  {"a": tf.zeros([2, 3], tf.int32)}, tf.zeros([2, 3]), None):
        assert not signatures.tensors_compatible(other, one)
    made = signatures.create_placeholders_from_signatures(one)
    assert made["a"].shape.as_list() == [None, 3]


def test_an_export_has_the_signatures_of_its_heads(tmp_path):
    made = learn.LinearRegressor([layers.real_valued_column("x", 2)])
    made.fit(input_fn=lambda: (features(), tf.constant([[1.]] * 6)), steps=1)
    serving = learn.build_parsing_serving_input_fn(
        {"x": tf.FixedLenFeature([2], tf.float32)})
    strategy = learn.make_export_strategy(serving, exports_to_keep=1)
    folder = strategy.export(made, str(tmp_path), None, None)
    assert exports.get_most_recent_export(str(tmp_path)).path.encode() == folder
    with tf.Session() as session:
        served = tf.saved_model.loader.load(
            session, ["serve"], folder).signature_def["serving_default"]
        assert served.method_name == "tensorflow/serving/regress"
        example = tf.train.Example()
        example.features.feature["x"].float_list.value.extend([1., 2.])
        assert session.run(served.outputs["outputs"].name, {
            served.inputs["inputs"].name: [
                example.SerializeToString()] * 3}).shape == (3,)
    with pytest.raises(NotImplementedError, match="graph_rewrite_specs"):
        made.export_savedmodel(
            str(tmp_path), serving,
            graph_rewrite_specs=[
                heads_spec(("serve",), ()), heads_spec(("x",), ("fold",))])


def heads_spec(tags, transforms):
    from headrace._src.contrib.learn.estimator import GraphRewriteSpec
    return GraphRewriteSpec(tags, transforms)


@pytest.mark.parametrize("keep, want", [
    (exports.largest_export_versions(2), [3, 4]),
    (exports.negation(exports.largest_export_versions(2)), [1, 2]),
    (exports.mod_export_version(2), [2, 4]),
    (exports.one_of_every_n_export_versions(3), [3, 4]),
    (exports.union(exports.largest_export_versions(1),
                   exports.mod_export_version(3)), [3, 4])])
def test_which_exports_are_kept(keep, want):
    paths = [exports.Path("p%d" % i, i) for i in range(1, 5)]
    assert [p.export_version for p in keep(paths)] == want


def test_the_best_model_is_remembered():
    selector = exports.BestModelSelector()
    assert selector.update("a", {"loss": 2.}) == ("a", {"loss": 2.})
    assert selector.update("b", {"loss": 3.}) == ("", None)
    assert selector.update("c", {"loss": 1.}) == ("c", {"loss": 1.})
    with pytest.raises(ValueError, match="no loss is found"):
        selector.update("d", {})


@pytest.mark.parametrize("task, want", [
    ("worker", "train"), ("ps", "run_std_server"),
    ("master", "train_and_evaluate"), (None, "Must specify a schedule"),
    ("evaluator", "No default schedule for task type: evaluator")])
def test_what_a_task_of_a_cluster_does(task, want, monkeypatch):
    from headrace._src.contrib.learn import experiment, run_config
    monkeypatch.setenv("TF_CONFIG", json.dumps({
        "cluster": {"ps": ["a:1"], "worker": ["b:1"], "master": ["m:1"],
                    "evaluator": ["e:1"]},
        "task": {"type": task, "index": 0} if task else {}}))
    try:
        got = experiment._default_schedule(learn.RunConfig())
    except ValueError as error:
        got = str(error)
    assert got == want
    found = run_config.ClusterConfig(master="z")
    assert found.master == "z" and found.num_worker_replicas == 2
    assert found.is_chief == (task in (None, "worker"))


def test_an_experiment_trains_and_evaluates_by_turns(tmp_path):
    made = estimator(model_dir=str(tmp_path))
    experiment = learn.Experiment(
        made, input_fn, input_fn, train_steps=20, eval_steps=1,
        export_strategies=learn.ExportStrategy(
            "s", lambda estimator, folder: os.path.basename(folder)))
    found, exported = experiment.continuous_train_and_eval(
        lambda results: not results or results["global_step"] < 5)
    assert found["global_step"] == 6 and exported == [b"s"]
    assert experiment.test()["global_step"] == 7
    found, _ = experiment.train_and_evaluate()
    assert found["global_step"] == 20
    assert experiment.reset_export_strategies()[0].name == "s"
