"""Data for tf.keras: texts, sequences, pictures and files, each a function of
the module tf and of a folder that returns numbers and texts.
keras_data_values.json has what TensorFlow 1.15.5 returns.

    PYTHON tests/python/keras_data_programs.py [NAME...]

with an interpreter that has TensorFlow 1.15, Pillow, SciPy and pandas writes the
file again, or the values of the programs that are named."""
import contextlib
import gzip
import hashlib
import io
import json
import os
import pathlib
import random
import sys
import tarfile
import tempfile
import zipfile

from keras_layer_programs import numbers, plain, start
import numpy as np
import recorded

VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "keras_data_values.json")
TEXTS = ["The cat sat; the cat ran.", "A dog: \"the\" DOG!", "no\tcat's here"]


def texts(tf, folder):
    text = tf.keras.preprocessing.text
    found = [text.text_to_word_sequence(TEXTS[0]),
             text.text_to_word_sequence("a,b-C", filters="-", lower=False,
                                        split=","),
             text.hashing_trick(TEXTS[1], 20, "md5"),
             text.hashing_trick("a b", 9, hash_function=len),
             len(text.one_hot(TEXTS[0], 10))]
    for options in ({}, {"num_words": 3}, {"oov_token": "?", "num_words": 4},
                    {"char_level": True, "lower": False}):
        tokens = text.Tokenizer(**options)
        tokens.fit_on_texts(TEXTS)
        tokens.fit_on_texts([["x", "The"]])
        numbers_of = tokens.texts_to_sequences(TEXTS + ["unknown cat"])
        found.append([numbers_of, tokens.sequences_to_texts(numbers_of),
                      tokens.word_index, tokens.document_count,
                      dict(tokens.word_counts)])
        found += [tokens.texts_to_matrix(TEXTS, mode)
                  for mode in ("binary", "count", "freq", "tfidf")]
        config = json.loads(tokens.to_json())["config"]
        found.append({key: json.loads(config[key])
                      if key in ("word_docs", "index_docs") else config[key]
                      for key in ("word_docs", "index_docs", "num_words")})
    tokens = text.Tokenizer(5)
    tokens.fit_on_sequences([[1, 2, 2], [2, 4]])
    return found + [tokens.sequences_to_matrix([[1, 2, 7], []], "tfidf")]


def sequences(tf, folder):
    sequence = tf.keras.preprocessing.sequence
    table = sequence.make_sampling_table(8, .1)
    found = [table]
    for options in ({}, {"window_size": 1, "categorical": True},
                    {"negative_samples": 0., "shuffle": False},
                    {"sampling_table": table, "seed": 3}):
        random.seed(5)
        found.append(sequence.skipgrams([1, 0, 3, 2, 5, 1], 8, **options))
    data, targets = numbers(20, 2), np.arange(20)
    for options in ({}, {"sampling_rate": 2, "stride": 3, "batch_size": 2},
                    {"reverse": True, "start_index": 4, "end_index": 15},
                    {"shuffle": True, "batch_size": 3}):
        np.random.seed(2)
        windows = sequence.TimeseriesGenerator(data, targets, 4, **options)
        found += [len(windows), [windows[i] for i in range(len(windows))]]
    config = sequence.TimeseriesGenerator([1, 2, 3], [4, 5, 6], 1).get_config()
    return found + [config]


def pictures(tf, folder):
    image = tf.keras.preprocessing.image
    found = []
    for channels, kind in ((1, "grayscale"), (3, "rgb"), (4, "rgba")):
        x = numbers(6, 5, channels) * 60 + 100
        path = os.path.join(folder, "x.png")
        image.save_img(path, x, scale=channels > 1)
        img = image.load_img(path, color_mode=kind)
        found += [img.mode, image.img_to_array(img)]
        found.append(image.img_to_array(image.load_img(
            path, target_size=(3, 4), color_mode=kind), "channels_first"))
    found += [image.array_to_img(x * 5, scale=False).mode,
              image.img_to_array(image.array_to_img(
                  numbers(2, 3, 4)[:1] * 900, "channels_first", False)),
              image.img_to_array(image.load_img(path, interpolation="bilinear",
                                                target_size=(8, 8)))]
    return found


