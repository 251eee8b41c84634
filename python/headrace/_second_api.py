"""The names of tf.compat.v2, and where each is defined.

Most are names of tf.* (_second_interface.py tells which). OWN has, as _api.NAMES
does, the modules of `_src` that define the others. What is in neither is not
supported.
"""
import functools

from headrace import _second_interface

ROOT = "compat.v2"

_CHECKS = """
    assert_equal=assert_equal_v2 assert_greater=assert_greater_v2
    assert_less=assert_less_v2 assert_rank=assert_rank_v2"""
_REDUCTIONS = """
    reduce_all=reduce_all_v2 reduce_any=reduce_any_v2
    reduce_logsumexp=reduce_logsumexp_v2 reduce_max=reduce_max_v2
    reduce_mean=reduce_mean_v2 reduce_min=reduce_min_v2
    reduce_prod=reduce_prod_v2 reduce_sum=reduce_sum_v2
    scalar_mul=scalar_mul_v2"""
_INITIALIZERS = {
    "compat.second_initializers": """
        Constant GlorotNormal GlorotUniform Identity Initializer Ones Orthogonal
        RandomNormal RandomUniform TruncatedNormal VarianceScaling Zeros
        constant=Constant glorot_normal=GlorotNormal
        glorot_uniform=GlorotUniform he_normal he_uniform identity=Identity
        lecun_normal lecun_uniform ones=Ones orthogonal=Orthogonal
        zeros=Zeros""",
}
_LOSSES = {
    "compat.estimator_parts": "Reduction=ReductionV2",
}

