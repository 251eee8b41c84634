"""What programs use of TensorFlow's modules beyond its interface, and where it
is defined: as in `_api.py`, from modules of `_src`."""

from headrace import _api
from headrace._src.compat import contrib_modules

# Names of `tensorflow` itself.
ROOT = {
    "__git_version__": ("compat.constants", "GIT_VERSION"),
    "__compiler_version__": ("compat.constants", "COMPILER_VERSION"),
    "__cxx11_abi_flag__": ("platform.sysconfig", "CXX11_ABI_FLAG"),
    "__monolithic_build__": ("platform.sysconfig", "MONOLITHIC_BUILD"),
    "GIT_VERSION": ("compat.constants", "GIT_VERSION"),
    "COMPILER_VERSION": ("compat.constants", "COMPILER_VERSION"),
}

_NEST = {
    "framework.nest": """
        assert_same_structure flatten is_nested is_sequence=is_nested
        map_structure pack_sequence_as""",
    "compat.nest_paths": """
        assert_shallow_structure flatten_dict_items
        flatten_up_to flatten_with_joined_string_paths
        flatten_with_tuple_paths flatten_with_tuple_paths_up_to
        get_traverse_shallow_structure map_structure_up_to
        map_structure_with_paths map_structure_with_tuple_paths
        map_structure_with_tuple_paths_up_to yield_flat_paths
        _is_namedtuple=is_namedtuple _sequence_like=sequence_like
        _same_namedtuples=same_namedtuples
        _yield_sorted_items=yield_sorted_items
        _IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ=NO_SEQUENCE
        _INPUT_TREE_SMALLER_THAN_SHALLOW_TREE=FEWER
        _SHALLOW_TREE_HAS_INVALID_KEYS=OTHER_KEYS
        _STRUCTURES_HAVE_MISMATCHING_LENGTHS=OTHER_LENGTH
        _STRUCTURES_HAVE_MISMATCHING_TYPES=OTHER_TYPE""",
}

# feature_column_v2 and feature_column_lib.
_NEW_COLUMNS = {
    "feature_column.columns": """
        BucketizedColumn CategoricalColumn=NewCategoricalColumn
        CrossedColumn DenseColumn=NewDenseColumn
        EmbeddingColumn FeatureColumn=Column
        HashedCategoricalColumn
        IdentityCategoricalColumn IndicatorColumn
        NumericColumn SharedEmbeddingColumn
        VocabularyFileCategoricalColumn
        VocabularyListCategoricalColumn
        WeightedCategoricalColumn""",
    "feature_column.features": "FeatureTransformationCache=Features",
    "feature_column.inputs": """
        make_parse_example_spec_v2=make_parse_example_spec
        _transform_features_v2=transform_new_features""",
}

_CLUSTER_CHOICES = """
    CLUSTERS_VAR_NAME COSINE_DISTANCE KMC2_INIT KMEANS_PLUS_PLUS_INIT
    RANDOM_INIT SQUARED_EUCLIDEAN_DISTANCE"""
_CLUSTER_OPS = """
    kmc2_chain_initialization=KMC2ChainInitialization
    kmeans_plus_plus_initialization=KmeansPlusPlusInitialization
    nearest_neighbors=NearestNeighbors"""

_TPU_FUNCTION = {
    "compat.tpu": """
        TpuContext get_tpu_context tpu_shard_context""",
}

_FAKE_WRITER = {
    "compat.summary_checks": "FakeSummaryWriter",
}

_OPS_OF_SIGNATURES = {
    "compat.saved_models": """
        load_op_from_signature_def op_signature_def
        supervised_eval_signature_def supervised_train_signature_def
        _is_valid_classification_signature=is_valid_classification_signature
        _is_valid_predict_signature=is_valid_predict_signature
        _is_valid_regression_signature=is_valid_regression_signature""",
}

_SUMMARY_CHECKS = {
    "compat.summary_checks": """
        assert_summary latest_event_file latest_events latest_summaries
        simple_values_from_events to_summary_proto""",
}

