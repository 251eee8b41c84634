"""Ops that want more memory than the process may have fail, each with its node's name; the process goes on."""
import json
import subprocess
import sys

import pytest

# Each is a graph whose run takes some hundred megabytes or more, of tensors or of what a kernel has beside them.
OPS = {
    "StringJoin": "tf.reduce_sum(tf.strings.length(twelve_joins(s)))",
    "RegexReplace": "tf.strings.regex_replace(tf.fill([4], text(20000000)), 'a', 'b' * 40)",
    "ReduceJoin": "tf.reduce_join(tf.fill([3000], text(1000000)))",
    "StringFormat": "tf.strings.format('{}' * 40, [text_tensor(20000000)] * 40)",
    "StringSplit": "tf.string_split([text(60000000)], '').values",
    "UnicodeDecode": "tf.raw_ops.UnicodeDecode(input=[text(60000000)], input_encoding='UTF-8').char_values",
    "UnicodeTranscode": "tf.strings.unicode_transcode([text(100000000)], 'UTF-8', 'UTF-32-BE')",
    "EncodeBase64": "tf.encode_base64(text_tensor(300000000))",
    "Unique": "tf.unique(numbers(20000000)).y",
    "ListDiff": "tf.setdiff1d(numbers(20000000), numbers(20000000) + 5).out",
    "SparseReorder": "tf.sparse_reorder(tf.SparseTensor(tf.random_shuffle(tf.stack([long(12000000)] * 2, 1)),"
                     " numbers(12000000), [12000000, 12000000])).values",
    "Table": "table_insert(10000000)",
    "NonMaxSuppression": "tf.image.non_max_suppression(tf.random_uniform([12000000, 4]),"
                         " tf.random_uniform([12000000]), 10)",
    "DecodeCompressed": "tf.decode_compressed(compressed(800000000), 'ZLIB')",
    "SerializeTensor": "tf.serialize_tensor(tf.zeros([80000000]))",
    "ParseTensor": "tf.parse_tensor(tf.serialize_tensor(tf.zeros([40000000])), tf.float32)",
    "Unstack": "tf.add_n(tf.unstack(tf.zeros([40, 3000000])))",
    "RandomShuffle": "tf.random_shuffle(numbers(80000000))",
    "FFT": "tf.fft(tf.complex(tf.zeros([40000003]), 0.))",
    "Svd": "tf.svd(tf.random_uniform([3000, 9000]), compute_uv=False)",
    "MatrixInverse": "tf.matrix_inverse(tf.random_uniform([9000, 9000]))",
    "TopK": "tf.nn.top_k(tf.random_uniform([40000000]), 20000000).values",
    "Where": "tf.where(tf.random_uniform([60000000]) > .1)",
    "Cumsum": "tf.cumsum(tf.zeros([120000000]))",
    "MapDataset": "tf.data.Dataset.range(8).map(lambda i: tf.zeros([100000000])).batch(8)"
                  ".make_one_shot_iterator().get_next()",
    "ShuffleDataset": "tf.data.Dataset.range(1000).map(lambda i: tf.zeros([1000000]) + tf.to_float(i)).shuffle(1000)"
                      ".make_one_shot_iterator().get_next()",
}

PROGRAM = """
import json, resource, sys, zlib
import numpy as np
import headrace as tf

def text(n): return tf.constant(b"a" * 1000, tf.string) if n == 1000 else tf.reduce_join(tf.fill([n // 1000], "a" * 1000))
text_tensor = text
def numbers(n): return tf.range(n)
def long(n): return tf.range(tf.constant(n, tf.int64))
s = tf.constant("0123456789")
def twelve_joins(x):
    for _ in range(12):
        x = tf.string_join([x] * 10)
    return x
def compressed(n): return tf.constant(zlib.compress(b"a" * n, 1))
def table_insert(n):
    table = tf.raw_ops.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.int64)
    keys = long(n)
    return tf.raw_ops.LookupTableInsertV2(table_handle=table, keys=keys, values=keys)

name, expression = sys.argv[1:]
with tf.Session() as session:
    session.run(tf.reduce_sum(tf.ones([1000000]) * tf.random_uniform([])))  # starts the threads
    wanted = eval(expression)
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (300 << 20),) * 2)
    code, message = "OK", ""
    try:
        session.run(wanted)
    except tf.errors.OpError as e:
        code, message = type(e).__name__, e.message
    assert session.run(tf.reduce_sum(tf.ones([1000]))) == 1000  # it goes on
print(json.dumps([code, message]))
"""


FAST = ("StringJoin", "Unique", "Table", "DecodeCompressed")


@pytest.mark.parametrize("op", [op if op in FAST else pytest.param(op, marks=pytest.mark.slow) for op in sorted(OPS)])
def test_op_that_finds_no_memory_fails_alone(op):
    done = subprocess.run([sys.executable, "-c", PROGRAM, op, OPS[op]], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=300)
    assert done.returncode == 0, f"{done.returncode} {done.stderr[-800:]}"
    code, message = json.loads(done.stdout.splitlines()[-1])
    assert code == "ResourceExhaustedError", (code, message)
    assert "node" in message and "bytes" in message, message