def changes(tf, folder):
    image = tf.keras.preprocessing.image
    x = numbers(5, 6, 3) * 100 + 100
    first = x.transpose(2, 0, 1)
    np.random.seed(4)
    return [
        image.apply_affine_transform(x, 30, 1, -.5, 10, .8, 1.2),
        image.apply_affine_transform(first, 0, 1, 2, row_axis=1, col_axis=2,
                                     channel_axis=0, fill_mode="constant",
                                     cval=3.),
        image.apply_affine_transform(x, 0), image.random_rotation(first, 40),
        image.random_shift(x, .2, .3, 0, 1, 2),
        image.random_shear(first, 20),
        image.random_zoom(first, (.5, 1.5)), image.random_zoom(first, (1, 1)),
        image.random_channel_shift(x, 50., 2),
        image.apply_channel_shift(first, -20.),
        image.apply_brightness_shift(x, .5), image.random_brightness(x, (0, 2))]


def generators(tf, folder):
    image = tf.keras.preprocessing.image
    x, y = numbers(7, 4, 5, 3) * 100 + 100, np.arange(7)
    found = []
    for options in (
            {"rotation_range": 30, "width_shift_range": .2, "zoom_range": .3,
             "horizontal_flip": True, "vertical_flip": True},
            {"height_shift_range": [0, 1, 2], "shear_range": 10.,
             "channel_shift_range": 9., "brightness_range": (.5, 1.)},
            {"featurewise_center": True, "featurewise_std_normalization": True},
            {"samplewise_center": True, "samplewise_std_normalization": True,
             "rescale": .1, "dtype": "float64"},
            {"zca_whitening": True, "zca_epsilon": 10., "featurewise_center": True},
            {"preprocessing_function": lambda a: a * 2, "validation_split": .3,
             "width_shift_range": 2}):
        made = image.ImageDataGenerator(**options)
        if made.featurewise_center:
            made.fit(x, augment=True, rounds=2, seed=1)
        batches = made.flow(x, y, batch_size=3, seed=6)
        found += [len(batches), [next(batches) for _ in range(4)], batches[1]]
        batches.reset()
        batches.on_epoch_end()
        found.append(batches[2][0].dtype.name)
    subset = [list(made.flow(x, np.zeros(7), 3, False, np.arange(7), subset=s)[0])
              for s in ("training", "validation")]
    misc = made.flow((x, [y, -y]), None, 2, shuffle=False)
    found += [subset, misc.next()]
    first = image.ImageDataGenerator(data_format="channels_first",
                                     rotation_range=20)
    return found + [first.flow(x.transpose(0, 3, 1, 2), seed=1).next(),
                    first.get_random_transform((3, 4, 5), 3)]


