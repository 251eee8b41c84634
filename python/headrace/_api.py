"""The names of tf.* and its namespaces (tf.math, tf.image, ...): in which module
of the package each is defined. The modules are loaded when they are needed;
those that every program needs are imported by the package itself."""
import functools as _functools
import os as _os
import sys as _sys
import types as _types

from headrace import _headrace
from headrace import _names

__version__ = VERSION = "1.15.5"  # the interface that holds here
headrace_version = _headrace.version
GRAPH_DEF_VERSION = 134

_CHECKS = """
    assert_equal assert_greater assert_greater_equal assert_integer assert_less
    assert_less_equal assert_near assert_negative assert_non_negative
    assert_non_positive assert_none_equal assert_positive assert_proper_iterable
    assert_rank assert_rank_at_least assert_rank_in assert_same_float_dtype
    assert_scalar assert_type is_non_decreasing is_numeric_tensor
    is_strictly_increasing"""

_tf = _sys.modules["headrace"]
_find, _dir = _names.on_demand(
    vars(_tf),
    graph="""
        Graph GraphKeys Operation Tensor add_to_collection add_to_collections
        colocate_with container control_dependencies device get_collection
        get_collection_ref get_default_graph init_scope name_scope
        reset_default_graph""",
    _headrace="CancellationManager",
    default_session="get_default_session",
    session="InteractiveSession Session",
    tensor="""
        constant convert_to_tensor is_tensor
        register_tensor_conversion_function""",
    tensor_shape="Dimension TensorShape dimension_value",
    dtypes="""
        DType QUANTIZED_DTYPES as_dtype bfloat16 bool=bool_ complex128
        complex64 double float16 float32 float64 half int16 int32 int64 int8
        qint16 qint32 qint8 quint16 quint8 resource string uint16 uint32 uint64
        uint8 variant""",
    math_ops="""
        abs accumulate_n add add_n angle arg_max arg_min argmax argmin bitcast
        cast ceil clip_by_global_norm clip_by_norm clip_by_value complex conj
        cos count_nonzero cumprod cumsum div div_no_nan divide einsum equal erf exp
        floor floor_div floordiv floormod global_norm greater greater_equal
        imag less less_equal lin_space linspace log log_sigmoid logical_and
        logical_not logical_or logical_xor matmul maximum minimum mod multiply
        negative not_equal pow range real realdiv reduce_all reduce_any
        reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod
        reduce_sum round rsqrt saturate_cast scalar_mul sigmoid sign sin sqrt square
        squared_difference subtract tanh tensordot to_bfloat16 to_double
        to_float to_int32 to_int64 truediv truncatediv truncatemod""",
    array_ops="""
        batch_gather batch_to_space boolean_mask broadcast_dynamic_shape
        broadcast_static_shape broadcast_to concat depth_to_space expand_dims
        extract_image_patches eye fill gather gather_nd get_static_value
        guarantee_const identity matrix_transpose meshgrid newaxis no_op
        one_hot ones ones_like pad parallel_stack placeholder
        placeholder_with_default rank required_space_to_batch_paddings
        reshape reverse reverse_sequence reverse_v2 sequence_mask setdiff1d
        shape shape_n size slice space_to_batch space_to_depth split squeeze
        stack stop_gradient strided_slice tile transpose unique
        unique_with_counts unstack where where_v2 zeros zeros_like""",
    array_special="""
        dimension_at_index ensure_shape fingerprint repeat scatter_nd
        tensor_scatter_add=tensor_scatter_nd_add tensor_scatter_nd_add
        tensor_scatter_nd_sub tensor_scatter_nd_update
        tensor_scatter_sub=tensor_scatter_nd_sub
        tensor_scatter_update=tensor_scatter_nd_update""",
    random_ops="""
        get_seed multinomial random_crop random_gamma random_normal
        random_poisson random_shuffle random_uniform set_random_seed
        truncated_normal""",
    control_flow_ops="""
        Assert Print add_check_numerics_ops custom_gradient gradients group
        hessians py_function timestamp tuple verify_tensor_all_finite""",
    check_ops=_CHECKS,
    control_flow="case cond while_loop",
    switch_ops="switch_case",
    functional_ops="foldl foldr map_fn scan",
    script_ops="numpy_function py_func",
    session_handles="""
        delete_session_tensor get_session_handle get_session_tensor""",
    string_ops="""
        as_string decode_base64 decode_raw encode_base64 reduce_join
        regex_replace string_join string_split string_to_hash_bucket
        string_to_hash_bucket_fast string_to_hash_bucket_strong
        string_to_number substr""",
    defun="Defun",
    tensor_array="TensorArray",
    queues="""
        FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue""",
    accumulators="""
        ConditionalAccumulator ConditionalAccumulatorBase CriticalSection
        SparseConditionalAccumulator""",
    variables="""
        Variable all_variables assert_variables_initialized assign assign_add
        assign_sub batch_scatter_update disable_resource_variables enable_resource_variables
        global_variables global_variables_initializer initialize_all_variables
        initialize_local_variables initialize_variables is_variable_initialized
        local_variables local_variables_initializer model_variables
        moving_average_variables report_uninitialized_variables
        resource_variables_enabled scatter_add scatter_div scatter_max
        scatter_min scatter_mul scatter_nd_add scatter_nd_sub scatter_nd_update
        scatter_sub scatter_update tables_initializer trainable_variables
        variables_initializer""",
    variable_base="variable_creator_scope",
    variable_records="VariableAggregation VariableSynchronization",
    partitioned_variables="""
        create_partitioned_variables fixed_size_partitioner
        min_max_variable_partitioner variable_axis_size_partitioner""",
    template="make_template",
    variable_scopes="""
        AUTO_REUSE VariableScope get_local_variable get_variable
        get_variable_scope no_regularizer variable_op_scope
        variable_scope""",
    initializers="""
        constant_initializer glorot_normal_initializer
        glorot_uniform_initializer ones_initializer
        orthogonal_initializer random_normal_initializer
        random_uniform_initializer truncated_normal_initializer
        uniform_unit_scaling_initializer variance_scaling_initializer
        zeros_initializer""",
    importer="import_graph_def",
    parsing_ops="""
        FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature
        decode_csv parse_example parse_sequence_example parse_single_example
        parse_single_sequence_example""",
    readers="""
        FixedLengthRecordReader IdentityReader ReaderBase TFRecordReader
        TextLineReader WholeFileReader""",
    indexed_slices="""
        IndexedSlices IndexedSlicesValue convert_to_tensor_or_indexed_slices
        sparse_mask""",
    sparse_ops="""
        SparseTensor SparseTensorValue convert_to_tensor_or_sparse_tensor
        deserialize_many_sparse edit_distance serialize_many_sparse
        serialize_sparse sparse_add sparse_concat sparse_fill_empty_rows
        sparse_maximum sparse_merge sparse_minimum sparse_placeholder
        sparse_reduce_max sparse_reduce_max_sparse sparse_reduce_sum
        sparse_reduce_sum_sparse sparse_reorder sparse_reset_shape
        sparse_reshape sparse_retain sparse_slice sparse_softmax sparse_split
        sparse_tensor_dense_matmul sparse_tensor_to_dense sparse_to_dense
        sparse_to_indicator sparse_transpose""",
    math_special="""
        argsort bincount clip_by_average_norm confusion_matrix
        histogram_fixed_width histogram_fixed_width_bins lbeta searchsorted sort
        sparse_matmul sparse_segment_mean sparse_segment_sqrt_n
        sparse_segment_sum to_complex128 to_complex64 unsorted_segment_mean
        unsorted_segment_sqrt_n""",
    logging_ops="print=print_v2",
    quantize_ops="dequantize quantize quantize_v2",
    tensor_proto="make_ndarray make_tensor_proto",
    spectral_ops="fft2d fft3d ifft2d ifft3d",
    linalg_ops="""
        cholesky_solve matrix_diag matrix_diag_part matrix_set_diag
        matrix_solve_ls norm self_adjoint_eig self_adjoint_eigvals svd
        trace""",
    embeddings="embedding_lookup",
    errors="OpError")


