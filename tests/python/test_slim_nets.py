"""tf.contrib.slim.nets: the networks have the variables, the end points and as
many nodes as those of TensorFlow 1.15.5."""
import importlib
import subprocess
import sys
import zlib

import numpy as np
import pytest

import headrace as tf
from headrace import _names

slim = tf.contrib.slim

# Module, network, its arguments, size of the images; numbers of nodes, of
# variables and of their elements; CRC-32 of the variables and of the end
# points; shape of the output.
RECORDED = [
    ("vgg", "vgg_a", {"num_classes": 7}, 224, 273, 22, 128795015,
     0xe2845ed4, 0x057ac5f8, [2, 7]),
    ("vgg", "vgg_16", {"is_training": False, "spatial_squeeze": False},
     224, 349, 32, 138357544,
     0xd995a775, 0xc6bb2f81, [2, 1, 1, 1000]),
    ("vgg", "vgg_19", {}, 224, 443, 38, 143667240,
     0x38483b4e, 0x2d82f329, [2, 1000]),
    ("alexnet", "alexnet_v2", {"num_classes": 7}, 224, 201, 16, 46235591,
     0xcfcb9243, 0x0a787cb3, [2, 7]),
    ("overfeat", "overfeat", {}, 231, 207, 16, 145704424,
     0x55305437, 0x671edaa7, [2, 1000]),
    ("resnet_v1", "resnet_v1_50", {"num_classes": 5}, 64, 2524, 267, 23571397,
     0x02857c08, 0x0c84f67b, [2, 1, 1, 5]),
    ("resnet_v1", "resnet_v1_101", {}, 64, 4948, 520, 42605504,
     0xff6392c1, 0x2be3d34d, [2, 1, 1, 2048]),
    ("resnet_v1", "resnet_v1_152", {"global_pool": False},
     64, 7362, 775, 58295232,
     0x9b110e72, 0x584904e9, [2, 2, 2, 2048]),
    ("resnet_v1", "resnet_v1_200", {}, 64, 9540, 1015, 62800832,
     0x4faaaec3, 0x42522382, [2, 1, 1, 2048]),
    ("resnet_v2", "resnet_v2_50", {"num_classes": 5, "is_training": False},
     64, 1927, 272, 23575045,
     0x46db16d3, 0xc81e7ff2, [2, 1, 1, 5]),
    ("resnet_v2", "resnet_v2_101", {}, 64, 5058, 542, 42626560,
     0xb83d3663, 0x831c9eaa, [2, 1, 1, 2048]),
    ("resnet_v2", "resnet_v2_152", {}, 64, 7585, 814, 58331648,
     0x6d19e816, 0x9c5374ea, [2, 1, 1, 2048]),
    ("resnet_v2", "resnet_v2_200", {}, 64, 9841, 1070, 62845440,
     0x9e3fdecb, 0x614bad95, [2, 1, 1, 2048]),
    ("inception_v1", "inception_v1", {"num_classes": 7},
     224, 2468, 230, 5614359,
     0x5892ade4, 0x20af4f70, [2, 7]),
    ("inception_v2", "inception_v2", {"num_classes": 7},
     224, 2959, 277, 10180287,
     0x95e6c566, 0x8b04d670, [2, 7]),
    ("inception_v2", "inception_v2",
     {"depth_multiplier": 0.5, "is_training": False},
     224, 2130, 277, 3064976,
     0x9bff27db, 0x47a6e032, [2, 1000]),
    ("inception_v3", "inception_v3", {"num_classes": 7},
     299, 4139, 388, 24381102,
     0xaa9da88c, 0xc5f11a22, [2, 7]),
    ("inception_v3", "inception_v3",
     {"is_training": False, "spatial_squeeze": False},
     299, 2974, 388, 27179376,
     0x87dd9061, 0x5c902e99, [2, 1, 1, 1000]),
]
HOMES = {"vgg": "plain_nets", "alexnet": "plain_nets",
         "overfeat": "plain_nets", "resnet_v1": "resnets",
         "resnet_v2": "resnets", "inception_v1": "inception",
         "inception_v2": "inception", "inception_v3": "inception"}
SCOPES = {"alexnet": "alexnet_v2", "resnet_v1": "resnet",
          "resnet_v2": "resnet"}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        tf.set_random_seed(0)
        yield made


def load(home):
    return _names.load("slim." + home)


def crc(lines):
    return zlib.crc32("\n".join(lines).encode())


@pytest.mark.parametrize(
    "module, name, arguments, size, nodes, variables, elements, of_variables, "
    "of_points, shape", RECORDED)
