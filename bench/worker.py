"""One engine with one network loaded; runs it when told to.

    worker.py ENGINE MODEL BATCH THREADS     engines: headrace tensorflow onnxruntime openvino

MODEL.json (of nets.py) says what is fed and fetched. Prints a JSON line when the
first result is there ({"load_s": seconds from the import of the engine on, NumPy being there; "prob": the first numbers of the result}), then one line with
the milliseconds of a run for each line read from stdin, and at the end of stdin the peak memory in MB.
"""
import json
import os
import pathlib
import resource
import sys
import time

import numpy as np

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def headrace(model, spec, threads, batch):
    import headrace as tf
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(pathlib.Path(model), name="")
    config = tf.ConfigProto()
    config.intra_op_parallelism_threads = threads
    session = tf.Session(graph=graph, config=config)
    return lambda x: session.run(spec["fetch"], {spec["feed"]: x})


def tensorflow(model, spec, threads, batch):
    import tensorflow.compat.v1 as tf
    tf.disable_eager_execution()
    graph_def = tf.GraphDef()
    graph_def.ParseFromString(open(model, "rb").read())
    tf.import_graph_def(graph_def, name="")
    session = tf.Session(config=tf.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=threads))
    return lambda x: session.run(spec["fetch"], {spec["feed"]: x})


def onnxruntime(model, spec, threads, batch):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    session = ort.InferenceSession(model.replace(".pb", ".onnx"), options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda x: session.run(None, {name: x})[0]


def openvino(model, spec, threads, batch):
    import openvino as ov
    core = ov.Core()
    onnx = model.replace(".pb", ".onnx")
    network = core.read_model(onnx if os.path.exists(onnx) else model)
    network.reshape([batch, *spec["shape"]])
    compiled = core.compile_model(network, "CPU", {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32",
                                                   "PERFORMANCE_HINT": "LATENCY"})
    request = compiled.create_infer_request()
    return lambda x: request.infer({0: x})[0]


def main():
    engine, model, batch, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    spec = json.load(open(model.replace(".pb", ".json")))
    random, shape = np.random.RandomState(0), [batch, *spec["shape"]]
    x = random.randint(spec["below"], size=shape) if spec["below"] else random.rand(*shape)
    x = x.astype(spec["dtype"])
    start = time.perf_counter()
    run = globals()[engine](model, spec, threads, batch)
    first = np.asarray(run(x))
    print(json.dumps({"load_s": time.perf_counter() - start, "prob": [float(v) for v in first[0, :8]]}), flush=True)
    for _ in sys.stdin:
        begin = time.perf_counter()
        run(x)
        print((time.perf_counter() - begin) * 1e3, flush=True)
    print(peak_mb(), flush=True)


if __name__ == "__main__":
    main()