@_functools.cache
def _submodules():
    """The package's own modules. No name of tf may be one of theirs: loading
    the module would replace it."""
    files = _os.listdir(_os.path.dirname(__file__))
    return {f[:-3] for f in files if f.endswith(".py") and f[0] != "_"}


def __getattr__(name):
    if name in _submodules():
        return _names.load(name)
    return _find(name)


def __dir__():
    return sorted({*_dir(), *_submodules()})


def diag(diagonal, name=None):
    return _tf.raw_ops.Diag(diagonal, name=name)


def executing_eagerly():
    """False: nodes are run by sessions alone."""
    return False


def disable_v2_behavior():
    """Does nothing: this is the behaviour of 1.x."""


disable_eager_execution = disable_v2_tensorshape = disable_v2_behavior
disable_control_flow_v2 = disable_tensor_equality = disable_v2_behavior


def control_flow_v2_enabled():
    """False: cond and while_loop make the nodes of 1.x."""
    return False


def enable_eager_execution(config=None, device_policy=None,
                           execution_mode=None):
    raise NotImplementedError("eager execution is not supported")


def initialize_all_tables(name="init_all_tables"):
    """As tables_initializer."""
    return _tf.tables_initializer(name)


def op_scope(values, name, default_name=None):
    return _tf.name_scope(name, default_name, values)


