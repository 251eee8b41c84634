"""headrace.compat: `import tensorflow` for programs of TensorFlow 1.x."""
import ast
import json
import os
import re
import signal
import subprocess
import sys

import pytest

import headrace as tf
from headrace import _api, _interface, _names, _packages
from headrace._src.compat import (
    contrib_modules, inner_modules, tensorflow_modules)

# Statements that succeed, in one process one after the other.
GOOD = """
import tensorflow as tf; tf.Session, tf.nn.relu, tf.contrib.slim.conv2d
import tensorflow as tf; assert tf.__version__ == tf.VERSION == "1.15.5"
import tensorflow as tf; assert tuple(map(int, tf.__version__.split("."))) > (1, 4)
import tensorflow as tf; assert tf.__git_version__ and tf.GIT_VERSION and tf.__file__
import tensorflow as tf, headrace; assert tf.Session is headrace.Session
import tensorflow as tf; assert {"nn", "matmul", "python", "contrib"} <= set(dir(tf))
import tensorflow as tf; assert not hasattr(tf, "frobnicate")
import tensorflow.compat.v1 as tf1, tensorflow as tf; assert tf1 is tf
import tensorflow.compat.v1 as tf; tf.disable_v2_behavior(); tf.layers.dense
from tensorflow.compat import v1 as tf; tf.get_variable
from tensorflow.compat.v1 import nn; nn.softmax
import tensorflow.compat.v1.keras.layers as l; l.Dense
import tensorflow.compat.v2 as tf, tensorflow as tf1; assert tf is tf1.compat.v2 and tf.compat.v1 is tf1
from tensorflow.compat.v2.keras.layers import LSTM, Dense; from tensorflow.compat.v2 import nn, math
from tensorflow.python.framework import composite_tensor as c; import tensorflow as tf; assert isinstance(tf.SparseTensor([[0]], [1.], [1]), c.CompositeTensor) and not isinstance(tf.constant(1), c.CompositeTensor)
from tensorflow.python import pywrap_tensorflow as p; import tensorflow as tf; t = tf.constant(1) + 2; assert p.TF_TryEvaluateConstant_wrapper(t.graph._c_graph, t._as_tf_output()) == 3
from tensorflow.python import pywrap_tensorflow as p; import tensorflow as tf; t = tf.placeholder(tf.int32) + 2; assert p.TF_TryEvaluateConstant_wrapper(t.graph._c_graph, t._as_tf_output()) is None
from tensorflow.python.keras.utils import tf_utils as u; class_ = type("T", (), {}); u.register_symbolic_tensor_type(class_); assert u.is_symbolic_tensor(class_()) and not u.is_symbolic_tensor(3)
from tensorflow.python.ops import nn_ops as n; import tensorflow as tf, numpy as np; assert n.Convolution(tf.TensorShape([1, 4, 4, 1]), filter_shape=tf.TensorShape([2, 2, 1, 1]), padding="VALID")(np.ones([1, 4, 4, 1], "f"), np.ones([2, 2, 1, 1], "f")).shape == [1, 3, 3, 1]
from tensorflow.python.ops import control_flow_ops as c; import tensorflow as tf; t = c._case_helper(lambda p, t, f: t() if p is True else f(), [(False, lambda: 1), (True, lambda: 2)], lambda: 3, False, "case", allow_python_preds=True); assert t == 2
import tensorflow.contrib.slim as slim, tensorflow as tf; assert slim is tf.contrib.slim
from tensorflow.contrib.eager.python import tfe; assert not tfe.in_eager_mode()
import tensorflow as tf; assert not tf.contrib.eager.executing_eagerly() and tf.contrib.eager.num_gpus() == 0
import tensorflow as tf; tf.contrib.eager.custom_gradient, tf.contrib.eager.run_test_in_graph_and_eager_modes
import tensorflow as tf; f = tf.contrib.framework.deprecated("2030-01-01", "Use g.")(lambda: 3); assert f() == 3 and callable(tf.contrib.framework.deprecated_args) and callable(tf.contrib.framework.deprecated_arg_values)
from tensorflow.python.ops import summary_op_util as s; from tensorflow.python.distribute import summary_op_util as d; import tensorflow as tf; t = tf.constant(1); assert not d.skip_summary() and s.collect(t, None, ["k"]) is None and tf.get_collection("k")[-1] is t and s.clean_tag("a b") == "a_b" and s.summary_scope("s", "f").__enter__() == ("f/f/s", "f/s/")
import pydoc, tensorflow as tf; assert all(pydoc.locate("tensorflow." + name) is value for name, value in {"nn.rnn_cell.LSTMCell": tf.nn.rnn_cell.LSTMCell, "train.AdamOptimizer": tf.train.AdamOptimizer, "identity": tf.identity, "nn": tf.nn, "contrib.rnn.Nonsense": None, "nonsense": None}.items())
from tensorflow.python import pywrap_tensorflow as p; p.PyRecordReader_New, p.PyRecordReader
from tensorflow.python.ops import rnn; from tensorflow.contrib.seq2seq.python.ops import decoder, helper; import tensorflow as tf; x = tf.zeros([2, 3, 4]); assert rnn._transpose_batch_time(x).shape == decoder._transpose_batch_time(x).shape == [3, 2, 4] and rnn._best_effort_input_batch_size([x]) == 3 and rnn._infer_state_dtype(None, (x, x)) == tf.float32 and rnn._concat(2, [3], static=True) == [2, 3] and helper._unstack_ta(x).read(0).shape == [3, 4]
import tensorflow as tf; assert tf.contrib.framework.get_name_scope() == tf.get_default_graph().get_name_scope()
from tensorflow.python.ops import rnn_cell_impl as r; assert [t.shape.as_list() for t in r._zero_state_tensors((3, 4), 2, "float32")] == [[2, 3], [2, 4]]
from tensorflow.python.ops import variable_scope as v; assert v._pure_variable_scope("p", reuse=None).__enter__().name == "p"
import tensorflow.contrib.layers; tensorflow.contrib.layers.fully_connected
from tensorflow.contrib import rnn, layers, slim; rnn.BasicLSTMCell
from tensorflow.contrib.framework import arg_scope, add_arg_scope
from tensorflow.contrib.framework.python.ops import arg_scope
from tensorflow.contrib.framework.python.ops.arg_scope import add_arg_scope; import tensorflow.contrib.framework.python.ops.arg_scope as a, tensorflow.contrib.framework.python.ops as o, tensorflow as tf; from tensorflow.contrib.framework.python.ops import arg_scope as b; assert a is b is o.arg_scope is tf.contrib.framework.arg_scope
from tensorflow.contrib.layers.python.layers import layers; layers.fully_connected
from tensorflow.contrib.layers.python.layers import initializers as i; i.xavier_initializer
from tensorflow.contrib.layers.python.layers import regularizers, utils
from tensorflow.contrib.rnn.python.ops import core_rnn_cell; core_rnn_cell._linear
from tensorflow.contrib.rnn.python.ops.core_rnn_cell_impl import _linear, BasicLSTMCell
from tensorflow.contrib.training.python.training.hparam import HParams
from tensorflow.contrib.tensorboard.plugins import projector; projector.ProjectorConfig().embeddings.add()
import tensorflow as tf; tf.contrib.tensorboard.plugins.projector.visualize_embeddings
from tensorflow.core.framework import graph_pb2, node_def_pb2, summary_pb2
from tensorflow.core.framework import types_pb2 as t; assert t.DT_FLOAT == 1 and t.DT_INT32_REF == 103
from tensorflow.core.framework.types_pb2 import DataType; assert DataType.Name(7) == "DT_STRING" and DataType.Value("DT_HALF") == 19
from tensorflow.core.lib.core import error_codes_pb2 as e; assert e.NOT_FOUND == 5
from tensorflow.core.protobuf import config_pb2; config_pb2.ConfigProto(), config_pb2.RunOptions.FULL_TRACE
from tensorflow.core.protobuf import meta_graph_pb2, rewriter_config_pb2, saver_pb2
from tensorflow.core.example import example_pb2, feature_pb2; example_pb2.Example()
from tensorflow.core.util.event_pb2 import Event; Event()
from tensorflow.python import keras; keras.layers.Dense
from tensorflow.python import ops, math_ops, state_ops, tensor_shape; ops.convert_to_tensor, math_ops.cast, state_ops.assign, tensor_shape.TensorShape
from tensorflow.python.ops import array_ops; import tensorflow.python as p; p.ops.array_ops.shape, p.ops.name_scope
from tensorflow.python.keras.layers import Dense
from tensorflow.python.ops.rnn_cell import *; GRUCell
from tensorflow.contrib.data.python.ops.readers import *; import tensorflow.contrib.data.python.ops.readers as b; assert "LMDBDataset" not in dir(b)
import tensorflow as tf; from tensorflow.python.ops import op_selector as s; x = tf.constant(1.); y = -x; z = y + 1; assert set(s.get_backward_walk_ops([z], inclusive=False, stop_at_ts=[x])) == {y.op, z.op.inputs[1].op} and x.op in s.get_backward_walk_ops(z.op) and s.get_backward_walk_ops([z], within_ops=[y, z]) == [z.op, y.op]
from tensorflow.python.training.monitored_session import _HookedSession
from tensorflow.python.ops.linalg import linear_operator_test_util as u; u.SquareLinearOperatorDerivedClassTest, u.add_tests, u.random_tril_matrix
from tensorflow.python.data.experimental.ops import batching, grouping, interleave_ops, readers; batching.map_and_batch, grouping.group_by_window, interleave_ops.parallel_interleave, readers.make_csv_dataset_v1
from tensorflow.python.eager import def_function, test; def_function.function, test.main
from tensorflow.python.platform import test; test.mock.patch.object, test.TestCase
from tensorflow.python.ops import ctc_ops as c; import tensorflow as tf; s = tf.Session().run(c.dense_labels_to_sparse([[1, 2], [3, 0]], [2, 1])); assert s.indices.tolist() == [[0, 0], [0, 1], [1, 0]] and s.values.tolist() == [1, 2, 3]; c.ctc_loss_dense
from tensorflow.python.ops import gradients_impl as g, gradients_util as u; import tensorflow as tf; x = tf.constant([1., 2.]); assert tf.Session().run(g._hessian_vector_product(tf.reduce_sum(x ** 3), [x], [tf.constant([1., 3.])]))[0].tolist() == [6., 36.] and u.IsTrainable(x) and not u.IsTrainable(tf.int32)
from tensorflow.python.ops import math_ops as m; import tensorflow as tf; s = m._as_indexed_slices(tf.constant([[1.], [2.]])); assert tf.Session().run(s).indices.tolist() == [0, 1] and m._as_indexed_slices(s) is s
from tensorflow.python.ops import math_ops as m; import tensorflow as tf; one, two = m._as_indexed_slices_list([tf.constant([1.]), tf.IndexedSlices([[1.]], tf.constant([0], tf.int64))]); assert one.indices.dtype == two.indices.dtype == tf.int64
from tensorflow.contrib.slim.nets import resnet_v2 as r; import tensorflow.contrib.slim.nets as n, tensorflow as tf; assert r.resnet_utils.Block is tf.contrib.slim.nets.resnet_utils.Block and n.resnet_v1.resnet_utils.subsample
from tensorflow.python.framework import ops; import tensorflow as tf; v = tf.Variable(1.); assert ops._as_graph_element(v) is v._as_graph_element() and ops._as_graph_element(tf.constant(1)) is None
from tensorflow.python.framework import ops; import tensorflow as tf; r = ops._gradient_registry; assert "Relu" in r._registry and "Nope" not in r.list() and ops.get_gradient_function(tf.nn.relu(1.).op) == r.lookup("Relu")
from tensorflow.python.framework import ops; import tensorflow as tf; assert ops.get_gradient_function(tf.py_func(abs, [1.], tf.float32).op) is None
from tensorflow.python.ops import array_ops as a; import tensorflow as tf; assert a.shape_internal(tf.zeros([2]), optimize=False).op.type == "Shape" and a.shape_internal(tf.zeros([2])).op.type == "Const"
from tensorflow.python.ops import resource_variable_ops as r; v = r.ResourceVariable(1.); assert isinstance(v.assign_add(1.), r._UnreadVariable)
from tensorflow.python.ops import lookup_ops; lookup_ops.InitializableLookupTableBaseV1
from tensorflow.python.training import device_setter as d; assert d._RoundRobinStrategy(2)(None) == 0
from tensorflow.python.ops import summary_ops_v2 as s; assert s._INVALID_SCOPE_CHARACTERS.sub("", "a b/-") == "ab/-"; s.create_file_writer_v2, s.summary_scope, s.all_v2_summary_ops
from tensorflow.python.ops.distributions import util as u; u.rotate_transpose, u.pick_vector, u.get_logits_and_probs, u.fill_triangular; assert u.gen_new_seed(3, "a") == 1540447394 and not hasattr(u, "gen_nothing")
from tensorflow.python.platform import test, googletest; test.assert_equal_graph_def, googletest.unittest.expectedFailure
from tensorflow.python.eager import context as c; assert (c.GRAPH_MODE, c.EAGER_MODE) == (0, 1)
from tensorflow.python.data.util import nest as n; assert n.flatten({"b": 1, "a": (2, [3, 4])}) == [2, [3, 4], 1] and n.is_sequence((1,)) and not n.is_sequence([1]) and n.pack_sequence_as((1, {"a": 2}), [5, 6]) == (5, {"a": 6})
from tensorflow.python.data.util import nest as n; assert n.map_structure(lambda x, y: (x, y), (1, [2]), (3, [4])) == ((1, 3), ([2], [4])) and n.flatten_up_to((1, 2), (1, (2, 3))) == [1, (2, 3)] and n.map_structure_up_to((1,), lambda x: x + x, ((1, 2),)) == ((1, 2, 1, 2),)
from tensorflow.python.data.util import convert as c; import tensorflow as tf; assert [v.tolist() for v in tf.Session().run([c.partial_shape_to_tensor(s) for s in ([1, None], tf.TensorShape([2]), (3, -1), [], 4)])] == [[1, -1], [2], [3, -1], [], [4]] and c.optional_param_to_tensor("a", None, 3).op.name == "a"
from tensorflow.python.data.util import random_seed as r; import tensorflow as tf; run = tf.Session().run; assert run(r.get_seed(None)) == (0, 0) and run(r.get_seed(3)) == (87654321, 3) == run(r.get_seed(tf.constant(3, tf.int64)))
from tensorflow.python.data.util import random_seed as r; import tensorflow as tf; tf.set_random_seed(0); assert tf.Session().run(r.get_seed(0)) == (0, 2**31 - 1)
from tensorflow.python.data.experimental.ops import cardinality as c, counter, interleave_ops, random_ops, readers; assert (c.INFINITE, c.UNKNOWN) == (-1, -2); counter.CounterV2, interleave_ops.sample_from_datasets_v2, random_ops.RandomDatasetV2, readers.CsvDatasetV2
from tensorflow.python.data.ops import readers as r, iterator_ops as i, dataset_ops as d; r.TextLineDatasetV2, i.IteratorV2; assert issubclass(d.DatasetV1Adapter, d.DatasetV1)
from tensorflow.python.ops import cond_v2 as c; import tensorflow as tf; x = tf.constant(3.); y = c.cond_v2(tf.constant(True), lambda: x * x, lambda: x); assert tf.Session().run([y, tf.gradients(y, x)[0]]) == [9., 6.]
from tensorflow.python.ops import while_v2 as w; import tensorflow as tf; x = tf.constant(2.); y = w.while_loop(lambda v: v < 8., lambda v: v * v, [x]); assert isinstance(y, list) and tf.Session().run([y[0], tf.gradients(y, x)[0]]) == [16., 32.]
from tensorflow.python.ops import functional_ops as f; from tensorflow.python.framework import function; import tensorflow as tf; d = function.Defun(tf.float32)(lambda x: x + 1.); assert tf.Session().run(f.partitioned_call([tf.constant(1.)], d)) == [2.] and d.stateful_ops == []
from tensorflow.python.ops import functional_ops as f; from tensorflow.python.framework import function; import tensorflow as tf; d = function.Defun(tf.float32)(lambda x: x + tf.random_uniform([])); assert [op for _, op in d.stateful_ops] == ["RandomUniform"] and f.partitioned_call([1.], d)[0].op.type == "StatefulPartitionedCall"
from tensorflow.python.layers import utils as u; import tensorflow as tf; a = tf.constant(1); b = a + 1; c = b * 2; d = tf.constant(2); assert u.get_reachable_from_inputs([a]) == {a, b, c} and c not in u.get_reachable_from_inputs([a], [b]) and u.static_shape(a) == [] and u.object_list_uid(a)
from tensorflow.python.summary import plugin_asset as p; A = type("A", (p.PluginAsset,), {"plugin_name": "a", "assets": lambda self: {}}); x = p.get_plugin_asset(A); assert p.get_plugin_asset(A) is x and p.get_all_plugin_assets() == [x]
from tensorflow.python.ops import variable_scope as v; s = v._get_default_variable_store(); assert s.get_variable("v", [1]) is s.get_variable("v", [1], reuse=True) and list(s._vars) == ["v"]
from tensorflow.python.ops import nn_impl as n, rnn_cell_impl as r; n._compute_sampled_logits, n._sum_rows; assert r.ASSERT_LIKE_RNNCELL_ERROR_REGEXP == "is not an RNNCell"
from tensorflow.python.training import distribution_strategy_context as d; assert not d.has_strategy()
from tensorflow.python.framework import errors as e, errors_impl as i; assert e.OperatorNotAllowedInGraphError is i.OperatorNotAllowedInGraphError
from tensorflow.python.framework import device_spec as d; assert d.DeviceSpecV2.from_string("/cpu:1").replace(device_index=2).to_string() == "/device:CPU:2"
from tensorflow.python.framework import ops; import tensorflow as tf; s = tf.IndexedSlices([1.], [0]); a, b, c = ops.convert_n_to_tensor_or_indexed_slices([1, None, s]); assert a.dtype == tf.int32 and b is None and c is s and ops._USE_C_API
from tensorflow.python.framework import ops; import tensorflow as tf; s = tf.SparseTensor([[0]], [1.], [1]); assert ops.convert_to_tensor_or_composite(s) is s and ops.convert_to_tensor_or_composite(1).dtype == tf.int32
from tensorflow.python.ops import data_flow_ops as d; assert d._shape_common([1, 3], [2, 3]).as_list() == [None, 3] and d._shape_common([1], [1, 2]).ndims is None
from tensorflow.python.framework import test_combinations as c; assert len(c.times(c.combine(a=[1, 2]), c.combine(b=3))) == 2
from tensorflow.python.ops import init_ops as i; assert i.ConvolutionOrthogonal2D is i.convolutional_orthogonal_2d
import tensorflow as tf; from tensorflow.python.ops.rnn_cell_impl import _concat; assert tf.contrib.util.constant_value(_concat(3, tf.TensorShape([4]))).tolist() == [3, 4]
from tensorflow.python.ops import rnn_cell_impl as r; assert r._concat([2, None], 3, static=True) == [2, None, 3]; r.assert_like_rnncell("c", r.GRUCell(2))
from tensorflow.python.keras import backend as K; assert not K.is_keras_tensor(K.constant(1.)) and K.is_placeholder(K.placeholder((2,)))
import tensorflow as tf; from tensorflow.python.keras import backend as K; assert K.get_graph() is tf.get_default_graph(); K.logsumexp(K.ones((2,)))
from tensorflow.python.keras.utils import conv_utils as c; assert c.normalize_data_format(None) == "channels_last" and c.normalize_padding("CAUSAL") == "causal"
from tensorflow.python.training import saver as s; from tensorflow.python.training.saving import saveable_object_util as u; import tensorflow as tf; v = tf.get_variable("listed_v", [2]); p = tf.get_variable("listed_p", [4], partitioner=tf.fixed_size_partitioner(2)); d = s.BaseSaverBuilder.OpListToDict([v] + list(p)); assert d[v.op.name].op.name == v.op.name and list in map(type, d.values()) and u.op_list_to_dict([v], convert_variable_to_tensor=False) == {v.op.name: v}
from tensorflow.python.keras.utils import np_utils, conv_utils; np_utils.to_categorical, conv_utils.conv_output_length
from tensorflow.python.client import device_lib; assert device_lib.list_local_devices()[0].name == "/device:CPU:0"
from tensorflow.python.client import session, timeline; session.Session, timeline.Timeline
from tensorflow.python.data.ops import dataset_ops; dataset_ops.Dataset
from tensorflow.python.data.util import nest; nest.flatten
from tensorflow.python.eager import context, backprop; assert not context.executing_eagerly()
from tensorflow.python.feature_column import feature_column as f; f._DenseColumn, f._CategoricalColumn, f._LazyBuilder, f.input_layer
from tensorflow.python.framework import op_def_registry; op_def_registry.get_registered_ops()["Add"].input_arg
from tensorflow.python.framework import constant_op, dtypes, errors, errors_impl, ops, random_seed
from tensorflow.python.framework import dtypes as d; assert d.float32_ref._is_ref_dtype and d.half_ref
from tensorflow.python.framework import dtypes as d; assert d.as_dtype("float_ref") is d.float32_ref and d.as_dtype("half_ref") is d.half_ref and d.as_dtype("double_ref") is d.float64_ref
from tensorflow.python.ops import variables as v; x = v.Variable(1., name="x"); assert x.op.type == "VarHandleOp" and x.initial_value.name == "x/Initializer/initial_value:0" and isinstance(v.VariableV1(1.), v.Variable) and v.VariableV1(2.).op.type == "VariableV2"
from tensorflow.python.ops import variables as v; isinstance(type("Own", (v.Variable,), {"__init__": lambda self: None})(), v.Variable)
from tensorflow.python.tools import saved_model_cli as s; s.create_parser, s.show, s.run, s.scan, s.load_inputs_from_input_arg_string
from tensorflow.python.framework import versions as v; assert v.__version__ == v.VERSION and v.__git_version__ and v.__compiler_version__ == v.COMPILER_VERSION
from tensorflow.python.framework.kernels import get_all_registered_kernels, get_registered_kernels_for_op
from tensorflow.python.framework import error_interpolation; assert error_interpolation.interpolate("a", None) == "a"
from tensorflow.python.autograph.core import ag_ctx; assert ag_ctx.control_status_ctx().status is ag_ctx.Status.UNSPECIFIED
from tensorflow.python.framework.function import _DefinedFunction, _from_definition, from_library, get_extra_args
from tensorflow.python.framework import function_def_to_graph as f, graph_to_function_def as g; assert f.function_def_to_graph and g.graph_to_function_def
from tensorflow.python.framework.composite_tensor_utils import append_composite_tensor, is_composite_or_composite_value
from tensorflow.python.framework.graph_util_impl import _node_name; assert _node_name("^a") == _node_name("a:1") == "a"
from tensorflow.python.framework import tensor_shape as s; s.vector(3), s.as_shape([1]), s.unknown_shape()
from tensorflow.python.framework import graph_util, importer, function, meta_graph, graph_io
from tensorflow.python.framework.ops import Tensor, GraphKeys, convert_to_tensor, RegisterGradient
from tensorflow.python.framework import ops, tensor_like; assert ops._TensorLike is tensor_like._TensorLike
import tensorflow as tf; from tensorflow.python.framework.ops import _TensorLike as t; assert issubclass(tf.Tensor, t) and issubclass(tf.SparseTensor, t) and issubclass(tf.IndexedSlices, t) and not issubclass(tf.Variable, t)
from tensorflow.python.framework import ops; assert ops.is_dense_tensor_like(ops.convert_to_tensor(1)) and not ops.is_dense_tensor_like(1)
from tensorflow.python.framework import ops; assert ops.uid() < ops.uid() and ops.get_name_scope() == ""
from tensorflow.python.framework import tensor_util as u; u.constant_value, u.make_tensor_proto, u.MakeNdarray
from tensorflow.python.framework import test_util; test_util.TensorFlowTestCase
from tensorflow.python.layers import base, core, convolutional, utils; core.Dense, base.Layer
from tensorflow.python.ops import spectral_ops_test_util as u; u.fft_kernel_label_map().__enter__()
from tensorflow.python.lib.io import file_io, tf_record; file_io.FileIO, tf_record.TFRecordWriter
from tensorflow.python.ops import array_ops, math_ops, nn_ops, nn, control_flow_ops, init_ops
from tensorflow.python.ops import array_ops, gen_array_ops; array_ops.concat, gen_array_ops.concat_v2
from tensorflow.python.ops import rnn, rnn_cell, rnn_cell_impl, variable_scope as vs, variables
from tensorflow.python.ops import gen_nn_ops as g; assert g._max_pool_grad is g.max_pool_grad
from tensorflow.python.ops import control_flow_ops as c; c.with_dependencies, c.merge, c.while_loop
from tensorflow.python.ops import resource_variable_ops as r; r.ResourceVariable
from tensorflow.python.ops import lookup_ops, state_ops, embedding_ops, clip_ops, metrics
from tensorflow.python.ops.nn import rnn_cell; rnn_cell.GRUCell
from tensorflow.python.ops.rnn_cell_impl import RNNCell, LSTMStateTuple
from tensorflow.python.ops.losses import losses; losses.sparse_softmax_cross_entropy
from tensorflow.python.platform import app, flags, gfile, googletest, test, tf_logging
from tensorflow.python.saved_model import builder, signature_constants, tag_constants
from tensorflow.python.summary import summary; summary.scalar
from tensorflow.python.tools import freeze_graph, inspect_checkpoint
from tensorflow.python.tools import optimize_for_inference_lib as o; o.optimize_for_inference
from tensorflow.python import debug as d; assert d.has_inf_or_nan(None, [1.0, float("inf")])
from tensorflow.contrib.learn import preprocessing as p; p.VocabularyProcessor
from tensorflow.python.debug.lib import debug_data; debug_data.has_inf_or_nan
from tensorflow.python.debug.wrappers.hooks import DumpingDebugHook
from tensorflow.python.distribute import distribution_strategy_context as d; assert not d.has_strategy()
from tensorflow.python.keras.engine.input_spec import InputSpec
from tensorflow.python.ops import array_ops; array_ops.constant(1)
from tensorflow.python.ops import lookup_ops; lookup_ops.index_table_from_tensor(vocabulary_list=["a"])
from tensorflow.python.ops import math_ops; math_ops._bucketize([1., 3.], boundaries=[2.])
from tensorflow.python.ops import control_flow_util as c; assert not c.GraphOrParentsInXlaContext(None)
from tensorflow.python.eager import backprop; backprop.GradientTape
from tensorflow.python import tf2; assert not tf2.enabled()
from tensorflow.contrib.learn.python.learn.preprocessing.text import VocabularyProcessor
from tensorflow.contrib.distribute.python.mirrored_strategy import MirroredStrategy
from tensorflow.contrib.distribute.python import collective_all_reduce_strategy, one_device_strategy, parameter_server_strategy
from tensorflow.contrib.learn.python.learn.datasets import base, mnist
from tensorflow.contrib.autograph import do_not_convert
import tensorflow.contrib.stateless
from tensorflow.python.ops.rnn import rnn_cell_impl; rnn_cell_impl.LSTMCell
from tensorflow.python.ops.rnn_cell_impl import nest, nn_ops, array_ops; array_ops.concat
from tensorflow.contrib.layers.python.layers.layers import math_ops, ops; ops.Tensor, math_ops.add
from tensorflow.python.training import moving_averages, optimizer, saver, session_run_hook
from tensorflow.python.training import slot_creator, training_util, queue_runner, input
from tensorflow.python.util import compat, nest, deprecation, tf_inspect, tf_export
from tensorflow.python.util.deprecation import deprecated; assert deprecated(None, "i")(len)([]) == 0
from tensorflow.python.util.nest import flatten, map_structure, flatten_up_to
from tensorflow import nn, layers, keras, Session, float32
from tensorflow import *; matmul, Session
import tensorflow.python.platform.gfile as g; g.GFile
import importlib; importlib.import_module("tensorflow.python.ops.array_ops").stack
import tensorflow.python.ops.array_ops as a, pydoc; a.__name__, repr(a), dir(a)
from tensorflow.python.keras.utils import generic_utils as g; import functools; f = lambda a, b, **k: a; assert g.has_arg(f, "a") and not g.has_arg(f, "c") and g.has_arg(f, "c", accept_all=True) and g.has_arg(functools.partial(f, b=1), "b") and g.to_list(1) == [1] and g.to_snake_case("MaxPooling2D") == "max_pooling2d"
from tensorflow.python.keras.utils import generic_utils as g; import numpy as np; assert g.slice_arrays([1, 2], 0) == [None, None] and g.slice_arrays(np.arange(4), 1, 3).tolist() == [1, 2] and g.slice_arrays([np.arange(4)], [0, 3])[0].tolist() == [0, 3] and g.make_batches(5, 2) == [(0, 2), (2, 4), (4, 5)] and g.is_all_none([None, (None,)])
from tensorflow.python.keras.utils import generic_utils as g; f = g.func_load(g.func_dump(lambda x, y=2: x + y)); assert f(1) == 3
from tensorflow.python.keras.utils import conv_utils as c; import numpy as np; assert c.conv_kernel_mask((3,), (2,), (1,), "valid").astype(int).tolist() == [[1, 0], [1, 1], [0, 1]] and c.conv_kernel_mask((1, 0), 1, 1, "same").shape == (1, 0, 1, 0) and c.conv_output_shape((5, 4), (2, 2), (2, 1), "same") == (3, 4)
from tensorflow.python.keras.utils import conv_utils as c; assert c.conv_connected_inputs((5,), 3, (1,), 2, "valid") == [range(2, 5)] and c.convert_kernel([[[1.]], [[2.]]]).tolist() == [[[2.]], [[1.]]]
from tensorflow.python.keras.utils import kernelized_utils as k; import tensorflow as tf; assert tf.Session().run([k.inner_product([[1., 2.]], [[3., 4.]]), k.exact_gaussian_kernel([0.], [[0.]], 2.), k.exact_laplacian_kernel([[1.]], [1.], 2.)]) == [[[11.]], [[1.]], [[1.]]]
from tensorflow.python.keras.utils import tf_utils as u; w = u.convert_inner_node_data([["l", 2, 3]], wrap=True); assert isinstance(w[0], u.ListWrapper) and u.convert_inner_node_data((w[0],)) == (["l", 2, 3],) and u.map_structure_with_atomic(lambda x: isinstance(x, int), lambda x: x + 1, {"a": [1, (2,)]}) == {"a": [2, (3,)]}
from tensorflow.python.keras.engine import training_utils as u; import numpy as np; m = u.ModelInputs({"b": np.ones(3), "a": np.ones((2, 4))}); assert m.get_input_names() == ["a", "b"] and m.get_symbolic_inputs()["a"].shape.as_list() == [None, 4] and u.ModelInputs(np.ones(2)).get_input_names() == ["input_1"]
from tensorflow.python.keras.engine import training_utils as u; import numpy as np; assert u.standardize_weights(np.array([0, 1]), np.array([2., 3.]), {0: .5, 1: 1.}).tolist() == [1., 3.]
from tensorflow.python.keras.engine import network, node, base_layer; assert issubclass(__import__("tensorflow").keras.Model, network.Network); node.Node
from tensorflow.python.keras.layers import recurrent_v2 as r; import tensorflow as tf; assert r.LSTM is tf.compat.v2.keras.layers.LSTM
from tensorflow.python.module import module as m; import tensorflow as tf; assert m.Module is tf.Module and m.camel_to_snake("AbC") == "ab_c"
from tensorflow.python.training.tracking import util; import tensorflow as tf; assert util.Checkpoint is tf.train.Checkpoint
from tensorflow.python.keras import optimizers as o; assert o.sgd is o.SGD and o.adam is o.Adam
"""

