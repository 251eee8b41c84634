"""Networks of tf.keras.applications, made here and in TensorFlow 1.15.
application_values.json has their names, sizes and a checksum of all their layers.

    PYTHON tests/python/application_programs.py

with an interpreter that has TensorFlow 1.15 writes the file again."""
import json
import os
import zlib

import recorded

VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "application_values.json")

CASES = [
    ("VGG16", {}), ("VGG19", {"include_top": False, "pooling": "avg"}),
    ("ResNet50", {}), ("ResNet50", {"include_top": False, "pooling": "max"}),
    ("ResNet101", {"include_top": False}), ("ResNet152", {"include_top": False}),
    ("ResNet50V2", {}), ("ResNet101V2", {"include_top": False}),
    ("ResNet152V2", {"include_top": False}),
    ("MobileNet", {}), ("MobileNet", {"include_top": False}),
    ("MobileNet", {"input_shape": (96, 96, 3), "alpha": .25,
                   "depth_multiplier": 2, "classes": 7}),
    ("MobileNet", {"input_shape": (97, 90, 4), "include_top": False,
                   "pooling": "max"}),
    ("MobileNetV2", {}), ("MobileNetV2", {"include_top": False}),
    ("MobileNetV2", {"input_shape": (97, 90, 4), "include_top": False,
                     "alpha": 1.4}),
    ("MobileNetV2", {"input_shape": (160, 160, 3), "alpha": .35}),
    ("Xception", {}), ("InceptionV3", {}), ("InceptionResNetV2", {}),
    ("DenseNet121", {}), ("DenseNet169", {"include_top": False}),
    ("DenseNet201", {"include_top": False, "pooling": "avg"}),
    ("NASNetMobile", {}), ("NASNetMobile", {
        "input_shape": (96, 64, 3), "include_top": False, "pooling": "max"}),
    ("NASNetLarge", {"include_top": False})]

# Functions, which are saved as what Python compiled.
LEFT_OUT = ("function", "function_type", "module", "output_shape",
            "output_shape_module", "output_shape_type")


def title(name, options):
    return " ".join([name] + ["%s=%s" % pair for pair in sorted(
        options.items())])


def plain(value):
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if k not in LEFT_OUT}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if value is None or isinstance(value, (str, bool)):
        return value
    return "%.6g" % value


def run(tf, name, options):
    """[name, number of layers, number of weights, checksum]"""
    with tf.Graph().as_default():
        model = getattr(tf.keras.applications, name)(weights=None, **options)
        config = plain(model.get_config())
        shapes = [[w.name, w.get_shape().as_list()] for w in model.weights]
        count = int(model.count_params())
    text = json.dumps([config, shapes], sort_keys=True)
    return [model.name, len(model.layers), count, zlib.crc32(text.encode())]


def main():
    import tensorflow as tf
    assert tf.__version__.startswith("1.15"), tf.__version__
    recorded.write(VALUES, {title(*case): run(tf, *case) for case in CASES})


if __name__ == "__main__":
    main()
