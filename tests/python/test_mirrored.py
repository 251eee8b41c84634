"""tf.distribute.MirroredStrategy on two processors, as TensorFlow 1.15.5 has
it."""
import numpy as np
import pytest

import headrace as tf

DEVICES = tuple("/replica:0/task:0/device:CPU:%d" % i for i in range(2))
A = tf.VariableAggregation
ON_READ = tf.VariableSynchronization.ON_READ


def session():
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))


@pytest.fixture
def strategy():
    with tf.Graph().as_default():
        yield tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    assert not tf.distribute.has_strategy()


def number():
    """1 in the first replica, 2 in the second."""
    context = tf.distribute.get_replica_context()
    return tf.cast(context.replica_id_in_sync_group, tf.float32) + 1.


def names(variables):
    return [v.name for v in variables]


def test_variables_have_a_copy_on_each_device(strategy):
    with strategy.scope():
        v = tf.Variable(2., name="v")
        w = tf.get_variable("w", [2])
        u = tf.get_variable("u", [], synchronization=ON_READ,
                            aggregation=A.MEAN)
    assert strategy.num_replicas_in_sync == 2
    assert strategy.extended.worker_devices == DEVICES
    assert strategy.extended.parameter_devices == DEVICES
    for variable in (v, w, u):
        assert isinstance(variable, tf.Variable)
        assert [x.device for x in variable.values] == list(DEVICES)
        assert names(variable.values) == [
            variable.name, variable.op.name + "/replica_1:0"]
        assert strategy.unwrap(variable) == variable.values
        assert strategy.extended.value_container(
            variable.values[1]) is variable
    assert tf.global_variables() == [v, w, u]
    assert names(tf.trainable_variables()) == ["v:0", "v/replica_1:0", "w:0"]
    first = tf.get_default_graph().get_operation_by_name(
        "v/replica_1/Initializer/Identity")
    assert first.inputs[0].name == "v/Initializer/initial_value:0"
    assert first.device == DEVICES[1]
    with session() as s:
        s.run(tf.global_variables_initializer())
        a, b = s.run(w.values)
        assert a.tolist() == b.tolist()


@pytest.mark.parametrize("options, change, found", [
    (dict(aggregation=A.SUM), "assign", [3, 3]),
    (dict(aggregation=A.MEAN), "assign_add", [11.5, 11.5]),
    (dict(aggregation=A.ONLY_FIRST_REPLICA), "assign_sub", [9, 9]),
    (dict(synchronization=ON_READ, aggregation=A.SUM), "assign_add", [11, 12]),
    (dict(synchronization=ON_READ, aggregation=A.MEAN), "assign", [1, 2])])
def test_replicas_change_variables(strategy, options, change, found):
    with strategy.scope():
        v = tf.Variable(10., trainable=False, **options)
    changed = strategy.experimental_run_v2(
        lambda: tf.identity(getattr(v, change)(number())))
    read = {A.SUM: sum, A.MEAN: np.mean}[v.aggregation](found) if (
        v.synchronization is ON_READ) else found[0]
    with session() as s:
        s.run(tf.global_variables_initializer())
        assert list(s.run(strategy.unwrap(changed))) == found
        assert list(s.run(v.values)) == found
        with strategy.scope():
            assert s.run([v.read_value(), v + 0.]) == [read, read]


@pytest.mark.parametrize("options, found", [
    ({}, [6, 6]), (dict(synchronization=ON_READ, aggregation=A.SUM), [3, 3]),
    (dict(synchronization=ON_READ, aggregation=A.MEAN), [6, 6])])
def test_variables_are_assigned_between_replicas(strategy, options, found):
    with strategy.scope():
        v = tf.Variable(1., trainable=False, **options)
        assigned = v.assign(6.)
    with session() as s:
        s.run(tf.global_variables_initializer())
        s.run(strategy.group(assigned))
        assert list(s.run(v.values)) == found


def test_replicas_merge_in_the_blocks_of_the_graph(strategy):
    seen = []

    def merged(given, x, scale):
        assert given is strategy and tf.distribute.in_cross_replica_context()
        seen.append((x, tf.get_default_graph().get_name_scope(),
                     tf.get_variable_scope().name, tf.constant(1.).device))
        return given.reduce("sum", x), scale

    def step(x):
        with tf.variable_scope("inner"), tf.control_dependencies([x]):
            total, scale = tf.distribute.get_replica_context().merge_call(
                merged, (x + number(),), {"scale": 2.})
            after = total * scale
        seen.append((after.device, after.op.name, tf.constant(1.).device))
        return {"after": after, "same": 5}
    with tf.device("/cpu:0"), tf.name_scope("outer"):
        result = strategy.experimental_run_v2(step, (tf.constant(3.),))
        assert tf.constant(1.).device == "/device:CPU:0"
    assert seen[0][1:] == ("outer/inner/inner", "inner", "/device:CPU:0")
    assert seen[0][0].values[1].device == DEVICES[1]
    assert seen[1:] == [(DEVICES[0], "outer/inner/mul", DEVICES[0]),
                        (DEVICES[1], "outer/replica_1/inner/mul", DEVICES[1])]
    assert result["same"] == 5
    with session() as s:
        assert s.run(strategy.unwrap(result["after"])) == (18, 18)