OWN = {
    "": {
        "compat.gradient_checker": "",
        "compat.graphs": """
            convert_to_tensor=convert_to_tensor_v2 gradients=gradients_v2""",
        "compat.node_tools": "name_scope=name_scope_v2",
        "compat.second_forms": """
            argmax=argmax_v2 argmin=argmin_v2 batch_to_space=batch_to_space_v2
            boolean_mask=boolean_mask_v2 case=case_v2 cond=cond_for_tf_v2
            constant device=device_v2 expand_dims=expand_dims_v2
            gather=gather_v2 gather_nd=gather_nd_v2 hessians=HessiansV2
            norm=norm_v2 ones_like=ones_like_v2 pad=pad_v2
            reverse_sequence=reverse_sequence_v2 shape=shape_v2 size=size_v2
            space_to_batch=space_to_batch_v2 squeeze=squeeze_v2
            transpose=transpose_v2 tuple=tuple_v2 while_loop=while_loop_v2
            zeros_like=zeros_like_v2""" + _CHECKS + _REDUCTIONS,
        "compat.second_initializers": """
            constant_initializer=Constant ones_initializer=Ones
            random_normal_initializer=RandomNormal
            random_uniform_initializer=RandomUniform zeros_initializer=Zeros""",
        "compat.second_variables": """
            DeviceSpec=DeviceSpecV2 Variable=SecondVariable""",
        "variables.base": "variable_creator_scope",
        "variables.records": "VariableAggregation",
    },
    "autograph": {
        "compat.second_forms": "to_code=to_code_v2 to_graph=to_graph_v2",
    },
    "data": {
        "data.datasets": "Dataset",
        "data.files": """
            FixedLengthRecordDataset TFRecordDataset TextLineDataset""",
    },
    "data.experimental": {
        "data.experimental": """
            RandomDataset choose_from_datasets sample_from_datasets""",
        "data.files": "CsvDataset",
    },
    "debugging": {
        "compat.second_forms": """
            assert_all_finite=verify_tensor_all_finite_v2
            assert_greater_equal=assert_greater_equal_v2
            assert_integer=assert_integer_v2 assert_less_equal=assert_less_equal_v2
            assert_near=assert_near_v2 assert_negative=assert_negative_v2
            assert_non_negative=assert_non_negative_v2
            assert_non_positive=assert_non_positive_v2
            assert_none_equal=assert_none_equal_v2
            assert_positive=assert_positive_v2
            assert_rank_at_least=assert_rank_at_least_v2
            assert_rank_in=assert_rank_in_v2 assert_scalar=assert_scalar_v2
            assert_shapes=assert_shapes_v2 assert_type=assert_type_v2"""
        + _CHECKS,
    },
    "distribute": {
        "distribute.strategy": "Strategy StrategyExtended",
    },
    "feature_column": {
        "compat.second_forms": """
            categorical_column_with_vocabulary_file=vocabulary_file_column_v2
            shared_embeddings=shared_embedding_columns_v2""",
        "feature_column.inputs": "make_parse_example_spec",
    },
    "image": {
        "compat.second_networks": """
            ResizeMethod crop_and_resize=crop_and_resize_v2
            draw_bounding_boxes=draw_bounding_boxes_v2
            extract_glimpse=extract_glimpse_v2 resize=resize_images_v2
            resize_with_pad=resize_image_with_pad_v2
            sample_distorted_bounding_box=sample_distorted_bounding_box_v2""",
    },
    "initializers": _INITIALIZERS,
    "io": {
        "compat.second_forms": """
            decode_csv=decode_csv_v2 decode_raw=decode_raw_v2
            parse_example=parse_example_v2
            parse_single_example=parse_single_example_v2_unoptimized
            serialize_many_sparse=serialize_many_sparse_v2
            serialize_sparse=serialize_sparse_v2""",
    },
    "keras.backend": {
        "compat.second_variables": "name_scope=keras_name_scope",
    },
    "keras.initializers": _INITIALIZERS,
    "keras.layers": {
        "compat.second_layers": "BatchNormalization GRU GRUCell LSTM LSTMCell",
        "feature_column.feature_layers": "DenseFeatures",
    },
    "keras.losses": _LOSSES,
    "linalg": {
        "compat.second_forms": "norm=norm_v2",
        "compat.second_networks": "l2_normalize=l2_normalize_v2",
    },
    "lookup": {
        "flow.lookup_ops": "StaticHashTable StaticVocabularyTable",
    },
    "losses": _LOSSES,
    "math": {
        "compat.second_forms": """
            argmax=argmax_v2 argmin=argmin_v2 bincount=bincount_v2
            confusion_matrix=confusion_matrix_v2
            count_nonzero=count_nonzero_v2""" + _REDUCTIONS,
        "compat.second_networks": """
            in_top_k=in_top_k_v2 l2_normalize=l2_normalize_v2
            log_softmax=log_softmax_v2 softmax=softmax_v2""",
    },
    "nn": {
        "compat.second_forms": """
            depth_to_space=depth_to_space_v2 space_to_batch=space_to_batch_v2
            space_to_depth=space_to_depth_v2""",
        "compat.second_networks": """
            avg_pool2d=avg_pool2d_v2
            batch_norm_with_global_normalization=batch_norm_with_global_normalization_v2
            conv1d=conv1d_v2 conv2d=conv2d_v2
            conv2d_transpose=conv2d_transpose_v2 conv3d=conv3d_v2
            conv3d_transpose=conv3d_transpose_v2 convolution=convolution_v2
            crelu=crelu_v2 depthwise_conv2d=depthwise_conv2d_v2
            dilation2d=dilation2d_v2 dropout=dropout_v2
            embedding_lookup=embedding_lookup_v2
            embedding_lookup_sparse=embedding_lookup_sparse_v2
            erosion2d=erosion2d_v2 fractional_avg_pool=fractional_avg_pool_v2
            fractional_max_pool=fractional_max_pool_v2 in_top_k=in_top_k_v2
            l2_normalize=l2_normalize_v2 log_softmax=log_softmax_v2
            max_pool_with_argmax=max_pool_with_argmax_v2 moments=moments_v2
            nce_loss=nce_loss_v2 pool=pool_v2
            safe_embedding_lookup_sparse=safe_embedding_lookup_sparse_v2
            sampled_softmax_loss=sampled_softmax_loss_v2
            separable_conv2d=separable_conv2d_v2
            sigmoid_cross_entropy_with_logits=sigmoid_cross_entropy_with_logits_v2
            softmax=softmax_v2
            softmax_cross_entropy_with_logits=softmax_cross_entropy_with_logits_of_axis
            sparse_softmax_cross_entropy_with_logits=sparse_softmax_cross_entropy_with_logits_v2
            sufficient_statistics=sufficient_statistics_v2
            weighted_cross_entropy_with_logits=weighted_cross_entropy_with_logits_v2
            weighted_moments=weighted_moments_v2""",
    },
    "random": {
        "compat.second_forms": "poisson=random_poisson_v2",
        "ops.random_ops": "set_seed=set_random_seed",
    },
    "saved_model": {
        "saved_model.loader": "contains_saved_model=maybe_saved_model_directory",
    },
    "sparse": {
        "compat.second_forms": """
            add=sparse_add_v2 concat=sparse_concat_v2
            reduce_max=sparse_reduce_max_v2 reduce_sum=sparse_reduce_sum_v2
            segment_mean=sparse_segment_mean_v2
            segment_sqrt_n=sparse_segment_sqrt_n_v2
            segment_sum=sparse_segment_sum_v2 split=sparse_split_v2""",
    },
    "strings": {
        "compat.second_forms": """
            length=string_length_v2 reduce_join=reduce_join_v2
            split=ragged_split substr=substr_v2
            to_hash_bucket=string_to_hash_bucket to_number=string_to_number""",
    },
    "summary": {
        "compat.second_summaries": "audio histogram image scalar text write",
        "summary.writers": """
            SummaryWriter create_file_writer=create_file_writer_v2
            create_noop_writer flush record_if""",
    },
    "summary.experimental": {
        "compat.second_summaries": """
            get_step set_step summary_scope write_raw_pb""",
    },
    "test": {
        "compat.gradient_checker": "compute_gradient",
        "compat.test_util": "assert_equal_graph_def=assert_equal_graph_def_v2",
    },
    "train": {
        "training.object_checkpoints": "Checkpoint=SecondCheckpoint",
    },
}

