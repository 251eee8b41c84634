"""Models of tf.keras, each a function of the module tf that returns numbers.
keras_values.json has what TensorFlow 1.15.5 returns."""
import numpy as np

_RANDOM = np.random.RandomState(0)
X = _RANDOM.rand(96, 6).astype("float32")
YES = (X.sum(1) > 3).astype("int32")
CLASS = (X[:, 0] * 3).astype("int32")
ONE_HOT = np.eye(3, dtype="float32")[CLASS]
STEPS = _RANDOM.rand(8, 5, 3).astype("float32")
IMAGES = _RANDOM.rand(4, 6, 6, 3).astype("float32")
WORDS = _RANDOM.randint(0, 10, (6, 5))


def start(model):
    """Gives the weights values that all libraries agree on."""
    values = np.random.RandomState(3)
    model.set_weights([
        np.abs(values.randn(*w.shape)).astype("float32") * 0.3
        for w in model.get_weights()])
    return model


def dense(tf):
    layers = tf.keras.layers
    return tf.keras.Sequential([
        layers.Dense(8, activation="tanh", input_shape=(6,)),
        layers.Dense(3, activation="softmax")])


def flat(history):
    return {k: [float(v) for v in values]
            for k, values in history.history.items()}


def with_optimizer(make):
    def program(tf):
        model = dense(tf)
        optimizer = make(tf.keras.optimizers)
        model.compile(optimizer, "categorical_crossentropy",
                      metrics=["accuracy", "mae"])
        start(model)
        history = model.fit(X, ONE_HOT, batch_size=16, epochs=3, verbose=0,
                            validation_split=0.25)
        return dict(flat(history), end=model.evaluate(X, ONE_HOT, verbose=0),
                    out=model.predict(X[:3]))
    return program


def with_loss(loss, y=ONE_HOT):
    def program(tf):
        model = dense(tf)
        given = loss if isinstance(loss, str) else loss(tf.keras.losses)
        model.compile(tf.keras.optimizers.SGD(0.05), given, metrics=["acc"])
        start(model)
        history = model.fit(
            X, y, epochs=2, verbose=0, class_weight={0: 1., 1: 2., 2: .5},
            sample_weight=np.linspace(.5, 1.5, 96))
        return flat(history)
    return program


def two_outputs(tf):
    keras = tf.keras
    layers, metrics = keras.layers, keras.metrics
    a, b = layers.Input((6,), name="a"), layers.Input((6,), name="b")
    shared = layers.Dense(4, activation="tanh", name="d",
                          kernel_regularizer=keras.regularizers.l2(.01))
    h = layers.concatenate([shared(a), shared(b)])
    h = layers.BatchNormalization()(h)
    model = keras.Model([a, b], [
        layers.Dense(1, activation="sigmoid", name="o1")(h),
        layers.Dense(3, name="o2")(h)])
    model.compile(
        "adam", {"o1": "binary_crossentropy", "o2": "mse"},
        metrics={"o1": ["accuracy", metrics.AUC(name="auc"),
                        metrics.Precision(name="p"), metrics.Recall(name="r"),
                        metrics.AUC(curve="PR", name="pr")], "o2": "mae"},
        loss_weights={"o1": 1., "o2": .5})
    start(model)
    history = model.fit({"a": X, "b": X[::-1]}, [YES, ONE_HOT], epochs=2,
                        verbose=0, batch_size=20,
                        validation_data=([X, X], [YES, ONE_HOT]))
    return dict(flat(history), end=model.evaluate(
        [X, X], {"o1": YES, "o2": ONE_HOT}, verbose=0))


def layers_of(make, x, steps=3):
    """Outputs and the losses of a few steps of a Sequential."""
    def program(tf):
        model = tf.keras.Sequential(make(tf.keras.layers))
        start(model)
        out = model.predict(x)
        model.compile(tf.keras.optimizers.SGD(.1), "mse")
        losses = [model.train_on_batch(x, np.zeros_like(out))
                  for _ in range(steps)]
        return {"out": out, "losses": losses,
                "names": [w.name for w in model.weights]}
    return program


def stateful(tf):
    model = tf.keras.Sequential([tf.keras.layers.LSTM(
        3, stateful=True, batch_input_shape=(8, 5, 3))])
    start(model)
    first, second = (model.predict(STEPS, batch_size=8) for _ in range(2))
    model.reset_states()
    again = model.predict(STEPS, batch_size=8)
    return {"first": first, "second": second, "again": again}


def callbacks(tf):
    keras = tf.keras
    model = dense(tf)
    model.compile(keras.optimizers.SGD(0.2), "sparse_categorical_crossentropy",
                  metrics=["acc"])
    start(model)
    rates = keras.callbacks.LearningRateScheduler(lambda e: 0.2 / (e + 1))
    plateau = keras.callbacks.ReduceLROnPlateau("loss", .5, 1, min_delta=1.)
    first = model.fit(X, CLASS, epochs=3, verbose=0, callbacks=[rates])
    second = model.fit(X, CLASS, epochs=4, verbose=0, callbacks=[plateau])
    stop = keras.callbacks.EarlyStopping("loss", min_delta=1., patience=2)
    third = model.fit(X, CLASS, epochs=9, verbose=0, callbacks=[stop])
    return {"first": flat(first), "second": flat(second), "third": flat(third)}


