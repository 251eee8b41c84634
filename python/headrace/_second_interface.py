"""The names of tf.compat.v2 in TensorFlow 1.15, by namespace ("" is tf.compat.v2).

`name`: the same as the name in that namespace of tf; `name=place`: as tf.place,
or `name=space.`: as tf.space.name;
`name!`: one of its own, with other arguments or behaviour than 1.x has.
tools/second_interface.py writes this file.
"""

NAMES = {
    "": """
        AggregationMethod Assert CriticalSection DType DeviceSpec! GradientTape
        Graph IndexedSlices IndexedSlicesSpec Module Operation OptionalSpec
        RaggedTensor RaggedTensorSpec RegisterGradient SparseTensor
        SparseTensorSpec Tensor TensorArray TensorArraySpec TensorShape
        TensorSpec TypeSpec UnconnectedGradients Variable! VariableAggregation!
        VariableSynchronization abs acos acosh add add_n argmax! argmin! argsort
        as_dtype as_string asin asinh assert_equal! assert_greater! assert_less!
        assert_rank! atan atan2 atanh batch_to_space! bfloat16 bitcast bool
        boolean_mask! broadcast_dynamic_shape broadcast_static_shape
        broadcast_to case! cast clip_by_global_norm clip_by_norm clip_by_value
        complex complex128 complex64 concat cond! constant!
        constant_initializer! control_dependencies convert_to_tensor! cos cosh
        cumsum custom_gradient device! divide double dynamic_partition
        dynamic_stitch edit_distance einsum enable_v2_behavior ensure_shape
        equal executing_eagerly exp expand_dims! extract_volume_patches eye fill
        fingerprint float16 float32 float64 floor foldl foldr function gather!
        gather_nd! get_logger get_static_value grad_pass_through gradients!
        greater greater_equal group guarantee_const half hessians!
        histogram_fixed_width histogram_fixed_width_bins identity identity_n
        import_graph_def init_scope int16 int32 int64 int8 is_tensor less
        less_equal linspace load_library load_op_library logical_and logical_not
        logical_or make_ndarray make_tensor_proto map_fn matmul
        matrix_square_root maximum meshgrid minimum multiply name_scope!
        negative newaxis no_gradient no_op nondifferentiable_batch_function
        norm! not_equal numpy_function one_hot ones ones_initializer! ones_like!
        pad! parallel_stack pow print py_function qint16 qint32 qint8 quint16
        quint8 random_normal_initializer! random_uniform_initializer! range rank
        realdiv recompute_grad reduce_all! reduce_any! reduce_logsumexp!
        reduce_max! reduce_mean! reduce_min! reduce_prod! reduce_sum!
        register_tensor_conversion_function repeat
        required_space_to_batch_paddings reshape resource reverse
        reverse_sequence! roll round saturate_cast scalar_mul! scan scatter_nd
        searchsorted sequence_mask shape! shape_n sigmoid sign sin sinh size!
        slice sort space_to_batch! space_to_batch_nd split sqrt square squeeze!
        stack stop_gradient strided_slice string subtract switch_case tan tanh
        tensor_scatter_nd_add tensor_scatter_nd_sub tensor_scatter_nd_update
        tensordot tile timestamp transpose! truediv truncatediv truncatemod
        tuple! uint16 uint32 uint64 uint8 unique unique_with_counts
        unravel_index unstack variable_creator_scope! variant vectorized_map
        where=where_v2 while_loop! zeros zeros_initializer! zeros_like!""",
    "audio": """
        decode_wav encode_wav""",
    "autograph": """
        set_verbosity to_code! to_graph! trace""",
    "autograph.experimental": """
        Feature do_not_convert set_loop_options""",
    "bitwise": """
        bitwise_and bitwise_or bitwise_xor invert left_shift right_shift""",
    "config": """
        experimental_connect_to_cluster experimental_connect_to_host
        experimental_list_devices experimental_run_functions_eagerly
        get_soft_device_placement set_soft_device_placement""",
    "config.experimental": """
        VirtualDeviceConfiguration get_device_policy get_memory_growth
        get_synchronous_execution get_virtual_device_configuration
        get_visible_devices list_logical_devices list_physical_devices
        set_device_policy set_memory_growth set_synchronous_execution
        set_virtual_device_configuration set_visible_devices""",
    "config.optimizer": """
        get_experimental_options get_jit set_experimental_options set_jit""",
    "config.threading": """
        get_inter_op_parallelism_threads get_intra_op_parallelism_threads
        set_inter_op_parallelism_threads set_intra_op_parallelism_threads""",
    "data": """
        Dataset! DatasetSpec FixedLengthRecordDataset! Options TFRecordDataset!
        TextLineDataset!""",
    "data.experimental": """
        AUTOTUNE CheckpointInputPipelineHook Counter! CsvDataset!
        DistributeOptions INFINITE_CARDINALITY MapVectorizationOptions
        OptimizationOptions Optional RandomDataset! Reducer SqlDataset!
        StatsAggregator! StatsOptions TFRecordWriter ThreadingOptions
        UNKNOWN_CARDINALITY bucket_by_sequence_length bytes_produced_stats
        cardinality choose_from_datasets! copy_to_device dense_to_sparse_batch
        enumerate_dataset from_variant get_next_as_optional get_single_element
        get_structure group_by_reducer group_by_window ignore_errors
        latency_stats make_batched_features_dataset! make_csv_dataset!
        make_saveable_from_iterator map_and_batch parallel_interleave
        parse_example_dataset prefetch_to_device rejection_resample
        sample_from_datasets! scan shuffle_and_repeat take_while to_variant
        unbatch unique""",
    "debugging": """
        Assert assert_all_finite! assert_equal! assert_greater!
        assert_greater_equal! assert_integer! assert_less! assert_less_equal!
        assert_near! assert_negative! assert_non_negative! assert_non_positive!
        assert_none_equal! assert_positive! assert_proper_iterable assert_rank!
        assert_rank_at_least! assert_rank_in! assert_same_float_dtype
        assert_scalar! assert_shapes! assert_type! check_numerics
        get_log_device_placement is_numeric_tensor set_log_device_placement""",
    "distribute": """
        CrossDeviceOps HierarchicalCopyAllReduce InputContext
        InputReplicationMode MirroredStrategy! NcclAllReduce OneDeviceStrategy!
        ReduceOp ReductionToOneDevice ReplicaContext Server Strategy!
        StrategyExtended! experimental_set_strategy get_replica_context
        get_strategy has_strategy in_cross_replica_context""",
    "distribute.cluster_resolver": """
        ClusterResolver GCEClusterResolver KubernetesClusterResolver
        SimpleClusterResolver SlurmClusterResolver TFConfigClusterResolver
        TPUClusterResolver UnionResolver""",
    "distribute.experimental": """
        CentralStorageStrategy! CollectiveCommunication
        MultiWorkerMirroredStrategy! ParameterServerStrategy! TPUStrategy!""",
    "dtypes": """
        DType QUANTIZED_DTYPES as_dtype bfloat16 bool cast complex complex128
        complex64 double float16 float32 float64 half int16 int32 int64 int8
        qint16 qint32 qint8 quint16 quint8 resource saturate_cast string uint16
        uint32 uint64 uint8 variant""",
    "errors": """
        ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED
        CancelledError DATA_LOSS DEADLINE_EXCEEDED DataLossError
        DeadlineExceededError FAILED_PRECONDITION FailedPreconditionError
        INTERNAL INVALID_ARGUMENT InternalError InvalidArgumentError NOT_FOUND
        NotFoundError OK OUT_OF_RANGE OpError OutOfRangeError PERMISSION_DENIED
        PermissionDeniedError RESOURCE_EXHAUSTED ResourceExhaustedError
        UNAUTHENTICATED UNAVAILABLE UNIMPLEMENTED UNKNOWN UnauthenticatedError
        UnavailableError UnimplementedError UnknownError""",
    "experimental": """
        function_executor_type""",
    "feature_column": """
        bucketized_column categorical_column_with_hash_bucket
        categorical_column_with_identity
        categorical_column_with_vocabulary_file!
        categorical_column_with_vocabulary_list crossed_column embedding_column
        indicator_column make_parse_example_spec! numeric_column
        sequence_categorical_column_with_hash_bucket
        sequence_categorical_column_with_identity
        sequence_categorical_column_with_vocabulary_file
        sequence_categorical_column_with_vocabulary_list sequence_numeric_column
        shared_embeddings! weighted_categorical_column""",
    "graph_util": """
        import_graph_def""",
    "image": """
        ResizeMethod! adjust_brightness adjust_contrast adjust_gamma adjust_hue
        adjust_jpeg_quality adjust_saturation central_crop
        combined_non_max_suppression convert_image_dtype crop_and_resize!
        crop_to_bounding_box decode_and_crop_jpeg decode_bmp decode_gif
        decode_image decode_jpeg decode_png draw_bounding_boxes! encode_jpeg
        encode_png extract_glimpse! extract_jpeg_shape extract_patches
        flip_left_right flip_up_down grayscale_to_rgb hsv_to_rgb image_gradients
        is_jpeg non_max_suppression non_max_suppression_overlaps
        non_max_suppression_padded non_max_suppression_with_scores
        pad_to_bounding_box per_image_standardization psnr random_brightness
        random_contrast random_crop random_flip_left_right random_flip_up_down
        random_hue random_jpeg_quality random_saturation resize!
        resize_with_crop_or_pad resize_with_pad! rgb_to_grayscale rgb_to_hsv
        rgb_to_yiq rgb_to_yuv rot90 sample_distorted_bounding_box! sobel_edges
        ssim ssim_multiscale total_variation transpose yiq_to_rgb yuv_to_rgb""",
    "initializers": """
        Constant! GlorotNormal! GlorotUniform! Identity! Initializer! Ones!
        Orthogonal! RandomNormal! RandomUniform! TruncatedNormal!
        VarianceScaling! Zeros! constant! deserialize=keras.initializers.
        get=keras.initializers. glorot_normal! glorot_uniform! he_normal!
        he_uniform! identity! lecun_normal! lecun_uniform! ones! orthogonal!
        serialize=keras.initializers. zeros!""",
    "io": """
        FixedLenFeature FixedLenSequenceFeature SparseFeature TFRecordOptions
        TFRecordWriter VarLenFeature decode_and_crop_jpeg decode_base64
        decode_bmp decode_compressed decode_csv! decode_gif decode_image
        decode_jpeg decode_json_example decode_png decode_proto decode_raw!
        deserialize_many_sparse encode_base64 encode_jpeg encode_proto
        extract_jpeg_shape is_jpeg match_filenames_once matching_files
        parse_example! parse_sequence_example parse_single_example!
        parse_single_sequence_example parse_tensor read_file
        serialize_many_sparse! serialize_sparse! serialize_tensor write_file
        write_graph""",
    "io.gfile": """
        GFile copy exists glob isdir listdir makedirs mkdir remove rename rmtree
        stat walk""",
    "keras": """
        Input Model Sequential""",
    "keras.activations": """
        deserialize elu exponential get hard_sigmoid linear relu selu serialize
        sigmoid softmax softplus softsign tanh""",
    "keras.applications": """
        DenseNet121 DenseNet169 DenseNet201 InceptionResNetV2 InceptionV3
        MobileNet MobileNetV2 NASNetLarge NASNetMobile ResNet101 ResNet101V2
        ResNet152 ResNet152V2 ResNet50 ResNet50V2 VGG16 VGG19 Xception""",
    "keras.applications.densenet": """
        DenseNet121 DenseNet169 DenseNet201 decode_predictions preprocess_input""",
    "keras.applications.imagenet_utils": """
        decode_predictions preprocess_input""",
    "keras.applications.inception_resnet_v2": """
        InceptionResNetV2 decode_predictions preprocess_input""",
    "keras.applications.inception_v3": """
        InceptionV3 decode_predictions preprocess_input""",
    "keras.applications.mobilenet": """
        MobileNet decode_predictions preprocess_input""",
    "keras.applications.mobilenet_v2": """
        MobileNetV2 decode_predictions preprocess_input""",
    "keras.applications.nasnet": """
        NASNetLarge NASNetMobile decode_predictions preprocess_input""",
    "keras.applications.resnet": """
        ResNet101 ResNet152 ResNet50 decode_predictions preprocess_input""",
    "keras.applications.resnet50": """
        ResNet50 decode_predictions preprocess_input""",
    "keras.applications.resnet_v2": """
        ResNet101V2 ResNet152V2 ResNet50V2 decode_predictions preprocess_input""",
    "keras.applications.vgg16": """
        VGG16 decode_predictions preprocess_input""",
    "keras.applications.vgg19": """
        VGG19 decode_predictions preprocess_input""",
    "keras.applications.xception": """
        Xception decode_predictions preprocess_input""",
    "keras.backend": """
        abs all any arange argmax argmin backend batch_dot batch_flatten
        batch_get_value batch_normalization batch_set_value bias_add
        binary_crossentropy cast cast_to_floatx categorical_crossentropy
        clear_session clip concatenate constant conv1d conv2d conv2d_transpose
        conv3d cos count_params ctc_batch_cost ctc_decode
        ctc_label_dense_to_sparse cumprod cumsum dot dropout dtype elu epsilon
        equal eval exp expand_dims eye flatten floatx foldl foldr function
        gather get_uid get_value gradients greater greater_equal hard_sigmoid
        image_data_format in_test_phase in_top_k in_train_phase int_shape
        is_sparse l2_normalize learning_phase learning_phase_scope less
        less_equal local_conv1d local_conv2d log manual_variable_initialization
        map_fn max maximum mean min minimum moving_average_update name_scope!
        ndim normalize_batch_in_training not_equal one_hot ones ones_like
        permute_dimensions placeholder pool2d pool3d pow print_tensor prod
        random_binomial random_normal random_normal_variable random_uniform
        random_uniform_variable relu repeat repeat_elements reset_uids reshape
        resize_images resize_volumes reverse rnn round separable_conv2d
        set_epsilon set_floatx set_image_data_format set_learning_phase
        set_value shape sigmoid sign sin softmax softplus softsign
        sparse_categorical_crossentropy spatial_2d_padding spatial_3d_padding
        sqrt square squeeze stack std stop_gradient sum switch tanh
        temporal_padding tile to_dense transpose truncated_normal update
        update_add update_sub var variable zeros zeros_like""",
    "keras.callbacks": """
        BaseLogger CSVLogger Callback EarlyStopping History LambdaCallback
        LearningRateScheduler ModelCheckpoint ProgbarLogger ReduceLROnPlateau
        RemoteMonitor TensorBoard! TerminateOnNaN""",
    "keras.constraints": """
        Constraint MaxNorm MinMaxNorm NonNeg RadialConstraint UnitNorm
        deserialize get max_norm min_max_norm non_neg radial_constraint
        serialize unit_norm""",
    "keras.datasets": """
""",
    "keras.datasets.boston_housing": """
        load_data""",
    "keras.datasets.cifar10": """
        load_data""",
    "keras.datasets.cifar100": """
        load_data""",
    "keras.datasets.fashion_mnist": """
        load_data""",
    "keras.datasets.imdb": """
        get_word_index load_data""",
    "keras.datasets.mnist": """
        load_data""",
    "keras.datasets.reuters": """
        get_word_index load_data""",
    "keras.experimental": """
        CosineDecay CosineDecayRestarts LinearCosineDecay LinearModel
        NoisyLinearCosineDecay PeepholeLSTMCell SequenceFeatures WideDeepModel
        export_saved_model load_from_saved_model
        terminate_keras_multiprocessing_pools""",
    "keras.initializers": """
        Constant! GlorotNormal! GlorotUniform! Identity! Initializer! Ones!
        Orthogonal! RandomNormal! RandomUniform! TruncatedNormal!
        VarianceScaling! Zeros! constant! deserialize get glorot_normal!
        glorot_uniform! he_normal! he_uniform! identity! lecun_normal!
        lecun_uniform! ones! orthogonal! serialize zeros!""",
    "keras.layers": """
        AbstractRNNCell Activation ActivityRegularization Add AdditiveAttention
        AlphaDropout Attention Average AveragePooling1D AveragePooling2D
        AveragePooling3D AvgPool1D AvgPool2D AvgPool3D BatchNormalization!
        Bidirectional Concatenate Conv1D Conv2D Conv2DTranspose Conv3D
        Conv3DTranspose ConvLSTM2D Convolution1D Convolution2D
        Convolution2DTranspose Convolution3D Convolution3DTranspose Cropping1D
        Cropping2D Cropping3D Dense DenseFeatures! DepthwiseConv2D Dot Dropout
        ELU Embedding Flatten GRU! GRUCell! GaussianDropout GaussianNoise
        GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D
        GlobalAvgPool1D GlobalAvgPool2D GlobalAvgPool3D GlobalMaxPool1D
        GlobalMaxPool2D GlobalMaxPool3D GlobalMaxPooling1D GlobalMaxPooling2D
        GlobalMaxPooling3D Input InputLayer InputSpec LSTM! LSTMCell! Lambda
        Layer LayerNormalization LeakyReLU LocallyConnected1D LocallyConnected2D
        Masking MaxPool1D MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D
        MaxPooling3D Maximum Minimum Multiply PReLU Permute RNN ReLU
        RepeatVector Reshape SeparableConv1D SeparableConv2D
        SeparableConvolution1D SeparableConvolution2D SimpleRNN SimpleRNNCell
        Softmax SpatialDropout1D SpatialDropout2D SpatialDropout3D
        StackedRNNCells Subtract ThresholdedReLU TimeDistributed UpSampling1D
        UpSampling2D UpSampling3D Wrapper ZeroPadding1D ZeroPadding2D
        ZeroPadding3D add average concatenate deserialize dot maximum minimum
        multiply serialize subtract""",
    "keras.losses": """
        BinaryCrossentropy CategoricalCrossentropy CategoricalHinge
        CosineSimilarity Hinge Huber KLD KLDivergence LogCosh Loss MAE MAPE MSE
        MSLE MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError
        MeanSquaredLogarithmicError Poisson Reduction!
        SparseCategoricalCrossentropy SquaredHinge binary_crossentropy
        categorical_crossentropy categorical_hinge cosine_similarity deserialize
        get hinge kld kullback_leibler_divergence logcosh mae mape
        mean_absolute_error mean_absolute_percentage_error mean_squared_error
        mean_squared_logarithmic_error mse msle poisson serialize
        sparse_categorical_crossentropy squared_hinge""",
    "keras.metrics": """
        AUC Accuracy BinaryAccuracy BinaryCrossentropy CategoricalAccuracy
        CategoricalCrossentropy CategoricalHinge CosineSimilarity FalseNegatives
        FalsePositives Hinge KLD KLDivergence LogCoshError MAE MAPE MSE MSLE
        Mean MeanAbsoluteError MeanAbsolutePercentageError MeanIoU
        MeanRelativeError MeanSquaredError MeanSquaredLogarithmicError
        MeanTensor Metric Poisson Precision Recall RootMeanSquaredError
        SensitivityAtSpecificity SparseCategoricalAccuracy
        SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy
        SpecificityAtSensitivity SquaredHinge Sum TopKCategoricalAccuracy
        TrueNegatives TruePositives binary_accuracy binary_crossentropy
        categorical_accuracy categorical_crossentropy deserialize get hinge kld
        kullback_leibler_divergence mae mape mean_absolute_error
        mean_absolute_percentage_error mean_squared_error
        mean_squared_logarithmic_error mse msle poisson serialize
        sparse_categorical_accuracy sparse_categorical_crossentropy
        sparse_top_k_categorical_accuracy squared_hinge
        top_k_categorical_accuracy""",
    "keras.mixed_precision": """
""",
    "keras.mixed_precision.experimental": """
        LossScaleOptimizer Policy global_policy set_policy""",
    "keras.models": """
        Model Sequential clone_model load_model model_from_config
        model_from_json model_from_yaml save_model""",
    "keras.optimizers": """
        Adadelta Adagrad Adam Adamax Ftrl Nadam Optimizer RMSprop SGD
        deserialize get serialize""",
    "keras.optimizers.schedules": """
        ExponentialDecay InverseTimeDecay LearningRateSchedule
        PiecewiseConstantDecay PolynomialDecay deserialize serialize""",
    "keras.preprocessing": """
""",
    "keras.preprocessing.image": """
        DirectoryIterator ImageDataGenerator Iterator NumpyArrayIterator
        apply_affine_transform apply_brightness_shift apply_channel_shift
        array_to_img img_to_array load_img random_brightness
        random_channel_shift random_rotation random_shear random_shift
        random_zoom save_img""",
    "keras.preprocessing.sequence": """
        TimeseriesGenerator make_sampling_table pad_sequences skipgrams""",
    "keras.preprocessing.text": """
        Tokenizer hashing_trick one_hot text_to_word_sequence""",
    "keras.regularizers": """
        L1L2 Regularizer deserialize get l1 l1_l2 l2 serialize""",
    "keras.utils": """
        CustomObjectScope GeneratorEnqueuer HDF5Matrix OrderedEnqueuer Progbar
        Sequence SequenceEnqueuer convert_all_kernels_in_model
        custom_object_scope deserialize_keras_object get_custom_objects get_file
        get_source_inputs model_to_dot multi_gpu_model normalize plot_model
        serialize_keras_object to_categorical""",
    "keras.wrappers": """
""",
    "keras.wrappers.scikit_learn": """
        KerasClassifier KerasRegressor""",
    "linalg": """
        LinearOperator LinearOperatorAdjoint LinearOperatorBlockDiag
        LinearOperatorCirculant LinearOperatorCirculant2D
        LinearOperatorCirculant3D LinearOperatorComposition LinearOperatorDiag
        LinearOperatorFullMatrix LinearOperatorHouseholder
        LinearOperatorIdentity LinearOperatorInversion LinearOperatorKronecker
        LinearOperatorLowRankUpdate LinearOperatorLowerTriangular
        LinearOperatorScaledIdentity LinearOperatorToeplitz LinearOperatorZeros
        adjoint band_part cholesky cholesky_solve cross det diag diag_part eigh
        eigvalsh einsum expm eye global_norm inv l2_normalize! logdet logm lstsq
        lu matmul matrix_rank matrix_transpose matvec norm! normalize pinv qr
        set_diag slogdet solve sqrtm svd tensor_diag tensor_diag_part tensordot
        trace triangular_solve tridiagonal_matmul tridiagonal_solve""",
    "lite": """
        Interpreter OpsSet Optimize RepresentativeDataset TFLiteConverter!
        TargetSpec""",
    "lite.experimental": """
        load_delegate""",
    "lookup": """
        KeyValueTensorInitializer StaticHashTable! StaticVocabularyTable!
        TextFileIndex TextFileInitializer""",
    "lookup.experimental": """
        DenseHashTable""",
    "losses": """
        BinaryCrossentropy=keras.losses. CategoricalCrossentropy=keras.losses.
        CategoricalHinge=keras.losses. CosineSimilarity=keras.losses.
        Hinge=keras.losses. Huber=keras.losses. KLD=keras.losses.
        KLDivergence=keras.losses. LogCosh=keras.losses. Loss=keras.losses.
        MAE=keras.losses. MAPE=keras.losses. MSE=keras.losses.
        MSLE=keras.losses. MeanAbsoluteError=keras.losses.
        MeanAbsolutePercentageError=keras.losses. MeanSquaredError=keras.losses.
        MeanSquaredLogarithmicError=keras.losses. Poisson=keras.losses.
        Reduction! SparseCategoricalCrossentropy=keras.losses.
        SquaredHinge=keras.losses. binary_crossentropy=keras.losses.
        categorical_crossentropy=keras.losses. categorical_hinge=keras.losses.
        cosine_similarity=keras.losses. deserialize=keras.losses.
        get=keras.losses. hinge=keras.losses. kld=keras.losses.
        kullback_leibler_divergence=keras.losses. logcosh=keras.losses.
        mae=keras.losses. mape=keras.losses. mean_absolute_error=keras.losses.
        mean_absolute_percentage_error=keras.losses.
        mean_squared_error=keras.losses.
        mean_squared_logarithmic_error=keras.losses. mse=keras.losses.
        msle=keras.losses. poisson=keras.losses. serialize=keras.losses.
        sparse_categorical_crossentropy=keras.losses.
        squared_hinge=keras.losses.""",
    "math": """
        abs accumulate_n acos acosh add add_n angle argmax! argmin! asin asinh
        atan atan2 atanh bessel_i0 bessel_i0e bessel_i1 bessel_i1e betainc
        bincount! ceil confusion_matrix! conj cos cosh count_nonzero! cumprod
        cumsum cumulative_logsumexp digamma divide divide_no_nan equal erf erfc
        exp expm1 floor floordiv floormod greater greater_equal igamma igammac
        imag in_top_k! invert_permutation is_finite is_inf is_nan
        is_non_decreasing is_strictly_increasing l2_normalize! lbeta less
        less_equal lgamma log log1p log_sigmoid log_softmax! logical_and
        logical_not logical_or logical_xor maximum minimum mod multiply
        multiply_no_nan negative nextafter not_equal polygamma polyval pow real
        reciprocal reciprocal_no_nan reduce_all! reduce_any!
        reduce_euclidean_norm reduce_logsumexp! reduce_max! reduce_mean!
        reduce_min! reduce_prod! reduce_std reduce_sum! reduce_variance rint
        round rsqrt scalar_mul! segment_max segment_mean segment_min
        segment_prod segment_sum sigmoid sign sin sinh softmax! softplus
        softsign sqrt square squared_difference subtract tan tanh top_k truediv
        unsorted_segment_max unsorted_segment_mean unsorted_segment_min
        unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum xdivy
        xlogy zero_fraction zeta""",
    "metrics": """
        AUC=keras.metrics. Accuracy=keras.metrics. BinaryAccuracy=keras.metrics.
        BinaryCrossentropy=keras.metrics. CategoricalAccuracy=keras.metrics.
        CategoricalCrossentropy=keras.metrics. CategoricalHinge=keras.metrics.
        CosineSimilarity=keras.metrics. FalseNegatives=keras.metrics.
        FalsePositives=keras.metrics. Hinge=keras.metrics. KLD=keras.losses.
        KLDivergence=keras.metrics. LogCoshError=keras.metrics.
        MAE=keras.losses. MAPE=keras.losses. MSE=keras.losses.
        MSLE=keras.losses. Mean=keras.metrics. MeanAbsoluteError=keras.metrics.
        MeanAbsolutePercentageError=keras.metrics. MeanIoU=keras.metrics.
        MeanRelativeError=keras.metrics. MeanSquaredError=keras.metrics.
        MeanSquaredLogarithmicError=keras.metrics. MeanTensor=keras.metrics.
        Metric=keras.metrics. Poisson=keras.metrics. Precision=keras.metrics.
        Recall=keras.metrics. RootMeanSquaredError=keras.metrics.
        SensitivityAtSpecificity=keras.metrics.
        SparseCategoricalAccuracy=keras.metrics.
        SparseCategoricalCrossentropy=keras.metrics.
        SparseTopKCategoricalAccuracy=keras.metrics.
        SpecificityAtSensitivity=keras.metrics. SquaredHinge=keras.metrics.
        Sum=keras.metrics. TopKCategoricalAccuracy=keras.metrics.
        TrueNegatives=keras.metrics. TruePositives=keras.metrics.
        binary_accuracy=keras.metrics. binary_crossentropy=keras.losses.
        categorical_accuracy=keras.metrics.
        categorical_crossentropy=keras.losses. deserialize=keras.metrics.
        get=keras.metrics. hinge=keras.losses. kld=keras.losses.
        kullback_leibler_divergence=keras.losses. mae=keras.losses.
        mape=keras.losses. mean_absolute_error=keras.losses.
        mean_absolute_percentage_error=keras.losses.
        mean_squared_error=keras.losses.
        mean_squared_logarithmic_error=keras.losses. mse=keras.losses.
        msle=keras.losses. poisson=keras.losses. serialize=keras.metrics.
        sparse_categorical_accuracy=keras.metrics.
        sparse_categorical_crossentropy=keras.losses.
        sparse_top_k_categorical_accuracy=keras.metrics.
        squared_hinge=keras.losses. top_k_categorical_accuracy=keras.metrics.""",
    "nest": """
        assert_same_structure flatten is_nested map_structure pack_sequence_as""",
    "nn": """
        RNNCellDeviceWrapper! RNNCellDropoutWrapper! RNNCellResidualWrapper!
        all_candidate_sampler atrous_conv2d atrous_conv2d_transpose
        avg_pool=nn.avg_pool_v2 avg_pool1d avg_pool2d! avg_pool3d
        batch_norm_with_global_normalization! batch_normalization bias_add
        collapse_repeated compute_accidental_hits compute_average_loss conv1d!
        conv1d_transpose conv2d! conv2d_transpose! conv3d! conv3d_transpose!
        conv_transpose convolution! crelu!
        ctc_beam_search_decoder=nn.ctc_beam_search_decoder_v2 ctc_greedy_decoder
        ctc_loss=nn.ctc_loss_v2 ctc_unique_labels depth_to_space!
        depthwise_conv2d! depthwise_conv2d_backprop_filter
        depthwise_conv2d_backprop_input dilation2d! dropout! elu
        embedding_lookup! embedding_lookup_sparse! erosion2d!
        fixed_unigram_candidate_sampler fractional_avg_pool!
        fractional_max_pool! in_top_k! l2_loss l2_normalize! leaky_relu
        learned_unigram_candidate_sampler local_response_normalization
        log_poisson_loss log_softmax! lrn max_pool=nn.max_pool_v2 max_pool1d
        max_pool2d max_pool3d max_pool_with_argmax! moments! nce_loss!
        normalize_moments pool! relu relu6 safe_embedding_lookup_sparse!
        sampled_softmax_loss! scale_regularization_loss selu separable_conv2d!
        sigmoid sigmoid_cross_entropy_with_logits! softmax!
        softmax_cross_entropy_with_logits! softplus softsign space_to_batch!
        space_to_depth! sparse_softmax_cross_entropy_with_logits!
        sufficient_statistics! swish tanh top_k
        weighted_cross_entropy_with_logits! weighted_moments!
        with_space_to_batch zero_fraction""",
    "optimizers": """
        Adadelta=keras.optimizers. Adagrad=keras.optimizers.
        Adam=keras.optimizers. Adamax=keras.optimizers. Ftrl=keras.optimizers.
        Nadam=keras.optimizers. Optimizer=keras.optimizers.
        RMSprop=keras.optimizers. SGD=keras.optimizers.
        deserialize=keras.optimizers. get=keras.optimizers.
        serialize=keras.optimizers.""",
    "optimizers.schedules": """
        ExponentialDecay=keras.optimizers.schedules.
        InverseTimeDecay=keras.optimizers.schedules.
        LearningRateSchedule=keras.optimizers.schedules.
        PiecewiseConstantDecay=keras.optimizers.schedules.
        PolynomialDecay=keras.optimizers.schedules.
        deserialize=keras.optimizers.schedules.
        serialize=keras.optimizers.schedules.""",
    "quantization": """
        dequantize fake_quant_with_min_max_args
        fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars
        fake_quant_with_min_max_vars_gradient
        fake_quant_with_min_max_vars_per_channel
        fake_quant_with_min_max_vars_per_channel_gradient quantize
        quantize_and_dequantize quantized_concat""",
    "queue": """
        FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue""",
    "ragged": """
        boolean_mask constant map_flat_values range row_splits_to_segment_ids
        segment_ids_to_row_splits stack stack_dynamic_partitions""",
    "random": """
        all_candidate_sampler categorical fixed_unigram_candidate_sampler gamma
        learned_unigram_candidate_sampler log_uniform_candidate_sampler normal
        poisson! set_seed! shuffle stateless_categorical stateless_normal
        stateless_truncated_normal stateless_uniform truncated_normal uniform
        uniform_candidate_sampler""",
    "random.experimental": """
        Generator create_rng_state get_global_generator set_global_generator""",
    "saved_model": """
        ASSETS_DIRECTORY ASSETS_KEY CLASSIFY_INPUTS CLASSIFY_METHOD_NAME
        CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES
        DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU PREDICT_INPUTS PREDICT_METHOD_NAME
        PREDICT_OUTPUTS REGRESS_INPUTS REGRESS_METHOD_NAME REGRESS_OUTPUTS
        SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT
        SAVED_MODEL_SCHEMA_VERSION SERVING TPU TRAINING VARIABLES_DIRECTORY
        VARIABLES_FILENAME contains_saved_model! load=saved_model.load_v2 save""",
    "sets": """
        difference intersection size union""",
    "signal": """
        dct fft fft2d fft3d fftshift frame hamming_window hann_window idct ifft
        ifft2d ifft3d ifftshift inverse_stft inverse_stft_window_fn irfft
        irfft2d irfft3d linear_to_mel_weight_matrix
        mfccs_from_log_mel_spectrograms overlap_and_add rfft rfft2d rfft3d stft""",
    "sparse": """
        SparseTensor add! concat! cross cross_hashed expand_dims eye
        fill_empty_rows from_dense mask maximum minimum reduce_max! reduce_sum!
        reorder reset_shape reshape retain segment_mean! segment_sqrt_n!
        segment_sum! slice softmax sparse_dense_matmul split! to_dense
        to_indicator transpose""",
    "strings": """
        as_string bytes_split format join length! lower ngrams reduce_join!
        regex_full_match regex_replace split! strip substr! to_hash_bucket!
        to_hash_bucket_fast to_hash_bucket_strong to_number! unicode_decode
        unicode_decode_with_offsets unicode_encode unicode_script unicode_split
        unicode_split_with_offsets unicode_transcode unsorted_segment_join upper""",
    "summary": """
        SummaryWriter! audio! create_file_writer! create_noop_writer! flush!
        histogram! image! record_if! scalar! text! trace_export! trace_off!
        trace_on! write!""",
    "summary.experimental": """
        get_step! set_step! summary_scope! write_raw_pb!""",
    "sysconfig": """
        CXX11_ABI_FLAG MONOLITHIC_BUILD get_compile_flags get_include get_lib
        get_link_flags""",
    "test": """
        Benchmark TestCase assert_equal_graph_def! benchmark_config
        compute_gradient! create_local_cluster gpu_device_name
        is_built_with_cuda is_built_with_gpu_support is_built_with_rocm
        is_gpu_available main""",
    "tpu": """
""",
    "tpu.experimental": """
        DeviceAssignment initialize_tpu_system""",
    "train": """
        BytesList Checkpoint! CheckpointManager ClusterDef ClusterSpec
        Coordinator Example ExponentialMovingAverage Feature FeatureList
        FeatureLists Features FloatList Int64List JobDef SequenceExample
        ServerDef checkpoints_iterator get_checkpoint_state latest_checkpoint
        list_variables load_checkpoint load_variable""",
    "train.experimental": """
        DynamicLossScale FixedLossScale LossScale PythonState
        disable_mixed_precision_graph_rewrite!
        enable_mixed_precision_graph_rewrite!""",
    "version": """
        COMPILER_VERSION GIT_VERSION GRAPH_DEF_VERSION
        GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER VERSION""",
    "xla": """
""",
    "xla.experimental": """
        compile jit_scope""",
}
