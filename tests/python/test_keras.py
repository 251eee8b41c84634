"""tf.keras models train as in TensorFlow 1.15.5, and their weights go to files
and back."""
import json
import os

import numpy as np
import pytest

import headrace as tf
import keras_programs

keras = tf.keras
layers = keras.layers
X, ONE_HOT = keras_programs.X, keras_programs.ONE_HOT
with open(os.path.join(os.path.dirname(__file__), "keras_values.json")) as _f:
    VALUES = json.load(_f)


@pytest.fixture(autouse=True)
def clear():
    keras.backend.clear_session()
    yield
    keras.backend.clear_session()


def check(got, wanted, where):
    if isinstance(wanted, dict):
        assert set(got) == set(wanted), where
        for key in wanted:
            check(got[key], wanted[key], where + "/" + key)
    elif isinstance(wanted, str):
        assert got == wanted, where
    elif isinstance(wanted, list) and any(
            isinstance(w, (str, dict)) for w in wanted):
        assert len(got) == len(wanted), where
        for a, b in zip(got, wanted):
            check(a, b, where)
    else:
        np.testing.assert_allclose(got, wanted, rtol=2e-3, atol=1e-4,
                                   err_msg=where)


@pytest.mark.parametrize("name", sorted(keras_programs.PROGRAMS))
def test_programs(name):
    check(keras_programs.run(tf, keras_programs.PROGRAMS[name]), VALUES[name],
          name)


def model_of(units=3, **options):
    model = keras.Sequential([layers.Dense(units, input_shape=(6,))])
    model.compile("sgd", "mse", **options)
    return model


def test_weights_go_to_files_and_back(tmp_path):
    def make():
        x = layers.Input((5, 3))
        h = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(x)
        h = layers.RNN([layers.GRUCell(2), layers.LSTMCell(2)])(h)
        return keras.Model(x, layers.Dense(1)(layers.BatchNormalization()(h)))
    path = str(tmp_path / "folder" / "weights")
    model = keras_programs.start(make())
    out = model.predict(keras_programs.STEPS)
    model.save_weights(path)
    names = {name for name, _ in tf.train.list_variables(path)}
    for name in ("layer_with_weights-0/forward_layer/cell/kernel",
                 "layer_with_weights-1/cell/cells/1/bias",
                 "layer_with_weights-2/moving_mean",
                 "layer_with_weights-3/kernel"):
        assert name + "/.ATTRIBUTES/VARIABLE_VALUE" in names
    graph = tf.headrace.messages.TrackableObjectGraph.FromString(
        tf.train.load_variable(path, "_CHECKPOINTABLE_OBJECT_GRAPH"))
    keys = {a.checkpoint_key for n in graph.nodes for a in n.attributes}
    assert keys == names - {"_CHECKPOINTABLE_OBJECT_GRAPH"}
    other = make()
    assert not np.allclose(other.predict(keras_programs.STEPS), out)
    other.load_weights(path)
    np.testing.assert_allclose(other.predict(keras_programs.STEPS), out,
                               rtol=1e-5)
    assert tf.train.latest_checkpoint(str(tmp_path / "folder")) == path
    with pytest.raises(ValueError, match="no tensor layer_with_weights-1"):
        keras.Sequential([layers.Dense(1, input_shape=(2,)),
                          layers.Dense(9)]).load_weights(_one(tmp_path))


def _one(tmp_path):
    keras.Sequential([layers.Dense(1, input_shape=(2,))]).save_weights(
        str(tmp_path / "one"))
    return str(tmp_path / "one")


def test_a_model_with_layers_as_attributes(tmp_path):
    class Mine(keras.Model):
        def __init__(self):
            super().__init__()
            self.first = layers.Dense(4, activation="tanh")
            self.second = layers.Dense(3)

        def call(self, x):
            return self.second(self.first(x))

    model = Mine()
    model.compile("adam", "mse")
    assert len(model.fit(X, ONE_HOT, epochs=2, verbose=0).history["loss"]) == 2
    assert model.predict(X).shape == (96, 3)
    model.save_weights(str(tmp_path / "w"))
    assert "second/bias/.ATTRIBUTES/VARIABLE_VALUE" in dict(
        tf.train.list_variables(str(tmp_path / "w")))