@pytest.mark.parametrize("cross_device_ops", [
    None, tf.distribute.ReductionToOneDevice(accumulation_fn=sum),
    tf.distribute.HierarchicalCopyAllReduce(),
    tf.distribute.HierarchicalCopyAllReduce(0),
    tf.distribute.HierarchicalCopyAllReduce(2)])
def test_values_are_reduced(cross_device_ops):
    with tf.Graph().as_default():
        strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"],
                                                  cross_device_ops)
        op = tf.distribute.ReduceOp

        def step():
            context = tf.distribute.get_replica_context()
            x = number()
            y = x * [[1., 2.]]
            rows = tf.IndexedSlices(y, [0], [3, 2])
            reduced = context.all_reduce(op.SUM, [x, {"y": y}])
            means = context.all_reduce("mean", [y, rows])
            return (reduced, means[0], tf.convert_to_tensor(means[1]),
                    tf.gradients(reduced[0] * x, x)[0])
        sums, mean, rows, gradient = strategy.experimental_run_v2(step)
        x = strategy.experimental_run_v2(number)
        vector = strategy.experimental_run_v2(lambda: [number(), number()])
        vector = strategy.experimental_run_v2(tf.stack, (vector,))
        totals = [strategy.reduce(op.MEAN, x), strategy.reduce("sum", vector),
                  strategy.reduce("sum", vector, axis=0),
                  strategy.reduce("mean", vector, axis=0)]
        local = strategy.experimental_local_results
        with session() as s:
            for i in range(2):
                found = s.run([local(sums[0])[i], local(sums[1]["y"])[i],
                               local(mean)[i], local(rows)[i]])
                assert found[0] == 3
                np.testing.assert_allclose(found[1], [[3, 6]])
                np.testing.assert_allclose(found[2], [[1.5, 3]])
                np.testing.assert_allclose(found[3],
                                           [[1.5, 3], [0, 0], [0, 0]])
            # d(x1 (x1 + x2)) by x1, and what the other's sum adds.
            assert list(s.run(local(gradient))) == [6, 6]
            a, b, c, d = s.run(totals)
            assert (a, b.tolist(), c, d) == (1.5, [3, 3], 6, 1.5)


def test_broadcast_and_updates(strategy):
    with strategy.scope():
        v = tf.Variable(1., name="v")
        extended = strategy.extended
        copies = extended.broadcast_to(tf.constant(4.), v)
        assert [c.device for c in copies.values] == list(DEVICES)
        added = extended.update(v, lambda v, x: v.assign_add(x), (copies,))
        parts = extended.update_non_slot(
            extended.non_slot_devices([v]), lambda x: x * 2., (copies,),
            group=False)
        with extended.colocate_vars_with(v):
            beside = tf.get_variable("beside", [])
        assert [b.device for b in beside.values] == list(DEVICES)
        assert extended.variable_created_in_scope(v)
        assert extended.batch_reduce_to("MEAN", [(copies, v)]) is not None
    with session() as s:
        s.run(tf.global_variables_initializer())
        s.run(added)
        assert s.run([*v.values, *parts]) == [5, 5, 8, 8]


OPTIMIZERS = [
    lambda: tf.train.GradientDescentOptimizer(.1),
    lambda: tf.train.MomentumOptimizer(.1, .9),
    lambda: tf.train.AdamOptimizer(.1),
    lambda: tf.train.AdagradOptimizer(.1),
    lambda: tf.train.RMSPropOptimizer(.1),
    lambda: tf.train.FtrlOptimizer(.1)]


