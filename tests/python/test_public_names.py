"""The names of tf.*: each namespace has those of its table and no others, and
the modules that define them are loaded when the first name is asked for."""
import ast
import importlib
import importlib.util
import pathlib
import pickle
import re
import subprocess
import sys
import types

import pytest

import headrace as tf
from headrace import _api, _interface, _left_out, _names, _packages

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SPACES = sorted(_api.NAMES)
OWN_SPACES = sorted(_api.OWN)
TENSORFLOW = {space: set(names.split())
              for space, names in _interface.NAMES.items()}

# What every program loads, and what one does that runs a graph from a file.
ALWAYS = """
    _api _headrace _loading _names _src.control.script_ops _src.framework.default_session
    _src.framework.dispatch _src.framework.dtypes _src.framework.errors _src.framework.graph
    _src.framework.indexed_slices _src.framework.operation
    _src.framework.tensor
    _src.framework.tensor_shape _src.ops.array_ops _src.ops.math_ops
    _src.session.session raw_ops"""
TO_RUN = "_src.framework.importer _src.framework.messages"

# What modules define for each other: of some, everything.
INTERNAL_MODULES = """
    autograph.branches autograph.builtins autograph.conversion
    autograph.converter autograph.effects autograph.jumps autograph.loops
    autograph.names autograph.sources autograph.symbols autograph.values
    distribute.all_reduce distribute.devices distribute.inputs
    distribute.multi_worker distribute.nccl distribute.replicas
    distribute.shards distribute.values keras.multi_worker
    training.worker_context
    eager.backward eager.callbacks eager.checkpoints eager.context eager.control
    eager.custom eager.datasets eager.derivatives eager.equality eager.executing
    eager.functions eager.keras eager.metrics eager.network eager.python_functions
    eager.stores eager.tape eager.tensors eager.variables
    variables.strategies
    contrib.fold_batch_norms contrib.forests contrib.graph_patterns contrib.linear
    contrib.columns.base contrib.learn.canned contrib.learn.data_feeder
    contrib.learn.head_losses contrib.learn.head_metrics
    contrib.learn.signatures
    contrib.quantize_layers control.contexts data.elements framework.constant_values
    ops.collective_ops distributions.parametric distributions.special_functions
    framework.default_session framework.dispatch framework.newer_attrs functions.func_graph
    functions.function_def keras.cudnn_weights keras.hdf5_files keras.data_adapters
    keras.row_values keras.training
    keras.weights_files layers.function_code layers.named layers.windows losses.weights
    math.operator_functions profiler.advice profiler.formats profiler.grouped
    profiler.nodes profiler.statistics profiler.timelines profiler.views
    platform.durable ragged.broadcasting ragged.ragged_dispatch
    ragged.ragged_indexing slim.inception slim.plain_nets slim.resnets
    training.object_graph training.saver_nodes training.slots
    variables.initial_values variables.partitions variables.records
    variables.ref_variables variables.resource_variables variables.saveables
    framework.notebook platform.own_app training.graph_copies
    framework.autograph_status framework.operation saved_model.bodies
    saved_model.concrete saved_model.structures
    testing.assertions variables.store variables.tracking feature_column.features"""
