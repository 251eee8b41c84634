"""tf.contrib.slim and tf.contrib.training: training, evaluation, data sets,
variables of checkpoints."""
import json
import os

import numpy as np
import pytest

import headrace as tf

slim = tf.contrib.slim
decoder = slim.tfexample_decoder


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def line(name="line"):
    """The loss of y = 2x + 1."""
    tf.set_random_seed(3)
    x = tf.constant(np.linspace(-1, 1, 8, dtype=np.float32)[:, None])
    y = slim.fully_connected(x, 1, activation_fn=None, scope=name)
    slim.losses.mean_squared_error(y, 2 * x + 1)
    return slim.losses.get_total_loss()


def test_train_goes_on_from_its_folder(tmp_path):
    folder = str(tmp_path)
    loss = line()
    step = slim.learning.create_train_op(
        loss, tf.train.GradientDescentOptimizer(0.1),
        summarize_gradients=True, clip_gradient_norm=4.)
    assert tf.get_collection(tf.GraphKeys.TRAIN_OP)[-1] is step
    first = slim.learning.train(step, folder, number_of_steps=3,
                                log_every_n_steps=2, trace_every_n_steps=2)
    assert tf.train.latest_checkpoint(folder).endswith("model.ckpt-3")
    traces = [f for f in os.listdir(folder) if f.startswith("tf_trace")]
    assert traces
    with open(tmp_path / traces[0]) as f:
        assert json.load(f)["traceEvents"]
    with tf.Graph().as_default():
        step = slim.learning.create_train_op(
            line(), tf.train.GradientDescentOptimizer(0.1))
        last = slim.learning.train(step, folder, number_of_steps=200)
        assert last < first / 100
        assert tf.train.latest_checkpoint(folder).endswith("model.ckpt-200")


def test_train_ends_with_its_inputs_and_without_a_folder():
    x, = tf.train.slice_input_producer([tf.constant([1., 2., 3.])],
                                       num_epochs=2, shuffle=False)
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    step = slim.learning.create_train_op(
        tf.square(v - x), tf.train.GradientDescentOptimizer(0.0))
    steps = []

    def each(session, train_op, global_step, arguments):
        found = slim.learning.train_step(session, train_op, global_step,
                                         arguments)
        steps.append(float(found[0]))
        return found
    slim.learning.train(step, None, train_step_fn=each)
    assert steps == [1, 4, 9, 1, 4, 9]


def test_train_with_a_synchronous_optimizer():
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    local = tf.Variable(2., trainable=False,
                        collections=[tf.GraphKeys.LOCAL_VARIABLES])
    sync = tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(.25), 1)
    step = slim.learning.create_train_op(tf.square(v - local), sync)
    loss = slim.learning.train(step, None, number_of_steps=6,
                               sync_optimizer=[sync])
    assert 0 < loss < .1


@pytest.mark.parametrize("options, message", [
    ({"train_op": None, "logdir": None}, "train_op cannot be None"),
    ({"logdir": None, "saver": 1}, "Cannot provide saver because logdir=None"),
    ({"logdir": None, "trace_every_n_steps": 1}, "trace_every_n_steps because"),
    ({"logdir": None, "number_of_steps": 0}, "None or a positive number"),
    ({"logdir": None, "sync_optimizer": 1}, "SyncReplicasOptimizer.* got 1"),
    ({"logdir": None, "startup_delay_steps": 1,
      "sync_optimizer": tf.train.SyncReplicasOptimizer(None, 1)},
     "startup_delay_steps must be zero")])
def test_what_train_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        slim.learning.train(**{"train_op": tf.constant(1.), **options})


def test_gradients_of_a_step():
    v = tf.get_variable("v", [2], initializer=tf.constant_initializer(3.))
    w = tf.get_variable("w", [], initializer=tf.constant_initializer(1.))
    loss = tf.reduce_sum(v * v) + w
    step = slim.learning.create_train_op(
        loss, tf.train.GradientDescentOptimizer(1.), global_step=None,
        gradient_multipliers={"v": 0.5, w: 2.}, clip_gradient_norm=1.,
        update_ops=[tf.assign(w, 5.).op])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        np.testing.assert_allclose(session.run(v), 3 - np.sqrt([0.5, 0.5]),
                                   rtol=1e-5)
        assert session.run(w) == 4  # 5 - 1, the clipped gradient
    pairs = [(None, v)]
    for given, factors, message in (
            (tuple(pairs), {"v": 1}, "must be a list"),
            (pairs, {}, "is empty"), (pairs, [v], "must be a dict"),
            (pairs, {"v": 1}, "multiple of `None`")):
        with pytest.raises(ValueError, match=message):
            slim.learning.multiply_gradients(given, factors)
    with pytest.raises(ValueError, match="w2:0 is not trainable"):
        slim.learning.create_train_op(
            loss, tf.train.GradientDescentOptimizer(1.), variables_to_train=[
                tf.Variable(1., trainable=False, name="w2")])