def folders(tf, folder):
    """Pictures in the folders of a folder, and in a table."""
    import pandas
    image = tf.keras.preprocessing.image
    for kind, names in (("cats", "c1.png c2.png c3.png"),
                        ("dogs", "d1.png inner/d2.bmp notes.txt")):
        for i, name in enumerate(names.split()):
            path = pathlib.Path(folder, kind, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith("txt"):
                path.write_text("no picture")
                continue
            image.save_img(str(path), (numbers(6, 6, 3) + 1) * 40 * (i + 1),
                           scale=False)
    made = image.ImageDataGenerator(rescale=1 / 255., validation_split=.4)
    found, printed = [], io.StringIO()
    with contextlib.redirect_stdout(printed):
        for options in (
                {}, {"class_mode": "binary", "color_mode": "grayscale"},
                {"class_mode": "sparse", "subset": "training"},
                {"class_mode": None, "subset": "validation", "shuffle": False},
                {"class_mode": "input", "classes": ["dogs"]}):
            batches = made.flow_from_directory(
                folder, target_size=(4, 3), batch_size=4, seed=2, **options)
            found += [batches.next(), batches.samples, batches.class_indices,
                      sorted(batches.filenames), batches.classes,
                      list(batches.image_shape)]
        table = pandas.DataFrame({
            "filename": ["cats/c1.png", "dogs/d1.png", "none.png",
                         "cats/c2.png"],
            "class": ["a", "b", "a", "c"], "n": [1, 2, 3, 4],
            "w": [.1, .2, .3, .4]})
        for options in (
                {}, {"class_mode": "raw", "y_col": "n", "weight_col": "w"},
                {"class_mode": "multi_output", "y_col": ["n", "w"]},
                {"classes": ["a", "b"], "class_mode": "sparse"},
                {"class_mode": None, "subset": "training"}):
            batches = made.flow_from_dataframe(
                table, folder, target_size=(2, 2), shuffle=False, **options)
            found += [batches.next(), batches.samples]
    return found + [printed.getvalue()]


def files(tf, folder):
    """Files that are fetched by their URLs."""
    get_file = tf.keras.utils.get_file
    source = pathlib.Path(folder, "there")
    source.mkdir()
    source.joinpath("plain.txt").write_text("plain")
    with tarfile.open(str(source / "both.tar.gz"), "w:gz") as archive:
        archive.add(str(source / "plain.txt"), "both/inner.txt")
    with zipfile.ZipFile(str(source / "some.zip"), "w") as archive:
        archive.write(str(source / "plain.txt"), "zipped.txt")
    cache = pathlib.Path(folder, "cache")
    cache.mkdir()
    found, printed = [], io.StringIO()

    def fetch(name, url, **options):
        path = get_file(name, url, cache_dir=str(cache), **options)
        found.append(os.path.relpath(path, str(cache)))
        return path

    with contextlib.redirect_stdout(printed):
        url = "file://" + str(source / "plain.txt")
        path = fetch("a.txt", url)
        fetch("a.txt", "file:///not/there")
        pathlib.Path(path).write_text("other")
        fetch("a.txt", url, file_hash=hashlib.md5(b"plain").hexdigest())
        found.append(pathlib.Path(path).read_text())
        fetch("a.txt", url, md5_hash=hashlib.md5(b"plain").hexdigest(),
              cache_subdir="elsewhere")
        path = fetch("both", "file://" + str(source / "both.tar.gz"),
                     untar=True)
        found.append(sorted(os.listdir(path)))
        fetch("s.zip", "file://" + str(source / "some.zip"), extract=True)
        fetch("t.tar", "file://" + str(source / "both.tar.gz"), extract=True,
              archive_format="tar", cache_subdir="tar")
        try:
            fetch("b.txt", "file:///not/there")
        except Exception as error:
            found.append(str(error).partition("[")[0])
    found.append(sorted(str(p.relative_to(cache)) for p in cache.rglob("*")))
    return found + [[line for line in printed.getvalue().splitlines()
                     if "local file was found" in line]]


def clothes(tf, folder):
    """fashion_mnist, whose files have no hash, of a few pictures."""
    home = os.environ.get("HOME")
    os.environ["HOME"] = folder
    try:
        cache = pathlib.Path(folder, ".keras", "datasets", "fashion-mnist")
        cache.mkdir(parents=True)
        for part, n in (("train", 3), ("t10k", 2)):
            for kind, size in (("labels-idx1", n), ("images-idx3", n * 784)):
                with gzip.open(str(cache / ("%s-%s-ubyte.gz" % (part, kind))),
                               "wb") as file:
                    head = 8 if "labels" in kind else 16
                    file.write(b"x" * head + bytes(
                        i % 251 for i in range(size)))
        (x, y), (z, w) = tf.keras.datasets.fashion_mnist.load_data()
        return [list(x.shape), x.sum(), y, list(z.shape), z.sum(), w,
                x.dtype.name]
    finally:
        os.environ["HOME"] = home


class Batches:
    """Made into a Sequence of `tf` by `sequence`."""

    def __init__(self):
        self.ends = 0

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return numbers(8, 3)[2 * i:2 * i + 2], numbers(8, 1)[2 * i:2 * i + 2]

    def on_epoch_end(self):
        self.ends += 1


def sequence(tf):
    return type("Batches", (Batches, tf.keras.utils.Sequence), {})()


def enqueuers(tf, folder):
    utils, found = tf.keras.utils, []
    for options in ({}, {"shuffle": True}):
        random.seed(3)
        enqueuer = utils.OrderedEnqueuer(sequence(tf), **options)
        enqueuer.start(workers=2, max_queue_size=3)
        batches = enqueuer.get()
        found.append([next(batches)[0][0, 0] for _ in range(8)])
        found.append(int(enqueuer.is_running()))
        enqueuer.stop()
        found.append(int(enqueuer.is_running()))
    enqueuer = utils.GeneratorEnqueuer(iter([1, None, 2, 3]))
    enqueuer.start()
    return found + [list(enqueuer.get())]


def of_generators(tf, folder):
    """Training with what workers make."""
    keras, found = tf.keras, []

    def model():
        made = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
        start(made)
        made.compile("sgd", "mse", ["mae"])
        return made

    def endless():
        source = Batches()
        while True:
            for i in range(4):
                yield source[i]

    for options in ({}, {"workers": 0}, {"workers": 2, "shuffle": False},
                    {"workers": 3, "steps_per_epoch": 3}):
        made = model()
        random.seed(1)
        history = made.fit_generator(
            sequence(tf), epochs=3, verbose=0, validation_data=sequence(tf),
            **options)
        found.append({k: [float(x) for x in v]
                      for k, v in history.history.items()})
    made = model()
    made.fit_generator(endless(), 3, 2, verbose=0, max_queue_size=2)
    found += [made.get_weights(),
              made.evaluate_generator(sequence(tf), workers=2),
              made.evaluate_generator(endless(), 4),
              made.predict_generator(sequence(tf), workers=2),
              made.predict_generator(endless(), 2)]
    return found


def scikit_learn(tf, folder):
    keras, wrappers = tf.keras, tf.keras.wrappers.scikit_learn

    def build(width=4, classes=3, loss="categorical_crossentropy"):
        made = keras.Sequential([
            keras.layers.Dense(width, "relu", input_shape=(3,)),
            keras.layers.Dense(classes, "softmax" if classes > 1 else
                               "sigmoid")])
        start(made)
        made.compile("sgd", loss, ["accuracy"])
        return made

    x, labels = numbers(12, 3), np.array([5, 7, 9] * 4)
    several = wrappers.KerasClassifier(build, width=5, epochs=2, verbose=0,
                                       shuffle=False)
    history = several.fit(x, labels)
    two = wrappers.KerasClassifier(
        build, classes=1, loss="binary_crossentropy", verbose=0)
    two.fit(x, labels > 6, shuffle=False)
    regressor = wrappers.KerasRegressor(build, classes=1, loss="mse", verbose=0)
    regressor.fit(x, labels / 10., shuffle=False)
    return [history.history["loss"], several.predict(x),
            several.predict_proba(x), several.score(x, labels),
            several.classes_, two.predict_proba(x), regressor.predict(x),
            regressor.score(x, labels / 10.),
            sorted(set(several.set_params(width=2).get_params())),
            several.filter_sk_params(build, {"loss": "mse"})]


def kernels(tf, folder):
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.Conv2D(2, 2, input_shape=(4, 4, 1)), layers.Flatten(),
        layers.Dense(1)])
    start(model)
    tf.keras.utils.convert_all_kernels_in_model(model)
    return model.get_weights()


PROGRAMS = {f.__name__: f for f in (
    texts, sequences, pictures, changes, generators, folders, files, clothes,
    enqueuers, of_generators, scikit_learn, kernels)}


def run(tf, name):
    tf.keras.backend.clear_session()
    np.random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        return plain(PROGRAMS[name](tf, folder))


def main():
    import tensorflow as tf
    assert tf.__version__.startswith("1.15"), tf.__version__
    results = {}
    if sys.argv[1:] and os.path.exists(VALUES):
        with open(VALUES) as file:
            results = json.load(file)
    for name in sys.argv[1:] or PROGRAMS:
        results[name] = run(tf, name)
    recorded.write(VALUES, results)


if __name__ == "__main__":
    main()
