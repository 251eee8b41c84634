"""google.protobuf.json_format with our messages."""
import json
import math
import subprocess
import sys

import pytest

import headrace as tf
from headrace._src.compat import protobuf_json as json_format


def example():
    feature = tf.train.Feature
    return tf.train.Example(features=tf.train.Features(feature={
        "a": feature(bytes_list=tf.train.BytesList(value=[b"a\xff"])),
        "f": feature(float_list=tf.train.FloatList(
            value=[1.5, math.nan, -math.inf, 1e30, .1])),
        "i": feature(int64_list=tf.train.Int64List(value=[1 << 40]))}))


def test_a_message_as_json():
    config = tf.ConfigProto(
        allow_soft_placement=True, device_count={"a": 1},
        gpu_options=tf.GPUOptions(allow_growth=True),
        graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(
            global_jit_level=1)))
    found = json.loads(json_format.MessageToJson(config))
    assert found == {"deviceCount": {"a": 1}, "allowSoftPlacement": True,
                     "gpuOptions": {"allowGrowth": True}, "graphOptions": {
                         "optimizerOptions": {"globalJitLevel": "ON_1"}}}
    assert json_format.MessageToDict(
        config, preserving_proto_field_name=True,
        use_integers_for_enums=True)["graph_options"] == {
            "optimizer_options": {"global_jit_level": 1}}
    defaults = json_format.MessageToDict(
        tf.OptimizerOptions(), including_default_value_fields=True)
    assert defaults["doFunctionInlining"] is False
    assert json_format.MessageToJson(tf.ConfigProto()) == "{}"
    assert json_format.Parse(json.dumps(found), tf.ConfigProto()) == config


def test_values():
    features = json_format.MessageToDict(example())["features"]["feature"]
    assert features["a"] == {"bytesList": {"value": ["Yf8="]}}
    assert features["i"] == {"int64List": {"value": [str(1 << 40)]}}
    assert features["f"] == {"floatList": {
        "value": [1.5, "NaN", "-Infinity", 1e30, .1]}}
    text = json_format.MessageToJson(example())
    again = json_format.Parse(text, tf.train.Example())
    assert json_format.MessageToDict(again)["features"]["feature"] == features
    assert json_format.MessageToJson(again, sort_keys=True) == (
        json_format.MessageToJson(example(), sort_keys=True))


@pytest.mark.parametrize("text, message", [
    ("{", "Failed to load JSON"), ("[]", "is an object"),
    ('{"nosuch": 1}', 'tensorflow.ConfigProto" has no field named "nosuch"'),
    ('{"allowSoftPlacement": 1}', "allowSoftPlacement field: true or false"),
    ('{"interOpParallelismThreads": 1.5}', "an integer is wanted"),
    ('{"interOpParallelismThreads": "x"}', "interOpParallelismThreads field"),
    ('{"deviceCount": []}', "a map is an object"),
    ('{"deviceFilters": "x"}', "array in JSON"),
    ('{"gpuOptions": 3}', "is an object")])
def test_wrong_json(text, message):
    with pytest.raises(json_format.ParseError, match=message):
        json_format.Parse(text, tf.ConfigProto())


def test_other_texts():
    config = json_format.Parse(
        b'{"nosuch": 1, "interOpParallelismThreads": "2", "deviceCount": null}',
        tf.ConfigProto(), ignore_unknown_fields=True)
    assert config == tf.ConfigProto(inter_op_parallelism_threads=2)
    options = tf.OptimizerOptions()
    json_format.ParseDict({"global_jit_level": "ON_2"}, options)
    assert options.global_jit_level == 2


def test_protobufs_module_takes_them():
    done = subprocess.run([sys.executable, "-c", """if True:
        import headrace.compat
        headrace.compat.install()
        from google.protobuf import json_format
        import tensorflow as tf
        print(json_format.MessageToJson(tf.ConfigProto(log_device_placement=True)))
        try:
            json_format.Parse("{", tf.ConfigProto())
        except json_format.ParseError:
            print("refused")
        """], capture_output=True, text=True)
    assert done.stdout == '{\n  "logDevicePlacement": true\n}\nrefused\n', done.stderr
