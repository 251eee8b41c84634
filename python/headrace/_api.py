"""The names of tf.*: what the package's modules define, the namespaces
(tf.nn, tf.math, ...), and, on demand, every op of the registry."""
import sys as _sys
import types as _types

from headrace import _headrace
from headrace import accumulators as _accumulators
from headrace import array_ops as _array
from headrace import control_flow as _control_flow
from headrace import control_flow_ops as _flow
from headrace import candidate_sampling as _sampling
from headrace import coordinator as _coordinator
from headrace import data as _data
from headrace import data_experimental as _data_experimental
from headrace import data_files as _data_files
from headrace import data_iterators as _data_iterators
from headrace import default_session as _default_session
from headrace import dtypes
from headrace import embeddings as _embeddings
from headrace import errors
from headrace import function as _function
from headrace import functional_ops as _functional
from headrace import image_colors as _image_colors
from headrace import image_measures as _image_measures
from headrace import image_ops as _image
from headrace import graph as _graph
from headrace import indexed_slices as _indexed
from headrace import initializers
from headrace import input_pipelines as _inputs
from headrace import linalg_ops as _linalg
from headrace import math_ops as _math
from headrace import nn
from headrace import nn_conv as _nn_conv
from headrace import nn_losses as _nn_losses
from headrace import queues as _queues
from headrace import parsing_ops as _parsing
from headrace import random_ops as _random
from headrace import raw_ops
from headrace import readers as _readers
from headrace import script_ops as _script
from headrace import session as _session
from headrace import session_handles as _handles
from headrace import set_ops as _sets
from headrace import sparse_ops as _sparse
from headrace import string_ops as _string
from headrace import summary as _summary
from headrace import tensor as _tensor
from headrace import tensor_array as _tensor_array
from headrace import tensor_shape as _tensor_shape
from headrace import variable_scope as _scopes
from headrace import variables as _variables
from headrace import importer as _importer
from headrace._names import lookup as _lookup

__version__ = VERSION = "1.15.5"  # the interface that holds here
headrace_version = _headrace.version
GRAPH_DEF_VERSION = 134


def _take(module, names):
    here = globals()
    for name in names.split():
        here[name] = getattr(module, name)


def _public(module):
    """What a module defines for users; not what it imports."""
    return {n: f for n, f in vars(module).items() if not n.startswith("_")
            and getattr(f, "__module__", None) == module.__name__}


_take(_graph, """
    Graph GraphKeys Operation Tensor add_to_collection add_to_collections
    colocate_with container control_dependencies device get_collection
    get_collection_ref get_default_graph init_scope name_scope
    reset_default_graph""")
_take(_headrace, "CancellationManager")
_take(_default_session, "get_default_session")
_take(_session, "InteractiveSession Session")
_take(_tensor, """
    constant convert_to_tensor is_tensor
    register_tensor_conversion_function""")
_take(_tensor_shape, "Dimension TensorShape dimension_value")
_take(dtypes, """
    DType QUANTIZED_DTYPES as_dtype bfloat16 complex128 complex64 double
    float16 float32 float64 half int16 int32 int64 int8 qint16 qint32 qint8
    quint16 quint8 resource string uint16 uint32 uint64 uint8 variant""")
_take(_math, """
    abs accumulate_n add add_n angle arg_max arg_min argmax argmin bitcast cast
    ceil clip_by_global_norm clip_by_norm clip_by_value complex conj cos
    count_nonzero cumprod cumsum div div_no_nan divide einsum equal exp floor
    floor_div
    floordiv floormod global_norm greater greater_equal imag less less_equal
    lin_space linspace log log_sigmoid logical_and logical_not logical_or
    logical_xor matmul maximum minimum mod multiply negative not_equal pow range
    real realdiv reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean
    reduce_min reduce_prod reduce_sum round rsqrt saturate_cast scalar_mul
    sigmoid sin sqrt square squared_difference subtract tanh tensordot to_bfloat16
    to_double to_float to_int32 to_int64 truediv truncatediv truncatemod""")
_take(_array, """
    batch_gather batch_to_space boolean_mask broadcast_dynamic_shape
    broadcast_static_shape broadcast_to concat depth_to_space expand_dims
    extract_image_patches eye fill gather gather_nd get_static_value
    guarantee_const identity matrix_transpose meshgrid newaxis no_op one_hot
    ones ones_like pad parallel_stack placeholder placeholder_with_default rank
    repeat required_space_to_batch_paddings reshape reverse reverse_sequence
    reverse_v2 sequence_mask setdiff1d shape shape_n size slice space_to_batch
    space_to_depth split squeeze stack stop_gradient
    strided_slice tile transpose unique unique_with_counts unstack where
    where_v2 zeros zeros_like""")
