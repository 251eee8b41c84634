"""A task of a cluster, which trains with a strategy of tf.distribute;
test_multi_worker.py starts several.

    TF_CONFIG=... python worker_program.py KIND FOLDER

Without a cluster in TF_CONFIG, the devices of this process are the workers. A
line "result" has what all workers must agree on, as JSON."""
import json
import os
import sys
import time

import numpy as np

import headrace as tf

KIND, FOLDER, *STRATEGY = sys.argv[1:]
CLUSTER = json.loads(os.environ.get("TF_CONFIG", "{}"))
TASK = CLUSTER.get("task", {"type": "worker", "index": 0})
WORKERS = 2
X = np.random.RandomState(0).rand(48, 4).astype(np.float32)
Y = (X @ [[1.], [-2.], [3.], [.5]] + 1).astype(np.float32)
KERNEL = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)


def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def say_result(losses, *values):
    """`losses` are sums over examples, whose order is not said."""
    say("result", json.dumps([np.asarray(v).tolist()
                              for v in (losses, *values)]))


def strategy_and_session():
    """A strategy of two replicas, and a function that makes its session."""
    if not CLUSTER:
        return tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]), (
            lambda: tf.Session(config=tf.ConfigProto(
                device_count={"CPU": 2})))
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    config = strategy.update_config_proto(
        tf.ConfigProto(operation_timeout_in_ms=60000))
    server = tf.train.Server(CLUSTER["cluster"], job_name=TASK["type"],
                             task_index=TASK["index"], config=config)
    return strategy, lambda: tf.Session(server.target, config=config)


def loop():
    """Steps of a function of the program's own."""
    strategy, session = strategy_and_session()
    tf.set_random_seed(TASK["index"])  # the chief's value counts
    with strategy.scope():
        batches = strategy.make_dataset_iterator(
            tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(8))
        w = tf.get_variable("w", initializer=(
            tf.constant(KERNEL[:, :1]) + 8. * TASK["index"]))
        table = tf.get_variable("table", [6, 1],
                                initializer=tf.ones_initializer())
        seen = tf.get_variable(
            "seen", [], trainable=False, initializer=tf.zeros_initializer(),
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM)
        optimizer = tf.train.MomentumOptimizer(.05, .9)

        def step(batch):
            x, y = batch
            rows = tf.cast(x[:, 0] * 6., tf.int32)
            error = tf.matmul(x, w) + tf.nn.embedding_lookup(table, rows) - y
            loss = tf.reduce_mean(tf.square(error))
            train = optimizer.minimize(loss / WORKERS)
            count = seen.assign_add(tf.cast(tf.shape(x)[0], tf.float32))
            with tf.control_dependencies([train, count]):
                return tf.identity(loss)
        losses = strategy.experimental_run_v2(step, (batches.get_next(),))
        mean = strategy.reduce(tf.distribute.ReduceOp.MEAN, losses)
        total = seen.read_value()
        initialize = tf.global_variables_initializer()
        saver = tf.train.Saver()
    with session() as s:
        s.run([batches.initialize(), initialize])
        means = [s.run(mean) for _ in range(5)]
        counted = s.run(total)
        # All save, for a sum over the workers is saved.
        path = saver.save(s, os.path.join(FOLDER, "%s%d" % (
            TASK["type"], TASK["index"]), "model"))
        saver.restore(s, path)
        say_result(means, counted, *s.run([w, table, total]))
        s.run(mean)


def keras(epochs=3, callbacks=(), size=8, shuffle=False):
    """A model and its fit."""
    strategy, session = strategy_and_session() if not CLUSTER else (
        tf.distribute.experimental.MultiWorkerMirroredStrategy(), None)
    if session:
        tf.keras.backend.set_session(session())
    with strategy.scope():
        model = tf.keras.Sequential([
            tf.keras.layers.Dense(3, "tanh", input_shape=(4,)),
            tf.keras.layers.Dense(1)])
        model.compile(tf.keras.optimizers.Adam(.05), "mse", metrics=["mae"])
    model.set_weights([KERNEL, np.zeros(3), KERNEL[:3, :1], np.zeros(1)])
    if KIND == "datasets":
        data = {"x": tf.data.Dataset.from_tensor_slices((X, Y)).batch(size)}
        checked = tf.data.Dataset.from_tensor_slices((X, Y)).batch(16)
    else:
        data, checked = {"x": X, "y": Y, "batch_size": size}, (X, Y)
    history = model.fit(epochs=epochs, shuffle=shuffle, verbose=0,
                        callbacks=list(callbacks), validation_data=checked,
                        **data)
    return model, history


def arrays():
    model, history = keras()
    losses = sum(history.history.values(), [])
    say_result(losses + model.evaluate(X, Y, batch_size=16, verbose=0),
               *model.get_weights(), model.predict(X[:3]))


datasets = arrays


def shuffled():
    """One epoch of one batch: any order has the same examples."""
    model, _ = keras(epochs=2, size=48, shuffle=True)
    say_result([], *model.get_weights())


def uneven():
    """Batches that the workers do not divide, the last of one example."""
    model, history = keras(size=47)
    say_result(history.history["loss"], *model.get_weights())


