"""The public names of TensorFlow 1.15, by namespace; of tf.contrib, its parts and
the names in them that programs use. By these an AttributeError tells what is
not supported yet from what never was there.
"""

NAMES = {
    "": """
        AUTO_REUSE AggregationMethod Assert AttrValue COMPILER_VERSION CXX11_ABI_FLAG
        ConditionalAccumulator ConditionalAccumulatorBase ConfigProto CriticalSection DType
        DeviceSpec Dimension Event FIFOQueue FixedLenFeature FixedLenSequenceFeature
        FixedLengthRecordReader GIT_VERSION GPUOptions GRAPH_DEF_VERSION
        GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER GradientTape Graph GraphDef
        GraphKeys GraphOptions HistogramProto IdentityReader IndexedSlices IndexedSlicesSpec
        InteractiveSession LMDBReader LogMessage MONOLITHIC_BUILD MetaGraphDef Module NameAttrList
        NoGradient NodeDef NotDifferentiable OpError Operation OptimizerOptions OptionalSpec
        PaddingFIFOQueue Print PriorityQueue QUANTIZED_DTYPES QueueBase RaggedTensor
        RaggedTensorSpec RandomShuffleQueue ReaderBase RegisterGradient RunMetadata RunOptions
        Session SessionLog SparseConditionalAccumulator SparseFeature SparseTensor SparseTensorSpec
        SparseTensorValue Summary SummaryMetadata TFRecordReader Tensor TensorArray TensorArraySpec
        TensorInfo TensorShape TensorSpec TextLineReader TypeSpec UnconnectedGradients VERSION
        VarLenFeature Variable VariableAggregation VariableScope VariableSynchronization
        WholeFileReader abs accumulate_n acos acosh add add_check_numerics_ops add_n
        add_to_collection add_to_collections all_variables angle app arg_max arg_min argmax argmin
        argsort as_dtype as_string asin asinh assert_equal assert_greater assert_greater_equal
        assert_integer assert_less assert_less_equal assert_near assert_negative
        assert_non_negative assert_non_positive assert_none_equal assert_positive
        assert_proper_iterable assert_rank assert_rank_at_least assert_rank_in
        assert_same_float_dtype assert_scalar assert_type assert_variables_initialized assign
        assign_add assign_sub atan atan2 atanh audio autograph batch_gather batch_scatter_update
        batch_to_space batch_to_space_nd betainc bfloat16 bincount bitcast bitwise bool
        boolean_mask broadcast_dynamic_shape broadcast_static_shape broadcast_to case cast ceil
        check_numerics cholesky cholesky_solve clip_by_average_norm clip_by_global_norm
        clip_by_norm clip_by_value colocate_with compat complex complex128 complex64 concat cond
        config confusion_matrix conj constant constant_initializer container contrib
        control_dependencies control_flow_v2_enabled convert_to_tensor
        convert_to_tensor_or_indexed_slices convert_to_tensor_or_sparse_tensor cos cosh
        count_nonzero count_up_to create_partitioned_variables cross cumprod cumsum custom_gradient
        data debugging decode_base64 decode_compressed decode_csv decode_json_example decode_raw
        delete_session_tensor depth_to_space dequantize deserialize_many_sparse device diag
        diag_part digamma dimension_at_index dimension_value disable_control_flow_v2
        disable_eager_execution disable_resource_variables disable_tensor_equality
        disable_v2_behavior disable_v2_tensorshape distribute distributions div div_no_nan divide
        double dtypes dynamic_partition dynamic_stitch edit_distance einsum enable_control_flow_v2
        enable_eager_execution enable_resource_variables enable_tensor_equality enable_v2_behavior
        enable_v2_tensorshape encode_base64 ensure_shape equal erf erfc errors estimator examples
        executing_eagerly exp expand_dims experimental expm1 extract_image_patches
        extract_volume_patches eye fake_quant_with_min_max_args
        fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars
        fake_quant_with_min_max_vars_gradient fake_quant_with_min_max_vars_per_channel
        fake_quant_with_min_max_vars_per_channel_gradient feature_column fft fft2d fft3d fill
        fingerprint fixed_size_partitioner flags float16 float32 float64 floor floor_div floordiv
        floormod foldl foldr function gather gather_nd get_collection get_collection_ref
        get_default_graph get_default_session get_local_variable get_logger get_seed
        get_session_handle get_session_tensor get_static_value get_variable get_variable_scope
        gfile global_norm global_variables global_variables_initializer glorot_normal_initializer
        glorot_uniform_initializer grad_pass_through gradients graph_util greater greater_equal
        group guarantee_const half hessians histogram_fixed_width histogram_fixed_width_bins
        identity identity_n ifft ifft2d ifft3d igamma igammac imag image import_graph_def
        init_scope initialize_all_tables initialize_all_variables initialize_local_variables
        initialize_variables initializers int16 int32 int64 int8 invert_permutation io is_finite
        is_inf is_nan is_non_decreasing is_numeric_tensor is_strictly_increasing is_tensor
        is_variable_initialized keras layers lbeta less less_equal lgamma lin_space linalg linspace
        lite load_file_system_library load_library load_op_library local_variables
        local_variables_initializer log log1p log_sigmoid logging logical_and logical_not
        logical_or logical_xor lookup losses make_ndarray make_template make_tensor_proto manip
        map_fn matching_files math matmul matrix_band_part matrix_determinant matrix_diag
        matrix_diag_part matrix_inverse matrix_set_diag matrix_solve matrix_solve_ls
        matrix_square_root matrix_transpose matrix_triangular_solve maximum meshgrid metrics
        min_max_variable_partitioner minimum mod model_variables moving_average_variables
        multinomial multiply name_scope negative nest newaxis nn no_gradient no_op no_regularizer
        nondifferentiable_batch_function norm not_equal numpy_function one_hot ones
        ones_initializer ones_like op_scope orthogonal_initializer pad parallel_stack parse_example
        parse_single_example parse_single_sequence_example parse_tensor placeholder
        placeholder_with_default polygamma pow print profiler py_func py_function python_io qint16
        qint32 qint8 qr quantization quantize quantize_v2 quantized_concat queue quint16 quint8
        ragged random random_crop random_gamma random_normal random_normal_initializer
        random_poisson random_shuffle random_uniform random_uniform_initializer range rank raw_ops
        read_file real realdiv reciprocal recompute_grad reduce_all reduce_any reduce_join
        reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum regex_replace
        register_tensor_conversion_function repeat report_uninitialized_variables
        required_space_to_batch_paddings reset_default_graph reshape resource resource_loader
        resource_variables_enabled reverse reverse_sequence reverse_v2 rint roll round rsqrt
        saturate_cast saved_model scalar_mul scan scatter_add scatter_div scatter_max scatter_min
        scatter_mul scatter_nd scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub
        scatter_update searchsorted segment_max segment_mean segment_min segment_prod segment_sum
        self_adjoint_eig self_adjoint_eigvals sequence_mask serialize_many_sparse serialize_sparse
        serialize_tensor set_random_seed setdiff1d sets shape shape_n sigmoid sign signal sin sinh
        size slice sort space_to_batch space_to_batch_nd space_to_depth sparse sparse_add
        sparse_concat sparse_fill_empty_rows sparse_mask sparse_matmul sparse_maximum sparse_merge
        sparse_minimum sparse_placeholder sparse_reduce_max sparse_reduce_max_sparse
        sparse_reduce_sum sparse_reduce_sum_sparse sparse_reorder sparse_reset_shape sparse_reshape
        sparse_retain sparse_segment_mean sparse_segment_sqrt_n sparse_segment_sum sparse_slice
        sparse_softmax sparse_split sparse_tensor_dense_matmul sparse_tensor_to_dense
        sparse_to_dense sparse_to_indicator sparse_transpose spectral split sqrt square
        squared_difference squeeze stack stop_gradient strided_slice string string_join
        string_split string_strip string_to_hash_bucket string_to_hash_bucket_fast
        string_to_hash_bucket_strong string_to_number strings substr subtract summary svd
        switch_case sysconfig tables_initializer tan tanh tensor_scatter_add tensor_scatter_nd_add
        tensor_scatter_nd_sub tensor_scatter_nd_update tensor_scatter_sub tensor_scatter_update
        tensordot test tile timestamp to_bfloat16 to_complex128 to_complex64 to_double to_float
        to_int32 to_int64 tpu trace train trainable_variables transpose truediv truncated_normal
        truncated_normal_initializer truncatediv truncatemod tuple uint16 uint32 uint64 uint8
        uniform_unit_scaling_initializer unique unique_with_counts unravel_index
        unsorted_segment_max unsorted_segment_mean unsorted_segment_min unsorted_segment_prod
        unsorted_segment_sqrt_n unsorted_segment_sum unstack user_ops
        variable_axis_size_partitioner variable_creator_scope variable_op_scope variable_scope
        variables_initializer variance_scaling_initializer variant vectorized_map
        verify_tensor_all_finite version where where_v2 while_loop wrap_function write_file xla
        zeros zeros_initializer zeros_like zeta""",
    "app": "flags run",
    "audio": "decode_wav encode_wav",
    "autograph": "experimental set_verbosity to_code to_graph trace",
    "autograph.experimental": "Feature do_not_convert set_loop_options",
    "bitwise": "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift",
    "compat": """
        as_bytes as_str as_str_any as_text bytes_or_text_types complex_types dimension_at_index
        dimension_value forward_compatibility_horizon forward_compatible integral_types path_to_str
        real_types v1 v2""",
    "config": """
        experimental experimental_connect_to_cluster experimental_connect_to_host
        experimental_list_devices experimental_run_functions_eagerly get_soft_device_placement
        optimizer set_soft_device_placement threading""",
    "config.experimental": """
        VirtualDeviceConfiguration get_device_policy get_memory_growth get_synchronous_execution
        get_virtual_device_configuration get_visible_devices list_logical_devices
        list_physical_devices set_device_policy set_memory_growth set_synchronous_execution
        set_virtual_device_configuration set_visible_devices""",
    "config.optimizer": "get_experimental_options get_jit set_experimental_options set_jit",
    "config.threading": """
        get_inter_op_parallelism_threads get_intra_op_parallelism_threads
        set_inter_op_parallelism_threads set_intra_op_parallelism_threads""",
    "contrib": """
        autograph batching bayesflow boosted_trees checkpoint cloud cluster_resolver compiler
        constrained_optimization copy_graph crf cudnn_rnn data deprecated distribute distributions
        eager estimator factorization feature_column ffmpeg framework graph_editor grid_rnn image
        input_pipeline integrate keras kernel_methods labeled_tensor layers learn legacy_seq2seq
        linear_optimizer lookup losses memory_stats metrics mixed_precision model_pruning nn opt
        optimizer_v2 periodic_resample predictor proto quantization quantize receptive_field
        recurrent reduce_slice_ops remote_fused_graph resampler rnn rpc saved_model seq2seq signal
        slim solvers sparsemax specs staging stat_summarizer stateless summary tensor_forest
        tensorboard testing tfprof timeseries tpu training util""",
    "contrib.autograph": """
        AutoGraphError ConversionOptions Feature StackTraceMapper convert converted_call
        do_not_convert operators set_element_type set_loop_options stack to_code to_graph utils""",
    "contrib.checkpoint": """
        CheckpointManager Checkpointable CheckpointableBase CheckpointableObjectGraph List
        Mapping NoDependency NumpyState PythonStateWrapper UniqueNameTracker capture_dependencies
        dot_graph_from_checkpoint list_objects object_metadata split_dependency""",
    "contrib.cluster_resolver": """
        ClusterResolver GCEClusterResolver KubernetesClusterResolver SimpleClusterResolver
        SlurmClusterResolver TFConfigClusterResolver TPUClusterResolver UnionClusterResolver""",
    "contrib.crf": """
        CrfDecodeBackwardRnnCell CrfDecodeForwardRnnCell CrfForwardRnnCell crf_binary_score
        crf_decode crf_log_likelihood crf_log_norm crf_multitag_sequence_score crf_sequence_score
        crf_unary_score viterbi_decode""",
    "contrib.data": """
        AUTOTUNE CheckpointInputPipelineHook Counter CsvDataset LMDBDataset Optional RandomDataset
        Reducer SqlDataset TFRecordWriter assert_element_shape batch_and_drop_remainder
        bucket_by_sequence_length choose_from_datasets copy_to_device dense_to_sparse_batch
        enumerate_dataset get_next_as_optional get_single_element group_by_reducer group_by_window
        ignore_errors make_batched_features_dataset make_csv_dataset make_saveable_from_iterator
        map_and_batch padded_batch_and_drop_remainder parallel_interleave parse_example_dataset
        prefetch_to_device read_batch_features reduce_dataset rejection_resample
        sample_from_datasets scan shuffle_and_repeat sliding_window_batch sloppy_interleave unbatch
        unique""",
    "contrib.cudnn_rnn": """
        CudnnCompatibleGRUCell CudnnCompatibleLSTMCell CudnnGRU CudnnGRUSaveable CudnnLSTM
        CudnnLSTMSaveable CudnnParamsFormatConverterGRU CudnnParamsFormatConverterLSTM
        CudnnParamsFormatConverterRelu CudnnParamsFormatConverterTanh CudnnRNNRelu
        CudnnRNNReluSaveable CudnnRNNTanh CudnnRNNTanhSaveable""",
    "contrib.deprecated": """
        audio_summary histogram_summary image_summary merge_all_summaries merge_summary
        scalar_summary""",
    "contrib.distribute": """
        AllReduceCrossDeviceOps CollectiveAllReduceStrategy CrossDeviceOps DistributeConfig
        DistributionStrategy MirroredStrategy Monitor MultiWorkerAllReduce OneDeviceStrategy
        ParameterServerStrategy ReplicaContext StandardInputStep StandardSingleLossStep Step
        TPUStrategy UpdateContext get_cross_replica_context get_distribution_strategy
        get_loss_reduction get_replica_context get_strategy has_distribution_strategy has_strategy
        in_cross_replica_context initialize_tpu_system require_replica_context
        run_standard_tensorflow_server""",
    "contrib.distributions": """
        Autoregressive BatchReshape Bernoulli Beta BetaWithSoftplusConcentration Binomial
        Categorical Cauchy Chi2 Chi2WithAbsDf ConditionalDistribution
        ConditionalTransformedDistribution Deterministic Dirichlet DirichletMultinomial
        Distribution ExpRelaxedOneHotCategorical Exponential ExponentialWithSoftplusRate
        FULLY_REPARAMETERIZED Gamma GammaWithSoftplusConcentrationRate Geometric HalfNormal
        Independent InverseGamma InverseGammaWithSoftplusConcentrationRate Kumaraswamy Laplace
        LaplaceWithSoftplusScale Logistic Mixture MixtureSameFamily Multinomial
        MultivariateNormalDiag MultivariateNormalDiagPlusLowRank
        MultivariateNormalDiagWithSoftplusScale MultivariateNormalFullCovariance
        MultivariateNormalTriL NOT_REPARAMETERIZED NegativeBinomial Normal NormalWithSoftplusScale
        OneHotCategorical Poisson PoissonLogNormalQuadratureCompound QuantizedDistribution
        RegisterKL RelaxedBernoulli RelaxedOneHotCategorical ReparameterizationType SeedStream
        SinhArcsinh StudentT StudentTWithAbsDfSoftplusScale TransformedDistribution Uniform
        VectorDeterministic VectorDiffeomixture VectorExponentialDiag VectorLaplaceDiag
        VectorSinhArcsinhDiag WishartCholesky WishartFull assign_log_moving_mean_exp
        assign_moving_mean_variance auto_correlation bijectors
        estimator_head_distribution_regression
        fill_triangular fill_triangular_inverse kl_divergence matrix_diag_transform
        moving_mean_variance normal_conjugates_known_scale_posterior
        normal_conjugates_known_scale_predictive percentile
        quadrature_scheme_lognormal_gauss_hermite quadrature_scheme_lognormal_quantiles
        quadrature_scheme_softmaxnormal_gauss_hermite quadrature_scheme_softmaxnormal_quantiles
        reduce_weighted_logsumexp softplus_inverse tridiag""",
    "contrib.distributions.bijectors": """
        AbsoluteValue Affine AffineLinearOperator AffineScalar BatchNormalization Bijector Chain
        CholeskyOuterProduct ConditionalBijector Exp FillTriangular Gumbel Identity Inline Invert
        Kumaraswamy MaskedAutoregressiveFlow MatrixInverseTriL Ordered Permute PowerTransform
        RealNVP Reshape ScaleTriL Sigmoid SinhArcsinh SoftmaxCentered Softplus Softsign Square
        TransformDiagonal masked_autoregressive_default_template masked_dense
        real_nvp_default_template""",
    "contrib.eager": """
        ASYNC Checkpoint Checkpointable DEVICE_PLACEMENT_EXPLICIT DEVICE_PLACEMENT_SILENT
        DEVICE_PLACEMENT_WARN EagerVariableStore ExecutionCallback GradientTape Iterator Network
        SYNC Saver Sequential TensorSpec Variable add_execution_callback async_clear_error
        async_wait clear_execution_callbacks connect_to_remote_host custom_gradient defun
        enable_eager_execution enable_remote_eager_execution errstate executing_eagerly
        execution_mode function get_optimizer_variables gradients_function implicit_gradients
        implicit_value_and_gradients in_eager_mode inf_callback inf_nan_callback list_devices
        make_template nan_callback num_gpus py_func restore_network_checkpoint
        restore_variables_on_create run run_all_tests_in_graph_and_eager_modes
        run_test_in_graph_and_eager_modes save_network_checkpoint set_execution_mode set_server_def
        seterr value_and_gradients_function""",
    "contrib.factorization": """
        COSINE_DISTANCE GMM GmmAlgorithm KMEANS_PLUS_PLUS_INIT KMeans KMeansClustering RANDOM_INIT
        SQUARED_EUCLIDEAN_DISTANCE WALSMatrixFactorization WALSModel gmm""",
    "contrib.estimator": """
        DNNClassifierWithLayerAnnotations DNNRegressorWithLayerAnnotations RNNClassifier
        RNNEstimator SavedModelEstimator TowerOptimizer add_metrics binary_classification_head
        boosted_trees_classifier_train_in_memory boosted_trees_regressor_train_in_memory
        build_raw_supervised_input_receiver_fn build_supervised_input_receiver_fn_from_input_fn
        call_logit_fn clip_gradients_by_norm dnn_logit_fn_builder export_all_saved_models
        export_saved_model_for_mode forward_features linear_logit_fn_builder
        logistic_regression_head multi_class_head multi_head multi_label_head
        poisson_regression_head regression_head replicate_model_fn""",
    "contrib.feature_column": """
        sequence_categorical_column_with_hash_bucket sequence_categorical_column_with_identity
        sequence_categorical_column_with_vocabulary_file
        sequence_categorical_column_with_vocabulary_list sequence_input_layer
        sequence_numeric_column""",
    "contrib.framework": """
        BoundedTensorSpec RecordInput TensorSpec VariableDeviceChooser add_arg_scope
        add_model_variable arg_scope arg_scoped_arguments argsort assert_global_step
        assert_or_get_global_step assert_same_float_dtype assert_scalar assert_scalar_int
        assign_from_checkpoint assign_from_checkpoint_fn assign_from_values assign_from_values_fn
        convert_to_tensor_or_sparse_tensor convolutional_delta_orthogonal
        convolutional_orthogonal_1d convolutional_orthogonal_2d convolutional_orthogonal_3d
        create_global_step current_arg_scope deprecated deprecated_arg_values deprecated_args
        filter_variables fuse_op get_global_step get_graph_from_inputs get_local_variables
        get_model_variables get_name_scope get_or_create_global_step get_placeholders
        get_trainable_variables get_unique_variable get_variable_full_name get_variables
        get_variables_by_name get_variables_by_suffix get_variables_to_restore global_variable
        has_arg_scope init_from_checkpoint is_tensor list_variables
        load_and_remap_matrix_initializer load_checkpoint load_embedding_initializer
        load_linear_multiclass_bias_initializer load_variable load_variable_slot_initializer
        local_variable model_variable nest prepend_name_scope py_func reduce_sum_n
        remove_squeezable_dimensions smart_case smart_cond smart_constant_value sort
        strip_name_scope variable with_same_shape with_shape zero_initializer""",
    "contrib.framework.nest": """
        assert_same_structure assert_shallow_structure flatten flatten_dict_items flatten_up_to
        flatten_with_joined_string_paths flatten_with_tuple_paths flatten_with_tuple_paths_up_to
        get_traverse_shallow_structure is_nested is_sequence is_sequence_or_composite map_structure
        map_structure_up_to map_structure_with_paths map_structure_with_tuple_paths
        map_structure_with_tuple_paths_up_to pack_sequence_as yield_flat_paths""",
    "contrib.graph_editor": """
        ControlOutputs SubGraphView Transformer TransformerInfo add_control_inputs
        assign_renamed_collections_handler bypass can_be_regex check_cios compute_boundary_ts
        connect copy copy_op_handler copy_with_input_replacements detach detach_control_inputs
        detach_control_outputs detach_inputs detach_outputs filter_ops filter_ops_from_regex
        filter_ts filter_ts_from_regex get_backward_walk_ops get_consuming_ops
        get_forward_walk_ops get_generating_ops get_name_scope_ops get_ops_ios get_tensors
        get_walks_intersection_ops get_walks_union_ops get_within_boundary_ops graph_replace
        keep_t_if_possible_handler make_list_of_op make_list_of_t
        make_placeholder_from_dtype_and_shape make_placeholder_from_tensor make_regex make_view
        make_view_from_scope ph placeholder_name remove_control_inputs
        replace_t_with_placeholder_handler reroute_inputs reroute_ios reroute_outputs reroute_ts
        select_ops select_ops_and_ts select_ts sgv sgv_scope swap_inputs swap_ios swap_outputs
        swap_ts transform_op_if_inside_handler""",
    "contrib.image": """
        angles_to_projective_transforms bipartite_match compose_transforms connected_components
        dense_image_warp flat_transforms_to_matrices interpolate_spline matrices_to_flat_transforms
        rotate single_image_random_dot_stereograms sparse_image_warp transform translate
        translations_to_projective_transforms""",
    "contrib.integrate": "odeint odeint_fixed",
    "contrib.kernel_methods": """
        KernelLinearClassifier RandomFourierFeatureMapper sparse_multiclass_hinge_loss""",
    "contrib.layers": """
        GDN OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES RevBlock SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
        apply_regularization avg_pool2d avg_pool3d batch_norm bias_add bow_encoder
        bucketized_column check_feature_columns conv1d conv2d conv2d_in_plane conv2d_transpose
        conv3d conv3d_transpose convolution convolution1d convolution2d convolution2d_in_plane
        convolution2d_transpose convolution3d convolution3d_transpose
        create_feature_spec_for_parsing crossed_column dense_to_sparse dropout elu embed_sequence
        embedding_column embedding_lookup_unique flatten fully_connected gdn group_norm
        images_to_sequence infer_real_valued_columns input_from_feature_columns instance_norm
        joint_weighted_sum_from_feature_columns l1_l2_regularizer l1_regularizer l2_regularizer
        layer_norm legacy_fully_connected legacy_linear legacy_relu linear
        make_place_holder_tensors_for_base_features max_pool2d max_pool3d maxout multi_class_target
        one_hot_column one_hot_encoding optimize_loss parse_feature_columns_from_examples
        parse_feature_columns_from_sequence_examples real_valued_column recompute_grad
        regression_target relu relu6 repeat rev_block safe_embedding_lookup_sparse scale_gradient
        scattered_embedding_column separable_conv2d separable_convolution2d
        sequence_input_from_feature_columns sequence_to_images shared_embedding_columns softmax
        sparse_column_with_hash_bucket sparse_column_with_integerized_feature
        sparse_column_with_keys sparse_column_with_vocabulary_file spatial_softmax stack
        sum_regularizer summarize_activation summarize_activations summarize_collection
        summarize_tensor summarize_tensors transform_features unit_norm
        variance_scaling_initializer weighted_sparse_column weighted_sum_from_feature_columns
        xavier_initializer xavier_initializer_conv2d""",
    "contrib.learn": """
        BaseEstimator DNNClassifier DNNEstimator DNNLinearCombinedClassifier
        DNNLinearCombinedEstimator DNNLinearCombinedRegressor DNNRegressor DynamicRnnEstimator
        Estimator Evaluable Experiment ExportStrategy Head InputFnOps KMeansClustering
        LinearClassifier LinearEstimator LinearRegressor LogisticRegressor MetricSpec ModeKeys
        ModelFnOps NanLossDuringTrainingError NotFittedError PredictionKey ProblemType RunConfig
        SKCompat SVM TaskType Trainable binary_svm_head build_parsing_serving_input_fn datasets
        evaluate extract_dask_data extract_dask_labels extract_pandas_data extract_pandas_labels
        extract_pandas_matrix infer infer_real_valued_columns_from_input
        infer_real_valued_columns_from_input_fn make_export_strategy monitors multi_class_head
        multi_head multi_label_head no_op_train_fn poisson_regression_head preprocessing
        read_batch_examples read_batch_features read_batch_record_features
        read_keyed_batch_examples read_keyed_batch_examples_shared_queue read_keyed_batch_features
        read_keyed_batch_features_shared_queue regression_head run_feeds run_n train""",
    "contrib.learn.datasets": "base load_dataset mnist",
    "contrib.learn.datasets.base": """
        Dataset Datasets load_boston load_csv_with_header load_csv_without_header load_iris
        maybe_download shrink_csv""",
    "contrib.learn.datasets.mnist": """
        DataSet dense_to_one_hot extract_images extract_labels fake load_mnist read_data_sets""",
    "contrib.learn.monitors": """
        BaseMonitor CaptureVariable CheckpointSaver EveryN ExportMonitor GraphDump
        LoggingTrainable NanLoss PrintTensor RunHookAdapterForMonitors StepCounter StopAtStep
        SummarySaver SummaryWriterCache ValidationMonitor get_default_monitors
        replace_monitors_with_hooks""",
    "contrib.learn.preprocessing": """
        ByteProcessor CategoricalProcessor CategoricalVocabulary VocabularyProcessor tokenizer""",
    "contrib.legacy_seq2seq": """
        attention_decoder basic_rnn_seq2seq embedding_attention_decoder embedding_attention_seq2seq
        embedding_rnn_decoder embedding_rnn_seq2seq embedding_tied_rnn_seq2seq model_with_buckets
        one2many_rnn_seq2seq rnn_decoder sequence_loss sequence_loss_by_example tied_rnn_seq2seq""",
    "contrib.lookup": """
        FastHashSpec HashTable HasherSpec IdTableWithHashBuckets InitializableLookupTableBase
        KeyValueTensorInitializer LookupInterface MutableDenseHashTable MutableHashTable
        StrongHashSpec TableInitializerBase TextFileIdTableInitializer TextFileIndex
        TextFileInitializer TextFileStringTableInitializer index_table_from_file
        index_table_from_tensor index_to_string index_to_string_table_from_file
        index_to_string_table_from_tensor string_to_index string_to_index_table_from_file
        string_to_index_table_from_tensor""",
    "contrib.losses": """
        absolute_difference add_loss compute_weighted_loss cosine_distance get_losses
        get_regularization_losses get_total_loss hinge_loss log_loss mean_pairwise_squared_error
        mean_squared_error sigmoid_cross_entropy softmax_cross_entropy sparse_softmax_cross_entropy""",
    "contrib.metrics": """
        accuracy aggregate_metric_map aggregate_metrics auc_using_histogram
        auc_with_confidence_intervals cohen_kappa confusion_matrix count f1_score
        precision_at_recall precision_recall_at_equal_thresholds recall_at_precision set_difference
        set_intersection set_size set_union sparse_recall_at_top_k streaming_accuracy streaming_auc
        streaming_concat streaming_covariance streaming_curve_points streaming_dynamic_auc
        streaming_false_negative_rate streaming_false_negative_rate_at_thresholds
        streaming_false_negatives streaming_false_negatives_at_thresholds
        streaming_false_positive_rate streaming_false_positive_rate_at_thresholds
        streaming_false_positives streaming_false_positives_at_thresholds streaming_mean
        streaming_mean_absolute_error streaming_mean_cosine_distance streaming_mean_iou
        streaming_mean_relative_error streaming_mean_squared_error streaming_mean_tensor
        streaming_pearson_correlation streaming_percentage_less streaming_precision
        streaming_precision_at_thresholds streaming_recall streaming_recall_at_k
        streaming_recall_at_thresholds streaming_root_mean_squared_error
        streaming_sensitivity_at_specificity streaming_sparse_average_precision_at_k
        streaming_sparse_average_precision_at_top_k streaming_sparse_precision_at_k
        streaming_sparse_precision_at_top_k streaming_sparse_recall_at_k
        streaming_specificity_at_sensitivity streaming_true_negatives
        streaming_true_negatives_at_thresholds streaming_true_positives
        streaming_true_positives_at_thresholds""",
    "contrib.mixed_precision": """
        ExponentialUpdateLossScaleManager FixedLossScaleManager LossScaleManager
        LossScaleOptimizer""",
    "contrib.model_pruning": """
        MaskedBasicLSTMCell MaskedLSTMCell Pruning apply_mask get_masked_weights get_masks
        get_pruning_hparams get_thresholds get_weight_sparsity get_weights
        graph_def_from_checkpoint masked_conv2d masked_convolution masked_fully_connected
        strip_pruning_vars_fn train""",
    "contrib.nn": """
        alpha_dropout conv1d_transpose deprecated_flipped_sigmoid_cross_entropy_with_logits
        deprecated_flipped_softmax_cross_entropy_with_logits
        deprecated_flipped_sparse_softmax_cross_entropy_with_logits nth_element
        rank_sampled_softmax_loss sampled_sparse_softmax_loss scaled_softplus""",
    "contrib.opt": """
        AGNCustomGetter AGNOptimizer AdaMaxOptimizer AdamGSOptimizer AdamWOptimizer
        AddSignOptimizer DecoupledWeightDecayExtension DropStaleGradientOptimizer
        ElasticAverageCustomGetter ElasticAverageOptimizer ExternalOptimizerInterface GGTOptimizer
        LARSOptimizer LazyAdamGSOptimizer LazyAdamOptimizer ModelAverageCustomGetter
        ModelAverageOptimizer MomentumWOptimizer MovingAverageOptimizer MultitaskOptimizerWrapper
        NadamOptimizer PowerSignOptimizer RegAdagradOptimizer ScipyOptimizerInterface
        ShampooOptimizer VariableClippingOptimizer clip_gradients_by_global_norm
        extend_with_decoupled_weight_decay""",
    "contrib.predictor": """
        from_contrib_estimator from_estimator from_saved_model""",
    "contrib.quantize": """
        create_eval_graph create_training_graph experimental_create_eval_graph
        experimental_create_training_graph""",
    "contrib.resampler": "resampler",
    "contrib.rnn": """
        AttentionCellWrapper BasicLSTMCell BasicRNNCell BidirectionalGridLSTMCell CompiledWrapper
        Conv1DLSTMCell Conv2DLSTMCell Conv3DLSTMCell ConvLSTMCell CoupledInputForgetGateLSTMCell
        DeviceWrapper DropoutWrapper EmbeddingWrapper FusedRNNCell FusedRNNCellAdaptor GLSTMCell
        GRUBlockCell GRUBlockCellV2 GRUCell GridLSTMCell HighwayWrapper IndRNNCell IndyGRUCell
        IndyLSTMCell InputProjectionWrapper IntersectionRNNCell LSTMBlockCell LSTMBlockFusedCell
        LSTMBlockWrapper LSTMCell LSTMStateTuple LayerNormBasicLSTMCell LayerRNNCell MultiRNNCell
        NASCell OutputProjectionWrapper PhasedLSTMCell RNNCell ResidualWrapper SRUCell
        TimeFreqLSTMCell TimeReversedFusedRNN UGRNNCell best_effort_input_batch_size
        stack_bidirectional_dynamic_rnn stack_bidirectional_rnn static_bidirectional_rnn static_rnn
        static_state_saving_rnn transpose_batch_time""",
    "contrib.seq2seq": """
        AttentionMechanism AttentionWrapper AttentionWrapperState BahdanauAttention
        BahdanauMonotonicAttention BasicDecoder BasicDecoderOutput BeamSearchDecoder
        BeamSearchDecoderOutput BeamSearchDecoderState CustomHelper Decoder
        FinalBeamSearchDecoderOutput GreedyEmbeddingHelper Helper InferenceHelper LuongAttention
        LuongMonotonicAttention SampleEmbeddingHelper ScheduledEmbeddingTrainingHelper
        ScheduledOutputTrainingHelper TrainingHelper dynamic_decode gather_tree hardmax
        monotonic_attention safe_cumprod sequence_loss tile_batch""",
    "contrib.signal": """
        frame hamming_window hann_window inverse_stft inverse_stft_window_fn
        linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms overlap_and_add stft""",
    "contrib.slim": """
        DataFrameColumn GDN InputLayer OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES ProblemType RevBlock
        SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY VariableDeviceChooser adaptive_clipping_fn
        add_arg_scope add_model_variable apply_regularization arg_scope arg_scope_func_key
        arg_scoped_arguments assert_global_step assert_or_get_global_step assign_from_checkpoint
        assign_from_checkpoint_fn assign_from_values assign_from_values_fn avg_pool2d avg_pool3d
        batch_norm bias_add binary_svm_target bow_encoder bucketize bucketized_column
        check_feature_columns conv1d conv2d conv2d_in_plane conv2d_transpose conv3d
        conv3d_transpose convolution convolution1d convolution2d convolution2d_in_plane
        convolution2d_transpose convolution3d convolution3d_transpose
        create_feature_spec_for_parsing create_global_step crossed_column current_arg_scope
        data_decoder data_provider dataset dataset_data_provider dense_to_sparse deprecated
        deprecated_arg_values dropout elu embed_sequence embedding_column
        embedding_lookup_sparse_with_distributed_aggregation embedding_lookup_unique evaluation
        experimental filter_variables flatten fully_connected gdn
        get_default_binary_metrics_for_eval get_global_step get_local_variables get_model_variables
        get_or_create_global_step get_trainable_variables get_unique_variable
        get_variable_full_name get_variables get_variables_by_name get_variables_by_suffix
        get_variables_to_restore global_variable group_norm has_arg_scope images_to_sequence
        infer_real_valued_columns initializers input_from_feature_columns instance_norm
        joint_weighted_sum_from_feature_columns l1_l2_regularizer l1_regularizer l2_regularizer
        layer_norm learning legacy_fully_connected legacy_linear legacy_relu linear local_variable
        losses make_all make_place_holder_tensors_for_base_features max_pool2d max_pool3d maxout
        metrics model_analyzer model_variable multi_class_target one_hot_column one_hot_encoding
        optimize_loss parallel_reader parse_feature_columns_from_examples
        parse_feature_columns_from_sequence_examples pool prefetch_queue queues real_valued_column
        recompute_grad regression_target regularizers relu relu6 repeat rev_block
        safe_embedding_lookup_sparse scale_gradient scattered_embedding_column
        scattered_embedding_lookup scattered_embedding_lookup_sparse separable_conv2d
        separable_convolution2d sequence_input_from_feature_columns sequence_to_images
        shared_embedding_columns softmax sparse_column_with_hash_bucket
        sparse_column_with_integerized_feature sparse_column_with_keys
        sparse_column_with_vocabulary_file sparse_feature_cross spatial_softmax stack
        sum_regularizer summarize_activation summarize_activations summarize_biases
        summarize_collection summarize_tensor summarize_tensors summarize_variables
        summarize_weights tfexample_decoder transform_features unit_norm utils variable
        variance_scaling_initializer weighted_sparse_column weighted_sum_from_feature_columns
        xavier_initializer xavier_initializer_conv2d zero_initializer""",
    "contrib.slim.data_decoder": "DataDecoder",
    "contrib.slim.data_provider": "DataProvider",
    "contrib.slim.dataset": "Dataset",
    "contrib.slim.dataset_data_provider": "DatasetDataProvider",
    "contrib.slim.evaluation": """
        checkpoints_iterator evaluate_once evaluation_loop wait_for_new_checkpoint""",
    "contrib.slim.initializers": """
        variance_scaling_initializer xavier_initializer xavier_initializer_conv2d""",
    "contrib.slim.learning": """
        add_gradients_summaries clip_gradient_norms create_train_op multiply_gradients train
        train_step""",
    "contrib.slim.losses": """
        absolute_difference add_loss compute_weighted_loss cosine_distance get_losses
        get_regularization_losses get_total_loss hinge_loss log_loss mean_pairwise_squared_error
        mean_squared_error sigmoid_cross_entropy softmax_cross_entropy sparse_softmax_cross_entropy""",
    "contrib.slim.metrics": """
        accuracy aggregate_metric_map aggregate_metrics auc_using_histogram
        auc_with_confidence_intervals cohen_kappa confusion_matrix count f1_score
        precision_at_recall precision_recall_at_equal_thresholds recall_at_precision set_difference
        set_intersection set_size set_union sparse_recall_at_top_k streaming_accuracy streaming_auc
        streaming_concat streaming_covariance streaming_curve_points streaming_dynamic_auc
        streaming_false_negative_rate streaming_false_negative_rate_at_thresholds
        streaming_false_negatives streaming_false_negatives_at_thresholds
        streaming_false_positive_rate streaming_false_positive_rate_at_thresholds
        streaming_false_positives streaming_false_positives_at_thresholds streaming_mean
        streaming_mean_absolute_error streaming_mean_cosine_distance streaming_mean_iou
        streaming_mean_relative_error streaming_mean_squared_error streaming_mean_tensor
        streaming_pearson_correlation streaming_percentage_less streaming_precision
        streaming_precision_at_thresholds streaming_recall streaming_recall_at_k
        streaming_recall_at_thresholds streaming_root_mean_squared_error
        streaming_sensitivity_at_specificity streaming_sparse_average_precision_at_k
        streaming_sparse_average_precision_at_top_k streaming_sparse_precision_at_k
        streaming_sparse_precision_at_top_k streaming_sparse_recall_at_k
        streaming_specificity_at_sensitivity streaming_true_negatives
        streaming_true_negatives_at_thresholds streaming_true_positives
        streaming_true_positives_at_thresholds""",
    "contrib.slim.model_analyzer": "analyze_ops analyze_vars tensor_description",
    "contrib.slim.parallel_reader": "ParallelReader get_data_files parallel_read single_pass_read",
    "contrib.slim.prefetch_queue": "prefetch_queue",
    "contrib.slim.queues": "NestedQueueRunnerError QueueRunners",
    "contrib.slim.regularizers": """
        apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer sum_regularizer""",
    "contrib.slim.tfexample_decoder": """
        BackupHandler BoundingBox Image ItemHandler ItemHandlerCallback LookupTensor SparseTensor
        TFExampleDecoder Tensor""",
    "contrib.slim.utils": """
        NamedOutputs append_tensor_alias channel_dimension collect_named_outputs constant_value
        convert_collection_to_dict gather_tensors_aliases get_tensor_aliases
        get_variable_collections last_dimension n_positive_integers smart_cond static_cond
        two_element_tuple""",
    "contrib.sparsemax": "sparsemax sparsemax_loss",
    "contrib.staging": "StagingArea",
    "contrib.stateless": """
        stateless_multinomial stateless_random_normal stateless_random_uniform
        stateless_truncated_normal""",
    "contrib.summary": """
        SummaryWriter all_summary_ops always_record_summaries audio create_db_writer
        create_file_writer create_summary_file_writer eval_dir flush generic graph histogram image
        import_event initialize never_record_summaries record_summaries_every_n_global_steps scalar
        should_record_summaries summary_writer_initializer_op""",
    "contrib.tpu": """
        AsyncCheckpointSaverHook CrossShardOptimizer DeviceAssignment InfeedQueue
        InputPipelineConfig RunConfig TPUConfig TPUDistributionStrategy TPUEstimator
        TPUEstimatorSpec Topology batch_parallel bfloat16_scope core cross_replica_sum
        device_assignment export_estimator_savedmodel infeed_dequeue infeed_dequeue_tuple
        infeed_enqueue infeed_enqueue_tuple initialize_system keras_to_tpu_model outfeed_dequeue
        outfeed_dequeue_tuple outfeed_enqueue outfeed_enqueue_tuple outside_compilation repeat
        replicate rewrite shard shutdown_system while_loop""",
    "contrib.tfprof": "ProfileContext model_analyzer tfprof_logger",
    "contrib.training": """
        FeedingQueueRunner GreedyLoadBalancingStrategy HParams NextQueuedSequenceBatch
        RandomStrategy SequenceQueueingStateSaver StopAfterNEvalsHook SummaryAtEndHook
        add_gradients_summaries batch_sequences_with_states bucket bucket_by_sequence_length
        byte_size_load_fn checkpoints_iterator clip_gradient_norms clip_gradient_norms_fn
        create_train_op evaluate_once evaluate_repeatedly get_or_create_eval_step
        multiply_gradients parse_values rejection_sample resample_at_rate stratified_sample train
        wait_for_new_checkpoint weighted_resample""",
    "contrib.util": """
        constant_value make_ndarray make_tensor_proto ops_used_by_graph_def
        stripped_op_list_for_graph""",
    "data": """
        Dataset DatasetSpec FixedLengthRecordDataset Iterator Options TFRecordDataset
        TextLineDataset experimental get_output_classes get_output_shapes get_output_types
        make_initializable_iterator make_one_shot_iterator""",
    "data.experimental": """
        AUTOTUNE CheckpointInputPipelineHook Counter CsvDataset DatasetStructure DistributeOptions
        INFINITE_CARDINALITY MapVectorizationOptions OptimizationOptions Optional OptionalStructure
        RaggedTensorStructure RandomDataset Reducer SparseTensorStructure SqlDataset
        StatsAggregator StatsOptions Structure TFRecordWriter TensorArrayStructure TensorStructure
        ThreadingOptions UNKNOWN_CARDINALITY bucket_by_sequence_length bytes_produced_stats
        cardinality choose_from_datasets copy_to_device dense_to_sparse_batch enumerate_dataset
        from_variant get_next_as_optional get_single_element get_structure group_by_reducer
        group_by_window ignore_errors latency_stats make_batched_features_dataset make_csv_dataset
        make_saveable_from_iterator map_and_batch map_and_batch_with_legacy_function
        parallel_interleave parse_example_dataset prefetch_to_device rejection_resample
        sample_from_datasets scan shuffle_and_repeat take_while to_variant unbatch unique""",
    "debugging": """
        Assert assert_all_finite assert_equal assert_greater assert_greater_equal assert_integer
        assert_less assert_less_equal assert_near assert_negative assert_non_negative
        assert_non_positive assert_none_equal assert_positive assert_proper_iterable assert_rank
        assert_rank_at_least assert_rank_in assert_same_float_dtype assert_scalar assert_shapes
        assert_type check_numerics get_log_device_placement is_finite is_inf is_nan
        is_non_decreasing is_numeric_tensor is_strictly_increasing set_log_device_placement""",
    "distribute": """
        CrossDeviceOps HierarchicalCopyAllReduce InputContext InputReplicationMode MirroredStrategy
        NcclAllReduce OneDeviceStrategy ReduceOp ReductionToOneDevice ReplicaContext Server
        Strategy StrategyExtended cluster_resolver experimental experimental_set_strategy
        get_loss_reduction get_replica_context get_strategy has_strategy in_cross_replica_context""",
    "distribute.cluster_resolver": """
        ClusterResolver GCEClusterResolver KubernetesClusterResolver SimpleClusterResolver
        SlurmClusterResolver TFConfigClusterResolver TPUClusterResolver UnionResolver""",
    "distribute.experimental": """
        CentralStorageStrategy CollectiveCommunication MultiWorkerMirroredStrategy
        ParameterServerStrategy TPUStrategy""",
    "distributions": """
        Bernoulli Beta Categorical Dirichlet DirichletMultinomial Distribution Exponential
        FULLY_REPARAMETERIZED Gamma Laplace Multinomial NOT_REPARAMETERIZED Normal RegisterKL
        ReparameterizationType StudentT Uniform kl_divergence""",
    "dtypes": """
        DType QUANTIZED_DTYPES as_dtype as_string bfloat16 bool cast complex complex128 complex64
        double float16 float32 float64 half int16 int32 int64 int8 qint16 qint32 qint8 quint16
        quint8 resource saturate_cast string uint16 uint32 uint64 uint8 variant""",
    "errors": """
        ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED CancelledError DATA_LOSS
        DEADLINE_EXCEEDED DataLossError DeadlineExceededError FAILED_PRECONDITION
        FailedPreconditionError INTERNAL INVALID_ARGUMENT InternalError InvalidArgumentError
        NOT_FOUND NotFoundError OK OUT_OF_RANGE OpError OutOfRangeError PERMISSION_DENIED
        PermissionDeniedError RESOURCE_EXHAUSTED ResourceExhaustedError UNAUTHENTICATED UNAVAILABLE
        UNIMPLEMENTED UNKNOWN UnauthenticatedError UnavailableError UnimplementedError UnknownError
        error_code_from_exception_type exception_type_from_error_code
        raise_exception_on_not_ok_status""",
    "estimator": """
        BaselineClassifier BaselineEstimator BaselineRegressor BestExporter BinaryClassHead
        BoostedTreesClassifier BoostedTreesEstimator BoostedTreesRegressor CheckpointSaverHook
        CheckpointSaverListener DNNClassifier DNNEstimator DNNLinearCombinedClassifier
        DNNLinearCombinedEstimator DNNLinearCombinedRegressor DNNRegressor Estimator EstimatorSpec
        EvalSpec Exporter FeedFnHook FinalExporter FinalOpsHook GlobalStepWaiterHook Head
        LatestExporter LinearClassifier LinearEstimator LinearRegressor LoggingTensorHook
        LogisticRegressionHead ModeKeys MultiClassHead MultiHead MultiLabelHead
        NanLossDuringTrainingError NanTensorHook PoissonRegressionHead ProfilerHook RegressionHead
        RunConfig SecondOrStepTimer SessionRunArgs SessionRunContext SessionRunHook
        SessionRunValues StepCounterHook StopAtStepHook SummarySaverHook TrainSpec VocabInfo
        WarmStartSettings add_metrics classifier_parse_example_spec experimental export inputs
        regressor_parse_example_spec tpu train_and_evaluate""",
    "estimator.experimental": """
        InMemoryEvaluatorHook KMeans LinearSDCA build_raw_supervised_input_receiver_fn
        call_logit_fn dnn_logit_fn_builder linear_logit_fn_builder make_early_stopping_hook
        make_stop_at_checkpoint_step_hook stop_if_higher_hook stop_if_lower_hook
        stop_if_no_decrease_hook stop_if_no_increase_hook""",
    "estimator.export": """
        ClassificationOutput ExportOutput PredictOutput RegressionOutput ServingInputReceiver
        TensorServingInputReceiver build_parsing_serving_input_receiver_fn
        build_raw_serving_input_receiver_fn""",
    "estimator.inputs": "numpy_input_fn pandas_input_fn",
    "estimator.tpu": """
        InputPipelineConfig RunConfig TPUConfig TPUEstimator TPUEstimatorSpec experimental""",
    "estimator.tpu.experimental": "EmbeddingConfigSpec",
    "examples": "tutorials",
    "examples.tutorials": "mnist",
    "examples.tutorials.mnist": "input_data mnist",
    "examples.tutorials.mnist.input_data": """
        DataSet Datasets dense_to_one_hot extract_images extract_labels maybe_download
        read_data_sets""",
    "examples.tutorials.mnist.mnist": """
        IMAGE_PIXELS IMAGE_SIZE NUM_CLASSES evaluation inference loss training""",
    "experimental": "function_executor_type output_all_intermediates",
    "feature_column": """
        bucketized_column categorical_column_with_hash_bucket categorical_column_with_identity
        categorical_column_with_vocabulary_file categorical_column_with_vocabulary_list
        crossed_column embedding_column indicator_column input_layer linear_model
        make_parse_example_spec numeric_column sequence_categorical_column_with_hash_bucket
        sequence_categorical_column_with_identity sequence_categorical_column_with_vocabulary_file
        sequence_categorical_column_with_vocabulary_list sequence_numeric_column
        shared_embedding_columns weighted_categorical_column""",
    "flags": """
        ArgumentParser ArgumentSerializer BaseListParser BooleanFlag BooleanParser
        CantOpenFlagFileError CsvListSerializer DEFINE DEFINE_alias DEFINE_bool DEFINE_boolean
        DEFINE_enum DEFINE_enum_class DEFINE_flag DEFINE_float DEFINE_integer DEFINE_list
        DEFINE_multi DEFINE_multi_enum DEFINE_multi_enum_class DEFINE_multi_float
        DEFINE_multi_integer DEFINE_multi_string DEFINE_spaceseplist DEFINE_string
        DuplicateFlagError EnumClassFlag EnumClassListSerializer EnumClassParser
        EnumClassSerializer EnumFlag EnumParser Error FLAGS Flag FlagHolder
        FlagNameConflictsWithMethodError FlagValues FloatParser IllegalFlagValueError IntegerParser
        ListParser ListSerializer MultiEnumClassFlag MultiFlag UnparsedFlagAccessError
        UnrecognizedFlagError ValidationError WhitespaceSeparatedListParser absolute_import
        adopt_module_key_flags declare_key_flag disclaim_key_flags division doc_to_help
        flag_dict_to_args get_help_width mark_bool_flags_as_mutual_exclusive mark_flag_as_required
        mark_flags_as_mutual_exclusive mark_flags_as_required multi_flags_validator override_value
        print_function register_multi_flags_validator register_validator set_default text_wrap
        validator""",
    "gfile": """
        Copy DeleteRecursively Exists FastGFile GFile Glob IsDirectory ListDirectory MakeDirs MkDir
        Open Remove Rename Stat Walk""",
    "graph_util": """
        convert_variables_to_constants extract_sub_graph import_graph_def must_run_on_cpu
        remove_training_nodes tensor_shape_from_node_def_name""",
    "image": """
        ResizeMethod adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_jpeg_quality
        adjust_saturation central_crop combined_non_max_suppression convert_image_dtype
        crop_and_resize crop_to_bounding_box decode_and_crop_jpeg decode_bmp decode_gif
        decode_image decode_jpeg decode_png draw_bounding_boxes encode_jpeg encode_png
        extract_glimpse extract_image_patches extract_jpeg_shape extract_patches flip_left_right
        flip_up_down grayscale_to_rgb hsv_to_rgb image_gradients is_jpeg non_max_suppression
        non_max_suppression_overlaps non_max_suppression_padded non_max_suppression_with_scores
        pad_to_bounding_box per_image_standardization psnr random_brightness random_contrast
        random_crop random_flip_left_right random_flip_up_down random_hue random_jpeg_quality
        random_saturation resize resize_area resize_bicubic resize_bilinear
        resize_image_with_crop_or_pad resize_image_with_pad resize_images resize_nearest_neighbor
        resize_with_crop_or_pad rgb_to_grayscale rgb_to_hsv rgb_to_yiq rgb_to_yuv rot90
        sample_distorted_bounding_box sobel_edges ssim ssim_multiscale total_variation transpose
        transpose_image yiq_to_rgb yuv_to_rgb""",
    "initializers": """
        constant global_variables glorot_normal glorot_uniform he_normal he_uniform identity
        lecun_normal lecun_uniform local_variables ones orthogonal random_normal random_uniform
        tables_initializer truncated_normal uniform_unit_scaling variables variance_scaling zeros""",
    "io": """
        FixedLenFeature FixedLenSequenceFeature PaddingFIFOQueue PriorityQueue QueueBase
        RandomShuffleQueue SparseFeature TFRecordCompressionType TFRecordOptions TFRecordWriter
        VarLenFeature decode_and_crop_jpeg decode_base64 decode_bmp decode_compressed decode_csv
        decode_gif decode_image decode_jpeg decode_json_example decode_png decode_proto decode_raw
        deserialize_many_sparse encode_base64 encode_jpeg encode_proto extract_jpeg_shape gfile
        is_jpeg match_filenames_once matching_files parse_example parse_sequence_example
        parse_single_example parse_single_sequence_example parse_tensor read_file
        serialize_many_sparse serialize_sparse serialize_tensor tf_record_iterator write_file
        write_graph""",
    "io.gfile": """
        GFile copy exists glob isdir listdir makedirs mkdir remove rename rmtree stat walk""",
    "keras": """
        Input Model Sequential activations applications backend callbacks constraints datasets
        estimator experimental initializers layers losses metrics mixed_precision models optimizers
        preprocessing regularizers utils wrappers""",
    "keras.activations": """
        deserialize elu exponential get hard_sigmoid linear relu selu serialize sigmoid softmax
        softplus softsign tanh""",
    "keras.applications": """
        DenseNet121 DenseNet169 DenseNet201 InceptionResNetV2 InceptionV3 MobileNet MobileNetV2
        NASNetLarge NASNetMobile ResNet101 ResNet101V2 ResNet152 ResNet152V2 ResNet50 ResNet50V2
        VGG16 VGG19 Xception densenet imagenet_utils inception_resnet_v2 inception_v3 mobilenet
        mobilenet_v2 nasnet resnet resnet50 resnet_v2 vgg16 vgg19 xception""",
    "keras.applications.densenet": "DenseNet121 DenseNet169 DenseNet201 decode_predictions preprocess_input",
    "keras.applications.imagenet_utils": "decode_predictions preprocess_input",
    "keras.applications.inception_resnet_v2": "InceptionResNetV2 decode_predictions preprocess_input",
    "keras.applications.inception_v3": "InceptionV3 decode_predictions preprocess_input",
    "keras.applications.mobilenet": "MobileNet decode_predictions preprocess_input",
    "keras.applications.mobilenet_v2": "MobileNetV2 decode_predictions preprocess_input",
    "keras.applications.nasnet": "NASNetLarge NASNetMobile decode_predictions preprocess_input",
    "keras.applications.resnet": "ResNet101 ResNet152 ResNet50 decode_predictions preprocess_input",
    "keras.applications.resnet50": "ResNet50 decode_predictions preprocess_input",
    "keras.applications.resnet_v2": "ResNet101V2 ResNet152V2 ResNet50V2 decode_predictions preprocess_input",
    "keras.applications.vgg16": "VGG16 decode_predictions preprocess_input",
    "keras.applications.vgg19": "VGG19 decode_predictions preprocess_input",
    "keras.applications.xception": "Xception decode_predictions preprocess_input",
    "keras.backend": """
        abs all any arange argmax argmin backend batch_dot batch_flatten batch_get_value
        batch_normalization batch_set_value bias_add binary_crossentropy cast cast_to_floatx
        categorical_crossentropy clear_session clip concatenate constant conv1d conv2d
        conv2d_transpose conv3d cos count_params ctc_batch_cost ctc_decode
        ctc_label_dense_to_sparse cumprod cumsum dot dropout dtype elu epsilon equal eval exp
        expand_dims eye flatten floatx foldl foldr function gather get_session get_uid get_value
        gradients greater greater_equal hard_sigmoid image_data_format in_test_phase in_top_k
        in_train_phase int_shape is_sparse l2_normalize learning_phase learning_phase_scope less
        less_equal local_conv1d local_conv2d log manual_variable_initialization map_fn max maximum
        mean min minimum moving_average_update name_scope ndim normalize_batch_in_training
        not_equal one_hot ones ones_like permute_dimensions placeholder pool2d pool3d pow
        print_tensor prod random_binomial random_normal random_normal_variable random_uniform
        random_uniform_variable relu repeat repeat_elements reset_uids reshape resize_images
        resize_volumes reverse rnn round separable_conv2d set_epsilon set_floatx
        set_image_data_format set_learning_phase set_session set_value shape sigmoid sign sin
        softmax softplus softsign sparse_categorical_crossentropy spatial_2d_padding
        spatial_3d_padding sqrt square squeeze stack std stop_gradient sum switch tanh
        temporal_padding tile to_dense transpose truncated_normal update update_add update_sub var
        variable zeros zeros_like""",
    "keras.constraints": """
        Constraint MaxNorm MinMaxNorm NonNeg RadialConstraint UnitNorm deserialize get max_norm
        min_max_norm non_neg radial_constraint serialize unit_norm""",
    "keras.initializers": """
        Constant Identity Initializer Ones Orthogonal RandomNormal RandomUniform TruncatedNormal
        VarianceScaling Zeros constant deserialize get glorot_normal glorot_uniform he_normal
        he_uniform identity lecun_normal lecun_uniform normal ones orthogonal random_normal
        random_uniform serialize truncated_normal uniform zeros""",
    "keras.layers": """
        AbstractRNNCell Activation ActivityRegularization Add AdditiveAttention AlphaDropout
        Attention Average AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D
        AvgPool3D BatchNormalization Bidirectional Concatenate Conv1D Conv2D Conv2DTranspose Conv3D
        Conv3DTranspose ConvLSTM2D Convolution1D Convolution2D Convolution2DTranspose Convolution3D
        Convolution3DTranspose Cropping1D Cropping2D Cropping3D CuDNNGRU CuDNNLSTM Dense
        DenseFeatures DepthwiseConv2D Dot Dropout ELU Embedding Flatten GRU GRUCell GaussianDropout
        GaussianNoise GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D
        GlobalAvgPool1D GlobalAvgPool2D GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool2D
        GlobalMaxPool3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D Input InputLayer
        InputSpec LSTM LSTMCell Lambda Layer LayerNormalization LeakyReLU LocallyConnected1D
        LocallyConnected2D Masking MaxPool1D MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D
        MaxPooling3D Maximum Minimum Multiply PReLU Permute RNN ReLU RepeatVector Reshape
        SeparableConv1D SeparableConv2D SeparableConvolution1D SeparableConvolution2D SimpleRNN
        SimpleRNNCell Softmax SpatialDropout1D SpatialDropout2D SpatialDropout3D StackedRNNCells
        Subtract ThresholdedReLU TimeDistributed UpSampling1D UpSampling2D UpSampling3D Wrapper
        ZeroPadding1D ZeroPadding2D ZeroPadding3D add average concatenate deserialize dot maximum
        minimum multiply serialize subtract""",
    "keras.models": """
        Model Sequential clone_model load_model model_from_config model_from_json model_from_yaml
        save_model""",
    "keras.optimizers": """
        Adadelta Adagrad Adam Adamax Ftrl Nadam Optimizer RMSprop SGD deserialize get
        schedules serialize""",
    "keras.losses": """
        BinaryCrossentropy CategoricalCrossentropy CategoricalHinge CosineSimilarity Hinge
        Huber KLD KLDivergence LogCosh Loss MAE MAPE MSE MSLE MeanAbsoluteError
        MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError Poisson
        SparseCategoricalCrossentropy SquaredHinge binary_crossentropy
        categorical_crossentropy categorical_hinge cosine cosine_proximity cosine_similarity
        deserialize get hinge kld kullback_leibler_divergence logcosh mae mape
        mean_absolute_error mean_absolute_percentage_error mean_squared_error
        mean_squared_logarithmic_error mse msle poisson serialize
        sparse_categorical_crossentropy squared_hinge""",
    "keras.metrics": """
        AUC Accuracy BinaryAccuracy BinaryCrossentropy CategoricalAccuracy
        CategoricalCrossentropy CategoricalHinge CosineSimilarity FalseNegatives
        FalsePositives Hinge KLD KLDivergence LogCoshError MAE MAPE MSE MSLE Mean
        MeanAbsoluteError MeanAbsolutePercentageError MeanIoU MeanRelativeError
        MeanSquaredError MeanSquaredLogarithmicError MeanTensor Metric Poisson Precision
        Recall RootMeanSquaredError SensitivityAtSpecificity SparseCategoricalAccuracy
        SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy SpecificityAtSensitivity
        SquaredHinge Sum TopKCategoricalAccuracy TrueNegatives TruePositives binary_accuracy
        binary_crossentropy categorical_accuracy categorical_crossentropy cosine
        cosine_proximity deserialize get hinge kld kullback_leibler_divergence mae mape
        mean_absolute_error mean_absolute_percentage_error mean_squared_error
        mean_squared_logarithmic_error mse msle poisson serialize
        sparse_categorical_accuracy sparse_categorical_crossentropy
        sparse_top_k_categorical_accuracy squared_hinge top_k_categorical_accuracy""",
    "keras.callbacks": """
        BaseLogger CSVLogger Callback EarlyStopping History LambdaCallback
        LearningRateScheduler ModelCheckpoint ProgbarLogger ReduceLROnPlateau RemoteMonitor
        TensorBoard TerminateOnNaN""",
    "keras.utils": """
        CustomObjectScope GeneratorEnqueuer HDF5Matrix OrderedEnqueuer Progbar Sequence
        SequenceEnqueuer convert_all_kernels_in_model custom_object_scope
        deserialize_keras_object get_custom_objects get_file get_source_inputs model_to_dot
        multi_gpu_model normalize plot_model serialize_keras_object to_categorical""",
    "keras.preprocessing": """
        image sequence text""",
    "keras.preprocessing.sequence": """
        TimeseriesGenerator make_sampling_table pad_sequences skipgrams""",
    "keras.preprocessing.text": """
        Tokenizer hashing_trick one_hot text_to_word_sequence""",
    "keras.preprocessing.image": """
        DirectoryIterator ImageDataGenerator Iterator NumpyArrayIterator
        apply_affine_transform apply_brightness_shift apply_channel_shift array_to_img
        img_to_array load_img random_brightness random_channel_shift random_rotation
        random_shear random_shift random_zoom save_img""",
    "keras.datasets": "boston_housing cifar10 cifar100 fashion_mnist imdb mnist reuters",
    "keras.datasets.boston_housing": "load_data",
    "keras.datasets.cifar10": "load_data",
    "keras.datasets.cifar100": "load_data",
    "keras.datasets.fashion_mnist": "load_data",
    "keras.datasets.imdb": "get_word_index load_data",
    "keras.datasets.mnist": "load_data",
    "keras.datasets.reuters": "get_word_index load_data",
    "keras.estimator": "model_to_estimator",
    "keras.experimental": """
        CosineDecay CosineDecayRestarts LinearCosineDecay LinearModel NoisyLinearCosineDecay
        PeepholeLSTMCell SequenceFeatures WideDeepModel export_saved_model
        load_from_saved_model terminate_keras_multiprocessing_pools""",
    "keras.mixed_precision": """
        experimental""",
    "keras.mixed_precision.experimental": """
        LossScaleOptimizer Policy global_policy set_policy""",
    "keras.optimizers.schedules": """
        ExponentialDecay InverseTimeDecay LearningRateSchedule PiecewiseConstantDecay
        PolynomialDecay deserialize serialize""",
    "keras.wrappers": "scikit_learn",
    "keras.wrappers.scikit_learn": "KerasClassifier KerasRegressor",
    "keras.regularizers": "L1L2 Regularizer deserialize get l1 l1_l2 l2 serialize",
    "layers": """
        AveragePooling1D AveragePooling2D AveragePooling3D BatchNormalization Conv1D Conv2D
        Conv2DTranspose Conv3D Conv3DTranspose Dense Dropout Flatten InputSpec Layer MaxPooling1D
        MaxPooling2D MaxPooling3D SeparableConv1D SeparableConv2D average_pooling1d
        average_pooling2d average_pooling3d batch_normalization conv1d conv2d conv2d_transpose
        conv3d conv3d_transpose dense dropout experimental flatten max_pooling1d max_pooling2d
        max_pooling3d separable_conv1d separable_conv2d""",
    "layers.experimental": "keras_style_scope set_keras_style",
    "linalg": """
        LinearOperator LinearOperatorAdjoint LinearOperatorBlockDiag LinearOperatorCirculant
        LinearOperatorCirculant2D LinearOperatorCirculant3D LinearOperatorComposition
        LinearOperatorDiag LinearOperatorFullMatrix LinearOperatorHouseholder
        LinearOperatorIdentity LinearOperatorInversion LinearOperatorKronecker
        LinearOperatorLowRankUpdate LinearOperatorLowerTriangular LinearOperatorScaledIdentity
        LinearOperatorToeplitz LinearOperatorZeros adjoint band_part cholesky cholesky_solve cross
        det diag diag_part eigh eigvalsh einsum expm eye global_norm inv l2_normalize logdet logm
        lstsq lu matmul matrix_rank matrix_transpose matvec norm normalize pinv qr set_diag slogdet
        solve sqrtm svd tensor_diag tensor_diag_part tensordot trace transpose triangular_solve
        tridiagonal_matmul tridiagonal_solve""",
    "logging": """
        DEBUG ERROR FATAL INFO TaskLevelStatusMessage WARN debug error fatal flush get_verbosity
        info log log_every_n log_first_n log_if set_verbosity vlog warn warning""",
    "lookup": """
        KeyValueTensorInitializer StaticHashTable StaticVocabularyTable TextFileIndex
        TextFileInitializer experimental""",
    "lookup.experimental": "DenseHashTable",
    "losses": """
        Reduction absolute_difference add_loss compute_weighted_loss cosine_distance get_losses
        get_regularization_loss get_regularization_losses get_total_loss hinge_loss huber_loss
        log_loss mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy
        softmax_cross_entropy sparse_softmax_cross_entropy""",
    "manip": "batch_to_space_nd gather_nd reshape reverse roll scatter_nd space_to_batch_nd tile",
    "math": """
        abs accumulate_n acos acosh add add_n angle argmax argmin asin asinh atan atan2 atanh
        bessel_i0 bessel_i0e bessel_i1 bessel_i1e betainc bincount ceil confusion_matrix conj cos
        cosh count_nonzero cumprod cumsum cumulative_logsumexp digamma divide divide_no_nan equal
        erf erfc exp expm1 floor floordiv floormod greater greater_equal igamma igammac imag
        in_top_k invert_permutation is_finite is_inf is_nan is_non_decreasing
        is_strictly_increasing l2_normalize lbeta less less_equal lgamma log log1p log_sigmoid
        log_softmax logical_and logical_not logical_or logical_xor maximum minimum mod multiply
        multiply_no_nan negative nextafter not_equal polygamma polyval pow real reciprocal
        reciprocal_no_nan reduce_all reduce_any reduce_euclidean_norm reduce_logsumexp reduce_max
        reduce_mean reduce_min reduce_prod reduce_std reduce_sum reduce_variance rint round rsqrt
        scalar_mul segment_max segment_mean segment_min segment_prod segment_sum sigmoid sign sin
        sinh softmax softplus softsign sqrt square squared_difference subtract tan tanh top_k
        truediv unsorted_segment_max unsorted_segment_mean unsorted_segment_min
        unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum xdivy xlogy
        zero_fraction zeta""",
    "metrics": """
        accuracy auc average_precision_at_k false_negatives false_negatives_at_thresholds
        false_positives false_positives_at_thresholds mean mean_absolute_error mean_cosine_distance
        mean_iou mean_per_class_accuracy mean_relative_error mean_squared_error mean_tensor
        percentage_below precision precision_at_k precision_at_thresholds precision_at_top_k recall
        recall_at_k recall_at_thresholds recall_at_top_k root_mean_squared_error
        sensitivity_at_specificity sparse_average_precision_at_k sparse_precision_at_k
        specificity_at_sensitivity true_negatives true_negatives_at_thresholds true_positives
        true_positives_at_thresholds""",
    "nest": "assert_same_structure flatten is_nested map_structure pack_sequence_as",
    "nn": """
        all_candidate_sampler atrous_conv2d atrous_conv2d_transpose avg_pool avg_pool1d avg_pool2d
        avg_pool3d avg_pool_v2 batch_norm_with_global_normalization batch_normalization bias_add
        bidirectional_dynamic_rnn collapse_repeated compute_accidental_hits compute_average_loss
        conv1d conv1d_transpose conv2d conv2d_backprop_filter conv2d_backprop_input
        conv2d_transpose conv3d conv3d_backprop_filter conv3d_backprop_filter_v2 conv3d_transpose
        conv_transpose convolution crelu ctc_beam_search_decoder ctc_beam_search_decoder_v2
        ctc_greedy_decoder ctc_loss ctc_loss_v2 ctc_unique_labels depth_to_space depthwise_conv2d
        depthwise_conv2d_backprop_filter depthwise_conv2d_backprop_input depthwise_conv2d_native
        depthwise_conv2d_native_backprop_filter depthwise_conv2d_native_backprop_input dilation2d
        dropout dynamic_rnn elu embedding_lookup embedding_lookup_sparse erosion2d
        fixed_unigram_candidate_sampler fractional_avg_pool fractional_max_pool fused_batch_norm
        in_top_k l2_loss l2_normalize leaky_relu learned_unigram_candidate_sampler
        local_response_normalization log_poisson_loss log_softmax log_uniform_candidate_sampler lrn
        max_pool max_pool1d max_pool2d max_pool3d max_pool_v2 max_pool_with_argmax moments nce_loss
        normalize_moments pool quantized_avg_pool quantized_conv2d quantized_max_pool
        quantized_relu_x raw_rnn relu relu6 relu_layer rnn_cell safe_embedding_lookup_sparse
        sampled_softmax_loss scale_regularization_loss selu separable_conv2d sigmoid
        sigmoid_cross_entropy_with_logits softmax softmax_cross_entropy_with_logits
        softmax_cross_entropy_with_logits_v2 softplus softsign space_to_batch space_to_depth
        sparse_softmax_cross_entropy_with_logits static_bidirectional_rnn static_rnn
        static_state_saving_rnn sufficient_statistics swish tanh top_k uniform_candidate_sampler
        weighted_cross_entropy_with_logits weighted_moments with_space_to_batch xw_plus_b
        zero_fraction""",
    "nn.rnn_cell": """
        BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUCell LSTMCell LSTMStateTuple
        MultiRNNCell RNNCell ResidualWrapper""",
    "profiler": """
        AdviceProto GraphNodeProto MultiGraphNodeProto OpLogProto ProfileOptionBuilder Profiler
        advise profile write_op_log""",
    "python_io": "TFRecordCompressionType TFRecordOptions TFRecordWriter tf_record_iterator",
    "quantization": """
        dequantize fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient
        fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient
        fake_quant_with_min_max_vars_per_channel fake_quant_with_min_max_vars_per_channel_gradient
        quantize quantize_and_dequantize quantized_concat""",
    "queue": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    "ragged": """
        RaggedTensorValue boolean_mask constant constant_value map_flat_values placeholder range
        row_splits_to_segment_ids segment_ids_to_row_splits stack stack_dynamic_partitions""",
    "random": """
        all_candidate_sampler categorical experimental fixed_unigram_candidate_sampler gamma
        get_seed learned_unigram_candidate_sampler log_uniform_candidate_sampler multinomial normal
        poisson set_random_seed shuffle stateless_categorical stateless_multinomial
        stateless_normal stateless_truncated_normal stateless_uniform truncated_normal uniform
        uniform_candidate_sampler""",
    "random.experimental": "Generator create_rng_state get_global_generator set_global_generator",
    "resource_loader": """
        get_data_files_path get_path_to_datafile get_root_dir_with_all_resources load_resource
        readahead_file_path""",
    "saved_model": """
        ASSETS_DIRECTORY ASSETS_KEY Builder CLASSIFY_INPUTS CLASSIFY_METHOD_NAME
        CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU
        LEGACY_INIT_OP_KEY MAIN_OP_KEY PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS
        REGRESS_INPUTS REGRESS_METHOD_NAME REGRESS_OUTPUTS SAVED_MODEL_FILENAME_PB
        SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION SERVING TPU TRAINING
        VARIABLES_DIRECTORY VARIABLES_FILENAME build_signature_def build_tensor_info builder
        classification_signature_def constants contains_saved_model experimental
        get_tensor_from_tensor_info is_valid_signature load load_v2 loader main_op
        main_op_with_restore maybe_saved_model_directory predict_signature_def
        regression_signature_def save signature_constants signature_def_utils simple_save
        tag_constants utils""",
    "saved_model.builder": "SavedModelBuilder",
    "saved_model.constants": """
        ASSETS_DIRECTORY ASSETS_KEY LEGACY_INIT_OP_KEY MAIN_OP_KEY SAVED_MODEL_FILENAME_PB
        SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION VARIABLES_DIRECTORY
        VARIABLES_FILENAME""",
    "saved_model.experimental": "save",
    "saved_model.loader": "load maybe_saved_model_directory",
    "saved_model.main_op": "main_op main_op_with_restore",
    "saved_model.signature_constants": """
        CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES
        DEFAULT_SERVING_SIGNATURE_DEF_KEY PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS
        REGRESS_INPUTS REGRESS_METHOD_NAME REGRESS_OUTPUTS""",
    "saved_model.signature_def_utils": """
        build_signature_def classification_signature_def is_valid_signature predict_signature_def
        regression_signature_def""",
    "saved_model.tag_constants": "GPU SERVING TPU TRAINING",
    "saved_model.utils": "build_tensor_info get_tensor_from_tensor_info",
    "sets": """
        difference intersection set_difference set_intersection set_size set_union size union""",
    "signal": """
        dct fft fft2d fft3d fftshift frame hamming_window hann_window idct ifft ifft2d ifft3d
        ifftshift inverse_stft inverse_stft_window_fn irfft irfft2d irfft3d
        linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms overlap_and_add rfft rfft2d
        rfft3d stft""",
    "sparse": """
        SparseConditionalAccumulator SparseTensor add concat cross cross_hashed expand_dims eye
        fill_empty_rows from_dense mask matmul maximum merge minimum placeholder reduce_max
        reduce_max_sparse reduce_sum reduce_sum_sparse reorder reset_shape reshape retain
        segment_mean segment_sqrt_n segment_sum slice softmax sparse_dense_matmul split to_dense
        to_indicator transpose""",
    "spectral": """
        dct fft fft2d fft3d idct ifft ifft2d ifft3d irfft irfft2d irfft3d rfft rfft2d rfft3d""",
    "strings": """
        as_string bytes_split format join length lower ngrams reduce_join regex_full_match
        regex_replace split strip substr to_hash_bucket to_hash_bucket_fast to_hash_bucket_strong
        to_number unicode_decode unicode_decode_with_offsets unicode_encode unicode_script
        unicode_split unicode_split_with_offsets unicode_transcode unsorted_segment_join upper""",
    "summary": """
        Event FileWriter FileWriterCache SessionLog Summary SummaryDescription TaggedRunMetadata
        all_v2_summary_ops audio get_summary_description histogram image initialize merge merge_all
        scalar tensor_summary text""",
    "sysconfig": """
        CXX11_ABI_FLAG MONOLITHIC_BUILD get_compile_flags get_include get_lib get_link_flags""",
    "test": """
        Benchmark StubOutForTesting TestCase assert_equal_graph_def benchmark_config
        compute_gradient compute_gradient_error create_local_cluster get_temp_dir gpu_device_name
        is_built_with_cuda is_built_with_gpu_support is_built_with_rocm is_gpu_available main
        mock test_src_dir_path""",
    "tpu": """
        CrossShardOptimizer batch_parallel bfloat16_scope core cross_replica_sum experimental
        initialize_system outside_compilation replicate rewrite shard shutdown_system""",
    "tpu.experimental": """
        AdagradParameters AdamParameters DeviceAssignment StochasticGradientDescentParameters
        embedding_column initialize_tpu_system shared_embedding_columns""",
    "train": """
        AdadeltaOptimizer AdagradDAOptimizer AdagradOptimizer AdamOptimizer BytesList Checkpoint
        CheckpointManager CheckpointSaverHook CheckpointSaverListener ChiefSessionCreator
        ClusterDef ClusterSpec Coordinator Example ExponentialMovingAverage Feature FeatureList
        FeatureLists Features FeedFnHook FinalOpsHook FloatList FtrlOptimizer GlobalStepWaiterHook
        GradientDescentOptimizer Int64List JobDef LoggingTensorHook LooperThread MomentumOptimizer
        MonitoredSession MonitoredTrainingSession NanLossDuringTrainingError NanTensorHook
        NewCheckpointReader Optimizer ProfilerHook ProximalAdagradOptimizer
        ProximalGradientDescentOptimizer QueueRunner RMSPropOptimizer Saver SaverDef Scaffold
        SecondOrStepTimer SequenceExample Server ServerDef SessionCreator SessionManager
        SessionRunArgs SessionRunContext SessionRunHook SessionRunValues SingularMonitoredSession
        StepCounterHook StopAtStepHook SummarySaverHook Supervisor SyncReplicasOptimizer VocabInfo
        WorkerSessionCreator add_queue_runner assert_global_step basic_train_loop batch batch_join
        checkpoint_exists checkpoints_iterator cosine_decay cosine_decay_restarts
        create_global_step do_quantize_training_on_graphdef experimental exponential_decay
        export_meta_graph generate_checkpoint_state_proto get_checkpoint_mtimes
        get_checkpoint_state get_global_step get_or_create_global_step global_step
        import_meta_graph init_from_checkpoint input_producer inverse_time_decay latest_checkpoint
        limit_epochs linear_cosine_decay list_variables load_checkpoint load_variable
        match_filenames_once maybe_batch maybe_batch_join maybe_shuffle_batch
        maybe_shuffle_batch_join natural_exp_decay noisy_linear_cosine_decay piecewise_constant
        piecewise_constant_decay polynomial_decay queue_runner range_input_producer
        remove_checkpoint replica_device_setter sdca_fprint sdca_optimizer sdca_shrink_l1
        shuffle_batch shuffle_batch_join slice_input_producer start_queue_runners
        string_input_producer summary_iterator update_checkpoint_state warm_start write_graph""",
    "train.experimental": """
        DynamicLossScale FixedLossScale LossScale MixedPrecisionLossScaleOptimizer PythonState
        disable_mixed_precision_graph_rewrite enable_mixed_precision_graph_rewrite""",
    "train.queue_runner": "QueueRunner add_queue_runner start_queue_runners",
    "user_ops": "my_fact",
    "version": """
        COMPILER_VERSION GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER
        GRAPH_DEF_VERSION_MIN_PRODUCER VERSION""",
    "xla": "experimental",
    "xla.experimental": "compile jit_scope",
}