BAD = {
    "import tensorflow.contrib.timeseries":
        "ModuleNotFoundError: tensorflow.contrib.timeseries is not supported",
    "from tensorflow.contrib import timeseries":
        "ModuleNotFoundError: tensorflow.contrib.timeseries is not supported",
    "from tensorflow.contrib.timeseries.python import timeseries":
        "ModuleNotFoundError: tensorflow.contrib.timeseries is not supported",
    "import tensorflow.compat.v2.lite as r":
        "ModuleNotFoundError: tensorflow.compat.v2.lite is not supported yet",
    "from tensorflow.python.ops.array_ops import frobnicate":
        "ModuleNotFoundError: cannot import name 'frobnicate' from "
        "'tensorflow.python.ops.array_ops': it is not supported",
    "import tensorflow.frobnicate":
        "ModuleNotFoundError: No module named 'tensorflow.frobnicate' in "
        "Headrace",
    "from tensorflow.python.ops import array_ops; array_ops.frobnicate":
        "AttributeError: tensorflow.python.ops.array_ops.frobnicate is not "
        "supported",
    "from tensorflow.nn import array_ops":
        "ImportError: cannot import name 'array_ops' from 'tensorflow.nn'",
    "import tensorflow.nn.array_ops":
        "ModuleNotFoundError: No module named 'tensorflow.nn.array_ops' in "
        "Headrace",
    "import tensorflow.nn.relu":
        "ModuleNotFoundError: No module named 'tensorflow.nn.relu': it is a name "
        "in tensorflow.nn",
    "import tensorflow as tf; tf.lite":
        "AttributeError: tf.lite is not supported",
    "import tensorflow as tf; tf.nn.frobnicate":
        "AttributeError: module 'headrace.nn' has no attribute 'frobnicate'",
    "from tensorflow.core.framework import types_pb2; types_pb2.DT_FROB":
        "AttributeError: tensorflow.core.framework.types_pb2.DT_FROB is not "
        "supported",
}