# Namespaces. Each is a module that finds ops of the registry like tf itself.

def _namespace(name, **homes):
    module = _types.ModuleType("headrace." + name,
                               "tf.%s: see the functions." % name)
    module.__getattr__, module.__dir__ = _names.on_demand(
        vars(module), **homes)
    _sys.modules["headrace." + name] = module
    return module


_SAMPLERS = """
    all_candidate_sampler fixed_unigram_candidate_sampler
    learned_unigram_candidate_sampler log_uniform_candidate_sampler
    uniform_candidate_sampler"""
_QUEUES = """
    FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue"""
_FOURIER = """
    fft fft2d fft3d ifft ifft2d ifft3d irfft irfft2d irfft3d rfft rfft2d
    rfft3d"""
_RECORDS = """
    TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator"""

audio = _namespace("audio")  # decode_wav, encode_wav, audio_spectrogram, mfcc
bitwise = _namespace("bitwise")
client = _namespace("client")
compat = _namespace(
    "compat", array_special="dimension_at_index",
    tensor_shape="dimension_value",
    text_compat="""
        as_bytes as_str as_str_any as_text bytes_or_text_types complex_types
        forward_compatibility_horizon forward_compatible integral_types
        path_to_str real_types""")
contrib = _namespace("contrib")
contrib.staging = _namespace(
    "contrib.staging", accumulators="MapStagingArea StagingArea")
data = _namespace(
    "data",
    data_files="FixedLengthRecordDataset TFRecordDataset TextLineDataset",
    datasets="""
        Dataset Iterator Options get_output_classes get_output_shapes
        get_output_types make_initializable_iterator
        make_one_shot_iterator""")
data.experimental = _namespace(
    "data.experimental",
    data_experimental="""
        INFINITE_CARDINALITY RandomDataset UNKNOWN_CARDINALITY
        bucket_by_sequence_length cardinality choose_from_datasets
        enumerate_dataset get_next_as_optional get_single_element
        group_by_window ignore_errors map_and_batch parallel_interleave
        parse_example_dataset sample_from_datasets scan shuffle_and_repeat
        take_while unbatch unique""",
    data_files="CsvDataset TFRecordWriter",
    data_iterators="Optional",
    datasets="AUTOTUNE")
