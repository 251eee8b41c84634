"""The modules of TensorFlow 1.15 outside its interface, and their public names.

Of each module NAMES has the namespaces of tf where its names are too: `name`, or
`name=original`. OTHERS are modules that have none. tools/tensorflow_modules.py
writes this file.
"""

NAMES = {
    "contrib.data.python.ops.batching": {
        "contrib.data": "map_and_batch",
    },
    "contrib.data.python.ops.grouping": {
        "contrib.data": "group_by_window",
    },
    "contrib.data.python.ops.interleave_ops": {
        "contrib.data": "parallel_interleave",
    },
    "contrib.framework.python.framework": {
        "": """
            assert_same_float_dtype assert_scalar
            convert_to_tensor_or_sparse_tensor is_tensor""",
        "contrib.framework": "list_variables load_checkpoint",
    },
    "contrib.framework.python.framework.checkpoint_utils": {
        "contrib.framework": "list_variables load_checkpoint",
    },
    "contrib.framework.python.framework.tensor_util": {
        "": """
            assert_same_float_dtype assert_scalar
            convert_to_tensor_or_sparse_tensor is_tensor""",
    },
    "contrib.framework.python.ops": {
        "": "argsort sort",
        "contrib.framework": "assert_global_step get_global_step",
        "contrib.slim": """
            add_arg_scope add_model_variable arg_scope arg_scope_func_key
            arg_scoped_arguments assign_from_checkpoint_fn create_global_step
            current_arg_scope filter_variables get_local_variables
            get_model_variables get_or_create_global_step
            get_trainable_variables get_unique_variable get_variables
            get_variables_by_name get_variables_by_suffix
            get_variables_to_restore global_variable has_arg_scope
            local_variable model_variable variable""",
    },
    "contrib.framework.python.ops.arg_scope": {
        "contrib.slim": """
            add_arg_scope arg_scope arg_scope_func_key arg_scoped_arguments
            current_arg_scope has_arg_scope""",
    },
    "contrib.framework.python.ops.sort_ops": {
        "": "argsort sort",
    },
    "contrib.framework.python.ops.variables": {
        "contrib.framework": "assert_global_step get_global_step",
        "contrib.slim": """
            add_model_variable assign_from_checkpoint_fn
            contrib_add_arg_scope=add_arg_scope create_global_step
            filter_variables get_local_variables get_model_variables
            get_or_create_global_step get_trainable_variables
            get_unique_variable get_variables get_variables_by_name
            get_variables_by_suffix get_variables_to_restore global_variable
            local_variable model_variable variable""",
    },
    "contrib.layers.python.layers": {
        "contrib.layers": """
            OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES optimize_loss
            real_valued_column""",
        "contrib.slim": """
            apply_regularization avg_pool2d batch_norm conv2d conv2d_in_plane
            conv2d_transpose convolution convolution2d
            convolution2d_in_plane=conv2d_in_plane convolution2d_transpose
            dropout flatten fully_connected l1_l2_regularizer l1_regularizer
            l2_regularizer layer_norm max_pool2d one_hot_encoding relu relu6
            repeat separable_conv2d separable_convolution2d softmax stack
            sum_regularizer summarize_activation summarize_activations
            summarize_biases summarize_collection summarize_tensor
            summarize_tensors summarize_variables summarize_weights unit_norm
            variance_scaling_initializer xavier_initializer
            xavier_initializer_conv2d""",
    },
    "contrib.layers.python.layers.feature_column": {
        "contrib.layers": "real_valued_column",
    },
    "contrib.layers.python.layers.initializers": {
        "contrib.slim": """
            variance_scaling_initializer xavier_initializer
            xavier_initializer_conv2d""",
    },
    "contrib.layers.python.layers.layers": {
        "contrib.slim": """
            add_arg_scope avg_pool2d batch_norm conv2d conv2d_in_plane
            conv2d_transpose convolution convolution2d
            convolution2d_in_plane=conv2d_in_plane convolution2d_transpose
            dropout flatten fully_connected layer_norm max_pool2d
            one_hot_encoding relu relu6 repeat separable_conv2d
            separable_convolution2d softmax stack unit_norm""",
    },
    "contrib.layers.python.layers.normalization": {
        "contrib.slim": "add_arg_scope",
    },
    "contrib.layers.python.layers.optimizers": {
        "contrib.layers": """
            OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES optimize_loss""",
    },
    "contrib.layers.python.layers.regularizers": {
        "contrib.slim": """
            apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer
            sum_regularizer""",
    },
    "contrib.layers.python.layers.summaries": {
        "contrib.slim": """
            summarize_activation summarize_activations summarize_biases
            summarize_collection summarize_tensor summarize_tensors
            summarize_variables summarize_weights""",
    },
    "contrib.layers.python.layers.utils": {
        "contrib.slim.utils": """
            append_tensor_alias channel_dimension collect_named_outputs
            constant_value convert_collection_to_dict gather_tensors_aliases
            get_tensor_aliases get_variable_collections last_dimension
            n_positive_integers smart_cond static_cond two_element_tuple""",
    },
    "contrib.legacy_seq2seq.python.ops.seq2seq": {
        "contrib.legacy_seq2seq": "rnn_decoder sequence_loss_by_example",
    },
    "contrib.lookup.lookup_ops": {
        "lookup": "KeyValueTensorInitializer TextFileIndex TextFileInitializer",
        "lookup.experimental": "MutableDenseHashTable=DenseHashTable",
    },
    "contrib.losses.python.losses.loss_ops": {
        "contrib.slim": "add_arg_scope",
    },
    "contrib.metrics.python.ops.metric_ops": {
        "contrib.metrics": """
            aggregate_metric_map streaming_accuracy streaming_mean
            streaming_precision streaming_recall""",
        "distributions": "Normal",
    },
    "contrib.metrics.python.ops.set_ops": {
        "sets": "set_difference set_intersection set_size set_union",
    },
    "contrib.opt.python.training.adam_gs_optimizer": {
        "contrib.opt": "AdamGSOptimizer",
    },
    "contrib.opt.python.training.adamax": {
        "contrib.opt": "AdaMaxOptimizer",
    },
    "contrib.opt.python.training.addsign": {
        "contrib.opt": "AddSignOptimizer",
    },
    "contrib.opt.python.training.elastic_average_optimizer": {
        "contrib.opt": "ElasticAverageOptimizer",
    },
    "contrib.opt.python.training.external_optimizer": {
        "contrib.opt": "ScipyOptimizerInterface",
    },
    "contrib.opt.python.training.ggt": {
        "contrib.opt": "GGTOptimizer",
    },
    "contrib.opt.python.training.lars_optimizer": {
        "contrib.opt": "LARSOptimizer",
    },
    "contrib.opt.python.training.lazy_adam_gs_optimizer": {
        "contrib.opt": "LazyAdamGSOptimizer",
    },
    "contrib.opt.python.training.lazy_adam_optimizer": {
        "contrib.opt": "LazyAdamOptimizer",
    },
    "contrib.opt.python.training.model_average_optimizer": {
        "contrib.opt": "ModelAverageOptimizer",
    },
    "contrib.opt.python.training.moving_average_optimizer": {
        "contrib.opt": "MovingAverageOptimizer",
    },
    "contrib.opt.python.training.multitask_optimizer_wrapper": {
        "contrib.opt": """
            MultitaskOptimizerWrapper clip_gradients_by_global_norm""",
    },
    "contrib.opt.python.training.nadam_optimizer": {
        "contrib.opt": "NadamOptimizer",
    },
    "contrib.opt.python.training.powersign": {
        "contrib.opt": "PowerSignOptimizer",
    },
    "contrib.opt.python.training.reg_adagrad_optimizer": {
        "contrib.opt": "RegAdagradOptimizer",
    },
    "contrib.opt.python.training.shampoo": {
        "contrib.opt": "ShampooOptimizer",
    },
    "contrib.opt.python.training.variable_clipping_optimizer": {
        "contrib.opt": "VariableClippingOptimizer",
    },
    "contrib.opt.python.training.weight_decay_optimizers": {
        "contrib.opt": """
            AdamWOptimizer DecoupledWeightDecayExtension MomentumWOptimizer
            extend_with_decoupled_weight_decay""",
    },
    "contrib.rnn.python.ops.core_rnn_cell": {
        "nn.rnn_cell": "RNNCell",
    },
    "contrib.rnn.python.ops.gru_ops": {
        "contrib.rnn": "LayerRNNCell",
    },
    "contrib.rnn.python.ops.lstm_ops": {
        "contrib.rnn": "LSTMBlockCell LayerRNNCell",
    },
    "contrib.rnn.python.ops.rnn_cell": {
        "contrib.rnn": "LayerNormBasicLSTMCell NASCell",
    },
    "contrib.seq2seq.python.ops.attention_wrapper": {
        "contrib.seq2seq": """
            AttentionWrapper AttentionWrapperState BahdanauAttention
            LuongAttention""",
    },
    "contrib.seq2seq.python.ops.basic_decoder": {
        "contrib.seq2seq": "BasicDecoder",
    },
    "contrib.seq2seq.python.ops.beam_search_decoder": {
        "contrib.seq2seq": "BeamSearchDecoder tile_batch",
    },
    "contrib.seq2seq.python.ops.decoder": {
        "contrib.seq2seq": "dynamic_decode",
    },
    "contrib.seq2seq.python.ops.helper": {
        "contrib.seq2seq": """
            GreedyEmbeddingHelper SampleEmbeddingHelper TrainingHelper""",
    },
    "contrib.seq2seq.python.ops.loss": {
        "contrib.seq2seq": "sequence_loss",
    },
    "contrib.slim.python.slim.data.dataset": {
        "contrib.slim.dataset": "Dataset",
    },
    "contrib.slim.python.slim.data.dataset_data_provider": {
        "contrib.slim.dataset_data_provider": "DatasetDataProvider",
    },
    "contrib.slim.python.slim.data.prefetch_queue": {
        "contrib.slim.prefetch_queue": "prefetch_queue",
    },
    "contrib.slim.python.slim.data.tfexample_decoder": {
        "contrib.slim.tfexample_decoder": """
            BoundingBox Image TFExampleDecoder Tensor""",
    },
    "contrib.slim.python.slim.evaluation": {
        "contrib.slim.evaluation": "evaluate_once evaluation_loop",
    },
    "contrib.slim.python.slim.learning": {
        "contrib.slim.learning": "train",
    },
    "contrib.slim.python.slim.model_analyzer": {
        "contrib.slim.model_analyzer": "analyze_vars",
    },
    "contrib.training.python.training.hparam": {
        "contrib.training": "HParams",
    },
    "python.client.client_lib": {
        "": "InteractiveSession OpError Session get_default_session",
    },
    "python.client.session": {
        "": "InteractiveSession Session",
    },
    "python.data.ops.dataset_ops": {
        "data": """
            Dataset DatasetSpec DatasetV1=Dataset Options
            get_legacy_output_classes=get_output_classes
            get_legacy_output_shapes=get_output_shapes
            get_legacy_output_types=get_output_types make_initializable_iterator
            make_one_shot_iterator""",
        "data.experimental": "AUTOTUNE from_variant get_structure to_variant",
    },
    "python.data.ops.iterator_ops": {
        "data": "Iterator",
        "data.experimental": "get_next_as_optional",
    },
    "python.data.ops.optional_ops": {
        "": "OptionalSpec",
        "data.experimental": "Optional",
    },
    "python.data.ops.readers": {
        "data": """
            FixedLengthRecordDataset
            FixedLengthRecordDatasetV1=FixedLengthRecordDataset TFRecordDataset
            TFRecordDatasetV1=TFRecordDataset TextLineDataset
            TextLineDatasetV1=TextLineDataset""",
    },
    "python.eager.context": {
        "": "executing_eagerly",
        "config": "list_devices=experimental_list_devices",
        "config.experimental": "VirtualDeviceConfiguration",
        "debugging": "get_log_device_placement set_log_device_placement",
        "experimental": "function_executor_type",
    },
    "python.framework.config": {
        "config": "get_soft_device_placement set_soft_device_placement",
        "config.experimental": """
            get_device_policy get_memory_growth get_synchronous_execution
            get_virtual_device_configuration get_visible_devices
            list_logical_devices list_physical_devices set_device_policy
            set_memory_growth set_synchronous_execution
            set_virtual_device_configuration set_visible_devices""",
        "config.optimizer": """
            get_optimizer_experimental_options=get_experimental_options
            get_optimizer_jit=get_jit
            set_optimizer_experimental_options=set_experimental_options
            set_optimizer_jit=set_jit""",
        "config.threading": """
            get_inter_op_parallelism_threads get_intra_op_parallelism_threads
            set_inter_op_parallelism_threads set_intra_op_parallelism_threads""",
    },
    "python.framework.constant_op": {
        "": "constant_v1=constant",
    },
    "python.framework.convert_to_constants": {
        "train": "export_meta_graph",
    },
    "python.framework.device": {
        "": "DeviceSpec",
    },
    "python.framework.device_spec": {
        "": "DeviceSpecV1=DeviceSpec",
    },
    "python.framework.dtypes": {
        "": """
            DType QUANTIZED_DTYPES as_dtype bfloat16 bool complex128 complex64
            double float16 float32 float64 half int16 int32 int64 int8 qint16
            qint32 qint8 quint16 quint8 resource string uint16 uint32 uint64
            uint8 variant""",
    },
    "python.framework.errors": {
        "": "OpError",
        "errors": """
            ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED
            CancelledError DATA_LOSS DEADLINE_EXCEEDED DataLossError
            DeadlineExceededError FAILED_PRECONDITION FailedPreconditionError
            INTERNAL INVALID_ARGUMENT InternalError InvalidArgumentError
            NOT_FOUND NotFoundError OK OUT_OF_RANGE OutOfRangeError
            PERMISSION_DENIED PermissionDeniedError RESOURCE_EXHAUSTED
            ResourceExhaustedError UNAUTHENTICATED UNAVAILABLE UNIMPLEMENTED
            UNKNOWN UnauthenticatedError UnavailableError UnimplementedError
            UnknownError error_code_from_exception_type
            exception_type_from_error_code raise_exception_on_not_ok_status""",
    },
    "python.framework.errors_impl": {
        "": "OpError",
        "errors": """
            ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED
            CancelledError DATA_LOSS DEADLINE_EXCEEDED DataLossError
            DeadlineExceededError FAILED_PRECONDITION FailedPreconditionError
            INTERNAL INVALID_ARGUMENT InternalError InvalidArgumentError
            NOT_FOUND NotFoundError OK OUT_OF_RANGE OutOfRangeError
            PERMISSION_DENIED PermissionDeniedError RESOURCE_EXHAUSTED
            ResourceExhaustedError UNAUTHENTICATED UNAVAILABLE UNIMPLEMENTED
            UNKNOWN UnauthenticatedError UnavailableError UnimplementedError
            UnknownError error_code_from_exception_type
            exception_type_from_error_code raise_exception_on_not_ok_status""",
    },
    "python.framework.framework_lib": {
        "": """
            DType DeviceSpec Dimension Graph GraphKeys IndexedSlices NoGradient
            NotDifferentiable Operation QUANTIZED_DTYPES RegisterGradient
            SparseTensor SparseTensorValue Tensor TensorShape add_to_collection
            add_to_collections as_dtype bfloat16 bool complex128 complex64
            container control_dependencies convert_to_tensor
            convert_to_tensor_or_indexed_slices
            convert_to_tensor_or_sparse_tensor device double float16 float32
            float64 get_collection get_collection_ref get_default_graph get_seed
            half import_graph_def int16 int32 int64 int8
            load_file_system_library load_library load_op_library make_ndarray
            make_tensor_proto name_scope op_scope qint16 qint32 qint8 quint16
            quint8 register_tensor_conversion_function reset_default_graph
            resource set_random_seed string uint16 uint32 uint64 uint8 variant""",
    },
    "python.framework.graph_io": {
        "io": "write_graph",
    },
    "python.framework.graph_util": {
        "graph_util": """
            convert_variables_to_constants extract_sub_graph must_run_on_cpu
            remove_training_nodes tensor_shape_from_node_def_name""",
    },
    "python.framework.graph_util_impl": {
        "graph_util": """
            convert_variables_to_constants extract_sub_graph must_run_on_cpu
            remove_training_nodes tensor_shape_from_node_def_name""",
    },
    "python.framework.importer": {
        "": "import_graph_def",
    },
    "python.framework.indexed_slices": {
        "": """
            IndexedSlices IndexedSlicesSpec convert_to_tensor_or_indexed_slices""",
    },
    "python.framework.load_library": {
        "": "load_file_system_library load_library load_op_library",
    },
    "python.framework.ops": {
        "": """
            Graph GraphKeys IndexedSlices NoGradient NotDifferentiable Operation
            RegisterGradient Tensor add_to_collection add_to_collections
            container control_dependencies convert_to_tensor
            convert_to_tensor_or_indexed_slices device disable_eager_execution
            disable_tensor_equality enable_eager_execution
            enable_tensor_equality get_collection get_collection_ref
            get_default_graph get_default_session init_scope name_scope
            no_gradient op_scope register_tensor_conversion_function
            reset_default_graph""",
    },
    "python.framework.random_seed": {
        "": "get_seed set_random_seed",
    },
    "python.framework.smart_cond": {
        "contrib.framework": "smart_cond",
    },
    "python.framework.sparse_tensor": {
        "": """
            SparseTensor SparseTensorSpec SparseTensorValue
            convert_to_tensor_or_sparse_tensor""",
    },
    "python.framework.tensor_conversion_registry": {
        "": "register_tensor_conversion_function",
    },
    "python.framework.tensor_shape": {
        "": """
            Dimension TensorShape dimension_at_index dimension_value
            disable_v2_tensorshape enable_v2_tensorshape""",
    },
    "python.framework.tensor_spec": {
        "": "TensorSpec",
    },
    "python.framework.tensor_util": {
        "": """
            MakeNdarray=make_ndarray constant_value=get_static_value is_tensor
            make_tensor_proto""",
    },
    "python.framework.test_util": {
        "test": """
            TensorFlowTestCase=TestCase
            assert_equal_graph_def_v1=assert_equal_graph_def
            create_local_cluster gpu_device_name is_gpu_available""",
    },
    "python.framework.type_spec": {
        "": "TypeSpec",
    },
    "python.framework.versions": {
        "": """
            COMPILER_VERSION CXX11_ABI_FLAG GIT_VERSION GRAPH_DEF_VERSION
            GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER
            MONOLITHIC_BUILD VERSION""",
    },
    "python.layers.base": {
        "layers": "InputSpec Layer",
        "layers.experimental": "keras_style_scope set_keras_style",
    },
    "python.layers.convolutional": {
        "layers": """
            Conv1D Conv2D Conv2DTranspose Conv3D Conv3DTranspose
            Convolution1D=Conv1D Convolution2D=Conv2D
            Convolution2DTranspose=Conv2DTranspose Convolution3D=Conv3D
            Convolution3DTranspose=Conv3DTranspose Deconv2D=Conv2DTranspose
            Deconv3D=Conv3DTranspose Deconvolution2D=Conv2DTranspose
            Deconvolution3D=Conv3DTranspose SeparableConv1D SeparableConv2D
            SeparableConvolution2D=SeparableConv2D conv1d conv2d
            conv2d_transpose conv3d conv3d_transpose convolution1d=conv1d
            convolution2d=conv2d convolution2d_transpose=conv2d_transpose
            convolution3d=conv3d convolution3d_transpose=conv3d_transpose
            deconv2d=conv2d_transpose deconv3d=conv3d_transpose
            deconvolution2d=conv2d_transpose deconvolution3d=conv3d_transpose
            separable_conv1d separable_conv2d
            separable_convolution2d=separable_conv2d""",
    },
    "python.layers.core": {
        "layers": """
            Dense Dropout Flatten FullyConnected=Dense dense dropout flatten
            fully_connected=dense""",
    },
    "python.layers.layers": {
        "layers": """
            AveragePooling1D AveragePooling2D AveragePooling3D
            BatchNormalization Conv1D Conv2D Conv2DTranspose Conv3D
            Conv3DTranspose Convolution1D=Conv1D Convolution2D=Conv2D
            Convolution2DTranspose=Conv2DTranspose Convolution3D=Conv3D
            Convolution3DTranspose=Conv3DTranspose Dense Dropout Flatten
            InputSpec Layer MaxPooling1D MaxPooling2D MaxPooling3D
            SeparableConv1D SeparableConv2D
            SeparableConvolution2D=SeparableConv2D average_pooling1d
            average_pooling2d average_pooling3d batch_normalization conv1d
            conv2d conv2d_transpose conv3d conv3d_transpose dense dropout
            flatten max_pooling1d max_pooling2d max_pooling3d separable_conv1d
            separable_conv2d""",
    },
    "python.layers.normalization": {
        "layers": """
            BatchNorm=BatchNormalization BatchNormalization
            batch_norm=batch_normalization batch_normalization""",
    },
    "python.layers.pooling": {
        "layers": """
            AveragePooling1D AveragePooling2D AveragePooling3D
            AvgPool2D=AveragePooling2D MaxPool2D=MaxPooling2D MaxPooling1D
            MaxPooling2D MaxPooling3D average_pooling1d average_pooling2d
            average_pooling3d avg_pool2d=average_pooling2d
            max_pool2d=max_pooling2d max_pooling1d max_pooling2d max_pooling3d""",
    },
    "python.lib.io.file_io": {
        "gfile": """
            copy=Copy create_dir=MkDir delete_file=Remove
            delete_recursively=DeleteRecursively file_exists=Exists
            get_matching_files=Glob is_directory=IsDirectory
            list_directory=ListDirectory recursive_create_dir=MakeDirs
            rename=Rename stat=Stat walk=Walk""",
        "io.gfile": """
            copy_v2=copy create_dir_v2=mkdir delete_file_v2=remove
            delete_recursively_v2=rmtree file_exists_v2=exists
            get_matching_files_v2=glob is_directory_v2=isdir
            list_directory_v2=listdir recursive_create_dir_v2=makedirs
            rename_v2=rename stat_v2=stat walk_v2=walk""",
    },
    "python.lib.io.python_io": {
        "io": """
            TFRecordCompressionType TFRecordOptions TFRecordWriter
            tf_record_iterator""",
    },
    "python.lib.io.tf_record": {
        "io": """
            TFRecordCompressionType TFRecordOptions TFRecordWriter
            tf_record_iterator""",
    },
    "python.ops.array_ops": {
        "": """
            batch_gather batch_to_space batch_to_space_nd bitcast boolean_mask
            broadcast_dynamic_shape broadcast_static_shape broadcast_to
            check_numerics concat depth_to_space dequantize diag diag_part
            edit_distance expand_dims extract_image_patches
            extract_volume_patches fake_quant_with_min_max_args
            fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars
            fake_quant_with_min_max_vars_gradient
            fake_quant_with_min_max_vars_per_channel
            fake_quant_with_min_max_vars_per_channel_gradient fill fingerprint
            gather gather_nd guarantee_const identity identity_n
            invert_permutation matrix_band_part matrix_diag matrix_diag_part
            matrix_set_diag matrix_transpose meshgrid one_hot ones ones_like pad
            parallel_stack placeholder placeholder_with_default quantize
            quantize_v2 quantized_concat rank repeat
            required_space_to_batch_paddings reshape reverse reverse_sequence
            reverse_v2 scatter_nd searchsorted sequence_mask setdiff1d shape
            shape_n size slice space_to_batch space_to_batch_nd space_to_depth
            sparse_mask sparse_placeholder split squeeze stack stop_gradient
            strided_slice tensor_scatter_add tensor_scatter_sub
            tensor_scatter_update tile transpose unique unique_with_counts
            unravel_index unstack where where_v2 zeros zeros_like""",
        "image": "extract_image_patches_v2=extract_patches",
        "quantization": "quantize_and_dequantize",
    },
    "python.ops.batch_ops": {
        "": "batch_function=nondifferentiable_batch_function",
    },
    "python.ops.bitwise_ops": {
        "bitwise": """
            bitwise_and bitwise_or bitwise_xor invert left_shift right_shift""",
    },
    "python.ops.candidate_sampling_ops": {
        "nn": """
            all_candidate_sampler compute_accidental_hits
            fixed_unigram_candidate_sampler learned_unigram_candidate_sampler
            log_uniform_candidate_sampler uniform_candidate_sampler""",
    },
    "python.ops.check_ops": {
        "": """
            assert_equal assert_greater assert_greater_equal assert_integer
            assert_less assert_less_equal assert_near assert_negative
            assert_non_negative assert_non_positive assert_none_equal
            assert_positive assert_proper_iterable assert_rank
            assert_rank_at_least assert_rank_in assert_same_float_dtype
            assert_scalar assert_type ensure_shape is_non_decreasing
            is_numeric_tensor is_strictly_increasing""",
        "debugging": "assert_shapes",
    },
    "python.ops.clip_ops": {
        "": """
            clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value
            global_norm""",
    },
    "python.ops.clustering_ops": {
        "nn": "embedding_lookup",
    },
    "python.ops.confusion_matrix": {
        "": "confusion_matrix_v1=confusion_matrix",
    },
    "python.ops.control_flow_grad": {
        "": "Assert case cond group no_op switch_case tuple while_loop",
    },
    "python.ops.control_flow_ops": {
        "": "Assert case cond group no_op switch_case tuple while_loop",
    },
    "python.ops.control_flow_v2_toggles": {
        "": """
            control_flow_v2_enabled disable_control_flow_v2
            enable_control_flow_v2""",
        "experimental": "output_all_intermediates",
    },
    "python.ops.critical_section_ops": {
        "": "CriticalSection",
    },
    "python.ops.ctc_ops": {
        "nn": """
            collapse_repeated ctc_beam_search_decoder ctc_beam_search_decoder_v2
            ctc_greedy_decoder ctc_loss ctc_loss_v2 ctc_unique_labels""",
    },
    "python.ops.custom_gradient": {
        "": "custom_gradient grad_pass_through recompute_grad",
    },
    "python.ops.data_flow_ops": {
        "": """
            ConditionalAccumulator ConditionalAccumulatorBase FIFOQueue
            PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue
            SparseConditionalAccumulator dynamic_partition dynamic_stitch""",
        "contrib.staging": "StagingArea",
    },
    "python.ops.distributions.bernoulli": {
        "distributions": "Bernoulli",
    },
    "python.ops.distributions.beta": {
        "distributions": "Beta",
    },
    "python.ops.distributions.categorical": {
        "distributions": "Categorical",
    },
    "python.ops.distributions.dirichlet": {
        "distributions": "Dirichlet",
    },
    "python.ops.distributions.dirichlet_multinomial": {
        "distributions": "DirichletMultinomial",
    },
    "python.ops.distributions.distribution": {
        "distributions": """
            Distribution FULLY_REPARAMETERIZED NOT_REPARAMETERIZED
            ReparameterizationType""",
    },
    "python.ops.distributions.distributions": {
        "distributions": """
            Bernoulli Beta Categorical Dirichlet DirichletMultinomial
            Distribution Exponential FULLY_REPARAMETERIZED Gamma Laplace
            Multinomial NOT_REPARAMETERIZED Normal RegisterKL
            ReparameterizationType StudentT Uniform kl_divergence""",
    },
    "python.ops.distributions.exponential": {
        "distributions": "Exponential",
    },
    "python.ops.distributions.gamma": {
        "distributions": "Gamma",
    },
    "python.ops.distributions.kullback_leibler": {
        "distributions": "RegisterKL kl_divergence",
    },
    "python.ops.distributions.laplace": {
        "distributions": "Laplace",
    },
    "python.ops.distributions.multinomial": {
        "distributions": "Multinomial",
    },
    "python.ops.distributions.normal": {
        "distributions": "Normal",
    },
    "python.ops.distributions.student_t": {
        "distributions": "StudentT",
    },
    "python.ops.distributions.uniform": {
        "distributions": "Uniform",
    },
    "python.ops.embedding_ops": {
        "nn": """
            embedding_lookup embedding_lookup_sparse
            safe_embedding_lookup_sparse""",
    },
    "python.ops.functional_ops": {
        "": "foldl foldr scan",
    },
    "python.ops.gradient_checker": {
        "test": "compute_gradient compute_gradient_error",
    },
    "python.ops.gradients": {
        "": """
            AggregationMethod GradientTape UnconnectedGradients custom_gradient
            gradients hessians""",
    },
    "python.ops.gradients_impl": {
        "": "UnconnectedGradients gradients hessians",
    },
    "python.ops.gradients_util": {
        "": "AggregationMethod UnconnectedGradients",
    },
    "python.ops.histogram_ops": {
        "": "histogram_fixed_width histogram_fixed_width_bins",
    },
    "python.ops.image_ops": {
        "image": """
            ResizeMethodV1=ResizeMethod adjust_brightness adjust_contrast
            adjust_gamma adjust_hue adjust_jpeg_quality adjust_saturation
            central_crop combined_non_max_suppression convert_image_dtype
            crop_and_resize_v1=crop_and_resize crop_to_bounding_box
            draw_bounding_boxes encode_png extract_glimpse flip_left_right
            flip_up_down grayscale_to_rgb hsv_to_rgb image_gradients
            non_max_suppression non_max_suppression_padded
            non_max_suppression_with_overlaps=non_max_suppression_overlaps
            non_max_suppression_with_scores pad_to_bounding_box
            per_image_standardization psnr random_brightness random_contrast
            random_flip_left_right random_flip_up_down random_hue
            random_jpeg_quality random_saturation resize_area resize_bicubic
            resize_bilinear resize_image_with_crop_or_pad
            resize_image_with_pad_v1=resize_image_with_pad resize_images
            resize_nearest_neighbor rgb_to_grayscale rgb_to_hsv rgb_to_yiq
            rgb_to_yuv rot90 sample_distorted_bounding_box sobel_edges ssim
            ssim_multiscale total_variation transpose yiq_to_rgb yuv_to_rgb""",
        "io": """
            decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg
            decode_png encode_jpeg extract_jpeg_shape is_jpeg""",
    },
    "python.ops.image_ops_impl": {
        "image": """
            ResizeMethodV1=ResizeMethod adjust_brightness adjust_contrast
            adjust_gamma adjust_hue adjust_jpeg_quality adjust_saturation
            central_crop combined_non_max_suppression convert_image_dtype
            crop_and_resize_v1=crop_and_resize crop_to_bounding_box
            draw_bounding_boxes extract_glimpse flip_left_right flip_up_down
            grayscale_to_rgb image_gradients non_max_suppression
            non_max_suppression_padded
            non_max_suppression_with_overlaps=non_max_suppression_overlaps
            non_max_suppression_with_scores pad_to_bounding_box
            per_image_standardization psnr random_brightness random_contrast
            random_flip_left_right random_flip_up_down random_hue
            random_jpeg_quality random_saturation resize_bicubic resize_bilinear
            resize_image_with_crop_or_pad
            resize_image_with_pad_v1=resize_image_with_pad resize_images
            resize_nearest_neighbor rgb_to_grayscale rgb_to_yiq rgb_to_yuv rot90
            sample_distorted_bounding_box sobel_edges ssim ssim_multiscale
            total_variation transpose yiq_to_rgb yuv_to_rgb""",
        "io": "decode_image is_jpeg",
    },
    "python.ops.init_ops": {
        "": """
            GlorotNormal=glorot_normal_initializer
            GlorotUniform=glorot_uniform_initializer
            RandomNormal=random_normal_initializer
            RandomUniform=random_uniform_initializer
            TruncatedNormal=truncated_normal_initializer
            UniformUnitScaling=uniform_unit_scaling_initializer
            constant_initializer glorot_normal_initializer
            glorot_uniform_initializer ones_initializer orthogonal_initializer
            random_normal_initializer random_uniform_initializer
            truncated_normal_initializer uniform_unit_scaling_initializer
            variance_scaling_initializer zeros_initializer""",
        "initializers": """
            he_normal he_uniform identity_initializer=identity lecun_normal
            lecun_uniform""",
        "keras.initializers": """
            Constant Identity Initializer Ones Orthogonal VarianceScaling Zeros""",
    },
    "python.ops.initializers_ns": {
        "initializers": """
            constant global_variables identity local_variables ones orthogonal
            random_normal random_uniform truncated_normal uniform_unit_scaling
            variables variance_scaling zeros""",
    },
    "python.ops.io_ops": {
        "": """
            FixedLengthRecordReader IdentityReader LMDBReader ReaderBase
            TFRecordReader TextLineReader WholeFileReader matching_files
            read_file write_file""",
    },
    "python.ops.linalg.linalg": {
        "": "cholesky cholesky_solve einsum eye norm qr svd tensordot trace",
        "linalg": """
            LinearOperator LinearOperatorBlockDiag LinearOperatorCirculant
            LinearOperatorCirculant2D LinearOperatorCirculant3D
            LinearOperatorComposition LinearOperatorDiag
            LinearOperatorFullMatrix LinearOperatorIdentity
            LinearOperatorKronecker LinearOperatorLowRankUpdate
            LinearOperatorLowerTriangular LinearOperatorScaledIdentity
            LinearOperatorToeplitz LinearOperatorZeros adjoint band_part det
            diag diag_part eigh eigvalsh inv logdet logm lstsq lu
            matrix_exponential=expm matrix_rank pinv set_diag slogdet solve
            sqrtm transpose triangular_solve tridiagonal_matmul
            tridiagonal_solve""",
    },
    "python.ops.linalg.linalg_impl": {
        "": "cholesky cholesky_solve einsum eye norm qr svd tensordot trace",
        "linalg": """
            adjoint band_part det diag diag_part eigh eigvalsh inv logdet logm
            lstsq lu matrix_exponential=expm matrix_rank pinv set_diag slogdet
            solve sqrtm transpose triangular_solve tridiagonal_matmul
            tridiagonal_solve""",
    },
    "python.ops.linalg.linear_operator": {
        "linalg": "LinearOperator",
    },
    "python.ops.linalg.linear_operator_adjoint": {
        "linalg": "LinearOperatorAdjoint",
    },
    "python.ops.linalg.linear_operator_block_diag": {
        "linalg": "LinearOperatorBlockDiag",
    },
    "python.ops.linalg.linear_operator_circulant": {
        "linalg": """
            LinearOperatorCirculant
            LinearOperatorCirculant2D
            LinearOperatorCirculant3D""",
    },
    "python.ops.linalg.linear_operator_composition": {
        "linalg": "LinearOperatorComposition",
    },
    "python.ops.linalg.linear_operator_diag": {
        "linalg": "LinearOperatorDiag",
    },
    "python.ops.linalg.linear_operator_full_matrix": {
        "linalg": "LinearOperatorFullMatrix",
    },
    "python.ops.linalg.linear_operator_householder": {
        "linalg": "LinearOperatorHouseholder",
    },
    "python.ops.linalg.linear_operator_identity": {
        "linalg": """
            LinearOperatorIdentity
            LinearOperatorScaledIdentity""",
    },
    "python.ops.linalg.linear_operator_inversion": {
        "linalg": "LinearOperatorInversion",
    },
    "python.ops.linalg.linear_operator_kronecker": {
        "linalg": "LinearOperatorKronecker",
    },
    "python.ops.linalg.linear_operator_low_rank_update": {
        "linalg": "LinearOperatorLowRankUpdate",
    },
    "python.ops.linalg.linear_operator_lower_triangular": {
        "linalg": "LinearOperatorLowerTriangular",
    },
    "python.ops.linalg.linear_operator_toeplitz": {
        "linalg": "LinearOperatorToeplitz",
    },
    "python.ops.linalg.linear_operator_zeros": {
        "linalg": "LinearOperatorZeros",
    },
    "python.ops.linalg_ops": {
        "": """
            cholesky cholesky_solve eye matrix_determinant matrix_inverse
            matrix_solve matrix_solve_ls matrix_square_root
            matrix_triangular_solve norm qr self_adjoint_eig
            self_adjoint_eigvals svd""",
        "linalg": "log_matrix_determinant=slogdet lu matrix_logarithm=logm",
    },
    "python.ops.logging_ops": {
        "": "Print print_v2=print timestamp",
    },
    "python.ops.lookup_ops": {
        "": "initialize_all_tables tables_initializer",
        "lookup": """
            KeyValueTensorInitializer StaticHashTableV1=StaticHashTable
            StaticVocabularyTableV1=StaticVocabularyTable TextFileIndex
            TextFileInitializer""",
        "lookup.experimental": "DenseHashTable",
    },
    "python.ops.losses.losses": {
        "losses": """
            Reduction absolute_difference add_loss compute_weighted_loss
            cosine_distance get_losses get_regularization_loss
            get_regularization_losses get_total_loss hinge_loss huber_loss
            log_loss mean_pairwise_squared_error mean_squared_error
            sigmoid_cross_entropy softmax_cross_entropy
            sparse_softmax_cross_entropy""",
    },
    "python.ops.losses.losses_impl": {
        "losses": """
            Reduction absolute_difference compute_weighted_loss cosine_distance
            hinge_loss huber_loss log_loss mean_pairwise_squared_error
            mean_squared_error sigmoid_cross_entropy softmax_cross_entropy
            sparse_softmax_cross_entropy""",
    },
    "python.ops.losses.util": {
        "losses": """
            add_loss get_losses get_regularization_loss
            get_regularization_losses get_total_loss""",
    },
    "python.ops.manip_ops": {
        "": "roll",
    },
    "python.ops.map_fn": {
        "": "map_fn",
    },
    "python.ops.math_ops": {
        "": """
            abs accumulate_n acos acosh add add_n angle argmax argmin asin asinh
            atan atan2 atanh betainc bincount_v1=bincount cast ceil complex conj
            cos cosh count_nonzero cross cumprod cumsum digamma div div_no_nan
            divide equal erf erfc exp expm1 floor floor_div floor_mod=floormod
            floordiv floormod greater greater_equal igamma igammac imag
            is_finite is_inf is_nan less less_equal lgamma lin_space linspace
            log log1p log_sigmoid logical_and logical_not logical_or logical_xor
            matmul maximum minimum mod multiply neg=negative negative not_equal
            polygamma pow range real real_div=realdiv realdiv reciprocal
            reduce_all_v1=reduce_all reduce_any_v1=reduce_any
            reduce_logsumexp_v1=reduce_logsumexp reduce_max_v1=reduce_max
            reduce_mean_v1=reduce_mean reduce_min_v1=reduce_min
            reduce_prod_v1=reduce_prod reduce_sum_v1=reduce_sum rint round rsqrt
            saturate_cast scalar_mul segment_max segment_mean segment_min
            segment_prod segment_sum sigmoid sign sin sinh
            sparse_mat_mul=sparse_matmul sparse_segment_mean
            sparse_segment_sqrt_n sparse_segment_sum sqrt square
            squared_difference subtract tan tanh tensordot to_bfloat16
            to_complex128 to_complex64 to_double to_float to_int32 to_int64
            trace truediv truncate_div=truncatediv truncate_mod=truncatemod
            truncatediv truncatemod unsorted_segment_max unsorted_segment_mean
            unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n
            unsorted_segment_sum zeta""",
        "linalg": "matvec",
        "math": """
            bessel_i0e bessel_i1e cumulative_logsumexp multiply_no_nan
            next_after=nextafter nextafter polyval reciprocal_no_nan
            reduce_euclidean_norm reduce_std reduce_variance xdivy xlogy""",
    },
    "python.ops.metrics": {
        "metrics": """
            accuracy auc average_precision_at_k false_negatives
            false_negatives_at_thresholds false_positives
            false_positives_at_thresholds mean mean_absolute_error
            mean_cosine_distance mean_iou mean_per_class_accuracy
            mean_relative_error mean_squared_error mean_tensor percentage_below
            precision precision_at_k precision_at_thresholds precision_at_top_k
            recall recall_at_k recall_at_thresholds recall_at_top_k
            root_mean_squared_error sensitivity_at_specificity
            sparse_average_precision_at_k sparse_precision_at_k
            specificity_at_sensitivity true_negatives
            true_negatives_at_thresholds true_positives
            true_positives_at_thresholds""",
    },
    "python.ops.metrics_impl": {
        "metrics": """
            accuracy auc average_precision_at_k false_negatives
            false_negatives_at_thresholds false_positives
            false_positives_at_thresholds mean mean_absolute_error
            mean_cosine_distance mean_iou mean_per_class_accuracy
            mean_relative_error mean_squared_error mean_tensor percentage_below
            precision precision_at_k precision_at_thresholds precision_at_top_k
            recall recall_at_k recall_at_thresholds recall_at_top_k
            root_mean_squared_error sensitivity_at_specificity
            sparse_average_precision_at_k sparse_precision_at_k
            specificity_at_sensitivity true_negatives
            true_negatives_at_thresholds true_positives
            true_positives_at_thresholds""",
    },
    "python.ops.nn": {
        "": "sigmoid tanh",
        "linalg": "normalize",
        "nn": """
            all_candidate_sampler atrous_conv2d atrous_conv2d_transpose avg_pool
            avg_pool1d avg_pool3d avg_pool_v2
            batch_norm_with_global_normalization batch_normalization bias_add
            bidirectional_dynamic_rnn collapse_repeated compute_accidental_hits
            compute_average_loss conv1d conv1d_transpose conv2d
            conv2d_backprop_filter conv2d_backprop_input conv2d_transpose
            conv3d_backprop_filter_v2 conv3d_transpose conv3d_v1=conv3d
            conv_transpose convolution crelu ctc_beam_search_decoder
            ctc_beam_search_decoder_v2 ctc_greedy_decoder ctc_loss ctc_loss_v2
            ctc_unique_labels depthwise_conv2d depthwise_conv2d_native
            depthwise_conv2d_native_backprop_filter
            depthwise_conv2d_native_backprop_input dilation2d_v1=dilation2d
            dropout dynamic_rnn elu embedding_lookup embedding_lookup_sparse
            erosion2d fixed_unigram_candidate_sampler fractional_avg_pool
            fractional_max_pool fused_batch_norm in_top_k l2_loss l2_normalize
            leaky_relu learned_unigram_candidate_sampler
            local_response_normalization log_poisson_loss log_softmax
            log_uniform_candidate_sampler lrn max_pool max_pool1d max_pool2d
            max_pool3d max_pool_v2 max_pool_with_argmax_v1=max_pool_with_argmax
            moments nce_loss normalize_moments pool quantized_avg_pool
            quantized_conv2d quantized_max_pool quantized_relu_x raw_rnn relu
            relu6 relu_layer safe_embedding_lookup_sparse sampled_softmax_loss
            scale_regularization_loss selu separable_conv2d
            sigmoid_cross_entropy_with_logits softmax
            softmax_cross_entropy_with_logits
            softmax_cross_entropy_with_logits_v2_helper=softmax_cross_entropy_with_logits_v2
            softplus softsign sparse_softmax_cross_entropy_with_logits
            static_rnn static_state_saving_rnn sufficient_statistics swish top_k
            uniform_candidate_sampler weighted_cross_entropy_with_logits
            weighted_moments with_space_to_batch xw_plus_b zero_fraction""",
    },
    "python.ops.nn_impl": {
        "linalg": "normalize",
        "nn": """
            batch_norm_with_global_normalization batch_normalization
            compute_average_loss depthwise_conv2d fused_batch_norm l2_normalize
            log_poisson_loss moments nce_loss normalize_moments relu_layer
            sampled_softmax_loss scale_regularization_loss separable_conv2d
            sigmoid_cross_entropy_with_logits sufficient_statistics swish
            weighted_cross_entropy_with_logits weighted_moments zero_fraction""",
    },
    "python.ops.nn_ops": {
        "nn": """
            atrous_conv2d atrous_conv2d_transpose avg_pool avg_pool1d avg_pool3d
            avg_pool_v2 bias_add conv1d conv1d_transpose conv2d
            conv2d_backprop_filter conv2d_backprop_input conv2d_transpose
            conv3d_backprop_filter_v2 conv3d_transpose conv3d_v1=conv3d
            conv_transpose convolution crelu depthwise_conv2d_native
            depthwise_conv2d_native_backprop_filter
            depthwise_conv2d_native_backprop_input dilation2d_v1=dilation2d
            dropout elu erosion2d fractional_avg_pool fractional_max_pool
            in_top_k l2_loss leaky_relu local_response_normalization log_softmax
            lrn max_pool max_pool1d max_pool2d max_pool3d max_pool_v2
            max_pool_with_argmax_v1=max_pool_with_argmax pool quantized_avg_pool
            quantized_conv2d quantized_max_pool quantized_relu_x relu relu6 selu
            softmax softmax_cross_entropy_with_logits
            softmax_cross_entropy_with_logits_v2_helper=softmax_cross_entropy_with_logits_v2
            softplus softsign sparse_softmax_cross_entropy_with_logits top_k
            with_space_to_batch xw_plus_b""",
    },
    "python.ops.numerics": {
        "": "add_check_numerics_ops verify_tensor_all_finite",
    },
    "python.ops.parallel_for.control_flow_ops": {
        "": "vectorized_map",
    },
    "python.ops.parsing_ops": {
        "": """
            FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature
            decode_compressed decode_csv decode_json_example
            decode_raw_v1=decode_raw parse_example parse_single_example
            parse_single_sequence_example parse_tensor serialize_tensor""",
        "io": "parse_sequence_example",
    },
    "python.ops.partitioned_variables": {
        "": """
            create_partitioned_variables fixed_size_partitioner
            min_max_variable_partitioner variable_axis_size_partitioner""",
    },
    "python.ops.proto_ops": {
        "io": "decode_proto encode_proto",
    },
    "python.ops.ragged.ragged_array_ops": {
        "ragged": "boolean_mask stack_dynamic_partitions",
    },
    "python.ops.ragged.ragged_concat_ops": {
        "ragged": "stack",
    },
    "python.ops.ragged.ragged_factory_ops": {
        "ragged": "constant constant_value placeholder",
    },
    "python.ops.ragged.ragged_functional_ops": {
        "ragged": "map_flat_values",
    },
    "python.ops.ragged.ragged_math_ops": {
        "ragged": "range",
    },
    "python.ops.ragged.ragged_squeeze_op": {
        "": "RaggedTensor",
    },
    "python.ops.ragged.ragged_string_ops": {
        "": "string_split",
        "strings": """
            ngrams string_bytes_split=bytes_split strings_split_v1=split
            unicode_decode unicode_decode_with_offsets unicode_encode
            unicode_split unicode_split_with_offsets""",
    },
    "python.ops.ragged.ragged_tensor": {
        "": "RaggedTensor RaggedTensorSpec",
    },
    "python.ops.ragged.ragged_tensor_value": {
        "ragged": "RaggedTensorValue",
    },
    "python.ops.ragged.segment_id_ops": {
        "ragged": "row_splits_to_segment_ids segment_ids_to_row_splits",
    },
    "python.ops.random_ops": {
        "": """
            multinomial random_crop random_gamma random_normal random_poisson
            random_shuffle random_uniform truncated_normal""",
        "random": "categorical",
    },
    "python.ops.resource_variable_ops": {
        "contrib.eager": "ResourceVariable=Variable",
    },
    "python.ops.rnn": {
        "nn": """
            bidirectional_dynamic_rnn dynamic_rnn raw_rnn
            static_bidirectional_rnn static_rnn static_state_saving_rnn""",
    },
    "python.ops.rnn_cell": {
        "contrib.rnn": "LayerRNNCell",
        "nn.rnn_cell": """
            BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUCell
            LSTMCell LSTMStateTuple MultiRNNCell RNNCell ResidualWrapper""",
    },
    "python.ops.rnn_cell_impl": {
        "contrib.rnn": "LayerRNNCell",
        "nn.rnn_cell": """
            BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUCell
            LSTMCell LSTMStateTuple MultiRNNCell RNNCell ResidualWrapper""",
    },
    "python.ops.script_ops": {
        "": "eager_py_func=py_function numpy_function py_func",
    },
    "python.ops.sdca_ops": {
        "train": "sdca_fprint sdca_optimizer sdca_shrink_l1",
    },
    "python.ops.session_ops": {
        "": "delete_session_tensor get_session_handle get_session_tensor",
    },
    "python.ops.sets": {
        "sets": "set_difference set_intersection set_size set_union",
    },
    "python.ops.sets_impl": {
        "sets": "set_difference set_intersection set_size set_union",
    },
    "python.ops.signal.dct_ops": {
        "signal": "dct idct",
    },
    "python.ops.signal.fft_ops": {
        "": "fft fft2d fft3d ifft ifft2d ifft3d",
        "signal": "fftshift ifftshift irfft irfft2d irfft3d rfft rfft2d rfft3d",
    },
    "python.ops.signal.mel_ops": {
        "signal": "linear_to_mel_weight_matrix",
    },
    "python.ops.signal.mfcc_ops": {
        "signal": "mfccs_from_log_mel_spectrograms",
    },
    "python.ops.signal.reconstruction_ops": {
        "signal": "overlap_and_add",
    },
    "python.ops.signal.shape_ops": {
        "signal": "frame",
    },
    "python.ops.signal.signal": {
        "": "fft fft2d fft3d ifft ifft2d ifft3d",
        "signal": """
            dct fftshift frame hamming_window hann_window idct ifftshift
            inverse_stft inverse_stft_window_fn irfft irfft2d irfft3d
            linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms
            overlap_and_add rfft rfft2d rfft3d stft""",
    },
    "python.ops.signal.spectral_ops": {
        "signal": "inverse_stft inverse_stft_window_fn stft",
    },
    "python.ops.signal.window_ops": {
        "signal": "hamming_window hann_window",
    },
    "python.ops.sort_ops": {
        "": "argsort sort",
    },
    "python.ops.sparse_ops": {
        "": """
            deserialize_many_sparse serialize_many_sparse serialize_sparse
            sparse_add sparse_concat sparse_fill_empty_rows sparse_maximum
            sparse_merge sparse_minimum sparse_reduce_max
            sparse_reduce_max_sparse sparse_reduce_sum sparse_reduce_sum_sparse
            sparse_reorder sparse_reset_shape sparse_reshape sparse_retain
            sparse_slice sparse_softmax sparse_split sparse_tensor_dense_matmul
            sparse_tensor_to_dense sparse_to_dense sparse_to_indicator
            sparse_transpose""",
        "math": "unary_op=bessel_i1e",
        "sparse": """
            from_dense sparse_cross=cross sparse_cross_hashed=cross_hashed
            sparse_expand_dims=expand_dims sparse_eye=eye""",
    },
    "python.ops.special_math_ops": {
        "": "einsum lbeta",
        "math": "bessel_i0 bessel_i1",
    },
    "python.ops.state_ops": {
        "": """
            assign assign_add assign_sub batch_scatter_update count_up_to
            scatter_add scatter_div scatter_max scatter_min scatter_mul
            scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub
            scatter_update""",
    },
    "python.ops.stateful_random_ops": {
        "random.experimental": """
            Generator create_rng_state get_global_generator set_global_generator""",
    },
    "python.ops.stateless_random_ops": {
        "random": """
            stateless_categorical stateless_multinomial
            stateless_random_normal=stateless_normal
            stateless_random_uniform=stateless_uniform
            stateless_truncated_normal""",
    },
    "python.ops.string_ops": {
        "": """
            as_string decode_base64 encode_base64 reduce_join regex_replace
            string_join string_strip string_to_hash_bucket_fast
            string_to_hash_bucket_strong
            string_to_hash_bucket_v1=string_to_hash_bucket
            string_to_number_v1=string_to_number substr_deprecated=substr""",
        "strings": """
            regex_full_match string_format=format string_length=length
            string_lower=lower string_upper=upper substr unicode_script
            unicode_transcode unsorted_segment_join""",
    },
    "python.ops.summary_ops_v2": {
        "summary": "all_v2_summary_ops initialize",
    },
    "python.ops.template": {
        "": "make_template",
    },
    "python.ops.tensor_array_ops": {
        "": "TensorArray TensorArraySpec",
    },
    "python.ops.unconnected_gradients": {
        "": "UnconnectedGradients",
    },
    "python.ops.variable_scope": {
        "": """
            AUTO_REUSE VariableAggregation VariableScope VariableSynchronization
            disable_resource_variables enable_resource_variables
            get_local_variable get_variable get_variable_scope no_regularizer
            resource_variables_enabled variable=Variable
            variable_creator_scope_v1=variable_creator_scope variable_op_scope
            variable_scope""",
    },
    "python.ops.variables": {
        "": """
            VariableAggregation VariableSynchronization VariableV1=Variable
            all_variables assert_variables_initialized global_variables
            global_variables_initializer initialize_all_variables
            initialize_local_variables initialize_variables
            is_variable_initialized local_variables local_variables_initializer
            model_variables moving_average_variables
            report_uninitialized_variables trainable_variables
            variables_initializer""",
    },
    "python.platform.app": {
        "app": "run",
    },
    "python.platform.benchmark": {
        "test": "TensorFlowBenchmark=Benchmark benchmark_config",
    },
    "python.platform.flags": {
        "flags": """
            ArgumentParser ArgumentSerializer BaseListParser BooleanFlag
            BooleanParser CantOpenFlagFileError CsvListSerializer DEFINE
            DEFINE_alias DEFINE_bool DEFINE_boolean DEFINE_enum
            DEFINE_enum_class DEFINE_flag DEFINE_float DEFINE_integer
            DEFINE_list DEFINE_multi DEFINE_multi_enum DEFINE_multi_enum_class
            DEFINE_multi_float DEFINE_multi_integer DEFINE_multi_string
            DEFINE_spaceseplist DEFINE_string DuplicateFlagError EnumClassFlag
            EnumClassListSerializer EnumClassParser EnumClassSerializer EnumFlag
            EnumParser Error FLAGS Flag FlagHolder
            FlagNameConflictsWithMethodError FlagValues FloatParser
            IllegalFlagValueError IntegerParser ListParser ListSerializer
            MultiEnumClassFlag MultiFlag UnparsedFlagAccessError
            UnrecognizedFlagError ValidationError WhitespaceSeparatedListParser
            adopt_module_key_flags declare_key_flag disclaim_key_flags
            doc_to_help flag_dict_to_args get_help_width
            mark_bool_flags_as_mutual_exclusive mark_flag_as_required
            mark_flags_as_mutual_exclusive mark_flags_as_required
            multi_flags_validator override_value register_multi_flags_validator
            register_validator set_default text_wrap validator""",
    },
    "python.platform.gfile": {
        "gfile": """
            Copy DeleteRecursively Exists FastGFile GFile Glob IsDirectory
            ListDirectory MakeDirs MkDir Open Remove Rename Stat Walk""",
    },
    "python.platform.googletest": {
        "test": "Benchmark StubOutForTesting",
    },
    "python.platform.resource_loader": {
        "resource_loader": """
            get_data_files_path get_path_to_datafile
            get_root_dir_with_all_resources load_resource readahead_file_path""",
    },
    "python.platform.sysconfig": {
        "sysconfig": "get_compile_flags get_include get_lib get_link_flags",
    },
    "python.platform.test": {
        "test": """
            Benchmark StubOutForTesting TestCase compute_gradient
            compute_gradient_error create_local_cluster get_temp_dir
            gpu_device_name is_built_with_cuda is_built_with_gpu_support
            is_built_with_rocm is_gpu_available main test_src_dir_path""",
    },
    "python.platform.tf_logging": {
        "": "get_logger",
        "logging": """
            DEBUG ERROR FATAL INFO TaskLevelStatusMessage WARN debug error fatal
            flush get_verbosity info log log_every_n log_first_n log_if
            set_verbosity vlog warn warning""",
    },
    "python.profiler.model_analyzer": {
        "profiler": "Profiler advise profile",
    },
    "python.profiler.option_builder": {
        "profiler": "ProfileOptionBuilder",
    },
    "python.profiler.profiler": {
        "profiler": """
            AdviceProto GraphNodeProto MultiGraphNodeProto OpLogProto
            ProfileOptionBuilder Profiler advise profile write_op_log""",
    },
    "python.profiler.tfprof_logger": {
        "profiler": "write_op_log",
    },
    "python.saved_model.builder": {
        "saved_model.builder": "SavedModelBuilder",
    },
    "python.saved_model.builder_impl": {
        "saved_model.builder": "SavedModelBuilder",
    },
    "python.saved_model.constants": {
        "saved_model": """
            ASSETS_DIRECTORY ASSETS_KEY LEGACY_INIT_OP_KEY MAIN_OP_KEY
            SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT
            SAVED_MODEL_SCHEMA_VERSION VARIABLES_DIRECTORY VARIABLES_FILENAME""",
    },
    "python.saved_model.load": {
        "saved_model": "load=load_v2",
    },
    "python.saved_model.loader": {
        "saved_model": "load maybe_saved_model_directory",
    },
    "python.saved_model.loader_impl": {
        "saved_model": "load maybe_saved_model_directory",
    },
    "python.saved_model.main_op": {
        "saved_model": "main_op_with_restore",
        "saved_model.main_op": "main_op",
    },
    "python.saved_model.main_op_impl": {
        "saved_model": "main_op_with_restore",
        "saved_model.main_op": "main_op",
    },
    "python.saved_model.save": {
        "saved_model": "save",
    },
    "python.saved_model.saved_model": {
        "saved_model": "load=load_v2 save simple_save",
    },
    "python.saved_model.signature_constants": {
        "saved_model": """
            CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES
            CLASSIFY_OUTPUT_SCORES DEFAULT_SERVING_SIGNATURE_DEF_KEY
            PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS
            REGRESS_METHOD_NAME REGRESS_OUTPUTS""",
    },
    "python.saved_model.signature_def_utils": {
        "saved_model": """
            build_signature_def classification_signature_def is_valid_signature
            predict_signature_def regression_signature_def""",
    },
    "python.saved_model.signature_def_utils_impl": {
        "saved_model": """
            build_signature_def classification_signature_def is_valid_signature
            predict_signature_def regression_signature_def""",
    },
    "python.saved_model.simple_save": {
        "saved_model": "simple_save",
    },
    "python.saved_model.tag_constants": {
        "saved_model": "GPU SERVING TPU TRAINING",
    },
    "python.saved_model.utils": {
        "saved_model": "build_tensor_info get_tensor_from_tensor_info",
    },
    "python.saved_model.utils_impl": {
        "saved_model": "build_tensor_info get_tensor_from_tensor_info",
    },
    "python.summary.summary": {
        "": "Event SessionLog Summary",
        "summary": """
            FileWriter FileWriterCache SummaryDescription TaggedRunMetadata
            audio get_summary_description histogram image merge merge_all scalar
            tensor_summary text""",
    },
    "python.summary.summary_iterator": {
        "train": "summary_iterator",
    },
    "python.summary.writer.writer": {
        "summary": "FileWriter",
    },
    "python.summary.writer.writer_cache": {
        "summary": "FileWriter FileWriterCache",
    },
    "python.tools.freeze_graph": {
        "": "MetaGraphDef",
    },
    "python.training.adadelta": {
        "train": "AdadeltaOptimizer",
    },
    "python.training.adagrad": {
        "train": "AdagradOptimizer",
    },
    "python.training.adagrad_da": {
        "train": "AdagradDAOptimizer",
    },
    "python.training.adam": {
        "train": "AdamOptimizer",
    },
    "python.training.basic_loops": {
        "train": "basic_train_loop",
    },
    "python.training.basic_session_run_hooks": {
        "": "SessionLog Summary",
        "summary": "SummaryWriterCache=FileWriterCache",
        "train": """
            CheckpointSaverHook CheckpointSaverListener FeedFnHook FinalOpsHook
            GlobalStepWaiterHook LoggingTensorHook NanLossDuringTrainingError
            NanTensorHook ProfilerHook SecondOrStepTimer SessionRunArgs
            StepCounterHook StopAtStepHook SummarySaverHook""",
    },
    "python.training.checkpoint_management": {
        "train": """
            CheckpointManager checkpoint_exists generate_checkpoint_state_proto
            get_checkpoint_mtimes get_checkpoint_state latest_checkpoint
            remove_checkpoint update_checkpoint_state""",
    },
    "python.training.checkpoint_utils": {
        "train": """
            checkpoints_iterator init_from_checkpoint list_variables
            load_checkpoint load_variable""",
    },
    "python.training.coordinator": {
        "train": "Coordinator LooperThread",
    },
    "python.training.device_setter": {
        "train": "replica_device_setter",
    },
    "python.training.experimental.loss_scale": {
        "train.experimental": "DynamicLossScale FixedLossScale LossScale",
    },
    "python.training.experimental.loss_scale_optimizer": {
        "train.experimental": "MixedPrecisionLossScaleOptimizer",
    },
    "python.training.experimental.mixed_precision": {
        "train.experimental": """
            disable_mixed_precision_graph_rewrite_v1=disable_mixed_precision_graph_rewrite
            enable_mixed_precision_graph_rewrite_v1=enable_mixed_precision_graph_rewrite""",
    },
    "python.training.ftrl": {
        "train": "FtrlOptimizer",
    },
    "python.training.gradient_descent": {
        "train": "GradientDescentOptimizer",
    },
    "python.training.input": {
        "io": "match_filenames_once",
        "train": """
            batch batch_join input_producer limit_epochs maybe_batch
            maybe_batch_join maybe_shuffle_batch maybe_shuffle_batch_join
            range_input_producer shuffle_batch shuffle_batch_join
            slice_input_producer string_input_producer""",
    },
    "python.training.learning_rate_decay": {
        "train": """
            cosine_decay cosine_decay_restarts exponential_decay
            inverse_time_decay linear_cosine_decay natural_exp_decay
            noisy_linear_cosine_decay piecewise_constant polynomial_decay""",
    },
    "python.training.momentum": {
        "train": "MomentumOptimizer",
    },
    "python.training.monitored_session": {
        "train": """
            ChiefSessionCreator MonitoredSession MonitoredTrainingSession
            Scaffold SessionCreator SingularMonitoredSession
            WorkerSessionCreator""",
    },
    "python.training.moving_averages": {
        "train": "ExponentialMovingAverage",
    },
    "python.training.optimizer": {
        "train": "Optimizer",
    },
    "python.training.proximal_adagrad": {
        "train": "ProximalAdagradOptimizer",
    },
    "python.training.proximal_gradient_descent": {
        "train": "ProximalGradientDescentOptimizer",
    },
    "python.training.queue_runner": {
        "train": "QueueRunner add_queue_runner start_queue_runners",
    },
    "python.training.queue_runner_impl": {
        "train": "QueueRunner add_queue_runner start_queue_runners",
    },
    "python.training.rmsprop": {
        "train": "RMSPropOptimizer",
    },
    "python.training.saver": {
        "train": """
            Saver checkpoint_exists export_meta_graph
            generate_checkpoint_state_proto get_checkpoint_mtimes
            get_checkpoint_state import_meta_graph latest_checkpoint
            remove_checkpoint update_checkpoint_state""",
    },
    "python.training.server_lib": {
        "train": "ClusterSpec Server",
    },
    "python.training.session_manager": {
        "train": "SessionManager",
    },
    "python.training.session_run_hook": {
        "train": """
            SessionRunArgs SessionRunContext SessionRunHook SessionRunValues""",
    },
    "python.training.summary_io": {
        "summary": "SummaryWriterCache=FileWriterCache",
        "train": "summary_iterator",
    },
    "python.training.supervisor": {
        "": "SessionLog Summary",
        "train": "Supervisor",
    },
    "python.training.sync_replicas_optimizer": {
        "train": "SyncReplicasOptimizer",
    },
    "python.training.tracking.python_state": {
        "train.experimental": "PythonState",
    },
    "python.training.tracking.util": {
        "train": "CheckpointV1=Checkpoint",
    },
    "python.training.training": {
        "io": "match_filenames_once write_graph",
        "train": """
            AdadeltaOptimizer AdagradDAOptimizer AdagradOptimizer AdamOptimizer
            BytesList CheckpointSaverHook CheckpointSaverListener
            ChiefSessionCreator ClusterDef ClusterSpec Coordinator Example
            ExponentialMovingAverage Feature FeatureList FeatureLists Features
            FeedFnHook FinalOpsHook FloatList FtrlOptimizer GlobalStepWaiterHook
            GradientDescentOptimizer Int64List JobDef LoggingTensorHook
            LooperThread MomentumOptimizer MonitoredSession
            MonitoredTrainingSession NanLossDuringTrainingError NanTensorHook
            NewCheckpointReader Optimizer ProfilerHook ProximalAdagradOptimizer
            ProximalGradientDescentOptimizer QueueRunner RMSPropOptimizer Saver
            SaverDef Scaffold SecondOrStepTimer SequenceExample Server ServerDef
            SessionCreator SessionManager SessionRunArgs SessionRunContext
            SessionRunHook SessionRunValues SingularMonitoredSession
            StepCounterHook StopAtStepHook SummarySaverHook Supervisor
            SyncReplicasOptimizer VocabInfo WorkerSessionCreator
            add_queue_runner assert_global_step basic_train_loop batch
            batch_join checkpoint_exists cosine_decay cosine_decay_restarts
            create_global_step do_quantize_training_on_graphdef
            exponential_decay export_meta_graph generate_checkpoint_state_proto
            get_checkpoint_mtimes get_checkpoint_state get_global_step
            get_or_create_global_step global_step import_meta_graph
            init_from_checkpoint input_producer inverse_time_decay
            latest_checkpoint limit_epochs linear_cosine_decay list_variables
            load_checkpoint load_variable maybe_batch maybe_batch_join
            maybe_shuffle_batch maybe_shuffle_batch_join natural_exp_decay
            noisy_linear_cosine_decay piecewise_constant polynomial_decay
            range_input_producer replica_device_setter sdca_fprint
            sdca_optimizer sdca_shrink_l1 shuffle_batch shuffle_batch_join
            slice_input_producer start_queue_runners string_input_producer
            summary_iterator update_checkpoint_state warm_start""",
        "train.experimental": """
            MixedPrecisionLossScaleOptimizer PythonState
            enable_mixed_precision_graph_rewrite_v1=enable_mixed_precision_graph_rewrite""",
    },
    "python.training.training_util": {
        "io": "write_graph",
        "train": """
            assert_global_step create_global_step get_global_step
            get_or_create_global_step global_step""",
    },
    "python.training.warm_starting_util": {
        "train": "VocabInfo warm_start",
    },
    "python.user_ops.user_ops": {
        "user_ops": "my_fact",
    },
    "python.util.compat": {
        "compat": """
            as_bytes as_str as_str_any as_text bytes_or_text_types complex_types
            integral_types path_to_str real_types""",
    },
    "python.util.compat_internal": {
        "compat": "as_str_any",
    },
    "python.util.nest": {
        "contrib.framework.nest": "is_sequence",
        "nest": """
            assert_same_structure flatten is_nested map_structure
            pack_sequence_as""",
    },
}