def test_a_loss_that_is_no_number_fails_the_step():
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    step = tf.contrib.training.create_train_op(
        tf.log(v - 1.), tf.train.GradientDescentOptimizer(1.))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match="LossTensor is inf or nan"):
            session.run(step)


def checkpoint(folder, value, step):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("v", [], initializer=tf.constant_initializer(value))
        tf.train.get_or_create_global_step()
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, os.path.join(folder, "c"), step)


def test_evaluation(tmp_path):
    folder = str(tmp_path)
    path = checkpoint(folder, 5., 7)
    v = tf.get_variable("v", [])
    tf.train.get_or_create_global_step()
    mean, update = tf.metrics.mean(v)
    tf.summary.scalar("value", v)
    values = slim.evaluation.evaluate_once(
        "", path, str(tmp_path / "log"), num_evals=3, eval_op=update,
        final_op=[mean, "mean/count:0"])
    assert values == [5, 3]
    files = os.listdir(tmp_path / "log")
    assert len(files) == 1
    events = list(tf.train.summary_iterator(str(tmp_path / "log" / files[0])))
    assert [v.simple_value for e in events for v in e.summary.value
            if v.tag == "value"] == [5]
    assert slim.evaluation.evaluation_loop(
        "", folder, str(tmp_path / "log2"), num_evals=2, eval_op=update,
        final_op="mean/count:0", max_number_of_evaluations=1,
        summary_op=None) == 2
    training = tf.contrib.training
    assert training.evaluate_repeatedly(
        folder, eval_ops={"update": update}, final_ops=mean, timeout=0.1,
        eval_interval_secs=0,
        hooks=[training.StopAfterNEvalsHook(1, log_progress=False)]) == 5
    assert training.wait_for_new_checkpoint(
        folder, path, seconds_to_sleep=0.01, timeout=0.05) is None


def test_train_in_a_monitored_session(tmp_path):
    step = tf.contrib.training.create_train_op(
        line(), tf.train.GradientDescentOptimizer(0.1))
    loss = tf.contrib.training.train(
        step, str(tmp_path), hooks=[tf.train.StopAtStepHook(20)])
    assert 0 < loss < 1 and tf.train.latest_checkpoint(str(tmp_path))
    with pytest.raises(ValueError, match="logdir cannot be None"):
        tf.contrib.training.train(step, None)


def example(**features):
    made = tf.train.Example()
    for name, values in features.items():
        kind = {bytes: "bytes_list", float: "float_list",
                int: "int64_list"}[type(values[0])]
        getattr(made.features.feature[name.replace("__", "/")],
                kind).value.extend(values)
    return made.SerializeToString()