INTERNAL = {
    "autograph.function": "Concrete Function",
    "autograph.api": "ConversionError feature_names tf_convert",
    "distributions.bijectors": "parameter",
    "distributions.distribution": "registered_divergence",
    "factorization.choices": "check_distance check_start",
    "factorization.gmm": "covariance",
    "factorization.kmeans": "KMeans",
    "factorization.kmeans_estimator":
        "InitializeClustersHook LossRelativeChangeHook points_of",
    "flow.critical_sections": "Execution",
    "training.gradient_tape": "jacobian_of_rows",
    "layers.policy": """begin_graph_rewrite disable_v2_dtype_behavior
        enable_v2_dtype_behavior end_graph_rewrite policy_of policy_scope
        set_v2_dtype_behavior v2_dtype_behavior_enabled with_input_dtype""",
    "variables.autocast": "AutoCastVariable make_autocast read_as",
    "profiler.notes": "merge_default_with_oplog",
    "profiler.options": "Output advice_message as_text to_message",
    "functions.wrapped": """
        VariableHolder WrappedFunction WrappedGraph function_from_graph_def""",
    "graph_editor.select": "reached_ops",
    "graph_editor.util": """ListView check_graphs concatenate_unique
        find_corresponding find_corresponding_elem flatten_tree
        get_predefined_collection_names get_unique_graph is_iterable
        scope_basename scope_dirname scope_finalize transform_tree""",
    "distributions.distributions": "NormalVectors",
    "math.linear_operator": """adjoint_of all_true common_batch product
        shape_of static_or_dynamic to_common_batch""",
    "contrib.cells": "normalized",
    "contrib.lstm_variants": "of_parts",
    "image.matching": "BipartiteMatch",
    "contrib.columns.embedding": """EmbeddingColumn OneHotColumn
        ScatteredEmbeddingColumn embeddings_from_arguments restore_column""",
    "contrib.columns.inputs": """Transformer with_parents with_rank
        create_sequence_feature_spec_for_parsing""",
    "contrib.columns.real": """BucketizedColumn CrossedColumn RealValuedColumn
        RealValuedVarLenColumn check_checkpoint checkpoint_of
        real_valued_var_len_column""",
    "contrib.columns.sparse": """SparseColumn SparseColumnHashed
        SparseColumnIntegerized SparseColumnKeys SparseColumnVocabulary
        SparseIdLookupConfig WeightedSparseColumn""",
    "contrib.layers": "collections_of finish pair",
    "contrib.kernel_methods": "DenseKernelMapper InvalidShapeError",
    "nn.candidate_sampling": "sampled_logits_and_labels",
    "contrib.pruning": "expand_tensor",
    "contrib.threshold_metrics": "PrecisionRecallData",
    "contrib.pruning_layers": "MaskedConv2D MaskedFullyConnected",
    "saved_model.predictor": "Predictor",
    "contrib.learn.base": "Parameters fits",
    "contrib.learn.combined": "combined_model_fn",
    "contrib.learn.dnn": "dnn_model_fn",
    "contrib.learn.estimator": "GraphRewriteSpec",
    "contrib.learn.experiment": "run tune",
    "contrib.learn.exports": """BestModelSelector Path
        build_all_signature_defs build_default_serving_input_fn
        build_standardized_signature_def export_saved_model
        extend_export_strategy garbage_collect_exports get_input_alternatives
        get_most_recent_export get_output_alternatives get_paths
        get_temp_export_dir get_timestamped_export_dir is_core_estimator
        largest_export_versions make_best_model_export_strategy
        make_parsing_export_strategy mod_export_version negation
        one_of_every_n_export_versions union""",
    "contrib.learn.frames": "is_dask is_frame",
    "contrib.learn.graph_actions": "run_feeds_iter",
    "contrib.learn.graph_io": "queue_parsed_features",
    "contrib.learn.input_functions":
        "generator_input_fn numpy_input_fn pandas_input_fn",
    "contrib.learn.older_models": """categorical_variable embedding_lookup
        linear_regression linear_regression_zero_init logistic_regression
        logistic_regression_zero_init mean_squared_error_regressor
        softmax_classifier""",
    "contrib.learn.heads": """BinaryLogisticHead BinarySvmHead LossOnlyHead
        MultiClassHead MultiHead MultiLabelHead RegressionHead SingleHead
        loss_only_head""",
    "contrib.learn.keys": "MetricKey PredictionType",
    "contrib.learn.linear": """learning_rate linear_logits linear_model_fn
        linear_scope""",
    "contrib.learn.metric_spec": "argument_names",
    "contrib.learn.model_fn": "classes_of scores_of",
    "contrib.learn.run_config": "ClusterConfig Environment new_config",
    "contrib.projections": "CellAround",
    "contrib.variables": "model_getter",
    "applications.parts": "Network input_shape_of kept maker",
    "control.control_flow": "case_by",
    "control.control_flow_ops": "with_dependencies",
    "control.script_ops": "call",
    "data.datasets": "moved_options DatasetLeaf dataset_spec",
    "data.iterators": "IteratorSaveable",
    "data.reading": "make_tf_record_dataset",
    "data.stats": "set_stats_aggregator",
    "data.structures": "leaves_of specs_of",
    "feature_column.columns": """BucketizedColumn CategoricalColumn Column
        NewCategoricalColumn NewDenseColumn OldCategoricalColumn OldDenseColumn
        CrossedColumn DenseColumn EmbeddingColumn HashedCategoricalColumn IdWeightPair
        IdentityCategoricalColumn
        IndicatorColumn NumericColumn SharedEmbeddingColumn VocabularyFileCategoricalColumn
        VocabularyListCategoricalColumn WeightedCategoricalColumn check_key check_normalizer
        check_number_type numeric_shape Configured""",
    "feature_column.configs": """config_of deserialize_feature_column
        deserialize_feature_columns from_config name_with_class
        serialize_feature_column serialize_feature_columns""",
    "feature_column.feature_layers": """ColumnLayer check_features InputLayer LinearModel
        LinearModelOfGraph StateManager is_feature_column_v2""",
    "feature_column.inputs": """check_batches transform_features
        transform_new_features checked collections_of columns_side_by_side
        weighted_sum width_of""",
    "feature_column.sequence_layers": "concatenate_context_input",
    "feature_column.sequences": """check_sequence_columns flat_steps lengths_of
        sequence_of side_by_side SequenceCategoricalColumn SequenceInputLayer
        SequenceNumericColumn""",
    "flow.lookup_ops": "StaticTable Table TableSaveable",
    "framework.dtypes": "bfloat16_numpy",
    "framework.errors": "make",
    "framework.graph": "global_graph leave_default_graphs graph_of",
    "framework.tensor": """convert_n_to_tensor feed_to_array replaceable
                           shape_as_tensor to_array""",
    "framework.tensor_shape": """as_dimension as_list_or_none as_shape scalar
                                 unknown_shape""",
    "io.parsing_ops": "example_columns",
    "keras.callbacks": "CallbackList",
    "keras.conv_recurrent": "ConvLSTM2DCell",
    "keras.image_arrays": "flip_axis random_factors",
    "keras.image_batches": "DataFrameIterator",
    "keras.losses": "huber_loss reduced weighted",
    "keras.metrics": "Counts MeanOfFunction accuracy",
    "summary.event_files": "EventFile",
    "summary.writers": """NoopSummaryWriter ResourceSummaryWriter
        create_file_writer_v2 create_noop_writer record_if state
        summary_writer_function written""",
    "keras.configs": "as_plain network of_network ordered_layers to_json to_yaml whole",
    "keras.summaries": "show",
    "training.object_checkpoints": "SecondCheckpoint",
    "keras.saved_models": """children default_signature kind read read_weights
        save training_config""",
    "functions.defun": "from_library get_extra_args get_extra_inputs",
    "saved_model.save": "functions_of prepared save_objects",
    "layers.recurrent": "OfOneCell",
    "keras.models": "Network",
    "control.parallel_for": "for_loop pfor",
    "layers.backend": """KerasHistory as_sparse choose fix_learning_phase
        fixed_learning_phase graph_inputs graph_state in_graph is_eager_program
        is_keras_tensor is_placeholder is_symbolic key known rounded
        set_manual_initialization shape_of unique_name""",
    "layers.core": "data_format_of merged_mask",
    "layers.attention": "BaseDenseAttention",
    "layers.engine": "Node as_list snake_case",
    "layers.input_spec": "check_inputs",
    "layers.kernel_layer": "KernelLayer",
    "metrics.counts": "at_thresholds even_thresholds found_at_thresholds",
    "metrics.means": "streaming_confusion_matrix",
    "metrics.top_k": "as_sets average_precision_at_top_k of_class",
    "metrics.streaming": "collected fraction matched metric_variable ratio",
    "ops.math_ops": "install_operators",
    "ops.sparse_tensor": "as_sparse is_sparse",
    "rnn.cells": """check_cell check_dtype joined_shape static_shape
                    zero_tensors""",
    "seq2seq.decoders": "check_output_layer output_size_of",
    "seq2seq.helpers": "embedding_function start_and_end",
    "ops.type_specs": """BatchableTypeSpec
        register_type_spec_from_value_converter type_spec_from_value""",
    "session.config": "LogicalDevice PhysicalDevice",
    "session.session": """expand_feed expand_fetch set_default_config
        register_session_run_conversion_functions""",
    "session.session_handles": "TensorHandle",
    "saved_model.loader": "parse_saved_model",
    "ragged.partitions": """check_same ids_of integers lengths_of positive_axis
        ranges splits_of times_each""",
    "ragged.ragged_arrays": """batch_gather concat dynamic_partition expand_dims
        gather gather_nd one_hot rank squeeze tile where""",
    "ragged.ragged_math": "quotient reduce reduce_bools reduce_mean segment_mean segments",
    "ragged.ragged_spec": "RaggedLeaf leaf_and_tensor",
    "ragged.ragged_strings": "of_sparse of_vectors",
    "ragged.ragged_tensor": "as_value convert same_partition_dtype",
    "ragged.ragged_value": "Ragged is_ragged",
    "nn.ctc_ops": "ctc_loss_dense dense_labels_to_sparse",
    "platform.file_io": "FileStatistics",
    "training.basic_session_run_hooks": "write_trace",
    "distribute.cross_device_ops": """OnDevices add_up broadcast copied
                                      devices_of divide is_sparse reduce_same""",
    "distribute.mirrored": """MirroredExtended ReplicasExtended
                              checked_devices local_devices mirrored_variable
                              without_partitions""",
    "distribute.collective": """CollectiveAllReduce CollectiveAllReduceExtended
                                CollectiveKeys build_collective_gather
                                build_collective_reduce devices_of_worker""",
    "distribute.coordinator": """CoordinatorMode run_distribute_coordinator
                                 meet_all_workers""",
    "distribute.parameter_server": """CentralExtended
                                      ContribParameterServerExtended
                                      ParameterServerExtended""",
    "distribute.strategy": """Between entered get_default_strategy get_update_device update_on
                              wrong_strategy""",
    "training.cluster_resolver": "target_of tf_config",
    "training.loss_scale": """applied_if_finite are_finite get_loss_scale
        unscaled unscaled_by""",
    "training.checkpoint_management": """existing_checkpoint
                                         meta_graph_filename write_state""",
    "training.checkpoint_reader": "CheckpointReader",
    "training.checkpoint_ops": "load_and_remap_matrix",
    "training.warm_start": """get_grouped_variables get_var_info
        infer_var_name warm_start_var_with_vocab""",
    "training.meta_graph": """add_collection_def all_nodes create_meta_graph_def
                              import_scoped_meta_graph naming proto_functions
                              read_meta_graph_file
                              strip_graph_default_valued_attrs""",
    "contrib.evaluation": "latest_eval_step_value",
    "training.gradients": """key_of register remove replace source_of
                             through_library variables_by_tensor
                             variables_read""",
    "training.saver": "saver_of",
    "training.global_step": "get_or_create_read",
    "training.input_pipelines": "checked_keep_input restore_all store_all",
    "training.moving_averages": "assign_moving_average",
    "training.optimizer": "OpUpdates",
    "training.resources": """initialize_resources local_resources
        register_resource report_uninitialized_resources shared_resources""",
    "training.shampoo": "matrix_inverse_pth_root matrix_square_root",
    "variables.base": "is_made_eagerly like_node sparse_parts",
    "variables.initializers": "floating orthonormal",
    "variables.scopes": "new_store with_store pure_variable_scope unique_variable_scope",
    "variables.template": "Template",
}
SOURCES = pathlib.Path(tf.__file__).parent / "_src"
OF_PACKAGES = {"absl_flags.py": "absl",
               "kmeans_estimator.py": "tensorflow_estimator"}
