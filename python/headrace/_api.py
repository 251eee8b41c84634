"""The names of tf.* and its namespaces, and where each is defined.

NAMES has, for each namespace ("" is tf itself), the modules of `_src` and what
the namespace takes from them: `name`, or `name=original` where the module has
another name for it. From `raw_ops` come ops: `identity_n` is IdentityN, unless
it says otherwise (`fft=FFT`).

A namespace has these names and no others. All are names of TensorFlow 1.15
(`_interface.py`), except those in OWN.
"""

# Of tf.contrib and of tf.contrib.slim.
_LOSSES = {
    "contrib.losses": """
        absolute_difference add_loss compute_weighted_loss
        cosine_distance get_losses get_regularization_losses
        get_total_loss hinge_loss log_loss mean_pairwise_squared_error
        mean_squared_error sigmoid_cross_entropy softmax_cross_entropy
        sparse_softmax_cross_entropy""",
}
_METRICS = {
    "contrib.further_metrics": """
        count sparse_recall_at_top_k streaming_covariance
        streaming_false_negative_rate streaming_false_negatives_at_thresholds
        streaming_false_positive_rate streaming_false_positives_at_thresholds
        streaming_pearson_correlation streaming_sparse_average_precision_at_k
        streaming_sparse_average_precision_at_top_k
        streaming_sparse_precision_at_top_k
        streaming_true_negatives_at_thresholds
        streaming_true_positives_at_thresholds""",
    "sparse.set_ops": "set_difference set_intersection set_size set_union",
    "contrib.threshold_metrics": """
        cohen_kappa f1_score precision_at_recall
        precision_recall_at_equal_thresholds recall_at_precision
        streaming_concat streaming_curve_points
        streaming_false_negative_rate_at_thresholds
        streaming_false_positive_rate_at_thresholds""",
    "contrib.metric_map": """
        aggregate_metric_map streaming_accuracy streaming_mean
        streaming_precision streaming_recall""",
    "contrib.metrics": """
        accuracy aggregate_metrics confusion_matrix streaming_auc
        streaming_false_negatives streaming_false_positives
        streaming_mean_absolute_error streaming_mean_cosine_distance
        streaming_mean_iou streaming_mean_relative_error
        streaming_mean_squared_error streaming_mean_tensor
        streaming_percentage_less streaming_precision_at_thresholds
        streaming_recall_at_k streaming_recall_at_thresholds
        streaming_root_mean_squared_error
        streaming_sensitivity_at_specificity
        streaming_sparse_precision_at_k streaming_sparse_recall_at_k
        streaming_specificity_at_sensitivity streaming_true_negatives
        streaming_true_positives""",
}
_COLUMNS = {
    "contrib.columns.embedding": """
        embedding_column one_hot_column scattered_embedding_column
        shared_embedding_columns""",
    "contrib.columns.inputs": """
        check_feature_columns create_feature_spec_for_parsing
        infer_real_valued_columns input_from_feature_columns
        joint_weighted_sum_from_feature_columns
        make_place_holder_tensors_for_base_features
        parse_feature_columns_from_examples
        parse_feature_columns_from_sequence_examples
        sequence_input_from_feature_columns transform_features
        weighted_sum_from_feature_columns""",
    "contrib.columns.real": """
        bucketized_column crossed_column real_valued_column""",
    "contrib.columns.sparse": """
        SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY sparse_column_with_hash_bucket
        sparse_column_with_integerized_feature sparse_column_with_keys
        sparse_column_with_vocabulary_file weighted_sparse_column""",
}

