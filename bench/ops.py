"""Measures single ops of Headrace beside TensorFlow and NumPy.

    ops.py [--threads N] [--only WORD,...] [--seconds 0.3] [--peer .venv-bench/bin/python]

Large tensors, as they are in memory-bound parts of a network. Each engine has a
process of its own and they run in turn, so that a noisy machine is noisy for
all; what counts is the minimum of many runs, and its ratio to the best peer.
Feeds are left out of the time: the operands are variables, and what is run is
the op (a target, no fetch). Prints a table in Markdown, worst ratio first.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
N = 4 << 20  # elements of a large tensor: 16 MB
SQUARE = 2048


def cases():
    """{name: (shapes of the float operands, builder, NumPy's equivalent or None)}.
    A builder gets the module and the operands."""
    import numpy as np
    flat, square, image = (N,), (SQUARE, SQUARE), (16, 64, 64, 64)
    rows = np.arange(0, SQUARE, dtype=np.int32)[::-1].copy()
    return {
        "add": ([flat, flat], lambda tf, x, y: tf.add(x, y), np.add),
        "add row": ([square, (SQUARE,)], lambda tf, x, y: tf.add(x, y), np.add),
        "add column": ([square, (SQUARE, 1)], lambda tf, x, y: tf.add(x, y), np.add),
        "multiply scalar": ([flat], lambda tf, x: tf.multiply(x, 2.0), lambda x: x * np.float32(2)),
        "divide": ([flat, flat], lambda tf, x, y: tf.divide(x, y), np.divide),
        "maximum": ([flat, flat], lambda tf, x, y: tf.maximum(x, y), np.maximum),
        "greater": ([flat, flat], lambda tf, x, y: tf.greater(x, y), np.greater),
        "select": ([flat, flat], lambda tf, x, y: tf.where(tf.greater(x, y), x, y), None),
        "relu": ([flat], lambda tf, x: tf.nn.relu(x), None),
        "exp": ([flat], lambda tf, x: tf.exp(x), np.exp),
        "log": ([flat], lambda tf, x: tf.log(x), np.log),
        "sqrt": ([flat], lambda tf, x: tf.sqrt(x), np.sqrt),
        "rsqrt": ([flat], lambda tf, x: tf.rsqrt(x), None),
        "tanh": ([flat], lambda tf, x: tf.tanh(x), np.tanh),
        "sigmoid": ([flat], lambda tf, x: tf.sigmoid(x), None),
        "pow": ([flat, flat], lambda tf, x, y: tf.pow(x, y), np.power),
        "square": ([flat], lambda tf, x: tf.square(x), np.square),
        "sin": ([flat], lambda tf, x: tf.sin(x), np.sin),
        "cast to int32": ([flat], lambda tf, x: tf.cast(x, tf.int32), lambda x: x.astype(np.int32)),
        "cast to double": ([flat], lambda tf, x: tf.cast(x, tf.float64), lambda x: x.astype(np.float64)),
        "sum all": ([flat], lambda tf, x: tf.reduce_sum(x), np.sum),
        "sum rows": ([square], lambda tf, x: tf.reduce_sum(x, 1), lambda x: x.sum(1)),
        "sum columns": ([square], lambda tf, x: tf.reduce_sum(x, 0), lambda x: x.sum(0)),
        "max rows": ([square], lambda tf, x: tf.reduce_max(x, 1), lambda x: x.max(1)),
        "min columns": ([square], lambda tf, x: tf.reduce_min(x, 0), lambda x: x.min(0)),
        "mean of images": ([image], lambda tf, x: tf.reduce_mean(x, [1, 2]), lambda x: x.mean((1, 2))),
        "argmax rows": ([square], lambda tf, x: tf.argmax(x, 1), lambda x: x.argmax(1)),
        "transpose": ([square], lambda tf, x: tf.transpose(x), lambda x: np.ascontiguousarray(x.T)),
        "NHWC to NCHW": ([image], lambda tf, x: tf.transpose(x, [0, 3, 1, 2]),
                         lambda x: np.ascontiguousarray(x.transpose(0, 3, 1, 2))),
        "concat rows": ([square, square], lambda tf, x, y: tf.concat([x, y], 0), lambda x, y: np.concatenate([x, y], 0)),
        "concat columns": ([square, square], lambda tf, x, y: tf.concat([x, y], 1), lambda x, y: np.concatenate([x, y], 1)),
        "split columns": ([square], lambda tf, x: tf.split(x, 4, 1), None),
        "slice": ([square], lambda tf, x: tf.slice(x, [0, 512], [SQUARE, 1024]), None),
        "pad": ([image], lambda tf, x: tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]]), None),
        "tile": ([(SQUARE, 512)], lambda tf, x: tf.tile(x, [1, 4]), lambda x: np.tile(x, (1, 4))),
        "gather": ([square], lambda tf, x: tf.gather(x, rows), lambda x: x[rows]),
        "unsorted segment sum": ([square], lambda tf, x: tf.unsorted_segment_sum(x, rows % 64, 64), None),
        "softmax": ([square], lambda tf, x: tf.nn.softmax(x), None),
        "log softmax": ([square], lambda tf, x: tf.nn.log_softmax(x), None),
        "quantize": ([flat], lambda tf, x: tf.quantize_v2(x, 0.0, 2.0, tf.quint8)[0], None),
        "softmax of 10": ([(N // 10, 10)], lambda tf, x: tf.nn.softmax(x), None),
        "bias add": ([image, (64,)], lambda tf, x, b: tf.nn.bias_add(x, b), None),
        "batch norm": ([image, (64,), (64,), (64,), (64,)],
                       lambda tf, x, *p: tf.nn.fused_batch_norm(x, *p, is_training=False)[0], None),
        "batch norm training": ([image, (64,), (64,)],
                                lambda tf, x, *p: tf.nn.fused_batch_norm(x, *p, is_training=True)[0], None),
        "max pool": ([image], lambda tf, x: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), None),
        "average pool": ([image], lambda tf, x: tf.nn.avg_pool(x, [1, 3, 3, 1], [1, 1, 1, 1], "SAME"), None),
        "cumsum": ([square], lambda tf, x: tf.cumsum(x, 1), lambda x: np.cumsum(x, 1)),
        "top 5": ([square], lambda tf, x: tf.nn.top_k(x, 5)[0], None),
        "matmul 64x64 batches": ([(256, 64, 64), (256, 64, 64)], lambda tf, x, y: tf.matmul(x, y), np.matmul),
        "attention scores": ([(96, 128, 64), (96, 128, 64)],
                             lambda tf, x, y: tf.matmul(x, y, transpose_b=True), lambda x, y: x @ y.transpose(0, 2, 1)),
        "attention values": ([(96, 128, 128), (96, 128, 64)], lambda tf, x, y: tf.matmul(x, y), np.matmul),
        "matmul 1x4096x4096": ([(1, 4096), (4096, 4096)], lambda tf, x, y: tf.matmul(x, y), np.matmul),
        "matmul 8x4096x4096": ([(8, 4096), (4096, 4096)], lambda tf, x, y: tf.matmul(x, y), np.matmul),
        "matmul 20x1300x2600": ([(20, 1300), (1300, 2600)], lambda tf, x, y: tf.matmul(x, y), np.matmul),
        "triangular solve": ([(64, 64, 64), (64, 64, 8)], lambda tf, x, y: tf.linalg.triangular_solve(x, y), None),
        "matmul 1024": ([(1024, 1024), (1024, 1024)], lambda tf, x, y: tf.matmul(x, y), np.matmul),
    }


def operands(shapes):
    import numpy as np
    random = np.random.RandomState(1)
    return [random.uniform(0.1, 2, shape).astype(np.float32) for shape in shapes]


def worker(engine, threads):
    """Reads lines "CASE SECONDS", answers with the least milliseconds of a run."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    if engine == "headrace":
        import headrace as tf
    elif engine == "tensorflow":
        import tensorflow.compat.v1 as tf
        tf.disable_eager_execution()
    table = cases()
    made = {}

    def make(name):
        shapes, build, plain = table[name]
        values = operands(shapes)
        if engine == "numpy":
            return (lambda: plain(*values)) if plain else None
        graph = tf.Graph()
        with graph.as_default():
            variables = [tf.Variable(v) for v in values]
            result = build(tf, *[v.read_value() for v in variables])
            target = tf.group(result)
            init = tf.global_variables_initializer()
        config = tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=1)
        if engine == "tensorflow":  # it would drop an op whose result nobody reads
            config.graph_options.rewrite_options.disable_meta_optimizer = True
        session = tf.Session(graph=graph, config=config)
        session.run(init)
        return session.make_callable(target)

    print("ready", flush=True)
    for line in sys.stdin:
        name, seconds = line.rstrip("\n").rsplit("\t", 1)
        if name not in made:
            made.clear()
            made[name] = make(name)
        run = made[name]
        if run is None:
            print("nan", flush=True)
            continue
        best, until = float("inf"), time.perf_counter() + float(seconds)
        while time.perf_counter() < until:
            begin = time.perf_counter()
            run()
            best = min(best, time.perf_counter() - begin)
        print(best * 1e3, flush=True)


class Worker:
    def __init__(self, python, engine, threads):
        env = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
        self.process = subprocess.Popen([str(python), __file__, "--worker", engine, "--threads", str(threads)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True, env=env)
        if self.process.stdout.readline().strip() != "ready":
            raise RuntimeError(f"{engine} does not start with {python}")

    def run(self, name, seconds):
        self.process.stdin.write(f"{name}\t{seconds}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return float(line) if line else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=0.3, help="for one op on one engine")
    parser.add_argument("--peer", default=str(ROOT / ".venv-bench" / "bin" / "python"))
    parser.add_argument("--worker")
    args = parser.parse_args()
    if args.worker:
        return worker(args.worker, args.threads)
    ours = Worker(ROOT / ".venv" / "bin" / "python", "headrace", args.threads)
    peers = {e: Worker(args.peer, e, args.threads) for e in ("tensorflow", "numpy")}
    rows = []
    words = [w for w in args.only.split(",") if w]
    for name in cases():
        if words and not any(w in name for w in words):
            continue
        times = {}
        for _ in range(3):  # in turn
            for engine, w in {"headrace": ours, **peers}.items():
                times[engine] = min(w.run(name, args.seconds / 3), times.get(engine, float("inf")))
        best = min(t for e, t in times.items() if e != "headrace" and t == t)
        rows.append((times["headrace"] / best, name, times))
    print(f"{args.threads} threads, ms\n\n| op | Headrace | TensorFlow | NumPy | ratio |\n|---|---|---|---|---|")
    for ratio, name, t in sorted(rows, reverse=True):
        print(f"| {name} | {t['headrace']:.3f} | {t['tensorflow']:.3f} | {t['numpy']:.3f} | {ratio:.2f} |")
    return None


if __name__ == "__main__":
    main()
