"""Measures networks, their training and their layers on the GPU.

    gpu.py [--out FILE] [--parts PART...] [--batch N...] [--math MATH...] [--dry] [NAME...]

names: of bench/nets.py, by default vgg16 resnet50 mobilenet_v1 inception_v3. The
parts, by default all:

  limits    a large product of matrices and a large copy, against what the GPU's
            data sheet promises
  forward   the median time of a run with fed images and fetched results
  training  the same of a step of SGD with momentum, with batch statistics
  layers    the time on the device of each convolution of VGG16 and ResNet-50,
            against the best that PyTorch gets out of cuDNN in either layout
            (torch.backends.cudnn.benchmark)

MATH is float, tf32 or bf16, the same for both sides: in float neither uses TF32.
Where PyTorch with CUDA and torchvision are installed the same runs there, eagerly,
in NCHW and in channels_last; the better one counts. FILE gets the rows as JSON, with
the device. --dry: tiny sizes, to see on the host platform (HEADRACE_GPU_PLATFORM=host)
that all of it runs; its numbers mean nothing.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).parent
PARTS = ("limits", "forward", "training", "layers")
MATHS = ("float", "tf32", "bf16")
CHILD = "--child"

# Dense operations a second in 1e12, and bytes of memory a second, of data sheets.
PROMISED = {
    "H200": {"float": 67, "tf32": 495, "bf16": 989, "bytes": 4.8e12},
    "H100": {"float": 67, "tf32": 495, "bf16": 989, "bytes": 3.35e12},
    "A100": {"float": 19.5, "tf32": 156, "bf16": 312, "bytes": 2.0e12},
}
# (size of the input, channels in and out, filter, stride) of each convolution
# that differs, and how often the network has it.
LAYERS = {
    "vgg16": [(224, 3, 64, 3, 1, 1), (224, 64, 64, 3, 1, 1), (112, 64, 128, 3, 1, 1), (112, 128, 128, 3, 1, 1),
              (56, 128, 256, 3, 1, 1), (56, 256, 256, 3, 1, 2), (28, 256, 512, 3, 1, 1), (28, 512, 512, 3, 1, 2),
              (14, 512, 512, 3, 1, 3)],
    "resnet50": [(224, 3, 64, 7, 2, 1), (56, 64, 64, 1, 1, 1), (56, 64, 64, 3, 1, 3), (56, 64, 256, 1, 1, 4),
                 (56, 256, 64, 1, 1, 2), (56, 256, 128, 1, 2, 1), (56, 256, 512, 1, 2, 1), (28, 128, 128, 3, 1, 4),
                 (28, 128, 512, 1, 1, 4), (28, 512, 128, 1, 1, 3), (28, 512, 256, 1, 2, 1), (28, 512, 1024, 1, 2, 1),
                 (14, 256, 256, 3, 1, 6), (14, 256, 1024, 1, 1, 6), (14, 1024, 256, 1, 1, 5), (14, 1024, 512, 1, 2, 1),
                 (14, 1024, 2048, 1, 2, 1), (7, 512, 512, 3, 1, 3), (7, 512, 2048, 1, 1, 3), (7, 2048, 512, 1, 1, 2)],
}


class Effort:
    """How long is measured, and how large things are."""

    def __init__(self, dry):
        self.dry = dry
        self.seconds, self.least, self.warm = (0.0, 1, 1) if dry else (3.0, 10, 3)
        self.image = 16 if dry else None
        self.matrix = 64 if dry else 8192
        self.copied = 1 << 12 if dry else 1 << 28
        self.few, self.many = (1, 3) if dry else (4, 24)

    def median_seconds(self, run):
        for _ in range(self.warm):
            run()
        times, end = [], time.perf_counter() + self.seconds
        while len(times) < self.least or time.perf_counter() < end:
            begin = time.perf_counter()
            run()
            times.append(time.perf_counter() - begin)
        return statistics.median(times)

    def each(self, runner):
        """Seconds of one of several equal pieces of work, without what a run costs however many they are."""
        few, many = (self.median_seconds(runner(n)) for n in (self.few, self.many))
        # Where a piece is lost in the noise, at most this.
        return (many - few) / (self.many - self.few) if many > few else many / self.many


def tiny(nets, tf):
    """A network for --dry: a little of everything."""
    def build(b):
        x = tf.nn.relu(b.norm(b.conv(nets.images(224), 8, 3, 2)))
        x = tf.nn.relu(b.norm(b.depthwise(x, 1)))
        x = tf.nn.max_pool(b.conv(x, 8, 1, bias=True), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        return b.dense(tf.reduce_mean(x, [1, 2]), 8, 1000)
    return build


class Headrace:
    name = "headrace"

    def __init__(self, math, effort):
        os.environ["NVIDIA_TF32_OVERRIDE"] = "1" if math == "tf32" else "0"
        if effort.dry:  # tries of each algorithm are not what is looked for
            os.environ["TF_CUDNN_USE_AUTOTUNE"] = "0"
        sys.path.insert(0, str(HERE))
        import headrace
        import nets
        self.tf, self.nets, self.effort = headrace, nets, effort
        nets.NETS["tiny"] = tiny(nets, headrace)
        self.bf16 = math == "bf16"
        self.dtype = self.tf.bfloat16 if self.bf16 else self.tf.float32

    def has_gpu(self):
        with self.tf.Session() as session:
            return any(d.device_type == "GPU" for d in session.list_devices())

    def session(self):
        config = self.tf.ConfigProto(allow_soft_placement=True)
        config.gpu_options.allow_growth = True
        return self.tf.Session(config=config)

    def builder(self, name, trains):
        """nets.Builder in the wanted type; with variables and batch statistics where it trains."""
        tf, nets, dtype = self.tf, self.nets, self.dtype

        class Typed(nets.Builder):
            def constant(self, values):
                self.weight_bytes += values.nbytes
                if not trains:
                    return tf.constant(values) if dtype == tf.float32 else tf.cast(tf.constant(values), dtype)
                start = tf.random_normal(values.shape, float(values.mean()), float(values.std()))
                made = tf.Variable(start)
                return made if dtype == tf.float32 else tf.cast(made, dtype)

            def norm(self, x, epsilon=1e-3):
                c = nets.channels(x)
                scale, offset = tf.cast(self.uniform((c,), 0.8, 1.2), tf.float32), tf.cast(self.weights((c,), 200), tf.float32)
                if trains:
                    return tf.nn.fused_batch_norm(x, scale, offset, epsilon=epsilon)[0]
                mean, variance = tf.cast(self.weights((c,), 200), tf.float32), tf.cast(self.uniform((c,), 0.6, 1.4), tf.float32)
                return tf.nn.fused_batch_norm(x, scale, offset, mean, variance, epsilon=epsilon, is_training=False)[0]

        return Typed(sum(map(ord, name.split("_")[0])))

    def network(self, name, trains):
        """(placeholder, logits of float, the builder)."""
        tf, nets = self.tf, self.nets
        fed = []

        def images(size):
            size = self.effort.image or size
            x = tf.placeholder(tf.float32, [None, size, size, 3], name="input")
            fed.append(x)
            return tf.cast(x, self.dtype) if self.bf16 else x

        before, nets.images = nets.images, images
        try:
            builder = self.builder(name, trains)
            logits = nets.NETS[name](builder)
        finally:
            nets.images = before
        return fed[0], tf.cast(logits, tf.float32), builder

    def where(self, session, fetches, feeds):
        metadata = self.tf.RunMetadata()
        session.run(fetches, feeds, run_metadata=metadata,
                    options=self.tf.RunOptions(trace_level=self.tf.RunOptions.FULL_TRACE))
        return {dev.device: len(dev.node_stats) for dev in metadata.step_stats.dev_stats}

    def images_for(self, x, batch):
        rng = np.random.Generator(np.random.PCG64(1))
        return rng.standard_normal([batch, *x.shape.as_list()[1:]], dtype=np.float32)

    def forward(self, name, batch):
        with self.tf.Graph().as_default(), self.tf.device("/gpu:0"):
            x, logits, builder = self.network(name, trains=False)
            result = self.tf.nn.softmax(logits)
            feeds = {x: self.images_for(x, batch)}
            with self.session() as session:
                where = self.where(session, result, feeds)
                seconds = self.effort.median_seconds(lambda: session.run(result, feeds))
        return {"seconds": seconds, "multiply_adds": batch * builder.multiply_adds, "nodes": where}

    def training(self, name, batch):
        tf = self.tf
        with tf.Graph().as_default(), tf.device("/gpu:0"):
            x, logits, builder = self.network(name, trains=True)
            labels = tf.constant(np.arange(batch) % 1000, tf.int64)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
            train = tf.train.MomentumOptimizer(1e-3, 0.9).minimize(loss)
            feeds = {x: self.images_for(x, batch)}
            with self.session() as session:
                session.run(tf.global_variables_initializer())
                where = self.where(session, [loss, train], feeds)
                seconds = self.effort.median_seconds(lambda: session.run([loss, train], feeds))
        return {"seconds": seconds, "multiply_adds": 3 * batch * builder.multiply_adds, "nodes": where}

    def repeated(self, make_inputs, work):
        """Seconds of work(inputs, its own variable), on the device."""
        tf = self.tf

        def runner(n):
            graph = tf.Graph()
            with graph.as_default(), tf.device("/gpu:0"):
                common, own = make_inputs()
                common = tf.Variable(tf.cast(tf.random_normal(common), self.dtype))
                # Each has an operand of its own: equal nodes would become one.
                several = [tf.Variable(tf.cast(tf.random_normal(own), self.dtype)) for _ in range(n)]
                done = []
                for variable in several:
                    with tf.control_dependencies(done[-1:]):
                        done.append(work(common, variable))
                last = tf.group(*done)
                session = self.session()
                session.run(tf.global_variables_initializer())
            return lambda: session.run(last)

        return self.effort.each(runner)

    def layer(self, size, cin, cout, k, stride, batch):
        return self.repeated(lambda: ([batch, size, size, cin], [k, k, cin, cout]),
                             lambda x, w: self.tf.nn.conv2d(x, w, strides=[1, stride, stride, 1], padding="SAME"))

    def product(self, n):
        return self.repeated(lambda: ([n, n], [n, n]), self.tf.matmul)

    def copy(self, elements):
        return self.repeated(lambda: ([elements], []), lambda x, y: x * y)


class Torch:
    def __init__(self, math, effort):
        import torch
        self.torch, self.effort = torch, effort
        self.name = f"torch {torch.__version__}"
        torch.backends.cudnn.benchmark = True
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = math == "tf32"
        self.dtype = torch.bfloat16 if math == "bf16" else torch.float32
        # --dry runs where there is no GPU.
        self.device = "cuda" if torch.cuda.is_available() else "cpu"

    def has_gpu(self):
        return self.device == "cuda"

    def mobilenet_v1(self):
        nn = self.torch.nn

        def block(cin, cout, k, stride, groups):
            return [nn.Conv2d(cin, cout, k, stride, k // 2, groups=groups, bias=False), nn.BatchNorm2d(cout), nn.ReLU6()]

        layers, cin = block(3, 32, 3, 2, 1), 32
        for c, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]:
            layers += block(cin, cin, 3, stride, cin) + block(cin, c, 1, 1, 1)
            cin = c
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1024, 1001))

    def model(self, name):
        """The network, or None if there is no peer."""
        if name == "mobilenet_v1":
            return self.mobilenet_v1()
        if name == "tiny":
            nn = self.torch.nn
            return nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, 1, 1, groups=8), nn.ReLU(),
                                 nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 1000))
        import torchvision
        if name not in ("vgg16", "resnet50", "mobilenet_v2", "inception_v3"):
            return None
        options = {"init_weights": False, "aux_logits": False} if name == "inception_v3" else {}
        model = getattr(torchvision.models, name)(weights=None, **options)
        for module in model.modules():  # what the other side does not do
            if isinstance(module, self.torch.nn.Dropout):
                module.p = 0.0
        return model

    def images(self, name, batch):
        size = self.effort.image or (299 if name == "inception_v3" else 224)
        return self.torch.randn(batch, 3, size, size)

    def best(self, measure):
        """The better of both layouts."""
        return min(measure(layout) for layout in (self.torch.contiguous_format, self.torch.channels_last))

    def forward(self, name, batch):
        torch = self.torch
        if self.model(name) is None:
            return None

        def measure(layout):
            model = self.model(name).eval().to(self.device, self.dtype, memory_format=layout)
            host = self.images(name, batch)

            def run():
                with torch.no_grad():
                    model(host.to(self.device).to(self.dtype, memory_format=layout)).float().cpu()

            return self.effort.median_seconds(run)

        return {"seconds": self.best(measure)}

    def training(self, name, batch):
        torch = self.torch
        if self.model(name) is None:
            return None

        def measure(layout):
            model = self.model(name).train().to(self.device, memory_format=layout)
            sgd = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9)
            host, labels = self.images(name, batch), (torch.arange(batch) % 1000).to(self.device)

            def run():
                sgd.zero_grad()
                # Variables of float, as on the other side.
                with torch.autocast(self.device, torch.bfloat16, enabled=self.dtype != torch.float32):
                    logits = model(host.to(self.device).to(memory_format=layout))
                loss = torch.nn.functional.cross_entropy(logits.float(), labels)
                loss.backward()
                sgd.step()
                return loss.item()

            return self.effort.median_seconds(run)

        return {"seconds": self.best(measure)}

    def synchronized(self, work):
        """A runner for Effort.each."""
        def runner(n):
            def run():
                with self.torch.no_grad():
                    for _ in range(n):
                        work()
                if self.device == "cuda":
                    self.torch.cuda.synchronize()
            return run
        return self.effort.each(runner)

    def layer(self, size, cin, cout, k, stride, batch):
        torch = self.torch
        # SAME, as TensorFlow pads: where that is not symmetric, the padding is no part of cuDNN's work.
        out = -(-size // stride)
        total = max((out - 1) * stride + k - size, 0)

        def measure(layout):
            x = torch.randn(batch, cin, size + total % 2, size + total % 2)
            x = x.to(self.device, self.dtype).to(memory_format=layout)
            w = torch.randn(cout, cin, k, k).to(self.device, self.dtype).to(memory_format=layout)
            return self.synchronized(lambda: torch.nn.functional.conv2d(x, w, stride=stride, padding=total // 2))

        return self.best(measure)

    def product(self, n):
        a, b = (self.torch.randn(n, n).to(self.device, self.dtype) for _ in range(2))
        return self.synchronized(lambda: a @ b)

    def copy(self, elements):
        x = self.torch.randn(elements).to(self.device, self.dtype)
        return self.synchronized(lambda: x * 2.5)


def promised(gpu):
    return next((limits for name, limits in PROMISED.items() if name in gpu), {})


def measure(side, math, args):
    """Prints the rows of one side, in a process of its own: TF32 is a switch of the process."""
    effort = Effort(args.dry)
    side = {"headrace": Headrace, "torch": Torch}[side](math, effort)
    if not side.has_gpu() and not args.dry:
        return

    def add(part, what, batch, result):
        if result is None:
            return
        row = {"part": part, "what": what, "batch": batch, "math": math, "runtime": side.name, **result}
        print(json.dumps(row), flush=True)

    if "limits" in args.parts:
        n = effort.matrix
        add("limits", f"product {n}", 1, {"seconds": side.product(n), "multiply_adds": n ** 3})
        width = 2 if math == "bf16" else 4
        add("limits", f"copy {effort.copied}", 1, {"seconds": side.copy(effort.copied), "bytes": 2 * width * effort.copied})
    for part in ("forward", "training"):
        for name in args.names if part in args.parts else []:
            for batch in args.batch:
                add(part, name, batch, getattr(side, part)(name, batch))
    for name in LAYERS if "layers" in args.parts else []:
        for size, cin, cout, k, stride, count in LAYERS[name][-2:] if args.dry else LAYERS[name]:
            for batch in args.batch:
                if args.dry:
                    cin, cout = min(cin, 16), min(cout, 16)
                out = -(-size // stride)
                add("layers", f"{name} {size}x{size}x{cin} {k}x{k}/{stride} {cout}", batch,
                    {"seconds": side.layer(size, cin, cout, k, stride, batch), "count": count,
                     "multiply_adds": batch * out * out * k * k * cin * cout})


def report(rows, gpu):
    """A line for each row, with the peer's time and what of the limits is reached."""
    limits = promised(gpu)
    peers = {(r["part"], r["what"], r["batch"], r["math"]): r["seconds"] for r in rows if r["runtime"] != "headrace"}
    for r in rows:
        if r["runtime"] != "headrace":
            continue
        line = f"{r['part']:8} {r['math']:5} {r['what']:32} batch {r['batch']:3} {1e3 * r['seconds']:10.3f} ms"
        if "multiply_adds" in r:
            teraflops = 2e-12 * r["multiply_adds"] / r["seconds"]
            line += f" {teraflops:8.2f} Tflop/s"
            if r["math"] in limits:
                line += f" ({100 * teraflops / limits[r['math']]:.0f} % of the peak)"
        if "bytes" in r:
            line += f" {1e-12 * r['bytes'] / r['seconds']:6.3f} TB/s"
            if limits:
                line += f" ({100 * r['bytes'] / r['seconds'] / limits['bytes']:.0f} % of the memory's)"
        peer = peers.get((r["part"], r["what"], r["batch"], r["math"]))
        if peer:
            line += f"; torch {1e3 * peer:.3f} ms"
            if r["part"] == "layers":
                slower = 100 * (r["seconds"] / peer - 1)
                r["slower_than_best_percent"] = slower
                line += f", {slower:+.0f} %{'' if slower <= 5 else '  BEYOND 5 %'}"
        if "nodes" in r:
            line += f"  {r['nodes']}"
        print(line)