def test_what_is_printed(capsys):
    model = model_of(metrics=["mae"])
    model.fit(X, ONE_HOT, epochs=2, validation_split=.5)
    out = capsys.readouterr().out
    assert out.startswith("Train on 48 samples, validate on 48 samples\n"
                          "Epoch 1/2\n")
    assert "48/48 [==============================]" in out
    assert "val_mean_absolute_error: " in out
    model.fit(X, ONE_HOT, epochs=1, verbose=2)
    assert "96/96 - " in capsys.readouterr().out
    model.summary()
    assert "Total params: 21" in capsys.readouterr().out


def test_the_order_of_callbacks(tmp_path):
    seen = []

    class Mine(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            seen.append("begin")

        def on_epoch_end(self, epoch, logs=None):
            seen.append((epoch, sorted(logs)))

        def on_batch_end(self, batch, logs=None):
            seen.append(logs["size"])
            if batch == 1:
                self.model.stop_training = True

    log = str(tmp_path / "log.csv")
    history = model_of().fit(X, ONE_HOT, batch_size=40, epochs=3, verbose=0,
                             callbacks=[Mine(), keras.callbacks.CSVLogger(log)])
    assert seen == ["begin", 40, 40, (0, ["loss"])]
    assert history.epoch == [0]
    assert open(log).read().startswith("epoch,loss\n0,")
    path = str(tmp_path / "weights-{epoch}")
    model_of().fit(X, ONE_HOT, epochs=2, verbose=0, callbacks=[
        keras.callbacks.ModelCheckpoint(path, save_weights_only=True),
        keras.callbacks.TensorBoard(str(tmp_path / "board"))])
    assert os.path.exists(str(tmp_path / "weights-2.index"))
    events, = os.listdir(tmp_path / "board")
    tags = [v.tag for e in tf.train.summary_iterator(
        str(tmp_path / "board" / events)) for v in e.summary.value]
    assert tags == ["epoch_loss"] * 2


def test_tensor_board_writes_what_derived_classes_say(tmp_path):
    class Mine(keras.callbacks.TensorBoard):
        def on_epoch_end(self, epoch, logs=None):
            super().on_epoch_end(epoch, logs)
            self._log_metrics({"rate": .5, "size": 3}, "my_", epoch)
            self._write_custom_summaries(epoch, {"other": np.float32(1)})

    model_of().fit(X, ONE_HOT, epochs=2, verbose=0,
                   callbacks=[Mine(str(tmp_path))])
    events, = os.listdir(tmp_path)
    seen = [(event.step, value.tag) for event in tf.train.summary_iterator(
        str(tmp_path / events)) for value in event.summary.value]
    assert seen == [(step, tag) for step in range(2)
                    for tag in ("epoch_loss", "my_rate", "other")]


def test_metrics_by_themselves():
    mean = keras.metrics.Mean()
    x = tf.placeholder(tf.float32, [None])
    update, value = mean.update_state(x), mean.result()
    iou = keras.metrics.MeanIoU(2)
    done, share = iou.update_state([0, 0, 1, 1], [0, 1, 0, 1]), iou.result()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update, {x: [1, 2, 3]})
        session.run(update, {x: [6]})
        assert session.run(value) == 3
        mean.reset_states()
        assert session.run(value) == 0
        session.run(done)
        np.testing.assert_allclose(session.run(share), 1 / 3)


def test_optimizers_have_variables():
    optimizer = keras.optimizers.Adam(0.5, decay=0.1)
    model = keras.Sequential([layers.Dense(1, input_shape=(2,))])
    model.compile(optimizer, "mse")
    model.train_on_batch(np.ones((2, 2)), np.ones((2, 1)))
    assert keras.backend.get_value(optimizer.iterations) == 1
    assert keras.backend.get_value(optimizer.lr) == 0.5
    optimizer.lr = 0.25
    assert keras.backend.get_value(optimizer.learning_rate) == 0.25
    assert optimizer.get_config()["learning_rate"] == 0.25
    assert len(optimizer.get_weights()) == 5
    again = keras.optimizers.Adam.from_config(optimizer.get_config())
    assert again.get_config() == optimizer.get_config()