# Beside TensorFlow's table: what tf.compat has.
_COMPAT = """
    as_bytes as_str as_str_any as_text bytes_or_text_types complex_types
    dimension_at_index dimension_value forward_compatibility_horizon
    forward_compatible integral_types path_to_str real_types"""


def _names(space):
    """[(name, its place in tf.*, or None for one of its own)]"""
    if space == "compat":
        return [(name, "compat." + name) for name in _COMPAT.split()]
    found = []
    for entry in _second_interface.NAMES[space].split():
        name, _, place = entry.partition("=")
        if name.endswith("!"):
            found.append((name[:-1], None))
        elif place:
            found.append((name, place + name if place.endswith(".") else place))
        else:
            found.append((name, space + "." + name if space else name))
    return found


@functools.cache
def interface():
    """{namespace, as "compat.v2.nn": the names that TensorFlow 1.15 has there}"""
    spaces = [*_second_interface.NAMES, "compat"]
    return {full(space): [name for name, _ in _names(space)]
            for space in spaces}


def full(space):
    """The namespace `space` of tf.compat.v2 as one of tf."""
    return ROOT + "." + space if space else ROOT


def is_one(space):
    """Whether a namespace of tf is tf.compat.v2 or in it."""
    return space == ROOT or space.startswith(ROOT + ".")


def table(space, first, entries):
    """{name: (module, its name there)} of a namespace "compat.v2..." of tf.
    `first(space)` is that of a namespace of TensorFlow 1.x, or None; `entries`
    reads {module: names}."""
    space = space[len(ROOT) + 1:]
    found = entries(OWN.get(space, {}))
    for name, place in _names(space):
        if place is not None:
            home, _, original = place.rpartition(".")
            there = first(home)
            if there is not None and original in there:
                found[name] = there[original]
    return found


@functools.cache
def spaces():
    """The namespaces that have names here, and those around them."""
    from headrace import _names as names
    found = {ROOT}
    for space in interface():
        if names.table(space):
            while space != ROOT:
                found.add(space)
                space = space.rpartition(".")[0]
    return frozenset(found)
