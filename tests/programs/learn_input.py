"""tf.contrib.learn: batches of features from files, monitors, graphs that are
trained and run without an estimator, and models of functions."""
import os
import tempfile

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
learn = tf.contrib.learn
monitors = learn.monitors

# Features of files.
folder = tempfile.mkdtemp()
for j in range(2):
    with tf.python_io.TFRecordWriter(os.path.join(folder, "f%d" % j)) as writer:
        for i in range(5):
            example = tf.train.Example()
            feature = example.features.feature
            feature["x"].float_list.value.append(i + 10 * j)
            feature["s"].bytes_list.value.extend([b"a"] * i)
            writer.write(example.SerializeToString())
with tf.Graph().as_default() as graph:
    features = learn.read_batch_features(
        os.path.join(folder, "f*"), 4,
        {"x": tf.FixedLenFeature([1], tf.float32),
         "s": tf.VarLenFeature(tf.string)}, tf.TFRecordReader,
        randomize_input=False, num_epochs=1)
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            batch = session.run(features)
            print(*["%d" % x for x in batch["x"].ravel()],
                  len(batch["s"].values))
    for op in graph.get_operations():
        print(op.name, op.type)
for options in (dict(file_pattern=folder + "/none"), dict(file_pattern=[]),
                dict(batch_size=0), dict(num_epochs=0), dict(num_threads=0)):
    try:
        learn.read_batch_examples(**dict(
            dict(file_pattern=folder + "/f*", batch_size=1,
                 reader=tf.TFRecordReader), **options))
    except ValueError as error:
        print(str(error).replace(folder, ""))

# Graphs without an estimator.
with tf.Graph().as_default():
    v, x = tf.Variable(2.), tf.placeholder(tf.float32)
    print(*["%.1f" % r["y"] for r in learn.run_n({"y": v * x}, {x: 3.}, n=2)],
          *["%.1f" % r["y"] for r in learn.run_feeds(
              {"y": v * x}, [{x: 1.}, {x: 2.}])])
output = tempfile.mkdtemp()
with tf.Graph().as_default() as graph:
    step = tf.train.create_global_step()
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    loss = tf.square(v - 3.)
    train_op = tf.train.GradientDescentOptimizer(.1).minimize(loss, step)
    print("loss %.5f" % learn.train(graph, output, train_op, loss, steps=10))
with tf.Graph().as_default() as graph:
    tf.train.create_global_step()
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    results, at = learn.evaluate(graph, output, output, {"v": v}, max_steps=1)
    print("v %.5f at %d" % (results["v"], at))

# Models of functions.
with tf.Graph().as_default(), tf.Session() as session:
    tf.set_random_seed(1)
    x = tf.constant(np.arange(6.).reshape(3, 2), tf.float32)
    made = learn.models.linear_regression(x, tf.constant([1., 2., 3.]))
    made += learn.models.logistic_regression(
        x, tf.one_hot([0, 1, 1], 2), init_mean=0.)
    session.run(tf.global_variables_initializer())
    for value in session.run(made):
        print(*["%.4f" % n for n in np.ravel(value)])


# Monitors.
def input_fn():
    return ({"x": tf.constant([[1.], [2.]])}, tf.constant([[2.], [4.]]))


captured = monitors.CaptureVariable("linear/x/weight:0", every_n=2, first_n=1)
estimator = learn.LinearRegressor([tf.contrib.layers.real_valued_column("x")])
estimator.fit(input_fn=input_fn, steps=10, monitors=[
    captured, monitors.StopAtStep(6), monitors.PrintTensor(["global_step"]),
    monitors.LoggingTrainable(every_n=3), monitors.StepCounter(2)])
for at, value in sorted(captured.values.items()):
    print("weight at %d: %.5f" % (at, value[0][0]))
print("stopped at %d" % estimator.get_variable_value("global_step"))


# The metrics of two classes.
def model_fn(features, labels, mode):
    return tf.sigmoid(features), tf.reduce_mean(features), tf.assign_add(
        tf.train.get_global_step(), 1)


def two_classes():
    return tf.constant([[1.], [-2.], [.5]]), tf.constant([[1.], [0.], [0.]])


logistic = learn.LogisticRegressor(model_fn)
logistic.fit(input_fn=two_classes, steps=2)
results = logistic.evaluate(input_fn=two_classes, steps=1)
for key in sorted(results):
    print("%s: %.4f" % (key, results[key]))