@pytest.mark.parametrize("make", OPTIMIZERS)
def test_training_is_that_of_one_device(make, tmp_path):
    rows = np.float32([[1, 2], [3, 4], [5, 6], [7, 9]])

    def build(loss_of):
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        table = tf.get_variable("table", [3, 1],
                                initializer=tf.zeros_initializer())
        optimizer = make()
        step = tf.train.get_or_create_global_step()

        def loss(x, share):
            error = tf.reduce_sum(x * w, 1) - 1.
            error += tf.nn.embedding_lookup(table, [1])[0]
            value = tf.reduce_sum(tf.square(error)) / 4.
            with tf.control_dependencies([optimizer.minimize(value, step)]):
                return tf.identity(value)
        return loss_of(loss), optimizer

    def train(loss, path, strategy=None):
        with session() as s:
            s.run(tf.global_variables_initializer())
            s.run(tf.get_collection("starts"))
            for _ in range(2):
                value = s.run(loss)
            if strategy:
                for v in tf.global_variables():
                    a, b = s.run(list(strategy.unwrap(v)))
                    np.testing.assert_array_equal(a, b)
            return value, tf.train.Saver().save(s, str(path))
    with tf.Graph().as_default():
        loss, _ = build(lambda f: f(tf.constant(rows), 1.))
        one, path = train(loss, tmp_path / "one")
    with tf.Graph().as_default():
        strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
        with strategy.scope():
            data = tf.data.Dataset.from_tensors(rows).repeat()
            iterator = strategy.make_dataset_iterator(data)
            tf.add_to_collection("starts", iterator.initialize())
            loss, optimizer = build(lambda f: strategy.reduce(
                "sum", strategy.experimental_run(lambda x: f(x, .5),
                                                 iterator)))
            two, other = train(loss, tmp_path / "two", strategy)
            assert all(hasattr(v, "values") for v in optimizer.variables())
            restored = tf.train.Saver()
            with session() as s:
                restored.restore(s, path)
                w = tf.global_variables()[0]
                np.testing.assert_array_equal(*s.run(list(w.values)))
    np.testing.assert_allclose(one, two, rtol=1e-5)
    a, b = (tf.train.load_checkpoint(p) for p in (path, other))
    assert (a.get_variable_to_shape_map() == b.get_variable_to_shape_map())
    for name in a.get_variable_to_shape_map():
        np.testing.assert_allclose(a.get_tensor(name), b.get_tensor(name),
                                   rtol=1e-4, atol=1e-6)


def test_sum_on_read_is_saved_and_restored(strategy, tmp_path):
    with strategy.scope():
        v = tf.Variable(0., trainable=False, synchronization=ON_READ,
                        aggregation=A.SUM, name="v")
        saver = tf.train.Saver()
    added = strategy.experimental_run_v2(lambda: v.assign_add(number()).op)
    with session() as s:
        s.run(tf.global_variables_initializer())
        s.run(strategy.group(added))
        path = saver.save(s, str(tmp_path / "v"))
        assert tf.train.load_variable(path, "v") == 3
        saver.restore(s, path)
        assert s.run(list(v.values)) == [1.5, 1.5]
    with session() as s:
        tf.train.Checkpoint(v=v).restore(tf.train.Checkpoint(v=v).save(
            str(tmp_path / "objects"), session=_initialised(s, v))
        ).run_restore_ops(s)
        assert s.run(list(v.values)) == [0, 0]


def _initialised(s, v):
    s.run(tf.global_variables_initializer())
    s.run(tf.train.Checkpoint(v=v).save_counter.initializer)
    return s


RANGE = tf.data.Dataset.range


@pytest.mark.parametrize("make, shape, found", [
    (lambda s: s.make_dataset_iterator(RANGE(7).batch(4)), [None],
     [([0, 1], [2, 3]), ([4, 5], [6])]),
    (lambda s: s.make_dataset_iterator(RANGE(9).batch(8)), [None],
     [([0, 1, 2, 3], [4, 5, 6, 7]), ([8], [])]),
    (lambda s: s.make_dataset_iterator(RANGE(5).batch(3)), [None],
     [([0, 1], [2]), ([3], [4])]),
    (lambda s: s.experimental_distribute_dataset(
        RANGE(8).batch(4, drop_remainder=True)).make_initializable_iterator(),
     [2], [([0, 1], [2, 3]), ([4, 5], [6, 7])]),
    (lambda s: s.make_input_fn_iterator(
        lambda c: RANGE(5).batch(c.num_replicas_in_sync)), [None],
     [([0, 1], [2, 3])])])
def test_batches_of_replicas(strategy, make, shape, found):
    iterator = make(strategy)
    values = strategy.unwrap(iterator.get_next())
    assert [v.device for v in values] == list(DEVICES)
    assert [v.shape.as_list() for v in values] == [shape, shape]
    with session() as s:
        s.run(iterator.initialize())
        for pair in found:
            assert tuple(x.tolist() for x in s.run(values)) == pair
        with pytest.raises(tf.errors.OutOfRangeError):
            s.run(values)