RUN = """
import json, sys
import headrace.compat
headrace.compat.install()
headrace.compat.install()
out = []
for statement in json.load(sys.stdin):
    try:
        exec(statement, {})
        out.append(None)
    except Exception as error:
        out.append("%s: %s" % (type(error).__name__, error))
json.dump(out, sys.stdout)
"""


@pytest.fixture(scope="module")
def results():
    statements = [*GOOD.strip().splitlines(), *BAD]
    done = subprocess.run([sys.executable, "-c", RUN], text=True,
                          input=json.dumps(statements), capture_output=True)
    assert done.returncode == 0, done.stderr
    return dict(zip(statements, json.loads(done.stdout)))


@pytest.mark.parametrize("statement", GOOD.strip().splitlines())
def test_what_programs_import(results, statement):
    assert results[statement] is None


@pytest.mark.parametrize("statement", BAD)
def test_what_is_missing_is_named(results, statement):
    assert results[statement].startswith(BAD[statement])


def run(arguments, cwd, **kwargs):
    return subprocess.run([sys.executable, *arguments], text=True, cwd=cwd,
                          capture_output=True, **kwargs)


def test_nothing_is_shadowed_unless_asked(tmp_path):
    (tmp_path / "tensorflow.py").write_text("real = True")
    done = run(["-c", "import headrace, sys; sys.path.insert(0, '.'); "
                "import tensorflow; assert tensorflow.real; "
                "headrace.compat.install()"], tmp_path)
    assert done.returncode == 1
    assert re.search(r"ImportError: tensorflow was imported before from .*"
                     r"tensorflow\.py: call headrace\.compat\.install\(\) before",
                     done.stderr)
    done = run(["-c", "import headrace, sys; sys.path.insert(0, '.'); "
                "headrace.compat.install(); import tensorflow as tf; "
                "print(tf.Session.__module__)"], tmp_path)
    assert done.stdout.startswith("headrace."), done.stderr


