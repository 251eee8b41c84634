"""Where is tf.nn.conv2d actually executed?

Convolves a photo with 32 random 5x5 filters and then shows what the session
made of the graph: the nodes that the step needed, the device each was placed
on, the partition that ran there, and for each node its kernel, the algorithm
that the kernel chose, and the time it took.

    python conv2d.py [PHOTO]
"""
import pathlib
import sys

import numpy as np
from PIL import Image

import headrace as tf

DEFAULT_PHOTO = pathlib.Path(__file__).parent / "photos" / "cat.png"


def load(path):
    """A picture as float32 [1, height, width, 3], pixels 0..1."""
    pixels = np.asarray(Image.open(path).convert("RGB"), np.float32) / 255
    return pixels[np.newaxis]


def show(metadata):
    """Prints where and how the step ran."""
    for part in metadata.partition_graphs:
        device = part.node[0].device
        print(f"\npartition on {device}: {len(part.node)} nodes")
        for node in part.node:
            print(f"  {node.name:<28} {node.op:<12} <- {', '.join(node.input) or '-'}")
    print(f"\n{'us':>10}  {'node':<28} kernel [algorithm]")
    for device in metadata.step_stats.dev_stats:
        for node in device.node_stats:
            us = node.op_end_rel_nanos / 1e3
            print(f"{us:10.1f}  {node.node_name:<28} {node.timeline_label}")


def main():
    photo = load(sys.argv[1] if len(sys.argv) > 1 else DEFAULT_PHOTO)
    _, height, width, _ = photo.shape

    x = tf.placeholder(tf.float32, [None, height, width, 3], name="x")
    w = tf.Variable(tf.truncated_normal([5, 5, 3, 32], stddev=0.1), name="w")
    y = tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding='SAME')

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(y, feed_dict={x: photo})  # the first run compiles the step

        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE,
                                output_partition_graphs=True)
        metadata = tf.RunMetadata()
        result = sess.run(y, feed_dict={x: photo}, options=options, run_metadata=metadata)
        print(f"input  {photo.shape} {photo.dtype}")
        print(f"output {result.shape} {result.dtype}")
        nodes = len(tf.get_default_graph().get_operations())
        needed = sum(len(p.node) for p in metadata.partition_graphs)
        print(f"the graph has {nodes} nodes; this step, after pruning, has {needed}")
        show(metadata)


if __name__ == "__main__":
    main()