def test_structures_and_functions_of_inputs(strategy):
    sparse = tf.SparseTensor([[0, 0], [2, 1], [3, 0]], [1, 2, 3], [4, 2])
    data = tf.data.Dataset.from_tensors(
        {"a": [1, 2, 3, 4], "b": (sparse, [[1], [2], [3], [4]])})
    iterator = strategy.make_dataset_iterator(data)
    batch = iterator.get_next()
    seconds = strategy.experimental_run_v2(
        lambda x: (x["a"], tf.sparse.to_dense(x["b"][0]), x["b"][1]), (batch,))
    calls = strategy.make_input_fn_iterator(
        lambda context: lambda: tf.constant(3))
    with session() as s:
        s.run([iterator.initialize(), calls.initializer])
        a, dense, c = s.run([strategy.unwrap(x)[1] for x in seconds])
        assert (a.tolist(), dense.tolist(), c.tolist()) == (
            [3, 4], [[0, 2], [3, 0]], [[3], [4]])
        assert s.run(strategy.unwrap(calls.get_next())) == (3, 3)


KERAS_OPTIMIZERS = [
    lambda: tf.keras.optimizers.SGD(.1, momentum=.9),
    lambda: tf.keras.optimizers.Adam(.05),
    lambda: tf.keras.optimizers.RMSprop(.05),
    lambda: tf.train.AdamOptimizer(.05)]


@pytest.mark.parametrize("make", KERAS_OPTIMIZERS)
def test_keras_models_train_as_on_one_device(make):
    rng = np.random.RandomState(1)
    x = rng.randn(10, 3).astype(np.float32)
    y = rng.randn(10, 2).astype(np.float32)
    start = [rng.randn(3, 4), np.zeros(4), rng.randn(4, 2), np.zeros(2)]

    def train(strategy):
        def build():
            dense = tf.keras.layers.Dense
            model = tf.keras.Sequential([
                dense(4, activation="tanh", input_shape=(3,),
                      kernel_regularizer=tf.keras.regularizers.l2(.1)),
                dense(2)])
            model.compile(make(), "mse", metrics=["mae"])
            return model
        with tf.Graph().as_default(), session() as s:
            tf.keras.backend.set_session(s)
            if strategy:
                strategy = strategy()
                with strategy.scope():
                    model = build()
            else:
                model = build()
            model.set_weights(start)
            history = model.fit(x, y, batch_size=5, epochs=3, verbose=0,
                                shuffle=False)
            result = (history.history, model.evaluate(x, y, verbose=0),
                      model.get_weights(), model.predict(x))
            if strategy:
                for w in model.weights:
                    np.testing.assert_array_equal(*s.run(list(w.values)))
            return result
    one = train(None)
    two = train(lambda: tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]))
    for a, b in zip(tf.nest.flatten(one), tf.nest.flatten(two)):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


def test_keras_batch_normalization_of_replicas(strategy):
    x = np.float32([[1], [3], [10], [14]])
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.BatchNormalization(
            momentum=.5, input_shape=(1,))])
        model.compile("sgd", "mse")
    with session() as s:
        model.fit(x, x, batch_size=4, epochs=1, verbose=0, shuffle=False)
        mean = model.layers[0].moving_mean
        # Each replica has the mean of its rows.
        assert [m.tolist() for m in s.run(list(mean.values))] == [[1], [6]]
        with strategy.scope():
            assert s.run(mean.read_value()).tolist() == [3.5]


@pytest.mark.parametrize("metric, value, updates", [
    (lambda x: tf.metrics.mean(x), 1.5, [1, 2]),
    (lambda x: tf.metrics.mean_tensor([x, 2.]), [1.5, 2], [[1, 2], [2, 2]]),
    (lambda x: tf.metrics.true_positives([True, True], [True, x > 1.5]), 3,
     [1, 2]),
    (lambda x: tf.metrics.precision([True, False], [True, x > 1.5]), 2 / 3,
     [1, .5]),
    (lambda x: tf.metrics.recall_at_thresholds([1, 1], [.6, x / 4], [.4]),
     [.75], [[.5], [1]]),
    (lambda x: tf.metrics.mean_per_class_accuracy(
        [0, 0], [0, tf.cast(x - 1., tf.int64)], 1), .75, [[1], [.5]]),
    (lambda x: tf.metrics.root_mean_squared_error([0.], [x]), 2.5 ** .5,
     [1, 2])])