@pytest.fixture
def records(tmp_path):
    path = str(tmp_path / "data.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(5):
            writer.write(example(label=[i], image__encoded=[bytes([i] * 12)],
                                 image__format=[b"raw"]))
    return str(tmp_path / "*.tfrecord")


def test_a_data_set(records):
    features = {"label": tf.FixedLenFeature((), tf.int64),
                "image/encoded": tf.FixedLenFeature((), tf.string),
                "image/format": tf.FixedLenFeature((), tf.string)}
    data = slim.dataset.Dataset(
        records, tf.TFRecordReader, decoder.TFExampleDecoder(features, {
            "image": decoder.Image(shape=[2, 2, 3]),
            "label": decoder.Tensor("label")}), 5, {"label": "a number"},
        num_classes=9)
    assert data.num_classes == 9
    provider = slim.dataset_data_provider.DatasetDataProvider(
        data, shuffle=False, num_epochs=1, common_queue_capacity=4)
    assert provider.list_items() == ["image", "label", "record_key"]
    assert provider.num_samples() == 5
    image, label = provider.get(["image", "label"])
    with pytest.raises(ValueError, match=r"Items \[size\] are invalid"):
        provider.get(["size"])
    queue = slim.prefetch_queue.prefetch_queue(
        {"image": image, "label": label}, num_threads=1)
    taken = queue.dequeue()
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        seen = []
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                found = session.run(taken)
                assert found["image"].shape == (2, 2, 3)
                assert (found["image"] == found["label"]).all()
                seen.append(int(found["label"]))
        coordinator.request_stop()
        coordinator.join(threads)
    assert seen == [0, 1, 2, 3, 4]


def test_single_pass_read(records):
    key, value = slim.parallel_reader.single_pass_read(records,
                                                       tf.TFRecordReader)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        keys = [session.run([key, value])[0] for _ in range(5)]
        assert len(set(keys)) == 5 and b"data.tfrecord:0" in keys[0]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(value)
        coordinator.request_stop()
        coordinator.join(threads)
    with pytest.raises(ValueError, match="No data files found"):
        slim.parallel_reader.get_data_files(records + ".none*")



@pytest.mark.parametrize("features, handler, wanted", [
    (dict(a=[1, 2, 3, 4, 5, 6], h=[2], w=[3]), decoder.Tensor(
        "a", shape_keys=["h", "w"]), [[1, 2, 3], [4, 5, 6]]),
    (dict(a=[1, 2, 3, 4]), decoder.Tensor("a", shape=[4, 1]),
     [[1], [2], [3], [4]]),
    (dict(a=[1, 2]), decoder.ItemHandlerCallback(
        ["a"], lambda t: tf.sparse_tensor_to_dense(t["a"]) * 3), [3, 6]),
    (dict(h=[7]), decoder.BackupHandler(decoder.Tensor("a"),
                                        decoder.Tensor("h")), [7]),
    (dict(a=[3], h=[7]), decoder.BackupHandler(decoder.Tensor("a"),
                                               decoder.Tensor("h")), [3]),
    (dict(indices=[0, 3], values=[8., 9.]), decoder.SparseTensor(
        shape=[5], densify=True), [8, 0, 0, 9, 0]),
    (dict(ymin=[1., 5.], xmin=[2., 6.], ymax=[3., 7.], xmax=[4., 8.]),
     decoder.BoundingBox(), [[1, 2, 3, 4], [5, 6, 7, 8]]),
])
def test_handlers_of_items(features, handler, wanted):
    kinds = {key: tf.VarLenFeature(
        tf.float32 if key in ("values", "ymin", "xmin", "ymax", "xmax")
        else tf.int64) for key in handler.keys}
    found, = decoder.TFExampleDecoder(kinds, {"item": handler}).decode(
        tf.constant(example(**features)))
    with tf.Session() as session:
        assert session.run(found).tolist() == wanted


def test_images_and_tables_of_items():
    with tf.Session() as session:
        picture = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
        png, jpeg = session.run([tf.image.encode_png(picture),
                                 tf.image.encode_jpeg(picture)])
        features = {"image/encoded": tf.FixedLenFeature((), tf.string),
                    "image/format": tf.FixedLenFeature((), tf.string, "png")}
        one = decoder.TFExampleDecoder(features, {"image": decoder.Image()})
        found, = one.decode(tf.constant(example(image__encoded=[png])))
        assert found.get_shape().as_list() == [None, None, 3]
        assert (session.run(found) == picture).all()
        found, = one.decode(tf.constant(example(image__encoded=[jpeg])))
        assert session.run(found).shape == (2, 3, 3)
        features["image/encoded"] = tf.FixedLenFeature((2,), tf.string)
        many = decoder.TFExampleDecoder(features, {
            "image": decoder.Image(repeated=True)})
        found, = many.decode(tf.constant(example(image__encoded=[png, png])))
        assert (session.run(found) == picture).all()
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a", "b"], [5, 6]), -1)
        names = decoder.TFExampleDecoder(
            {"a": tf.FixedLenFeature((2,), tf.string)},
            {"a": decoder.LookupTensor("a", table)})
        found, = names.decode(tf.constant(example(a=[b"b", b"c"])))
        session.run(tf.tables_initializer())
        assert session.run(found).tolist() == [6, -1]


@pytest.mark.parametrize("make, message", [
    (lambda: decoder.BoundingBox(["a"]), "expects 4 keys but got 1"),
    (lambda: decoder.Tensor("a", ["b"], [1]), "Cannot specify both"),
    (lambda: decoder.BackupHandler(decoder.Tensor("a"), "b"),
     "Backup handler is of type <class 'str'>"),
    (lambda: slim.assign_from_checkpoint_fn("x", {}), "var_list cannot be emp"),
    (lambda: slim.losses.cosine_distance([1.], [1.]), "specify 'axis'"),
    (lambda: slim.parallel_reader.ParallelReader(tf.TFRecordReader, None, 0),
     "num_readers must be above 0, got 0")])
def test_refusals(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_variables_of_a_checkpoint(tmp_path):
    path = checkpoint(str(tmp_path), 5., 7)
    v = tf.get_variable("v", [])
    w = tf.get_variable("scope/w", [1])
    frame = tf.contrib.framework
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        slim.assign_from_checkpoint_fn(path, [v])(session)
        assert session.run(v) == 5
        op, feed = slim.assign_from_checkpoint(path, {"v": w})
        session.run(op, feed)
        assert session.run(w).tolist() == [5]
        slim.assign_from_values_fn({"v": 3., "scope/w": [4.]})(session)
        assert session.run([v, w]) == [3, [4]]
        slim.assign_from_checkpoint_fn(path, [v, w],
                                       ignore_missing_vars=True)(session)
        assert session.run([v, w]) == [5, [4]]
    assert slim.assign_from_checkpoint_fn(
        path, {"none": v}, ignore_missing_vars=True) is None
    with pytest.raises(ValueError, match=r"missing variable \[scope/w\]"):
        slim.assign_from_checkpoint(path, [w])
    with pytest.raises(ValueError, match="lh_shape"):
        slim.assign_from_checkpoint(path, {"v": tf.get_variable("u", [2])})
    assert frame.list_variables(path) == [("global_step", []), ("v", [])]
    assert frame.load_variable(str(tmp_path), "v") == 5
    assert frame.load_checkpoint(path).has_tensor("v")
    assert frame.get_variable_full_name(w) == "scope/w"


# slim.utils.

SHAPE = tf.TensorShape
UTILS = slim.utils


@pytest.mark.parametrize("got, wanted", [
    (lambda: UTILS.last_dimension(SHAPE([1, 4])), 4),
    (lambda: UTILS.channel_dimension(SHAPE([1, 2, 3]), "NHWC"), 3),
    (lambda: UTILS.channel_dimension(SHAPE([1, 2, 3]), "NCHW"), 2),
    (lambda: UTILS.two_element_tuple(3), (3, 3)),
    (lambda: UTILS.two_element_tuple([3, 4]), (3, 4)),
    (lambda: UTILS.two_element_tuple(SHAPE([3, 4])), (3, 4)),
    (lambda: UTILS.n_positive_integers(3, 2), (2, 2, 2)),
    (lambda: UTILS.n_positive_integers(2, [1, 2]), (1, 2)),
    (lambda: UTILS.n_positive_integers(2, SHAPE([1, 2])), (1, 2)),
    (lambda: UTILS.get_variable_collections(["a"], "w"), ["a"]),
    (lambda: UTILS.get_variable_collections({"w": ["b"]}, "w"), ["b"]),
    (lambda: UTILS.get_variable_collections({"w": ["b"]}, "z"), None),
    (lambda: UTILS.constant_value(True), True),
    (lambda: UTILS.constant_value(tf.constant(False)), False),
    (lambda: UTILS.constant_value(tf.placeholder(tf.bool)), None),
    (lambda: UTILS.constant_value(tf.Variable(True)), None),
    (lambda: UTILS.smart_cond(True, lambda: 1, lambda: 2), 1),
    (lambda: UTILS.static_cond(False, lambda: 1, lambda: 2), 2)])
def test_utils(got, wanted):
    assert got() == wanted


def test_conditions_of_fed_values_are_in_the_graph():
    p = tf.placeholder(tf.bool, [])
    y = UTILS.smart_cond(p, lambda: tf.constant(1), lambda: tf.constant(2))
    with tf.Session() as session:
        assert [session.run(y, {p: value}) for value in (True, False)] == [1, 2]


def test_aliases():
    x, y = tf.constant(1.), tf.constant(2.)
    assert UTILS.get_tensor_aliases(x) == ["Const"]
    for alias in ("k", "k2/"):
        assert UTILS.append_tensor_alias(x, alias) is x
    assert UTILS.gather_tensors_aliases([x, y]) == ["k", "k2", "Const_1"]
    UTILS.collect_named_outputs("c", "last", y)
    assert UTILS.convert_collection_to_dict("c") == {"last": y}


@pytest.mark.parametrize("call, words", [
    (lambda: UTILS.last_dimension(SHAPE([1, None])),
     r"dimension -1 of shape must be known but is None: \(1, \?\)"),
    (lambda: UTILS.last_dimension(SHAPE(None)), "dims of shape must be known"),
    (lambda: UTILS.last_dimension(SHAPE([1]), 3), "at least 3 not: 1"),
    (lambda: UTILS.two_element_tuple([3]), "Must be a list with 2 elements"),
    (lambda: UTILS.two_element_tuple("ab"), "Must be an int, a list"),
    (lambda: UTILS.n_positive_integers(2, [1, 2, 3]), "received .1, 2, 3."),
    (lambda: UTILS.n_positive_integers(2, -1), "received -1"),
    (lambda: UTILS.n_positive_integers(2, "xy"), "received 'xy'"),
    (lambda: UTILS.n_positive_integers(0, 1), "n must be a positive integer"),
    (lambda: UTILS.constant_value(None), "cannot be None"),
    (lambda: UTILS.constant_value(tf.constant(1), tf.bool), "wrong type")])
def test_what_utils_refuse(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_static_cond_refuses_what_it_cannot_call():
    with pytest.raises(TypeError, match="fn2 must be callable"):
        UTILS.static_cond(True, lambda: 1, 2)


def test_analyze_vars_prints_a_table(capsys):
    v = tf.get_variable("v", [2, 3])
    assert slim.model_analyzer.analyze_vars([v], print_info=True) == (6, 24)
    assert capsys.readouterr().out == (
        "---------\nVariables: name (type shape) [size]\n---------\n"
        "v:0 (float32_ref 2x3) [6, bytes: 24]\n"
        "Total size of variables: 6\nTotal bytes of variables: 24\n")


def test_the_number_of_an_evaluation_after_its_ops():
    from headrace._src.contrib import evaluation
    step = evaluation.get_or_create_eval_step()
    more = tf.assign_add(step, 2)
    values = [evaluation.latest_eval_step_value(update) for update in
              ([more], {"more": more}, more.op)]
    with tf.Session() as session:
        session.run(step.initializer)
        assert [session.run(value) for value in values] == [2, 4, 6]


def test_values_take_the_type_of_their_variables(tmp_path):
    tf.get_variable("v", [2])
    op, feed = slim.assign_from_values({"v": np.array([1., 2.])})  # float64
    with tf.Session() as session:
        session.run(op, feed)
        assert session.run("v:0").tolist() == [1, 2]


def test_a_checkpoint_whose_prefix_is_a_folder_too(tmp_path):
    prefix = str(tmp_path / "model")
    (tmp_path / "model").mkdir()
    v = tf.get_variable("v", initializer=[1., 2.])
    with tf.Session() as session:
        session.run(v.initializer)
        tf.train.Saver().save(session, prefix, write_state=False)
        session.run(v.assign([0., 0.]))
        session.run(*slim.assign_from_checkpoint(prefix, [v]))
        assert session.run(v).tolist() == [1, 2]
        session.run(v.assign([0., 0.]))
        slim.assign_from_checkpoint_fn(prefix, [v], True)(session)
        assert session.run(v).tolist() == [1, 2]


def test_a_hook_without_summaries_writes_the_graph(tmp_path):
    hook = tf.contrib.training.SummaryAtEndHook(str(tmp_path))
    with tf.Graph().as_default():
        tf.constant(1, name="only")
        hook.begin()
        with tf.Session() as session:
            hook.after_create_session(session, None)
            hook.end(session)
    (path,) = tmp_path.iterdir()
    assert any(e.HasField("graph_def")
               for e in tf.train.summary_iterator(str(path)))
    tf.summary.FileWriterCache.clear()


def test_queue_runners_of_a_block():
    queues = slim.queues
    with tf.Graph().as_default():
        queue = tf.train.input_producer([1., 2., 3.], shuffle=False)
        value = queue.dequeue()
        with tf.Session() as session:
            with queues.QueueRunners(session):
                assert [session.run(value) for _ in range(4)] == [1, 2, 3, 1]
                with pytest.raises(queues.NestedQueueRunnerError,
                                   match="cannot be nested"):
                    with queues.QueueRunners(session):
                        pass
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(KeyError), queues.QueueRunners(session):
            raise KeyError("in the block")
        with queues.QueueRunners(session):
            pass