NAMES = {
    "": {
        "autograph.function": "function",
        "functions.wrapped": "wrap_function",
        "contrib.reversible": "recompute_grad=recompute_grad_of_tape",
        "control.check_ops": """
            assert_equal assert_greater assert_greater_equal assert_integer
            assert_less assert_less_equal assert_near assert_negative
            assert_non_negative assert_non_positive assert_none_equal
            assert_positive assert_proper_iterable assert_rank
            assert_rank_at_least assert_rank_in assert_same_float_dtype
            assert_scalar assert_type is_non_decreasing is_numeric_tensor
            is_strictly_increasing""",
        "control.control_flow": "Assert case cond while_loop",
        "control.control_flow_ops": """
            Print add_check_numerics_ops group py_function timestamp tuple
            verify_tensor_all_finite""",
        "control.functional_ops": "foldl foldr map_fn scan",
        "control.logging_ops": "print=print_v2",
        "control.parallel_for": "vectorized_map",
        "control.script_ops": "numpy_function py_func",
        "control.switch_ops": "switch_case",
        "compat.constants": "COMPILER_VERSION GIT_VERSION",
        "control.tensor_array": "TensorArray",
        "flow.accumulators": """
            ConditionalAccumulator ConditionalAccumulatorBase
            SparseConditionalAccumulator""",
        "eager.context": "disable_eager_execution enable_eager_execution",
        "flow.critical_sections": "CriticalSection",
        "flow.queues": """
            FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase
            RandomShuffleQueue""",
        "framework.behavior": """
            GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER
            GRAPH_DEF_VERSION_MIN_PRODUCER VERSION control_flow_v2_enabled
            disable_control_flow_v2 disable_tensor_equality disable_v2_behavior
            disable_v2_tensorshape enable_tensor_equality enable_v2_behavior
            enable_v2_tensorshape executing_eagerly""",
        "framework.default_session": "get_default_session",
        "framework.device_spec": "DeviceSpec",
        "framework.dtypes": """
            DType QUANTIZED_DTYPES as_dtype bfloat16 bool=bool_ complex128
            complex64 double float16 float32 float64 half int16 int32 int64
            int8 qint16 qint32 qint8 quint16 quint8 resource string uint16
            uint32 uint64 uint8 variant""",
        "framework.errors": "OpError",
        "framework.graph": """
            Graph GraphKeys Operation Tensor add_to_collection
            add_to_collections colocate_with container control_dependencies
            device get_collection get_collection_ref get_default_graph
            init_scope name_scope op_scope reset_default_graph""",
        "framework.importer": "import_graph_def",
        "framework.indexed_slices": """
            IndexedSlices convert_to_tensor_or_indexed_slices sparse_mask""",
        "framework.messages": """
            AttrValue ConfigProto Event GPUOptions GraphDef GraphOptions
            HistogramProto LogMessage MetaGraphDef NameAttrList NodeDef
            OptimizerOptions RunMetadata RunOptions SessionLog Summary
            SummaryMetadata TensorInfo""",
        "framework.tensor": """
            constant convert_to_tensor is_tensor
            register_tensor_conversion_function""",
        "framework.tensor_proto": "make_ndarray make_tensor_proto",
        "framework.tensor_shape": "Dimension TensorShape dimension_value",
        "io.parsing_ops": """
            FixedLenFeature FixedLenSequenceFeature SparseFeature
            VarLenFeature decode_csv parse_example parse_single_example
            parse_single_sequence_example""",
        "io.readers": """
            FixedLengthRecordReader IdentityReader ReaderBase TFRecordReader
            TextLineReader WholeFileReader""",
        "math.linalg_ops": """
            cholesky_solve matrix_diag matrix_diag_part matrix_set_diag
            matrix_solve_ls norm self_adjoint_eig self_adjoint_eigvals svd
            trace""",
        "math.math_special": """
            argsort bincount clip_by_average_norm confusion_matrix
            histogram_fixed_width histogram_fixed_width_bins lbeta
            searchsorted sort sparse_matmul sparse_segment_mean
            sparse_segment_sqrt_n sparse_segment_sum to_complex128
            to_complex64 unsorted_segment_mean unsorted_segment_sqrt_n""",
        "math.quantize_ops": "dequantize quantize quantize_v2",
        "math.spectral_ops": "fft2d fft3d ifft2d ifft3d",
        "ops.array_ops": """
            batch_gather boolean_mask broadcast_dynamic_shape
            broadcast_static_shape broadcast_to concat expand_dims eye fill
            gather gather_nd get_static_value guarantee_const identity
            matrix_transpose newaxis no_op one_hot ones ones_like pad
            parallel_stack placeholder placeholder_with_default rank reshape
            reverse reverse_sequence reverse_v2 shape shape_n size slice
            split squeeze stack stop_gradient strided_slice tile transpose
            unstack where where_v2 zeros zeros_like""",
        "ops.array_special": """
            dimension_at_index ensure_shape fingerprint meshgrid repeat
            scatter_nd sequence_mask setdiff1d
            tensor_scatter_add=tensor_scatter_nd_add tensor_scatter_nd_add
            tensor_scatter_nd_sub tensor_scatter_nd_update
            tensor_scatter_sub=tensor_scatter_nd_sub
            tensor_scatter_update=tensor_scatter_nd_update unique
            unique_with_counts""",
        "ops.blocks": """
            batch_to_space depth_to_space extract_image_patches
            required_space_to_batch_paddings space_to_batch space_to_depth""",
        "ops.clipping": """
            clip_by_global_norm clip_by_norm clip_by_value global_norm""",
        "ops.contractions": "einsum tensordot",
        "ops.math_ops": """
            abs accumulate_n add add_n angle arg_max arg_min argmax argmin
            bitcast cast ceil complex conj cos count_nonzero cumprod cumsum
            div div_no_nan divide equal erf exp floor floor_div floordiv
            floormod greater greater_equal imag less less_equal lin_space
            linspace log log_sigmoid logical_and logical_not logical_or
            logical_xor matmul maximum minimum mod multiply negative
            not_equal pow range real realdiv reduce_all reduce_any
            reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod
            reduce_sum round rsqrt saturate_cast scalar_mul sigmoid sign sin
            sqrt square squared_difference subtract tanh to_bfloat16
            to_double to_float to_int32 to_int64 truediv truncatediv
            truncatemod""",
        "ops.random_ops": """
            get_seed multinomial random_crop random_gamma random_normal
            random_poisson random_shuffle random_uniform set_random_seed
            truncated_normal""",
        "ragged.ragged_spec": "RaggedTensorSpec",
        "ragged.ragged_tensor": "RaggedTensor",
        "ops.sparse_tensor": """
            SparseTensor SparseTensorValue
            convert_to_tensor_or_sparse_tensor sparse_placeholder""",
        "ops.string_ops": """
            as_string decode_base64 decode_raw encode_base64 reduce_join
            regex_replace string_join string_split string_to_hash_bucket
            string_to_hash_bucket_fast string_to_hash_bucket_strong
            string_to_number substr""",
        "data.structures": "OptionalSpec",
        "ops.type_specs": """
            IndexedSlicesSpec SparseTensorSpec TensorSpec TypeSpec""",
        "platform.load_library": """
            load_file_system_library load_library load_op_library""",
        "platform.tf_logging": "get_logger",
        "raw_ops": """
            acos acosh asin asinh atan atan2 atanh
            batch_to_space_nd=BatchToSpaceND betainc check_numerics cholesky
            cosh count_up_to cross decode_compressed
            decode_json_example=DecodeJSONExample diag diag_part digamma
            dynamic_partition dynamic_stitch erfc expm1
            extract_volume_patches fake_quant_with_min_max_args
            fake_quant_with_min_max_args_gradient
            fake_quant_with_min_max_vars
            fake_quant_with_min_max_vars_gradient
            fake_quant_with_min_max_vars_per_channel
            fake_quant_with_min_max_vars_per_channel_gradient fft=FFT
            identity_n ifft=IFFT igamma igammac invert_permutation is_finite
            is_inf is_nan lgamma log1p matching_files matrix_band_part
            matrix_determinant matrix_inverse matrix_solve
            matrix_square_root matrix_triangular_solve parse_tensor
            polygamma qr quantized_concat read_file reciprocal rint roll
            segment_max segment_mean segment_min segment_prod segment_sum
            serialize_tensor sinh space_to_batch_nd=SpaceToBatchND
            string_strip tan unravel_index unsorted_segment_max
            unsorted_segment_min unsorted_segment_prod unsorted_segment_sum
            write_file zeta""",
        "session.session": "InteractiveSession Session",
        "session.session_handles": """
            delete_session_tensor get_session_handle get_session_tensor""",
        "sparse.sparse_ops": """
            deserialize_many_sparse edit_distance serialize_many_sparse
            serialize_sparse sparse_add sparse_concat sparse_fill_empty_rows
            sparse_maximum sparse_merge sparse_minimum sparse_reduce_max
            sparse_reduce_max_sparse sparse_reduce_sum
            sparse_reduce_sum_sparse sparse_reorder sparse_reset_shape
            sparse_reshape sparse_retain sparse_slice sparse_softmax
            sparse_split sparse_tensor_dense_matmul sparse_tensor_to_dense
            sparse_to_dense sparse_to_indicator sparse_transpose""",
        "training.gradient_tape": "GradientTape",
        "training.gradients": """
            AggregationMethod NoGradient NotDifferentiable RegisterGradient
            UnconnectedGradients custom_gradient grad_pass_through gradients
            hessians no_gradient=NotDifferentiable""",
        "variables.base": "variable_creator_scope",
        "variables.module": "Module",
        "variables.initializers": """
            constant_initializer glorot_normal_initializer
            glorot_uniform_initializer ones_initializer
            orthogonal_initializer random_normal_initializer
            random_uniform_initializer truncated_normal_initializer
            uniform_unit_scaling_initializer variance_scaling_initializer
            zeros_initializer""",
        "variables.partitioners": """
            create_partitioned_variables fixed_size_partitioner
            min_max_variable_partitioner variable_axis_size_partitioner""",
        "variables.records": "VariableAggregation VariableSynchronization",
        "variables.scopes": """
            AUTO_REUSE VariableScope get_local_variable get_variable
            get_variable_scope no_regularizer variable_op_scope
            variable_scope""",
        "variables.template": "make_template",
        "variables.variables": """
            Variable all_variables assert_variables_initialized assign
            assign_add assign_sub batch_scatter_update
            disable_resource_variables enable_resource_variables
            global_variables global_variables_initializer
            initialize_all_tables=tables_initializer
            initialize_all_variables initialize_local_variables
            initialize_variables is_variable_initialized local_variables
            local_variables_initializer model_variables
            moving_average_variables report_uninitialized_variables
            resource_variables_enabled scatter_add scatter_div scatter_max
            scatter_min scatter_mul scatter_nd_add scatter_nd_sub
            scatter_nd_update scatter_sub scatter_update tables_initializer
            trainable_variables variables_initializer""",
    },
    "app": {
        "platform.app": "run",
    },
    "audio": {
        "raw_ops": "decode_wav encode_wav",
    },
    "autograph": {
        "autograph.api": "set_verbosity to_code to_graph trace",
    },
    "autograph.experimental": {
        "autograph.api": "Feature do_not_convert set_loop_options",
    },
    "bitwise": {
        "raw_ops": """
            bitwise_and bitwise_or bitwise_xor invert left_shift right_shift""",
    },
    "compat": {
        # TensorFlow has no such function: see OWN.
        "compat.finder": "install",
        "framework.tensor_shape": "dimension_value",
        "framework.text_compat": """
            as_bytes as_str as_str_any as_text bytes_or_text_types
            complex_types forward_compatibility_horizon forward_compatible
            integral_types path_to_str real_types""",
        "ops.array_special": "dimension_at_index",
    },
    "config": {
        "autograph.function": "experimental_run_functions_eagerly",
        "session.config": """
            experimental_list_devices get_soft_device_placement
            set_soft_device_placement""",
    },
    "config.experimental": {
        "session.config": """
            VirtualDeviceConfiguration get_device_policy get_memory_growth
            get_synchronous_execution get_virtual_device_configuration
            get_visible_devices list_logical_devices list_physical_devices
            set_device_policy set_memory_growth set_synchronous_execution
            set_virtual_device_configuration set_visible_devices""",
    },
    "config.optimizer": {
        "session.config": """
            get_experimental_options get_jit set_experimental_options
            set_jit""",
    },
    "config.threading": {
        "session.config": """
            get_inter_op_parallelism_threads get_intra_op_parallelism_threads
            set_inter_op_parallelism_threads
            set_intra_op_parallelism_threads""",
    },
    "contrib": {},
    "contrib.autograph": {
        "autograph.api": """
            Feature convert do_not_convert set_loop_options""",
        "compat.second_forms": "to_code=to_code_v2 to_graph=to_graph_v2",
    },
    "contrib.checkpoint": {
        "compat.trackables": """
            List Mapping NumpyState UniqueNameTracker
            dot_graph_from_checkpoint object_metadata""",
        "compat.tracking": """
            Checkpointable=AutoTrackable CheckpointableBase=Trackable""",
        "framework.messages": """
            CheckpointableObjectGraph=TrackableObjectGraph""",
        "training.object_checkpoints": "CheckpointManager",
        "training.object_graph": "list_objects",
        "training.python_state": "PythonStateWrapper=PythonState",
        "variables.tracking": "NoDependency",
    },
    "contrib.cluster_resolver": {
        "training.cluster_managers": """
            GCEClusterResolver KubernetesClusterResolver
            SlurmClusterResolver""",
        "training.cluster_resolver": """
            ClusterResolver SimpleClusterResolver TFConfigClusterResolver
            UnionClusterResolver""",
    },
    # What it has beside needs a GPU and cuDNN's own format of weights.
    "contrib.cudnn_rnn": {
        "contrib.block_cells": "CudnnCompatibleLSTMCell",
    },
    "contrib.crf": {
        "contrib.crf": """
            CrfDecodeBackwardRnnCell CrfDecodeForwardRnnCell
            CrfForwardRnnCell crf_binary_score crf_decode crf_log_likelihood
            crf_log_norm crf_multitag_sequence_score crf_sequence_score
            crf_unary_score viterbi_decode""",
    },
    "contrib.distribute": {
        "distribute.coordinator": """
            DistributeConfig run_standard_tensorflow_server""",
        "distribute.contrib": """
            CollectiveAllReduceStrategy MirroredStrategy Monitor
            ParameterServerStrategy StandardInputStep Step""",
        "distribute.cross_device_ops":
            "AllReduceCrossDeviceOps CrossDeviceOps",
        "distribute.one_device": "OneDeviceStrategy",
        "distribute.strategy": """
            DistributionStrategy=Strategy ReplicaContext UpdateContext
            get_cross_replica_context get_distribution_strategy=get_strategy
            get_loss_reduction get_replica_context get_strategy
            has_distribution_strategy=has_strategy has_strategy
            in_cross_replica_context require_replica_context""",
    },
    "contrib.data": {
        "data.contrib": """
            assert_element_shape batch_and_drop_remainder
            bucket_by_sequence_length make_csv_dataset
            padded_batch_and_drop_remainder read_batch_features reduce_dataset
            sliding_window_batch sloppy_interleave""",
        "data.datasets": "AUTOTUNE",
        "data.experimental": """
            Counter RandomDataset Reducer choose_from_datasets copy_to_device
            dense_to_sparse_batch enumerate_dataset get_next_as_optional
            get_single_element group_by_reducer group_by_window ignore_errors
            map_and_batch parallel_interleave parse_example_dataset
            prefetch_to_device sample_from_datasets scan shuffle_and_repeat
            unbatch unique""",
        "data.files": "CsvDataset TFRecordWriter",
        "data.iterators": "Optional",
        "data.reading": "SqlDataset make_batched_features_dataset",
        "data.saved_iterators": """
            CheckpointInputPipelineHook make_saveable_from_iterator""",
        "data.resampling": "rejection_resample",
    },
    "contrib.distributions": {
        "distributions.continuous": """
            Beta Cauchy Chi2 Gamma HalfNormal InverseGamma Logistic StudentT""",
        "distributions.counts": """
            Binomial Dirichlet DirichletMultinomial ExpRelaxedOneHotCategorical
            Geometric Multinomial OneHotCategorical Poisson RelaxedBernoulli
            RelaxedOneHotCategorical""",
        "distributions.distribution": """
            Distribution FULLY_REPARAMETERIZED NOT_REPARAMETERIZED RegisterKL
            ReparameterizationType kl_divergence""",
        "distributions.distributions": """
            Bernoulli Categorical Exponential Laplace MultivariateNormalDiag
            Normal Uniform""",
        "distributions.independent": "Independent",
        "distributions.low_rank": "MultivariateNormalDiagPlusLowRank",
        "distributions.matrices": """
            fill_triangular fill_triangular_inverse matrix_diag_transform
            reduce_weighted_logsumexp softplus_inverse tridiag""",
        "distributions.softened": """
            BetaWithSoftplusConcentration ExponentialWithSoftplusRate
            GammaWithSoftplusConcentrationRate
            InverseGammaWithSoftplusConcentrationRate LaplaceWithSoftplusScale
            NormalWithSoftplusScale StudentTWithAbsDfSoftplusScale""",
        "distributions.transformed": "TransformedDistribution",
        "distributions.vectors": """
            Deterministic Mixture MixtureSameFamily
            MultivariateNormalDiagWithSoftplusScale
            MultivariateNormalFullCovariance MultivariateNormalTriL""",
    },
    "contrib.distributions.bijectors": {
        "distributions.bijectors": """
            Bijector Chain ConditionalBijector Identity Inline Invert""",
        "distributions.elementwise_bijectors": """
            AbsoluteValue AffineScalar Exp Gumbel Kumaraswamy PowerTransform
            Sigmoid SinhArcsinh Softplus Softsign Square""",
        "distributions.vector_bijectors": """
            Affine AffineLinearOperator CholeskyOuterProduct FillTriangular
            MatrixInverseTriL Ordered Permute RealNVP Reshape ScaleTriL SoftmaxCentered
            TransformDiagonal""",
    },
    "contrib.estimator": {},
    "contrib.eager": {
        "autograph.function": "function",
        "compat.templates": "make_template=make_template_internal",
        "compat.test_util": """
            run_all_tests_in_graph_and_eager_modes=run_all_in_graph_and_eager_modes
            run_test_in_graph_and_eager_modes=run_in_graph_and_eager_modes""",
        "eager.context": """
            ASYNC DEVICE_PLACEMENT_EXPLICIT DEVICE_PLACEMENT_SILENT
            DEVICE_PLACEMENT_WARN SYNC async_clear_error async_wait
            enable_eager_execution execution_mode in_eager_mode list_devices
            num_gpus run set_execution_mode""",
        "eager.callbacks": """
            ExecutionCallback add_execution_callback clear_execution_callbacks
            errstate inf_callback inf_nan_callback nan_callback seterr""",
        "eager.datasets": "Iterator",
        "eager.derivatives": """
            gradients_function implicit_gradients implicit_value_and_gradients
            value_and_gradients_function""",
        "eager.functions": "defun",
        "control.control_flow_ops": "py_func=py_function",
        "eager.network": """
            Network Sequential restore_network_checkpoint
            save_network_checkpoint""",
        "eager.stores": """
            EagerVariableStore Saver get_optimizer_variables
            restore_variables_on_create""",
        "framework.behavior": "executing_eagerly",
        "ops.type_specs": "TensorSpec",
        "training.gradient_tape": "GradientTape",
        "training.gradients": "custom_gradient",
        "training.object_checkpoints": "Checkpoint",
        "variables.resource_variables": "Variable=ResourceVariable",
    },
    "contrib.factorization": {
        "factorization.choices": """
            COSINE_DISTANCE KMEANS_PLUS_PLUS_INIT RANDOM_INIT
            SQUARED_EUCLIDEAN_DISTANCE""",
        "factorization.gmm": "GmmAlgorithm gmm",
        "factorization.kmeans": "KMeans=ContribKMeans",
        "factorization.wals": "WALSModel",
    },
    "contrib.feature_column": {
        "feature_column.sequences": """
            sequence_categorical_column_with_hash_bucket
            sequence_categorical_column_with_identity
            sequence_categorical_column_with_vocabulary_file
            sequence_categorical_column_with_vocabulary_list
            sequence_input_layer sequence_numeric_column""",
    },
    "contrib.framework": {
        "flow.record_input": "RecordInput",
        "compat.graphs": """
            get_graph_from_inputs=graph_from_inputs get_name_scope
            prepend_name_scope strip_name_scope""",
        "compat.deprecation": "deprecated deprecated_arg_values deprecated_args",
        "contrib.arg_scopes": """
            add_arg_scope arg_scope arg_scoped_arguments current_arg_scope
            has_arg_scope""",
        "contrib.checkpoints": """
            assign_from_checkpoint assign_from_checkpoint_fn
            assign_from_values assign_from_values_fn get_variable_full_name
            init_from_checkpoint list_variables load_checkpoint load_variable""",
        "contrib.shape_checks": """
            assert_or_get_global_step assert_scalar_int get_placeholders
            reduce_sum_n remove_squeezable_dimensions with_same_shape
            with_shape""",
        "contrib.variables": """
            VariableDeviceChooser add_model_variable filter_variables
            get_local_variables get_model_variables get_trainable_variables
            get_unique_variable get_variables get_variables_by_name
            get_variables_by_suffix get_variables_to_restore global_variable
            local_variable model_variable variable zero_initializer""",
        "contrib.structured_py_func": "py_func",
        "control.check_ops": "assert_same_float_dtype assert_scalar",
        "control.control_flow": "smart_case smart_cond smart_constant_value",
        "framework.tensor": "is_tensor",
        "math.math_special": "argsort sort",
        "ops.sparse_tensor": "convert_to_tensor_or_sparse_tensor",
        "training.global_step": """
            assert_global_step create_global_step get_global_step
            get_or_create_global_step""",
        "ops.type_specs": "BoundedTensorSpec TensorSpec",
        "variables.orthogonal_kernels": """
            convolutional_delta_orthogonal=ConvolutionDeltaOrthogonal
            convolutional_orthogonal_1d=ConvolutionOrthogonal1D
            convolutional_orthogonal_2d=ConvolutionOrthogonal2D
            convolutional_orthogonal_3d=ConvolutionOrthogonal3D""",
        "training.checkpoint_ops": """
            load_and_remap_matrix_initializer load_embedding_initializer
            load_linear_multiclass_bias_initializer
            load_variable_slot_initializer""",
    },
    "contrib.framework.nest": {
        "compat.nest_paths": """
            assert_shallow_structure flatten_dict_items flatten_up_to
            flatten_with_joined_string_paths flatten_with_tuple_paths
            flatten_with_tuple_paths_up_to get_traverse_shallow_structure
            map_structure_up_to map_structure_with_paths
            map_structure_with_tuple_paths
            map_structure_with_tuple_paths_up_to yield_flat_paths""",
        "framework.nest": """
            assert_same_structure flatten is_nested is_sequence
            is_sequence_or_composite map_structure pack_sequence_as""",
    },
    "contrib.graph_editor": {
        "graph_editor.edit": """
            bypass connect detach detach_control_inputs detach_control_outputs
            detach_inputs detach_outputs""",
        "graph_editor.reroute": """
            add_control_inputs remove_control_inputs reroute_inputs
            reroute_ios reroute_outputs reroute_ts swap_inputs swap_ios
            swap_outputs swap_ts""",
        "graph_editor.select": """
            can_be_regex check_cios compute_boundary_ts filter_ops
            filter_ops_from_regex filter_ts filter_ts_from_regex
            get_backward_walk_ops get_forward_walk_ops get_name_scope_ops
            get_ops_ios get_walks_intersection_ops get_walks_union_ops
            get_within_boundary_ops make_regex select_ops select_ops_and_ts
            select_ts""",
        "graph_editor.subgraph": """
            SubGraphView make_view make_view_from_scope sgv=make_view
            sgv_scope=make_view_from_scope""",
        "graph_editor.transform": """
            Transformer TransformerInfo assign_renamed_collections_handler
            copy copy_op_handler copy_with_input_replacements graph_replace
            keep_t_if_possible_handler replace_t_with_placeholder_handler
            transform_op_if_inside_handler""",
        "graph_editor.util": """
            ControlOutputs get_consuming_ops get_generating_ops get_tensors
            make_list_of_op make_list_of_t
            make_placeholder_from_dtype_and_shape make_placeholder_from_tensor
            ph=make_placeholder_from_dtype_and_shape placeholder_name""",
    },
    "contrib.image": {
        "image.matching": "bipartite_match",
        "image.warps": """
            angles_to_projective_transforms compose_transforms dense_image_warp
            flat_transforms_to_matrices interpolate_spline
            matrices_to_flat_transforms rotate sparse_image_warp transform
            translate translations_to_projective_transforms""",
    },
    "contrib.integrate": {
        "contrib.odes": "odeint odeint_fixed",
    },
    "contrib.keras": {},
    "contrib.keras.activations": {
        "layers.activations": """
            deserialize elu get hard_sigmoid linear relu selu serialize sigmoid
            softmax softplus softsign tanh""",
    },
    "contrib.keras.applications": {
        "applications.inception": "InceptionV3",
        "applications.mobilenet": "MobileNet",
        "applications.resnet": "ResNet50",
        "applications.vgg": "VGG16 VGG19",
        "applications.xception": "Xception",
    },
    "contrib.keras.applications.inception_v3": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_tf""",
        "applications.inception": "InceptionV3",
    },
    "contrib.keras.applications.mobilenet": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_tf""",
        "applications.mobilenet": "MobileNet",
    },
    "contrib.keras.applications.resnet50": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_caffe""",
        "applications.resnet": "ResNet50",
    },
    "contrib.keras.applications.vgg16": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_caffe""",
        "applications.vgg": "VGG16",
    },
    "contrib.keras.applications.vgg19": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_caffe""",
        "applications.vgg": "VGG19",
    },
    "contrib.keras.applications.xception": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_tf""",
        "applications.xception": "Xception",
    },
    "contrib.keras.backend": {
        "layers.backend": """
            batch_get_value batch_set_value cast clear_session concatenate
            constant count_params dot dtype epsilon eval floatx get_session
            get_uid get_value hard_sigmoid image_data_format int_shape
            learning_phase max mean min ndim placeholder relu reset_uids
            reshape set_epsilon set_floatx set_image_data_format
            set_learning_phase set_session set_value shape softmax square sum
            variable""",
        "keras.backend_arrays": """
            abs all any arange argmax argmin backend batch_dot batch_flatten
            cast_to_floatx clip cos elu equal exp expand_dims eye flatten
            gather greater greater_equal in_top_k is_sparse l2_normalize less
            less_equal log maximum minimum not_equal one_hot ones ones_like
            permute_dimensions pow prod random_binomial random_normal
            random_normal_variable random_uniform random_uniform_variable
            repeat repeat_elements reverse round sigmoid sign sin softplus
            softsign spatial_2d_padding spatial_3d_padding sqrt squeeze stack
            std tanh temporal_padding to_dense transpose truncated_normal var
            zeros zeros_like""",
        "keras.backend_networks": """
            batch_normalization bias_add binary_crossentropy
            categorical_crossentropy conv1d conv2d conv2d_transpose conv3d
            ctc_batch_cost ctc_decode ctc_label_dense_to_sparse dropout
            moving_average_update normalize_batch_in_training pool2d pool3d
            resize_images resize_volumes rnn separable_conv2d
            sparse_categorical_crossentropy""",
        "keras.backend_running": """
            foldl foldr function gradients in_test_phase in_train_phase
            manual_variable_initialization map_fn name_scope print_tensor
            stop_gradient switch update update_add update_sub""",
    },
    "contrib.keras.callbacks": {
        "keras.callbacks": """
            BaseLogger CSVLogger Callback EarlyStopping History LambdaCallback
            LearningRateScheduler ModelCheckpoint ProgbarLogger
            ReduceLROnPlateau RemoteMonitor TerminateOnNaN""",
        "keras.tensor_board": "TensorBoard",
    },
    "contrib.keras.constraints": {
        "layers.constraints": """
            Constraint MaxNorm MinMaxNorm NonNeg UnitNorm deserialize get
            max_norm min_max_norm non_neg serialize unit_norm""",
    },
    "contrib.keras.datasets": {},
    "contrib.keras.datasets.boston_housing": {
        "keras.known_data": "load_data=load_boston_housing",
    },
    "contrib.keras.datasets.cifar10": {
        "keras.known_data": "load_data=load_cifar10",
    },
    "contrib.keras.datasets.cifar100": {
        "keras.known_data": "load_data=load_cifar100",
    },
    "contrib.keras.datasets.imdb": {
        "keras.known_data": """
            get_word_index=get_imdb_word_index load_data=load_imdb""",
    },
    "contrib.keras.datasets.mnist": {
        "keras.known_data": "load_data=load_mnist",
    },
    "contrib.keras.datasets.reuters": {
        "keras.known_data": """
            get_word_index=get_reuters_word_index load_data=load_reuters""",
    },
    "contrib.keras.initializers": {
        "layers.initializers": """
            RandomNormal RandomUniform TruncatedNormal deserialize get
            serialize""",
        "variables.initializers": """
            Constant Identity Initializer Ones Orthogonal VarianceScaling Zeros
            glorot_normal glorot_uniform he_normal he_uniform lecun_normal
            lecun_uniform""",
    },
    "contrib.keras.layers": {
        "keras.conv_recurrent": "ConvLSTM2D",
        "keras.local_layers": "LocallyConnected1D LocallyConnected2D",
        "layers.convolution": """
            Conv1D Conv2D Conv2DTranspose Conv3D Conv3DTranspose
            Convolution1D=Conv1D Convolution2D=Conv2D
            Convolution2DTranspose=Conv2DTranspose Convolution3D=Conv3D
            Convolution3DTranspose=Conv3DTranspose SeparableConv2D
            SeparableConvolution2D=SeparableConv2D""",
        "layers.core": """
            Activation Add Concatenate Dense Dropout Embedding Flatten Lambda
            LeakyReLU Masking Multiply PReLU Permute RepeatVector Reshape
            ZeroPadding1D ZeroPadding2D ZeroPadding3D""",
        "layers.engine": "Layer",
        "layers.further": """
            ActivityRegularization AlphaDropout Cropping3D Dot GaussianDropout
            GlobalAveragePooling3D GlobalAvgPool3D=GlobalAveragePooling3D
            GlobalMaxPool3D=GlobalMaxPooling3D GlobalMaxPooling3D
            SpatialDropout3D UpSampling3D dot""",
        "layers.input_spec": "InputSpec",
        "keras.models": "Input InputLayer",
        "layers.normalization": "BatchNormalization",
        "layers.pooling": """
            AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D
            AvgPool2D AvgPool3D GlobalAveragePooling2D
            GlobalAvgPool2D=GlobalAveragePooling2D
            GlobalMaxPool2D=GlobalMaxPooling2D GlobalMaxPooling2D MaxPool1D
            MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D MaxPooling3D""",
        "layers.recurrent": """
            Bidirectional GRU LSTM SimpleRNN TimeDistributed Wrapper""",
        "layers.simple": """
            Average Cropping1D Cropping2D ELU GaussianNoise
            GlobalAveragePooling1D GlobalAvgPool1D=GlobalAveragePooling1D
            GlobalMaxPool1D=GlobalMaxPooling1D GlobalMaxPooling1D Maximum
            SpatialDropout1D SpatialDropout2D ThresholdedReLU UpSampling1D
            UpSampling2D add average concatenate maximum multiply""",
    },
    "contrib.keras.losses": {
        "keras.losses": """
            binary_crossentropy categorical_crossentropy categorical_hinge
            cosine_similarity deserialize get hinge kullback_leibler_divergence
            logcosh mean_absolute_error mean_absolute_percentage_error
            mean_squared_error mean_squared_logarithmic_error poisson serialize
            sparse_categorical_crossentropy squared_hinge""",
    },
    "contrib.keras.metrics": {
        "keras.losses": "cosine_similarity=cosine_proximity",
        "keras.metrics": """
            binary_accuracy binary_crossentropy categorical_accuracy
            categorical_crossentropy deserialize get hinge
            kullback_leibler_divergence mean_absolute_error
            mean_absolute_percentage_error mean_squared_error
            mean_squared_logarithmic_error poisson serialize
            sparse_categorical_crossentropy sparse_top_k_categorical_accuracy
            squared_hinge top_k_categorical_accuracy""",
    },
    "contrib.keras.models": {
        "keras.configs": "model_from_config model_from_json model_from_yaml",
        "keras.model_files": "load_model save_model",
        "keras.models": "Model Sequential",
    },
    "contrib.keras.optimizers": {
        "keras.optimizers": """
            Adadelta Adagrad Adam Adamax Nadam Optimizer RMSprop SGD
            deserialize get serialize""",
    },
    "contrib.keras.preprocessing": {},
    "contrib.keras.preprocessing.image": {
        "keras.image_arrays": """
            array_to_img img_to_array load_img random_channel_shift
            random_rotation random_shear random_shift random_zoom""",
        "keras.image_batches": """
            DirectoryIterator ImageDataGenerator Iterator NumpyArrayIterator""",
    },
    "contrib.keras.preprocessing.sequence": {
        "keras.sequence": "make_sampling_table pad_sequences skipgrams",
    },
    "contrib.keras.preprocessing.text": {
        "keras.text": "Tokenizer one_hot text_to_word_sequence",
    },
    "contrib.keras.regularizers": {
        "layers.regularizers": """
            L1L2 Regularizer deserialize get l1 l1_l2 l2 serialize""",
    },
    "contrib.keras.utils": {
        "keras.data_files": "HDF5Matrix get_file",
        "keras.enqueuers": "GeneratorEnqueuer SequenceEnqueuer",
        "keras.progress": "Progbar",
        "keras.utils": """
            Sequence convert_all_kernels_in_model normalize to_categorical""",
        "layers.named": """
            CustomObjectScope custom_object_scope deserialize_keras_object
            get_custom_objects serialize_keras_object""",
    },
    "contrib.keras.wrappers": {},
    "contrib.keras.wrappers.scikit_learn": {
        "keras.scikit_learn": "KerasClassifier KerasRegressor",
    },
    "contrib.kernel_methods": {
        "contrib.kernel_methods": """
            KernelLinearClassifier RandomFourierFeatureMapper
            sparse_multiclass_hinge_loss""",
    },
    "contrib.layers": {
        **_COLUMNS,
        "contrib.image_layers": """
            images_to_sequence legacy_fully_connected legacy_linear
            legacy_relu sequence_to_images spatial_softmax""",
        "contrib.layers": """
            avg_pool2d avg_pool3d batch_norm conv1d conv2d conv2d_transpose
            conv3d conv3d_transpose convolution convolution1d convolution2d
            convolution2d_transpose convolution3d convolution3d_transpose
            dropout elu flatten fully_connected layer_norm linear max_pool2d
            max_pool3d one_hot_encoding relu relu6 repeat separable_conv2d
            separable_convolution2d softmax stack unit_norm""",
        "contrib.more_layers": """
            bias_add bow_encoder conv2d_in_plane convolution2d_in_plane
            dense_to_sparse embed_sequence embedding_lookup_unique group_norm
            instance_norm maxout safe_embedding_lookup_sparse
            scale_gradient""",
        "contrib.outputs": """
            summarize_activation summarize_activations summarize_collection
            summarize_tensor summarize_tensors""",
        "contrib.reversible": "RevBlock recompute_grad rev_block",
        "contrib.regularizers": """
            apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer
            sum_regularizer variance_scaling_initializer xavier_initializer
            xavier_initializer_conv2d""",
        "training.optimize_loss": """
            OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES optimize_loss""",
    },
    "contrib.learn": {
        "contrib.learn.base": "Evaluable NotFittedError Trainable",
        "contrib.learn.combined": """
            DNNLinearCombinedClassifier DNNLinearCombinedEstimator
            DNNLinearCombinedRegressor""",
        "contrib.learn.dnn": "DNNClassifier DNNEstimator DNNRegressor",
        "contrib.learn.estimator": """
            BaseEstimator Estimator SKCompat
            infer_real_valued_columns_from_input
            infer_real_valued_columns_from_input_fn""",
        "contrib.learn.experiment": "Experiment",
        "contrib.learn.exports": """
            ExportStrategy InputFnOps build_parsing_serving_input_fn
            make_export_strategy""",
        "contrib.learn.graph_actions": "evaluate infer run_feeds run_n train",
        "contrib.learn.graph_io": """
            read_batch_examples read_batch_features read_batch_record_features
            read_keyed_batch_examples read_keyed_batch_features""",
        "contrib.learn.older_models": "LogisticRegressor",
        "contrib.learn.frames": """
            extract_dask_data extract_dask_labels extract_pandas_data
            extract_pandas_labels extract_pandas_matrix""",
        "contrib.learn.heads": """
            Head binary_svm_head multi_class_head multi_head multi_label_head
            no_op_train_fn poisson_regression_head regression_head""",
        "contrib.learn.keys": "PredictionKey ProblemType",
        "contrib.learn.linear": """
            LinearClassifier LinearEstimator LinearRegressor""",
        "contrib.learn.metric_spec": "MetricSpec",
        "contrib.learn.model_fn": "ModelFnOps",
        "contrib.learn.run_config": "RunConfig TaskType",
        "training.basic_session_run_hooks": "NanLossDuringTrainingError",
        "training.mode_keys": "ModeKeys=LearnModeKeys",
    },
    "contrib.learn.datasets": {
        "contrib.learn.small_data": "load_dataset",
    },
    "contrib.learn.datasets.base": {
        "contrib.csv_data": """
            Dataset Datasets load_csv_with_header load_csv_without_header""",
        "contrib.learn.small_data": "load_boston load_iris shrink_csv",
        "tutorials.input_data": "maybe_download",
    },
    "contrib.learn.datasets.mnist": {
        "contrib.learn.small_data": "load_mnist",
        "tutorials.input_data": """
            DataSet dense_to_one_hot extract_images extract_labels
            read_data_sets""",
    },
    "contrib.learn.monitors": {
        "contrib.further_monitors": """
            CaptureVariable CheckpointSaver GraphDump LoggingTrainable NanLoss
            PrintTensor StepCounter StopAtStep SummarySaver
            get_default_monitors""",
        "contrib.monitors": """
            BaseMonitor EveryN RunHookAdapterForMonitors ValidationMonitor
            replace_monitors_with_hooks""",
    },
    "contrib.learn.preprocessing": {
        "contrib.preprocessing": """
            ByteProcessor CategoricalProcessor CategoricalVocabulary
            VocabularyProcessor tokenizer""",
    },
    "contrib.legacy_seq2seq": {
        "contrib.legacy_seq2seq": """
            attention_decoder basic_rnn_seq2seq embedding_attention_decoder
            embedding_attention_seq2seq embedding_rnn_decoder
            embedding_rnn_seq2seq embedding_tied_rnn_seq2seq
            model_with_buckets one2many_rnn_seq2seq rnn_decoder sequence_loss
            sequence_loss_by_example tied_rnn_seq2seq""",
    },
    "contrib.lookup": {
        "flow.contrib_lookup": """
            FastHashSpec HashTable HasherSpec IdTableWithHashBuckets
            MutableDenseHashTable MutableHashTable StrongHashSpec
            TextFileIdTableInitializer TextFileStringTableInitializer
            index_table_from_file index_table_from_tensor index_to_string
            index_to_string_table_from_file index_to_string_table_from_tensor
            string_to_index string_to_index_table_from_file
            string_to_index_table_from_tensor""",
        "flow.lookup_ops": """
            KeyValueTensorInitializer TextFileIndex TextFileInitializer""",
    },
    "contrib.losses": _LOSSES,
    "contrib.metrics": _METRICS,
    "contrib.mixed_precision": {
        "contrib.mixed_precision": """
            ExponentialUpdateLossScaleManager FixedLossScaleManager
            LossScaleManager LossScaleOptimizer""",
    },
    "contrib.model_pruning": {
        "contrib.pruning": """
            Pruning get_masked_weights get_masks get_pruning_hparams
            get_thresholds get_weight_sparsity get_weights""",
        "contrib.pruning_layers": """
            MaskedBasicLSTMCell MaskedLSTMCell apply_mask masked_conv2d
            masked_convolution masked_fully_connected""",
        "slim.pruned_training": "train",
    },
    "contrib.nn": {
        "contrib.further_activations": """
            alpha_dropout deprecated_flipped_sigmoid_cross_entropy_with_logits
            deprecated_flipped_softmax_cross_entropy_with_logits
            deprecated_flipped_sparse_softmax_cross_entropy_with_logits
            scaled_softplus""",
        "contrib.sampled_losses":
            "rank_sampled_softmax_loss sampled_sparse_softmax_loss",
        "nn.spatial": "conv1d_transpose",
        "raw_ops": "nth_element",
    },
    "contrib.opt": {
        "training.contrib_optimizers": """
            AdaMaxOptimizer AdamWOptimizer AddSignOptimizer
            DecoupledWeightDecayExtension LazyAdamOptimizer
            MomentumWOptimizer MovingAverageOptimizer NadamOptimizer
            PowerSignOptimizer extend_with_decoupled_weight_decay""",
        "training.averaging_optimizers": """
            AGNCustomGetter AGNOptimizer ElasticAverageCustomGetter
            ElasticAverageOptimizer ModelAverageCustomGetter
            ModelAverageOptimizer""",
        "training.external_optimizer": """
            ExternalOptimizerInterface ScipyOptimizerInterface""",
        "training.further_optimizers": """
            AdamGSOptimizer LARSOptimizer LazyAdamGSOptimizer
            RegAdagradOptimizer""",
        "training.ggt": "GGTOptimizer",
        "training.optimizer_wrappers": """
            DropStaleGradientOptimizer MultitaskOptimizerWrapper
            VariableClippingOptimizer clip_gradients_by_global_norm""",
        "training.shampoo": "ShampooOptimizer",
    },
    "contrib.predictor": {
        "contrib.estimator_predictors": """
            from_contrib_estimator from_estimator""",
        "saved_model.predictor": "from_saved_model",
    },
    "contrib.quantize": {
        "contrib.quantize_graph": """
            create_eval_graph create_training_graph
            experimental_create_eval_graph
            experimental_create_training_graph""",
    },
    "contrib.resampler": {
        "contrib.resampler": "resampler",
    },
    "contrib.rnn": {
        "contrib.attention_cell": "AttentionCellWrapper",
        "contrib.fused_cells": "FusedRNNCellAdaptor TimeReversedFusedRNN",
        "contrib.block_cells": """
            FusedRNNCell GRUBlockCell GRUBlockCellV2 LSTMBlockCell
            LSTMBlockFusedCell LSTMBlockWrapper""",
        "contrib.cells": "LayerNormBasicLSTMCell NASCell",
        "contrib.further_cells": """
            Conv1DLSTMCell Conv2DLSTMCell Conv3DLSTMCell ConvLSTMCell
            HighwayWrapper UGRNNCell""",
        "contrib.grid_cells": """
            BidirectionalGridLSTMCell GridLSTMCell TimeFreqLSTMCell""",
        "contrib.independent_cells": """
            IndRNNCell IndyGRUCell IndyLSTMCell SRUCell""",
        "contrib.lstm_variants": """
            CoupledInputForgetGateLSTMCell GLSTMCell IntersectionRNNCell
            PhasedLSTMCell""",
        "contrib.projections": """
            EmbeddingWrapper InputProjectionWrapper OutputProjectionWrapper""",
        "contrib.stacked_rnn": """
            stack_bidirectional_dynamic_rnn stack_bidirectional_rnn""",
        "rnn.cells": """
            BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple
            LayerRNNCell MultiRNNCell RNNCell""",
        "rnn.loops": """
            static_bidirectional_rnn static_rnn static_state_saving_rnn
            transpose_batch_time""",
        "rnn.wrappers": "DeviceWrapper DropoutWrapper ResidualWrapper",
    },
    "contrib.seq2seq": {
        "seq2seq.attention": """
            AttentionMechanism BahdanauAttention BahdanauMonotonicAttention
            LuongAttention LuongMonotonicAttention hardmax
            monotonic_attention safe_cumprod""",
        "seq2seq.attention_wrapper": "AttentionWrapper AttentionWrapperState",
        "seq2seq.beam_search": """
            BeamSearchDecoder BeamSearchDecoderOutput BeamSearchDecoderState
            FinalBeamSearchDecoderOutput gather_tree tile_batch""",
        "seq2seq.decoders": """
            BasicDecoder BasicDecoderOutput Decoder dynamic_decode""",
        "seq2seq.helpers": """
            CustomHelper GreedyEmbeddingHelper Helper InferenceHelper
            SampleEmbeddingHelper ScheduledEmbeddingTrainingHelper
            ScheduledOutputTrainingHelper TrainingHelper""",
        "seq2seq.losses": "sequence_loss",
    },
    "contrib.signal": {
        "math.signal_ops": """
            frame hamming_window hann_window inverse_stft
            inverse_stft_window_fn linear_to_mel_weight_matrix
            mfccs_from_log_mel_spectrograms overlap_and_add stft""",
    },
    "contrib.slim": {
        **_COLUMNS,
        "contrib.columns.real": """
            DataFrameColumn bucketized_column crossed_column
            real_valued_column""",
        "contrib.columns.scattered": """
            scattered_embedding_lookup scattered_embedding_lookup_sparse""",
        "contrib.columns.sparse": """
            SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY sparse_column_with_hash_bucket
            sparse_column_with_integerized_feature sparse_column_with_keys
            sparse_column_with_vocabulary_file sparse_feature_cross
            weighted_sparse_column""",
        "contrib.image_layers": """
            images_to_sequence legacy_fully_connected legacy_linear
            legacy_relu pool sequence_to_images spatial_softmax""",
        "contrib.arg_scopes": """
            add_arg_scope arg_scope arg_scope_func_key arg_scoped_arguments
            current_arg_scope has_arg_scope""",
        "contrib.checkpoints": """
            assign_from_checkpoint assign_from_checkpoint_fn
            assign_from_values assign_from_values_fn get_variable_full_name""",
        "contrib.layers": """
            avg_pool2d avg_pool3d batch_norm conv1d conv2d conv2d_transpose
            conv3d conv3d_transpose convolution convolution1d convolution2d
            convolution2d_transpose convolution3d convolution3d_transpose
            dropout elu flatten fully_connected layer_norm linear max_pool2d
            max_pool3d one_hot_encoding relu relu6 repeat separable_conv2d
            separable_convolution2d softmax stack unit_norm""",
        "contrib.more_layers": """
            bias_add bow_encoder conv2d_in_plane convolution2d_in_plane
            dense_to_sparse embed_sequence embedding_lookup_unique group_norm
            instance_norm maxout safe_embedding_lookup_sparse
            scale_gradient""",
        "contrib.outputs": """
            summarize_activation summarize_activations summarize_biases
            summarize_collection summarize_tensor summarize_tensors
            summarize_variables summarize_weights""",
        "contrib.regularizers": """
            apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer
            sum_regularizer variance_scaling_initializer xavier_initializer
            xavier_initializer_conv2d""",
        "contrib.variables": """
            VariableDeviceChooser add_model_variable filter_variables
            get_local_variables get_model_variables get_trainable_variables
            get_unique_variable get_variables get_variables_by_name
            get_variables_by_suffix get_variables_to_restore global_variable
            local_variable model_variable variable""",
        "training.global_step": """
            assert_global_step create_global_step get_global_step
            get_or_create_global_step""",
        "training.optimize_loss": """
            OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES optimize_loss""",
    },
    "contrib.slim.data_decoder": {
        "slim.datasets": "DataDecoder",
    },
    "contrib.slim.data_provider": {
        "slim.datasets": "DataProvider",
    },
    "contrib.slim.dataset": {
        "slim.datasets": "Dataset",
    },
    "contrib.slim.dataset_data_provider": {
        "slim.datasets": "DatasetDataProvider",
    },
    "contrib.slim.evaluation": {
        "contrib.evaluation": "evaluate_once=slim_evaluate_once evaluation_loop",
        "training.checkpoint_management": """
            checkpoints_iterator wait_for_new_checkpoint""",
    },
    "contrib.slim.initializers": {
        "contrib.regularizers": """
            variance_scaling_initializer xavier_initializer
            xavier_initializer_conv2d""",
    },
    "contrib.slim.learning": {
        "slim.learning": "train train_step",
        "slim.train_ops": """
            add_gradients_summaries clip_gradient_norms
            create_train_op=slim_create_train_op multiply_gradients""",
    },
    "contrib.slim.losses": _LOSSES,
    "contrib.slim.metrics": _METRICS,
    "contrib.slim.model_analyzer": {
        "contrib.metric_map": "analyze_vars",
    },
    "contrib.slim.parallel_reader": {
        "slim.readers": """
            ParallelReader get_data_files parallel_read single_pass_read""",
    },
    "contrib.slim.prefetch_queue": {
        "slim.readers": "prefetch_queue",
    },
    "contrib.slim.queues": {
        "slim.queues": "NestedQueueRunnerError QueueRunners",
    },
    "contrib.slim.regularizers": {
        "contrib.regularizers": """
            apply_regularization l1_l2_regularizer l1_regularizer
            l2_regularizer sum_regularizer""",
    },
    "contrib.slim.tfexample_decoder": {
        "slim.tfexample_decoder": """
            BackupHandler BoundingBox Image ItemHandler ItemHandlerCallback
            LookupTensor SparseTensor TFExampleDecoder Tensor""",
    },
    "contrib.slim.utils": {
        "contrib.layer_utils": """
            channel_dimension constant_value gather_tensors_aliases
            get_variable_collections last_dimension n_positive_integers
            smart_cond static_cond two_element_tuple""",
        "contrib.outputs": """
            append_tensor_alias collect_named_outputs
            convert_collection_to_dict get_tensor_aliases""",
    },
    "contrib.sparsemax": {
        "contrib.sparsemax": "sparsemax sparsemax_loss",
    },
    "contrib.staging": {
        "flow.staging_areas": "StagingArea",
    },
    "contrib.stateless": {
        "ops.random_ops": """
            stateless_multinomial stateless_random_normal
            stateless_random_uniform stateless_truncated_normal""",
    },
    "contrib.summary": {
        "summary.writers": """
            SummaryWriter all_summary_ops always_record_summaries audio create_db_writer
            create_file_writer create_summary_file_writer eval_dir flush
            generic graph histogram image import_event initialize
            never_record_summaries record_summaries_every_n_global_steps scalar
            should_record_summaries summary_writer_initializer_op""",
    },
    "contrib.tpu": {},
    "contrib.tfprof": {
        "profiler.contexts": "ProfileContext",
    },
    "contrib.training": {
        "contrib.hparams": "HParams",
        "training.sampling": """
            rejection_sample resample_at_rate stratified_sample
            weighted_resample""",
        "training.sequence_states": """
            NextQueuedSequenceBatch SequenceQueueingStateSaver
            batch_sequences_with_states""",
        "contrib.evaluation": """
            StopAfterNEvalsHook SummaryAtEndHook evaluate_once
            evaluate_repeatedly get_or_create_eval_step""",
        "slim.learning": "train=training_train",
        "slim.train_ops": """
            add_gradients_summaries clip_gradient_norms
            clip_gradient_norms_fn create_train_op multiply_gradients""",
        "training.buckets": "bucket bucket_by_sequence_length",
        "training.checkpoint_management": """
            checkpoints_iterator wait_for_new_checkpoint""",
        "training.device_setter": """
            GreedyLoadBalancingStrategy RandomStrategy byte_size_load_fn""",
    },
    "contrib.util": {
        "framework.tensor": "constant_value",
        "framework.tensor_proto": "make_ndarray make_tensor_proto",
    },
    "data": {
        "data.datasets": """
            Dataset Iterator Options get_output_classes get_output_shapes
            get_output_types make_initializable_iterator
            make_one_shot_iterator""",
        "data.files": """
            FixedLengthRecordDataset TFRecordDataset TextLineDataset""",
        "data.structures": "DatasetSpec",
    },
    "data.experimental": {
        "data.datasets": "AUTOTUNE",
        "data.experimental": """
            Counter INFINITE_CARDINALITY RandomDataset Reducer
            UNKNOWN_CARDINALITY bucket_by_sequence_length cardinality
            choose_from_datasets copy_to_device dense_to_sparse_batch
            enumerate_dataset get_next_as_optional get_single_element
            group_by_reducer group_by_window ignore_errors map_and_batch
            map_and_batch_with_legacy_function parallel_interleave
            parse_example_dataset prefetch_to_device sample_from_datasets scan
            shuffle_and_repeat take_while unbatch unique""",
        "data.files": "CsvDataset TFRecordWriter",
        "data.iterators": "Optional",
        "data.options": """
            DistributeOptions MapVectorizationOptions OptimizationOptions
            ThreadingOptions""",
        "data.reading": """
            SqlDataset make_batched_features_dataset make_csv_dataset""",
        "data.saved_iterators": """
            CheckpointInputPipelineHook make_saveable_from_iterator""",
        "data.resampling": "rejection_resample",
        "data.stats": """
            StatsAggregator StatsOptions bytes_produced_stats latency_stats""",
        "data.structures": """
            DatasetStructure=DatasetSpec OptionalStructure=OptionalSpec
            RaggedTensorStructure SparseTensorStructure TensorStructure
            from_variant get_structure to_variant""",
        "ops.type_specs": "Structure=TypeSpec",
    },
    "debugging": {
        "control.check_ops": """
            assert_equal assert_greater assert_greater_equal assert_integer
            assert_less assert_less_equal assert_near assert_negative
            assert_non_negative assert_non_positive assert_none_equal
            assert_positive assert_proper_iterable assert_rank
            assert_rank_at_least assert_rank_in assert_same_float_dtype
            assert_scalar assert_shapes assert_type is_non_decreasing
            is_numeric_tensor is_strictly_increasing""",
        "control.control_flow": "Assert",
        "control.control_flow_ops": """
            assert_all_finite=verify_tensor_all_finite""",
        "raw_ops": "check_numerics is_finite is_inf is_nan",
    },
    "distribute": {
        "distribute.cross_device_ops": """
            CrossDeviceOps HierarchicalCopyAllReduce NcclAllReduce
            ReductionToOneDevice""",
        "distribute.mirrored": "MirroredStrategy",
        "distribute.one_device": "OneDeviceStrategy",
        "distribute.strategy": """
            InputContext InputReplicationMode ReduceOp ReplicaContext Strategy
            StrategyExtended get_loss_reduction get_replica_context
            get_strategy has_strategy in_cross_replica_context""",
        "training.server_lib": "Server",
    },
    "distribute.experimental": {
        "distribute.collective": """
            CollectiveCommunication MultiWorkerMirroredStrategy""",
        "distribute.parameter_server": """
            CentralStorageStrategy ParameterServerStrategy""",
    },
    "distribute.cluster_resolver": {
        "training.cluster_managers": """
            GCEClusterResolver KubernetesClusterResolver
            SlurmClusterResolver""",
        "training.cluster_resolver": """
            ClusterResolver SimpleClusterResolver TFConfigClusterResolver
            UnionResolver""",
    },
    "distributions": {
        "distributions.continuous": "Beta Gamma StudentT",
        "distributions.counts": "Dirichlet DirichletMultinomial Multinomial",
        "distributions.distribution": """
            Distribution FULLY_REPARAMETERIZED NOT_REPARAMETERIZED RegisterKL
            ReparameterizationType kl_divergence""",
        "distributions.distributions": """
            Bernoulli Categorical Exponential Laplace Normal Uniform""",
    },
    "dtypes": {
        "framework.dtypes": """
            DType QUANTIZED_DTYPES as_dtype bfloat16 bool=bool_ complex128
            complex64 double float16 float32 float64 half int16 int32 int64
            int8 qint16 qint32 qint8 quint16 quint8 resource string uint16
            uint32 uint64 uint8 variant""",
        "ops.math_ops": "cast complex saturate_cast",
        "ops.string_ops": "as_string",
    },
    "errors": {
        "framework.errors": """
            ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED
            CancelledError DATA_LOSS DEADLINE_EXCEEDED DataLossError
            DeadlineExceededError FAILED_PRECONDITION
            FailedPreconditionError INTERNAL INVALID_ARGUMENT InternalError
            InvalidArgumentError NOT_FOUND NotFoundError OK OUT_OF_RANGE
            OpError OutOfRangeError PERMISSION_DENIED PermissionDeniedError
            RESOURCE_EXHAUSTED ResourceExhaustedError UNAUTHENTICATED
            UNAVAILABLE UNIMPLEMENTED UNKNOWN UnauthenticatedError
            UnavailableError UnimplementedError UnknownError
            error_code_from_exception_type exception_type_from_error_code
            raise_exception_on_not_ok_status""",
    },
    # The other names are a package's: see _packages.py.
    "estimator": {
        "training.mode_keys": "ModeKeys",
    },
    "estimator.experimental": {},
    "estimator.export": {
        "saved_model.export_outputs": """
            ClassificationOutput ExportOutput PredictOutput RegressionOutput""",
    },
    "estimator.inputs": {},
    "estimator.tpu": {},
    "estimator.tpu.experimental": {},
    "examples": {},
    "examples.tutorials": {},
    "examples.tutorials.mnist": {},
    "examples.tutorials.mnist.input_data": {
        "tutorials.input_data": """
            DataSet Datasets dense_to_one_hot extract_images extract_labels
            maybe_download read_data_sets""",
    },
    "examples.tutorials.mnist.mnist": {
        "tutorials.mnist": """
            IMAGE_PIXELS IMAGE_SIZE NUM_CLASSES evaluation inference loss
            training""",
    },
    "flags": {
        "platform.flags": """
            ArgumentParser ArgumentSerializer BaseListParser BooleanFlag
            BooleanParser CantOpenFlagFileError CsvListSerializer DEFINE
            DEFINE_alias DEFINE_bool DEFINE_boolean DEFINE_enum
            DEFINE_enum_class DEFINE_flag DEFINE_float DEFINE_integer
            DEFINE_list DEFINE_multi DEFINE_multi_enum
            DEFINE_multi_enum_class DEFINE_multi_float DEFINE_multi_integer
            DEFINE_multi_string DEFINE_spaceseplist DEFINE_string
            DuplicateFlagError EnumClassFlag EnumClassListSerializer
            EnumClassParser EnumClassSerializer EnumFlag EnumParser Error
            FLAGS Flag FlagHolder FlagNameConflictsWithMethodError
            FlagValues FloatParser IllegalFlagValueError IntegerParser
            ListParser ListSerializer MultiEnumClassFlag MultiFlag
            UnparsedFlagAccessError UnrecognizedFlagError ValidationError
            WhitespaceSeparatedListParser adopt_module_key_flags
            declare_key_flag disclaim_key_flags doc_to_help
            flag_dict_to_args get_help_width
            mark_bool_flags_as_mutual_exclusive mark_flag_as_required
            mark_flags_as_mutual_exclusive mark_flags_as_required
            multi_flags_validator override_value
            register_multi_flags_validator register_validator set_default
            text_wrap validator""",
    },
    "feature_column": {
        "feature_column.columns": """
            bucketized_column categorical_column_with_hash_bucket
            categorical_column_with_identity
            categorical_column_with_vocabulary_file
            categorical_column_with_vocabulary_list crossed_column
            embedding_column indicator_column numeric_column
            shared_embedding_columns weighted_categorical_column""",
        "feature_column.inputs": """
            input_layer linear_model make_parse_example_spec""",
        "feature_column.sequences": """
            sequence_categorical_column_with_hash_bucket
            sequence_categorical_column_with_identity
            sequence_categorical_column_with_vocabulary_file
            sequence_categorical_column_with_vocabulary_list
            sequence_numeric_column""",
    },
    "gfile": {
        "platform.file_io": """
            Copy DeleteRecursively Exists FastGFile GFile Glob IsDirectory
            ListDirectory MakeDirs MkDir Open=GFile Remove Rename Stat Walk""",
    },
    "graph_util": {
        "framework.graph_rewrites": """
            convert_variables_to_constants extract_sub_graph must_run_on_cpu
            remove_training_nodes tensor_shape_from_node_def_name""",
        "framework.importer": "import_graph_def",
    },
    "image": {
        "image.boxes": """
            combined_non_max_suppression crop_and_resize draw_bounding_boxes
            extract_glimpse extract_patches non_max_suppression
            non_max_suppression_overlaps non_max_suppression_padded
            non_max_suppression_with_scores sample_distorted_bounding_box""",
        "image.codecs": """
            decode_and_crop_jpeg decode_bmp decode_gif decode_image
            decode_jpeg decode_png encode_jpeg encode_png extract_jpeg_shape
            is_jpeg""",
        "image.colors": """
            adjust_brightness adjust_contrast adjust_gamma adjust_hue
            adjust_jpeg_quality adjust_saturation convert_image_dtype
            grayscale_to_rgb per_image_standardization random_brightness
            random_contrast random_hue random_jpeg_quality random_saturation
            rgb_to_grayscale rgb_to_yiq rgb_to_yuv yiq_to_rgb yuv_to_rgb""",
        "image.measures": """
            image_gradients psnr sobel_edges ssim ssim_multiscale
            total_variation""",
        "image.transforms": """
            ResizeMethod central_crop crop_to_bounding_box flip_left_right
            flip_up_down pad_to_bounding_box random_flip_left_right
            random_flip_up_down resize resize_bicubic resize_bilinear
            resize_image_with_crop_or_pad resize_image_with_pad
            resize_images resize_nearest_neighbor resize_with_crop_or_pad
            rot90 transpose transpose_image""",
        "ops.blocks": "extract_image_patches",
        "ops.random_ops": "random_crop",
        "raw_ops": "hsv_to_rgb=HSVToRGB resize_area rgb_to_hsv=RGBToHSV",
    },
    "initializers": {
        "variables.initializers": """
            constant glorot_normal glorot_uniform he_normal he_uniform
            identity lecun_normal lecun_uniform ones orthogonal
            random_normal random_uniform truncated_normal
            uniform_unit_scaling variance_scaling zeros""",
        "variables.variables": """
            global_variables=global_variables_initializer
            local_variables=local_variables_initializer tables_initializer
            variables=variables_initializer""",
    },
    "io": {
        "flow.queues": """
            PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue""",
        "framework.importer": "write_graph",
        "image.codecs": """
            decode_and_crop_jpeg decode_bmp decode_gif decode_image
            decode_jpeg decode_png encode_jpeg extract_jpeg_shape is_jpeg""",
        "io.parsing_ops": """
            FixedLenFeature FixedLenSequenceFeature SparseFeature
            VarLenFeature decode_csv parse_example parse_sequence_example
            parse_single_example parse_single_sequence_example""",
        "io.readers": """
            TFRecordCompressionType TFRecordOptions TFRecordWriter
            tf_record_iterator""",
        "ops.string_ops": "decode_base64 decode_raw encode_base64",
        "raw_ops": """
            decode_compressed decode_json_example=DecodeJSONExample
            matching_files parse_tensor read_file serialize_tensor
            write_file""",
        "sparse.sparse_ops": """
            deserialize_many_sparse serialize_many_sparse serialize_sparse""",
        "training.input_pipelines": "match_filenames_once",
    },
    "io.gfile": {
        "platform.file_io": """
            GFile copy exists glob isdir listdir makedirs mkdir remove rename
            rmtree stat walk""",
    },
    "keras": {
        "keras.models": "Input Model Sequential",
    },
    "keras.activations": {
        "layers.activations": """
            deserialize elu exponential get hard_sigmoid linear relu selu
            serialize sigmoid softmax softplus softsign tanh""",
    },
    "keras.applications": {
        "applications.densenet": "DenseNet121 DenseNet169 DenseNet201",
        "applications.inception": "InceptionResNetV2 InceptionV3",
        "applications.mobilenet": "MobileNet MobileNetV2",
        "applications.nasnet": "NASNetLarge NASNetMobile",
        "applications.resnet": """
            ResNet101 ResNet101V2 ResNet152 ResNet152V2 ResNet50 ResNet50V2""",
        "applications.vgg": "VGG16 VGG19",
        "applications.xception": "Xception",
    },
    "keras.applications.densenet": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_torch""",
        "applications.densenet": "DenseNet121 DenseNet169 DenseNet201",
    },
    "keras.applications.imagenet_utils": {
        "applications.imagenet": """
            decode_predictions preprocess_input""",
    },
    "keras.applications.inception_resnet_v2": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_tf""",
        "applications.inception": "InceptionResNetV2",
    },
    "keras.applications.inception_v3": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_tf""",
        "applications.inception": "InceptionV3",
    },
    "keras.applications.mobilenet": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_tf""",
        "applications.mobilenet": "MobileNet",
    },
    "keras.applications.mobilenet_v2": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_tf""",
        "applications.mobilenet": "MobileNetV2",
    },
    "keras.applications.nasnet": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_tf""",
        "applications.nasnet": "NASNetLarge NASNetMobile",
    },
    "keras.applications.resnet": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_caffe""",
        "applications.resnet": "ResNet101 ResNet152 ResNet50",
    },
    "keras.applications.resnet50": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_caffe""",
        "applications.resnet": "ResNet50",
    },
    "keras.applications.resnet_v2": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_tf""",
        "applications.resnet": "ResNet101V2 ResNet152V2 ResNet50V2",
    },
    "keras.applications.vgg16": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_caffe""",
        "applications.vgg": "VGG16",
    },
    "keras.applications.vgg19": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_caffe""",
        "applications.vgg": "VGG19",
    },
    "keras.applications.xception": {
        "applications.imagenet": """
            decode_predictions preprocess_input=preprocess_tf""",
        "applications.xception": "Xception",
    },
    "keras.backend": {
        "layers.backend": """
            batch_get_value batch_set_value cast clear_session concatenate
            constant count_params dot dtype epsilon eval floatx get_session
            get_uid get_value hard_sigmoid image_data_format int_shape
            learning_phase max mean min ndim placeholder relu reset_uids
            reshape set_epsilon set_floatx set_image_data_format
            set_learning_phase set_session set_value shape softmax square sum
            variable""",
        "keras.backend_arrays": """
            abs all any arange argmax argmin backend batch_dot batch_flatten
            cast_to_floatx clip cos cumprod cumsum elu equal exp expand_dims eye
            flatten gather greater greater_equal in_top_k is_sparse l2_normalize
            less less_equal log maximum minimum not_equal one_hot ones ones_like
            permute_dimensions pow prod random_binomial random_normal
            random_normal_variable random_uniform random_uniform_variable repeat
            repeat_elements reverse round sigmoid sign sin softplus softsign
            spatial_2d_padding spatial_3d_padding sqrt squeeze stack std tanh
            temporal_padding tile to_dense transpose truncated_normal var zeros
            zeros_like""",
        "keras.backend_networks": """
            batch_normalization bias_add binary_crossentropy
            categorical_crossentropy conv1d conv2d conv2d_transpose conv3d
            ctc_batch_cost ctc_decode ctc_label_dense_to_sparse dropout
            local_conv1d local_conv2d moving_average_update
            normalize_batch_in_training pool2d pool3d resize_images
            resize_volumes rnn separable_conv2d sparse_categorical_crossentropy""",
        "keras.backend_running": """
            foldl foldr function gradients in_test_phase in_train_phase
            learning_phase_scope manual_variable_initialization map_fn
            name_scope print_tensor stop_gradient switch update update_add
            update_sub""",
    },
    "keras.callbacks": {
        "keras.callbacks": """
            BaseLogger CSVLogger Callback EarlyStopping History LambdaCallback
            LearningRateScheduler ModelCheckpoint ProgbarLogger
            ReduceLROnPlateau RemoteMonitor TerminateOnNaN""",
        "keras.tensor_board": "TensorBoard",
    },
    "keras.constraints": {
        "layers.constraints": """
            Constraint MaxNorm MinMaxNorm NonNeg RadialConstraint UnitNorm
            deserialize get max_norm min_max_norm non_neg radial_constraint
            serialize unit_norm""",
    },
    "keras.datasets": {
    },
    "keras.datasets.boston_housing": {
        "keras.known_data": "load_data=load_boston_housing",
    },
    "keras.datasets.cifar10": {
        "keras.known_data": "load_data=load_cifar10",
    },
    "keras.datasets.cifar100": {
        "keras.known_data": "load_data=load_cifar100",
    },
    "keras.datasets.fashion_mnist": {
        "keras.known_data": "load_data=load_fashion_mnist",
    },
    "keras.datasets.imdb": {
        "keras.known_data": """
            get_word_index=get_imdb_word_index load_data=load_imdb""",
    },
    "keras.datasets.mnist": {
        "keras.known_data": "load_data=load_mnist",
    },
    "keras.datasets.reuters": {
        "keras.known_data": """
            get_word_index=get_reuters_word_index load_data=load_reuters""",
    },
    "keras.estimator": {
        "keras.estimators": "model_to_estimator",
    },
    "keras.experimental": {
        "feature_column.sequence_layers": "SequenceFeatures",
        "keras.enqueuers": "terminate_keras_multiprocessing_pools",
        "keras.premade": "LinearModel WideDeepModel",
        "keras.saved_models": "export_saved_model load_from_saved_model",
        "keras.schedules": """
            CosineDecay CosineDecayRestarts LinearCosineDecay
            NoisyLinearCosineDecay""",
        "layers.own_cells": "PeepholeLSTMCell",
    },
    "keras.initializers": {
        "layers.initializers": """
            RandomNormal RandomUniform TruncatedNormal deserialize get normal
            random_normal random_uniform serialize truncated_normal uniform""",
        "variables.initializers": """
            Constant Identity Initializer Ones Orthogonal VarianceScaling Zeros
            constant glorot_normal glorot_uniform he_normal he_uniform identity
            lecun_normal lecun_uniform ones orthogonal zeros""",
    },
    "keras.layers": {
        "feature_column.feature_layers": "DenseFeatures",
        "keras.conv_recurrent": "ConvLSTM2D",
        "keras.local_layers": "LocallyConnected1D LocallyConnected2D",
        "layers.attention": "AdditiveAttention Attention",
        "layers.cudnn_recurrent": "CuDNNGRU CuDNNLSTM",
        "layers.named": "deserialize=layer_of serialize=serialize_layer",
        "layers.own_cells": "AbstractRNNCell",
        "layers.convolution": """
            Conv1D Conv2D Conv2DTranspose Conv3D Conv3DTranspose
            Convolution1D=Conv1D Convolution2D=Conv2D
            Convolution2DTranspose=Conv2DTranspose Convolution3D=Conv3D
            Convolution3DTranspose=Conv3DTranspose SeparableConv1D
            SeparableConv2D SeparableConvolution1D=SeparableConv1D
            SeparableConvolution2D=SeparableConv2D""",
        "layers.core": """
            Activation Add Concatenate Dense Dropout Embedding Flatten Lambda
            LeakyReLU Masking Multiply PReLU Permute ReLU RepeatVector Reshape Softmax
            ZeroPadding1D ZeroPadding2D ZeroPadding3D""",
        "layers.engine": "Layer",
        "layers.further": """
            ActivityRegularization AlphaDropout Cropping3D DepthwiseConv2D Dot
            GaussianDropout GlobalAveragePooling3D
            GlobalAvgPool3D=GlobalAveragePooling3D
            GlobalMaxPool3D=GlobalMaxPooling3D GlobalMaxPooling3D
            SpatialDropout3D UpSampling3D dot""",
        "layers.input_spec": "InputSpec",
        "keras.models": "Input InputLayer",
        "layers.normalization": "BatchNormalization LayerNormalization",
        "layers.pooling": """
            AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D
            AvgPool2D AvgPool3D GlobalAveragePooling2D
            GlobalAvgPool2D=GlobalAveragePooling2D
            GlobalMaxPool2D=GlobalMaxPooling2D GlobalMaxPooling2D MaxPool1D
            MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D MaxPooling3D""",
        "layers.recurrent": """
            Bidirectional GRU GRUCell LSTM LSTMCell RNN SimpleRNN
            SimpleRNNCell StackedRNNCells TimeDistributed Wrapper""",
        "layers.simple": """
            Average Cropping1D Cropping2D ELU GaussianNoise
            GlobalAveragePooling1D GlobalAvgPool1D=GlobalAveragePooling1D
            GlobalMaxPool1D=GlobalMaxPooling1D GlobalMaxPooling1D Maximum
            Minimum SpatialDropout1D SpatialDropout2D Subtract ThresholdedReLU
            UpSampling1D UpSampling2D add average concatenate maximum minimum
            multiply subtract""",
    },
    "keras.losses": {
        "keras.losses": """
            BinaryCrossentropy CategoricalCrossentropy CategoricalHinge
            CosineSimilarity Hinge Huber KLD KLDivergence LogCosh Loss MAE MAPE
            MSE MSLE MeanAbsoluteError MeanAbsolutePercentageError
            MeanSquaredError MeanSquaredLogarithmicError Poisson
            SparseCategoricalCrossentropy SquaredHinge binary_crossentropy
            categorical_crossentropy categorical_hinge cosine cosine_proximity
            cosine_similarity deserialize get hinge kld
            kullback_leibler_divergence logcosh mae mape mean_absolute_error
            mean_absolute_percentage_error mean_squared_error
            mean_squared_logarithmic_error mse msle poisson serialize
            sparse_categorical_crossentropy squared_hinge""",
    },
    "keras.metrics": {
        "keras.further_metrics": """
            MeanRelativeError MeanTensor SensitivityAtSpecificity
            SpecificityAtSensitivity""",
        "keras.metrics": """
            AUC Accuracy BinaryAccuracy BinaryCrossentropy CategoricalAccuracy
            CategoricalCrossentropy CategoricalHinge CosineSimilarity
            FalseNegatives FalsePositives Hinge KLD KLDivergence LogCoshError
            MAE MAPE MSE MSLE Mean MeanAbsoluteError
            MeanAbsolutePercentageError MeanIoU MeanSquaredError
            MeanSquaredLogarithmicError Metric Poisson Precision Recall
            RootMeanSquaredError SparseCategoricalAccuracy
            SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy
            SquaredHinge Sum TopKCategoricalAccuracy TrueNegatives
            TruePositives binary_accuracy binary_crossentropy
            categorical_accuracy categorical_crossentropy cosine
            cosine_proximity deserialize get hinge kld
            kullback_leibler_divergence mae mape mean_absolute_error
            mean_absolute_percentage_error mean_squared_error
            mean_squared_logarithmic_error mse msle poisson serialize
            sparse_categorical_accuracy sparse_categorical_crossentropy
            sparse_top_k_categorical_accuracy squared_hinge
            top_k_categorical_accuracy""",
    },
    "keras.mixed_precision": {},
    "keras.mixed_precision.experimental": {
        "layers.policy": "Policy global_policy set_policy",
        "keras.loss_scale_optimizer": "LossScaleOptimizer",
    },
    "keras.models": {
        "keras.configs": """
            clone_model model_from_config model_from_json model_from_yaml""",
        "keras.model_files": "load_model save_model",
        "keras.models": "Model Sequential",
    },
    "keras.optimizers": {
        "keras.optimizers": """
            Adadelta Adagrad Adam Adamax Ftrl Nadam Optimizer RMSprop SGD
            deserialize get serialize""",
    },
    "keras.optimizers.schedules": {
        "keras.schedules": """
            ExponentialDecay InverseTimeDecay LearningRateSchedule
            PiecewiseConstantDecay PolynomialDecay deserialize serialize""",
    },
    "keras.preprocessing": {
    },
    "keras.preprocessing.image": {
        "keras.image_arrays": """
            apply_affine_transform apply_brightness_shift apply_channel_shift
            array_to_img img_to_array load_img random_brightness
            random_channel_shift random_rotation random_shear random_shift
            random_zoom save_img""",
        "keras.image_batches": """
            DirectoryIterator ImageDataGenerator Iterator NumpyArrayIterator""",
    },
    "keras.preprocessing.sequence": {
        "keras.sequence": """
            TimeseriesGenerator make_sampling_table pad_sequences skipgrams""",
    },
    "keras.preprocessing.text": {
        "keras.text": "Tokenizer hashing_trick one_hot text_to_word_sequence",
    },
    "keras.regularizers": {
        "layers.regularizers": """
            L1L2 Regularizer deserialize get l1 l1_l2 l2 serialize""",
    },
    "keras.utils": {
        "keras.data_files": "HDF5Matrix get_file",
        "keras.enqueuers": "GeneratorEnqueuer OrderedEnqueuer SequenceEnqueuer",
        "keras.multi_gpu": "multi_gpu_model",
        "keras.plots": "model_to_dot plot_model",
        "keras.progress": "Progbar",
        "keras.sources": "get_source_inputs",
        "keras.utils": """
            Sequence convert_all_kernels_in_model normalize to_categorical""",
        "layers.named": """
            CustomObjectScope custom_object_scope deserialize_keras_object
            get_custom_objects serialize_keras_object""",
    },
    "keras.wrappers": {
    },
    "keras.wrappers.scikit_learn": {
        "keras.scikit_learn": "KerasClassifier KerasRegressor",
    },
    "layers": {
        "layers.functions": """
            AveragePooling1D AveragePooling2D AveragePooling3D
            BatchNormalization Conv1D Conv2D Conv2DTranspose Conv3D
            Conv3DTranspose Dense Dropout Flatten MaxPooling1D MaxPooling2D
            MaxPooling3D SeparableConv1D SeparableConv2D average_pooling1d
            average_pooling2d average_pooling3d batch_normalization conv1d
            conv2d conv2d_transpose conv3d conv3d_transpose dense dropout
            flatten max_pooling1d max_pooling2d max_pooling3d
            separable_conv1d separable_conv2d""",
        "layers.input_spec": "InputSpec",
        "layers.legacy": "Layer",
    },
    "layers.experimental": {
        "layers.legacy": "keras_style_scope set_keras_style",
    },
    "linalg": {
        "math.linear_operator": "LinearOperator",
        "math.linear_operators": """
            LinearOperatorAdjoint LinearOperatorBlockDiag
            LinearOperatorCirculant LinearOperatorCirculant2D
            LinearOperatorCirculant3D LinearOperatorComposition
            LinearOperatorDiag LinearOperatorFullMatrix
            LinearOperatorHouseholder LinearOperatorIdentity
            LinearOperatorInversion LinearOperatorKronecker
            LinearOperatorLowRankUpdate LinearOperatorLowerTriangular
            LinearOperatorScaledIdentity LinearOperatorToeplitz
            LinearOperatorZeros""",
        "math.linalg_ops": """
            adjoint cholesky_solve diag=matrix_diag
            diag_part=matrix_diag_part eigh=self_adjoint_eig
            eigvalsh=self_adjoint_eigvals expm logdet lstsq matrix_rank norm
            normalize pinv set_diag=matrix_set_diag slogdet solve svd trace
            triangular_solve tridiagonal_matmul tridiagonal_solve""",
        "nn.normalization": "l2_normalize",
        "ops.array_ops": "eye matrix_transpose transpose=matrix_transpose",
        "ops.clipping": "global_norm",
        "ops.contractions": "einsum matvec tensordot",
        "ops.math_ops": "matmul",
        "raw_ops": """
            band_part=MatrixBandPart cholesky cross det=MatrixDeterminant
            inv=MatrixInverse logm=MatrixLogarithm lu qr
            sqrtm=MatrixSquareRoot tensor_diag=Diag
            tensor_diag_part=DiagPart""",
    },
    "logging": {
        "platform.tf_logging": """
            DEBUG ERROR FATAL INFO TaskLevelStatusMessage WARN debug error
            fatal flush get_verbosity info log log_every_n log_first_n log_if
            set_verbosity vlog warn warning""",
    },
    "lookup": {
        "flow.lookup_ops": """
            KeyValueTensorInitializer StaticHashTable StaticVocabularyTable
            TextFileIndex TextFileInitializer""",
    },
    "lookup.experimental": {
        "flow.lookup_ops": "DenseHashTable",
    },
    "losses": {
        "losses.losses": """
            Reduction absolute_difference add_loss compute_weighted_loss
            cosine_distance get_losses get_regularization_loss
            get_regularization_losses get_total_loss hinge_loss huber_loss
            log_loss mean_pairwise_squared_error mean_squared_error
            sigmoid_cross_entropy softmax_cross_entropy
            sparse_softmax_cross_entropy""",
    },
    "manip": {
        "ops.array_ops": "gather_nd reshape reverse tile",
        "ops.array_special": "scatter_nd",
        "raw_ops": """
            batch_to_space_nd=BatchToSpaceND roll
            space_to_batch_nd=SpaceToBatchND""",
    },
    "math": {
        "control.check_ops": "is_non_decreasing is_strictly_increasing",
        "math.math_special": """
            bincount confusion_matrix cumulative_logsumexp lbeta
            multiply_no_nan nextafter polyval reciprocal_no_nan
            reduce_euclidean_norm unsorted_segment_mean
            unsorted_segment_sqrt_n""",
        "nn.activations": "in_top_k log_softmax softmax top_k zero_fraction",
        "nn.normalization": "l2_normalize",
        "ops.math_ops": """
            abs accumulate_n add add_n angle argmax argmin bessel_i0e
            bessel_i1e ceil conj cos count_nonzero cumprod cumsum divide
            divide_no_nan equal erf exp floor floordiv floormod greater
            greater_equal imag less less_equal log log_sigmoid logical_and
            logical_not logical_or logical_xor maximum minimum mod multiply
            negative not_equal pow real reduce_all reduce_any
            reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod
            reduce_std reduce_sum reduce_variance round rsqrt scalar_mul
            sigmoid sign sin sqrt square squared_difference subtract tanh
            truediv""",
        "raw_ops": """
            acos acosh asin asinh atan atan2 atanh bessel_i0 bessel_i1
            betainc cosh digamma erfc expm1 igamma igammac
            invert_permutation is_finite is_inf is_nan lgamma log1p
            polygamma reciprocal rint segment_max segment_mean segment_min
            segment_prod segment_sum sinh softplus softsign tan
            unsorted_segment_max unsorted_segment_min unsorted_segment_prod
            unsorted_segment_sum xdivy xlogy zeta""",
    },
    "metrics": {
        "metrics.counts": """
            auc false_negatives false_negatives_at_thresholds false_positives
            false_positives_at_thresholds precision precision_at_thresholds
            recall recall_at_thresholds sensitivity_at_specificity
            specificity_at_sensitivity true_negatives
            true_negatives_at_thresholds true_positives
            true_positives_at_thresholds""",
        "metrics.means": """
            accuracy mean_absolute_error mean_cosine_distance mean_iou
            mean_per_class_accuracy mean_relative_error mean_squared_error
            percentage_below root_mean_squared_error""",
        "metrics.streaming": "mean mean_tensor",
        "metrics.top_k": """
            average_precision_at_k precision_at_k precision_at_top_k recall_at_k
            recall_at_top_k sparse_average_precision_at_k sparse_precision_at_k""",
    },
    "nest": {
        "framework.nest": """
            assert_same_structure flatten is_nested map_structure
            pack_sequence_as""",
    },
    "nn": {
        "math.quantize_ops": "quantized_conv2d quantized_relu_x",
        "nn.activations": """
            bias_add crelu dropout in_top_k leaky_relu log_softmax relu relu6
            relu_layer softmax swish top_k xw_plus_b zero_fraction""",
        "nn.candidate_sampling": """
            all_candidate_sampler compute_accidental_hits
            fixed_unigram_candidate_sampler learned_unigram_candidate_sampler
            log_uniform_candidate_sampler nce_loss sampled_softmax_loss
            uniform_candidate_sampler""",
        "nn.conv": """
            atrous_conv2d avg_pool avg_pool1d avg_pool2d avg_pool3d avg_pool_v2
            conv1d conv2d conv2d_backprop_filter conv2d_backprop_input
            conv2d_transpose conv3d conv3d_transpose convolution
            depthwise_conv2d depthwise_conv2d_backprop_filter
            depthwise_conv2d_backprop_input depthwise_conv2d_native
            depthwise_conv2d_native_backprop_filter
            depthwise_conv2d_native_backprop_input fractional_avg_pool
            fractional_max_pool max_pool max_pool1d max_pool2d max_pool3d
            max_pool_v2 max_pool_with_argmax separable_conv2d""",
        "nn.ctc_ops": """
            collapse_repeated ctc_beam_search_decoder ctc_beam_search_decoder_v2
            ctc_greedy_decoder ctc_loss ctc_loss_v2 ctc_unique_labels""",
        "nn.embeddings": """
            embedding_lookup embedding_lookup_sparse
            safe_embedding_lookup_sparse""",
        "nn.losses": """
            l2_loss log_poisson_loss sigmoid_cross_entropy_with_logits
            softmax_cross_entropy_with_logits
            softmax_cross_entropy_with_logits_v2
            sparse_softmax_cross_entropy_with_logits
            weighted_cross_entropy_with_logits""",
        "nn.normalization": """
            batch_norm_with_global_normalization batch_normalization
            fused_batch_norm l2_normalize local_response_normalization lrn
            moments normalize_moments sufficient_statistics weighted_moments""",
        "nn.spatial": """
            atrous_conv2d_transpose conv1d_transpose conv3d_backprop_filter
            conv3d_backprop_filter_v2 conv_transpose dilation2d erosion2d pool
            with_space_to_batch""",
        "ops.blocks": "depth_to_space space_to_batch space_to_depth",
        "ops.math_ops": "sigmoid tanh",
        "raw_ops": """
            elu quantized_avg_pool quantized_max_pool selu softplus softsign""",
        "rnn.loops": """
            bidirectional_dynamic_rnn dynamic_rnn raw_rnn
            static_bidirectional_rnn static_rnn static_state_saving_rnn""",
    },
    "nn.rnn_cell": {
        "rnn.cells": """
            BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple
            MultiRNNCell RNNCell""",
        "rnn.wrappers": "DeviceWrapper DropoutWrapper ResidualWrapper",
    },
    "profiler": {
        "framework.messages": """
            AdviceProto GraphNodeProto MultiGraphNodeProto OpLogProto""",
        "profiler.model_analyzer": "Profiler advise profile",
        "profiler.notes": "write_op_log",
        "profiler.options": "ProfileOptionBuilder",
    },
    "python_io": {
        "io.readers": """
            TFRecordCompressionType TFRecordOptions TFRecordWriter
            tf_record_iterator""",
    },
    "quantization": {
        "math.quantize_ops": """
            dequantize fake_quant_with_min_max_args
            fake_quant_with_min_max_args_gradient
            fake_quant_with_min_max_vars
            fake_quant_with_min_max_vars_gradient
            fake_quant_with_min_max_vars_per_channel
            fake_quant_with_min_max_vars_per_channel_gradient quantize
            quantize_and_dequantize quantized_concat""",
    },
    "queue": {
        "flow.queues": """
            FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase
            RandomShuffleQueue""",
    },
    "ragged": {
        "ragged.partitions": """
            row_splits_to_segment_ids segment_ids_to_row_splits""",
        "ragged.ragged_arrays": "boolean_mask stack stack_dynamic_partitions",
        "ragged.ragged_factory": "constant constant_value placeholder",
        "ragged.ragged_map": "map_flat_values",
        "ragged.ragged_math": "range",
        "ragged.ragged_value": "RaggedTensorValue",
    },
    "random": {
        "nn.candidate_sampling": """
            all_candidate_sampler fixed_unigram_candidate_sampler
            learned_unigram_candidate_sampler log_uniform_candidate_sampler
            uniform_candidate_sampler""",
        "ops.random_ops": """
            categorical gamma=random_gamma get_seed multinomial
            normal=random_normal poisson=random_poisson set_random_seed
            shuffle=random_shuffle stateless_categorical
            stateless_multinomial stateless_normal=stateless_random_normal
            stateless_truncated_normal
            stateless_uniform=stateless_random_uniform truncated_normal
            uniform=random_uniform""",
    },
    "resource_loader": {
        "platform.resource_loader": """
            get_data_files_path get_path_to_datafile
            get_root_dir_with_all_resources load_resource
            readahead_file_path""",
    },
    "saved_model": {
        "saved_model.load": "load_v2=load",
        "saved_model.save": "save",
        "saved_model.builder": """
            Builder=SavedModelBuilder main_op_with_restore simple_save""",
        "saved_model.constants": """
            ASSETS_DIRECTORY ASSETS_KEY CLASSIFY_INPUTS
            CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES
            CLASSIFY_OUTPUT_SCORES DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU
            LEGACY_INIT_OP_KEY MAIN_OP_KEY PREDICT_INPUTS
            PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS
            REGRESS_METHOD_NAME REGRESS_OUTPUTS SAVED_MODEL_FILENAME_PB
            SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION
            SERVING TPU TRAINING VARIABLES_DIRECTORY VARIABLES_FILENAME""",
        "saved_model.loader": """
            contains_saved_model load maybe_saved_model_directory""",
        "saved_model.signatures": """
            build_signature_def build_tensor_info
            classification_signature_def get_tensor_from_tensor_info
            is_valid_signature predict_signature_def
            regression_signature_def""",
    },
    "saved_model.experimental": {
        "saved_model.save": "save",
    },
    "saved_model.builder": {
        "saved_model.builder": """
            SavedModelBuilder""",
    },
    "saved_model.constants": {
        "saved_model.constants": """
            ASSETS_DIRECTORY ASSETS_KEY LEGACY_INIT_OP_KEY MAIN_OP_KEY
            SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT
            SAVED_MODEL_SCHEMA_VERSION VARIABLES_DIRECTORY
            VARIABLES_FILENAME""",
    },
    "saved_model.loader": {
        "saved_model.loader": """
            load maybe_saved_model_directory""",
    },
    "saved_model.main_op": {
        "saved_model.builder": """
            main_op main_op_with_restore""",
    },
    "saved_model.signature_constants": {
        "saved_model.constants": """
            CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES
            CLASSIFY_OUTPUT_SCORES DEFAULT_SERVING_SIGNATURE_DEF_KEY
            PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS
            REGRESS_INPUTS REGRESS_METHOD_NAME REGRESS_OUTPUTS""",
    },
    "saved_model.signature_def_utils": {
        "saved_model.signatures": """
            build_signature_def classification_signature_def
            is_valid_signature predict_signature_def
            regression_signature_def""",
    },
    "saved_model.tag_constants": {
        "saved_model.constants": """
            GPU SERVING TPU TRAINING""",
    },
    "saved_model.utils": {
        "saved_model.signatures": """
            build_tensor_info get_tensor_from_tensor_info""",
    },
    "sets": {
        "sparse.set_ops": """
            difference=set_difference intersection=set_intersection
            set_difference set_intersection set_size set_union size=set_size
            union=set_union""",
    },
    "signal": {
        "math.signal_ops": """
            dct frame hamming_window hann_window idct inverse_stft
            inverse_stft_window_fn linear_to_mel_weight_matrix
            mfccs_from_log_mel_spectrograms overlap_and_add stft""",
        "math.spectral_ops": """
            fft fft2d fft3d fftshift ifft ifft2d ifft3d ifftshift irfft
            irfft2d irfft3d rfft rfft2d rfft3d""",
    },
    "sparse": {
        "flow.accumulators": "SparseConditionalAccumulator",
        "framework.indexed_slices": "mask=sparse_mask",
        "math.math_special": """
            segment_mean=sparse_segment_mean
            segment_sqrt_n=sparse_segment_sqrt_n
            segment_sum=sparse_segment_sum""",
        "ops.sparse_tensor": "SparseTensor placeholder=sparse_placeholder",
        "sparse.sparse_ops": """
            add=sparse_add concat=sparse_concat cross=sparse_cross
            cross_hashed=sparse_cross_hashed expand_dims=sparse_expand_dims
            eye=sparse_eye fill_empty_rows=sparse_fill_empty_rows
            from_dense=sparse_from_dense matmul=sparse_tensor_dense_matmul
            maximum=sparse_maximum merge=sparse_merge minimum=sparse_minimum
            reduce_max=sparse_reduce_max
            reduce_max_sparse=sparse_reduce_max_sparse
            reduce_sum=sparse_reduce_sum
            reduce_sum_sparse=sparse_reduce_sum_sparse
            reorder=sparse_reorder reset_shape=sparse_reset_shape
            reshape=sparse_reshape retain=sparse_retain slice=sparse_slice
            softmax=sparse_softmax
            sparse_dense_matmul=sparse_tensor_dense_matmul
            split=sparse_split to_dense=sparse_tensor_to_dense
            to_indicator=sparse_to_indicator transpose=sparse_transpose""",
    },
    "spectral": {
        "math.signal_ops": "dct idct",
        "math.spectral_ops": """
            fft fft2d fft3d ifft ifft2d ifft3d irfft irfft2d irfft3d rfft
            rfft2d rfft3d""",
    },
    "strings": {
        "ops.string_ops": """
            as_string format=string_format join=string_join
            length=string_length lower reduce_join regex_full_match
            regex_replace split strip substr
            to_hash_bucket=string_to_hash_bucket
            to_hash_bucket_fast=string_to_hash_bucket_fast
            to_hash_bucket_strong=string_to_hash_bucket_strong
            to_number=string_to_number unicode_script unicode_transcode
            unsorted_segment_join upper""",
        "ragged.ragged_strings": """
            bytes_split ngrams unicode_decode unicode_decode_with_offsets
            unicode_encode unicode_split unicode_split_with_offsets""",
    },
    "summary": {
        "framework.messages": """
            Event SessionLog Summary SummaryDescription TaggedRunMetadata""",
        "summary.event_files": "FileWriter FileWriterCache",
        "summary.writers": "all_v2_summary_ops=all_summary_ops initialize",
        "training.summary": """
            audio histogram image merge merge_all scalar tensor_summary text""",
    },
    "sysconfig": {
        "platform.sysconfig": """
            CXX11_ABI_FLAG MONOLITHIC_BUILD get_compile_flags get_include
            get_lib get_link_flags""",
    },
    "test": {
        "testing.benchmark": "Benchmark",
        "testing.gradient_checker": """
            compute_gradient compute_gradient_error""",
        "testing.local_cluster": "create_local_cluster",
        "testing.mocks": "StubOutForTesting mock",
        "testing.test_case": """
            TestCase assert_equal_graph_def get_temp_dir gpu_device_name
            is_built_with_cuda is_built_with_gpu_support is_built_with_rocm
            is_gpu_available main test_src_dir_path""",
    },
    "train.experimental": {
        "keras.loss_scale_optimizer": """
            disable_mixed_precision_graph_rewrite
            enable_mixed_precision_graph_rewrite""",
        "training.loss_scale": """
            DynamicLossScale FixedLossScale LossScale
            MixedPrecisionLossScaleOptimizer""",
        "training.python_state": "PythonState",
    },
    "train": {
        "framework.importer": "write_graph",
        "framework.messages": """
            BytesList ClusterDef Example Feature FeatureList FeatureLists
            Features FloatList Int64List JobDef SaverDef SequenceExample
            ServerDef""",
        "summary.event_files": "summary_iterator",
        "training.basic_session_run_hooks": """
            CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook
            GlobalStepWaiterHook LoggingTensorHook NanLossDuringTrainingError
            NanTensorHook ProfilerHook SecondOrStepTimer StepCounterHook
            StopAtStepHook SummarySaverHook""",
        "training.checkpoint_management": """
            checkpoint_exists checkpoints_iterator
            generate_checkpoint_state_proto get_checkpoint_mtimes
            get_checkpoint_state latest_checkpoint remove_checkpoint
            update_checkpoint_state""",
        "training.checkpoint_reader": """
            NewCheckpointReader init_from_checkpoint list_variables
            load_checkpoint load_variable""",
        "training.coordinator": """
            Coordinator LooperThread QueueRunner add_queue_runner
            start_queue_runners""",
        "training.device_setter": "replica_device_setter",
        "training.global_step": """
            assert_global_step create_global_step get_global_step
            get_or_create_global_step global_step""",
        "training.input_pipelines": """
            batch batch_join input_producer limit_epochs
            match_filenames_once maybe_batch maybe_batch_join
            maybe_shuffle_batch maybe_shuffle_batch_join
            range_input_producer shuffle_batch shuffle_batch_join
            slice_input_producer string_input_producer""",
        "training.learning_rate_decay": """
            cosine_decay cosine_decay_restarts exponential_decay
            inverse_time_decay linear_cosine_decay natural_exp_decay
            noisy_linear_cosine_decay piecewise_constant
            piecewise_constant_decay polynomial_decay""",
        "training.meta_graph": "export_meta_graph import_meta_graph",
        "training.object_checkpoints": "Checkpoint CheckpointManager",
        "training.monitored_session": """
            ChiefSessionCreator MonitoredSession MonitoredTrainingSession
            Scaffold SessionCreator SingularMonitoredSession
            WorkerSessionCreator""",
        "training.moving_averages": "ExponentialMovingAverage",
        "training.optimizer": "Optimizer",
        "training.optimizers": """
            AdadeltaOptimizer AdagradDAOptimizer AdagradOptimizer
            AdamOptimizer FtrlOptimizer GradientDescentOptimizer
            MomentumOptimizer ProximalAdagradOptimizer
            ProximalGradientDescentOptimizer RMSPropOptimizer""",
        "training.saver": "Saver",
        "training.server_lib": "ClusterSpec Server",
        "training.session_manager": "SessionManager",
        "training.session_run_hook": """
            SessionRunArgs SessionRunContext SessionRunHook
            SessionRunValues""",
        "training.supervisor": "Supervisor basic_train_loop",
        "training.sync_replicas_optimizer": "SyncReplicasOptimizer",
        "training.warm_start": "VocabInfo warm_start",
    },
    "train.queue_runner": {
        "training.coordinator": """
            QueueRunner add_queue_runner start_queue_runners""",
    },
    "version": {
        "compat.constants": "COMPILER_VERSION GIT_VERSION",
        "framework.behavior": """
            GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER
            GRAPH_DEF_VERSION_MIN_PRODUCER VERSION""",
    },
}

# What TensorFlow does not have, or has nowhere in its interface. "headrace" is
# the only such name in tf itself; compat.install is another. Classes have three such methods:
# Session.plan, Session.partial_run_close and Operation.source.
OWN = {
    "headrace": {
        # This library's version; tf.__version__ is that of the interface.
        "_headrace": "CancellationManager version",
        # TensorFlow has these in modules that it does not export: programs
        # import them from tensorflow.python.
        "flow.barriers": "Barrier",
        "flow.staging_areas": "MapStagingArea",
        "framework.indexed_slices": "IndexedSlicesValue",
        "functions.defun": "Defun",
        "sparse.sparse_ops": "deserialize_sparse",
        # For notebooks.
        "platform.pictures": "Image",
        "platform.progress": "progress",
        # What Session.plan returns.
        "session.session": "MemoryPlan explain",
    },
    # Messages that no namespace of tf has are here, with all the others.
    "headrace.messages": {
        "framework.messages": """
            AdviceProto AdvisorOptionsProto AllocationDescription
            AllocationRecord AllocatorMemoryUsed AssetFileDef AttrValue
            AutoParallelOptions BatchingOptions BoostedDebugOutput
            BoostedGrowingMetadata BoostedLeaf BoostedNode BoostedNodeMetadata
            BoostedSparseVector BoostedTree BoostedTreeEnsemble
            BoostedTreeMetadata BoostedVector BoundedTensorSpecProto
            BucketizedSplit BundleEntryProto BundleHeaderProto BytesList
            CallableOptions CapturedTensor CategoricalSplit CheckpointState
            ClusterDef ClusterDeviceFilters CodeDef CollectionDef CondContextDef
            ConfigProto ControlFlowContextDef CostGraphDef DebugOptions
            DebugTensorWatch DebuggedSourceFile DebuggedSourceFiles DenseSplit
            DeviceAttributes DeviceLocality DeviceProperties DeviceStepStats
            DictValue Event Example ExecMemory ExecProfile ExecTime ExecutorOpts
            Feature FeatureList FeatureLists Features FingerprintDef FloatList
            ForestBinaryNode ForestDecisionTree ForestDepthDependentParam
            ForestExponentialParam ForestFeatureId ForestFertileSlot
            ForestFertileStats ForestGiniStats ForestInequalityTest ForestLeaf
            ForestLeafStat ForestLinearParam ForestModel ForestSparseVector
            ForestSplitCandidate ForestSplitFinishConfig
            ForestSplitPruningConfig ForestThresholdParam ForestTreeNode
            ForestTreePath ForestValue ForestVector FullTypeDef FunctionDef
            FunctionDefLibrary FunctionSpec GPUOptions GradientDef
            GraphDebugInfo GraphDef GraphNodeProto GraphOptions GraphPassReport
            HistogramProto Int64List InterconnectLink JobDef JobDeviceFilters
            KernelDef KernelList LabeledStepStats ListValue LocalLinks
            LogMessage Memory MemoryLogRawAllocation MemoryLogRawDeallocation
            MemoryLogStep MemoryLogTensorAllocation MemoryLogTensorDeallocation
            MemoryLogTensorOutput MemoryStats Message MetaGraphDef
            MultiGraphNodeProto NameAttrList NamedDevice NamedTensorProto
            NamedTupleValue NodeDef NodeExecStats NodeOutput NoneValue OpDef
            OpDeprecation OpList OpLogEntry OpLogProto OptimizerOptions
            OptionsProto PairValue ProfileNode ProfileProto QueueRunnerDef
            RPCOptions RegisteredGradient RegisteredSaver ResourceHandleProto
            RewriterConfig RunCounters RunMetadata RunOptions SaveSliceInfoDef
            SaveableObject SavedAsset
            SavedBareConcreteFunction SavedConcreteFunction SavedConstant
            SavedFunction SavedModel SavedObject SavedObjectGraph SavedResource
            SavedSlice SavedSliceMeta SavedTensorSliceMeta SavedTensorSlices
            SavedUserObject SavedVariable SaverDef ScopedAllocatorOptions
            SequenceExample SerializedDType ServerDef SessionLog
            SessionMetadata SignatureDef SourceMetadata StepSequence StepStats
            StructuredValue Summary SummaryDescription SummaryMetadata
            TFProfTensorProto TaggedRunMetadata TaskDeviceFilters
            TensorConnection TensorDescription TensorForestParams TensorInfo
            TensorProto TensorShapeProto TensorSliceProto TensorSpecProto
            ThreadPoolOptionProto TraceOpts TrackableObjectGraph Tuple
            TupleValue TypeSpecProto ValuesDef VariableDef
            VariantTensorDataProto VerifierConfig VersionDef WhileContextDef
            from_text""",
    },
}

NAMES.update(OWN)
# The same names in two places.
NAMES["app.flags"] = NAMES["flags"]