def test_metrics_have_the_value_of_all_replicas(strategy, metric, value,
                                                updates):
    found = strategy.experimental_run_v2(lambda: metric(number()))
    with session() as s:
        s.run(tf.local_variables_initializer())
        np.testing.assert_allclose(s.run(list(strategy.unwrap(found[1]))),
                                   updates, rtol=1e-5)
        for v in s.run(list(strategy.unwrap(found[0]))):
            np.testing.assert_allclose(v, value, rtol=1e-5)


def unequal_merges(strategy):
    def step():
        context = tf.distribute.get_replica_context()
        if tf.get_static_value(context.replica_id_in_sync_group) == 0:
            context.merge_call(lambda given: 1)
    return strategy.experimental_run_v2(step)


def apply_between(strategy, v):
    with strategy.scope():
        optimizer = tf.train.GradientDescentOptimizer(.1)
        return optimizer.apply_gradients([(tf.constant(1.), v)])


def clipped(strategy):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    model.compile(tf.keras.optimizers.SGD(.1, clipnorm=1.), "mse")
    model.train_on_batch(np.ones([2, 1]), np.ones([2, 1]))


def failing(strategy):
    def step():
        with tf.device("/cpu:1"), tf.name_scope("x"):
            tf.distribute.get_replica_context().merge_call(lambda given: 1)
            raise KeyError("in a replica")
    with tf.control_dependencies([tf.no_op("before")]):
        try:
            strategy.experimental_run_v2(step)
        finally:
            made = tf.no_op("made").control_inputs
            assert [c.name for c in made] == ["before"]
            assert tf.get_default_graph()._device_stack == []


@pytest.mark.parametrize("call, error, match", [
    (lambda s, v, r: s.experimental_run_v2(lambda: v.assign(1.)), ValueError,
     "must specify an aggregation method to update a MirroredVariable"),
    (lambda s, v, r: r.assign_add(1.), ValueError,
     "SyncOnReadVariable does not support `assign_add` in cross-replica"),
    (lambda s, v, r: v.handle, ValueError, "`handle` is not available outside"),
    (lambda s, v, r: s.reduce("foo", v), ValueError, "not a valid ReduceOp"),
    (lambda s, v, r: s.reduce("sum", tf.constant(3.)), ValueError,
     "non-DistributedValues value .* cannot be reduced with"),
    (lambda s, v, r: s.extended.colocate_vars_with(tf.constant(3.)),
     ValueError, "must only be passed a variable created in this"),
    (lambda s, v, r: apply_between(s, v), RuntimeError,
     "Use `_distributed_apply"),
    (lambda s, v, r: unequal_merges(s), RuntimeError,
     "made a different number of replica_context"),
    (lambda s, v, r: failing(s), KeyError, "in a replica"),
    (lambda s, v, r: s.experimental_run_v2(lambda: s.reduce("sum", 1.)),
     RuntimeError, "Method requires being in cross-replica context"),
    (lambda s, v, r: tf.Variable(
        1., name="q", synchronization=tf.VariableSynchronization.NONE),
     ValueError, "`NONE` variable synchronization mode .* variable: q"),
    (lambda s, v, r: s.make_dataset_iterator(tf.data.Dataset.range(4)),
     ValueError, "Perhaps your input dataset is not batched"),
    (lambda s, v, r: s.make_input_fn_iterator(lambda c: 3), ValueError,
     "input_fn must return a tf.data.Dataset or a callable"),
    (lambda s, v, r: s.experimental_distribute_dataset(
        tf.data.Dataset.range(4).batch(2)).make_one_shot_iterator(),
     ValueError, "Cannot create a one shot iterator"),
    (lambda s, v, r: tf.convert_to_tensor(s.experimental_run_v2(number)),
     ValueError, "a PerReplica is no tensor"),
    (lambda s, v, r: clipped(s), ValueError,
     "Gradient clipping in the optimizer .* is currently unsupported"),
    (lambda s, v, r: tf.distribute.NcclAllReduce(-1), ValueError,
     "NCCL all-reduce requires num_packs >= 0, but -1"),
    (lambda s, v, r: tf.distribute.NcclAllReduce().reduce(
        tf.distribute.ReduceOp.SUM, s.experimental_run_v2(number), v),
     tf.errors.UnimplementedError, "NcclAllReduce: no op NcclAllReduce")])
def test_refusals(strategy, call, error, match):
    with strategy.scope():
        v = tf.Variable(1., name="v")
        r = tf.Variable(1., synchronization=ON_READ, aggregation=A.SUM)
        inside = pytest.raises(error, match=match)
        if call.__code__.co_names[:1] != ("failing",):
            with inside:
                call(strategy, v, r)
            return
    with inside:
        call(strategy, v, r)