_take(_random, """
    multinomial random_crop random_gamma random_normal random_poisson
    random_shuffle
    random_uniform set_random_seed truncated_normal""")
_take(_flow, """
    Assert Print assert_equal assert_greater assert_greater_equal assert_less
    assert_less_equal assert_non_negative assert_positive assert_rank
    custom_gradient gradients group hessians py_function timestamp tuple""")
_take(_control_flow, "case cond while_loop")
_take(_functional, "foldl foldr map_fn scan")
_take(_script, "numpy_function py_func")
_take(_handles, "delete_session_tensor get_session_handle get_session_tensor")
_take(_string, """
    as_string decode_base64 decode_raw encode_base64 reduce_join regex_replace
    string_join string_split string_to_hash_bucket string_to_hash_bucket_fast
    string_to_hash_bucket_strong string_to_number substr""")
_take(_function, "Defun")
_take(_tensor_array, "TensorArray")
_take(_queues, """
    FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue""")
_take(_accumulators, """
    ConditionalAccumulator ConditionalAccumulatorBase CriticalSection
    SparseConditionalAccumulator""")
_take(_flow, "add_check_numerics_ops verify_tensor_all_finite")
_take(_variables, """
    Variable all_variables assert_variables_initialized assign assign_add
    assign_sub disable_resource_variables enable_resource_variables
    global_variables global_variables_initializer initialize_all_variables
    initialize_local_variables initialize_variables is_variable_initialized
    local_variables local_variables_initializer model_variables
    moving_average_variables report_uninitialized_variables
    resource_variables_enabled scatter_add scatter_div scatter_max scatter_min
    scatter_mul scatter_sub scatter_update tables_initializer
    trainable_variables variables_initializer""")
_take(_scopes, """
    AUTO_REUSE VariableScope get_local_variable get_variable
    get_variable_scope make_template no_regularizer variable_op_scope
    variable_scope""")
_take(initializers, """
    constant_initializer glorot_normal_initializer glorot_uniform_initializer
    ones_initializer random_normal_initializer random_uniform_initializer
    truncated_normal_initializer uniform_unit_scaling_initializer
    variance_scaling_initializer zeros_initializer""")
_take(_importer, "import_graph_def")
_take(_parsing, """
    FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature
    decode_csv parse_example parse_single_example parse_single_sequence_example
    parse_sequence_example""")
_take(_readers, """
    FixedLengthRecordReader IdentityReader ReaderBase TFRecordReader
    TextLineReader WholeFileReader""")

_take(_indexed, """
    IndexedSlices IndexedSlicesValue convert_to_tensor_or_indexed_slices""")
_take(_sparse, """
    SparseTensor SparseTensorValue convert_to_tensor_or_sparse_tensor
    deserialize_many_sparse serialize_many_sparse serialize_sparse sparse_add
    sparse_concat sparse_fill_empty_rows sparse_maximum sparse_merge
    sparse_minimum sparse_placeholder sparse_reduce_max sparse_reduce_max_sparse
    sparse_reduce_sum sparse_reduce_sum_sparse sparse_reorder sparse_reset_shape
    sparse_reshape sparse_retain sparse_slice sparse_softmax sparse_split
    sparse_tensor_dense_matmul sparse_tensor_to_dense sparse_to_dense
    sparse_to_indicator sparse_transpose""")

globals()["bool"] = dtypes.bool_
OpError = errors.OpError
vars(nn).update(**_public(_nn_conv), **_public(_nn_losses))
embedding_lookup = nn.embedding_lookup = _embeddings.embedding_lookup
nn.embedding_lookup_sparse = _embeddings.embedding_lookup_sparse
_SAMPLERS = """
    all_candidate_sampler fixed_unigram_candidate_sampler
    learned_unigram_candidate_sampler log_uniform_candidate_sampler
    uniform_candidate_sampler"""
for _name in (_SAMPLERS + " compute_accidental_hits nce_loss"
              " sampled_softmax_loss").split():
    setattr(nn, _name, getattr(_sampling, _name))