PROGRAM = """import sys
import beside
import tensorflow as tf

tf.app.flags.DEFINE_integer("n", 3, "A number.")

def main(argv):
    print(__name__, sys.argv[1:], argv[1:], tf.flags.FLAGS.n, beside.x)
    print(sys.modules["__main__"].main is main, __file__, sys.path[0])
    if "fail" in argv:
        inner()
    return 7

def inner():
    raise ValueError("no")

if __name__ == "__main__":
    tf.app.run()
"""


@pytest.fixture
def program(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "program.py").write_text(PROGRAM)
    (folder / "beside.py").write_text("x = 5")
    return folder / "program.py"


def test_a_program_has_its_arguments_and_status(program, tmp_path):
    done = run(["-m", "headrace.compat", "folder/program.py", "--n=4", "a"],
               tmp_path)
    assert done.stdout == (
        "__main__ ['--n=4', 'a'] ['a'] 4 5\nTrue %s %s\n"
        % (program, program.parent)), done.stderr
    assert done.returncode == 7 and done.stderr == ""


def test_a_traceback_begins_in_the_program(program, tmp_path):
    done = run(["-m", "headrace.compat", str(program), "fail"], tmp_path)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1] == '  File "%s", line 18, in <module>' % program
    assert lines[-1] == "ValueError: no"
    assert not re.search("runpy|launcher", done.stderr)


