"""One engine with one network loaded; runs it when told to.

    worker.py ENGINE MODEL BATCH THREADS [RESULTS.npz]

ENGINE is headrace, headrace:bfloat16, tensorflow, onnxruntime, openvino (with the
precision that it chooses) or openvino:f32. THREADS 0 leaves every option as it is. MODEL.json (of
nets.py and zoo.py) says what is fed and fetched.

Prints a JSON line when the first result is there: {"load_s": seconds from the import
of the engine on, NumPy being there; "precision": of an engine that chooses one}; the
results are in RESULTS.npz. Then, for each line "RUNS CLIENTS" of stdin: that many runs, one after
another, in each of that many threads; {"ms": the time of each run, "wall_s": of them all}. At the
end of stdin the peak memory in MB.
"""
import json
import os
import pathlib
import resource
import sys
import threading
import time

import numpy as np

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"


# An engine gives a function that makes a client: a function from {name: array} to a list of arrays.

def headrace(model, spec, threads, batch, precision=None):
    import headrace as tf
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(pathlib.Path(model), name="")
    config = tf.ConfigProto() if threads or precision else None
    if threads:
        config.intra_op_parallelism_threads = threads
    if precision:
        config.headrace.precision = spec["precision"] = precision
    session = tf.Session(graph=graph, config=config)
    return lambda: lambda feeds: session.run(spec["fetches"], feeds)


def tensorflow(model, spec, threads, batch):
    import tensorflow.compat.v1 as tf
    tf.disable_eager_execution()
    graph_def = tf.GraphDef()
    graph_def.ParseFromString(open(model, "rb").read())
    tf.import_graph_def(graph_def, name="")
    config = tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=threads) if threads else None
    session = tf.Session(config=config)
    return lambda: lambda feeds: session.run(spec["fetches"], feeds)


def onnxruntime(model, spec, threads, batch):
    import onnxruntime as ort
    options = ort.SessionOptions()
    if threads:
        options.intra_op_num_threads = threads
    session = ort.InferenceSession(model.replace(".pb", ".onnx"), options, providers=["CPUExecutionProvider"])
    return lambda: lambda feeds: session.run(None, {name.split(":")[0]: x for name, x in feeds.items()})


def openvino(model, spec, threads, batch, precision=None):
    import openvino as ov
    core = ov.Core()
    onnx = model.replace(".pb", ".onnx")
    network = core.read_model(onnx if spec["onnx"] else model)
    shapes = {f["name"].split(":")[0]: with_batch(f["shape"], batch) for f in spec["feeds"]}
    network.reshape({x: shapes[next(iter(x.names)).split(":")[0]] for x in network.inputs})
    options = {"INFERENCE_PRECISION_HINT": precision} if precision else {}
    if threads:
        options["INFERENCE_NUM_THREADS"] = threads
    compiled = core.compile_model(network, "CPU", options)
    spec["precision"] = compiled.get_property("INFERENCE_PRECISION_HINT").to_string()
    places = {name.split(":")[0]: i for i, x in enumerate(compiled.inputs) for name in x.names}
    fetches = [next((y for y in compiled.outputs if name in y.names or name.split(":")[0] in y.names), None) for name in spec["fetches"]]

    def client():
        request = compiled.create_infer_request()

        def run(feeds):
            results = request.infer({places[name.split(":")[0]]: x for name, x in feeds.items()})
            return [results[y] for y in fetches]
        return run
    return client


def with_batch(shape, batch):
    return [batch if n is None else n for n in shape]


def noise(feed, batch, random):
    shape = with_batch(feed["shape"], batch)
    x = random.rand(*shape) if feed["below"] is None else random.randint(feed.get("start", 0), feed["below"], size=shape)
    return x.astype(feed["dtype"])


def serve(client, feeds, runs, clients):
    times = [[] for _ in range(clients)]

    def work(run, times):
        for _ in range(runs):
            begin = time.perf_counter()
            run(feeds)
            times.append((time.perf_counter() - begin) * 1e3)

    if clients == 1:
        begin = time.perf_counter()
        work(client(), times[0])
    else:
        threads = [threading.Thread(target=work, args=(client(), t)) for t in times]
        begin = time.perf_counter()
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    return {"ms": sum(times, []), "wall_s": time.perf_counter() - begin}


def main():
    (engine, _, precision), model = sys.argv[1].partition(":"), sys.argv[2]
    batch, threads = int(sys.argv[3]), int(sys.argv[4])
    spec = json.loads(pathlib.Path(model).with_suffix(".json").read_text())
    random = np.random.RandomState(0)
    feeds = {f["name"]: noise(f, batch, random) for f in spec["feeds"]}
    start = time.perf_counter()
    client = globals()[engine](model, spec, threads, batch, *([precision] if precision else []))
    first = client()(feeds)
    load_s = time.perf_counter() - start
    if len(sys.argv) > 5:
        np.savez(sys.argv[5], *first)
    print(json.dumps({"load_s": load_s, "precision": spec.get("precision")}), flush=True)
    for line in sys.stdin:
        print(json.dumps(serve(client, feeds, *map(int, line.split()))), flush=True)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, flush=True)


if __name__ == "__main__":
    main()