def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None,
         keep_dims=None):
    """The norm of a tensor: "euclidean" (2), 1, another number, or inf."""
    keep = _math._keep(keepdims, keep_dims)
    with _graph.name_scope(name, "norm", [tensor]):
        x = _tensor.convert_to_tensor(tensor)
        if ord in ("fro", "euclidean", 2, 2.0):
            out = _math.sqrt(_math.reduce_sum(
                x * _math.conj(x), axis, keepdims=True))
            return out if keep else _array.squeeze(out, axis)
        size = _math.abs(x)
        if ord == float("inf"):
            return _math.reduce_max(size, axis, keepdims=keep)
        if ord == 1:
            return _math.reduce_sum(size, axis, keepdims=keep)
        return _math.pow(_math.reduce_sum(_math.pow(size, ord), axis,
                                          keepdims=keep), 1.0 / ord)


def diag(diagonal, name=None):
    return raw_ops.Diag(diagonal, name=name)


def executing_eagerly():
    """False: nodes are run by sessions alone."""
    return False


def disable_v2_behavior():
    """Does nothing: this is the behaviour of 1.x."""


disable_eager_execution = disable_v2_tensorshape = disable_v2_behavior


def enable_eager_execution(*args, **kwargs):
    raise NotImplementedError("eager execution is not supported")


def op_scope(values, name, default_name=None):
    return _graph.name_scope(name, default_name, values)


# Namespaces. Each is a module that finds ops of the registry like tf itself.

def _namespace(name, **members):
    module = _types.ModuleType("headrace." + name,
                               "tf.%s: see the functions." % name)
    module.__dict__.update(members)
    module.__getattr__ = lambda attr: _lookup(attr, module.__dict__)
    _sys.modules["headrace." + name] = module
    return module


def _pick(source, names):
    return {n: getattr(source, n) for n in names.split()}


math = _namespace("math", **{
    n: getattr(_math, n) for n in dir(_math) if not n.startswith("_")
    and callable(getattr(_math, n))})
math.__dict__.update(
    top_k=nn.top_k, in_top_k=nn.in_top_k, l2_normalize=nn.l2_normalize,
    zero_fraction=nn.zero_fraction,
    log_softmax=nn.log_softmax, softmax=nn.softmax)
random = _namespace(
    "random", uniform=_random.random_uniform, normal=_random.random_normal,
    truncated_normal=_random.truncated_normal, shuffle=_random.random_shuffle,
    set_random_seed=_random.set_random_seed, gamma=_random.random_gamma,
    multinomial=_random.multinomial, categorical=_random.categorical,
    poisson=_random.random_poisson, get_seed=_random.get_seed,
    stateless_uniform=_random.stateless_random_uniform,
    stateless_normal=_random.stateless_random_normal,
    stateless_truncated_normal=_random.stateless_truncated_normal,
    stateless_multinomial=_random.stateless_multinomial,
    stateless_categorical=_random.stateless_categorical,
    **_pick(_sampling, _SAMPLERS))
linalg = _namespace(
    "linalg", matmul=_math.matmul, matvec=_math.matvec, eye=_array.eye,
    transpose=_array.matrix_transpose, tensordot=_math.tensordot, norm=norm,
    l2_normalize=nn.l2_normalize, einsum=_math.einsum, expm=_linalg.expm,
    tridiagonal_matmul=_linalg.tridiagonal_matmul,
    tridiagonal_solve=_linalg.tridiagonal_solve)
strings = _namespace(
    "strings", join=_string.string_join, split=_string.split,
    length=_string.string_length, format=_string.string_format,
    to_number=_string.string_to_number,
    to_hash_bucket=_string.string_to_hash_bucket,
    to_hash_bucket_fast=_string.string_to_hash_bucket_fast,
    to_hash_bucket_strong=_string.string_to_hash_bucket_strong,
    **_pick(_string, """
        as_string lower reduce_join regex_full_match regex_replace strip substr
        unicode_script unicode_transcode unsorted_segment_join upper"""))
audio = _namespace("audio")  # decode_wav, encode_wav, audio_spectrogram, mfcc
image = _namespace("image", **_public(_image), **_public(_image_colors),
                   **_public(_image_measures))
sparse = _namespace(
    "sparse", SparseTensor=_sparse.SparseTensor,
    deserialize_sparse=_sparse.deserialize_sparse, eye=_sparse.sparse_eye,
    expand_dims=_sparse.sparse_expand_dims, from_dense=_sparse.sparse_from_dense,
    cross=_sparse.sparse_cross, cross_hashed=_sparse.sparse_cross_hashed,
    sparse_dense_matmul=_sparse.sparse_tensor_dense_matmul,
    to_dense=_sparse.sparse_tensor_to_dense,
    matmul=_sparse.sparse_tensor_dense_matmul,
    serialize=_sparse.serialize_sparse,
    serialize_sparse=_sparse.serialize_sparse,
    serialize_many_sparse=_sparse.serialize_many_sparse,
    deserialize_many_sparse=_sparse.deserialize_many_sparse,
    **{n: getattr(_sparse, "sparse_" + n) for n in """
        add concat fill_empty_rows maximum merge minimum placeholder reduce_max
        reduce_max_sparse reduce_sum reduce_sum_sparse reorder reset_shape
        reshape retain slice softmax split to_indicator transpose""".split()})