@pytest.mark.parametrize("text, status, error", [
    ("import sys; sys.exit(3)", 3, ""),
    ("raise SystemExit('bye')", 1, "bye\n"),
    ("import os; os._exit(9)", 9, ""),
    ("raise KeyboardInterrupt", -signal.SIGINT, "KeyboardInterrupt"),
    ("x = = 1", 1, "SyntaxError"),
    ("import sys; sys.excepthook = lambda *e: print('mine', e[0].__name__)\n"
     "1 / 0", 1, ""),
])
def test_how_programs_end(tmp_path, text, status, error):
    path = tmp_path / "p.py"
    path.write_text(text)
    mine = run(["-m", "headrace.compat", "p.py"], tmp_path)
    python = run(["p.py"], tmp_path)
    assert mine.returncode == python.returncode == status
    assert error in mine.stderr
    assert mine.stderr == python.stderr and mine.stdout == python.stdout


def test_a_module_is_run(program, tmp_path):
    done = run(["-m", "headrace.compat", "-m", "program", "x"], program.parent)
    assert done.returncode == 7, done.stderr
    assert done.stdout.startswith("__main__ ['x'] ['x'] 3 5\nTrue ")


@pytest.mark.parametrize("arguments, status, error", [
    ([], 2, "usage: "), (["--what"], 2, "no option --what"),
    (["no.py"], 2, "can't open file"), (["-m"], 2, "-m needs a module"),
    (["-m", "no_such_module"], 1, "No module named no_such_module")])
