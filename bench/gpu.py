"""Measures networks on the GPU.

    gpu.py [--out FILE] [--batch N...] [NAME...]

names: of bench/nets.py, by default vgg16 resnet50 mobilenet_v1 inception_v3. For
each batch: the median time of a run with fed images and fetched results, images
a second, and how many nodes ran where. FILE gets the same as JSON, with the
device. Where PyTorch with CUDA and torchvision are installed the same networks
run there, eagerly, for comparison.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import headrace as tf

HERE = pathlib.Path(__file__).parent
PEERS = {"vgg16": "vgg16", "resnet50": "resnet50", "mobilenet_v2": "mobilenet_v2", "inception_v3": "inception_v3"}


def median_seconds(run, seconds=3.0, least=10):
    for _ in range(3):
        run()
    times, end = [], time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def headrace_row(folder, name, batch):
    about = json.loads((folder / f"{name}.json").read_text())
    graph_def = tf.GraphDef()
    graph_def.ParseFromString((folder / f"{name}.pb").read_bytes())
    rng = np.random.Generator(np.random.PCG64(1))
    with tf.Graph().as_default():
        with tf.device("/gpu:0"):
            tf.import_graph_def(graph_def, name="")
        feeds = {}
        for feed in about["feeds"]:
            shape = [batch if d is None else d for d in feed["shape"]]
            feeds[feed["name"]] = (rng.integers(0, feed["below"], shape).astype(np.int32) if feed["below"]
                                   else rng.standard_normal(shape).astype(feed["dtype"]))
        fetches = about["fetches"]
        config = tf.ConfigProto(allow_soft_placement=True)
        with tf.Session(config=config) as session:
            metadata = tf.RunMetadata()
            session.run(fetches, feeds, run_metadata=metadata,
                        options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE))
            where = {dev.device: len(dev.node_stats) for dev in metadata.step_stats.dev_stats}
            seconds = median_seconds(lambda: session.run(fetches, feeds))
    return {"network": name, "batch": batch, "runtime": "headrace", "ms": 1e3 * seconds, "per_second": batch / seconds,
            "tflops": 2e-12 * batch * about["multiply_adds"] / seconds, "nodes": where}


def torch_row(name, batch):
    try:
        import torch
        import torchvision
    except ImportError:
        return None
    if not torch.cuda.is_available() or name not in PEERS:
        return None
    torch.backends.cudnn.benchmark = True
    options = {"init_weights": False} if name == "inception_v3" else {}
    model = getattr(torchvision.models, PEERS[name])(weights=None, **options).cuda().eval()
    size = 299 if name == "inception_v3" else 224
    host = torch.randn(batch, 3, size, size)

    def run():
        with torch.no_grad():
            model(host.cuda()).cpu()

    seconds = median_seconds(run)
    return {"network": name, "batch": batch, "runtime": f"torch {torch.__version__}", "ms": 1e3 * seconds,
            "per_second": batch / seconds}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 32])
    parser.add_argument("names", nargs="*", default=["vgg16", "resnet50", "mobilenet_v1", "inception_v3"])
    args = parser.parse_args()
    with tf.Session() as session:
        gpus = [d for d in session.list_devices() if d.device_type == "GPU"]
    if not gpus:
        sys.exit("no GPU: nothing was measured")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run([sys.executable, HERE / "nets.py", folder, *args.names], check=True)
        for name in args.names:
            for batch in args.batch:
                for row in (headrace_row(folder, name, batch), torch_row(name, batch)):
                    if row is not None:
                        rows.append(row)
                        print(f"{row['network']:14} batch {row['batch']:3} {row['runtime']:16} {row['ms']:9.2f} ms"
                              f" {row['per_second']:9.1f}/s {row.get('nodes', '')}", flush=True)
    if args.out:
        try:
            driver = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                                    capture_output=True, text=True, check=False).stdout.strip()
        except FileNotFoundError:
            driver = "no driver"
        args.out.write_text(json.dumps({"gpu": driver, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