summary = _summary
summary.__getattr__ = lambda attr: _lookup(attr, summary.__dict__)
sets = _namespace(
    "sets", **_pick(
        _sets, "set_difference set_intersection set_size set_union"),
    difference=_sets.set_difference, intersection=_sets.set_intersection,
    size=_sets.set_size, union=_sets.set_union)
bitwise = _namespace("bitwise")
debugging = _namespace(
    "debugging", **_pick(_flow, """
        Assert assert_equal assert_greater assert_greater_equal assert_less
        assert_less_equal assert_non_negative assert_positive assert_rank"""))
train = _namespace("train", write_graph=_importer.write_graph, **_pick(
    _coordinator, """
        Coordinator LooperThread QueueRunner add_queue_runner
        start_queue_runners"""), **_pick(_inputs, """
        batch batch_join input_producer limit_epochs match_filenames_once
        maybe_batch maybe_batch_join maybe_shuffle_batch
        maybe_shuffle_batch_join range_input_producer shuffle_batch
        shuffle_batch_join slice_input_producer string_input_producer"""))
queue = _namespace("queue", **_pick(_queues, """
    FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue"""))
data_flow_ops = _namespace("data_flow_ops", **_pick(_accumulators, """
    Barrier ConditionalAccumulator MapStagingArea StagingArea
    SparseConditionalAccumulator"""), **_pick(_queues, """
    FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue"""))
contrib = _namespace("contrib", staging=_namespace(
    "contrib.staging", **_pick(_accumulators, "MapStagingArea StagingArea")))
data = _namespace("data", experimental=_namespace(
    "data.experimental", AUTOTUNE=_data.AUTOTUNE,
    Optional=_data_iterators.Optional, **_pick(_data_experimental, """
        INFINITE_CARDINALITY RandomDataset UNKNOWN_CARDINALITY
        bucket_by_sequence_length cardinality choose_from_datasets
        enumerate_dataset get_next_as_optional get_single_element
        group_by_window ignore_errors map_and_batch parallel_interleave
        parse_example_dataset sample_from_datasets scan shuffle_and_repeat
        take_while unbatch"""), **_pick(
        _data_files, "CsvDataset TFRecordWriter")), **_pick(_data_files, """
    FixedLengthRecordDataset TFRecordDataset TextLineDataset"""), **_pick(
        _data, """
    Dataset Iterator Options get_output_classes get_output_shapes
    get_output_types make_initializable_iterator make_one_shot_iterator"""))
io = _namespace(
    "io", write_graph=_importer.write_graph, **_pick(_parsing, """
        FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature
        decode_csv parse_example parse_sequence_example parse_single_example
        parse_single_sequence_example"""), **_pick(_readers, """
        TFRecordCompressionType TFRecordOptions TFRecordWriter
        tf_record_iterator"""), **_pick(_string, """
            decode_base64 decode_raw encode_base64"""))
python_io = _namespace("python_io", **_pick(_readers, """
    TFRecordCompressionType TFRecordOptions TFRecordWriter
    tf_record_iterator"""))
graph_util = _namespace("graph_util")
test = _namespace("test", is_gpu_available=lambda *a, **k: False,
                  is_built_with_cuda=lambda: False, gpu_device_name=lambda: "")
client = _namespace("client")
saved_model = _namespace("saved_model")
compat = _namespace(
    "compat",
    as_bytes=lambda s, encoding="utf-8":
        s if isinstance(s, bytes) else s.encode(encoding),
    as_text=lambda s, encoding="utf-8":
        s if isinstance(s, str) else s.decode(encoding))
compat.as_str = compat.as_str_any = compat.as_text
compat.v1 = _sys.modules["headrace"]
_sys.modules["headrace.compat.v1"] = _sys.modules["headrace"]
v1 = compat.v1


def __getattr__(name):
    """Messages (ConfigProto, GraphDef, ...) and ops not written by hand."""
    return _lookup(name, _sys.modules["headrace"].__dict__)