def test_wrong_command_lines(tmp_path, arguments, status, error):
    done = run(["-m", "headrace.compat", *arguments], tmp_path)
    assert done.returncode == status and error in done.stderr
    assert "Traceback" not in done.stderr


def test_a_test_of_tensorflows_style(tmp_path):
    (tmp_path / "a_test.py").write_text('''
import numpy as np
from tensorflow.python.framework import constant_op, dtypes, ops, test_util
from tensorflow.python.ops import array_ops, math_ops, control_flow_ops
from tensorflow.python.platform import test


class ATest(test.TestCase):
    @test_util.run_deprecated_v1
    def testSum(self):
        with self.cached_session(use_gpu=True):
            x = constant_op.constant([[1., 2.], [3., 4.]], dtypes.float32)
            self.assertAllClose(math_ops.reduce_sum(x, 1).eval(), [3., 7.])
            self.assertEqual(ops.get_default_graph().seed, 87654321)

    @test_util.run_in_graph_and_eager_modes
    def testEvaluate(self):
        y = array_ops.concat([[1], [2]], 0)
        self.assertAllEqual(self.evaluate(y), np.array([1, 2]))

    @test_util.run_v1_only("b/120545219")
    def testMerge(self):
        with self.session() as session:
            data = constant_op.constant(5)
            left, right = control_flow_ops.switch(data, math_ops.less(1, 2))
            merged = control_flow_ops.merge([left, right])
            self.assertEqual(session.run(merged.output), 5)
            self.assertEqual(session.run(merged.value_index), 1)

    @test_util.run_gpu_only
    def testOfGpus(self):
        self.fail()

    @test_util.run_v2_only
    def testOfVersion2(self):
        self.fail()


@test_util.run_all_in_graph_and_eager_modes
class BTest(test.TestCase):
    def testShape(self):
        self.assertEqual(test_util.NHWCToNCHW([1, 2, 3, 4]), [1, 4, 2, 3])


if __name__ == "__main__":
    test.main()
''')
    done = run(["-m", "headrace.compat", "a_test.py"], tmp_path)
    assert done.returncode == 0, done.stderr
    # Each class has, as in TensorFlow, no test_session among its tests.
    assert "Ran 6 tests" in done.stderr and "skipped=2" in done.stderr


