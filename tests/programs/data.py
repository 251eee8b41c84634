"""Data for the programs, the same under every Python."""
import atexit
import codecs
import contextlib
import gzip
import io
import os
import shutil
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "examples")
FASHION = "/usr/share/datasets/fashion-mnist"  # Debian: dataset-fashion-mnist


def skip(reason):
    """Ends the program: what it needs is not on this machine."""
    print("SKIP: " + reason)
    sys.exit(0)


def own_folder():
    """A folder for what a program writes. It is removed when the program ends,
    unless PROGRAM_FILES names one."""
    kept = os.environ.get("PROGRAM_FILES")
    if kept:
        return kept
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, True)
    return folder


def fashion(part="train", count=2000):
    """(images [count, 784] in 0..1, labels [count]) of Fashion-MNIST."""
    found = []
    for kind, header in (("images-idx3", 16), ("labels-idx1", 8)):
        path = os.path.join(FASHION, "%s-%s-ubyte.gz" % (part, kind))
        if not os.path.exists(path):
            skip("no %s; the package dataset-fashion-mnist has it" % path)
        size = count * (784 if header == 16 else 1)
        with gzip.open(path, "rb") as file:
            file.read(header)
            found.append(np.frombuffer(file.read(size), np.uint8))
    images = found[0].reshape(-1, 784).astype(np.float32) / np.float32(255)
    return images, found[1].astype(np.int64)


def photo(name):
    """The path of a photo: "cat.png" or "horse.png"."""
    path = os.path.join(EXAMPLES, "photos", name)
    if not os.path.exists(path):
        skip("no " + path)
    return path


def model(name):
    """The path of a frozen graph."""
    path = os.path.join(EXAMPLES, "models", name)
    if not os.path.exists(path):
        skip("no " + path)
    return path


def zen():
    """A text that Python ships: that of `import this`."""
    with contextlib.redirect_stdout(io.StringIO()):
        import this
    return codecs.decode(this.s, "rot13")


def blobs(count, centers, spread=0.4):
    """(points [count, 2], center of each): points around centers, by formula."""
    i = np.arange(count)
    which = i % len(centers)
    angle, radius = 2.399963 * i, spread * np.sqrt(((i * 37) % 101) / 101.0)
    offset = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    return (np.asarray(centers)[which] + offset).astype(np.float32), which


def show(name, *values):
    """Prints a result: a name and numbers."""
    numbers = np.concatenate([np.ravel(np.asarray(v, np.float64))
                              for v in values])
    print(name + ":", " ".join("%.5g" % x for x in numbers))