data_flow_ops = _namespace(
    "data_flow_ops",
    accumulators="""
        Barrier ConditionalAccumulator MapStagingArea
        SparseConditionalAccumulator StagingArea""",
    queues=_QUEUES)
debugging = _namespace(
    "debugging", check_ops=_CHECKS + " assert_shapes",
    control_flow_ops="Assert assert_all_finite=verify_tensor_all_finite")
graph_util = _namespace(
    "graph_util", graph_rewrites="""
        convert_variables_to_constants extract_sub_graph must_run_on_cpu
        remove_training_nodes tensor_shape_from_node_def_name""",
    importer="import_graph_def")
image = _namespace(
    "image", whole="image_ops image_colors image_measures image_boxes",
    array_ops="extract_image_patches", random_ops="random_crop")
io = _namespace(
    "io", importer="write_graph",
    image_ops="""
        decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg
        decode_png encode_jpeg extract_jpeg_shape is_jpeg""",
    input_pipelines="match_filenames_once",
    queues="PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    sparse_ops="""
        deserialize_many_sparse serialize_many_sparse serialize_sparse""",
    parsing_ops="""
        FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature
        decode_csv parse_example parse_sequence_example parse_single_example
        parse_single_sequence_example""",
    readers=_RECORDS,
    string_ops="decode_base64 decode_raw encode_base64")
lookup = _namespace("lookup", lookup_ops="""
    KeyValueTensorInitializer StaticHashTable StaticVocabularyTable
    TextFileIndex TextFileInitializer""")
lookup.experimental = _namespace("lookup.experimental",
                                 lookup_ops="DenseHashTable")
manip = _namespace("manip", array_ops="gather_nd reshape reverse tile",
                   array_special="scatter_nd")
linalg = _namespace(
    "linalg",
    array_ops="eye matrix_transpose transpose=matrix_transpose",
    linalg_ops="""
        adjoint cholesky_solve diag=matrix_diag diag_part=matrix_diag_part
        eigh=self_adjoint_eig eigvalsh=self_adjoint_eigvals expm logdet lstsq
        matrix_rank norm normalize pinv set_diag=matrix_set_diag slogdet solve
        svd trace triangular_solve tridiagonal_matmul tridiagonal_solve""",
    math_ops="einsum global_norm matmul matvec tensordot",
    nn="l2_normalize")
math = _namespace(
    "math", whole="math_ops",
    graph="Tensor name_scope",
    check_ops="is_non_decreasing is_strictly_increasing",
    indexed_slices="IndexedSlices",
    math_special="""
        bincount confusion_matrix cumulative_logsumexp lbeta multiply_no_nan
        nextafter polyval reciprocal_no_nan reduce_euclidean_norm
        unsorted_segment_mean unsorted_segment_sqrt_n""",
    nn="""
        in_top_k l2_normalize log_softmax softmax top_k zero_fraction""",
    tensor="constant convert_to_tensor")
python_io = _namespace("python_io", readers=_RECORDS)
quantization = _namespace("quantization", quantize_ops="""
    dequantize fake_quant_with_min_max_args
    fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars
    fake_quant_with_min_max_vars_gradient
    fake_quant_with_min_max_vars_per_channel
    fake_quant_with_min_max_vars_per_channel_gradient quantize
    quantize_and_dequantize quantized_concat""")
queue = _namespace("queue", queues=_QUEUES)
random = _namespace(
    "random",
    candidate_sampling=_SAMPLERS,
    random_ops="""
        categorical gamma=random_gamma get_seed multinomial
        normal=random_normal poisson=random_poisson set_random_seed
        shuffle=random_shuffle stateless_categorical stateless_multinomial
        stateless_normal=stateless_random_normal stateless_truncated_normal
        stateless_uniform=stateless_random_uniform truncated_normal
        uniform=random_uniform""")
saved_model = _namespace("saved_model")
sets = _namespace("sets", set_ops="""
    difference=set_difference intersection=set_intersection set_difference
    set_intersection set_size set_union size=set_size union=set_union""")
signal = _namespace("signal", spectral_ops=_FOURIER + " fftshift ifftshift",
                    signal_ops="""
    dct frame hamming_window hann_window idct inverse_stft
    inverse_stft_window_fn linear_to_mel_weight_matrix
    mfccs_from_log_mel_spectrograms overlap_and_add stft""")
sparse = _namespace("sparse", accumulators="SparseConditionalAccumulator",
                    indexed_slices="mask=sparse_mask", math_special="""
    segment_mean=sparse_segment_mean segment_sqrt_n=sparse_segment_sqrt_n
    segment_sum=sparse_segment_sum""", sparse_ops="""
    SparseTensor add=sparse_add concat=sparse_concat cross=sparse_cross
    cross_hashed=sparse_cross_hashed deserialize_many_sparse deserialize_sparse
    expand_dims=sparse_expand_dims eye=sparse_eye
    fill_empty_rows=sparse_fill_empty_rows from_dense=sparse_from_dense
    matmul=sparse_tensor_dense_matmul maximum=sparse_maximum merge=sparse_merge
    minimum=sparse_minimum placeholder=sparse_placeholder
    reduce_max=sparse_reduce_max reduce_max_sparse=sparse_reduce_max_sparse
    reduce_sum=sparse_reduce_sum reduce_sum_sparse=sparse_reduce_sum_sparse
    reorder=sparse_reorder reset_shape=sparse_reset_shape reshape=sparse_reshape
    retain=sparse_retain serialize=serialize_sparse serialize_many_sparse
    serialize_sparse slice=sparse_slice softmax=sparse_softmax
    sparse_dense_matmul=sparse_tensor_dense_matmul split=sparse_split
    to_dense=sparse_tensor_to_dense to_indicator=sparse_to_indicator
    transpose=sparse_transpose""")
spectral = _namespace("spectral", signal_ops="dct idct",
                      spectral_ops=_FOURIER)
strings = _namespace("strings", string_ops="""
    as_string format=string_format join=string_join length=string_length lower
    reduce_join regex_full_match regex_replace split strip substr
    to_hash_bucket=string_to_hash_bucket
    to_hash_bucket_fast=string_to_hash_bucket_fast
    to_hash_bucket_strong=string_to_hash_bucket_strong
    to_number=string_to_number bytes_split unicode_decode
    unicode_decode_with_offsets unicode_encode unicode_script unicode_split
    unicode_split_with_offsets unicode_transcode unsorted_segment_join
    upper""")
test = _namespace("test", test_case="""
    TestCase assert_equal_graph_def get_temp_dir main test_src_dir_path""")
train = _namespace(
    "train",
    coordinator="""
        Coordinator LooperThread QueueRunner add_queue_runner
        start_queue_runners""",
    importer="write_graph",
    learning_rate_decay="""
        cosine_decay cosine_decay_restarts exponential_decay inverse_time_decay
        linear_cosine_decay natural_exp_decay noisy_linear_cosine_decay
        piecewise_constant piecewise_constant_decay polynomial_decay""",
    input_pipelines="""
        batch batch_join input_producer limit_epochs match_filenames_once
        maybe_batch maybe_batch_join maybe_shuffle_batch
        maybe_shuffle_batch_join range_input_producer shuffle_batch
        shuffle_batch_join slice_input_producer string_input_producer""")

train.queue_runner = _namespace("train.queue_runner", coordinator="""
    QueueRunner add_queue_runner start_queue_runners""")

compat.v1 = v1 = _sys.modules["headrace.compat.v1"] = _tf
test.is_gpu_available = (
    lambda cuda_only=False, min_cuda_compute_capability=None: False)
test.is_built_with_cuda = test.is_built_with_rocm = lambda: False
test.is_built_with_gpu_support = lambda: False
test.gpu_device_name = lambda: ""