# The tables.

def test_the_tables_name_what_there_is():
    for path, homes in inner_modules.NAMES.items():
        for home, names in homes.items():
            if home == "factorization.kmeans_estimator" and (
                    not _packages.is_installed()):
                continue
            module = _names.load(home)
            for entry in names.split():
                assert hasattr(module, entry.partition("=")[2] or entry), (
                    path, entry)
    for path, homes in tensorflow_modules.NAMES.items():
        for space, names in homes.items():
            known = _interface.NAMES[space].split()
            for entry in names.split():
                name = entry.partition("=")[2] or entry
                assert name in known, (path, entry)
    known = {*inner_modules.NAMES, *tensorflow_modules.NAMES, *_api.NAMES,
             "python"}
    assert set(inner_modules.SAME.values()) <= known


def test_every_definition_is_reached():
    used = {"install", "main"}
    for homes in [*inner_modules.NAMES.values()]:
        for names in homes.values():
            used |= {e.partition("=")[2] or e for e in names.split()}
    for home in ("graphs", "execution", "nest_paths", "test_util", "clients",
                 "checkpoints", "layer_sizes", "files", "linear",
                 "python_tools", "metric_parts", "lookups"):
        module = _names.load("compat." + home)
        defined = {n for n, f in vars(module).items() if not n.startswith("_")
                   and getattr(f, "__module__", None) == module.__name__}
        assert defined - used <= {"Linear", "Merge", "read_graph"}, home


# Functions of inner modules.

def load(home):
    return _names.load("compat." + home)


def test_paths_in_structures():
    paths = load("nest_paths")
    tree = {"b": [1, 2], "a": (3, {"c": 4})}
    assert list(paths.yield_flat_paths(tree)) == [
        ("a", 0), ("a", 1, "c"), ("b", 0), ("b", 1)]
    assert paths.flatten_with_joined_string_paths(tree) == [
        ("a/0", 3), ("a/1/c", 4), ("b/0", 1), ("b/1", 2)]
    assert paths.flatten_up_to({"a": 0, "b": [0, 0]}, tree) == [
        (3, {"c": 4}), 1, 2]
    assert paths.map_structure_up_to([0, 0], lambda x: len(x),
                                     [[1, 2], [3]]) == [2, 1]
    assert paths.map_structure_with_paths(
        lambda p, x: p + "=%d" % x, [1, [2]]) == ["0=1", ["1/0=2"]]
    assert paths.flatten_dict_items({(1, 2): (3, 4), 5: 6}) == {1: 3, 2: 4, 5: 6}
    with pytest.raises(ValueError, match="not unique"):
        paths.flatten_dict_items({(1, 2): (3, 4), 1: 6})
    with pytest.raises(TypeError, match="must also be a sequence"):
        paths.flatten_up_to([0, [0]], [1, 2])
    with pytest.raises(ValueError, match="same sequence length"):
        paths.flatten_up_to([0, 0], [1, 2, 3])


@pytest.mark.parametrize("padding, lengths", [
    ("same", (4, 13, 14)), ("valid", (3, 15, 15)), ("full", (5, 11, 11))])
def test_sizes_of_convolutions(padding, lengths):
    sizes = load("layer_sizes")
    assert (sizes.conv_output_length(7, 3, padding, 2),
            sizes.conv_input_length(7, 3, padding, 2),
            sizes.deconv_output_length(7, 3, padding, 2)) == lengths


def test_arguments_of_layers():
    sizes = load("layer_sizes")
    assert sizes.normalize_tuple(2, 2, "size") == (2, 2)
    assert sizes.convert_data_format("channels_first", 4) == "NCHW"
    for value in (5.5, [1], [1, "x"]):
        with pytest.raises(ValueError, match="must be a tuple of 2 integers"):
            sizes.normalize_tuple(value, 2, "size")
    with pytest.raises(ValueError, match="Invalid data_format: NHWC"):
        sizes.convert_data_format("NHWC", 4)


def test_shapes_of_constants():
    graphs = load("graphs")
    x = tf.placeholder(tf.float32, [None, 3])
    assert graphs.constant_value_as_shape(
        tf.stack([tf.shape(x)[0], 7])).as_list() == [None, 7]
    assert graphs.constant_value_as_shape(
        tf.constant([2, -1])).as_list() == [2, None]
    with pytest.raises(ValueError, match="scalar value '3'"):
        graphs.constant_value_as_shape(tf.constant(3))
    other = tf.Graph()
    with other.as_default():
        y = tf.constant(1)
    with pytest.raises(ValueError, match="must be from the same graph"):
        graphs.graph_from_inputs([x, y])
    with pytest.raises(ValueError, match="not from the passed-in graph"):
        graphs.graph_from_inputs([x], other)
    assert graphs.graph_from_inputs([1, y]) is other
    assert graphs.strip_name_scope("loc:@a/b", "a") == "loc:@b"
    assert graphs.prepend_name_scope("^b", "a/") == "^a/b"


