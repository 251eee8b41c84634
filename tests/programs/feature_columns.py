"""A wide and deep model of feature columns, fed from parsed examples, and the
input of a recurrent network of sequence columns."""
import os

import numpy as np
import tensorflow as tf

from data import own_folder

np.set_printoptions(precision=4, suppress=True)
fc = tf.feature_column
people = [(39, "Bachelors", [b"clerk"], 0), (50, "Bachelors", [b"manager"], 0),
          (38, "HS-grad", [b"cleaner", b"clerk"], 0), (53, "11th", [], 0),
          (28, "Masters", [b"professor"], 1), (37, "Masters", [b"manager"], 1),
          (49, "9th", [b"service"], 0), (52, "HS-grad", [b"manager"], 1)]


def example(age, education, occupation, label):
    def feature(**lists):
        return tf.train.Feature(**lists)
    return tf.train.Example(features=tf.train.Features(feature={
        "age": feature(float_list=tf.train.FloatList(value=[age])),
        "education": feature(
            bytes_list=tf.train.BytesList(value=[education.encode()])),
        "occupation": feature(
            bytes_list=tf.train.BytesList(value=occupation)),
        "hours": feature(int64_list=tf.train.Int64List(value=[age % 7])),
        "label": feature(int64_list=tf.train.Int64List(value=[label])),
    })).SerializeToString()


def rows(count, width=3):
    numbers = np.arange(count * width, dtype=np.float32)
    return tf.constant_initializer(
        ((numbers * 7 % 13 - 6) / 13).reshape(count, width))


vocabulary = os.path.join(own_folder(), "education.txt")
with open(vocabulary, "w") as f:
    f.write("HS-grad\nBachelors\nMasters\n")

age = fc.numeric_column("age", normalizer_fn=lambda x: (x - 40) / 10)
bucket = fc.bucketized_column(fc.numeric_column("age"), [30, 40, 50])
education = fc.categorical_column_with_vocabulary_file(
    "education", vocabulary, num_oov_buckets=2)
occupation = fc.categorical_column_with_hash_bucket("occupation", 20)
hours = fc.categorical_column_with_identity("hours", 5, default_value=0)
both = fc.crossed_column([bucket, "education"], 50)
all_three = fc.crossed_column([both, hours], 100, hash_key=3)
wide = [bucket, education, occupation, hours, both, all_three]
deep = [age, bucket, fc.indicator_column(education),
        fc.embedding_column(occupation, 3, initializer=rows(20)),
        fc.embedding_column(both, 3, combiner="sqrtn", initializer=rows(50),
                            max_norm=0.5)]

spec = fc.make_parse_example_spec(wide + deep)
for key in sorted(spec):
    print(key, spec[key])
spec["label"] = tf.FixedLenFeature([1], tf.int64)
features = tf.parse_example([example(*p) for p in people], spec)
labels = tf.to_float(features.pop("label"))

variables, outputs = {}, {}
x = fc.input_layer(features, deep, cols_to_output_tensors=outputs)
logits = fc.linear_model(features, wide, cols_to_vars=variables)
logits += tf.layers.dense(x, 1, kernel_initializer=rows(15, 1))
loss = tf.losses.sigmoid_cross_entropy(labels, logits)
train = tf.train.FtrlOptimizer(0.5).minimize(loss)

ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 0]], [2, 1, 0, 4], [4, 2])
numbers = tf.SparseTensor(ids.indices, [1.0, 2.0, 3.0, 4.0], ids.dense_shape)
weighted = fc.weighted_categorical_column(
    fc.categorical_column_with_identity("ids", 5), "numbers")
first, second = fc.shared_embedding_columns(
    [fc.categorical_column_with_identity("ids", 5),
     fc.categorical_column_with_identity("more", 5)], 3, initializer=rows(5))
sparse = fc.input_layer(
    {"ids": ids, "numbers": numbers, "more": tf.constant([3, 1, -1, 0])},
    [fc.indicator_column(weighted), first, second,
     fc.embedding_column(weighted, 3, combiner="sum", initializer=rows(5))])
sequence = tf.contrib.feature_column
steps, lengths = sequence.sequence_input_layer(
    {"ids": ids, "numbers": numbers},
    [sequence.sequence_numeric_column("numbers", default_value=-1.0),
     fc.embedding_column(
         sequence.sequence_categorical_column_with_identity("ids", 5), 3,
         initializer=rows(5))])

with tf.Session() as session:
    session.run([tf.global_variables_initializer(), tf.tables_initializer()])
    for column in sorted(outputs, key=lambda c: c.name):
        print(column.name, session.run(outputs[column]).sum(axis=1))
    for step in range(5):
        print("loss %.4f" % session.run([loss, train])[0])
    print("weights", {
        v.name: int(np.count_nonzero(session.run(v)))
        for column in wide for v in variables[column]}[
            "linear_model/age_bucketized_X_education/weights:0"])
    print("bias", session.run(variables["bias"][0]))
    print(session.run(sparse))
    print(session.run(steps))
    print(session.run(lengths))
print("\n".join(sorted(v.name for v in tf.trainable_variables())))