MODULES = sorted(".".join(file.relative_to(SOURCES).with_suffix("").parts)
                 for file in SOURCES.rglob("*.py")
                 if file.name != "__init__.py" and (
                     file.name not in OF_PACKAGES
                     or importlib.util.find_spec(OF_PACKAGES[file.name])))


def module_of(space):
    return importlib.import_module("headrace." + space) if space else tf


def attribute(name):
    found = tf
    for part in name.split("."):
        found = getattr(found, part)
    return found


def public(module):
    return [n for n in dir(module) if not n.startswith("_")]


def inside(space):
    """The names of the namespaces in one."""
    parents = {s: s.rpartition(".")[0]
               for s in SPACES + ["raw_ops", "compat.v1", "compat.v2"]}
    return {s.rpartition(".")[2] for s in parents
            if s and parents[s] == space}


def fresh(program):
    """What a program prints that has loaded nothing else."""
    done = subprocess.run([sys.executable, "-c", program], text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(autouse=True)
def without_what_is_imported_by_name(monkeypatch):
    """An import of headrace.cluster, as other tests have it, adds its name."""
    monkeypatch.delattr(tf, "cluster", raising=False)


# What each namespace has.

@pytest.mark.parametrize("space", SPACES)
def test_a_namespace_has_the_names_of_its_table(space):
    module = module_of(space)
    assert isinstance(module, types.ModuleType)
    packages = _packages.homes(space) if _packages.is_installed() else ()
    assert set(public(module)) == {*_names.table(space), *inside(space),
                                   *packages}
    for name in public(module):
        assert getattr(module, name) is getattr(module, name)
    star = {}
    exec("from headrace%s import *" % (space and "." + space), star)
    assert set(public(module)) == {n for n in star if not n.startswith("_")}


@pytest.mark.parametrize("space", SPACES)
def test_a_namespace_has_no_other_names_once_all_is_loaded(space):
    for name in MODULES:
        _names.load(name)
    for other in SPACES:
        for name in public(module_of(other)):
            getattr(module_of(other), name)
    found = {n for n in vars(module_of(space)) if not n.startswith("_")}
    assert found - set(_packages.homes(space)) == {
        *_names.table(space), *inside(space)} - set(_packages.homes(space))


@pytest.mark.parametrize("space", SPACES)
def test_names_are_tensorflows_or_in_tf_headrace(space):
    if space not in OWN_SPACES:
        own = set(public(module_of(space))) - TENSORFLOW[space]
        assert own == {"": {"headrace"}, "compat": {"install"}}.get(space, set())
    else:
        assert space.partition(".")[0] == "headrace"


@pytest.mark.parametrize("space, name", [
    ("", "relu"), ("queue", "softmax"), ("contrib", "matmul"), ("nn", "matmul"),
    ("contrib", "CudnnLSTM"), ("math", "cast"), ("math", "Tensor"),
    ("", "softplus"), ("data", "concat"), ("", "embedding_lookup"),
    ("summary", "conv2_d"), ("image", "decode_raw"),
    ("", "array_ops"), ("", "session"), ("nn", "name_scope"), ("nn", "numbers"),
    ("", "os"), ("dtypes", "np"), ("errors", "make"), ("", "TensorProto"),
    ("raw_ops", "signature"), ("raw_ops", "softmax"), ("raw_ops", "inspect"),
    ("initializers", "Zeros"), ("nest", "is_sequence")])
def test_no_namespace_has_names_of_others(space, name):
    assert not hasattr(getattr(tf, space) if space else tf, name)


def test_every_op_is_a_raw_op():
    ops = tf._headrace.op_names()
    assert len(ops) > 1000 and dir(tf.raw_ops) == ops
    assert not set(ops) & set(_left_out.OPS.split())
    with pytest.raises(AttributeError,
                       match="tf.raw_ops.AllToAll is not supported yet"):
        tf.raw_ops.AllToAll
    assert all(getattr(tf.raw_ops, op).op_type == op for op in ops)


def test_every_message_is_in_headrace_messages():
    defined = set()
    for file in (ROOT / "proto" / "headrace").glob("*.proto"):
        defined |= set(re.findall(r"^message (\w+)", file.read_text(), re.M))
    if not defined:
        pytest.skip("no tree beside the tests")
    # What processes say to each other is not for programs.
    # And these are for clients of the C API.
    wanted = {m for m in defined if not m.endswith(("Request", "Response"))}
    wanted -= {"ApiDef", "ApiDefs", "CppShapeInferenceResult"}
    assert set(_names.table("headrace.messages")) == {
        *wanted, "Message", "from_text"}


def test_the_table_of_tensorflows_names_is_complete():
    # A name of a signature is a public one, or a method of a class.
    path = pathlib.Path(__file__).with_name("tf1_signatures.tsv")
    names = {n for line in path.read_text().splitlines()
             for n in line.partition("\t")[2].split()}
    for name in names:
        space, _, last = name.rpartition(".")
        if space not in TENSORFLOW:  # `space` is a class
            space, _, last = space.rpartition(".")
        assert last in TENSORFLOW[space], name


# What is said of others.

@pytest.mark.parametrize("name", [
    "contrib.batching", "user_ops", "experimental"])
def test_what_is_not_supported_yet(name):
    with pytest.raises(AttributeError,
                       match="^tf.%s is not supported yet$" % name):
        attribute(name)


@pytest.mark.parametrize("name, instead", [
    ("contrib.tpu.shard", "TPUs are left out"), 
    ("contrib.cudnn_rnn.CudnnLSTM", "tf.nn.dynamic_rnn"),
    ("distribute.cluster_resolver.TPUClusterResolver",
     "TFConfigClusterResolver reads"),
    ("contrib.training.FeedingQueueRunner", "tf.train and tf.data")])
def test_what_is_left_out_and_what_to_use_instead(name, instead):
    with pytest.raises(AttributeError, match="^tf.%s is not supported yet; use "
                       "instead: %s" % (name, re.escape(instead))):
        attribute(name)


@pytest.mark.parametrize("name, new", [
    ("mul", "tf.multiply"), ("pack", "tf.stack"), ("select", "tf.where"),
    ("image_summary", "tf.summary.image"), ("concat_v2", "tf.concat"),
    ("train.SummaryWriter", "tf.summary.FileWriter"), ("batch_svd", "tf.svd"),
    ("nn.deconv2d", "tf.nn.conv2d_transpose"),
    ("merge_all_summaries", "tf.summary.merge_all"),
    ("nn.seq2seq", "tf.contrib.legacy_seq2seq")])
def test_names_of_before_tensorflow_1(name, new):
    with pytest.raises(AttributeError, match="has no attribute '%s'; TensorFlow "
                       "1.x has %s in its place$" % (
                           name.rpartition(".")[2], re.escape(new))):
        attribute(name)
    attribute(new.partition(".")[2])


@pytest.mark.parametrize("space", sorted(_left_out.REPLACED))
def test_what_replaced_old_names_is_there(space):
    for entry in _left_out.REPLACED[space].split():
        old, _, new = entry.partition("=")
        assert old not in TENSORFLOW[space]
        attribute(new.partition(".")[2].partition("(")[0])


@pytest.mark.parametrize("space", ["nn", "math", "image", "data", "summary"])
def test_no_such_name(space):
    for module in (tf, getattr(tf, space)):
        assert isinstance(module, types.ModuleType)
        for name in ("no_such_name", "NoSuchName", "__no_such_name__", "_name"):
            with pytest.raises(AttributeError, match="no attribute '%s'$" % name):
                getattr(module, name)


@pytest.mark.parametrize("space, name, meant", [
    ("", "relu", "tf.nn.relu"), ("queue", "softmax", "tf.nn.softmax"),
    ("contrib", "matmul", "tf.matmul"), ("nn", "sofmax", "tf.nn.softmax"),
    ("", "Placeholder", "tf.placeholder"), ("", "Float32", "tf.float32"),
    ("", "Barrier", "tf.headrace.Barrier"), ("", "conv2d", "tf.nn.conv2d"),
    ("", "resource_gather", "tf.raw_ops.ResourceGather"),
    ("nn", "Log_Softmax", "tf.nn.log_softmax"), ("raw_ops", "conv2d", "tf.raw_ops.Conv2D"),
    ("raw_ops", "MatMull", "tf.raw_ops.MatMul"), ("", "Data", "tf.data"),
    ("", "OpDef", "tf.headrace.messages.OpDef")])
def test_what_may_have_been_meant(space, name, meant):
    with pytest.raises(AttributeError, match=r"has no attribute '%s'; did you "
                       r"mean %s\?$" % (name, re.escape(meant))):
        getattr(getattr(tf, space) if space else tf, name)


def test_a_name_that_tensorflow_has_elsewhere():
    with pytest.raises(AttributeError, match="no attribute 'TPUClusterResolver'; "
                       "tf.*TPUClusterResolver is not supported yet; use "
                       "instead: TFConfigClusterResolver"):
        tf.TPUClusterResolver


# What is loaded.

def test_import_loads_little():
    first, second = fresh("""if True:
        import sys
        import headrace as tf
        def loaded():
            print(*sorted(name[9:] for name, module in sys.modules.items()
                          if name.startswith("headrace.")
                          and module.__spec__ is not None
                          and module is not tf
                          and not hasattr(module, "__path__")))
        loaded()
        graph_def = tf.GraphDef()
        graph_def.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
        graph_def.node.add(name="y", op="Neg", input=["x"]).attr["T"].type = 1
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(graph_def, name="")
        with tf.Session(graph=graph, config=tf.ConfigProto()) as session:
            session.run("y:0", {"x:0": 1.0})
        loaded()""").splitlines()
    assert first.split() == sorted(ALWAYS.split())
    assert second.split() == sorted(ALWAYS.split() + TO_RUN.split())


@pytest.mark.parametrize("name", MODULES)
def test_every_definition_has_a_public_name(name):
    if name in INTERNAL_MODULES.split():
        return
    if name.startswith("compat."):
        return  # test_tensorflow_imports.py looks at these
    module = _names.load(name)
    defined = {n: f for n, f in vars(module).items() if not n.startswith("_")
               and (isinstance(f, tf._headrace.OpFunction)
                    or getattr(f, "__module__", None) == module.__name__)}
    reached = {id(getattr(module_of(space), n)) for space in SPACES
               for n in public(module_of(space))}
    hidden = {n for n, f in defined.items() if id(f) not in reached}
    assert hidden == set(INTERNAL.get(name, "").split())


def test_every_home_is_needed():
    for space in SPACES:
        for home in _api.NAMES[space]:
            assert home in MODULES + ["raw_ops", "_headrace"], (space, home)


def test_folders_do_not_include_each_other():
    folders = {}  # folder: those that it imports from
    for name in MODULES:
        folder, text = name.partition(".")[0], (
            SOURCES / (name.replace(".", "/") + ".py")).read_text()
        folders.setdefault(folder, set()).update(
            f for f in re.findall(r"headrace\._src\.(\w+)", text)
            if f != folder)
    while folders:
        last = {f for f, needed in folders.items() if not needed & set(folders)}
        assert last, folders  # these import from each other
        for f in last:
            del folders[f]


def test_threads():
    fresh("""if True:
        import sys
        from threading import Barrier, Thread
        import headrace as tf
        names = []
        for space in (tf, tf.data, tf.io, tf.linalg, tf.nn, tf.random, tf.sets,
                      tf.sparse, tf.strings, tf.train, tf.data.experimental):
            names += [(space, n) for n in dir(space)]
        names += [(tf.raw_ops, n) for n in ("Cos", "Sin", "Tan", "TopKV2")]
        names += [(tf.image, "ssim"), (tf.math, "lgamma"), (tf.math, "pow")]
        found, count = {}, 8
        barrier = Barrier(count)
        def find(i):
            barrier.wait()
            start = i * len(names) // count
            mine = {(space.__name__, n): getattr(space, n)
                    for space, n in names[start:] + names[:start]}
            found[i] = mine
        sys.setswitchinterval(1e-6)
        threads = [Thread(target=find, args=(i,)) for i in range(count)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        assert len(found) == count
        for key, value in found[0].items():
            assert all(mine[key] is value for mine in found.values()), key""")


@pytest.mark.parametrize("statement", [
    "import headrace.nn as nn; assert {'conv2d', 'swish'} <= set(dir(nn))",
    "from headrace.nn import embedding_lookup, nce_loss, relu6",
    "import headrace.math as m; m.reduce_sum, m.zero_fraction",
    "from headrace.math import *; reduce_sum, zero_fraction",
    "from headrace import *; while_loop, image.psnr, nn.crelu, bool, queue",
    "import headrace.data.experimental as e; e.AUTOTUNE",
    "from headrace.data import Dataset, experimental",
    "import headrace.compat.v1 as tf; tf.Variable, tf.compat.v1.Session",
    "import headrace.summary; headrace.summary.scalar",
    "from headrace import raw_ops, GraphDef, matrix_inverse, sets",
    "import headrace.headrace as own; own.version, own.messages.OpDef",
    "from headrace.headrace.messages import GraphDef, from_text",
    "import headrace; assert {'cond', 'headrace', 'nn'} <= set(dir(headrace))",
    "import pydoc as p; p.plain(p.render_doc('headrace')).index('while_loop(')",
])
def test_ways_to_import(statement):
    fresh(statement)


def test_pickle():
    things = [tf.Variable, tf.data.Dataset, tf.nn.conv2d, tf.matmul, tf.float32,
              tf.errors.NotFoundError, tf.SparseTensorValue(1, 2, 3)]
    data = pickle.dumps(things)
    assert pickle.loads(data) == things
    fresh("""if True:
        import pickle
        things = pickle.loads(%r)
        import headrace as tf
        assert things[:4] == [tf.Variable, tf.data.Dataset, tf.nn.conv2d,
                              tf.matmul]""" % data)


def test_what_modules_register_is_there_first():
    fresh("""if True:
        import headrace as tf
        x = tf.constant([1., 2.])
        graph_def = tf.GraphDef()
        node = graph_def.node.add(name="f", op="PyFunc")
        node.attr["token"].s = b"pyfunc_99"
        node.attr["Tin"].list.SetInParent()
        node.attr["Tout"].list.type.append(1)
        f, = tf.import_graph_def(graph_def, return_elements=["f:0"])
        with tf.Session() as session:
            assert session.run(-x[1] + 1.) == -1
            try:
                session.run(f)
            except tf.errors.InvalidArgumentError as error:
                assert "pyfunc_99 is not found" in str(error)
            else:
                raise AssertionError("no function has this token")
            slices = tf.IndexedSlices(x, [0, 2], [3])
            assert session.run(tf.convert_to_tensor(slices)).tolist() == [
                1, 0, 2]""")


@pytest.mark.parametrize("space, name", [
    ("contrib", name) for name in (
        "all_reduce gan hooks kfac nccl tensorrt text").split()] + [
    ("contrib.losses", "metric_learning"), ("contrib.rnn", "CompiledWrapper")])
def test_what_is_left_out_of_contrib(space, name):
    module = tf
    for part in space.split("."):
        module = getattr(module, part)
    with pytest.raises(AttributeError, match="tf.%s.%s is not supported yet; use "
                       "instead" % (space, name)):
        getattr(module, name)


def test_each_namespace_has_one_entry():
    # Of two entries in one dict, the first would be lost.
    tables = [node.value for node in ast.parse(
        pathlib.Path(_api.__file__).read_text()).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)]
    for table in tables:
        keys = [ast.literal_eval(key) for key in table.keys if key is not None]
        assert len(keys) == len(set(keys))