def test_linear():
    linear = load("linear").linear
    x, y = tf.ones([2, 3]), tf.ones([2, 1])
    with tf.variable_scope("s", initializer=tf.constant_initializer(0.5)):
        z = linear([x, y], 2, True, tf.constant_initializer(1.))
    assert [v.name for v in tf.global_variables()] == ["s/kernel:0", "s/bias:0"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(z).tolist() == [[3., 3.]] * 2
    with pytest.raises(ValueError, match="2D arguments"):
        linear([tf.ones([3])], 2, True)
    with pytest.raises(ValueError, match="must be specified"):
        linear([], 2, True)


def test_files(tmp_path):
    files = load("files")
    path = str(tmp_path / "f")
    files.atomic_write_string_to_file(path, "a\u00e4")
    assert files.read_file_to_string(path) == "a\u00e4"
    assert files.read_file_to_string(path, True) == b"a\xc3\xa4"
    files.write_string_to_file(path + "2", "a\u00e4")
    assert files.filecmp(path, path + "2")
    files.write_string_to_file(path + "3", "abc")
    assert {files.file_crc32(path + "3", n) for n in (1, 2, 100)} == {"0x352441c2"}
    os.remove(path + "3")
    with pytest.raises(tf.errors.AlreadyExistsError):
        files.atomic_write_string_to_file(path, "b", overwrite=False)
    assert sorted(os.listdir(tmp_path)) == ["f", "f2"]


def test_a_frozen_graph(tmp_path, capsys):
    tools, inference_graphs = load("checkpoints"), load("inference_graphs")
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.Variable([3., 4.], name="v")
    tf.add(x, v, name="y")
    graph_file = tf.train.write_graph(
        tf.get_default_graph(), str(tmp_path), "g.pbtxt")
    with tf.Session() as session:
        session.run(v.initializer)
        prefix = tf.train.Saver().save(session, str(tmp_path / "c"))
    for restore in ("save/restore_all", "no_such_node"):
        frozen = tools.freeze_graph(
            graph_file, "", False, prefix, "y", restore, "save/Const:0",
            str(tmp_path / "frozen.pb"), True, "")
        with tf.Graph().as_default(), tf.Session() as session:
            y, = tf.import_graph_def(frozen, return_elements=["y:0"])
            assert session.run(y, {"import/x:0": [1., 1.]}).tolist() == [4., 5.]
    assert (tmp_path / "frozen.pb").read_bytes() == frozen.SerializeToString()
    tools.print_tensors_in_checkpoint_file(prefix, "v", False)
    assert capsys.readouterr().out == (
        "tensor_name:  v\n[3. 4.]\n# Total number of params: 2\n")
    with pytest.raises(ValueError, match="doesn't exist"):
        tools.freeze_graph(graph_file, "", False, prefix + "x", "y", "", "", "",
                           True, "")
    with pytest.raises(ValueError, match="--output_node_names"):
        tools.freeze_graph(graph_file, "", False, prefix, "", "", "", "", True,
                           "")
    stripped = tools.strip_unused(frozen, ["v/read"], ["y"], 1)
    assert {n.name: n.op for n in stripped.node} == {
        "x": "Placeholder", "v/read": "Placeholder", "y": "Add"}
    both = tools.strip_unused(frozen, ["v/read", "x"], ["y"], [1, 2])
    assert {n.name: n.attr["dtype"].type for n in both.node
            if n.op == "Placeholder"} == {"v/read": 1, "x": 2}
    with pytest.raises(KeyError, match="not found"):
        tools.strip_unused(frozen, ["nothing"], ["y"], 1)
    with pytest.raises(ValueError, match="2 types were given for 1 inputs"):
        tools.strip_unused(frozen, ["x"], ["y"], [1, 2])
    ready = inference_graphs.optimize_for_inference(frozen, ["x"], ["y"], 1)
    with tf.Graph().as_default(), tf.Session() as session:
        y, = tf.import_graph_def(ready, return_elements=["y:0"], name="")
        assert session.run(y, {"x:0": [1.0, 1.0]}).tolist() == [4, 5]
    ready.node.add().CopyFrom(ready.node[0])
    with pytest.raises(ValueError, match="Duplicate node names detected for"):
        inference_graphs.optimize_for_inference(ready, ["x"], ["y"], 1)
    tools.print_tensors_in_checkpoint_file(prefix, "none", False)
    assert "none not found in checkpoint" in capsys.readouterr().out
    tools.print_tensors_in_checkpoint_file(prefix, "v", False, False, "v")
    assert capsys.readouterr().out.endswith(
        "# Excluding 1 tensors (2 params) that match v when counting.\n"
        "# Total number of params: 0\n")


def test_the_debugger_is_refused_when_it_is_used():
    debug = load("debug")
    with pytest.raises(NotImplementedError, match="there is no debugger"):
        debug.LocalCLIDebugWrapperSession(None)


def test_a_timeline():
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(tf.matmul(tf.random_uniform([9, 9]), tf.ones([9, 9])),
                    options=tf.RunOptions(
                        trace_level=tf.RunOptions.FULL_TRACE),
                    run_metadata=metadata)
    events = json.loads(load("clients").Timeline(
        metadata.step_stats).generate_chrome_trace_format())["traceEvents"]
    assert "MatMul" in {e["name"] for e in events if e["ph"] == "X"}
    assert all(e["dur"] >= 0 and e["ts"] > 0 for e in events if e["ph"] == "X")


TEST_OPS = """
import headrace.compat
headrace.compat.install()
import tensorflow as tf
from tensorflow.python.framework import test_ops
graph = tf.get_default_graph()
x = graph.create_op("FloatOutput", [], [tf.float32]).outputs[0]
print(x.shape, test_ops.int_input(tf.constant(3)).type)
plain = test_ops.kernel_label()
with graph._kernel_label_map({"KernelLabel": "overload_1"}):
    labelled = test_ops.kernel_label()
    with graph._kernel_label_map({"KernelLabel": "overload_2"}):
        inner = test_ops.kernel_label()
handle = test_ops.stub_resource_handle_op(shared_name="a")
with tf.Session() as session:
    print([b[-9:].decode() for b in session.run([plain, labelled, inner])])
    print(session.run(test_ops.resource_initialized_op(handle)))
    session.run(test_ops.resource_create_op(handle))
    print(session.run(test_ops.resource_initialized_op(handle)))
for wrong in ("label", {"KernelLabel": 1}):
    try:
        with graph._kernel_label_map(wrong):
            pass
    except TypeError as e:
        print(e)
"""


def test_the_ops_of_test_ops_are_there_once_it_is_imported(tmp_path):
    out = run(["-c", TEST_OPS], tmp_path, check=True).stdout
    assert out.splitlines() == [
        "<unknown> IntInput",
        "[': default', 'verload_1', 'verload_2']", "False", "True",
        "op_to_kernel_label_map must be a dictionary mapping strings to strings",
        "op_to_kernel_label_map must be a dictionary mapping strings to strings"]
    # Nobody else has them.
    out = run(["-c", "import headrace as tf; print(hasattr(tf.raw_ops, 'FloatOutput'))"],
              tmp_path).stdout
    assert out == "False\n"


def test_definitions_of_ops():
    messages = tf.headrace.messages
    registry = load("op_registry")
    ops = registry.get_registered_ops()
    assert ops is registry.get_registered_ops() and len(ops) > 1000
    assert ops["VariableV2"].is_stateful and not ops["VariableV2"].input_arg
    assert [a.name for a in ops["MatMul"].input_arg] == ["a", "b"]
    own = messages.OpList(op=[messages.OpDef(name="OfTheProgram", is_stateful=True)])
    registry.register_op_list(own)
    registry.register_op_list(own)
    assert ops["OfTheProgram"].is_stateful
    own = messages.OpList(op=[messages.OpDef(name="OfTheProgram")])
    with pytest.raises(ValueError, match="OfTheProgram is registered"):
        registry.register_op_list(own)
    del ops["OfTheProgram"]


def test_each_inner_module_has_one_entry():
    # Of two entries in one dict, the first would be lost.
    with open(inner_modules.__file__) as file:
        names = next(node.value for node in ast.parse(file.read()).body
                     if isinstance(node, ast.Assign)
                     and node.targets[0].id == "NAMES")
    keys = [key.value for key in names.keys if key is not None]
    keys += contrib_modules.NAMES
    assert sorted(keys) == sorted(set(keys))
