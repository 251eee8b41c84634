"""tf.contrib.learn: networks on arrays, models of functions of one's own, texts
by VocabularyProcessor, monitors, metrics and an Experiment."""
import tempfile

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
layers, learn = tf.contrib.layers, tf.contrib.learn
config = learn.RunConfig(tf_random_seed=1)


def show(what, results):
    for key in sorted(results):
        print("%s %s: %.5f" % (what, key, results[key]))


# Flowers: arrays that are fed.
random = np.random.RandomState(0)
x = random.rand(150, 4).astype(np.float32)
y = (x[:, 0] * 3).astype(np.int64)
columns = learn.infer_real_valued_columns_from_input(x)
print(columns[0].name, columns[0].dimension)
classifier = learn.DNNClassifier([10, 20, 10], columns, n_classes=3,
                                 config=config)
classifier.fit(x=x, y=y, steps=100)
show("flowers", classifier.evaluate(x=x, y=y))
print(*["%d" % c for c in classifier.predict(x[:10])])
for row in list(classifier.predict_proba(x[:2])):
    print(*["%.4f" % p for p in row])

# Prices: numbers, with a bias of their own.
regressor = learn.DNNRegressor([5], columns, enable_centered_bias=True,
                               config=config)
regressor.fit(x, y.astype(np.float32), steps=50, batch_size=32)
show("prices", regressor.evaluate(x, y.astype(np.float32)))
scores = learn.SKCompat(regressor).predict(x[:3])["scores"]
print(*["%.4f" % s for s in scores])


# A function that makes a model, with parameters.
def model_fn(features, labels, mode, params):
    hidden = layers.stack(features, layers.fully_connected, [8, 4])
    logits = layers.fully_connected(hidden, 3, activation_fn=None)
    loss = train_op = None
    if mode != learn.ModeKeys.INFER:
        loss = tf.losses.softmax_cross_entropy(tf.one_hot(labels, 3), logits)
    if mode == learn.ModeKeys.TRAIN:
        train_op = layers.optimize_loss(
            loss, tf.train.get_global_step(), params["rate"], "SGD")
    return learn.ModelFnOps(
        mode, {"class": tf.argmax(logits, 1), "prob": tf.nn.softmax(logits)},
        loss, train_op)


own = learn.Estimator(model_fn, params={"rate": 0.1}, config=config)
print(own)
own.fit(input_fn=lambda: (tf.constant(x), tf.constant(y)), max_steps=30)
show("own", own.evaluate(
    input_fn=lambda: (tf.constant(x), tf.constant(y)), steps=1,
    metrics={"accuracy": learn.MetricSpec(
        tf.contrib.metrics.streaming_accuracy, prediction_key="class")}))
print(*["%d" % p["class"] for p in own.predict(x[:8])])

# Texts.
texts = ["a good film", "a bad film", "good good", "so bad so bad"] * 5
processor = learn.preprocessing.VocabularyProcessor(5)
words = np.array(list(processor.fit_transform(texts)))
tone = np.array([1, 0, 1, 0] * 5)


def bag_of_words(features, labels, mode):
    words = layers.embed_sequence(features, len(processor.vocabulary_), 6)
    head = learn.multi_class_head(2)
    return head.create_model_fn_ops(
        {"x": features}, mode, labels=labels,
        logits_input=tf.reduce_mean(words, 1),
        train_op_fn=lambda loss: layers.optimize_loss(
            loss, tf.train.get_global_step(), 0.05, "Adam"))


tones = learn.Estimator(bag_of_words, config=config)
tones.fit(words, tone, steps=30)
show("texts", tones.evaluate(words, tone))


# An Experiment, whose monitor stops early.
def experiment_fn(run_config, hparams):
    def input_fn():
        return {"x": tf.constant(x)}, tf.constant(y)
    return learn.Experiment(
        learn.LinearClassifier(
            [layers.real_valued_column("x", 4)], n_classes=3,
            config=run_config),
        train_input_fn=input_fn, eval_input_fn=input_fn, train_steps=20,
        eval_steps=1, min_eval_frequency=0)


results, exported = learn.learn_runner.run(
    experiment_fn, run_config=learn.RunConfig(
        tf_random_seed=1, model_dir=tempfile.mkdtemp()))
show("experiment", results)
print(exported)