def test_networks(graph, module, name, arguments, size, nodes, variables,
                  elements, of_variables, of_points, shape):
    home = load(HOMES[module])
    with slim.arg_scope(getattr(
            home, SCOPES.get(module, module) + "_arg_scope")()):
        net, points = getattr(home, name)(
            tf.placeholder(tf.float32, [2, size, size, 3]), **arguments)
    found = tf.global_variables()
    assert net.shape.as_list() == shape
    assert len(found) == variables
    assert sum(v.shape.num_elements() for v in found) == elements
    assert crc("%s %s" % (v.op.name, v.shape.as_list())
               for v in found) == of_variables
    assert crc("%s %s %s" % (key, x.op.name, x.shape.as_list())
               for key, x in points.items()) == of_points
    assert len(graph.get_operations()) == nodes


def test_programs_import_them():
    program = """if True:
        import headrace.compat
        headrace.compat.install()
        from tensorflow.contrib.slim.nets import alexnet, inception, overfeat
        from tensorflow.contrib.slim.nets import resnet_utils, resnet_v1
        from tensorflow.contrib.slim.nets import resnet_v2, vgg
        import tensorflow.contrib.slim.nets as nets
        from tensorflow.contrib.slim.python.slim.nets import inception_v3
        assert nets.vgg is vgg and vgg.vgg_16.default_image_size == 224
        assert inception_v3.inception_v3 is inception.inception_v3
        assert resnet_v1.bottleneck is not resnet_v2.bottleneck
        alexnet.alexnet_v2, overfeat.overfeat, resnet_utils.resnet_arg_scope"""
    done = subprocess.run([sys.executable, "-c", program], text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    assert importlib.import_module("headrace.contrib.slim") is slim


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("stride", [1, 2, 4, 8])
def test_a_smaller_output_stride_has_the_same_features(version, stride):
    nets = load("resnets")
    block = getattr(nets, "resnet_v%d_block" % version)
    make = getattr(nets, "resnet_v%d" % version)
    x = tf.constant(np.random.RandomState(0).randn(1, 30, 31, 3), tf.float32)

    def features(output_stride):
        blocks = [block("block%d" % i, i, 2, 2 if i < 4 else 1)
                  for i in (1, 2, 3, 4)]
        return make(x, blocks, is_training=False, global_pool=False,
                    include_root_block=False, output_stride=output_stride,
                    reuse=tf.AUTO_REUSE, scope="net")[0]
    with slim.arg_scope(nets.resnet_arg_scope()):
        dense, wanted = features(stride), features(None)
        dense = nets.subsample(dense, 8 // stride)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        a, b = session.run([dense, wanted])
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_a_padding_that_does_not_depend_on_the_size():
    nets = load("resnets")
    one = tf.ones_initializer()
    with slim.arg_scope([slim.conv2d], weights_initializer=one,
                        activation_fn=None, normalizer_fn=None):
        for n in (4, 5):
            x = tf.reshape(tf.range(float(n * n)), [1, n, n, 1])
            strided = nets.conv2d_same(x, 1, 3, 2, scope="s%d" % n)
            whole = nets.conv2d_same(x, 1, 3, 1, scope="w%d" % n)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                a, b = session.run([strided, whole[:, ::2, ::2]])
                np.testing.assert_array_equal(a, b)


def test_the_networks_train():
    nets = load("inception")
    x = np.random.RandomState(0).randn(2, 64, 64, 3).astype(np.float32)
    with slim.arg_scope(nets.inception_v2_arg_scope()):
        logits, _ = nets.inception_v2(x, num_classes=3, depth_multiplier=0.1)
    loss = tf.losses.sparse_softmax_cross_entropy([0, 2], logits)
    train = slim.learning.create_train_op(loss, tf.train.AdamOptimizer(0.01))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run(train) for _ in range(12)]
    assert losses[-1] < losses[0] / 2


X = np.zeros((1, 64, 64, 3), np.float32)


@pytest.mark.parametrize("call, words", [
    (lambda: load("inception").inception_v1_base(X, "Mixed_9z"),
     "Unknown final endpoint Mixed_9z"),
    (lambda: load("inception").inception_v2(X, depth_multiplier=0.),
     "depth_multiplier is not greater than zero"),
    (lambda: load("resnets").resnet_v1_50(X, output_stride=6),
     "needs to be a multiple of 4"),
    (lambda: load("resnets").resnet_v2_50(X, output_stride=64),
     "output_stride cannot be reached"),
    (lambda: load("resnets").resnet_v1(
        tf.constant(X), [load("resnets").resnet_v1_block("b", 1, 2, 4)],
        output_stride=2, include_root_block=False), "output_stride cannot be reached")])
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()