def monitored():
    """Monitored sessions of a function that the coordinator runs. A worker that
    is started again goes on from the last checkpoint, as the others do."""
    import headrace.compat
    headrace.compat.install()
    from tensorflow.python.distribute import distribute_coordinator

    def work(strategy):
        with strategy.scope():
            step = tf.train.get_or_create_global_step()
            w = tf.get_variable("w", initializer=tf.constant(KERNEL[:, :1]))

            def train():
                number = TASK["index"] if CLUSTER else tf.get_static_value(
                    tf.distribute.get_replica_context()
                    .replica_id_in_sync_group)
                at = (8 * step + 4 * number + tf.range(4, dtype=tf.int64)) % 48
                error = tf.matmul(tf.gather(X, at), w) - tf.gather(Y, at)
                return tf.train.MomentumOptimizer(.05, .9).minimize(
                    tf.reduce_mean(tf.square(error)) / WORKERS, step)
            update = strategy.group(strategy.experimental_run_v2(train))
        with tf.train.MonitoredTrainingSession(
                checkpoint_dir=os.path.join(FOLDER, "model"),
                save_checkpoint_steps=5, save_checkpoint_secs=None,
                hooks=[tf.train.StopAtStepHook(last_step=30)],
                log_step_count_steps=None) as session:
            while not session.should_stop():
                session.run(update)
                say("step", "done")
                time.sleep(.02)
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy() if (
        CLUSTER) else tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    distribute_coordinator.run_distribute_coordinator(
        work, strategy, mode="independent_worker",
        session_config=tf.ConfigProto(device_count={"CPU": 2},
                                      operation_timeout_in_ms=60000))
    say_result([])


class Said(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        say("epoch", epoch)


class Noted(tf.keras.callbacks.Callback):
    _chief_worker_only = True

    def on_train_begin(self, logs=None):
        say("chief", "runs")


def killed():
    """Trains from the last backup. Worker 1 waits for ever after the epoch that
    the file FOLDER/until says."""
    path = os.path.join(FOLDER, "until")
    until = int(open(path).read()) if os.path.exists(path) else 99

    class Wait(tf.keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch > until and TASK["index"] == 1:
                say("waits", "now")
                time.sleep(600)
    try:
        model, _ = keras(5, [
            tf.keras.callbacks.ModelCheckpoint(
                os.path.join(FOLDER, "weights"), save_weights_only=True),
            Noted(), Said(), Wait()])
    except tf.errors.UnavailableError as e:
        say("lost", e.message.replace("\n", " "))
    else:
        say_result([], *model.get_weights())


def estimator():
    """tf.estimator.train_and_evaluate, as tests/programs use it."""
    import headrace.compat
    headrace.compat.install()
    import tensorflow as tf1
    strategy = getattr(tf1.distribute.experimental, STRATEGY[0])()

    def train_input(input_context=None):
        data = tf1.data.Dataset.from_tensor_slices((X, Y))
        if input_context is not None:
            data = data.shard(input_context.num_input_pipelines,
                              input_context.input_pipeline_id)
        return data.repeat().batch(4)

    def model_fn(features, labels, mode):
        w = tf1.get_variable("w", initializer=tf1.constant(KERNEL[:, :1]))
        loss = tf1.losses.mean_squared_error(labels, tf1.matmul(features, w))
        train = tf1.train.GradientDescentOptimizer(.05).minimize(
            loss, tf1.train.get_or_create_global_step())
        return tf1.estimator.EstimatorSpec(mode, loss=loss, train_op=train)
    model = tf1.estimator.Estimator(model_fn, config=tf1.estimator.RunConfig(
        train_distribute=strategy, save_checkpoints_steps=10,
        model_dir=os.path.join(FOLDER, "model"), log_step_count_steps=None))
    tf1.estimator.train_and_evaluate(
        model, tf1.estimator.TrainSpec(train_input, max_steps=20),
        tf1.estimator.EvalSpec(lambda: tf1.data.Dataset.from_tensor_slices(
            (X, Y)).batch(48), steps=None, start_delay_secs=0,
                               throttle_secs=1))
    say_result([])


def serve():
    """A task that trains nothing."""
    tf.contrib.distribute.run_standard_tensorflow_server().join()


def parameter_servers():
    """Two workers train as they like, each with a monitored session."""
    strategy = tf.distribute.experimental.ParameterServerStrategy()
    config = strategy.update_config_proto(
        tf.ConfigProto(operation_timeout_in_ms=60000))
    is_chief = strategy.extended.should_checkpoint
    server = tf.train.Server(CLUSTER["cluster"], job_name=TASK["type"],
                             task_index=TASK["index"])
    with strategy.scope():
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", initializer=tf.constant(KERNEL[:, :1]))
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
        batches = strategy.make_input_fn_iterator(
            lambda context: tf.data.Dataset.from_tensor_slices((X, Y)).shard(
                context.num_input_pipelines,
                context.input_pipeline_id).repeat().batch(8))

        def train(batch):
            x, y = batch
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
            return tf.train.GradientDescentOptimizer(.05).minimize(loss, step)
        update = strategy.group(strategy.experimental_run_v2(
            train, (batches.get_next(),)))
    say("devices", json.dumps([v.device for v in (step, w, b)] + [
        update.device]))
    tf.add_to_collection(tf.GraphKeys.LOCAL_INIT_OP, tf.group(
        tf.local_variables_initializer(), batches.initialize()))
    with tf.train.MonitoredTrainingSession(
            server.target, is_chief, FOLDER, config=config,
            hooks=[tf.train.StopAtStepHook(last_step=60)],
            log_step_count_steps=None) as session:
        while not session.should_stop():
            session.run(update)
    say_result([])


globals()[KIND]()
