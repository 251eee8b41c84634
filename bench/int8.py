"""Measures layers of bytes beside ONNX Runtime's: convolutions and products of uint8 by int8 whose sums are requantised to uint8.

    int8.py [--turns 5] [--peer .venv-bench/bin/python] [--own .venv/bin/python]

Each engine has a process of its own and its default options; they run in turns. A run feeds the input and fetches the result, which is compared: the engines round
sums of products that are the same. Prints a table in Markdown: shortest time of both, products a nanosecond, and their ratio; beside them Headrace's time in float32.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
# name: image's rows and channels, window, stride, filters; or rows, depth and columns of a product.
CONVS = {"1x1, 56x56, 64 to 256": (56, 64, 1, 1, 256), "1x1, 14x14, 1024 to 256": (14, 1024, 1, 1, 256), "1x1, 7x7, 512 to 2048": (7, 512, 1, 1, 2048),
         "3x3, 56x56, 64": (56, 64, 3, 1, 64), "3x3, 14x14, 256": (14, 256, 3, 1, 256), "3x3 / 2, 28x28, 128": (28, 128, 3, 2, 128), "7x7 / 2, 224x224, 3 to 64": (224, 3, 7, 2, 64)}
PRODUCTS = {"1 x 2048 x 1000": (1, 2048, 1000), "128 x 768 x 3072": (128, 768, 3072)}
IN, WEIGHTS, OUT = 4.0, 1.0, 400.0  # 255, 127 and 255 stand for these


def data(name):
    """Input, weights and the number of products."""
    random = np.random.RandomState(1)
    if name in CONVS:
        size, depth, window, stride, n = CONVS[name]
        shape, by, outputs = (1, size, size, depth), (window, window, depth, n), (-(-size // stride)) ** 2
    else:
        rows, depth, n = PRODUCTS[name]
        shape, by, outputs = (rows, depth), (depth, n), rows
    return random.randint(0, 256, shape).astype(np.uint8), random.randint(-127, 128, by).astype(np.int8), outputs * int(np.prod(by))


def headrace(name, is_float=False):
    import headrace as tf
    x, w, _ = data(name)
    graph = tf.Graph()
    with graph.as_default():
        feed = tf.placeholder(tf.float32 if is_float else tf.uint8, x.shape)
        strides = [1, CONVS[name][3], CONVS[name][3], 1] if name in CONVS else None
        if is_float:
            by = tf.constant(w.astype(np.float32))
            out = tf.nn.relu(tf.nn.conv2d(feed, by, strides, "SAME") if strides else tf.matmul(feed, by))
        else:
            inputs = [tf.bitcast(feed, tf.quint8), tf.bitcast(tf.constant(w), tf.qint8), tf.zeros([w.shape[-1]])]
            ranges = [tf.constant(v) for v in (0.0, IN, -WEIGHTS, WEIGHTS, 0.0, OUT)]
            make = tf.raw_ops.QuantizedConv2DWithBiasAndReluAndRequantize if strides else tf.raw_ops.QuantizedMatMulWithBiasAndReluAndRequantize
            names = ["input", "filter"] if strides else ["a", "b"]
            ends = ["min_input", "max_input", "min_filter", "max_filter"] if strides else ["min_a", "max_a", "min_b", "max_b"]
            attrs = {"strides": strides, "padding": "SAME", "out_type": tf.quint8} if strides else {"Toutput": tf.quint8}
            values = dict(zip([*names, "bias", *ends, "min_freezed_output", "max_freezed_output"], inputs + ranges))
            out = tf.bitcast(make(**values, **attrs)[0], tf.uint8)
    session = tf.Session(graph=graph)
    x = x.astype(np.float32) if is_float else x
    return lambda: session.run(out, {feed: x})


def onnxruntime(name):
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper
    x, w, _ = data(name)
    conv = name in CONVS
    if conv:
        x, w = np.ascontiguousarray(x.transpose(0, 3, 1, 2)), np.ascontiguousarray(w.transpose(3, 2, 0, 1))
    weights = [numpy_helper.from_array(np.asarray(v), k) for k, v in {
        "w": w, "x_scale": np.float32(IN / 255), "w_scale": np.float32(WEIGHTS / 127), "y_scale": np.float32(OUT / 255),
        "u": np.uint8(0), "s": np.int8(0)}.items()]
    inputs = ["x", "x_scale", "u", "w", "w_scale", "s", "y_scale", "u"]
    node = helper.make_node("QLinearConv", inputs, ["y"], auto_pad="SAME_UPPER", strides=[CONVS[name][3]] * 2) if conv else helper.make_node("QLinearMatMul", inputs, ["y"])
    graph = helper.make_graph([node], "layer", [helper.make_tensor_value_info("x", TensorProto.UINT8, x.shape)], [helper.make_tensor_value_info("y", TensorProto.UINT8, None)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])

    def run():
        y = session.run(None, {"x": x})[0]
        return y.transpose(0, 2, 3, 1) if conv else y
    return run


def work(engine):
    """For each line of stdin, a name and a number of runs: shortest time in ms, and a sum of the result."""
    make = {"headrace": headrace, "onnxruntime": onnxruntime, "float": lambda name: headrace(name, True)}[engine]
    runs = {}
    for line in sys.stdin:
        name, count = json.loads(line)
        if name not in runs:
            runs[name] = make(name)
        times = []
        for _ in range(count):
            start = time.perf_counter()
            y = runs[name]()
            times.append(time.perf_counter() - start)
        print(json.dumps([min(times) * 1e3, float(np.asarray(y, np.float64).sum()), int(np.asarray(y).size)]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--own", default=str(ROOT / ".venv/bin/python"))
    parser.add_argument("--peer", default=str(ROOT / ".venv-bench/bin/python"))
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return work(args.worker)
    workers = {e: subprocess.Popen([python, __file__, "--worker", e], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
               for e, python in (("headrace", args.own), ("onnxruntime", args.peer), ("float", args.own))}

    def ask(engine, name, count):
        workers[engine].stdin.write(json.dumps([name, count]) + "\n")
        workers[engine].stdin.flush()
        line = workers[engine].stdout.readline()
        if not line:
            sys.exit(f"int8.py: {engine} ended")
        return json.loads(line)

    print("| layer | Headrace, ms | ONNX Runtime, ms | ratio | products/ns | Headrace float32, ms |\n|---|---|---|---|---|---|")
    for name in [*CONVS, *PRODUCTS]:
        best = {}
        sums = {}
        for _ in range(args.turns):
            for engine in workers:
                ms, total, size = ask(engine, name, 30)
                best[engine] = min(best.get(engine, ms), ms)
                sums[engine] = total / size
        # Both round to nearest, from scales that differ in the last bits.
        if abs(sums["headrace"] - sums["onnxruntime"]) > 0.01:
            sys.exit(f"int8.py: results of {name} differ: {sums}")
        ours, peer = best["headrace"], best["onnxruntime"]
        print(f"| {name} | {ours:.3f} | {peer:.3f} | {ours / peer:.2f} | {data(name)[2] / ours / 1e6:.0f} | {best['float']:.3f} |", flush=True)


if __name__ == "__main__":
    main()
