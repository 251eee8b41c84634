"""The modules of TensorFlow 1.15 outside its interface, and their public names.

Of each module NAMES has the namespaces of tf where its names are too: `name`, or
`name=original`. OTHERS are modules that have none. tools/tensorflow_modules.py
writes this file.
"""

NAMES = {
    "contrib.crf.python.ops.crf": {
        "contrib.crf": """
            CrfDecodeBackwardRnnCell CrfDecodeForwardRnnCell CrfForwardRnnCell
            crf_binary_score crf_decode crf_log_likelihood crf_log_norm
            crf_multitag_sequence_score crf_sequence_score crf_unary_score
            viterbi_decode""",
    },
    "contrib.data.python.ops.batching": {
        "contrib.data": """
            assert_element_shape batch_and_drop_remainder dense_to_sparse_batch
            map_and_batch padded_batch_and_drop_remainder unbatch""",
        "contrib.framework": "with_shape",
    },
    "contrib.data.python.ops.counter": {
        "contrib.data": "Counter",
    },
    "contrib.data.python.ops.enumerate_ops": {
        "contrib.data": "enumerate_dataset",
    },
    "contrib.data.python.ops.error_ops": {
        "contrib.data": "ignore_errors",
    },
    "contrib.data.python.ops.get_single_element": {
        "contrib.data": "get_single_element reduce_dataset",
    },
    "contrib.data.python.ops.grouping": {
        "contrib.data": """
            Reducer bucket_by_sequence_length group_by_reducer group_by_window""",
    },
    "contrib.data.python.ops.interleave_ops": {
        "contrib.data": """
            choose_from_datasets parallel_interleave sample_from_datasets
            sloppy_interleave""",
    },
    "contrib.data.python.ops.iterator_ops": {
        "contrib.data": """
            CheckpointInputPipelineHook make_saveable_from_iterator""",
    },
    "contrib.data.python.ops.parsing_ops": {
        "contrib.data": "parse_example_dataset",
    },
    "contrib.data.python.ops.prefetching_ops": {
        "contrib.data": "copy_to_device prefetch_to_device",
    },
    "contrib.data.python.ops.random_ops": {
        "contrib.data": "RandomDataset",
    },
    "contrib.data.python.ops.readers": {
        "contrib.data": """
            CsvDataset LMDBDataset SqlDataset make_batched_features_dataset
            make_csv_dataset read_batch_features""",
    },
    "contrib.data.python.ops.resampling": {
        "contrib.data": "rejection_resample",
    },
    "contrib.data.python.ops.scan_ops": {
        "contrib.data": "scan",
    },
    "contrib.data.python.ops.shuffle_ops": {
        "contrib.data": "shuffle_and_repeat",
    },
    "contrib.data.python.ops.sliding": {
        "contrib.data": "sliding_window_batch",
    },
    "contrib.data.python.ops.unique": {
        "contrib.data": "unique",
    },
    "contrib.data.python.ops.writers": {
        "contrib.data": "TFRecordWriter",
    },
    "contrib.distributions.python.ops.autoregressive": {
        "contrib.distributions": "Autoregressive",
    },
    "contrib.distributions.python.ops.batch_reshape": {
        "contrib.distributions": "BatchReshape",
    },
    "contrib.distributions.python.ops.bijectors": {
        "contrib.distributions.bijectors": """
            AbsoluteValue Affine AffineLinearOperator AffineScalar
            BatchNormalization Bijector Chain CholeskyOuterProduct
            ConditionalBijector Exp FillTriangular Gumbel Identity Inline Invert
            Kumaraswamy MaskedAutoregressiveFlow MatrixInverseTriL Ordered
            Permute PowerTransform RealNVP Reshape ScaleTriL Sigmoid SinhArcsinh
            SoftmaxCentered Softplus Softsign Square TransformDiagonal
            masked_autoregressive_default_template masked_dense
            real_nvp_default_template""",
    },
    "contrib.distributions.python.ops.bijectors.absolute_value": {
        "contrib.distributions.bijectors": "AbsoluteValue",
    },
    "contrib.distributions.python.ops.bijectors.affine": {
        "contrib.distributions.bijectors": "Affine",
    },
    "contrib.distributions.python.ops.bijectors.affine_linear_operator": {
        "contrib.distributions.bijectors": "AffineLinearOperator",
    },
    "contrib.distributions.python.ops.bijectors.affine_scalar": {
        "contrib.distributions.bijectors": "AffineScalar",
    },
    "contrib.distributions.python.ops.bijectors.batch_normalization": {
        "contrib.distributions.bijectors": "BatchNormalization",
    },
    "contrib.distributions.python.ops.bijectors.chain": {
        "contrib.distributions.bijectors": "Chain",
    },
    "contrib.distributions.python.ops.bijectors.cholesky_outer_product": {
        "contrib.distributions.bijectors": "CholeskyOuterProduct",
    },
    "contrib.distributions.python.ops.bijectors.conditional_bijector": {
        "contrib.distributions.bijectors": "ConditionalBijector",
    },
    "contrib.distributions.python.ops.bijectors.exp": {
        "contrib.distributions.bijectors": "Exp",
    },
    "contrib.distributions.python.ops.bijectors.fill_triangular": {
        "contrib.distributions.bijectors": "FillTriangular",
    },
    "contrib.distributions.python.ops.bijectors.gumbel": {
        "contrib.distributions.bijectors": "Gumbel",
    },
    "contrib.distributions.python.ops.bijectors.inline": {
        "contrib.distributions.bijectors": "Inline",
    },
    "contrib.distributions.python.ops.bijectors.invert": {
        "contrib.distributions.bijectors": "Invert",
    },
    "contrib.distributions.python.ops.bijectors.kumaraswamy": {
        "contrib.distributions.bijectors": "Kumaraswamy",
    },
    "contrib.distributions.python.ops.bijectors.masked_autoregressive": {
        "contrib.distributions.bijectors": """
            MaskedAutoregressiveFlow masked_autoregressive_default_template
            masked_dense""",
    },
    "contrib.distributions.python.ops.bijectors.matrix_inverse_tril": {
        "contrib.distributions.bijectors": "MatrixInverseTriL",
    },
    "contrib.distributions.python.ops.bijectors.ordered": {
        "contrib.distributions.bijectors": "Ordered",
    },
    "contrib.distributions.python.ops.bijectors.permute": {
        "contrib.distributions.bijectors": "Permute",
    },
    "contrib.distributions.python.ops.bijectors.power_transform": {
        "contrib.distributions.bijectors": "PowerTransform",
    },
    "contrib.distributions.python.ops.bijectors.real_nvp": {
        "contrib.distributions.bijectors": "RealNVP real_nvp_default_template",
    },
    "contrib.distributions.python.ops.bijectors.reshape": {
        "contrib.distributions.bijectors": "Reshape",
    },
    "contrib.distributions.python.ops.bijectors.scale_tril": {
        "contrib.distributions.bijectors": "ScaleTriL",
    },
    "contrib.distributions.python.ops.bijectors.sigmoid": {
        "contrib.distributions.bijectors": "Sigmoid",
    },
    "contrib.distributions.python.ops.bijectors.sinh_arcsinh": {
        "contrib.distributions.bijectors": "SinhArcsinh",
    },
    "contrib.distributions.python.ops.bijectors.softmax_centered": {
        "contrib.distributions.bijectors": "SoftmaxCentered",
    },
    "contrib.distributions.python.ops.bijectors.softplus": {
        "contrib.distributions.bijectors": "Softplus",
    },
    "contrib.distributions.python.ops.bijectors.softsign": {
        "contrib.distributions.bijectors": "Softsign",
    },
    "contrib.distributions.python.ops.bijectors.square": {
        "contrib.distributions.bijectors": "Square",
    },
    "contrib.distributions.python.ops.bijectors.transform_diagonal": {
        "contrib.distributions.bijectors": "TransformDiagonal",
    },
    "contrib.distributions.python.ops.binomial": {
        "contrib.distributions": "Binomial",
    },
    "contrib.distributions.python.ops.cauchy": {
        "contrib.distributions": "Cauchy",
    },
    "contrib.distributions.python.ops.chi2": {
        "contrib.distributions": "Chi2 Chi2WithAbsDf",
    },
    "contrib.distributions.python.ops.conditional_distribution": {
        "contrib.distributions": "ConditionalDistribution",
    },
    "contrib.distributions.python.ops.conditional_transformed_distribution": {
        "contrib.distributions": "ConditionalTransformedDistribution",
    },
    "contrib.distributions.python.ops.deterministic": {
        "contrib.distributions": "Deterministic VectorDeterministic",
    },
    "contrib.distributions.python.ops.distribution_util": {
        "contrib.distributions": """
            fill_triangular fill_triangular_inverse matrix_diag_transform
            reduce_weighted_logsumexp softplus_inverse tridiag""",
    },
    "contrib.distributions.python.ops.estimator": {
        "contrib.distributions": "estimator_head_distribution_regression",
    },
    "contrib.distributions.python.ops.geometric": {
        "contrib.distributions": "Geometric",
    },
    "contrib.distributions.python.ops.half_normal": {
        "contrib.distributions": "HalfNormal",
    },
    "contrib.distributions.python.ops.independent": {
        "contrib.distributions": "Independent",
    },
    "contrib.distributions.python.ops.inverse_gamma": {
        "contrib.distributions": """
            InverseGamma InverseGammaWithSoftplusConcentrationRate""",
    },
    "contrib.distributions.python.ops.kumaraswamy": {
        "contrib.distributions": "Kumaraswamy",
    },
    "contrib.distributions.python.ops.logistic": {
        "contrib.distributions": "Logistic",
    },
    "contrib.distributions.python.ops.mixture": {
        "contrib.distributions": "Mixture",
    },
    "contrib.distributions.python.ops.mixture_same_family": {
        "contrib.distributions": "MixtureSameFamily",
    },
    "contrib.distributions.python.ops.moving_stats": {
        "contrib.distributions": """
            assign_log_moving_mean_exp assign_moving_mean_variance
            moving_mean_variance""",
    },
    "contrib.distributions.python.ops.mvn_diag": {
        "contrib.distributions": """
            MultivariateNormalDiag MultivariateNormalDiagWithSoftplusScale""",
    },
    "contrib.distributions.python.ops.mvn_diag_plus_low_rank": {
        "contrib.distributions": "MultivariateNormalDiagPlusLowRank",
    },
    "contrib.distributions.python.ops.mvn_full_covariance": {
        "contrib.distributions": "MultivariateNormalFullCovariance",
    },
    "contrib.distributions.python.ops.mvn_linear_operator": {
        "contrib.distributions.bijectors": "AffineLinearOperator",
    },
    "contrib.distributions.python.ops.mvn_tril": {
        "contrib.distributions": "MultivariateNormalTriL",
    },
    "contrib.distributions.python.ops.negative_binomial": {
        "contrib.distributions": "NegativeBinomial",
    },
    "contrib.distributions.python.ops.normal_conjugate_posteriors": {
        "contrib.distributions": """
            normal_conjugates_known_scale_posterior
            normal_conjugates_known_scale_predictive""",
    },
    "contrib.distributions.python.ops.onehot_categorical": {
        "contrib.distributions": "OneHotCategorical",
    },
    "contrib.distributions.python.ops.poisson": {
        "contrib.distributions": "Poisson",
    },
    "contrib.distributions.python.ops.poisson_lognormal": {
        "contrib.distributions": """
            PoissonLogNormalQuadratureCompound
            quadrature_scheme_lognormal_gauss_hermite
            quadrature_scheme_lognormal_quantiles""",
        "contrib.distributions.bijectors": "Exp",
    },
    "contrib.distributions.python.ops.quantized_distribution": {
        "contrib.distributions": "QuantizedDistribution",
    },
    "contrib.distributions.python.ops.relaxed_bernoulli": {
        "contrib.distributions": "RelaxedBernoulli",
        "contrib.distributions.bijectors": "Sigmoid",
    },
    "contrib.distributions.python.ops.relaxed_onehot_categorical": {
        "contrib.distributions": """
            ExpRelaxedOneHotCategorical RelaxedOneHotCategorical""",
    },
    "contrib.distributions.python.ops.sample_stats": {
        "contrib.distributions": "auto_correlation percentile",
    },
    "contrib.distributions.python.ops.seed_stream": {
        "contrib.distributions": "SeedStream",
    },
    "contrib.distributions.python.ops.sinh_arcsinh": {
        "contrib.distributions": "SinhArcsinh",
    },
    "contrib.distributions.python.ops.vector_diffeomixture": {
        "contrib.distributions": """
            VectorDiffeomixture quadrature_scheme_softmaxnormal_gauss_hermite
            quadrature_scheme_softmaxnormal_quantiles""",
        "contrib.distributions.bijectors": """
            AffineLinearOperator SoftmaxCentered""",
    },
    "contrib.distributions.python.ops.vector_exponential_diag": {
        "contrib.distributions": "VectorExponentialDiag",
    },
    "contrib.distributions.python.ops.vector_laplace_diag": {
        "contrib.distributions": "VectorLaplaceDiag",
    },
    "contrib.distributions.python.ops.vector_sinh_arcsinh_diag": {
        "contrib.distributions": "VectorSinhArcsinhDiag",
    },
    "contrib.distributions.python.ops.wishart": {
        "contrib.distributions": "WishartCholesky WishartFull",
    },
    "contrib.framework.python.framework": {
        "": """
            assert_same_float_dtype assert_scalar
            convert_to_tensor_or_sparse_tensor is_tensor""",
        "contrib.framework": """
            assert_scalar_int deprecated_args fuse_op get_placeholders
            init_from_checkpoint list_variables load_checkpoint load_variable
            reduce_sum_n remove_squeezable_dimensions with_same_shape with_shape""",
        "contrib.slim": "deprecated deprecated_arg_values experimental",
    },
    "contrib.framework.python.framework.checkpoint_utils": {
        "contrib.framework": """
            init_from_checkpoint list_variables load_checkpoint load_variable""",
    },
    "contrib.framework.python.framework.experimental": {
        "contrib.slim": "experimental",
    },
    "contrib.framework.python.framework.graph_util": {
        "contrib.framework": "fuse_op get_placeholders",
    },
    "contrib.framework.python.framework.tensor_util": {
        "": """
            assert_same_float_dtype assert_scalar
            convert_to_tensor_or_sparse_tensor is_tensor""",
        "contrib.framework": """
            assert_scalar_int reduce_sum_n remove_squeezable_dimensions
            with_same_shape with_shape""",
        "contrib.slim": "deprecated",
    },
    "contrib.framework.python.ops": {
        "": "argsort sort",
        "contrib.framework": """
            get_graph_from_inputs get_name_scope
            load_and_remap_matrix_initializer load_embedding_initializer
            load_linear_multiclass_bias_initializer
            load_variable_slot_initializer py_func""",
        "contrib.slim": """
            VariableDeviceChooser add_arg_scope add_model_variable arg_scope
            arg_scope_func_key arg_scoped_arguments assert_global_step
            assert_or_get_global_step assign_from_checkpoint
            assign_from_checkpoint_fn assign_from_values assign_from_values_fn
            create_global_step current_arg_scope filter_variables
            get_global_step get_local_variables get_model_variables
            get_or_create_global_step get_trainable_variables
            get_unique_variable get_variable_full_name get_variables
            get_variables_by_name get_variables_by_suffix
            get_variables_to_restore global_variable has_arg_scope
            local_variable model_variable variable zero_initializer""",
    },
    "contrib.framework.python.ops.arg_scope": {
        "contrib.slim": """
            add_arg_scope arg_scope arg_scope_func_key arg_scoped_arguments
            current_arg_scope has_arg_scope""",
    },
    "contrib.framework.python.ops.checkpoint_ops": {
        "contrib.framework": """
            load_and_remap_matrix_initializer load_embedding_initializer
            load_linear_multiclass_bias_initializer
            load_variable_slot_initializer""",
    },
    "contrib.framework.python.ops.ops": {
        "contrib.framework": "get_graph_from_inputs get_name_scope",
    },
    "contrib.framework.python.ops.script_ops": {
        "contrib.framework": "py_func",
    },
    "contrib.framework.python.ops.sort_ops": {
        "": "argsort sort",
    },
    "contrib.framework.python.ops.variables": {
        "contrib.slim": """
            VariableDeviceChooser add_model_variable assert_global_step
            assert_or_get_global_step assign_from_checkpoint
            assign_from_checkpoint_fn assign_from_values assign_from_values_fn
            contrib_add_arg_scope=add_arg_scope create_global_step deprecated
            filter_variables get_global_step get_local_variables
            get_model_variables get_or_create_global_step
            get_trainable_variables get_unique_variable get_variable_full_name
            get_variables get_variables_by_name get_variables_by_suffix
            get_variables_to_restore global_variable local_variable
            model_variable variable zero_initializer""",
    },
    "contrib.image.python.ops.dense_image_warp": {
        "contrib.image": "dense_image_warp",
    },
    "contrib.image.python.ops.image_ops": {
        "contrib.image": """
            angles_to_projective_transforms bipartite_match compose_transforms
            connected_components flat_transforms_to_matrices
            matrices_to_flat_transforms rotate transform translate
            translations_to_projective_transforms""",
    },
    "contrib.image.python.ops.interpolate_spline": {
        "contrib.image": "interpolate_spline",
    },
    "contrib.image.python.ops.single_image_random_dot_stereograms": {
        "contrib.image": "single_image_random_dot_stereograms",
    },
    "contrib.image.python.ops.sparse_image_warp": {
        "contrib.image": "sparse_image_warp",
    },
    "contrib.layers.python.layers": {
        "contrib.slim": """
            DataFrameColumn GDN InputLayer OPTIMIZER_CLS_NAMES
            OPTIMIZER_SUMMARIES ProblemType RevBlock
            SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY adaptive_clipping_fn
            apply_regularization avg_pool2d avg_pool3d batch_norm bias_add
            binary_svm_target bow_encoder bucketize bucketized_column
            check_feature_columns conv1d conv2d conv2d_in_plane conv2d_transpose
            conv3d conv3d_transpose convolution convolution1d convolution2d
            convolution2d_in_plane convolution2d_transpose convolution3d
            convolution3d_transpose create_feature_spec_for_parsing
            crossed_column dense_to_sparse deprecated deprecated_arg_values
            dropout elu embed_sequence embedding_column
            embedding_lookup_sparse_with_distributed_aggregation
            embedding_lookup_unique experimental flatten fully_connected gdn
            get_default_binary_metrics_for_eval group_norm images_to_sequence
            infer_real_valued_columns input_from_feature_columns instance_norm
            joint_weighted_sum_from_feature_columns l1_l2_regularizer
            l1_regularizer l2_regularizer layer_norm legacy_fully_connected
            legacy_linear legacy_relu linear
            make_place_holder_tensors_for_base_features max_pool2d max_pool3d
            maxout multi_class_target one_hot_column one_hot_encoding
            optimize_loss parse_feature_columns_from_examples
            parse_feature_columns_from_sequence_examples pool real_valued_column
            recompute_grad regression_target relu relu6 repeat rev_block
            safe_embedding_lookup_sparse scale_gradient
            scattered_embedding_column scattered_embedding_lookup
            scattered_embedding_lookup_sparse separable_conv2d
            separable_convolution2d sequence_input_from_feature_columns
            sequence_to_images shared_embedding_columns softmax
            sparse_column_with_hash_bucket
            sparse_column_with_integerized_feature sparse_column_with_keys
            sparse_column_with_vocabulary_file sparse_feature_cross
            spatial_softmax stack sum_regularizer summarize_activation
            summarize_activations summarize_biases summarize_collection
            summarize_tensor summarize_tensors summarize_variables
            summarize_weights transform_features unit_norm
            variance_scaling_initializer weighted_sparse_column
            weighted_sum_from_feature_columns xavier_initializer
            xavier_initializer_conv2d""",
    },
    "contrib.layers.python.layers.embedding_ops": {
        "contrib.slim": """
            embedding_lookup_sparse_with_distributed_aggregation
            embedding_lookup_unique safe_embedding_lookup_sparse
            scattered_embedding_lookup scattered_embedding_lookup_sparse""",
    },
    "contrib.layers.python.layers.encoders": {
        "contrib.slim": "bow_encoder embed_sequence",
    },
    "contrib.layers.python.layers.feature_column": {
        "contrib.slim": """
            DataFrameColumn InputLayer bucketized_column
            create_feature_spec_for_parsing crossed_column embedding_column
            experimental make_place_holder_tensors_for_base_features
            one_hot_column real_valued_column scattered_embedding_column
            shared_embedding_columns sparse_column_with_hash_bucket
            sparse_column_with_integerized_feature sparse_column_with_keys
            sparse_column_with_vocabulary_file weighted_sparse_column""",
    },
    "contrib.layers.python.layers.feature_column_ops": {
        "contrib.slim": """
            check_feature_columns experimental infer_real_valued_columns
            input_from_feature_columns joint_weighted_sum_from_feature_columns
            parse_feature_columns_from_examples
            parse_feature_columns_from_sequence_examples
            sequence_input_from_feature_columns transform_features
            weighted_sum_from_feature_columns""",
    },
    "contrib.layers.python.layers.initializers": {
        "contrib.slim": """
            variance_scaling_initializer xavier_initializer
            xavier_initializer_conv2d""",
    },
    "contrib.layers.python.layers.layers": {
        "contrib.slim": """
            GDN add_arg_scope avg_pool2d avg_pool3d batch_norm bias_add conv1d
            conv2d conv2d_in_plane conv2d_transpose conv3d conv3d_transpose
            convolution convolution1d convolution2d convolution2d_in_plane
            convolution2d_transpose convolution3d convolution3d_transpose
            dense_to_sparse dropout elu flatten fully_connected gdn
            images_to_sequence layer_norm legacy_fully_connected legacy_linear
            legacy_relu linear max_pool2d max_pool3d maxout one_hot_encoding
            pool relu relu6 repeat scale_gradient separable_conv2d
            separable_convolution2d sequence_to_images softmax spatial_softmax
            stack unit_norm""",
    },
    "contrib.layers.python.layers.normalization": {
        "contrib.slim": "add_arg_scope group_norm instance_norm",
    },
    "contrib.layers.python.layers.optimizers": {
        "contrib.slim": """
            OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES adaptive_clipping_fn
            optimize_loss""",
    },
    "contrib.layers.python.layers.regularizers": {
        "contrib.slim": """
            apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer
            sum_regularizer""",
    },
    "contrib.layers.python.layers.rev_block_lib": {
        "contrib.slim": "RevBlock recompute_grad rev_block",
    },
    "contrib.layers.python.layers.summaries": {
        "contrib.slim": """
            summarize_activation summarize_activations summarize_biases
            summarize_collection summarize_tensor summarize_tensors
            summarize_variables summarize_weights""",
    },
    "contrib.layers.python.layers.target_column": {
        "contrib.slim": """
            ProblemType binary_svm_target deprecated
            get_default_binary_metrics_for_eval multi_class_target
            regression_target""",
    },
    "contrib.layers.python.layers.utils": {
        "contrib.slim.utils": """
            NamedOutputs append_tensor_alias channel_dimension
            collect_named_outputs constant_value convert_collection_to_dict
            gather_tensors_aliases get_tensor_aliases get_variable_collections
            last_dimension n_positive_integers smart_cond static_cond
            two_element_tuple""",
    },
    "contrib.layers.python.ops.bucketization_op": {
        "contrib.slim": "bucketize",
    },
    "contrib.layers.python.ops.sparse_feature_cross_op": {
        "contrib.slim": """
            SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY deprecated_arg_values
            sparse_feature_cross""",
    },
    "contrib.legacy_seq2seq.python.ops.seq2seq": {
        "contrib.legacy_seq2seq": """
            attention_decoder basic_rnn_seq2seq embedding_attention_decoder
            embedding_attention_seq2seq embedding_rnn_decoder
            embedding_rnn_seq2seq embedding_tied_rnn_seq2seq model_with_buckets
            one2many_rnn_seq2seq rnn_decoder sequence_loss
            sequence_loss_by_example tied_rnn_seq2seq""",
    },
    "contrib.lookup.lookup_ops": {
        "contrib.lookup": """
            FastHashSpec HashTable HasherSpec IdTableWithHashBuckets
            InitializableLookupTableBase LookupInterface MutableHashTable
            StrongHashSpec TableInitializerBase TextFileIdTableInitializer
            TextFileStringTableInitializer index_table_from_file
            index_table_from_tensor index_to_string
            index_to_string_table_from_file index_to_string_table_from_tensor
            string_to_index string_to_index_table_from_file
            string_to_index_table_from_tensor""",
        "contrib.slim": "deprecated",
        "lookup": "KeyValueTensorInitializer TextFileIndex TextFileInitializer",
        "lookup.experimental": "MutableDenseHashTable=DenseHashTable",
    },
    "contrib.losses.python.losses": {
        "contrib.losses": """
            absolute_difference add_loss compute_weighted_loss cosine_distance
            get_losses get_regularization_losses get_total_loss hinge_loss
            log_loss mean_pairwise_squared_error mean_squared_error
            sigmoid_cross_entropy softmax_cross_entropy
            sparse_softmax_cross_entropy""",
    },
    "contrib.losses.python.losses.loss_ops": {
        "contrib.framework": "deprecated_args",
        "contrib.losses": """
            absolute_difference add_loss compute_weighted_loss cosine_distance
            get_losses get_regularization_losses get_total_loss hinge_loss
            log_loss mean_pairwise_squared_error mean_squared_error
            sigmoid_cross_entropy softmax_cross_entropy
            sparse_softmax_cross_entropy""",
        "contrib.slim": "add_arg_scope deprecated",
    },
    "contrib.metrics.python.metrics": {
        "contrib.metrics": "accuracy f1_score",
    },
    "contrib.metrics.python.metrics.classification": {
        "contrib.metrics": "accuracy f1_score",
    },
    "contrib.metrics.python.ops.confusion_matrix_ops": {
        "contrib.metrics": "confusion_matrix",
    },
    "contrib.metrics.python.ops.histogram_ops": {
        "contrib.metrics": "auc_using_histogram",
    },
    "contrib.metrics.python.ops.metric_ops": {
        "contrib.metrics": """
            aggregate_metric_map aggregate_metrics auc_with_confidence_intervals
            cohen_kappa count precision_at_recall
            precision_recall_at_equal_thresholds recall_at_precision
            sparse_recall_at_top_k streaming_accuracy streaming_auc
            streaming_concat streaming_covariance streaming_curve_points
            streaming_dynamic_auc streaming_false_negative_rate
            streaming_false_negative_rate_at_thresholds
            streaming_false_negatives streaming_false_negatives_at_thresholds
            streaming_false_positive_rate
            streaming_false_positive_rate_at_thresholds
            streaming_false_positives streaming_false_positives_at_thresholds
            streaming_mean streaming_mean_absolute_error
            streaming_mean_cosine_distance streaming_mean_iou
            streaming_mean_relative_error streaming_mean_squared_error
            streaming_mean_tensor streaming_pearson_correlation
            streaming_percentage_less streaming_precision
            streaming_precision_at_thresholds streaming_recall
            streaming_recall_at_k streaming_recall_at_thresholds
            streaming_root_mean_squared_error
            streaming_sensitivity_at_specificity
            streaming_sparse_average_precision_at_k
            streaming_sparse_average_precision_at_top_k
            streaming_sparse_precision_at_k streaming_sparse_precision_at_top_k
            streaming_sparse_recall_at_k streaming_specificity_at_sensitivity
            streaming_true_negatives streaming_true_negatives_at_thresholds
            streaming_true_positives streaming_true_positives_at_thresholds""",
        "contrib.slim": "deprecated",
        "distributions": "Normal",
    },
    "contrib.metrics.python.ops.set_ops": {
        "sets": "set_difference set_intersection set_size set_union",
    },
    "contrib.nn.python.ops.alpha_dropout": {
        "contrib.nn": "alpha_dropout",
    },
    "contrib.nn.python.ops.cross_entropy": {
        "contrib.nn": """
            deprecated_flipped_sigmoid_cross_entropy_with_logits
            deprecated_flipped_softmax_cross_entropy_with_logits
            deprecated_flipped_sparse_softmax_cross_entropy_with_logits""",
    },
    "contrib.nn.python.ops.sampling_ops": {
        "contrib.nn": "rank_sampled_softmax_loss sampled_sparse_softmax_loss",
    },
    "contrib.nn.python.ops.scaled_softplus": {
        "contrib.nn": "scaled_softplus",
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
    "contrib.opt.python.training.agn_optimizer": {
        "contrib.opt": "AGNCustomGetter AGNOptimizer",
    },
    "contrib.opt.python.training.drop_stale_gradient_optimizer": {
        "contrib.opt": "DropStaleGradientOptimizer",
    },
    "contrib.opt.python.training.elastic_average_optimizer": {
        "contrib.opt": "ElasticAverageCustomGetter ElasticAverageOptimizer",
    },
    "contrib.opt.python.training.external_optimizer": {
        "contrib.opt": "ExternalOptimizerInterface ScipyOptimizerInterface",
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
        "contrib.opt": "ModelAverageCustomGetter ModelAverageOptimizer",
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
        "contrib.rnn": """
            EmbeddingWrapper InputProjectionWrapper OutputProjectionWrapper""",
        "nn.rnn_cell": "RNNCell",
    },
    "contrib.rnn.python.ops.fused_rnn_cell": {
        "contrib.rnn": "FusedRNNCell FusedRNNCellAdaptor TimeReversedFusedRNN",
    },
    "contrib.rnn.python.ops.gru_ops": {
        "contrib.framework": "deprecated_args",
        "contrib.rnn": "GRUBlockCell GRUBlockCellV2 LayerRNNCell",
    },
    "contrib.rnn.python.ops.lstm_ops": {
        "contrib.rnn": """
            LSTMBlockCell LSTMBlockFusedCell LSTMBlockWrapper LayerRNNCell""",
    },
    "contrib.rnn.python.ops.rnn": {
        "contrib.rnn": """
            stack_bidirectional_dynamic_rnn stack_bidirectional_rnn""",
    },
    "contrib.rnn.python.ops.rnn_cell": {
        "contrib.rnn": """
            AttentionCellWrapper BidirectionalGridLSTMCell CompiledWrapper
            Conv1DLSTMCell Conv2DLSTMCell Conv3DLSTMCell ConvLSTMCell
            CoupledInputForgetGateLSTMCell GLSTMCell GridLSTMCell HighwayWrapper
            IndRNNCell IndyGRUCell IndyLSTMCell IntersectionRNNCell
            LayerNormBasicLSTMCell NASCell PhasedLSTMCell SRUCell
            TimeFreqLSTMCell UGRNNCell""",
    },
    "contrib.seq2seq.python.ops.attention_wrapper": {
        "contrib.seq2seq": """
            AttentionMechanism AttentionWrapper AttentionWrapperState
            BahdanauAttention BahdanauMonotonicAttention LuongAttention
            LuongMonotonicAttention hardmax monotonic_attention safe_cumprod""",
    },
    "contrib.seq2seq.python.ops.basic_decoder": {
        "contrib.seq2seq": "BasicDecoder BasicDecoderOutput",
    },
    "contrib.seq2seq.python.ops.beam_search_decoder": {
        "contrib.seq2seq": """
            BeamSearchDecoder BeamSearchDecoderOutput BeamSearchDecoderState
            FinalBeamSearchDecoderOutput tile_batch""",
    },
    "contrib.seq2seq.python.ops.beam_search_ops": {
        "contrib.seq2seq": "gather_tree",
    },
    "contrib.seq2seq.python.ops.decoder": {
        "contrib.seq2seq": "Decoder dynamic_decode",
    },
    "contrib.seq2seq.python.ops.helper": {
        "contrib.seq2seq": """
            CustomHelper GreedyEmbeddingHelper Helper InferenceHelper
            SampleEmbeddingHelper ScheduledEmbeddingTrainingHelper
            ScheduledOutputTrainingHelper TrainingHelper""",
    },
    "contrib.seq2seq.python.ops.loss": {
        "contrib.seq2seq": "sequence_loss",
        "keras.losses": "Loss",
    },
    "contrib.slim.python.slim.data.data_decoder": {
        "contrib.slim.data_decoder": "DataDecoder",
    },
    "contrib.slim.python.slim.data.data_provider": {
        "contrib.slim.data_provider": "DataProvider",
    },
    "contrib.slim.python.slim.data.dataset": {
        "contrib.slim.dataset": "Dataset",
    },
    "contrib.slim.python.slim.data.dataset_data_provider": {
        "contrib.slim.dataset_data_provider": "DatasetDataProvider",
    },
    "contrib.slim.python.slim.data.parallel_reader": {
        "contrib.slim.parallel_reader": """
            ParallelReader get_data_files parallel_read single_pass_read""",
    },
    "contrib.slim.python.slim.data.prefetch_queue": {
        "contrib.slim.prefetch_queue": "prefetch_queue",
    },
    "contrib.slim.python.slim.data.tfexample_decoder": {
        "contrib.slim.tfexample_decoder": """
            BackupHandler BoundingBox Image ItemHandler ItemHandlerCallback
            LookupTensor SparseTensor TFExampleDecoder Tensor""",
    },
    "contrib.slim.python.slim.evaluation": {
        "contrib.slim.evaluation": "evaluate_once evaluation_loop",
        "contrib.training": "checkpoints_iterator wait_for_new_checkpoint",
    },
    "contrib.slim.python.slim.learning": {
        "contrib.slim.learning": """
            add_gradients_summaries clip_gradient_norms create_train_op
            multiply_gradients train train_step""",
    },
    "contrib.slim.python.slim.model_analyzer": {
        "contrib.slim.model_analyzer": """
            analyze_ops analyze_vars tensor_description""",
    },
    "contrib.slim.python.slim.queues": {
        "contrib.slim.queues": "NestedQueueRunnerError QueueRunners",
    },
    "contrib.training.python.training.bucket_ops": {
        "contrib.training": "bucket bucket_by_sequence_length",
    },
    "contrib.training.python.training.device_setter": {
        "contrib.training": """
            GreedyLoadBalancingStrategy RandomStrategy byte_size_load_fn""",
    },
    "contrib.training.python.training.evaluation": {
        "contrib.training": """
            StopAfterNEvalsHook SummaryAtEndHook checkpoints_iterator
            evaluate_once evaluate_repeatedly get_or_create_eval_step
            wait_for_new_checkpoint""",
    },
    "contrib.training.python.training.feeding_queue_runner": {
        "contrib.training": "FeedingQueueRunner",
    },
    "contrib.training.python.training.hparam": {
        "contrib.training": "HParams parse_values",
    },
    "contrib.training.python.training.resample": {
        "contrib.training": "resample_at_rate weighted_resample",
    },
    "contrib.training.python.training.sampling_ops": {
        "contrib.training": "rejection_sample stratified_sample",
    },
    "contrib.training.python.training.sequence_queueing_state_saver": {
        "contrib.training": """
            NextQueuedSequenceBatch SequenceQueueingStateSaver
            batch_sequences_with_states""",
    },
    "contrib.training.python.training.training": {
        "contrib.training": """
            add_gradients_summaries clip_gradient_norms clip_gradient_norms_fn
            create_train_op multiply_gradients train""",
    },
    "contrib.training.python.training.tuner": {
        "contrib.slim": "experimental",
    },
    "python.autograph": {
        "autograph.experimental": "Feature do_not_convert set_loop_options",
    },
    "python.autograph.core.converter": {
        "autograph.experimental": "Feature",
    },
    "python.autograph.impl.api": {
        "autograph": "to_code_v1=to_code to_graph_v1=to_graph",
        "autograph.experimental": "do_not_convert",
    },
    "python.autograph.lang.directives": {
        "autograph.experimental": "set_loop_options",
    },
    "python.autograph.utils.ag_logging": {
        "autograph": "set_verbosity trace",
    },
    "python.client.client_lib": {
        "": "InteractiveSession OpError Session get_default_session",
    },
    "python.client.session": {
        "": "InteractiveSession Session",
    },
    "python.compat.compat": {
        "compat": "forward_compatibility_horizon forward_compatible",
    },
    "python.compat.v2_compat": {
        "": "disable_v2_behavior enable_v2_behavior",
    },
    "python.data.experimental.ops.batching": {
        "data.experimental": """
            dense_to_sparse_batch map_and_batch
            map_and_batch_with_legacy_function unbatch""",
    },
    "python.data.experimental.ops.cardinality": {
        "data.experimental": "cardinality",
    },
    "python.data.experimental.ops.counter": {
        "data.experimental": "Counter CounterV1=Counter",
    },
    "python.data.experimental.ops.distribute_options": {
        "data.experimental": "DistributeOptions",
    },
    "python.data.experimental.ops.enumerate_ops": {
        "data.experimental": "enumerate_dataset",
    },
    "python.data.experimental.ops.error_ops": {
        "data.experimental": "ignore_errors",
    },
    "python.data.experimental.ops.get_single_element": {
        "data.experimental": "get_single_element",
    },
    "python.data.experimental.ops.grouping": {
        "data.experimental": """
            Reducer bucket_by_sequence_length group_by_reducer group_by_window""",
    },
    "python.data.experimental.ops.interleave_ops": {
        "data.experimental": """
            choose_from_datasets choose_from_datasets_v1=choose_from_datasets
            parallel_interleave sample_from_datasets
            sample_from_datasets_v1=sample_from_datasets""",
    },
    "python.data.experimental.ops.iterator_ops": {
        "data.experimental": """
            CheckpointInputPipelineHook make_saveable_from_iterator""",
    },
    "python.data.experimental.ops.optimization_options": {
        "data.experimental": "MapVectorizationOptions OptimizationOptions",
    },
    "python.data.experimental.ops.parsing_ops": {
        "data.experimental": "parse_example_dataset",
    },
    "python.data.experimental.ops.prefetching_ops": {
        "data.experimental": "copy_to_device prefetch_to_device",
    },
    "python.data.experimental.ops.random_ops": {
        "data.experimental": "RandomDataset RandomDatasetV1=RandomDataset",
    },
    "python.data.experimental.ops.readers": {
        "data.experimental": """
            CsvDataset CsvDatasetV1=CsvDataset SqlDataset
            SqlDatasetV1=SqlDataset make_batched_features_dataset
            make_batched_features_dataset_v1=make_batched_features_dataset
            make_csv_dataset make_csv_dataset_v1=make_csv_dataset""",
    },
    "python.data.experimental.ops.resampling": {
        "data.experimental": "rejection_resample",
    },
    "python.data.experimental.ops.scan_ops": {
        "data.experimental": "scan",
    },
    "python.data.experimental.ops.shuffle_ops": {
        "data.experimental": "shuffle_and_repeat",
    },
    "python.data.experimental.ops.stats_aggregator": {
        "data.experimental": """
            StatsAggregator StatsAggregatorV1=StatsAggregator""",
    },
    "python.data.experimental.ops.stats_ops": {
        "data.experimental": "bytes_produced_stats latency_stats",
    },
    "python.data.experimental.ops.stats_options": {
        "data.experimental": "StatsOptions",
    },
    "python.data.experimental.ops.take_while_ops": {
        "data.experimental": "take_while",
    },
    "python.data.experimental.ops.threading_options": {
        "data.experimental": "ThreadingOptions",
    },
    "python.data.experimental.ops.unique": {
        "data.experimental": "unique",
    },
    "python.data.experimental.ops.writers": {
        "data.experimental": "TFRecordWriter",
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
    "python.distribute.central_storage_strategy": {
        "distribute.experimental": """
            CentralStorageStrategyV1=CentralStorageStrategy""",
    },
    "python.distribute.cluster_resolver": {
        "distribute.cluster_resolver": """
            ClusterResolver GCEClusterResolver KubernetesClusterResolver
            SimpleClusterResolver SlurmClusterResolver TFConfigClusterResolver
            TPUClusterResolver UnionClusterResolver=UnionResolver""",
    },
    "python.distribute.cluster_resolver.cluster_resolver": {
        "distribute.cluster_resolver": """
            ClusterResolver SimpleClusterResolver
            UnionClusterResolver=UnionResolver""",
        "train": "ClusterSpec",
    },
    "python.distribute.cluster_resolver.gce_cluster_resolver": {
        "distribute.cluster_resolver": "ClusterResolver GCEClusterResolver",
        "train": "ClusterSpec",
    },
    "python.distribute.cluster_resolver.kubernetes_cluster_resolver": {
        "distribute.cluster_resolver": """
            ClusterResolver KubernetesClusterResolver""",
    },
    "python.distribute.cluster_resolver.slurm_cluster_resolver": {
        "distribute.cluster_resolver": "ClusterResolver SlurmClusterResolver",
        "train": "ClusterSpec",
    },
    "python.distribute.cluster_resolver.tfconfig_cluster_resolver": {
        "distribute.cluster_resolver": """
            ClusterResolver TFConfigClusterResolver""",
        "train": "ClusterSpec",
    },
    "python.distribute.cluster_resolver.tpu_cluster_resolver": {
        "distribute.cluster_resolver": "ClusterResolver TPUClusterResolver",
    },
    "python.distribute.collective_all_reduce_strategy": {
        "distribute.cluster_resolver": """
            SimpleClusterResolver TFConfigClusterResolver""",
        "distribute.experimental": """
            CollectiveAllReduceStrategyV1=MultiWorkerMirroredStrategy""",
    },
    "python.distribute.cross_device_ops": {
        "distribute": """
            CrossDeviceOps HierarchicalCopyAllReduce NcclAllReduce
            ReductionToOneDevice""",
        "distribute.experimental": "CollectiveCommunication",
    },
    "python.distribute.distribute_lib": {
        "distribute": """
            InputContext InputReplicationMode ReplicaContext
            StrategyExtendedV1=StrategyExtended StrategyV1=Strategy
            get_loss_reduction""",
    },
    "python.distribute.distribution_strategy_context": {
        "distribute": """
            experimental_set_strategy get_distribution_strategy=get_strategy
            get_replica_context get_strategy
            has_distribution_strategy=has_strategy has_strategy
            in_cross_replica_context""",
    },
    "python.distribute.mirrored_strategy": {
        "distribute": "MirroredStrategyV1=MirroredStrategy",
        "distribute.cluster_resolver": "TFConfigClusterResolver",
    },
    "python.distribute.one_device_strategy": {
        "distribute": "OneDeviceStrategyV1=OneDeviceStrategy",
    },
    "python.distribute.parameter_server_strategy": {
        "distribute.cluster_resolver": """
            SimpleClusterResolver TFConfigClusterResolver""",
        "distribute.experimental": """
            ParameterServerStrategyV1=ParameterServerStrategy""",
    },
    "python.distribute.reduce_util": {
        "distribute": "ReduceOp",
    },
    "python.distribute.tpu_strategy": {
        "distribute.cluster_resolver": "TPUClusterResolver",
        "distribute.experimental": "TPUStrategyV1=TPUStrategy",
    },
    "python.eager.backprop": {
        "": "GradientTape UnconnectedGradients",
        "contrib.eager": """
            gradients_function implicit_grad=implicit_gradients
            implicit_val_and_grad=implicit_value_and_gradients
            val_and_grad_function=value_and_gradients_function""",
    },
    "python.eager.context": {
        "": "executing_eagerly",
        "config": "list_devices=experimental_list_devices",
        "config.experimental": "VirtualDeviceConfiguration",
        "contrib.eager": """
            ASYNC DEVICE_PLACEMENT_EXPLICIT DEVICE_PLACEMENT_SILENT
            DEVICE_PLACEMENT_WARN SYNC async_clear_error async_wait
            execution_mode num_gpus set_execution_mode set_server_def""",
        "debugging": "get_log_device_placement set_log_device_placement",
        "experimental": "function_executor_type",
    },
    "python.eager.def_function": {
        "": "function",
        "config": "run_functions_eagerly=experimental_run_functions_eagerly",
    },
    "python.eager.execution_callbacks": {
        "contrib.eager": """
            ExecutionCallback add_execution_callback clear_execution_callbacks
            errstate inf_callback inf_nan_callback nan_callback seterr""",
    },
    "python.eager.function": {
        "contrib.eager": "defun",
    },
    "python.eager.imperative_grad": {
        "": "UnconnectedGradients",
    },
    "python.eager.remote": {
        "config": """
            connect_to_cluster=experimental_connect_to_cluster
            connect_to_remote_host=experimental_connect_to_host""",
        "train": "ServerDef",
    },
    "python.eager.wrap_function": {
        "": "wrap_function",
    },
    "python.feature_column.dense_features": {
        "keras.layers": "DenseFeatures",
    },
    "python.feature_column.feature_column": {
        "contrib.slim": "InputLayer",
        "feature_column": "input_layer linear_model make_parse_example_spec",
    },
    "python.feature_column.feature_column_lib": {
        "contrib.slim": "InputLayer",
        "feature_column": """
            bucketized_column categorical_column_with_hash_bucket
            categorical_column_with_identity
            categorical_column_with_vocabulary_file
            categorical_column_with_vocabulary_list crossed_column
            embedding_column indicator_column input_layer linear_model
            make_parse_example_spec numeric_column
            sequence_categorical_column_with_hash_bucket
            sequence_categorical_column_with_identity
            sequence_categorical_column_with_vocabulary_file
            sequence_categorical_column_with_vocabulary_list
            sequence_numeric_column shared_embedding_columns
            weighted_categorical_column""",
        "keras.layers": "DenseFeatures Layer",
    },
    "python.feature_column.feature_column_v2": {
        "feature_column": """
            bucketized_column categorical_column_with_hash_bucket
            categorical_column_with_identity
            categorical_column_with_vocabulary_file
            categorical_column_with_vocabulary_list crossed_column
            embedding_column indicator_column numeric_column
            shared_embedding_columns weighted_categorical_column""",
        "keras.layers": "Layer",
    },
    "python.feature_column.sequence_feature_column": {
        "feature_column": """
            sequence_categorical_column_with_hash_bucket
            sequence_categorical_column_with_identity
            sequence_categorical_column_with_vocabulary_file
            sequence_categorical_column_with_vocabulary_list
            sequence_numeric_column""",
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
        "contrib.framework": "deprecated_args",
    },
    "python.framework.indexed_slices": {
        "": """
            IndexedSlices IndexedSlicesSpec convert_to_tensor_or_indexed_slices""",
    },
    "python.framework.load_library": {
        "": "load_file_system_library load_library load_op_library",
    },
    "python.framework.meta_graph": {
        "contrib.util": "ops_used_by_graph_def stripped_op_list_for_graph",
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
        "contrib.eager": """
            eager_run=run
            enable_eager_execution_internal=enable_remote_eager_execution""",
        "contrib.framework": """
            deprecated_args prepend_name_scope strip_name_scope""",
    },
    "python.framework.random_seed": {
        "": "get_seed set_random_seed",
    },
    "python.framework.smart_cond": {
        "contrib.framework": "smart_case smart_cond smart_constant_value",
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
        "contrib.framework": "BoundedTensorSpec",
    },
    "python.framework.tensor_util": {
        "": """
            MakeNdarray=make_ndarray constant_value=get_static_value is_tensor
            make_tensor_proto""",
    },
    "python.framework.test_util": {
        "contrib.eager": """
            run_all_in_graph_and_eager_modes=run_all_tests_in_graph_and_eager_modes
            run_in_graph_and_eager_modes=run_test_in_graph_and_eager_modes""",
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
    "python.keras": {
        "keras": "Input Model Sequential",
    },
    "python.keras.activations": {
        "keras.activations": """
            deserialize elu exponential get hard_sigmoid linear relu selu
            serialize sigmoid softmax softplus softsign tanh""",
        "keras.utils": "deserialize_keras_object serialize_keras_object",
    },
    "python.keras.applications": {
        "keras.applications": """
            DenseNet121 DenseNet169 DenseNet201 InceptionResNetV2 InceptionV3
            MobileNet MobileNetV2 NASNetLarge NASNetMobile ResNet101 ResNet101V2
            ResNet152 ResNet152V2 ResNet50 ResNet50V2 VGG16 VGG19 Xception""",
        "keras.applications.imagenet_utils": """
            decode_predictions preprocess_input""",
    },
    "python.keras.applications.densenet": {
        "keras.applications": "DenseNet121 DenseNet169 DenseNet201",
        "keras.applications.densenet": "decode_predictions preprocess_input",
    },
    "python.keras.applications.imagenet_utils": {
        "keras.applications.imagenet_utils": """
            decode_predictions preprocess_input""",
    },
    "python.keras.applications.inception_resnet_v2": {
        "keras.applications": "InceptionResNetV2",
        "keras.applications.inception_resnet_v2": """
            decode_predictions preprocess_input""",
    },
    "python.keras.applications.inception_v3": {
        "keras.applications": "InceptionV3",
        "keras.applications.inception_v3": """
            decode_predictions preprocess_input""",
    },
    "python.keras.applications.mobilenet": {
        "keras.applications": "MobileNet",
        "keras.applications.mobilenet": "decode_predictions preprocess_input",
    },
    "python.keras.applications.mobilenet_v2": {
        "keras.applications": "MobileNetV2",
        "keras.applications.mobilenet_v2": """
            decode_predictions preprocess_input""",
    },
    "python.keras.applications.nasnet": {
        "keras.applications": "NASNetLarge NASNetMobile",
        "keras.applications.nasnet": "decode_predictions preprocess_input",
    },
    "python.keras.applications.resnet": {
        "keras.applications": "ResNet101 ResNet152 ResNet50",
        "keras.applications.resnet": "decode_predictions preprocess_input",
    },
    "python.keras.applications.resnet_v2": {
        "keras.applications": "ResNet101V2 ResNet152V2 ResNet50V2",
        "keras.applications.resnet_v2": "decode_predictions preprocess_input",
    },
    "python.keras.applications.vgg16": {
        "keras.applications": "VGG16",
        "keras.applications.vgg16": "decode_predictions preprocess_input",
    },
    "python.keras.applications.vgg19": {
        "keras.applications": "VGG19",
        "keras.applications.vgg19": "decode_predictions preprocess_input",
    },
    "python.keras.applications.xception": {
        "keras.applications": "Xception",
        "keras.applications.xception": "decode_predictions preprocess_input",
    },
    "python.keras.backend": {
        "keras.backend": """
            abs all any arange argmax argmin backend batch_dot batch_flatten
            batch_get_value batch_normalization batch_set_value bias_add
            binary_crossentropy cast cast_to_floatx categorical_crossentropy
            clear_session clip concatenate constant conv1d conv2d
            conv2d_transpose conv3d cos count_params ctc_batch_cost ctc_decode
            ctc_label_dense_to_sparse cumprod cumsum dot dropout dtype elu
            epsilon equal eval exp expand_dims eye flatten floatx foldl foldr
            function gather get_session get_uid get_value gradients greater
            greater_equal hard_sigmoid image_data_format in_test_phase in_top_k
            in_train_phase int_shape is_sparse l2_normalize learning_phase
            learning_phase_scope less less_equal local_conv1d local_conv2d log
            manual_variable_initialization map_fn max maximum mean min minimum
            moving_average_update ndim normalize_batch_in_training not_equal
            one_hot ones ones_like permute_dimensions placeholder pool2d pool3d
            pow print_tensor prod random_binomial random_normal
            random_normal_variable random_uniform random_uniform_variable relu
            repeat repeat_elements reset_uids reshape resize_images
            resize_volumes reverse rnn round separable_conv2d set_epsilon
            set_floatx set_image_data_format set_learning_phase set_session
            set_value shape sigmoid sign sin softmax softplus softsign
            sparse_categorical_crossentropy spatial_2d_padding
            spatial_3d_padding sqrt square squeeze stack std stop_gradient sum
            switch tanh temporal_padding tile to_dense transpose
            truncated_normal update update_add update_sub var variable zeros
            zeros_like""",
    },
    "python.keras.backend_config": {
        "keras.backend": """
            epsilon floatx image_data_format set_epsilon set_floatx
            set_image_data_format""",
    },
    "python.keras.callbacks": {
        "keras.callbacks": """
            BaseLogger CSVLogger Callback EarlyStopping History LambdaCallback
            LearningRateScheduler ModelCheckpoint ProgbarLogger
            ReduceLROnPlateau RemoteMonitor TerminateOnNaN""",
        "keras.utils": "Progbar Sequence",
    },
    "python.keras.callbacks_v1": {
        "keras.callbacks": "TensorBoard",
    },
    "python.keras.constraints": {
        "keras.constraints": """
            Constraint MaxNorm MinMaxNorm NonNeg RadialConstraint UnitNorm
            deserialize get max_norm maxnorm=MaxNorm min_max_norm non_neg
            nonneg=NonNeg radial_constraint serialize unit_norm
            unitnorm=UnitNorm""",
        "keras.utils": "deserialize_keras_object serialize_keras_object",
    },
    "python.keras.datasets.boston_housing": {
        "keras.utils": "get_file",
    },
    "python.keras.datasets.cifar10": {
        "keras.utils": "get_file",
    },
    "python.keras.datasets.cifar100": {
        "keras.utils": "get_file",
    },
    "python.keras.datasets.fashion_mnist": {
        "keras.utils": "get_file",
    },
    "python.keras.datasets.imdb": {
        "keras.utils": "get_file",
    },
    "python.keras.datasets.mnist": {
        "keras.utils": "get_file",
    },
    "python.keras.datasets.reuters": {
        "keras.utils": "get_file",
    },
    "python.keras.engine": {
        "keras": "Input",
        "keras.layers": "InputLayer Layer",
        "keras.utils": "get_source_inputs",
        "layers": "InputSpec",
    },
    "python.keras.engine.base_layer": {
        "keras.layers": "Layer",
        "keras.utils": "serialize_keras_object",
        "layers": "InputSpec",
    },
    "python.keras.engine.input_layer": {
        "keras": "Input",
        "keras.layers": "InputLayer",
    },
    "python.keras.engine.input_spec": {
        "layers": "InputSpec",
    },
    "python.keras.engine.sequential": {
        "keras": "Sequential",
    },
    "python.keras.engine.training": {
        "keras": "Model",
    },
    "python.keras.engine.training_distributed": {
        "keras.utils": "Progbar",
    },
    "python.keras.engine.training_eager": {
        "": "GradientTape",
    },
    "python.keras.initializers": {
        "": """
            GlorotNormal=glorot_normal_initializer
            GlorotUniform=glorot_uniform_initializer
            TFRandomNormal=random_normal_initializer
            TFRandomUniform=random_uniform_initializer
            TFTruncatedNormal=truncated_normal_initializer one=ones_initializer
            zero=zeros_initializer""",
        "initializers": """
            constant glorot_normal glorot_uniform he_normal he_uniform identity
            lecun_normal lecun_uniform ones orthogonal zeros""",
        "keras.initializers": """
            Constant Identity Initializer Ones Orthogonal RandomNormal
            RandomUniform TruncatedNormal VarianceScaling Zeros deserialize get
            normal random_normal random_uniform serialize truncated_normal
            uniform""",
        "keras.utils": "deserialize_keras_object serialize_keras_object",
    },
    "python.keras.layers": {
        "keras": "Input",
        "keras.layers": """
            AbstractRNNCell Activation ActivityRegularization Add
            AdditiveAttention AlphaDropout Attention Average AveragePooling1D
            AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D AvgPool3D
            BatchNormalization Bidirectional Concatenate Conv1D Conv2D
            Conv2DTranspose Conv3D Conv3DTranspose ConvLSTM2D Convolution1D
            Convolution2D Convolution2DTranspose Convolution3D
            Convolution3DTranspose Cropping1D Cropping2D Cropping3D CuDNNGRU
            CuDNNLSTM Dense DepthwiseConv2D Dot Dropout ELU Embedding Flatten
            GRU GRUCell GaussianDropout GaussianNoise GlobalAveragePooling1D
            GlobalAveragePooling2D GlobalAveragePooling3D GlobalAvgPool1D
            GlobalAvgPool2D GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool2D
            GlobalMaxPool3D GlobalMaxPooling1D GlobalMaxPooling2D
            GlobalMaxPooling3D InputLayer LSTM LSTMCell Lambda Layer
            LayerNormalization LeakyReLU LocallyConnected1D LocallyConnected2D
            Masking MaxPool1D MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D
            MaxPooling3D Maximum Minimum Multiply PReLU Permute RNN ReLU
            RepeatVector Reshape SeparableConv1D SeparableConv2D
            SeparableConvolution1D SeparableConvolution2D SimpleRNN
            SimpleRNNCell Softmax SpatialDropout1D SpatialDropout2D
            SpatialDropout3D StackedRNNCells Subtract ThresholdedReLU
            TimeDistributed UpSampling1D UpSampling2D UpSampling3D Wrapper
            ZeroPadding1D ZeroPadding2D ZeroPadding3D add average concatenate
            deserialize dot maximum minimum multiply serialize subtract""",
        "layers": "InputSpec",
    },
    "python.keras.layers.advanced_activations": {
        "keras.layers": """
            ELU Layer LeakyReLU PReLU ReLU Softmax ThresholdedReLU""",
        "layers": "InputSpec",
    },
    "python.keras.layers.convolutional": {
        "keras.layers": """
            AveragePooling1D AveragePooling2D AveragePooling3D Conv1D Conv2D
            Conv2DTranspose Conv3D Conv3DTranspose Convolution1D Convolution2D
            Convolution2DTranspose Convolution3D Convolution3DTranspose
            Cropping1D Cropping2D Cropping3D Deconv2D=Conv2DTranspose
            Deconv3D=Conv3DTranspose Deconvolution2D=Conv2DTranspose
            Deconvolution3D=Conv3DTranspose DepthwiseConv2D Layer MaxPooling1D
            MaxPooling2D MaxPooling3D SeparableConv1D SeparableConv2D
            SeparableConvolution1D SeparableConvolution2D UpSampling1D
            UpSampling2D UpSampling3D ZeroPadding1D ZeroPadding2D ZeroPadding3D""",
        "layers": "InputSpec",
    },
    "python.keras.layers.convolutional_recurrent": {
        "keras.layers": "ConvLSTM2D Layer RNN",
        "layers": "InputSpec",
    },
    "python.keras.layers.core": {
        "keras.layers": """
            Activation ActivityRegularization Dense Dropout Flatten Lambda Layer
            Masking Permute RepeatVector Reshape SpatialDropout1D
            SpatialDropout2D SpatialDropout3D""",
        "layers": "InputSpec",
    },
    "python.keras.layers.cudnn_recurrent": {
        "keras.layers": "CuDNNGRU CuDNNLSTM RNN",
        "layers": "InputSpec",
    },
    "python.keras.layers.dense_attention": {
        "keras.layers": "AdditiveAttention Attention Layer",
    },
    "python.keras.layers.embeddings": {
        "keras.layers": "Embedding Layer",
    },
    "python.keras.layers.local": {
        "keras.layers": "Layer LocallyConnected1D LocallyConnected2D",
        "layers": "InputSpec",
    },
    "python.keras.layers.merge": {
        "keras.layers": """
            Add Average Concatenate Dot Layer Maximum Minimum Multiply Subtract
            add average concatenate dot maximum minimum multiply subtract""",
    },
    "python.keras.layers.noise": {
        "keras.layers": "AlphaDropout GaussianDropout GaussianNoise Layer",
    },
    "python.keras.layers.normalization": {
        "keras.layers": "BatchNormalization Layer LayerNormalization",
        "layers": "InputSpec",
    },
    "python.keras.layers.pooling": {
        "keras.layers": """
            AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D
            AvgPool2D AvgPool3D GlobalAveragePooling1D GlobalAveragePooling2D
            GlobalAveragePooling3D GlobalAvgPool1D GlobalAvgPool2D
            GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D
            GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D Layer
            MaxPool1D MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D MaxPooling3D""",
        "layers": "InputSpec",
    },
    "python.keras.layers.recurrent": {
        "keras.layers": """
            AbstractRNNCell GRU GRUCell LSTM LSTMCell Layer RNN SimpleRNN
            SimpleRNNCell StackedRNNCells""",
        "layers": "InputSpec",
    },
    "python.keras.layers.recurrent_v2": {
        "layers": "InputSpec",
    },
    "python.keras.layers.rnn_cell_wrapper_v2": {
        "keras.layers": "AbstractRNNCell",
    },
    "python.keras.layers.serialization": {
        "keras": "Input",
        "keras.layers": """
            AbstractRNNCell Activation ActivityRegularization Add
            AdditiveAttention AlphaDropout Attention Average AveragePooling1D
            AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D AvgPool3D
            BatchNormalization Bidirectional Concatenate Conv1D Conv2D
            Conv2DTranspose Conv3D Conv3DTranspose ConvLSTM2D Convolution1D
            Convolution2D Convolution2DTranspose Convolution3D
            Convolution3DTranspose Cropping1D Cropping2D Cropping3D CuDNNGRU
            CuDNNLSTM Deconv2D=Conv2DTranspose Deconv3D=Conv3DTranspose
            Deconvolution2D=Conv2DTranspose Deconvolution3D=Conv3DTranspose
            Dense DepthwiseConv2D Dot Dropout ELU Embedding Flatten GRU GRUCell
            GaussianDropout GaussianNoise GlobalAveragePooling1D
            GlobalAveragePooling2D GlobalAveragePooling3D GlobalAvgPool1D
            GlobalAvgPool2D GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool2D
            GlobalMaxPool3D GlobalMaxPooling1D GlobalMaxPooling2D
            GlobalMaxPooling3D InputLayer LSTM LSTMCell Lambda Layer
            LayerNormalization LeakyReLU LocallyConnected1D LocallyConnected2D
            Masking MaxPool1D MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D
            MaxPooling3D Maximum Minimum Multiply PReLU Permute RNN ReLU
            RepeatVector Reshape SeparableConv1D SeparableConv2D
            SeparableConvolution1D SeparableConvolution2D SimpleRNN
            SimpleRNNCell Softmax SpatialDropout1D SpatialDropout2D
            SpatialDropout3D StackedRNNCells Subtract ThresholdedReLU
            TimeDistributed UpSampling1D UpSampling2D UpSampling3D Wrapper
            ZeroPadding1D ZeroPadding2D ZeroPadding3D add average concatenate
            deserialize dot maximum minimum multiply serialize subtract""",
        "keras.utils": "deserialize_keras_object",
        "layers": "InputSpec",
    },
    "python.keras.layers.wrappers": {
        "keras.layers": "Bidirectional Layer TimeDistributed Wrapper",
        "layers": "InputSpec",
    },
    "python.keras.losses": {
        "keras.losses": """
            BinaryCrossentropy CategoricalCrossentropy CategoricalHinge
            CosineSimilarity Hinge Huber KLD KLDivergence LogCosh Loss MAE MAPE
            MSE MSLE MeanAbsoluteError MeanAbsolutePercentageError
            MeanSquaredError MeanSquaredLogarithmicError Poisson
            SparseCategoricalCrossentropy SquaredHinge binary_crossentropy
            categorical_crossentropy categorical_hinge cosine_proximity
            cosine_similarity deserialize get hinge kld
            kullback_leibler_divergence logcosh mae mape mean_absolute_error
            mean_absolute_percentage_error mean_squared_error
            mean_squared_logarithmic_error mse msle poisson serialize
            sparse_categorical_crossentropy squared_hinge""",
        "keras.utils": "deserialize_keras_object serialize_keras_object",
    },
    "python.keras.metrics": {
        "keras.layers": "Layer",
        "keras.losses": """
            MAE MAPE MSE MSLE binary_crossentropy categorical_crossentropy
            categorical_hinge cosine_proximity cosine_similarity hinge
            kullback_leibler_divergence logcosh mae mape mean_absolute_error
            mean_absolute_percentage_error mean_squared_error
            mean_squared_logarithmic_error mse msle poisson
            sparse_categorical_crossentropy squared_hinge""",
        "keras.metrics": """
            AUC Accuracy BinaryAccuracy BinaryCrossentropy CategoricalAccuracy
            CategoricalCrossentropy CategoricalHinge CosineSimilarity
            FalseNegatives FalsePositives Hinge KLDivergence LogCoshError Mean
            MeanAbsoluteError MeanAbsolutePercentageError MeanIoU
            MeanRelativeError MeanSquaredError MeanSquaredLogarithmicError
            MeanTensor Metric Poisson Precision Recall RootMeanSquaredError
            SensitivityAtSpecificity SparseCategoricalAccuracy
            SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy
            SpecificityAtSensitivity SquaredHinge Sum TopKCategoricalAccuracy
            TrueNegatives TruePositives binary_accuracy categorical_accuracy
            deserialize get serialize sparse_categorical_accuracy
            sparse_top_k_categorical_accuracy top_k_categorical_accuracy""",
        "keras.utils": "deserialize_keras_object serialize_keras_object",
    },
    "python.keras.models": {
        "keras": "Input Model Sequential",
        "keras.layers": "InputLayer Layer",
        "keras.models": """
            clone_model load_model model_from_config model_from_json
            model_from_yaml save_model""",
        "keras.utils": "CustomObjectScope",
    },
    "python.keras.optimizer_v2.adadelta": {
        "keras.optimizers": "Adadelta",
    },
    "python.keras.optimizer_v2.adagrad": {
        "keras.optimizers": "Adagrad",
    },
    "python.keras.optimizer_v2.adam": {
        "keras.optimizers": "Adam",
    },
    "python.keras.optimizer_v2.adamax": {
        "keras.optimizers": "Adamax",
    },
    "python.keras.optimizer_v2.ftrl": {
        "keras.optimizers": "Ftrl",
    },
    "python.keras.optimizer_v2.gradient_descent": {
        "keras.optimizers": "SGD",
    },
    "python.keras.optimizer_v2.nadam": {
        "keras.optimizers": "Nadam",
    },
    "python.keras.optimizer_v2.optimizer_v2": {
        "keras.optimizers": "OptimizerV2=Optimizer",
    },
    "python.keras.optimizer_v2.rmsprop": {
        "keras.optimizers": "RMSProp=RMSprop RMSprop",
    },
    "python.keras.optimizers": {
        "keras.optimizers": "deserialize get serialize",
        "keras.utils": "deserialize_keras_object serialize_keras_object",
    },
    "python.keras.preprocessing.image": {
        "keras.preprocessing.image": """
            DirectoryIterator ImageDataGenerator Iterator NumpyArrayIterator
            apply_affine_transform apply_brightness_shift apply_channel_shift
            array_to_img img_to_array load_img random_brightness
            random_channel_shift random_rotation random_shear random_shift
            random_zoom save_img""",
    },
    "python.keras.preprocessing.sequence": {
        "keras.preprocessing.sequence": """
            TimeseriesGenerator make_sampling_table pad_sequences skipgrams""",
    },
    "python.keras.preprocessing.text": {
        "keras.preprocessing.text": """
            Tokenizer hashing_trick one_hot text_to_word_sequence""",
    },
    "python.keras.regularizers": {
        "keras.regularizers": """
            L1L2 Regularizer deserialize get l1 l1_l2 l2 serialize""",
        "keras.utils": "deserialize_keras_object serialize_keras_object",
    },
    "python.keras.saving": {
        "keras.models": """
            load_model model_from_config model_from_json model_from_yaml
            save_model""",
    },
    "python.keras.saving.model_config": {
        "keras.models": "model_from_config model_from_json model_from_yaml",
    },
    "python.keras.saving.save": {
        "keras.models": "load_model save_model",
    },
    "python.keras.saving.saved_model.load": {
        "keras.utils": "deserialize_keras_object",
    },
    "python.keras.saving.saved_model.serialized_attributes": {
        "contrib.eager": "AutoTrackable=Checkpointable",
    },
    "python.keras.saving.saved_model_experimental": {
        "keras.models": "model_from_json",
    },
    "python.keras.utils": {
        "keras.utils": """
            CustomObjectScope GeneratorEnqueuer HDF5Matrix OrderedEnqueuer
            Progbar Sequence SequenceEnqueuer convert_all_kernels_in_model
            custom_object_scope deserialize_keras_object get_custom_objects
            get_file get_source_inputs model_to_dot multi_gpu_model normalize
            plot_model serialize_keras_object to_categorical""",
    },
    "python.keras.utils.data_utils": {
        "keras.utils": """
            GeneratorEnqueuer OrderedEnqueuer Progbar Sequence SequenceEnqueuer
            get_file""",
    },
    "python.keras.utils.generic_utils": {
        "keras.utils": """
            CustomObjectScope Progbar custom_object_scope
            deserialize_keras_object get_custom_objects serialize_keras_object""",
    },
    "python.keras.utils.io_utils": {
        "keras.utils": "HDF5Matrix",
    },
    "python.keras.utils.layer_utils": {
        "keras.utils": "convert_all_kernels_in_model get_source_inputs",
    },
    "python.keras.utils.multi_gpu_utils": {
        "keras": "Model",
        "keras.utils": "multi_gpu_model",
    },
    "python.keras.utils.np_utils": {
        "keras.utils": "normalize to_categorical",
    },
    "python.keras.utils.vis_utils": {
        "keras.utils": "model_to_dot plot_model",
    },
    "python.keras.wrappers.scikit_learn": {
        "keras": "Sequential",
        "keras.utils": "to_categorical",
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
        "contrib.factorization": """
            COSINE_DISTANCE KMEANS_PLUS_PLUS_INIT RANDOM_INIT
            SQUARED_EUCLIDEAN_DISTANCE""",
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
        "contrib.framework": "RecordInput",
        "contrib.staging": "StagingArea",
    },
    "python.ops.distributions.bernoulli": {
        "distributions": "Bernoulli",
    },
    "python.ops.distributions.beta": {
        "contrib.distributions": "BetaWithSoftplusConcentration",
        "distributions": "Beta",
    },
    "python.ops.distributions.bijector": {
        "contrib.distributions.bijectors": "Bijector",
    },
    "python.ops.distributions.bijector_impl": {
        "contrib.distributions.bijectors": "Bijector",
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
        "contrib.distributions": "ExponentialWithSoftplusRate",
        "distributions": "Exponential",
    },
    "python.ops.distributions.gamma": {
        "contrib.distributions": "GammaWithSoftplusConcentrationRate",
        "distributions": "Gamma",
    },
    "python.ops.distributions.identity_bijector": {
        "contrib.distributions.bijectors": "Identity",
    },
    "python.ops.distributions.kullback_leibler": {
        "distributions": "RegisterKL kl_divergence",
    },
    "python.ops.distributions.laplace": {
        "contrib.distributions": "LaplaceWithSoftplusScale",
        "distributions": "Laplace",
    },
    "python.ops.distributions.multinomial": {
        "distributions": "Multinomial",
    },
    "python.ops.distributions.normal": {
        "contrib.distributions": "NormalWithSoftplusScale",
        "distributions": "Normal",
    },
    "python.ops.distributions.student_t": {
        "contrib.distributions": "StudentTWithAbsDfSoftplusScale",
        "distributions": "StudentT",
    },
    "python.ops.distributions.transformed_distribution": {
        "contrib.distributions": "TransformedDistribution",
    },
    "python.ops.distributions.uniform": {
        "distributions": "Uniform",
    },
    "python.ops.distributions.util": {
        "contrib.distributions": """
            fill_triangular fill_triangular_inverse matrix_diag_transform
            reduce_weighted_logsumexp softplus_inverse tridiag""",
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
        "contrib.framework": """
            ConvolutionDeltaOrthogonal=convolutional_delta_orthogonal
            ConvolutionOrthogonal1D=convolutional_orthogonal_1d
            ConvolutionOrthogonal2D=convolutional_orthogonal_2d
            ConvolutionOrthogonal3D=convolutional_orthogonal_3d
            convolutional_delta_orthogonal convolutional_orthogonal_1d
            convolutional_orthogonal_2d convolutional_orthogonal_3d
            deprecated_args""",
        "contrib.slim": "deprecated deprecated_arg_values",
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
            LinearOperatorCirculant LinearOperatorCirculant2D
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
        "linalg": "LinearOperatorIdentity LinearOperatorScaledIdentity",
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
        "contrib.deprecated": """
            audio_summary histogram_summary image_summary merge_all_summaries
            merge_summary scalar_summary""",
        "contrib.slim": "deprecated",
    },
    "python.ops.lookup_ops": {
        "": "initialize_all_tables tables_initializer",
        "contrib.lookup": """
            FastHashSpec HasherSpec IdTableWithHashBuckets
            InitializableLookupTableBase LookupInterface MutableHashTable
            StrongHashSpec TableInitializerBase TextFileIdTableInitializer
            TextFileStringTableInitializer index_table_from_file
            index_to_string_table_from_file""",
        "contrib.slim": "deprecated",
        "lookup": """
            KeyValueTensorInitializer StaticHashTableV1=StaticHashTable
            StaticVocabularyTableV1=StaticVocabularyTable TextFileIndex
            TextFileInitializer""",
        "lookup.experimental": "DenseHashTable",
    },
    "python.ops.losses.losses": {
        "contrib.framework": "deprecated_args",
        "losses": """
            Reduction absolute_difference add_loss compute_weighted_loss
            cosine_distance get_losses get_regularization_loss
            get_regularization_losses get_total_loss hinge_loss huber_loss
            log_loss mean_pairwise_squared_error mean_squared_error
            sigmoid_cross_entropy softmax_cross_entropy
            sparse_softmax_cross_entropy""",
    },
    "python.ops.losses.losses_impl": {
        "contrib.framework": "deprecated_args",
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
        "contrib.slim": "deprecated",
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
        "contrib.slim": "deprecated",
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
        "contrib.framework": "deprecated_args",
        "contrib.nn": "nth_element",
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
        "contrib.framework": "deprecated_args",
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
        "contrib.framework": "deprecated_args",
        "contrib.nn": "nth_element",
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
        "contrib.framework": "deprecated_args",
        "contrib.slim": "deprecated",
    },
    "python.ops.rnn": {
        "nn": """
            bidirectional_dynamic_rnn dynamic_rnn raw_rnn
            static_bidirectional_rnn static_rnn static_state_saving_rnn""",
    },
    "python.ops.rnn_cell": {
        "contrib.rnn": "LayerRNNCell",
        "contrib.slim": "deprecated",
        "nn.rnn_cell": """
            BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUCell
            LSTMCell LSTMStateTuple MultiRNNCell RNNCell ResidualWrapper""",
    },
    "python.ops.rnn_cell_impl": {
        "contrib.rnn": "LayerRNNCell",
        "contrib.slim": "deprecated",
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
        "contrib.slim": "deprecated",
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
        "contrib.eager": "make_template_internal=make_template",
        "contrib.slim": "deprecated",
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
        "contrib.eager": "EagerVariableStore",
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
        "contrib.slim": "deprecated",
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
        "contrib.slim": "deprecated",
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
        "contrib.framework": "deprecated_args",
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
    "python.saved_model.model_utils": {
        "estimator.export": """
            ClassificationOutput ExportOutput PredictOutput RegressionOutput""",
    },
    "python.saved_model.model_utils.export_output": {
        "estimator.export": """
            ClassificationOutput ExportOutput PredictOutput RegressionOutput""",
    },
    "python.saved_model.model_utils.mode_keys": {
        "estimator": "EstimatorModeKeys=ModeKeys",
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
        "contrib.slim": "deprecated",
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
    "python.training.tracking.tracking": {
        "contrib.eager": "AutoTrackable=Checkpointable",
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
    "python.util.all_util": {
        "contrib.slim": "make_all",
    },
    "python.util.compat": {
        "compat": """
            as_bytes as_str as_str_any as_text bytes_or_text_types complex_types
            integral_types path_to_str real_types""",
    },
    "python.util.compat_internal": {
        "compat": "as_str_any",
    },
    "python.util.deprecation": {
        "contrib.framework": "deprecated_args",
        "contrib.slim": "deprecated deprecated_arg_values",
    },
    "python.util.nest": {
        "contrib.framework.nest": """
            assert_shallow_structure flatten_dict_items flatten_up_to
            flatten_with_joined_string_paths flatten_with_tuple_paths
            flatten_with_tuple_paths_up_to get_traverse_shallow_structure
            is_sequence is_sequence_or_composite map_structure_up_to
            map_structure_with_paths map_structure_with_tuple_paths
            map_structure_with_tuple_paths_up_to yield_flat_paths""",
        "nest": """
            assert_same_structure flatten is_nested map_structure
            pack_sequence_as""",
    },
}

OTHERS = """
    python.autograph.converters python.autograph.converters.arg_defaults
    python.autograph.converters.asserts
    python.autograph.converters.break_statements
    python.autograph.converters.call_trees
    python.autograph.converters.conditional_expressions
    python.autograph.converters.continue_statements
    python.autograph.converters.control_flow
    python.autograph.converters.directives
    python.autograph.converters.function_scopes
    python.autograph.converters.list_comprehensions
    python.autograph.converters.lists
    python.autograph.converters.logical_expressions
    python.autograph.converters.return_statements
    python.autograph.converters.slices python.autograph.core
    python.autograph.core.ag_ctx python.autograph.core.config
    python.autograph.core.config_lib python.autograph.core.converter_testing
    python.autograph.core.function_wrappers python.autograph.core.naming
    python.autograph.core.unsupported_features_checker python.autograph.impl
    python.autograph.impl.conversion python.autograph.lang
    python.autograph.lang.special_functions python.autograph.operators
    python.autograph.operators.control_flow
    python.autograph.operators.data_structures
    python.autograph.operators.exceptions python.autograph.operators.logical
    python.autograph.operators.py_builtins python.autograph.operators.slices
    python.autograph.operators.special_values python.autograph.operators.symbols
    python.autograph.pyct python.autograph.pyct.anno
    python.autograph.pyct.ast_util python.autograph.pyct.cfg
    python.autograph.pyct.common_transformers
    python.autograph.pyct.common_transformers.anf python.autograph.pyct.compiler
    python.autograph.pyct.errors python.autograph.pyct.inspect_utils
    python.autograph.pyct.origin_info python.autograph.pyct.parser
    python.autograph.pyct.pretty_printer python.autograph.pyct.qual_names
    python.autograph.pyct.static_analysis
    python.autograph.pyct.static_analysis.activity
    python.autograph.pyct.static_analysis.annos
    python.autograph.pyct.static_analysis.liveness
    python.autograph.pyct.static_analysis.reaching_definitions
    python.autograph.pyct.templates python.autograph.pyct.testing
    python.autograph.pyct.testing.basic_definitions
    python.autograph.pyct.testing.decorators python.autograph.pyct.transformer
    python.autograph.utils python.autograph.utils.context_managers
    python.autograph.utils.misc python.autograph.utils.py_func
    python.autograph.utils.tensor_list python.autograph.utils.tensors
    python.autograph.utils.testing python.autograph.utils.type_check
    python.client python.client.device_lib python.client.timeline python.compat
    python.compiler python.compiler.tensorrt python.compiler.tensorrt.test
    python.compiler.tensorrt.test.tf_trt_integration_test_base
    python.compiler.tensorrt.trt_convert python.compiler.xla
    python.compiler.xla.jit python.compiler.xla.xla python.data
    python.data.benchmarks python.data.benchmarks.benchmark_base
    python.data.experimental python.data.experimental.kernel_tests
    python.data.experimental.kernel_tests.reader_dataset_ops_test_base
    python.data.experimental.kernel_tests.serialization
    python.data.experimental.kernel_tests.serialization.dataset_serialization_test_base
    python.data.experimental.kernel_tests.stats_dataset_test_base
    python.data.experimental.ops python.data.experimental.ops.distribute
    python.data.experimental.ops.map_defun
    python.data.experimental.ops.matching_files
    python.data.experimental.ops.optimization python.data.experimental.ops.sleep
    python.data.experimental.ops.snapshot
    python.data.experimental.ops.threadpool python.data.kernel_tests
    python.data.kernel_tests.test_base python.data.ops
    python.data.ops.multi_device_iterator_ops python.data.util
    python.data.util.convert python.data.util.nest python.data.util.options
    python.data.util.random_seed python.data.util.sparse
    python.data.util.structure python.data.util.traverse python.debug
    python.debug.cli python.debug.cli.analyzer_cli python.debug.cli.base_ui
    python.debug.cli.cli_config python.debug.cli.cli_shared
    python.debug.cli.cli_test_utils python.debug.cli.command_parser
    python.debug.cli.curses_ui python.debug.cli.curses_widgets
    python.debug.cli.debugger_cli_common python.debug.cli.evaluator
    python.debug.cli.offline_analyzer python.debug.cli.profile_analyzer_cli
    python.debug.cli.readline_ui python.debug.cli.tensor_format
    python.debug.cli.ui_factory python.debug.examples
    python.debug.examples.debug_errors python.debug.examples.debug_fibonacci
    python.debug.examples.debug_keras python.debug.examples.debug_mnist
    python.debug.examples.debug_tflearn_iris python.debug.lib
    python.debug.lib.common python.debug.lib.debug_data
    python.debug.lib.debug_gradients python.debug.lib.debug_graphs
    python.debug.lib.debug_service_pb2_grpc python.debug.lib.debug_utils
    python.debug.lib.grpc_debug_server python.debug.lib.grpc_debug_test_server
    python.debug.lib.grpc_tensorflow_server python.debug.lib.profiling
    python.debug.lib.session_debug_testlib python.debug.lib.source_remote
    python.debug.lib.source_utils python.debug.wrappers
    python.debug.wrappers.dumping_wrapper python.debug.wrappers.framework
    python.debug.wrappers.grpc_wrapper python.debug.wrappers.hooks
    python.debug.wrappers.local_cli_wrapper python.distribute
    python.distribute.all_reduce python.distribute.combinations
    python.distribute.cross_device_utils python.distribute.device_util
    python.distribute.distribute_config python.distribute.distribute_coordinator
    python.distribute.distribute_coordinator_context
    python.distribute.estimator_training python.distribute.experimental
    python.distribute.input_lib python.distribute.input_ops
    python.distribute.model_collection
    python.distribute.model_collection.model_collection_base
    python.distribute.model_collection.simple_models
    python.distribute.model_combinations
    python.distribute.multi_worker_test_base python.distribute.multi_worker_util
    python.distribute.numpy_dataset python.distribute.saved_model_test_base
    python.distribute.shared_variable_creator
    python.distribute.single_loss_example python.distribute.step_fn
    python.distribute.strategy_combinations python.distribute.strategy_test_lib
    python.distribute.summary_op_util python.distribute.values python.eager
    python.eager.cancellation python.eager.core python.eager.execute
    python.eager.executor python.eager.forwardprop python.eager.graph_only_ops
    python.eager.lift_to_graph python.eager.memory_tests
    python.eager.memory_tests.memory_test_util python.eager.monitoring
    python.eager.profiler python.eager.profiler_client python.eager.tape
    python.eager.test python.estimator python.estimator.canned
    python.estimator.canned.baseline python.estimator.canned.boosted_trees
    python.estimator.canned.boosted_trees_utils python.estimator.canned.dnn
    python.estimator.canned.dnn_linear_combined python.estimator.canned.head
    python.estimator.canned.linear python.estimator.canned.metric_keys
    python.estimator.canned.optimizers python.estimator.canned.parsing_utils
    python.estimator.canned.prediction_keys python.estimator.estimator
    python.estimator.estimator_lib python.estimator.export
    python.estimator.export.export python.estimator.export.export_lib
    python.estimator.export.export_output python.estimator.exporter
    python.estimator.gc python.estimator.inputs python.estimator.inputs.inputs
    python.estimator.inputs.numpy_io python.estimator.inputs.pandas_io
    python.estimator.inputs.queues
    python.estimator.inputs.queues.feeding_functions
    python.estimator.inputs.queues.feeding_queue_runner python.estimator.keras
    python.estimator.model_fn python.estimator.run_config
    python.estimator.training python.estimator.util python.feature_column
    python.feature_column.dense_features_v2 python.feature_column.serialization
    python.feature_column.utils python.framework
    python.framework.auto_control_deps python.framework.c_api_util
    python.framework.combinations python.framework.common_shapes
    python.framework.composite_tensor python.framework.composite_tensor_utils
    python.framework.error_interpolation python.framework.func_graph
    python.framework.function python.framework.function_def_to_graph
    python.framework.graph_to_function_def python.framework.kernels
    python.framework.op_callbacks python.framework.op_def_library
    python.framework.op_def_registry python.framework.registry
    python.framework.subscribe python.framework.tensor_like
    python.framework.test_combinations python.framework.test_ops
    python.framework.traceable_stack python.grappler python.grappler.cluster
    python.grappler.item python.grappler.tf_optimizer python.keras.datasets
    python.keras.datasets.cifar python.keras.distribute
    python.keras.distribute.distribute_strategy_test
    python.keras.distribute.distributed_training_utils
    python.keras.distribute.keras_correctness_test_base
    python.keras.distribute.keras_dnn_correctness_test
    python.keras.distribute.keras_embedding_model_correctness_test
    python.keras.distribute.keras_image_model_correctness_test
    python.keras.distribute.keras_lstm_model_correctness_test
    python.keras.distribute.keras_stateful_lstm_model_correctness_test
    python.keras.distribute.keras_utils_test
    python.keras.distribute.multi_worker_testing_utils
    python.keras.distribute.multi_worker_training_state
    python.keras.engine.base_layer_utils
    python.keras.engine.base_preprocessing_layer
    python.keras.engine.base_preprocessing_layer_v1
    python.keras.engine.data_adapter python.keras.engine.network
    python.keras.engine.node python.keras.engine.partial_batch_padding_handler
    python.keras.engine.saving python.keras.engine.training_arrays
    python.keras.engine.training_generator python.keras.engine.training_utils
    python.keras.engine.training_v2 python.keras.engine.training_v2_utils
    python.keras.estimator python.keras.keras_parameterized
    python.keras.layers.kernelized python.keras.layers.normalization_v2
    python.keras.layers.preprocessing
    python.keras.layers.preprocessing.normalization
    python.keras.layers.preprocessing.normalization_v1
    python.keras.layers.preprocessing.preprocessing_test_utils
    python.keras.mixed_precision python.keras.mixed_precision.experimental
    python.keras.mixed_precision.experimental.autocast_variable
    python.keras.mixed_precision.experimental.loss_scale_optimizer
    python.keras.mixed_precision.experimental.policy
    python.keras.mixed_precision.experimental.test_util
    python.keras.model_subclassing_test_util python.keras.ops
    python.keras.optimizer_v2 python.keras.optimizer_v2.learning_rate_schedule
    python.keras.premade python.keras.premade.linear
    python.keras.premade.wide_deep python.keras.preprocessing
    python.keras.saving.hdf5_format python.keras.saving.saved_model
    python.keras.saving.saved_model.constants
    python.keras.saving.saved_model.save python.keras.saving.saved_model.utils
    python.keras.saving.saving_utils python.keras.testing_utils
    python.keras.utils.conv_utils python.keras.utils.kernelized_utils
    python.keras.utils.losses_utils python.keras.utils.metrics_utils
    python.keras.utils.mode_keys python.keras.utils.tf_utils
    python.keras.wrappers python.kernel_tests python.kernel_tests.random
    python.kernel_tests.random.util python.kernel_tests.signal
    python.kernel_tests.signal.test_util python.layers python.layers.utils
    python.lib python.lib.io python.module python.module.module python.ops
    python.ops.array_grad python.ops.boosted_trees_ops python.ops.collective_ops
    python.ops.cond_v2 python.ops.control_flow_state
    python.ops.control_flow_util python.ops.control_flow_util_v2
    python.ops.control_flow_v2_func_graphs python.ops.cudnn_rnn_grad
    python.ops.data_flow_grad python.ops.default_gradient
    python.ops.distributions python.ops.distributions.bijector_test_util
    python.ops.distributions.special_math python.ops.gradient_checker_v2
    python.ops.image_grad python.ops.init_ops_v2 python.ops.inplace_ops
    python.ops.linalg python.ops.linalg.adjoint_registrations
    python.ops.linalg.cholesky_registrations
    python.ops.linalg.inverse_registrations
    python.ops.linalg.linear_operator_addition
    python.ops.linalg.linear_operator_algebra
    python.ops.linalg.linear_operator_test_util
    python.ops.linalg.linear_operator_util
    python.ops.linalg.matmul_registrations python.ops.linalg.registrations_util
    python.ops.linalg.solve_registrations python.ops.linalg_grad
    python.ops.linalg_ops_impl python.ops.list_ops python.ops.losses
    python.ops.losses.loss_reduction python.ops.manip_grad python.ops.math_grad
    python.ops.nccl_ops python.ops.nn_grad python.ops.op_selector
    python.ops.optional_grad python.ops.parallel_for
    python.ops.parallel_for.gradients python.ops.parallel_for.pfor
    python.ops.parallel_for.test_util python.ops.ragged
    python.ops.ragged.ragged_batch_gather_ops
    python.ops.ragged.ragged_batch_gather_with_default_op
    python.ops.ragged.ragged_config python.ops.ragged.ragged_conversion_ops
    python.ops.ragged.ragged_dispatch python.ops.ragged.ragged_gather_ops
    python.ops.ragged.ragged_getitem python.ops.ragged.ragged_map_ops
    python.ops.ragged.ragged_operators python.ops.ragged.ragged_tensor_shape
    python.ops.ragged.ragged_util python.ops.ragged.ragged_where_op
    python.ops.random_grad python.ops.resources python.ops.rnn_cell_wrapper_impl
    python.ops.rnn_grad python.ops.signal python.ops.signal.util_ops
    python.ops.sparse_grad python.ops.spectral_ops_test_util
    python.ops.standard_ops python.ops.state_grad python.ops.summary_op_util
    python.ops.tensor_array_grad python.ops.tensor_forest_ops
    python.ops.weights_broadcast_ops python.ops.while_v2
    python.ops.while_v2_indexed_slices_rewriter python.platform
    python.platform.build_info python.platform.control_imports
    python.platform.parameterized python.platform.remote_utils
    python.platform.self_check python.platform.status_bar python.profiler
    python.profiler.internal python.profiler.internal.flops_registry
    python.profiler.profile_context python.pywrap_tensorflow
    python.pywrap_tensorflow_internal python.saved_model
    python.saved_model.function_deserialization
    python.saved_model.function_serialization python.saved_model.load_v1_in_v2
    python.saved_model.model_utils.export_utils
    python.saved_model.nested_structure_coder python.saved_model.revived_types
    python.saved_model.signature_serialization python.summary
    python.summary.plugin_asset python.summary.writer
    python.summary.writer.event_file_writer
    python.summary.writer.event_file_writer_v2 python.tf2 python.tools
    python.tools.api python.tools.api.generator
    python.tools.api.generator.create_python_api
    python.tools.api.generator.doc_srcs python.tools.import_pb_to_tensorboard
    python.tools.inspect_checkpoint python.tools.module_util
    python.tools.optimize_for_inference python.tools.optimize_for_inference_lib
    python.tools.print_selective_registration_header
    python.tools.saved_model_cli python.tools.saved_model_utils
    python.tools.selective_registration_header_lib python.tools.strip_unused
    python.tools.strip_unused_lib python.tpu python.tpu._tpu_estimator_embedding
    python.tpu.api python.tpu.async_checkpoint python.tpu.bfloat16
    python.tpu.datasets python.tpu.device_assignment python.tpu.error_handling
    python.tpu.feature_column python.tpu.feature_column_v2 python.tpu.functional
    python.tpu.ops python.tpu.ops.tpu_ops python.tpu.preempted_hook
    python.tpu.profiler python.tpu.profiler.profiler_analysis_pb2_grpc
    python.tpu.session_support python.tpu.tensor_tracer
    python.tpu.tensor_tracer_flags python.tpu.tensor_tracer_report
    python.tpu.topology python.tpu.tpu python.tpu.tpu_config
    python.tpu.tpu_context python.tpu.tpu_embedding
    python.tpu.tpu_embedding_gradient python.tpu.tpu_estimator
    python.tpu.tpu_feed python.tpu.tpu_function python.tpu.tpu_optimizer
    python.tpu.tpu_sharding python.tpu.tpu_strategy_util
    python.tpu.tpu_system_metadata python.tpu.training_loop python.tpu.util
    python.training python.training.checkpoint_ops python.training.distribute
    python.training.distribution_strategy_context python.training.evaluation
    python.training.experimental
    python.training.experimental.mixed_precision_global_state
    python.training.saver_test_utils python.training.saving
    python.training.saving.functional_saver
    python.training.saving.saveable_object
    python.training.saving.saveable_object_util python.training.slot_creator
    python.training.tensorboard_logging python.training.tracking
    python.training.tracking.base python.training.tracking.data_structures
    python.training.tracking.graph_view python.training.tracking.layer_utils
    python.training.training_ops python.user_ops python.util
    python.util.decorator_utils python.util.deprecation_wrapper
    python.util.dispatch python.util.example_parser_configuration
    python.util.function_utils python.util.future_api
    python.util.is_in_graph_mode python.util.keyword_args
    python.util.lazy_loader python.util.lock_util python.util.memory
    python.util.module_wrapper python.util.object_identity python.util.protobuf
    python.util.protobuf.compare python.util.serialization
    python.util.tf_contextlib python.util.tf_decorator python.util.tf_export
    python.util.tf_inspect python.util.tf_should_use python.util.tf_stack""".split()
