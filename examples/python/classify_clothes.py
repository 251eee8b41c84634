"""Ten test pictures of Fashion-MNIST, classified by what lenet.py saved.

    python classify_clothes.py FOLDER [--data FOLDER] [--sheet FILE.png]

FOLDER is the one that `lenet.py --save` filled. The network is restored from
its checkpoint and, in another graph, from its SavedModel; both must agree. The
pictures and the classes are also written to FOLDER, as plain bytes (pixels,
classes), for examples/c/restore.c. The sheet shows the pictures with their
predictions, wrong ones in red.
"""
import argparse
import pathlib
import sys

import numpy as np
from PIL import Image, ImageDraw

import headrace as tf
from lenet import FOLDER, load

NAMES = ["T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt",
         "sneaker", "bag", "boot"]
COUNT, COLUMNS, ZOOM, TEXT = 10, 5, 4, 14


def by_checkpoint(folder, pictures):
    with tf.Graph().as_default(), tf.Session() as session:
        path = tf.train.latest_checkpoint(folder)
        if path is None:
            sys.exit("There is no checkpoint in %s: run lenet.py --save"
                     % folder)
        tf.train.import_meta_graph(path + ".meta").restore(session, path)
        return session.run("classes:0", {"pictures:0": pictures})


def by_saved_model(folder, pictures):
    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.saved_model.load(session, [tf.saved_model.SERVING],
                                    str(folder / "model"))
        signature = model.signature_def["serving_default"]
        return session.run(signature.outputs["classes"].name,
                           {signature.inputs["pictures"].name: pictures})


def draw(pictures, classes, labels, path):
    side = 28 * ZOOM
    sheet = Image.new("RGB", (COLUMNS * side, (side + TEXT) * (
        (len(classes) + COLUMNS - 1) // COLUMNS)), "white")
    pen = ImageDraw.Draw(sheet)
    for i, (picture, found, label) in enumerate(zip(pictures, classes,
                                                    labels)):
        x, y = i % COLUMNS * side, i // COLUMNS * (side + TEXT)
        tile = Image.fromarray((picture[..., 0] * 255).astype(np.uint8))
        sheet.paste(tile.resize((side, side)), (x, y))
        text = NAMES[found]
        if found != label:
            text += " (%s)" % NAMES[label]
        pen.text((x + 2, y + side + 1), text,
                 fill="black" if found == label else "red")
    sheet.save(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--data", default=FOLDER)
    parser.add_argument("--sheet")
    options = parser.parse_args()
    pictures, labels = load(options.data, "t10k")
    pictures, labels = pictures[:COUNT], labels[:COUNT]
    classes = by_checkpoint(options.folder, pictures)
    same = by_saved_model(options.folder, pictures)
    for label, found in zip(labels, classes):
        print("%-8s is taken for %-8s%s" % (
            NAMES[label], NAMES[found], "" if found == label else "  (wrong)"))
    if not np.array_equal(classes, same):
        sys.exit("checkpoint and SavedModel disagree: %s, %s" % (classes, same))
    pictures.tofile(options.folder / "pixels")
    classes.astype(np.int64).tofile(options.folder / "classes")
    if options.sheet:
        draw(pictures, classes, labels, options.sheet)


if __name__ == "__main__":
    main()
