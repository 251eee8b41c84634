"""As inner_modules.py: what programs use of the modules of tf.contrib.learn and of
the feature columns of tf.contrib.layers."""

_COLUMN_CLASSES = {
    "contrib.columns.base": """
        _DeepEmbeddingLookupArguments=DeepLookup _FeatureColumn=FeatureColumn
        _LazyBuilderByColumnsToTensor=TransformedFeatures
        _LinearEmbeddingLookupArguments=LinearLookup _is_variable=is_variable
        _reshape_real_valued_tensor=reshape_real""",
    "contrib.columns.embedding": """
        _EmbeddingColumn=EmbeddingColumn _OneHotColumn=OneHotColumn
        _ScatteredEmbeddingColumn=ScatteredEmbeddingColumn
        _embeddings_from_arguments=embeddings_from_arguments""",
    "contrib.columns.inputs": """
        _create_sequence_feature_spec_for_parsing=create_sequence_feature_spec_for_parsing""",
    "contrib.columns.real": """
        DataFrameColumn _BucketizedColumn=BucketizedColumn
        _CrossedColumn=CrossedColumn _RealValuedColumn=RealValuedColumn
        _RealValuedVarLenColumn=RealValuedVarLenColumn
        _real_valued_var_len_column=real_valued_var_len_column""",
    "contrib.columns.sparse": """
        _SparseColumn=SparseColumn _SparseColumnHashed=SparseColumnHashed
        _SparseColumnIntegerized=SparseColumnIntegerized
        _SparseColumnKeys=SparseColumnKeys
        _SparseColumnVocabulary=SparseColumnVocabulary
        _SparseIdLookupConfig=SparseIdLookupConfig
        _WeightedSparseColumn=WeightedSparseColumn""",
}

_LEARN_RUNNER = {
    "contrib.learn.experiment": "run tune",
}

_HEADS = {
    "contrib.learn.heads": """
        Head binary_svm_head loss_only_head multi_class_head multi_head
        multi_label_head no_op_train_fn poisson_regression_head
        regression_head _BinaryLogisticHead=BinaryLogisticHead
        _BinarySvmHead=BinarySvmHead _Head=Head _LossOnlyHead=LossOnlyHead
        _MultiClassHead=MultiClassHead _MultiHead=MultiHead
        _MultiLabelHead=MultiLabelHead _RegressionHead=RegressionHead
        _binary_svm_head=binary_svm_head _multi_class_head=multi_class_head
        _multi_head=multi_head _multi_label_head=multi_label_head
        _poisson_regression_head=poisson_regression_head
        _regression_head=regression_head""",
}

_INPUT_FN_UTILS = {
    "contrib.learn.exports": """
        InputFnOps build_default_serving_input_fn
        build_parsing_serving_input_fn""",
}

_UTILS = {
    "contrib.learn.exports": """
        InputFnOps build_default_serving_input_fn
        build_parsing_serving_input_fn make_export_strategy""",
}

_EXPORT_UTILS = {
    "contrib.learn.exports": """
        BestModelSelector DEFAULT_INPUT_ALTERNATIVE_KEY
        FEATURES_INPUT_ALTERNATIVE_KEY build_all_signature_defs
        build_standardized_signature_def extend_export_strategy
        garbage_collect_exports get_input_alternatives get_most_recent_export
        get_output_alternatives get_temp_export_dir get_timestamped_export_dir
        make_best_model_export_strategy make_export_strategy
        make_parsing_export_strategy""",
}

_GC = {
    "contrib.learn.exports": """
        Path get_paths largest_export_versions mod_export_version negation
        one_of_every_n_export_versions union""",
}

_IO = {
    "contrib.learn.frames": """
        extract_dask_data extract_dask_labels extract_pandas_data
        extract_pandas_labels extract_pandas_matrix""",
    "contrib.learn.graph_io": """
        queue_parsed_features read_batch_examples read_batch_features
        read_batch_record_features read_keyed_batch_examples
        read_keyed_batch_features""",
    "contrib.learn.input_functions": """
        generator_input_fn numpy_input_fn pandas_input_fn""",
}

_OPS = {
    "contrib.learn.older_models": """
        categorical_variable embedding_lookup mean_squared_error_regressor
        softmax_classifier""",
}

_MODELS = {
    "contrib.learn.older_models": """
        linear_regression linear_regression_zero_init logistic_regression
        logistic_regression_zero_init""",
}

_GRAPH_ACTIONS = {
    "contrib.learn.graph_actions": """
        evaluate infer run_feeds run_feeds_iter run_n train""",
}

_PRUNING_LAYERS = {
    "contrib.pruning_layers": """
        masked_conv2d masked_convolution masked_fully_connected""",
}