OTHERS = """
    python.client.device_lib python.client.timeline python.data.experimental
    python.data.experimental.ops python.data.experimental.ops.batching
    python.data.experimental.ops.cardinality
    python.data.experimental.ops.counter python.data.experimental.ops.distribute
    python.data.experimental.ops.distribute_options
    python.data.experimental.ops.enumerate_ops
    python.data.experimental.ops.error_ops
    python.data.experimental.ops.get_single_element
    python.data.experimental.ops.grouping
    python.data.experimental.ops.interleave_ops
    python.data.experimental.ops.iterator_ops
    python.data.experimental.ops.optimization_options
    python.data.experimental.ops.parsing_ops
    python.data.experimental.ops.prefetching_ops
    python.data.experimental.ops.random_ops python.data.experimental.ops.readers
    python.data.experimental.ops.resampling
    python.data.experimental.ops.scan_ops
    python.data.experimental.ops.shuffle_ops
    python.data.experimental.ops.stats_aggregator
    python.data.experimental.ops.stats_ops
    python.data.experimental.ops.stats_options
    python.data.experimental.ops.take_while_ops
    python.data.experimental.ops.threading_options
    python.data.experimental.ops.unique python.data.experimental.ops.writers
    python.data.ops python.data.ops.multi_device_iterator_ops python.data.util
    python.data.util.convert python.data.util.nest python.data.util.options
    python.data.util.random_seed python.data.util.sparse
    python.data.util.structure python.data.util.traverse python.eager.backprop
    python.eager.core python.eager.def_function python.eager.execute
    python.eager.execution_callbacks python.eager.executor python.eager.function
    python.eager.graph_only_ops python.eager.imperative_grad
    python.eager.lift_to_graph python.eager.monitoring python.eager.profiler
    python.eager.remote python.eager.tape python.eager.wrap_function
    python.framework.auto_control_deps python.framework.c_api_util
    python.framework.common_shapes python.framework.composite_tensor
    python.framework.composite_tensor_utils python.framework.error_interpolation
    python.framework.fast_tensor_util python.framework.func_graph
    python.framework.function python.framework.function_def_to_graph
    python.framework.graph_to_function_def python.framework.kernels
    python.framework.meta_graph python.framework.op_callbacks
    python.framework.op_def_library python.framework.op_def_registry
    python.framework.registry python.framework.tensor_like
    python.framework.traceable_stack python.layers.utils python.lib.io
    python.module.module python.ops.array_grad python.ops.boosted_trees_ops
    python.ops.collective_ops python.ops.cond_v2 python.ops.control_flow_state
    python.ops.control_flow_util python.ops.control_flow_util_v2
    python.ops.control_flow_v2_func_graphs python.ops.cudnn_rnn_grad
    python.ops.data_flow_grad python.ops.default_gradient
    python.ops.distributions python.ops.distributions.bijector
    python.ops.distributions.bijector_impl
    python.ops.distributions.identity_bijector
    python.ops.distributions.special_math
    python.ops.distributions.transformed_distribution
    python.ops.distributions.util python.ops.gen_array_ops
    python.ops.gen_audio_ops python.ops.gen_batch_ops python.ops.gen_bitwise_ops
    python.ops.gen_boosted_trees_ops python.ops.gen_candidate_sampling_ops
    python.ops.gen_checkpoint_ops python.ops.gen_clustering_ops
    python.ops.gen_collective_ops python.ops.gen_control_flow_ops
    python.ops.gen_ctc_ops python.ops.gen_cudnn_rnn_ops
    python.ops.gen_data_flow_ops python.ops.gen_dataset_ops
    python.ops.gen_decode_proto_ops python.ops.gen_encode_proto_ops
    python.ops.gen_experimental_dataset_ops python.ops.gen_functional_ops
    python.ops.gen_image_ops python.ops.gen_io_ops python.ops.gen_linalg_ops
    python.ops.gen_list_ops python.ops.gen_logging_ops python.ops.gen_lookup_ops
    python.ops.gen_manip_ops python.ops.gen_math_ops python.ops.gen_nccl_ops
    python.ops.gen_nn_ops python.ops.gen_parsing_ops
    python.ops.gen_ragged_array_ops python.ops.gen_ragged_conversion_ops
    python.ops.gen_ragged_math_ops python.ops.gen_random_ops
    python.ops.gen_resource_variable_ops python.ops.gen_rnn_ops
    python.ops.gen_script_ops python.ops.gen_sdca_ops python.ops.gen_set_ops
    python.ops.gen_sparse_ops python.ops.gen_spectral_ops
    python.ops.gen_state_ops python.ops.gen_stateful_random_ops
    python.ops.gen_stateless_random_ops python.ops.gen_string_ops
    python.ops.gen_summary_ops python.ops.gen_tpu_ops python.ops.gen_user_ops
    python.ops.gradient_checker_v2 python.ops.image_grad python.ops.init_ops_v2
    python.ops.inplace_ops python.ops.linalg
    python.ops.linalg.adjoint_registrations
    python.ops.linalg.cholesky_registrations
    python.ops.linalg.inverse_registrations
    python.ops.linalg.matmul_registrations python.ops.linalg.registrations_util
    python.ops.linalg.solve_registrations python.ops.linalg_grad
    python.ops.linalg_ops_impl python.ops.list_ops python.ops.losses
    python.ops.losses.loss_reduction python.ops.manip_grad python.ops.math_grad
    python.ops.nccl_ops python.ops.nn_grad python.ops.op_selector
    python.ops.optional_grad python.ops.parallel_for
    python.ops.parallel_for.gradients python.ops.parallel_for.pfor
    python.ops.ragged python.ops.ragged.ragged_batch_gather_ops
    python.ops.ragged.ragged_batch_gather_with_default_op
    python.ops.ragged.ragged_config python.ops.ragged.ragged_conversion_ops
    python.ops.ragged.ragged_dispatch python.ops.ragged.ragged_gather_ops
    python.ops.ragged.ragged_getitem python.ops.ragged.ragged_map_ops
    python.ops.ragged.ragged_operators python.ops.ragged.ragged_tensor_shape
    python.ops.ragged.ragged_util python.ops.ragged.ragged_where_op
    python.ops.random_grad python.ops.resources python.ops.rnn_cell_wrapper_impl
    python.ops.rnn_grad python.ops.signal python.ops.signal.util_ops
    python.ops.sparse_grad python.ops.standard_ops python.ops.state_grad
    python.ops.summary_op_util python.ops.tensor_array_grad
    python.ops.weights_broadcast_ops python.platform.build_info
    python.platform.remote_utils python.platform.self_check
    python.profiler.internal python.profiler.internal.flops_registry
    python.profiler.profile_context python.saved_model.function_deserialization
    python.saved_model.function_serialization python.saved_model.load_v1_in_v2
    python.saved_model.model_utils python.saved_model.model_utils.export_output
    python.saved_model.model_utils.export_utils
    python.saved_model.model_utils.mode_keys
    python.saved_model.nested_structure_coder python.saved_model.revived_types
    python.saved_model.signature_serialization python.summary.plugin_asset
    python.summary.writer python.summary.writer.event_file_writer
    python.summary.writer.event_file_writer_v2 python.tools.inspect_checkpoint
    python.tools.module_util python.tools.saved_model_utils
    python.training.checkpoint_ops python.training.evaluation
    python.training.experimental
    python.training.experimental.mixed_precision_global_state
    python.training.gen_training_ops python.training.saving
    python.training.saving.functional_saver
    python.training.saving.saveable_object
    python.training.saving.saveable_object_util python.training.slot_creator
    python.training.tracking python.training.tracking.base
    python.training.tracking.data_structures python.training.tracking.graph_view
    python.training.tracking.layer_utils python.training.tracking.tracking
    python.training.training_ops python.util.all_util
    python.util.decorator_utils python.util.deprecation
    python.util.deprecation_wrapper python.util.dispatch
    python.util.function_utils python.util.is_in_graph_mode
    python.util.lazy_loader python.util.lock_util python.util.memory
    python.util.module_wrapper python.util.object_identity python.util.protobuf
    python.util.protobuf.compare python.util.serialization
    python.util.tf_contextlib python.util.tf_decorator python.util.tf_export
    python.util.tf_inspect python.util.tf_should_use python.util.tf_stack""".split()
