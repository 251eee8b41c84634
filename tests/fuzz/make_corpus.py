#!/usr/bin/env python3
"""Writes the seeds of tests/fuzz/corpus/: one small valid input of each kind.

What a fuzzer finds is added to the folders by hand, under a name that says
what it is. Needs NumPy, Pillow and the headrace package.
"""
import io
import pathlib
import struct
import tempfile

import headrace as tf
import numpy as np
from PIL import Image

CORPUS = pathlib.Path(__file__).parent / "corpus"


def put(target, name, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def graphs():
    with tf.Graph().as_default() as g:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.Variable(tf.ones([2, 3]), name="w")
        tf.nn.softmax(tf.matmul(x, w), name="y")
        put("graph_def", "matmul", g.as_graph_def().SerializeToString())
        put("graph_text", "matmul", str(g.as_graph_def()).encode())
    with tf.Graph().as_default() as g:
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
        tf.cond(tf.constant(True), lambda: tf.constant("a"),
                lambda: tf.constant("b"))
        put("graph_def", "loop", g.as_graph_def().SerializeToString())
    with tf.Graph().as_default() as g:
        @tf.headrace.Defun(tf.float32)
        def double(x):
            return x + x
        double(tf.constant([1., 2.]))
        put("graph_def", "function", g.as_graph_def().SerializeToString())
    put("graph_text", "escapes", b"""node { name: "c" op: "Const"
  attr { key: "dtype" value { type: DT_STRING } }
  attr { key: "value" value { tensor { dtype: DT_STRING
    tensor_shape { dim { size: 2 } } string_val: "\\001\\x41" } } } }
versions { producer: 134 }  # a comment
""")


def images():
    pixels = (np.arange(5 * 4 * 3) * 7 % 256).astype(np.uint8)
    for kind, mode, shape in (("PNG", "RGB", (5, 4, 3)), ("PNG", "L", (5, 12)),
                              ("PNG", "RGBA", (5, 3, 4)),
                              ("JPEG", "RGB", (5, 4, 3)),
                              ("JPEG", "L", (5, 12)), ("GIF", "L", (5, 12)),
                              ("BMP", "RGB", (5, 4, 3))):
        out = io.BytesIO()
        Image.fromarray(pixels.reshape(shape), mode).save(out, kind)
        put("image", "%s_%s" % (kind.lower(), mode.lower()), out.getvalue())


def arrays():
    for name, array in (("float", np.arange(6, dtype=np.float32)
                         .reshape(2, 3)), ("bool", np.array([True, False])),
                        ("scalar", np.array(1 + 2j)),
                        ("empty", np.zeros((0, 3), np.int64))):
        out = io.BytesIO()
        np.save(out, array)
        put("npy", name, out.getvalue())
        with tf.Graph().as_default():
            tensor = tf.constant(array)
            with tf.Session() as sess:
                put("tensor_proto", name,
                    sess.run(tf.raw_ops.SerializeTensor(tensor)))
    # float_val: one value for six elements.
    put("tensor_proto", "fill", b"\x08\x01\x12\x08\x12\x02\x08\x02\x12\x02"
        b"\x08\x03\x2a\x04\x00\x00\x80\x3f")


def sounds():
    with tf.Graph().as_default(), tf.Session() as sess:
        for channels in (1, 2):
            audio = np.linspace(-1, 1, 6).reshape(-1, channels)
            put("wav", "pcm_%d" % channels, sess.run(tf.raw_ops.EncodeWav(
                audio.astype(np.float32), 8000)))


def checkpoints():
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/c"
        with tf.Graph().as_default(), tf.Session() as sess:
            values = [tf.constant([[1., 2., 3.], [4., 5., 6.]]),
                      tf.constant(["a", "bc"])]
            sess.run(tf.raw_ops.SaveV2(path, ["m", "s"], ["", ""], values))
            sess.run(tf.raw_ops.Save(path + ".v1", ["m"], values[:1]))
        read = lambda name: pathlib.Path(folder, name).read_bytes()  # noqa
        index, data = read("c.index"), read("c.data-00000-of-00001")
        put("table", "bundle", index)
        put("table", "v1", read("c.v1"))
        for name, table in (("bundle", index), ("v1", read("c.v1"))):
            out = b""
            for key, value in entries(table):
                out += bytes([len(key)]) + key
                out += struct.pack(">H", len(value)) + value
            put("checkpoint", name, out + b"\0" + data)


def records():
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("", "ZLIB", "GZIP"):
            path = folder + "/r"
            with tf.python_io.TFRecordWriter(
                    path, tf.python_io.TFRecordOptions(kind)) as writer:
                for record in (b"one", b"", b"three" * 9):
                    writer.write(record)
            put("record", kind.lower() or "plain",
                pathlib.Path(path).read_bytes())


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def entries(table):
    """The (key, value) pairs of a table whose blocks are not compressed."""
    def block(offset, size):
        data = table[offset:offset + size]
        end = size - 4 - 4 * struct.unpack("<I", data[-4:])[0]
        at, key = 0, b""
        while at < end:
            shared, at = varint(data, at)
            more, at = varint(data, at)
            length, at = varint(data, at)
            key = key[:shared] + data[at:at + more]
            at += more + length
            yield key, data[at - length:at]

    footer = table[-48:]
    _, at = varint(footer, 0)
    _, at = varint(footer, at)
    offset, at = varint(footer, at)
    size, at = varint(footer, at)
    for _, handle in block(offset, size):
        begin, at = varint(handle, 0)
        yield from block(begin, varint(handle, at)[0])


def ops():
    random = np.random.RandomState(0)
    for i in range(40):
        put("op", "random_%02d" % i, random.bytes(60))


def control_flow():
    random = np.random.RandomState(1)
    for i in range(40):
        put("control_flow", "random_%02d" % i, random.bytes(60 + 8 * i))


def services():
    """Plans of calls: services.h reads them."""
    random = np.random.RandomState(1)
    for target in ("master_service", "worker_service"):
        for i in range(6):
            put(target, "random_%02d" % i, random.bytes(24 + 12 * i))


def libraries():
    """A segment for all of the file, a dynamic section, a name."""
    strings = b"\0libx.so.1\0"
    at, address = 64 + 2 * 56, 0x10000
    size = at + 3 * 16 + len(strings)
    head = struct.pack("<4s5B7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 0, 3,
                       62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, address, address, size, size,
                       4096)
    dynamic = struct.pack("<IIQQQQQQ", 2, 6, at, address + at, address + at,
                          48, 48, 8)
    entries = struct.pack("<QQQQQQ", 14, 1, 5, address + at + 48, 0, 0)
    put("elf_soname", "library", head + load + dynamic + entries + strings)


if __name__ == "__main__":
    graphs(), images(), arrays(), sounds(), checkpoints(), records(), ops()
    control_flow()
    services()
    libraries()