def dataset(tf):
    model = dense(tf)
    model.compile(tf.keras.optimizers.SGD(0.1), "categorical_crossentropy")
    start(model)
    data = tf.data.Dataset.from_tensor_slices((X, ONE_HOT)).batch(24).repeat()
    history = model.fit(data, epochs=2, steps_per_epoch=4, verbose=0)

    def batches():
        while True:
            for i in range(0, 96, 32):
                yield X[i:i + 32], ONE_HOT[i:i + 32]
    more = model.fit_generator(batches(), steps_per_epoch=3, epochs=2,
                               verbose=0)
    return {"data": flat(history), "more": flat(more),
            "end": [model.evaluate(data, steps=4, verbose=0)]}


S = {"input_shape": (5, 3)}
I2 = {"input_shape": (6, 6, 3)}
PROGRAMS = {
    "sgd": with_optimizer(lambda o: "sgd"),
    "momentum": with_optimizer(lambda o: o.SGD(.1, .9, True, decay=.01)),
    "rmsprop": with_optimizer(lambda o: "rmsprop"),
    "centered": with_optimizer(
        lambda o: o.RMSprop(.01, momentum=.5, centered=True)),
    "centered0": with_optimizer(lambda o: o.RMSprop(.01, centered=True)),
    "adam": with_optimizer(lambda o: "adam"),
    "amsgrad": with_optimizer(lambda o: o.Adam(.01, amsgrad=True, clipnorm=.5)),
    "clipvalue": with_optimizer(lambda o: o.Adam(.01, clipvalue=.01)),
    "adagrad": with_optimizer(lambda o: "adagrad"),
    "adadelta": with_optimizer(lambda o: o.Adadelta(1.)),
    "adamax": with_optimizer(lambda o: o.Adamax(.01)),
    "nadam": with_optimizer(lambda o: o.Nadam(.01)),
    "ftrl": with_optimizer(lambda o: o.Ftrl(.1)),
    "huber": with_loss(lambda k: k.Huber(.3)),
    "smoothing": with_loss(lambda k: k.CategoricalCrossentropy(
        label_smoothing=.1)),
    "sparse": with_loss("sparse_categorical_crossentropy", CLASS),
    "two_outputs": two_outputs, "stateful": stateful, "callbacks": callbacks,
    "dataset": dataset,
    "lstm": layers_of(lambda k: [k.LSTM(4, **S), k.Dense(2)], STEPS),
    "gru": layers_of(lambda k: [
        k.GRU(4, return_sequences=True, **S), k.GRU(2, go_backwards=True)],
        STEPS),
    "simple_rnn": layers_of(lambda k: [k.SimpleRNN(4, **S)], STEPS),
    "bidirectional": layers_of(lambda k: [k.Bidirectional(
        k.LSTM(3, return_sequences=True), **S), k.Bidirectional(
            k.GRU(2), merge_mode="sum")], STEPS),
    "stacked": layers_of(lambda k: [k.RNN([k.LSTMCell(4), k.GRUCell(3)], **S)],
                         STEPS),
    "time_distributed": layers_of(
        lambda k: [k.TimeDistributed(k.Dense(2), **S)], STEPS),
    "pool1d": layers_of(lambda k: [
        k.Conv1D(4, 2, **S), k.UpSampling1D(2), k.Cropping1D((1, 2)),
        k.GlobalAveragePooling1D()], STEPS),
    "convolutional": layers_of(lambda k: [
        k.Conv2D(4, 3, padding="same", activation="relu", **I2),
        k.BatchNormalization(), k.MaxPooling2D(), k.Flatten(), k.Dropout(0.),
        k.Dense(2)], IMAGES),
    "upsampling": layers_of(lambda k: [
        k.Conv2D(2, 1, **I2), k.UpSampling2D(2), k.Cropping2D(((1, 0), (0, 2))),
        k.UpSampling2D((2, 3), interpolation="bilinear"), k.ELU(.5),
        k.ThresholdedReLU(.5)], IMAGES),
    "embedding": layers_of(lambda k: [
        k.Embedding(10, 4, input_length=5), k.LSTM(3), k.Dense(2)], WORDS),
}
for _loss in ("mse mae mape msle hinge squared_hinge categorical_hinge logcosh "
              "kld poisson cosine_proximity binary_crossentropy "
              "categorical_crossentropy").split():
    PROGRAMS["loss_" + _loss] = with_loss(_loss)


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return np.asarray(value, np.float64).round(6).tolist()


def run(tf, program):
    tf.keras.backend.clear_session()
    np.random.seed(1)
    return plain(program(tf))