NAMES = {
    "contrib.tfprof.model_analyzer": {
        "profiler.contexts": "ProfileContext",
        "profiler.model_analyzer": "Profiler advise profile",
        "profiler.options": "ALL_ADVICE",
    },
    "contrib.tfprof.tfprof_logger": {
        "profiler.notes": "write_op_log",
        "profiler.options": "TRAINABLE_VARIABLES",
    },
    "python.profiler.model_analyzer": {
        "profiler.options": """
            ALL_ADVICE _build_advisor_options=advice_message
            _build_options=to_message""",
    },
    "python.profiler.profile_context": {
        "profiler.contexts": """
            MAX_TRACED_STEPS ProfileContext WARMUP_STEPS""",
    },
    "python.profiler.tfprof_logger": {
        "profiler.notes": "merge_default_with_oplog",
        "profiler.options": "TRAINABLE_VARIABLES",
    },
    **contrib_modules.NAMES,
    "tools.graph_transforms": {
        "compat.graph_transforms": "TransformGraph",
    },
    "python.ops.critical_section_ops": {
        "flow.critical_sections": """
            CRITICAL_SECTIONS CRITICAL_SECTION_EXECUTIONS""",
    },
    "contrib.distributions.python.ops.test_util": {
        "compat.distribution_checks": """
            DiscreteScalarDistributionTestHelpers
            VectorDistributionTestHelpers""",
    },
    "contrib.testing": {
        "compat.summary_checks": """
            FakeSummaryWriter assert_summary latest_event_file latest_events
            latest_summaries simple_values_from_events to_summary_proto""",
    },
    "contrib.testing.python.framework.fake_summary_writer": _FAKE_WRITER,
    "contrib.testing.python.framework.util_test": _SUMMARY_CHECKS,
    "python.training.tensorboard_logging": {
        "compat.event_logging": """
            DEBUG ERROR FATAL INFO WARN debug error fatal get_verbosity info
            log set_summary_writer set_verbosity warn
            _clear_summary_writer=clear_summary_writer""",
    },
    "contrib.tpu.python.tpu.tpu_function": _TPU_FUNCTION,
    "contrib.graph_editor.edit": {
        "graph_editor.edit": """
            bypass connect detach detach_control_inputs detach_control_outputs
            detach_inputs detach_outputs""",
    },
    "contrib.graph_editor.reroute": {
        "graph_editor.reroute": """
            add_control_inputs remove_control_inputs reroute_inputs
            reroute_ios reroute_outputs reroute_ts swap_inputs swap_ios
            swap_outputs swap_ts""",
    },
    "contrib.graph_editor.select": {
        "graph_editor.select": """
            can_be_regex check_cios compute_boundary_ts filter_ops
            filter_ops_from_regex filter_ts filter_ts_from_regex
            get_backward_walk_ops get_forward_walk_ops get_name_scope_ops
            get_ops_ios get_walks_intersection_ops get_walks_union_ops
            get_within_boundary_ops make_regex select_ops select_ops_and_ts
            select_ts""",
    },
    "contrib.graph_editor.subgraph": {
        "graph_editor.subgraph": """
            SubGraphView make_view make_view_from_scope""",
    },
    "contrib.graph_editor.transform": {
        "graph_editor.transform": """
            Transformer TransformerInfo assign_renamed_collections_handler
            copy copy_op_handler copy_with_input_replacements graph_replace
            keep_t_if_possible_handler replace_t_with_placeholder_handler
            transform_op_if_inside_handler""",
    },
    "contrib.graph_editor.util": {
        "graph_editor.util": """
            ControlOutputs ListView _DEFAULT_PLACEHOLDER_PREFIX=DEFAULT_PREFIX
            check_graphs concatenate_unique find_corresponding
            find_corresponding_elem flatten_tree get_consuming_ops
            get_generating_ops get_predefined_collection_names get_tensors
            get_unique_graph is_iterable make_list_of_op make_list_of_t
            make_placeholder_from_dtype_and_shape make_placeholder_from_tensor
            placeholder_name scope_basename scope_dirname scope_finalize
            transform_tree""",
    },
    "contrib.opt.python.training.matrix_functions": {
        "training.shampoo": "matrix_inverse_pth_root matrix_square_root",
    },
    "contrib.rnn.python.ops.core_rnn_cell": {
        "compat.linear": "_Linear=Linear _linear=linear",
    },
    # As in 1.0 to 1.2, when the cells were there.
    "contrib.rnn.python.ops.core_rnn_cell_impl": {
        "compat.linear": "_Linear=Linear _linear=linear",
        "rnn.cells": """
            BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple
            MultiRNNCell RNNCell""",
        "rnn.wrappers": "DeviceWrapper DropoutWrapper ResidualWrapper",
    },
    "contrib.seq2seq.python.ops.attention_wrapper": {
        "rnn.cells": "_zero_state_tensors=zero_tensors",
        "seq2seq.attention": """
            _BaseAttentionMechanism=_Mechanism _bahdanau_score _luong_score
            _maybe_mask_score _prepare_memory""",
        "seq2seq.attention_wrapper": "_compute_attention",
    },
    "contrib.seq2seq.python.ops.decoder": {
        "rnn.cells": "_zero_state_tensors=zero_tensors",
        "rnn.loops": "_transpose_batch_time=transpose_batch_time",
    },
    "contrib.seq2seq.python.ops.helper": {
        "rnn.loops": "_transpose_batch_time=transpose_batch_time",
        "seq2seq.helpers": "_unstack_ta=_as_array",
    },
    "contrib.tensorboard.plugins.projector": {
        "compat.projector": """
            EmbeddingInfo ProjectorConfig SpriteMetadata visualize_embeddings""",
    },
    "core.protobuf.tpu.compilation_result_pb2": {
    },
    "python.debug": {
        "compat.debug": """
            DebugDumpDir DebugTensorDatum DumpingDebugHook
            DumpingDebugWrapperSession GradientsDebugger GrpcDebugHook
            GrpcDebugWrapperSession LocalCLIDebugHook LocalCLIDebugWrapperSession
            TensorBoardDebugHook TensorBoardDebugWrapperSession WatchOptions
            add_debug_tensor_watch has_inf_or_nan watch_graph
            watch_graph_with_blacklists""",
    },
    "python.debug.lib.debug_data": {
        "compat.debug": """
            DebugDumpDir DebugTensorDatum has_inf_or_nan""",
    },
    "python.debug.lib.debug_utils": {
        "compat.debug": """
            add_debug_tensor_watch watch_graph watch_graph_with_blacklists""",
    },
    "python.debug.wrappers.dumping_wrapper": {
        "compat.debug": "DumpingDebugWrapperSession",
    },
    "python.debug.wrappers.grpc_wrapper": {
        "compat.debug": """
            GrpcDebugWrapperSession TensorBoardDebugWrapperSession""",
    },
    "python.debug.wrappers.hooks": {
        "compat.debug": """
            DumpingDebugHook GrpcDebugHook LocalCLIDebugHook
            TensorBoardDebugHook""",
    },
    "python.debug.wrappers.local_cli_wrapper": {
        "compat.debug": "LocalCLIDebugWrapperSession",
    },
    "contrib.slim.python.slim.nets.alexnet": {
        "slim.plain_nets": "alexnet_v2 alexnet_v2_arg_scope trunc_normal",
    },
    "contrib.slim.python.slim.nets.inception": {
        "slim.inception": """
            inception_v1 inception_v1_arg_scope inception_v1_base inception_v2
            inception_v2_arg_scope inception_v2_base inception_v3
            inception_v3_arg_scope inception_v3_base""",
    },
    "contrib.slim.python.slim.nets.inception_v1": {
        "slim.inception": """
            inception_v1 inception_v1_arg_scope inception_v1_base
            trunc_normal""",
    },
    "contrib.slim.python.slim.nets.inception_v2": {
        "slim.inception": """
            inception_v2 inception_v2_arg_scope inception_v2_base
            trunc_normal""",
    },
    "contrib.slim.python.slim.nets.inception_v3": {
        "slim.inception": """
            inception_v3 inception_v3_arg_scope inception_v3_base
            trunc_normal""",
    },
    "contrib.slim.python.slim.nets.overfeat": {
        "slim.plain_nets": "overfeat overfeat_arg_scope trunc_normal",
    },
    "contrib.slim.python.slim.nets.resnet_utils": {
        "slim.resnets": """
            Block conv2d_same resnet_arg_scope stack_blocks_dense subsample""",
    },
    "contrib.slim.python.slim.nets.resnet_v1": {
        "slim.resnets": """
            bottleneck=bottleneck_v1 resnet_v1 resnet_v1_101 resnet_v1_152
            resnet_v1_200 resnet_v1_50 resnet_v1_block resnet_arg_scope""",
    },
    "contrib.slim.python.slim.nets.resnet_v2": {
        "slim.resnets": """
            bottleneck=bottleneck_v2 resnet_arg_scope resnet_v2 resnet_v2_101
            resnet_v2_152 resnet_v2_200 resnet_v2_50 resnet_v2_block""",
    },
    "contrib.slim.python.slim.nets.vgg": {
        "slim.plain_nets": """
            vgg_16 vgg_19 vgg_a vgg_arg_scope vgg_d vgg_e""",
    },
    "python.client.device_lib": {
        "compat.clients": "list_local_devices",
    },
    "python.client.session": {
        "session.session": """
            BaseSession=Session SessionInterface=Session _DeviceAttributes
            register_session_run_conversion_functions""",
    },
    "python.client.timeline": {
        "compat.clients": "AllocationMaximum StepStatsAnalysis Timeline",
    },
    "python.data.experimental.ops.counter": {
        "data.experimental": "CounterV2=Counter",
    },
    "python.data.experimental.ops.interleave_ops": {
        "data.experimental": """
            choose_from_datasets_v2=choose_from_datasets
            sample_from_datasets_v2=sample_from_datasets""",
    },
    "python.data.experimental.ops.random_ops": {
        "data.experimental": "RandomDatasetV2=RandomDataset",
    },
    "python.data.experimental.ops.readers": {
        "data.files": "CsvDataset CsvDatasetV2=CsvDataset",
        "data.reading": """
            SqlDataset SqlDatasetV2=SqlDataset make_batched_features_dataset
            make_batched_features_dataset_v2=make_batched_features_dataset
            make_csv_dataset make_csv_dataset_v2=make_csv_dataset
            make_tf_record_dataset""",
    },
    "python.keras.keras_parameterized": {
        "compat.keras_test_case": """
            TestCase run_all_keras_modes run_with_all_model_types""",
    },
    "python.keras.layers.dense_attention": {
        "layers.attention": """
            BaseDenseAttention _lower_triangular_mask _merge_masks""",
    },
    "python.keras.optimizer_v2.learning_rate_schedule": {
        "keras.schedules": """
            CosineDecay CosineDecayRestarts ExponentialDecay InverseTimeDecay
            LearningRateSchedule LinearCosineDecay NoisyLinearCosineDecay
            PiecewiseConstantDecay PolynomialDecay deserialize serialize""",
    },
    "python.keras.engine.base_layer_utils": {
        "layers.policy": """
            disable_v2_dtype_behavior enable_v2_dtype_behavior
            v2_dtype_behavior_enabled""",
    },
    "python.keras.mixed_precision.experimental.autocast_variable": {
        "variables.autocast": "AutoCastVariable",
    },
    "python.keras.mixed_precision.experimental.loss_scale_optimizer": {
        "keras.loss_scale_optimizer": "LossScaleOptimizer",
    },
    "python.keras.mixed_precision.experimental.policy": {
        "layers.policy": """
            Policy global_policy policy_scope set_policy with_input_dtype""",
    },
    "python.keras.testing_utils": {
        "compat.keras_test_case": """
            disable_v2_dtype_behavior enable_v2_dtype_behavior
            experimental_run_tf_function_scope
            get_expected_metric_variable_names get_model_from_layers
            get_model_type get_multi_io_model get_small_functional_mlp
            get_small_mlp get_small_sequential_mlp get_small_subclass_mlp
            get_small_subclass_mlp_with_custom_build get_test_data
            get_v2_optimizer layer_test model_type_scope run_eagerly_scope
            should_run_eagerly should_run_tf_function
            _SmallSubclassMLP=SmallMLP
            _SmallSubclassMLPCustomBuild=SmallMLPCustomBuild
            _SubclassModel=LayersModel
            _SubclassModelCustomBuild=LayersModelCustomBuild
            _MultiIOSubclassModel=BranchesModel
            _MultiIOSubclassModelCustomBuild=BranchesModelCustomBuild""",
    },
    "python.data.kernel_tests.test_base": {
        "compat.dataset_test_case": """
            DatasetTestBase default_test_combinations""",
    },
    "python.eager.wrap_function": {
        "functions.wrapped": """
            VariableHolder WrappedFunction WrappedGraph
            function_from_graph_def""",
    },
    "python.data.experimental.ops.stats_ops": {
        "data.stats": "set_stats_aggregator",
    },
    "python.data.ops.dataset_ops": {
        "data.datasets": "DatasetV1Adapter=Dataset DatasetV2=Dataset",
    },
    "python.data.ops.iterator_ops": {
        "compat.data_parts": "GET_NEXT_CALL_WARNING_THRESHOLD",
        "data.iterators": "IteratorV2=Iterator",
    },
    "python.data.ops.readers": {
        "data.files": """
            FixedLengthRecordDatasetV2=FixedLengthRecordDataset
            TFRecordDatasetV2=TFRecordDataset
            TextLineDatasetV2=TextLineDataset""",
    },
    "python.data.experimental.ops.cardinality": {
        "compat.data_parts": "INFINITE UNKNOWN",
    },
    "python.data.util.convert": {
        "compat.data_parts": "optional_param_to_tensor partial_shape_to_tensor",
    },
    "python.data.util.nest": {
        "compat.data_nest": """
            assert_same_structure assert_shallow_structure flatten flatten_up_to
            is_sequence map_structure map_structure_up_to pack_sequence_as""",
    },
    "python.data.util.sparse": {
        "compat.element_structures": """
            any_sparse as_dense_shapes as_dense_types deserialize_sparse_tensors
            get_classes serialize_many_sparse_tensors
            serialize_sparse_tensors""",
    },
    "python.data.util.structure": {
        "compat.element_structures": """
            are_compatible convert_legacy_structure from_compatible_tensor_list
            from_tensor_list get_flat_tensor_shapes get_flat_tensor_specs
            get_flat_tensor_types normalize_element to_batched_tensor_list
            to_tensor_list type_spec_from_value""",
        "data.structures": """
            _RaggedTensorStructure=RaggedTensorStructure
            _SparseTensorStructure=SparseTensorStructure
            _TensorStructure=TensorStructure""",
    },
    "python.data.util.random_seed": {
        "compat.data_parts": "get_seed",
    },
    "python.distribute.cluster_resolver.cluster_resolver": {
        "training.cluster_resolver": "format_master_url=target_of",
    },
    "python.distribute.cluster_resolver.tpu_cluster_resolver": {
        "compat.tpu": "TPUClusterResolver=NoTpu is_running_in_gce",
    },
    "python.distribute.distribute_lib": {
        "distribute.strategy": """
            InputContext InputReplicationMode ReplicaContext Strategy
            StrategyExtended StrategyExtendedV1=StrategyExtended
            StrategyExtendedV2=StrategyExtended StrategyV1=Strategy
            UpdateContext get_loss_reduction get_update_device require_replica_context""",
    },
    "python.distribute.distribution_strategy_context": {
        "distribute.strategy": """
            get_cross_replica_context get_replica_context get_strategy
            has_strategy in_cross_replica_context""",
    },
    "python.distribute.estimator_training": {
        "compat.distributed_estimators": """
            estimator_evaluate estimator_train init_run_config
            should_run_distribute_coordinator train_and_evaluate""",
    },
    "python.distribute.all_reduce": {
        "distribute.all_reduce": """
            _flatten_tensors _padded_split _ragged_split _reshape_tensors
            _ring_permutations _split_by_task _strip_padding
            build_nccl_all_reduce build_nccl_then_recursive_hd
            build_nccl_then_ring build_nccl_then_shuffle
            build_recursive_hd_all_reduce build_ring_all_reduce
            build_shuffle_all_reduce build_shuffle_then_ring
            build_shuffle_then_shuffle""",
    },
    "python.ops.nccl_ops": {
        "distribute.nccl": """
            all_max all_min all_prod all_sum broadcast reduce_sum""",
    },
    "python.distribute.distribute_config": {
        "distribute.coordinator": "DistributeConfig",
    },
    "python.distribute.distribute_coordinator": {
        "distribute.coordinator": """
            CoordinatorMode _Barrier _TaskType _WorkerContext _run_std_server
            _run_single_worker run_distribute_coordinator
            run_standard_tensorflow_server""",
    },
    "python.distribute.distribute_coordinator_context": {
        "training.worker_context": "get_current_worker_context",
    },
    "python.distribute.combinations": {
        "compat.combinations": """
            NamedDistribution NamedObject combine generate times""",
    },
    "python.distribute.strategy_combinations": {
        "compat.strategy_list": """
            adagrad_optimizer_keras_v2_fn adagrad_optimizer_v1_fn
            adam_optimizer_keras_v2_fn adam_optimizer_v1_fn
            all_strategy_combinations all_strategy_combinations_minus_default
            all_strategy_minus_default_and_tpu_combinations
            central_storage_strategy_with_gpu_and_cpu
            central_storage_strategy_with_two_gpus default_strategy
            distributions_and_v1_and_v2_optimizers
            distributions_and_v1_optimizers distributions_and_v2_optimizers
            gradient_descent_optimizer_keras_v2_fn
            gradient_descent_optimizer_v1_fn graph_and_eager_modes
            mirrored_strategy_with_cpu_1_and_2
            mirrored_strategy_with_gpu_and_cpu mirrored_strategy_with_one_cpu
            mirrored_strategy_with_one_gpu mirrored_strategy_with_two_gpus
            one_device_strategy one_device_strategy_gpu
            one_device_strategy_gpu_on_worker_1
            one_device_strategy_on_worker_1 optimizers_v1 optimizers_v1_and_v2
            optimizers_v2 rmsprop_optimizer_keras_v2_fn
            rmsprop_optimizer_v1_fn set_virtual_cpus_to_at_least
            strategies_minus_tpu strategy_minus_tpu_combinations
            tpu_strategies tpu_strategy tpu_strategy_combinations
            tpu_strategy_one_core tpu_strategy_one_step
            tpu_strategy_one_step_one_core""",
    },
    "python.distribute.multi_worker_test_base": {
        "compat.worker_test_case": """
            IndependentWorkerTestBase MockOsEnv MultiWorkerTestBase
            create_cluster_spec create_in_process_cluster get_task_index
            get_task_type get_tf_config_cluster_spec get_tf_config_task
            is_chief pick_unused_port skip_if_grpc_server_cant_be_started""",
    },
    "python.distribute.cross_device_ops": {
        "distribute.collective": "CollectiveAllReduce",
        "distribute.cross_device_ops": """
            AllReduceCrossDeviceOps get_devices_from=devices_of
            simple_broadcast=broadcast""",
    },
    "python.distribute.cross_device_utils": {
        "distribute.collective": """
            CollectiveKeys build_collective_gather build_collective_reduce""",
        "distribute.cross_device_ops": """
            aggregate_tensors_or_indexed_slices=add_up
            copy_tensor_or_indexed_slices_to_device=copied
            divide_by_n_tensors_or_indexed_slices=divide
            is_indexed_slices=is_sparse""",
    },
    "python.distribute.collective_all_reduce_strategy": {
        "distribute.collective": """
            CollectiveAllReduceExtended
            CollectiveAllReduceStrategyV1=MultiWorkerMirroredStrategy
            CollectiveAllReduceStrategy=MultiWorkerMirroredStrategy""",
    },
    "python.distribute.parameter_server_strategy": {
        "distribute.parameter_server": """
            ParameterServerStrategy
            ParameterServerStrategyExtended=ParameterServerExtended
            ParameterServerStrategyV1=ParameterServerStrategy""",
    },
    "python.distribute.device_util": {
        "distribute.devices": "canonicalize=canonical current=current_device",
    },
    "python.distribute.mirrored_strategy": {
        "distribute.mirrored": """
            MirroredExtended MirroredStrategy
            all_local_devices=local_devices""",
    },
    "python.distribute.values": {
        "distribute.values": """
            AggregatingVariable DistributedValues DistributedVariable Mirrored
            MirroredVariable PerReplica ReplicaDeviceMap SyncOnReadVariable
            regroup select_replica value_container""",
    },
    "python.distribute.central_storage_strategy": {
        "distribute.parameter_server": "CentralStorageStrategy",
    },
    "python.distribute.one_device_strategy": {
        "distribute.one_device": "OneDeviceStrategy",
    },
    "python.distribute.step_fn": {
        "distribute.contrib": "StandardInputStep Step",
    },
    "contrib.distribute.python.monitor": {
        "distribute.contrib": "Monitor",
    },
    "python.distribute.multi_worker_util": {
        "distribute.multi_worker": """
            collective_leader has_worker_context id_in_cluster is_chief
            normalize_cluster_spec should_load_checkpoint
            should_save_checkpoint wait_for_other_workers worker_count""",
    },
    "python.distribute.reduce_util": {
        "distribute.strategy": "ReduceOp",
    },
    "python.distribute.summary_op_util": {
        "compat.training_tools": "skip_summary",
    },
    "python.autograph.core.ag_ctx": {
        "framework.autograph_status": """
            ControlStatusCtx Status control_status_ctx""",
    },
    "python.autograph.pyct.transformer": {
        "compat.autograph_parts": "Base",
    },
    "contrib.eager.python.datasets": {
        "eager.datasets": "Iterator",
    },
    "contrib.eager.python.metrics": {
        "eager.metrics": """
            Accuracy BinaryAccuracy CategoricalAccuracy Mean Metric
            SparseAccuracy""",
    },
    "contrib.eager.python.metrics_impl": {
        "eager.metrics": """
            Accuracy BinaryAccuracy CategoricalAccuracy Mean Metric
            SparseAccuracy""",
    },
    "contrib.eager.python.saver": {
        "eager.stores": """
            Saver get_optimizer_variables restore_variables_on_create""",
    },
    "python.eager.backprop": {
        "eager.derivatives": "make_vjp",
        "eager.executing": "make_attr op_attr_type",
        "training.gradient_tape": "GradientTape",
    },
    "python.eager.execute": {
        "eager.executing": "execute args_to_matching_eager",
    },
    "python.eager.tape": {
        "eager.executing": """
            VariableWatcher could_possibly_record record_operation
            should_record stop_recording""",
    },
    "python.eager.context": {
        "eager.context": """
            Context DEVICE_PLACEMENT_SILENT_FOR_INT32 EAGER_MODE GRAPH_MODE
            context device_policy eager_mode executing_eagerly global_seed
            graph_mode in_eager_mode in_graph_mode internal_operation_seed
            num_gpus""",
        "framework.graph": "device",
    },
    "python.eager.def_function": {
        "autograph.function": "Function",
    },
    "python.eager.function": {
        "autograph.function": "ConcreteFunction=Concrete Function",
        "compat.templates": "defun defun_with_attributes",
    },
    "python.eager.monitoring": {
        "compat.estimator_parts": "BoolGauge",
    },
    "python.eager.test": {
        "compat.execution": "main",
    },
    "python.feature_column.dense_features": {
        "feature_column.feature_layers": "DenseFeatures",
    },
    "python.feature_column.dense_features_v2": {
        "feature_column.feature_layers": "DenseFeatures",
    },
    "python.feature_column.feature_column": {
        "feature_column.feature_layers": """
            InputLayer _LinearModel=LinearModelOfGraph""",
        "feature_column.columns": """
            _BucketizedColumn=BucketizedColumn
            _CategoricalColumn=OldCategoricalColumn _CrossedColumn=CrossedColumn
            _DenseColumn=OldDenseColumn _EmbeddingColumn=EmbeddingColumn
            _FeatureColumn=Column _HashedCategoricalColumn=HashedCategoricalColumn
            _IdentityCategoricalColumn=IdentityCategoricalColumn
            _IndicatorColumn=IndicatorColumn _NumericColumn=NumericColumn
            _SharedEmbeddingColumn=SharedEmbeddingColumn
            _VocabularyFileCategoricalColumn=VocabularyFileCategoricalColumn
            _VocabularyListCategoricalColumn=VocabularyListCategoricalColumn
            _WeightedCategoricalColumn=WeightedCategoricalColumn
            _bucketized_column=bucketized_column
            _categorical_column_with_hash_bucket=categorical_column_with_hash_bucket
            _categorical_column_with_identity=categorical_column_with_identity
            _categorical_column_with_vocabulary_file=categorical_column_with_vocabulary_file
            _categorical_column_with_vocabulary_list=categorical_column_with_vocabulary_list
            _crossed_column=crossed_column _embedding_column=embedding_column
            _indicator_column=indicator_column _numeric_column=numeric_column
            _weighted_categorical_column=weighted_categorical_column""",
        "feature_column.features": "_LazyBuilder=OldFeatures",
        "feature_column.inputs": """
            input_layer linear_model make_parse_example_spec
            _transform_features=transform_features""",
    },
    "python.feature_column.feature_column_lib": {
        "feature_column.feature_layers": """
            DenseFeatures InputLayer LinearModel is_feature_column_v2""",
        **_NEW_COLUMNS,
    },
    "python.feature_column.feature_column_v2": {
        "feature_column.feature_layers": """
            DenseFeatures LinearModel StateManager
            _StateManagerImpl=StateManager is_feature_column_v2""",
        **_NEW_COLUMNS,
        "compat.second_forms": "shared_embedding_columns_v2",
        "feature_column.sequences": "SequenceCategoricalColumn",
    },
    "python.feature_column.serialization": {
        "feature_column.configs": """
            deserialize_feature_column deserialize_feature_columns
            serialize_feature_column serialize_feature_columns
            _column_name_with_class_name=name_with_class""",
    },
    "python.framework.subscribe": {
        "compat.subscriptions": """
            subscribe _is_subscribed_identity=is_subscribed_identity""",
    },
    "python.framework.combinations": {
        "compat.combinations": "NamedObject combine generate times",
    },
    "python.framework.test_combinations": {
        "compat.combinations": "NamedObject combine generate times",
    },
    "python.framework.common_shapes": {
        "compat.shape_functions": """
            broadcast_shape call_cpp_shape_fn has_fully_defined_shape
            is_broadcast_compatible no_outputs rank scalar_shape
            unchanged_shape unchanged_shape_with_rank
            unchanged_shape_with_rank_at_least
            unchanged_shape_with_rank_at_most unknown_shape""",
    },
    "python.framework.constant_op": {
        "compat.second_forms": "constant",
        "framework.tensor": """
            _tensor_shape_tensor_conversion_function=shape_as_tensor
            constant_v1=constant""",
    },
    "python.framework.device": {
        "compat.node_tools": """
            canonical_name check_valid is_device_spec merge_device""",
        "framework.device_spec": "DeviceSpec",
    },
    "python.framework.dtypes": {
        "compat.constants": """
            TF_VALUE_DTYPES _INTERN_TABLE _NP_TO_TF _STRING_TO_TF _TF_TO_NP
            _TYPE_TO_STRING dtype_range
            bfloat16_ref bool_ref complex128_ref complex64_ref double_ref
            float16_ref float32_ref float64_ref half_ref int16_ref int32_ref
            int64_ref int8_ref qint16_ref qint32_ref qint8_ref quint16_ref
            quint8_ref resource_ref string_ref uint16_ref uint32_ref uint64_ref
            uint8_ref variant_ref""",
    },
    "python.framework.device_spec": {
        "compat.second_variables": "DeviceSpecV2",
    },
    "python.framework.errors": {
        "framework.operation": "OperatorNotAllowedInGraphError",
    },
    "python.framework.errors_impl": {
        "compat.clients": "_make_specific_exception=make_specific_exception",
        "framework.operation": "OperatorNotAllowedInGraphError",
    },
    "python.framework.func_graph": {
        "functions.func_graph": "FuncGraph",
    },
    "python.framework.function": {
        "functions.defun": """
            Defun _DefinedFunction=_Defined _OverloadedFunction=_Overloaded
            _from_definition from_library get_extra_args get_extra_inputs""",
    },
    "python.framework.function_def_to_graph": {
        "compat.function_graphs": """
            function_def_to_graph function_def_to_graph_def""",
    },
    "python.framework.graph_to_function_def": {
        "compat.function_graphs": "graph_to_function_def",
    },
    "python.framework.tensor_spec": {
        "ops.type_specs": "BoundedTensorSpec TensorSpec",
    },
    "python.framework.type_spec": {
        "ops.type_specs": """
            BatchableTypeSpec TypeSpec register_type_spec_from_value_converter
            type_spec_from_value""",
    },
    "python.framework.composite_tensor": {
        "compat.composite": """
            CompositeTensor replace_composites_with_components""",
    },
    "python.framework.composite_tensor_utils": {
        "compat.composite": """
            append_composite_tensor get_shape is_composite_or_composite_value""",
    },
    "python.framework.indexed_slices": {
        "framework.indexed_slices": "IndexedSlicesValue",
        "compat.conversions": """
            convert_n_to_tensor_or_indexed_slices
            internal_convert_n_to_tensor_or_indexed_slices
            internal_convert_to_tensor_or_indexed_slices""",
    },
    "python.framework.meta_graph": {
        "compat.saver_tools": """
            UNBOUND_INPUT_PREFIX copy_scoped_meta_graph
            export_scoped_meta_graph import_scoped_meta_graph
            import_scoped_meta_graph_with_return_elements
            ops_used_by_graph_def stripped_op_list_for_graph""",
        "training.meta_graph": """
            add_collection_def create_meta_graph_def read_meta_graph_file
            strip_graph_default_valued_attrs""",
    },
    "python.framework.op_def_registry": {
        "compat.op_registry": "get_registered_ops register_op_list",
    },
    "python.framework.ops": {
        "compat.constants": """
            _USE_C_API=MADE_BY_THE_CORE _USE_C_SHAPES=MADE_BY_THE_CORE""",
        "compat.conversions": """
            convert_n_to_tensor_or_composite
            convert_n_to_tensor_or_indexed_slices convert_to_tensor_or_composite
            internal_convert_n_to_tensor_or_indexed_slices
            internal_convert_to_tensor_or_indexed_slices""",
        "compat.execution": """
            EagerTensor executing_eagerly_outside_functions
            NullContextmanager""",
        "compat.graphs": """
            _TensorLike=TensorLike _as_graph_element=as_graph_element
            _assert_same_graph _get_graph_from_inputs=graph_from_inputs convert_to_tensor_v2
            default_session get_all_collection_keys
            get_name_scope has_default_graph inside_function
            internal_convert_n_to_tensor internal_convert_to_tensor
            is_dense_tensor_like name_from_scope_name
            prepend_name_scope register_dense_tensor_like_type
            strip_name_scope uid""",
        "compat.gradient_registry": "_gradient_registry=registry",
        "compat.node_tools": """
            Operation RegisterShape
            _NodeDef=node_def _create_c_op=create_c_op
            _default_graph_stack=default_graph_stack
            _default_session_stack=default_session_stack
            get_collection_proto_type get_from_proto_function
            get_gradient_function get_to_proto_function
            name_scope_v2 register_proto_function""",
        "compat.shape_functions": "_set_call_cpp_shape_fn",
        "framework.graph": """
            colocate_with device_v2=device""",
        "framework.tensor": "convert_n_to_tensor",
        "framework.indexed_slices": "IndexedSlicesValue",
        "profiler.statistics": """
            OpStats RegisterStatistics get_stats_for_node_def""",
    },
    "python.framework.test_ops": {
        "compat.op_library": "_op_def_lib=all_ops",
    },
    "python.framework.auto_control_deps": {
        "compat.automatic_control": """
            AutomaticControlDependencies automatic_control_dependencies
            op_is_stateful""",
    },
    "python.framework.error_interpolation": {
        "compat.error_interpolation": """
            _BAD_FILE_SUBSTRINGS _ParseTag _build_error_message
            _compute_colocation_summary_from_dict
            _compute_colocation_summary_from_op
            _compute_device_assignment_summary_from_op
            _compute_device_summary_from_list _compute_useful_frames
            _find_index_of_defining_frame_for_op _get_defining_frame_from_op
            _sources_for_node compute_field_dict create_graph_debug_info_def
            interpolate parse_message traceback_files_common_prefix""",
    },
    "python.framework.graph_util_impl": {
        "framework.graph_rewrites": "_node_name=_node_of",
    },
    "python.framework.kernels": {
        "compat.kernels": """
            get_all_registered_kernels get_registered_kernels_for_op""",
    },
    "python.framework.op_def_library": {
        "compat.op_library": "OpDefLibrary",
    },
    "python.framework.random_seed": {
        "ops.random_ops": """
            DEFAULT_GRAPH_SEED set_seed=set_random_seed""",
    },
    "python.framework.registry": {
        "compat.dispatch": "Registry",
    },
    "python.framework.traceable_stack": {
        "compat.call_stacks": "TraceableObject TraceableStack",
    },
    "python.framework.sparse_tensor": {
        "ops.sparse_tensor": "is_sparse",
    },
    "python.framework.tensor_like": {
        "compat.graphs": "_TensorLike=TensorLike",
    },
    "python.framework.tensor_shape": {
        "compat.graphs": "matrix vector",
        "framework.tensor_shape": "as_dimension as_shape scalar unknown_shape",
    },
    "python.framework.tensor_util": {
        "compat.graphs": """
            ShapeEquals=shape_equals
            TensorShapeProtoToList=shape_proto_to_list constant_value_as_shape
            maybe_set_static_shape shape_tensor""",
        "framework.tensor": "constant_value",
        "framework.tensor_proto": "MakeNdarray=make_ndarray",
    },
    "python.framework.test_util": {
        "compat.test_util": """
            GpuSupportsHalfMatMulAndConv InstallStackTraceHandler
            IsBuiltWithROCm IsGoogleCudaEnabled IsMklEnabled NCHWToNHWC
            NCHW_VECT_CToNHWC NHWCToNCHW NHWCToNCHW_VECT_C
            also_run_as_tf_function assert_equal_graph_def_v2
            assert_meta_graph_protos_equal assert_no_garbage_created
            assert_no_new_pyobjects_executing_eagerly assert_no_new_tensors
            assert_ops_in_graph build_as_function_and_v1_graph
            deprecated_graph_mode_only device disable_control_flow_v2
            disable_xla enable_c_shapes enable_control_flow_v2
            enable_output_all_intermediates enable_tf_xla_constant_folding
            for_all_test_methods force_cpu force_gpu
            generate_combinations_with_testcase_name get_node_def_from_graph
            is_xla_enabled no_xla_auto_jit py_func_if_in_function
            run_all_in_graph_and_eager_modes run_cuda_only run_deprecated_v1
            run_gpu_only run_in_graph_and_eager_modes run_v1_only run_v2_only
            set_producer_version skip_if use_deterministic_cudnn use_gpu
            with_c_shapes with_control_flow_v2 xla_allow_fallback""",
        "testing.local_cluster": "create_local_cluster",
        "testing.assertions": "CapturedWrites",
        "testing.test_case": """
            TensorFlowTestCase=TestCase assert_equal_graph_def
            assert_equal_graph_def_v1=assert_equal_graph_def gpu_device_name
            is_gpu_available""",
    },
    "python.keras.engine.input_spec": {
        "layers.input_spec": "InputSpec",
    },
    "python.keras.backend": {
        "framework.graph": "get_graph=get_default_graph",
        "keras.backend_running": "GraphExecutionFunction=_Function",
        "layers.backend": """
            is_keras_tensor is_placeholder
            symbolic_learning_phase=learning_phase""",
        "ops.array_ops": "identity",
        "ops.math_ops": "logsumexp=reduce_logsumexp",
    },
    "python.keras.utils.conv_utils": {
        "compat.layer_sizes": """
            conv_input_length conv_output_length convert_data_format
            deconv_output_length normalize_data_format
            normalize_padding=normalize_keras_padding
            normalize_tuple""",
        "compat.keras_parts": """
            conv_connected_inputs conv_kernel_mask conv_output_shape
            convert_kernel""",
    },
    "python.keras.utils.np_utils": {
        "keras.utils": "normalize to_categorical",
    },
    "python.keras.utils.tf_utils": {
        "compat.keras_utils": """
            are_all_symbolic_tensors constant_value convert_shapes
            get_reachable_from_inputs is_symbolic_tensor
            is_tensor_or_tensor_list is_tensor_or_variable
            register_symbolic_tensor_type
            shape_type_conversion smart_cond""",
        "compat.keras_parts": """
            ListWrapper convert_inner_node_data map_structure_with_atomic""",
    },
    "python.keras.layers.normalization_v2": {
        "layers.normalization": "BatchNormalization",
    },
    "python.keras.utils.losses_utils": {
        "compat.estimator_parts": """
            ReductionV2 compute_weighted_loss scale_loss_for_distribution""",
    },
    "python.layers.utils": {
        "control.control_flow": "smart_cond",
        "framework.tensor": "constant_value",
        "compat.layer_sizes": """
            conv_input_length conv_output_length convert_data_format
            deconv_output_length get_reachable_from_inputs normalize_data_format
            normalize_padding normalize_tuple object_list_uid static_shape""",
    },
    "python.lib.io.file_io": {
        "compat.files": """
            atomic_write_string_to_file file_crc32 filecmp
            read_file_to_string write_string_to_file""",
        "platform.file_io": """
            FileIO=GFile copy=Copy create_dir=MkDir delete_file=Remove
            delete_recursively=DeleteRecursively file_exists=Exists
            get_matching_files=Glob is_directory=IsDirectory
            list_directory=ListDirectory recursive_create_dir=MakeDirs
            rename=Rename stat=Stat walk=Walk""",
    },
    "python.ops.array_ops": {
        "framework.tensor": "constant",
        "compat.graphs": """
            ones_like_impl rank_internal shape_internal size_internal
            zeros_like_impl""",
        "compat.second_forms": """
            batch_to_space_v2 boolean_mask_v2 depth_to_space_v2 expand_dims_v2
            gather_nd_v2 gather_v2 ones_like_v2 pad_v2 reverse_sequence_v2
            shape_v2 size_v2 space_to_batch_v2 space_to_depth_v2 squeeze_v2
            transpose_v2 zeros_like_v2""",
        "ops.array_special": "listdiff=setdiff1d",
        "ops.array_ops": "newaxis",
    },
    "python.ops.check_ops": {
        "compat.second_forms": """
            assert_equal_v2 assert_greater_equal_v2 assert_greater_v2
            assert_integer_v2 assert_less_equal_v2 assert_less_v2 assert_near_v2
            assert_negative_v2 assert_non_negative_v2 assert_non_positive_v2
            assert_none_equal_v2 assert_positive_v2 assert_rank_at_least_v2
            assert_rank_in_v2 assert_rank_v2 assert_scalar_v2 assert_shapes_v2
            assert_type_v2""",
    },
    "python.ops.confusion_matrix": {
        "compat.metric_parts": "confusion_matrix remove_squeezable_dimensions",
    },
    "python.ops.control_flow_ops": {
        "compat.tpu": "XLAControlFlowContext",
        "compat.graphs": "exit merge switch",
        "compat.second_forms": "case_v2 cond_for_tf_v2 tuple_v2 while_loop_v2",
        "control.contexts": "CondContext ControlFlowContext WhileContext",
        "control.control_flow": "_case_helper=case_by",
        "control.control_flow_ops": "with_dependencies",
    },
    "python.ops.control_flow_util": {
        "compat.control_flow_util": """
            ENABLE_CONTROL_FLOW_V2 EnableControlFlowV2 GetContainingCondContext
            GetContainingWhileContext GetContainingXLAContext
            GetLoopConstantEnter GetOutputContext GetWhileContext IsCondMerge
            IsCondSwitch IsContainingContext IsInCond IsInWhileLoop
            IsInXLAContext IsLoopConstantEnter IsLoopEnter IsLoopExit
            IsLoopMerge IsLoopSwitch IsMerge IsSwitch OpInContext
            TensorInContext""",
        "compat.execution": "GraphOrParentsInXlaContext",
    },
    "contrib.factorization.python.ops.clustering_ops": {
        "factorization.choices": _CLUSTER_CHOICES,
        "factorization.kmeans": "KMeans=ContribKMeans",
        "raw_ops": _CLUSTER_OPS,
    },
    "contrib.factorization.python.ops.factorization_ops": {
        "factorization.wals": "WALSModel",
    },
    "contrib.factorization.python.ops.gen_factorization_ops": {
        "raw_ops": """
            masked_matmul=MaskedMatmul
            wals_compute_partial_lhs_and_rhs=WALSComputePartialLhsAndRhs""",
    },
    "contrib.factorization.python.ops.gmm_ops": {
        "factorization.choices": "DIAG_COVARIANCE FULL_COVARIANCE",
        "factorization.gmm": "GmmAlgorithm gmm _covariance=covariance",
    },
    "contrib.factorization.python.ops.kmeans": {
        "factorization.kmeans_estimator": """
            KMeansClustering _InitializeClustersHook=InitializeClustersHook
            _LossRelativeChangeHook=LossRelativeChangeHook
            _parse_features_if_necessary=points_of""",
    },
    "contrib.decision_trees.proto.generic_tree_model_pb2": {
        "framework.messages": """
            BinaryNode=ForestBinaryNode DecisionTree=ForestDecisionTree
            FeatureId=ForestFeatureId InequalityTest=ForestInequalityTest
            Leaf=ForestLeaf Model=ForestModel SparseVector=ForestSparseVector
            TreeNode=ForestTreeNode Value=ForestValue Vector=ForestVector""",
    },
    "contrib.tensor_forest.proto.fertile_stats_pb2": {
        "framework.messages": """
            FertileSlot=ForestFertileSlot FertileStats=ForestFertileStats
            GiniStats=ForestGiniStats LeafStat=ForestLeafStat
            SplitCandidate=ForestSplitCandidate TreePath=ForestTreePath""",
    },
    "contrib.tensor_forest.proto.tensor_forest_params_pb2": {
        "framework.messages": """
            DepthDependentParam=ForestDepthDependentParam
            ExponentialParam=ForestExponentialParam
            LinearParam=ForestLinearParam
            SplitFinishConfig=ForestSplitFinishConfig
            SplitPruningConfig=ForestSplitPruningConfig TensorForestParams
            ThresholdParam=ForestThresholdParam""",
        "contrib.forests": """
            MODEL_DENSE_CLASSIFICATION MODEL_REGRESSION
            MODEL_SPARSE_CLASSIFICATION MODEL_SPARSE_OR_DENSE_CLASSIFICATION
            STATS_DENSE_GINI STATS_LEAST_SQUARES_REGRESSION STATS_SPARSE_GINI
            STATS_SPARSE_THEN_DENSE_GINI COLLECTION_BASIC""",
    },
    "contrib.tensor_forest.python.ops.data_ops": {
        "contrib.forests": "DATA_CATEGORICAL DATA_FLOAT",
    },
    "contrib.tensor_forest.python.ops.model_ops": {
        "contrib.forests": "tree_variable",
        "raw_ops": """
            create_tree_variable=CreateTreeVariable
            decision_tree_resource_handle_op=DecisionTreeResourceHandleOp
            feature_usage_counts=FeatureUsageCounts
            traverse_tree_v4=TraverseTreeV4 tree_deserialize=TreeDeserialize
            tree_is_initialized_op=TreeIsInitializedOp
            tree_predictions_v4=TreePredictionsV4
            tree_serialize=TreeSerialize tree_size=TreeSize
            update_model_v4=UpdateModelV4""",
    },
    "contrib.tensor_forest.python.ops.stats_ops": {
        "contrib.forests": "fertile_stats_variable",
        "raw_ops": """
            create_fertile_stats_variable=CreateFertileStatsVariable
            fertile_stats_deserialize=FertileStatsDeserialize
            fertile_stats_is_initialized_op=FertileStatsIsInitializedOp
            fertile_stats_resource_handle_op=FertileStatsResourceHandleOp
            fertile_stats_serialize=FertileStatsSerialize
            grow_tree_v4=GrowTreeV4 process_input_v4=ProcessInputV4""",
    },
    "contrib.tensor_forest.python.tensor_forest": {
        "contrib.forests": """
            CLASSIFICATION_LEAF_MODEL_TYPES FINISH_TYPES ForestHParams
            ForestVariables PRUNING_TYPES REGRESSION_MODEL_TYPE
            RandomForestGraphs RandomTreeGraphs SPLIT_TYPES TreeVariables
            build_params_proto parse_number_or_string_to_proto""",
    },
    "core.kernels.boosted_trees.boosted_trees_pb2": {
        "framework.messages": """
            BucketizedSplit CategoricalSplit DenseSplit
            DebugOutput=BoostedDebugOutput
            GrowingMetadata=BoostedGrowingMetadata Leaf=BoostedLeaf
            Node=BoostedNode NodeMetadata=BoostedNodeMetadata
            SparseVector=BoostedSparseVector Tree=BoostedTree
            TreeEnsemble=BoostedTreeEnsemble TreeMetadata=BoostedTreeMetadata
            Vector=BoostedVector""",
    },
    "python.ops.boosted_trees_ops": {
        "compat.boosted_trees": """
            PruningMode QuantileAccumulator QuantileAccumulatorSaveable
            TreeEnsemble _TreeEnsembleSavable=TreeEnsembleSavable
            update_ensemble_v2""",
        "raw_ops": """
            boosted_trees_aggregate_stats=BoostedTreesAggregateStats
            boosted_trees_bucketize=BoostedTreesBucketize
            boosted_trees_sparse_aggregate_stats=BoostedTreesSparseAggregateStats
            calculate_best_feature_split=BoostedTreesCalculateBestFeatureSplit
            calculate_best_gains_per_feature=BoostedTreesCalculateBestGainsPerFeature
            center_bias=BoostedTreesCenterBias
            create_quantile_stream_resource=BoostedTreesCreateQuantileStreamResource
            example_debug_outputs=BoostedTreesExampleDebugOutputs
            get_bucket_boundaries=BoostedTreesQuantileStreamResourceGetBucketBoundaries
            is_quantile_resource_initialized=IsBoostedTreesQuantileStreamResourceInitialized
            make_quantile_summaries=BoostedTreesMakeQuantileSummaries
            make_stats_summary=BoostedTreesMakeStatsSummary
            predict=BoostedTreesPredict
            quantile_add_summaries=BoostedTreesQuantileStreamResourceAddSummaries
            quantile_flush=BoostedTreesQuantileStreamResourceFlush
            quantile_resource_deserialize=BoostedTreesQuantileStreamResourceDeserialize
            quantile_resource_handle_op=BoostedTreesQuantileStreamResourceHandleOp
            sparse_calculate_best_feature_split=BoostedTreesSparseCalculateBestFeatureSplit
            training_predict=BoostedTreesTrainingPredict
            update_ensemble=BoostedTreesUpdateEnsemble""",
    },
    "python.ops.gen_boosted_trees_ops": {
        "compat.boosted_trees":
            "boosted_trees_update_ensemble_v2=update_ensemble_v2",
    },
    "python.ops.clustering_ops": {
        "factorization.choices": _CLUSTER_CHOICES,
        "factorization.kmeans": "KMeans",
        "raw_ops": _CLUSTER_OPS,
    },
    "python.ops.collective_ops": {
        "ops.collective_ops": """
            all_gather all_gather_v2 all_reduce all_reduce_v2 broadcast_recv
            broadcast_recv_v2 broadcast_send broadcast_send_v2""",
    },
    "python.ops.data_flow_ops": {
        "compat.conversions": "_shape_common=common_shape",
        "flow.barriers": "Barrier",
        "flow.staging_areas": "MapStagingArea StagingArea",
    },
    "python.ops.distributions.special_math": {
        "distributions.special_functions": """
            erfinv log_cdf_laplace log_ndtr ndtr ndtri""",
        "compat.distribution_limits": """
            LOGNDTR_FLOAT32_LOWER LOGNDTR_FLOAT32_UPPER
            LOGNDTR_FLOAT64_LOWER LOGNDTR_FLOAT64_UPPER""",
    },
    "python.ops.distributions.kullback_leibler": {
        "distributions.distribution": """
            _DIVERGENCES=_divergences _registered_kl=registered_divergence""",
        "compat.distribution_limits": "cross_entropy",
    },
    "python.ops.embedding_ops": {
        "compat.second_networks": """
            embedding_lookup_sparse_v2 embedding_lookup_v2
            safe_embedding_lookup_sparse_v2""",
    },
    "python.ops.functional_ops": {
        "compat.calls": """
            For Gradient If While partitioned_call remote_call
            symbolic_gradient""",
    },
    "python.ops.gradient_checker": {
        "testing.gradient_checker": "compute_gradient compute_gradient_error",
    },
    "python.ops.gradient_checker_v2": {
        "compat.gradient_checker": "compute_gradient max_error",
    },
    "python.ops.distributions.util": {
        "compat.distribution_tools": """
            AppendDocstring assert_integer_form assert_symmetric
            dimension_size embed_check_categorical_event_shape
            embed_check_integer_casting_closed
            embed_check_nonnegative_integer_form pad parent_frame_arguments
            process_quadrature_grid_and_probs
            get_logits_and_probs log_combinations maybe_get_static_value
            pick_vector prefer_static_broadcast_shape prefer_static_rank
            prefer_static_shape prefer_static_value rotate_transpose
            same_dynamic_shape""",
        "distributions.parametric": "gen_new_seed=new_seed",
    },
    "python.ops.distributions.bijector_test_util": {
        "compat.bijector_checks": """
            assert_bijective_and_finite assert_finite assert_scalar_congruency
            assert_strictly_decreasing assert_strictly_increasing
            assert_strictly_monotonic""",
    },
    "python.ops.gradients": {
        "compat.gradient_tools": """
            _hessian_vector_product=hessian_vector_product""",
    },
    "python.ops.gradients_util": {
        "compat.gradient_tools": "IsTrainable=is_trainable",
        "training.gradients": "_AsList=_as_list",
    },
    "python.ops.gradients_impl": {
        "compat.gradient_tools": """
            _hessian_vector_product=hessian_vector_product""",
        "compat.graphs": "gradients_v2",
        "compat.second_forms": "HessiansV2",
    },
    "python.ops.image_ops_impl": {
        "compat.second_networks": """
            ResizeMethod crop_and_resize_v2 draw_bounding_boxes_v2
            resize_image_with_pad_v2 resize_images_v2
            sample_distorted_bounding_box_v2""",
        "image.boxes": "extract_glimpse_v2=extract_glimpse",
    },
    "python.ops.cond_v2": {
        "compat.second_control_flow": "cond_v2",
    },
    "python.ops.while_v2": {
        "compat.second_control_flow": "while_loop",
    },
    "python.summary.writer.event_file_writer": {
        "compat.events_writer": "EventFileWriter",
    },
    "python.summary.writer.writer": {
        "compat.events_writer": "EventFileWriter",
    },
    "python.summary.plugin_asset": {
        "compat.plugin_asset": """
            PluginAsset get_all_plugin_assets get_plugin_asset""",
    },
    "python.ops.ctc_ops": {
        "nn.ctc_ops": "ctc_loss_dense dense_labels_to_sparse",
    },
    "python.ops.init_ops": {
        "variables.initializers": "Initializer",
    },
    "python.ops.init_ops_v2": {
        "compat.second_initializers": """
            Constant GlorotNormal GlorotUniform Identity Initializer Ones
            Orthogonal RandomNormal RandomUniform TruncatedNormal
            VarianceScaling Zeros constant=Constant
            constant_initializer=Constant glorot_normal=GlorotNormal
            glorot_normal_initializer=GlorotNormal glorot_uniform=GlorotUniform
            glorot_uniform_initializer=GlorotUniform he_normal he_uniform
            identity=Identity identity_initializer=Identity lecun_normal
            lecun_uniform normal=RandomNormal one=Ones ones=Ones
            ones_initializer=Ones orthogonal=Orthogonal
            orthogonal_initializer=Orthogonal random_normal=RandomNormal
            random_normal_initializer=RandomNormal random_uniform=RandomUniform
            random_uniform_initializer=RandomUniform
            truncated_normal=TruncatedNormal
            truncated_normal_initializer=TruncatedNormal uniform=RandomUniform
            variance_scaling_initializer=VarianceScaling zero=Zeros zeros=Zeros
            zeros_initializer=Zeros""",
    },
    "python.ops.inplace_ops": {
        "compat.inplace": """
            alias_inplace_add alias_inplace_sub alias_inplace_update empty
            empty_like inplace_add inplace_sub inplace_update""",
    },
    "python.ops.linalg.linear_operator": {
        "math.linear_operator": "LinearOperator",
    },
    "python.ops.linalg.linear_operator_addition": {
        "compat.operator_sums": """
            add_operators _Adder=Adder
            _AddAndReturnDiag=AddAndReturnDiag
            _AddAndReturnMatrix=AddAndReturnMatrix
            _AddAndReturnScaledIdentity=AddAndReturnScaledIdentity
            _AddAndReturnTriL=AddAndReturnTriL
            _DEFAULT_ADDITION_TIERS=DEFAULT_TIERS _Hints=Hints""",
    },
    "python.ops.linalg.linear_operator_algebra": {
        "math.operator_functions": """
            _ADJOINTS=ADJOINTS _CHOLESKY_DECOMPS=CHOLESKYS _MATMUL=PRODUCTS
            _SOLVE=SOLUTIONS _INVERSES=INVERSES""",
        "compat.operator_algebra": """
            RegisterAdjoint RegisterCholesky RegisterInverse RegisterMatmul
            RegisterSolve adjoint cholesky inverse matmul solve
            _registered_adjoint=registered_adjoint
            _registered_cholesky=registered_cholesky
            _registered_inverse=registered_inverse
            _registered_matmul=registered_matmul
            _registered_solve=registered_solve""",
    },
    "python.ops.linalg.linear_operator_test_util": {
        "compat.operator_test_case": """
            CheckTapeSafeSkipOptions LinearOperatorDerivedClassTest
            NonSquareLinearOperatorDerivedClassTest OperatorShapesInfo
            SquareLinearOperatorDerivedClassTest add_tests random_normal
            random_normal_correlated_columns random_positive_definite_matrix
            random_sign_uniform random_tril_matrix random_uniform""",
    },
    "python.ops.linalg.linear_operator_util": {
        "compat.operator_utils": """
            assert_compatible_matrix_dimensions
            assert_no_entries_with_modulus_zero assert_zero_imag_part
            use_operator_or_provided_hint_unless_contradicting
            broadcast_matrix_batch_dims cholesky_solve_with_broadcast
            convert_nonref_to_tensor is_ref matrix_solve_with_broadcast
            matrix_triangular_solve_with_broadcast shape_tensor""",
    },
    "python.ops.linalg.linear_operator_adjoint": {
        "math.linear_operators": "LinearOperatorAdjoint",
    },
    "python.ops.linalg.linear_operator_block_diag": {
        "math.linear_operators": "LinearOperatorBlockDiag",
    },
    "python.ops.linalg.linear_operator_circulant": {
        "math.linear_operators": """
            LinearOperatorCirculant LinearOperatorCirculant2D
            LinearOperatorCirculant3D""",
        "compat.operator_utils": "_to_complex=to_complex",
    },
    "python.ops.linalg.linear_operator_composition": {
        "math.linear_operators": "LinearOperatorComposition",
    },
    "python.ops.linalg.linear_operator_diag": {
        "math.linear_operators": "LinearOperatorDiag",
    },
    "python.ops.linalg.linear_operator_full_matrix": {
        "math.linear_operators": "LinearOperatorFullMatrix",
    },
    "python.ops.linalg.linear_operator_householder": {
        "math.linear_operators": "LinearOperatorHouseholder",
    },
    "python.ops.linalg.linear_operator_identity": {
        "math.linear_operators": """
            LinearOperatorIdentity LinearOperatorScaledIdentity""",
    },
    "python.ops.linalg.linear_operator_inversion": {
        "math.linear_operators": "LinearOperatorInversion",
    },
    "python.ops.linalg.linear_operator_kronecker": {
        "math.linear_operators": "LinearOperatorKronecker",
        "compat.operator_utils": """
            _rotate_last_dim=rotate_last_dim _unvec_by=unvec_by _vec=vec""",
    },
    "python.ops.linalg.linear_operator_low_rank_update": {
        "math.linear_operators": "LinearOperatorLowRankUpdate",
    },
    "python.ops.linalg.linear_operator_lower_triangular": {
        "math.linear_operators": "LinearOperatorLowerTriangular",
    },
    "python.ops.linalg.linear_operator_toeplitz": {
        "math.linear_operators": "LinearOperatorToeplitz",
    },
    "python.ops.linalg.linear_operator_zeros": {
        "math.linear_operators": "LinearOperatorZeros",
    },
    "python.ops.linalg_ops": {
        "compat.second_forms": "norm_v2",
    },
    "python.ops.list_ops": {
        "compat.tensor_lists": """
            empty_tensor_list tensor_list_concat tensor_list_concat_lists
            tensor_list_element_shape tensor_list_from_tensor tensor_list_gather
            tensor_list_get_item tensor_list_length tensor_list_pop_back
            tensor_list_push_back tensor_list_push_back_batch
            tensor_list_reserve tensor_list_resize tensor_list_scatter
            tensor_list_set_item tensor_list_split tensor_list_stack""",
    },
    "python.ops.lookup_ops": {
        "compat.tables": """
            HashTable MutableHashTable TableInitializerBase""",
        "compat.lookups": """
            index_table_from_tensor index_to_string_table_from_tensor""",
        "flow.contrib_lookup": """
            FastHashSpec HasherSpec IdTableWithHashBuckets StrongHashSpec
            TextFileIdTableInitializer TextFileStringTableInitializer
            index_table_from_file index_to_string_table_from_file""",
        "flow.lookup_ops": """
            DenseHashTable InitializableLookupTableBase=StaticHashTable
            InitializableLookupTableBaseV1=StaticHashTable
            KeyValueTensorInitializer LookupInterface=Table StaticHashTable
            StaticHashTableV1=StaticHashTable StaticVocabularyTable
            StaticVocabularyTableV1=StaticVocabularyTable TextFileIndex
            TextFileInitializer""",
    },
    "python.ops.math_ops": {
        "compat.gradient_tools": """
            _as_indexed_slices=as_indexed_slices
            _as_indexed_slices_list=as_indexed_slices_list reduced_shape""",
        "compat.second_forms": """
            argmax_v2 argmin_v2 count_nonzero_v2 scalar_mul_v2
            sparse_segment_mean_v2 sparse_segment_sqrt_n_v2
            sparse_segment_sum_v2""",
        "math.math_special": "bincount sparse_matmul",
        "ops.math_ops": """
            arg_max arg_min reduce_all reduce_any reduce_logsumexp reduce_max
            reduce_mean reduce_min reduce_prod reduce_sum""",
        "compat.graphs": "_bucketize=bucketize",
    },
    "python.ops.metrics_impl": {
        "compat.metric_parts": """
            _aggregate_across_replicas=aggregate_across_replicas
            _aggregate_variable=aggregate_variable
            _confusion_matrix_at_thresholds=confusion_matrix_at_thresholds
            _remove_squeezable_dimensions=matched_shapes
            _safe_scalar_div=safe_scalar_div
            _streaming_confusion_matrix=streaming_confusion_matrix""",
        "metrics.top_k": """
            _maybe_expand_labels=as_sets _select_class_id=of_class
            _streaming_sparse_average_precision_at_top_k=average_precision_at_top_k
            """,
        "metrics.streaming": "metric_variable",
    },
    "python.ops.nn_impl": {
        "nn.candidate_sampling": """
            _compute_sampled_logits=sampled_logits_and_labels _sum_rows""",
        "compat.second_networks": """
            batch_norm_with_global_normalization_v2 depthwise_conv2d_v2
            l2_normalize_v2 moments_v2 nce_loss_v2 sampled_softmax_loss_v2
            separable_conv2d_v2 sigmoid_cross_entropy_with_logits_v2
            sufficient_statistics_v2 weighted_cross_entropy_with_logits_v2
            weighted_moments_v2""",
    },
    "python.ops.nn_ops": {
        "compat.second_networks": """
            Convolution bias_add_v1 conv1d_v2 conv2d_transpose_v2 conv2d_v2
            conv3d_transpose_v2 conv3d_v2 convolution_internal convolution_v2
            crelu_v2 dilation2d_v2 dropout_v2 erosion2d_v2
            fractional_avg_pool_v2 fractional_max_pool_v2 in_top_k_v2
            log_softmax_v2 max_pool_with_argmax_v2 pool_v2 softmax_v2
            sparse_softmax_cross_entropy_with_logits_v2""",
        "nn.conv": "avg_pool2d=avg_pool conv3d",
        "nn.losses": "softmax_cross_entropy_with_logits_v2",
    },
    "python.ops.op_selector": {
        "compat.op_selector": "get_backward_walk_ops",
    },
    "python.ops.numerics": {
        "compat.second_forms": "verify_tensor_all_finite_v2",
    },
    "python.ops.parsing_ops": {
        "compat.second_forms": """
            decode_csv_v2 parse_example_v2 parse_single_example_v2_unoptimized""",
        "ops.string_ops": "decode_raw",
    },
    "python.ops.ragged.ragged_array_ops": {
        "ops.array_ops": "expand_dims rank size tile",
    },
    "python.ops.ragged.ragged_batch_gather_ops": {
        "ops.array_ops": "batch_gather",
    },
    "python.ops.ragged.ragged_concat_ops": {
        "ops.array_ops": "concat",
    },
    "python.ops.ragged.ragged_gather_ops": {
        "ops.array_ops": "gather gather_nd",
    },
    "python.ops.ragged.ragged_map_ops": {
        "compat.ragged_parts": "map_fn",
    },
    "python.ops.ragged.ragged_math_ops": {
        "ops.math_ops": """
            reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod
            reduce_sum""",
        "compat.ragged_parts": """
            segment_max segment_mean segment_min segment_prod segment_sqrt_n
            segment_sum""",
    },
    "python.ops.ragged.ragged_conversion_ops": {
        "compat.ragged_parts": "from_sparse from_tensor to_sparse to_tensor",
    },
    "python.ops.ragged.ragged_util": {
        "compat.ragged_parts": """
            assert_splits_match convert_to_int_tensor get_positive_axis
            lengths_to_splits repeat_ranges""",
        "ops.array_special": "repeat",
    },
    "python.ops.ragged.ragged_squeeze_op": {
        "ops.array_ops": "squeeze",
    },
    "python.ops.ragged.ragged_tensor": {
        "compat.ragged_parts": """
            RaggedTensorType convert_to_tensor_or_ragged_tensor
            match_row_splits_dtypes""",
        "ragged.ragged_value": "is_ragged",
    },
    "python.ops.ragged.ragged_where_op": {
        "ops.array_ops": "where",
    },
    "python.ops.random_ops": {
        "compat.second_forms": """
            parameterized_truncated_normal random_poisson_v2""",
    },
    "python.ops.resource_variable_ops": {
        "variables.resource_variables": """
            ResourceVariable _UnreadVariable=_WrittenVariable""",
        "compat.estimator_parts": """
            _from_proto_fn=variable_from_proto _to_proto_fn=variable_to_proto""",
        "compat.graphs": "is_resource_variable",
    },
    "python.ops.resources": {
        "training.resources": """
            initialize_resources local_resources register_resource
            report_uninitialized_resources shared_resources""",
    },
    "python.ops.rnn": {
        "compat.linear": "_concat=concat",
        "rnn.loops": """
            _best_effort_input_batch_size=_batch_size
            _infer_state_dtype=_state_dtype
            _transpose_batch_time=transpose_batch_time""",
    },
    "python.ops.rnn_cell_impl": {
        "compat.linear": """
            ASSERT_LIKE_RNNCELL_ERROR_REGEXP _BIAS_VARIABLE_NAME
            _WEIGHTS_VARIABLE_NAME _concat=concat assert_like_rnncell""",
        "rnn.cells": "_zero_state_tensors=zero_tensors",
    },
    "python.ops.script_ops": {
        "control.script_ops": "_py_funcs",
    },
    "python.ops.session_ops": {
        "session.session_handles": "TensorHandle",
    },
    "python.ops.sparse_ops": {
        "compat.second_forms": """
            serialize_many_sparse_v2 serialize_sparse_v2 sparse_add_v2
            sparse_concat_v2 sparse_reduce_max_v2 sparse_reduce_sum_v2
            sparse_split_v2""",
        "sparse.sparse_ops": "deserialize_sparse",
    },
    "python.ops.spectral_ops_test_util": {
        "compat.test_util": "fft_kernel_label_map",
    },
    "python.ops.state_ops": {
        "variables.variables": "is_variable_initialized",
        "compat.graphs": "variable_op variable_op_v2",
    },
    "python.ops.summary_op_util": {
        "compat.training_tools": "collect=collect_summary",
        "training.summary": "clean_tag=_clean summary_scope=_scope",
    },
    "python.ops.string_ops": {
        "compat.second_forms": """
            reduce_join_v2 string_length_v2 string_split_v2
            string_to_hash_bucket string_to_number substr_v2""",
        "ops.string_ops": "string_split",
    },
    "python.ops.template": {
        "compat.templates": """
            make_template_internal
            _skip_common_stack_elements=skip_common_stack_elements""",
        "variables.template": "Template",
    },
    "python.ops.variable_scope": {
        "variables.scopes": """
            _get_default_variable_store=_store
            _pure_variable_scope=pure_variable_scope""",
        "variables.store": "_VariableStore=VariableStore",
        "variables.base": "variable_creator_scope",
    },
    "python.ops.variables": {
        "variables.partitions": "PartitionedVariable",
        "variables.ref_variables": "RefVariable",
        "variables.base": "VariableV1=Variable",
        "compat.second_variables": "Variable=SecondVariable",
        "variables.records": "VariableAggregationV2=VariableAggregation",
    },
    "python.ops.weights_broadcast_ops": {
        "losses.weights": """
            assert_broadcastable broadcast_weights
            _ASSERT_BROADCASTABLE_ERROR_PREFIX=MESSAGE""",
    },
    "python.platform.benchmark": {
        "compat.benchmarks": """
            GLOBAL_BENCHMARK_REGISTRY TEST_REPORTER_TEST_ENV benchmark_config
            benchmarks_main _run_benchmarks=run_benchmarks""",
        "testing.benchmark": "Benchmark TensorFlowBenchmark=Benchmark",
    },
    "python.platform.test": {
        "testing.mocks": "mock",
        "testing.test_case": "assert_equal_graph_def",
    },
    "python.platform.googletest": {
        "testing.mocks": "StubOutForTesting",
        "testing.test_case": """
            GetTempDir=get_temp_dir TestCase=PlainTestCase main
            test_src_dir_path unittest""",
    },
    "python.pywrap_tensorflow": {
        "compat.events_writer": "EventsWriter",
        "compat.record_reader": "PyRecordReader PyRecordReader_New",
        "compat.graphs": "TF_TryEvaluateConstant_wrapper=try_evaluate_constant",
        "training.checkpoint_reader": """
            CheckpointReader NewCheckpointReader""",
        "platform.file_io": "FileStatistics",
    },
    "python.saved_model.constants": {
        "saved_model.constants": """
            EXTRA_ASSETS_DIRECTORY INIT_OP_SIGNATURE_KEY TRAIN_OP_KEY
            TRAIN_OP_SIGNATURE_KEY""",
    },
    "python.saved_model.builder": {
        "compat.saved_models": "_SavedModelBuilder=SavedModelBuilder",
    },
    "python.saved_model.builder_impl": {
        "compat.saved_models": "_SavedModelBuilder=SavedModelBuilder",
    },
    "python.saved_model.loader_impl": {
        "compat.saved_models": """
            SavedModelLoader get_asset_tensors get_init_op get_train_op""",
        "saved_model.loader": """
            contains_saved_model parse_saved_model
            _parse_saved_model=parse_saved_model""",
    },
    "python.saved_model.nested_structure_coder": {
        "compat.saved_models": "NotEncodableError StructureCoder",
    },
    "python.saved_model.signature_def_utils": _OPS_OF_SIGNATURES,
    "python.saved_model.signature_def_utils_impl": _OPS_OF_SIGNATURES,
    "python.saved_model.model_utils": {
        "compat.model_exports": """
            EXPORT_TAG_MAP EvalOutput SIGNATURE_KEY_MAP TrainOutput
            build_all_signature_defs export_outputs_for_mode
            get_export_outputs get_temp_export_dir get_timestamped_export_dir""",
        "saved_model.export_outputs": """
            ClassificationOutput ExportOutput PredictOutput RegressionOutput""",
    },
    "python.saved_model.model_utils.export_output": {
        "compat.model_exports": """
            EvalOutput TrainOutput _SupervisedOutput=SupervisedOutput""",
        "saved_model.export_outputs": """
            ClassificationOutput ExportOutput PredictOutput RegressionOutput""",
    },
    "python.saved_model.model_utils.export_utils": {
        "compat.model_exports": """
            EXPORT_TAG_MAP SIGNATURE_KEY_MAP SINGLE_FEATURE_DEFAULT_NAME
            SINGLE_LABEL_DEFAULT_NAME SINGLE_RECEIVER_DEFAULT_NAME
            build_all_signature_defs export_outputs_for_mode
            get_export_outputs get_temp_export_dir get_timestamped_export_dir""",
    },
    "python.saved_model.model_utils.mode_keys": {
        "training.mode_keys": "EstimatorModeKeys=ModeKeys",
        "compat.saved_models": """
            KerasModeKeys ModeKeyMap is_eval is_predict is_train""",
    },
    "python.saved_model.signature_constants": {
        "compat.model_exports": """
            DEFAULT_EVAL_SIGNATURE_DEF_KEY DEFAULT_TRAIN_SIGNATURE_DEF_KEY
            SUPERVISED_EVAL_METHOD_NAME SUPERVISED_TRAIN_METHOD_NAME""",
    },
    "python.saved_model.tag_constants": {
        "compat.model_exports": "EVAL",
    },
    "python.saved_model.utils_impl": {
        "compat.model_exports": "get_variables_dir get_variables_path",
        "compat.saved_models": """
            build_tensor_info_from_op get_assets_dir
            get_element_from_tensor_info get_or_create_assets_dir
            get_or_create_variables_dir""",
    },
    "python.tools.freeze_graph": {
        "compat.checkpoints": "freeze_graph freeze_graph_with_def_protos",
    },
    "python.tools.inspect_checkpoint": {
        "compat.checkpoints": """
            parse_numpy_printoption print_tensors_in_checkpoint_file""",
    },
    "python.tools.optimize_for_inference_lib": {
        "compat.inference_graphs": """
            EPSILON_ATTR INPUT_ORDER ensure_graph_is_valid fold_batch_norms
            fuse_resize_and_conv node_from_map node_name_from_input
            optimize_for_inference scale_after_normalization
            values_from_const""",
    },
    "python.tools.saved_model_cli": {
        "compat.saved_model_cli": """
            _OP_BLACKLIST create_parser get_meta_graph_def get_signature_def_map
            load_inputs_from_input_arg_string
            preprocess_input_examples_arg_string
            preprocess_input_exprs_arg_string preprocess_inputs_arg_string run
            run_saved_model_with_feed_dict scan scan_meta_graph_def show""",
    },
    "python.tools.saved_model_utils": {
        "compat.checkpoints": """
            get_meta_graph_def get_saved_model_tag_sets read_saved_model""",
    },
    "python.tools.strip_unused_lib": {
        "compat.checkpoints": "strip_unused strip_unused_from_files",
    },
    "python.tf2": {
        "compat.execution": "enabled",
    },
    "python.ops.summary_ops_v2": {
        "compat.second_summaries": """
            _INVALID_SCOPE_CHARACTERS get_step set_step summary_scope write
            write_raw_pb""",
        "summary.writers": """
            NoopSummaryWriter ResourceSummaryWriter SummaryWriter
            all_v2_summary_ops=all_summary_ops always_record_summaries audio
            create_db_writer create_file_writer create_file_writer_v2
            create_noop_writer create_summary_file_writer eval_dir flush
            generic graph histogram image import_event initialize
            never_record_summaries record_if
            record_summaries_every_n_global_steps scalar
            should_record_summaries summary_writer_function
            summary_writer_initializer_op""",
    },
    "python.training.tracking.base": {
        "compat.tracking": "Trackable TrackableReference",
        "variables.tracking": """
            no_automatic_dependency_tracking
            no_automatic_dependency_tracking_scope""",
    },
    "python.training.tracking.data_structures": {
        "compat.trackables": "List Mapping",
        "variables.tracking": "NoDependency",
    },
    "python.training.tracking.tracking": {
        "compat.tracking": "AutoTrackable",
    },
    "python.tpu.feature_column": {
        "compat.tpu": """
            _TPUEmbeddingColumn=NoTpu _TPUSharedEmbeddingColumn=NoTpu""",
    },
    "python.tpu.feature_column_v2": {
        "compat.tpu": """
            _TPUEmbeddingColumnV2=NoTpu _TPUSharedEmbeddingColumnV2=NoTpu""",
    },
    "python.tpu.tensor_tracer": {
        "compat.tpu": "TensorTracer",
    },
    "python.tpu.topology": {
        "compat.tpu": "Topology=NoTpu",
    },
    "python.tpu.tpu": {
        "compat.tpu": "_TPUInferenceContext=NoTpu",
    },
    "python.tpu.tpu_embedding": {
        "compat.tpu": """
            AdagradParameters=NoTpu AdamParameters=NoTpu
            StochasticGradientDescentParameters=NoTpu""",
    },
    "python.tpu.tpu_function": _TPU_FUNCTION,
    "python.training.checkpoint_management": {
        "compat.saver_tools": """
            _prefix_to_checkpoint_path=prefix_to_checkpoint_path
            update_checkpoint_state_internal""",
        "training.checkpoint_management": "meta_graph_filename",
    },
    "python.training.device_setter": {
        "training.device_setter": """
            STANDARD_PS_OPS _RoundRobinStrategy=_RoundRobin""",
    },
    "python.training.evaluation": {
        "contrib.evaluation": """
            _StopAfterNEvalsHook=StopAfterNEvalsHook
            _evaluate_once=evaluate_once
            _get_latest_eval_step_value=latest_eval_step_value
            _get_or_create_eval_step=get_or_create_eval_step""",
    },
    "python.training.saver_test_utils": {
        "compat.saver_tools": "CheckpointedOp",
    },
    "python.training.basic_session_run_hooks": {
        "compat.training_tools": """
            NeverTriggerTimer get_or_create_steps_per_run_variable
            _MultiStepStopAtStepHook=MultiStepStopAtStepHook""",
    },
    "python.training.checkpoint_utils": {
        "training.checkpoint_management": "wait_for_new_checkpoint",
    },
    "python.training.monitored_session": {
        "compat.session_wrappers": """
            _CoordinatedSession=CoordinatedSession _HookedSession=HookedSession
            _PREEMPTION_ERRORS=PREEMPTION_ERRORS
            _RecoverableSession=RecoverableSession
            _WrappedSession=WrappedSession""",
        "training.monitored_session": """
            USE_DEFAULT=_USE_DEFAULT _MonitoredSession""",
    },
    "python.training.optimizer": {
        "compat.training_tools": """
            _deduplicate_indexed_slices=deduplicate_indexed_slices
            _var_key=var_key""",
    },
    "python.training.server_lib": {
        "training.server_lib": "_make_server_def",
    },
    "python.training.session_manager": {
        "compat.training_tools": "_maybe_name=maybe_name _ready=ready",
    },
    "python.training.checkpoint_ops": {
        "training.checkpoint_ops": """
            _load_and_remap_matrix=load_and_remap_matrix
            _load_and_remap_matrix_initializer=load_and_remap_matrix_initializer
            _load_embedding_initializer=load_embedding_initializer""",
    },
    "python.training.warm_starting_util": {
        "training.warm_start": """
            VocabInfo _get_grouped_variables=get_grouped_variables
            _get_var_info=get_var_info _infer_var_name=infer_var_name
            _warm_start_var_with_vocab=warm_start_var_with_vocab warm_start""",
    },
    "python.training.moving_averages": {
        "compat.training_tools": "weighted_moving_average",
        "training.moving_averages": "assign_moving_average",
    },
    "python.training.saving.saveable_object_util": {
        "variables.saveables": "op_list_to_dict",
    },
    "python.training.saver": {
        "training.saver_nodes": """
            BaseSaverBuilder=BulkSaverBuilder BulkSaverBuilder""",
    },
    "python.training.saving.saveable_object": {
        "variables.saveables": "SaveSpec SaveableObject",
    },
    "python.training.slot_creator": {
        "training.slots": """
            create_slot create_slot_with_initializer create_zeros_slot""",
    },
    "python.training.training_util": {
        "compat.saver_tools": """
            _get_global_step_read=get_global_step_read
            _get_or_create_global_step_read=get_or_create_global_step_read
            _increment_global_step=increment_global_step""",
        "training.global_step": "GLOBAL_STEP_READ_KEY",
    },
    "python.util.all_util": {
        "compat.python_tools": """
            make_all remove_undocumented reveal_undocumented""",
    },
    "python.util.compat": {
        "framework.text_compat": "path_to_str",
    },
    "python.util.decorator_utils": {
        "compat.decorators": """
            _normalize_docstring add_notice_to_docstring classproperty
            get_qualified_name validate_callable""",
    },
    "python.util.compat_internal": {
        "framework.text_compat": "path_to_str",
    },
    "python.util.deprecation": {
        "compat.estimator_parts": "hide_attribute_from_api",
        "compat.deprecation": """
            DeprecatedArgSpec DeprecatedNamesAlreadySet
            _PRINTED_WARNING _PRINT_DEPRECATION_WARNINGS deprecated
            deprecated_alias deprecated_arg_values deprecated_args
            deprecated_argument_lookup deprecated_endpoints
            rewrite_argument_docstring silence""",
    },
    "python.util.dispatch": {
        "compat.dispatch": """
            DISPATCH_ATTR OpDispatcher add_dispatch_list add_dispatch_support
            dispatch dispatch_for_types""",
    },
    "python.util.function_utils": {
        "compat.inspection": """
            fn_args get_func_code get_func_name has_kwargs""",
    },
    "python.util.keyword_args": {
        "compat.decorators": "keyword_args_only",
    },
    "python.util.lazy_loader": {
        "compat.dispatch": "LazyLoader",
    },
    "python.util.lock_util": {
        "compat.identity": "GroupLock",
    },
    "python.util.object_identity": {
        "compat.identity": """
            ObjectIdentityDictionary ObjectIdentitySet
            ObjectIdentityWeakKeyDictionary ObjectIdentityWeakSet""",
        "framework.operation": "Reference",
    },
    "python.framework.versions": {
        "compat.constants": """
            COMPILER_VERSION GIT_VERSION
            __compiler_version__=COMPILER_VERSION __git_version__=GIT_VERSION""",
        "framework.behavior": "VERSION __version__=VERSION",
        "platform.sysconfig": """
            CXX11_ABI_FLAG MONOLITHIC_BUILD
            __cxx11_abi_flag__=CXX11_ABI_FLAG
            __monolithic_build__=MONOLITHIC_BUILD""",
    },
    "python.feature_column.sequence_feature_column": {
        "feature_column.sequences": "SequenceNumericColumn",
        "feature_column.sequence_layers": """
            SequenceFeatures concatenate_context_input""",
    },
    "python.feature_column.utils": {
        "feature_column.columns": "assert_key_is_string=check_key",
        "feature_column.sequences":
            "sequence_length_from_sparse_tensor=lengths_of",
    },
    "python.keras.engine.network": {
        "keras.models": "Network",
    },
    "python.keras.engine.node": {
        "layers.engine": "Node",
    },
    "python.keras.layers.convolutional_recurrent": {
        "keras.conv_recurrent": "ConvLSTM2DCell",
    },
    "python.keras.layers.recurrent": {
        "layers.own_cells": "PeepholeLSTMCell",
    },
    "python.keras.layers.recurrent_v2": {
        "compat.second_layers": "GRU GRUCell LSTM LSTMCell",
    },
    "python.keras.saving.saved_model_experimental": {
        "keras.saved_models": "export_saved_model load_from_saved_model",
    },
    "python.keras.utils.data_utils": {
        "keras.enqueuers": "terminate_keras_multiprocessing_pools",
    },
    "python.keras.utils.layer_utils": {
        "layers.backend": "count_params",
    },
    "python.keras.utils.generic_utils": {
        "compat.layer_sizes": "object_list_uid",
        "compat.keras_parts": """
            check_for_unexpected_keys
            class_and_config_for_serialized_keras_object func_dump func_load
            has_arg is_all_none make_batches
            serialize_keras_class_and_config slice_arrays to_list
            to_snake_case validate_kwargs""",
    },
    "python.keras.utils.kernelized_utils": {
        "compat.keras_parts": """
            exact_gaussian_kernel exact_laplacian_kernel inner_product""",
    },
    "python.keras.engine.training_utils": {
        "compat.keras_parts": "ModelInputs slice_arrays standardize_weights",
    },
    "python.keras.losses": {
        "keras.losses": "huber_loss",
    },
    "python.module.module": {
        "variables.module": "Module camel_to_snake=_snake_case",
    },
    "python.ops.losses.loss_reduction": {
        "compat.estimator_parts": "ReductionV2",
    },
    "python.ops.linalg_ops_impl": {
        "ops.array_ops": "eye",
    },
    "python.ops.default_gradient": {
        "ops.array_ops": "zeros_like",
    },
    "python.ops.ragged.ragged_string_ops": {
        "compat.second_forms": "string_split_v2",
        "ops.string_ops": "reduce_join",
    },
    "python.training.tracking.util": {
        "compat.trackables": "object_metadata",
        "training.object_checkpoints": "Checkpoint",
        "training.object_graph": "list_objects",
        "layers.backend": "get_session",
    },
    "python.keras.optimizers": {
        "keras.optimizers": """
            adadelta=Adadelta adagrad=Adagrad adam=Adam adamax=Adamax
            nadam=Nadam rmsprop=RMSprop sgd=SGD""",
    },
    "python.ops.parallel_for.control_flow_ops": {
        "control.parallel_for": "for_loop pfor",
    },
    "python.ops.parallel_for.gradients": {
        "compat.parallel_gradients": "batch_jacobian jacobian",
    },
    "python.ops.parallel_for.test_util": {
        "compat.parallel_gradients": "PForTestCase",
    },
    "python.util.serialization": {
        "compat.dispatch": "get_json_type",
    },
    "python.util.module_wrapper": {
        "compat.estimator_parts": "TFModuleWrapper",
    },
    "python.util.deprecation_wrapper": {
        "compat.estimator_parts": "DeprecationWrapper=TFModuleWrapper",
    },
    "python.util.is_in_graph_mode": {
        "compat.python_tools": "IS_IN_GRAPH_MODE=is_in_graph_mode",
    },
    "python.util.memory": {
        "compat.python_tools": "dismantle_ordered_dict",
    },
    "python.util.nest": _NEST,
    "python.util.tf_contextlib": {
        "compat.python_tools": "contextmanager",
    },
    "python.util.tf_decorator": {
        "compat.decorators": "TFDecorator make_decorator rewrap unwrap",
    },
    "python.util.tf_export": {
        "compat.exports": """
            API_ATTRS API_ATTRS_V1 ESTIMATOR_API_NAME InvalidSymbolNameError
            KERAS_API_NAME SUBPACKAGE_NAMESPACES SymbolAlreadyExposedError
            TENSORFLOW_API_NAME api_export estimator_export get_canonical_name
            get_canonical_name_for_symbol get_v1_constants get_v1_names
            get_v2_constants get_v2_names keras_export kwarg_only tf_export""",
    },
    "python.util.tf_inspect": {
        "compat.inspection": """
            ArgSpec FullArgSpec currentframe getargspec getcallargs getdoc
            getfile getframeinfo getfullargspec getmembers getmodule getmro
            getsource getsourcefile getsourcelines isbuiltin isclass isframe
            isfunction isgenerator isgeneratorfunction ismethod ismodule
            isroutine stack""",
    },
    "python.util.tf_should_use": {
        "compat.python_tools": """
            must_use_result_or_fatal=should_use_result should_use_result
            _add_should_use_warning=add_should_use_warning""",
    },
    "python.util.tf_stack": {
        "compat.call_stacks": """
            CurrentModuleFilter StackFrame StackTraceFilter StackTraceMapper
            StackTraceTransform TB_CODEDICT TB_FILENAME TB_FUNCNAME TB_LINENO
            _source_filter_stacks _source_mapper_stacks convert_stack
            extract_stack""",
    },
}