def test_optimizers_of_tf_train():
    model = keras.Sequential([layers.Dense(3, input_shape=(6,))])
    model.compile(tf.train.AdamOptimizer(.01), "mse")
    loss = model.fit(X, ONE_HOT, epochs=5, verbose=0).history["loss"]
    assert loss[-1] < loss[0]


def test_data_helpers():
    utils = keras.utils
    assert utils.to_categorical([0, 2]).tolist() == [[1, 0, 0], [0, 0, 1]]
    np.testing.assert_allclose(utils.normalize(np.array([[3., 4.]])),
                               [[.6, .8]])
    pad = keras.preprocessing.sequence.pad_sequences
    assert pad([[1], [2, 3, 4]], 2).tolist() == [[0, 1], [3, 4]]
    assert pad([[1], [2, 3, 4]], 2, padding="post", truncating="post",
               value=9).tolist() == [[1, 9], [2, 3]]
    with pytest.raises(ValueError, match="Truncating type"):
        pad([[1]], truncating="x")


class Batches(keras.utils.Sequence):
    def __len__(self):
        return 3

    def __getitem__(self, i):
        return X[i * 32:i * 32 + 32], ONE_HOT[i * 32:i * 32 + 32]


def test_a_sequence_of_batches():
    model = model_of()
    assert len(model.fit(Batches(), epochs=2, verbose=0).history["loss"]) == 2
    assert np.isfinite(model.evaluate(Batches(), verbose=0))


@pytest.mark.parametrize("error, message, call", [
    (RuntimeError, "must compile your model",
     lambda m: keras.Sequential([layers.Dense(1, input_shape=(6,))]).fit(X, X)),
    (ValueError, "expected dense to have shape|shape", lambda m: m.fit(X, X)),
    (ValueError, "same number of samples", lambda m: m.fit(X, ONE_HOT[:5])),
    (ValueError, "expected dense_input to have 2 dimensions",
     lambda m: m.predict(X[0, 0])),
    (ValueError, "Unknown loss function", lambda m: m.compile("sgd", "no")),
    (ValueError, "Unknown optimizer", lambda m: m.compile("no", "mse")),
    (ValueError, "Unknown metric", lambda m: m.compile("sgd", "mse", ["no"])),
    (ValueError, "run_eagerly",
     lambda m: m.compile("sgd", "mse", run_eagerly=True)),
    (ValueError, "number of steps must be given",
     lambda m: m.fit(iter([(X, ONE_HOT)]))),
    (ValueError, "needs to know its batch size", lambda m: layers.LSTM(
        2, stateful=True)(layers.Input((3, 2)))),
    (ValueError, "must contain all classes", lambda m: m.fit(
        X, ONE_HOT, class_weight={0: 1.})),
    (TypeError, "Unexpected keyword", lambda m: keras.optimizers.SGD(foo=1)),
    (TypeError, "no resource variable", lambda m: keras.optimizers.SGD()
     .minimize(tf.reduce_sum(tf.get_variable("v", [2])),
               tf.trainable_variables()[-1:]))])
def test_refusals(error, message, call):
    with pytest.raises(error, match=message):
        call(model_of())


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_session_initializes_variables_of_both_kinds(use_resource):
    given = tf.Variable([1., 2.], use_resource=use_resource)
    mine = tf.Variable([3.], use_resource=use_resource)
    with tf.Session() as session:
        session.run(given.assign([5., 6.]))
        keras.backend.get_session()
        assert session.run(given).tolist() == [5., 6.]
        assert session.run(mine).tolist() == [3.]


def test_output_shape_after_further_calls():
    layers = tf.keras.layers
    with tf.Graph().as_default():
        model = tf.keras.Sequential([layers.Dense(3, input_shape=(2,))])
        model(tf.ones([5, 2]))
        assert model.output_shape == (None, 3)
        dense = layers.Dense(3)
        for size in (2, 2):
            dense(tf.ones([size, 2]))
        assert dense.output_shape == (2, 3)
        dense(tf.ones([4, 2]))
        with pytest.raises(AttributeError, match="multiple inbound nodes"):
            dense.output_shape