# The same module under two names.
NAMES["app.flags"] = NAMES["flags"]

# What tf.keras has and tf.contrib.keras has not, by namespace of the latter.
_NOT_IN_CONTRIB = {
    "keras": "Input Model Sequential estimator experimental mixed_precision",
    "keras.activations": "exponential",
    "keras.applications": """
        DenseNet121 DenseNet169 DenseNet201 InceptionResNetV2 MobileNetV2 NASNetLarge NASNetMobile
        ResNet101 ResNet101V2 ResNet152 ResNet152V2 ResNet50V2 densenet imagenet_utils
        inception_resnet_v2 mobilenet_v2 nasnet resnet resnet_v2""",
    "keras.applications.inception_v3": "",
    "keras.applications.mobilenet": "",
    "keras.applications.resnet50": "",
    "keras.applications.vgg16": "",
    "keras.applications.vgg19": "",
    "keras.applications.xception": "",
    "keras.backend": """
        cumprod cumsum learning_phase_scope local_conv1d local_conv2d tile""",
    "keras.callbacks": "",
    "keras.constraints": "RadialConstraint radial_constraint",
    "keras.datasets": "fashion_mnist",
    "keras.datasets.boston_housing": "",
    "keras.datasets.cifar10": "",
    "keras.datasets.cifar100": "",
    "keras.datasets.imdb": "",
    "keras.datasets.mnist": "",
    "keras.datasets.reuters": "",
    "keras.initializers": """
        constant identity normal ones orthogonal random_normal random_uniform truncated_normal
        uniform zeros""",
    "keras.layers": """
        AbstractRNNCell AdditiveAttention Attention CuDNNGRU CuDNNLSTM DenseFeatures
        DepthwiseConv2D GRUCell LSTMCell LayerNormalization Minimum RNN ReLU SeparableConv1D
        SeparableConvolution1D SimpleRNNCell Softmax StackedRNNCells Subtract deserialize minimum
        serialize subtract""",
    "keras.losses": """
        BinaryCrossentropy CategoricalCrossentropy CategoricalHinge CosineSimilarity Hinge Huber
        KLD KLDivergence LogCosh Loss MAE MAPE MSE MSLE MeanAbsoluteError
        MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError Poisson
        SparseCategoricalCrossentropy SquaredHinge cosine cosine_proximity kld mae mape mse msle""",
    "keras.metrics": """
        AUC Accuracy BinaryAccuracy BinaryCrossentropy CategoricalAccuracy CategoricalCrossentropy
        CategoricalHinge CosineSimilarity FalseNegatives FalsePositives Hinge KLD KLDivergence
        LogCoshError MAE MAPE MSE MSLE Mean MeanAbsoluteError MeanAbsolutePercentageError MeanIoU
        MeanRelativeError MeanSquaredError MeanSquaredLogarithmicError MeanTensor Metric Poisson
        Precision Recall RootMeanSquaredError SensitivityAtSpecificity SparseCategoricalAccuracy
        SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy SpecificityAtSensitivity
        SquaredHinge Sum TopKCategoricalAccuracy TrueNegatives TruePositives cosine
        cosine_proximity kld mae mape mse msle sparse_categorical_accuracy""",
    "keras.models": "clone_model",
    "keras.optimizers": "Ftrl schedules",
    "keras.preprocessing": "",
    "keras.preprocessing.image": """
        apply_affine_transform apply_brightness_shift apply_channel_shift random_brightness
        save_img""",
    "keras.preprocessing.sequence": "TimeseriesGenerator",
    "keras.preprocessing.text": "hashing_trick",
    "keras.regularizers": "",
    "keras.utils": """
        OrderedEnqueuer get_source_inputs model_to_dot multi_gpu_model""",
    "keras.wrappers": "",
    "keras.wrappers.scikit_learn": "",
}
for _space, _names in _NOT_IN_CONTRIB.items():
    NAMES["contrib." + _space] = " ".join(
        name for name in NAMES[_space].split() if name not in _names.split())
NAMES["contrib.keras"] += " api"
NAMES["contrib.keras.metrics"] += " cosine_similarity"