NAMES = {
    "contrib.kernel_methods.python.kernel_estimators": {
        "contrib.kernel_methods": "KernelLinearClassifier",
    },
    "contrib.kernel_methods.python.losses": {
        "contrib.kernel_methods": "sparse_multiclass_hinge_loss",
    },
    "contrib.kernel_methods.python.mappers.dense_kernel_mapper": {
        "contrib.kernel_methods": "DenseKernelMapper InvalidShapeError",
    },
    "contrib.kernel_methods.python.mappers.random_fourier_features": {
        "contrib.kernel_methods": "RandomFourierFeatureMapper",
    },
    "contrib.model_pruning.python.pruning": {
        "contrib.pruning": """
            Pruning get_masked_weights get_masks get_pruning_hparams
            get_thresholds get_weight_sparsity get_weights""",
        "contrib.pruning_layers": "apply_mask",
    },
    "contrib.model_pruning.python.layers.layers": _PRUNING_LAYERS,
    "contrib.model_pruning.python.layers.core_layers": {
        "contrib.pruning_layers": """
            MASKED_WEIGHT_COLLECTION=MASKED_WEIGHTS MASK_COLLECTION=MASKS
            MaskedConv2D MaskedFullyConnected
            THRESHOLD_COLLECTION=THRESHOLDS WEIGHT_COLLECTION=WEIGHTS""",
    },
    "contrib.model_pruning.python.layers.rnn_cells": {
        "contrib.pruning_layers": "MaskedBasicLSTMCell MaskedLSTMCell",
    },
    "contrib.model_pruning.python.learning": {
        "slim.pruned_training": "train",
    },
    "contrib.learn.graph_actions": _GRAPH_ACTIONS,
    "contrib.learn.python.learn.graph_actions": _GRAPH_ACTIONS,
    "contrib.learn.io": _IO,
    "contrib.learn.python.learn.learn_io": _IO,
    "contrib.learn.models": _MODELS,
    "contrib.learn.python.learn.models": _MODELS,
    "contrib.learn.ops": _OPS,
    "contrib.learn.python.learn.ops": _OPS,
    "contrib.learn.python.learn.ops.losses_ops": _OPS,
    "contrib.learn.python.learn.ops.embeddings_ops": _OPS,
    "contrib.learn.python.learn.learn_io.graph_io": {
        "contrib.learn.graph_io": _IO["contrib.learn.graph_io"],
    },
    "contrib.learn.python.learn.learn_io.generator_io": {
        "contrib.learn.input_functions": "generator_input_fn",
    },
    "contrib.learn.python.learn.learn_io.numpy_io": {
        "contrib.learn.input_functions": "numpy_input_fn",
    },
    "contrib.learn.python.learn.estimators.logistic_regressor": {
        "contrib.learn.older_models": "LogisticRegressor",
    },
    "contrib.layers.feature_column": {
        **_COLUMN_CLASSES,
        "contrib.columns.embedding": _COLUMN_CLASSES[
            "contrib.columns.embedding"] + """
            embedding_column one_hot_column scattered_embedding_column
            shared_embedding_columns""",
        "contrib.columns.inputs": _COLUMN_CLASSES[
            "contrib.columns.inputs"] + """
            create_feature_spec_for_parsing
            make_place_holder_tensors_for_base_features""",
        "contrib.columns.real": _COLUMN_CLASSES["contrib.columns.real"] + """
            bucketized_column crossed_column real_valued_column""",
        "contrib.columns.sparse": _COLUMN_CLASSES[
            "contrib.columns.sparse"] + """
            sparse_column_with_hash_bucket
            sparse_column_with_integerized_feature sparse_column_with_keys
            sparse_column_with_vocabulary_file weighted_sparse_column""",
    },
    "contrib.layers.python.layers.feature_column": _COLUMN_CLASSES,
    "contrib.layers.python.layers.feature_column_ops": {
        "contrib.columns.inputs": """
            _Transformer=Transformer _gather_feature_columns=with_parents
            _maybe_reshape_input_tensor=with_rank""",
    },
    "contrib.layers.python.layers.layers": {
        "contrib.columns.base": "_inner_flatten=inner_flatten",
    },
    "contrib.layers.python.ops.sparse_ops": {
        "contrib.columns.base": """
            dense_to_sparse_tensor indicators_to_sparse_ids
            sparse_row_envelope""",
    },

    # tf.contrib.learn and its modules.
    "contrib.learn.learn_runner": _LEARN_RUNNER,
    "contrib.learn.python.learn.learn_runner": {
        "contrib.learn.experiment":
            "run tune _get_default_schedule=_default_schedule",
    },
    "contrib.learn.head": _HEADS,
    "contrib.learn.python.learn.estimators.head": _HEADS,
    "contrib.learn.utils": _UTILS,
    "contrib.learn.python.learn.utils": _UTILS,
    "contrib.learn.utils.input_fn_utils": _INPUT_FN_UTILS,
    "contrib.learn.python.learn.utils.input_fn_utils": _INPUT_FN_UTILS,
    "contrib.learn.utils.saved_model_export_utils": _EXPORT_UTILS,
    "contrib.learn.python.learn.utils.saved_model_export_utils":
        _EXPORT_UTILS,
    "contrib.learn.utils.gc": _GC,
    "contrib.learn.python.learn.utils.gc": _GC,
    "contrib.learn.python.learn.experiment": {
        "contrib.learn.experiment": "Experiment",
    },
    "contrib.learn.python.learn.export_strategy": {
        "contrib.learn.exports": "ExportStrategy",
    },
    "contrib.learn.python.learn.evaluable": {
        "contrib.learn.base": "Evaluable",
    },
    "contrib.learn.python.learn.trainable": {
        "contrib.learn.base": "Trainable",
    },
    "contrib.learn.python.learn.metric_spec": {
        "contrib.learn.metric_spec": "MetricSpec",
    },
    "contrib.learn.python.learn.estimators._sklearn": {
        "compat.arrays_of_learn": """
            accuracy_score mean_squared_error train_test_split""",
        "contrib.learn.base": "BaseEstimator=Parameters NotFittedError",
    },
    "contrib.learn.python.learn.estimators.constants": {
        "contrib.learn.keys": """
            COLLECTION_DEF_KEY_FOR_INPUT_FEATURE_KEYS=FEATURE_KEYS
            ProblemType""",
    },
    "contrib.learn.python.learn.estimators.dnn": {
        "contrib.learn.dnn": """
            DNNClassifier DNNEstimator DNNRegressor _dnn_model_fn=dnn_model_fn
            _LEARNING_RATE""",
    },
    "contrib.learn.python.learn.estimators.dnn_linear_combined": {
        "contrib.learn.combined": """
            DNNLinearCombinedClassifier DNNLinearCombinedEstimator
            DNNLinearCombinedRegressor
            _DNNLinearCombinedEstimator=DNNLinearCombinedEstimator
            _dnn_linear_combined_model_fn=combined_model_fn""",
    },
    "contrib.learn.python.learn.estimators.estimator": {
        "contrib.learn.base": "NotFittedError",
        "contrib.learn.estimator": """
            BaseEstimator Estimator GraphRewriteSpec SKCompat
            infer_real_valued_columns_from_input
            infer_real_valued_columns_from_input_fn _get_input_fn=_input_fn_of
            _write_dict_to_summary=_write_summary
            _get_replica_device_setter=_device_function""",
    },
    "contrib.learn.python.learn.estimators.linear": {
        "contrib.learn.linear": """
            LinearClassifier LinearEstimator LinearRegressor
            _linear_model_fn=linear_model_fn""",
    },
    "contrib.learn.python.learn.estimators.metric_key": {
        "contrib.learn.keys": "MetricKey",
    },
    "contrib.learn.python.learn.estimators.model_fn": {
        "contrib.learn.model_fn": "ModelFnOps",
        "training.mode_keys": "ModeKeys=LearnModeKeys",
    },
    "contrib.learn.python.learn.estimators.prediction_key": {
        "contrib.learn.keys": "PredictionKey",
    },
    "contrib.learn.python.learn.estimators.rnn_common": {
        "contrib.learn.keys": "PredictionType",
    },
    "contrib.learn.python.learn.estimators.run_config": {
        "contrib.learn.run_config": """
            ClusterConfig Environment RunConfig TaskType
            _get_master=_address""",
    },
    "contrib.learn.python.learn.estimators.tensor_signature": {
        "contrib.learn.signatures": """
            TensorSignature create_example_parser_from_signatures
            create_placeholders_from_signatures create_signatures
            tensors_compatible""",
    },
    "contrib.learn.python.learn.learn_io.data_feeder": {
        "contrib.learn.data_feeder": """
            DataFeeder StreamingDataFeeder check_array
            setup_predict_data_feeder setup_processor_data_feeder
            setup_train_data_feeder""",
    },
    "contrib.learn.python.learn.learn_io.pandas_io": {
        "contrib.learn.frames": """
            extract_pandas_data extract_pandas_labels extract_pandas_matrix""",
        "contrib.learn.input_functions": "pandas_input_fn",
    },
    "contrib.learn.python.learn.learn_io.dask_io": {
        "contrib.learn.frames": "extract_dask_data extract_dask_labels",
    },
}

# Modules whose names are those of a namespace.
SAME = {
    "contrib.learn.python.learn": "contrib.learn",
    "contrib.learn.python": "contrib.learn",
    "contrib.learn.python.learn.estimators": "contrib.learn",
}
