"""Queues, readers and coordinated threads."""
import os

import tensorflow as tf

from data import own_folder, show

folder = own_folder()
names = []
for i in range(2):
    name = os.path.join(folder, "part%d.csv" % i)
    with open(name, "w") as file:
        for j in range(5):
            file.write("%d,%.1f,%s\n" % (10 * i + j, j / 2.0, "ab"[j % 2]))
    names.append(name)
    with tf.python_io.TFRecordWriter(name + ".tfrecord") as writer:
        for j in range(3):
            example = tf.train.Example(features=tf.train.Features(feature={
                "id": tf.train.Feature(int64_list=tf.train.Int64List(
                    value=[10 * i + j])),
                "x": tf.train.Feature(float_list=tf.train.FloatList(
                    value=[j, j * 0.5]))}))
            writer.write(example.SerializeToString())

files = tf.train.string_input_producer(names, num_epochs=2, shuffle=False)
key, line = tf.TextLineReader().read(files)
number, value, letter = tf.decode_csv(line, [[0], [0.0], [""]])
numbers, values, letters = tf.train.batch([number, value, letter], 4,
                                          allow_smaller_final_batch=True)
records = tf.train.string_input_producer(
    [n + ".tfrecord" for n in names], num_epochs=1, shuffle=False)
_, record = tf.TFRecordReader().read(records)
parsed = tf.parse_single_example(record, {
    "id": tf.FixedLenFeature([], tf.int64),
    "x": tf.FixedLenFeature([2], tf.float32)})
ids, xs = tf.train.batch([parsed["id"], parsed["x"]], 2)

queue = tf.FIFOQueue(10, [tf.int32, tf.float32], shapes=[[], [2]])
enqueue = queue.enqueue_many([[1, 2, 3], [[1., 2.], [3., 4.], [5., 6.]]])
dequeue = queue.dequeue_many(2)

with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(),
              tf.local_variables_initializer()])
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    try:
        while not coord.should_stop():
            n, v, l = sess.run([numbers, values, letters])
            print(n.tolist(), v.tolist(), b"".join(l.tolist()).decode())
    except tf.errors.OutOfRangeError:
        print("the lines are read")
    for _ in range(3):
        show("records", *sess.run([ids, xs]))
    coord.request_stop()
    coord.join(threads)
    sess.run(enqueue)
    show("queue", *(sess.run(dequeue) + [sess.run(queue.size())]))
    sess.run(queue.close())
    try:
        sess.run(dequeue)
    except tf.errors.OutOfRangeError:
        print("the queue is closed")