# Inputs of ops that functions of gen_*_ops call otherwise: `name=the op's`.
INPUTS = {
    **dict.fromkeys("All Any EuclideanNorm Max Mean Min Prod Sum".split(),
                    "axis=reduction_indices"),
    "ExpandDims": "axis=dim",
    "Select": "x=t y=e",
    "Split": "axis=split_dim",
    "SplitV": "axis=split_dim",
    "Squeeze": "axis=squeeze_dims",
    "Where": "condition=input",
}

# Modules that also have all ops of their module gen_*_ops.
WITH_OPS = frozenset("python.ops." + name for name in """
    array_ops bitwise_ops control_flow_ops data_flow_ops image_ops io_ops
    linalg_ops list_ops logging_ops lookup_ops math_ops nn nn_ops parsing_ops
    random_ops resource_variable_ops sparse_ops standard_ops state_ops
    string_ops""".split()) | {"python.training.training_ops"}

# Modules that have the names of a module of the package tensorflow-estimator.
OF_ESTIMATOR = {
    "contrib.tpu.python.tpu." + name:
        "tensorflow_estimator.python.estimator.tpu." + name
    for name in """
        _tpu_estimator_embedding error_handling tpu_config tpu_context
        tpu_estimator util""".split()
}

# Modules that have the names of others.
SAME = {
    **contrib_modules.SAME,
    "contrib.feature_column.python.feature_column.sequence_feature_column":
        "contrib.feature_column",
    "contrib.checkpoint.python.containers": "contrib.checkpoint",
    "contrib.checkpoint.python.python_state": "contrib.checkpoint",
    "contrib.checkpoint.python.visualize": "contrib.checkpoint",
    "contrib.eager.metrics": "contrib.eager.python.metrics",
    "contrib.eager.python.tfe": "contrib.eager",
    "contrib.integrate.python.ops.odes": "contrib.integrate",
    "contrib.framework.nest": "python.util.nest",
    "python.training.distribution_strategy_context":
        "python.distribute.distribution_strategy_context",
    "contrib.slim.nets.alexnet": "contrib.slim.python.slim.nets.alexnet",
    "contrib.slim.nets.inception": "contrib.slim.python.slim.nets.inception",
    "contrib.slim.nets.overfeat": "contrib.slim.python.slim.nets.overfeat",
    "contrib.slim.nets.resnet_utils": "contrib.slim.python.slim.nets.resnet_utils",
    "contrib.slim.nets.resnet_v1": "contrib.slim.python.slim.nets.resnet_v1",
    "contrib.slim.nets.resnet_v2": "contrib.slim.python.slim.nets.resnet_v2",
    "contrib.slim.nets.vgg": "contrib.slim.python.slim.nets.vgg",
    "contrib.all_reduce": "python.distribute.all_reduce",
    "contrib.all_reduce.python.all_reduce": "python.distribute.all_reduce",
    "contrib.nccl": "python.ops.nccl_ops",
    "contrib.nccl.python.ops.nccl_ops": "python.ops.nccl_ops",
    "contrib.distribute.python.collective_all_reduce_strategy":
        "contrib.distribute",
    "contrib.distribute.python.mirrored_strategy": "contrib.distribute",
    "contrib.distribute.python.one_device_strategy": "contrib.distribute",
    "contrib.distribute.python.parameter_server_strategy":
        "contrib.distribute",
    "contrib.learn.python.learn.datasets": "contrib.learn.datasets",
    "contrib.learn.python.learn.datasets.base": "contrib.learn.datasets.base",
    "contrib.learn.python.learn.datasets.mnist":
        "contrib.learn.datasets.mnist",
    "contrib.learn.python.learn.monitors": "contrib.learn.monitors",
    "contrib.learn.python.learn.preprocessing": "contrib.learn.preprocessing",
    "contrib.learn.python.learn.preprocessing.categorical_vocabulary":
        "contrib.learn.preprocessing",
    "contrib.learn.python.learn.preprocessing.text":
        "contrib.learn.preprocessing",
    "contrib.rnn.python.ops.core_rnn": "python.ops.rnn",
    "contrib.rnn.python.ops.rnn": "python.ops.rnn",
    "contrib.rnn.rnn_cell": "python.ops.rnn_cell_impl",
    "python.ops": "python.framework.ops",  # `from tensorflow.python import ops`
    "python.ops.nn.rnn_cell": "python.ops.rnn_cell_impl",
    "python.ops.standard_ops": "python",
    "python.platform.logging": "python.platform.tf_logging",
    "python.pywrap_tensorflow_internal": "python.pywrap_tensorflow",
}
SAME.update({
    "contrib.keras.api." + space[len("contrib."):]: space
    for space in _api.NAMES if (space + ".").startswith("contrib.keras.")})