def driver():
    try:
        return subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                              capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""


def has_torch():
    done = subprocess.run([sys.executable, "-c", "import torch, torchvision"], check=False, capture_output=True)
    return done.returncode == 0


def rows_of(command):
    """The rows that a child prints, which are shown as they come, and its status."""
    rows = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            print(line, end="", file=sys.stderr, flush=True)
            if line.startswith("{"):
                rows.append(json.loads(line))
    return rows, child.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--batch", type=int, nargs="+", default=None)
    parser.add_argument("--math", nargs="+", choices=MATHS, default=list(MATHS))
    parser.add_argument("--dry", action="store_true")
    parser.add_argument(CHILD, nargs=2, metavar=("SIDE", "MATH"), help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    args.names = args.names or (["tiny"] if args.dry else ["vgg16", "resnet50", "mobilenet_v1", "inception_v3"])
    args.batch = args.batch or ([2] if args.dry else [1, 32])
    if args.child:
        measure(*args.child, args)
        return
    gpu = driver()
    rows = []
    for side in ["headrace", *(["torch"] if has_torch() else [])]:
        for math in args.math:
            command = [sys.executable, __file__, CHILD, side, math, "--parts", *args.parts,
                       "--batch", *map(str, args.batch), *(["--dry"] if args.dry else []), "--", *args.names]
            found, status = rows_of(command)
            rows += found
            if status != 0:
                sys.exit(f"{side} in {math} ended with {status}")
            if side == "headrace" and not found:
                sys.exit("no GPU: nothing was measured")
    report(rows, gpu)
    if args.dry:
        print("a dry run: the numbers mean nothing")
    if args.out:
        args.out.write_text(json.dumps({"gpu": gpu or "no driver", "dry": args.dry, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
