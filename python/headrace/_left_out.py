"""What a program may use in place of a name that is not here: for names that
TensorFlow 1.0 replaced, and for those of TensorFlow 1.15 that are left out."""

# Names before TensorFlow 1.0, by namespace: `old=new`, the new one's full name.
REPLACED = {
    "": """
        ResourceVariable=tf.get_variable(use_resource=True) audio_summary=tf.summary.audio
        batch_cholesky=tf.cholesky batch_cholesky_solve=tf.cholesky_solve batch_fft=tf.fft
        batch_fft2d=tf.fft2d batch_fft3d=tf.fft3d batch_ifft=tf.ifft batch_ifft2d=tf.ifft2d
        batch_ifft3d=tf.ifft3d batch_matmul=tf.matmul
        batch_matrix_band_part=tf.matrix_band_part
        batch_matrix_determinant=tf.matrix_determinant batch_matrix_diag=tf.matrix_diag
        batch_matrix_diag_part=tf.matrix_diag_part batch_matrix_inverse=tf.matrix_inverse
        batch_matrix_set_diag=tf.matrix_set_diag batch_matrix_solve=tf.matrix_solve
        batch_matrix_solve_ls=tf.matrix_solve_ls
        batch_matrix_transpose=tf.matrix_transpose
        batch_matrix_triangular_solve=tf.matrix_triangular_solve
        batch_self_adjoint_eig=tf.self_adjoint_eig
        batch_self_adjoint_eigvals=tf.self_adjoint_eigvals batch_svd=tf.svd
        complex_abs=tf.abs concat_v2=tf.concat get_variable_store=tf.get_variable
        histogram_summary=tf.summary.histogram image_summary=tf.summary.image
        inv=tf.reciprocal listdiff=tf.setdiff1d
        merge_all_summaries=tf.summary.merge_all merge_summary=tf.summary.merge
        mul=tf.multiply neg=tf.negative pack=tf.stack rnn_cell=tf.nn.rnn_cell
        scalar_summary=tf.summary.scalar select=tf.where sub=tf.subtract unpack=tf.unstack""",
    "contrib.rnn": """
        BasicLSTMCell_v1=tf.contrib.rnn.BasicLSTMCell core_rnn_cell=tf.contrib.rnn
        rnn_cell=tf.contrib.rnn""",
    "image": """
        per_image_whitening=tf.image.per_image_standardization
        roi_pooling=tf.image.crop_and_resize""",
    "nn": """
        bidirectional_rnn=tf.nn.static_bidirectional_rnn deconv2d=tf.nn.conv2d_transpose
        rnn=tf.nn.static_rnn seq2seq=tf.contrib.legacy_seq2seq
        state_saving_rnn=tf.nn.static_state_saving_rnn""",
    "train": "SummaryWriter=tf.summary.FileWriter",
}

# What TensorFlow 1.15 has and we do not: by the beginning of the full name,
# what to use. The longest that fits counts.
NEAREST = {
    "tf.config.experimental_connect_to": "tf.Session(target), where tf.train.Server runs",
    "tf.contrib.all_reduce": "import tensorflow.contrib.all_reduce, as in TensorFlow",
    "tf.contrib.boosted_trees": "boosted trees are left out; there is tf.losses and tf.train",
    "tf.contrib.cluster_resolver": "TFConfigClusterResolver reads TF_CONFIG, and tf.train.ClusterSpec "
                                   "takes the addresses",
    "tf.contrib.cudnn_rnn": "tf.nn.dynamic_rnn with tf.contrib.rnn.LSTMBlockCell",
    "tf.contrib.distribute": "the strategies there, or those of tf.distribute",
    "tf.contrib.distributions": "tf.contrib.distributions has the common ones",
    "tf.contrib.eager": "what is left out concerns other processes: tf.distribute and tf.train.Server",
    "tf.contrib.factorization": "KMeansClustering, GmmAlgorithm and WALSModel there; "
                                "GMM and WALSMatrixFactorization are left out",
    "tf.contrib.gan": "a generator and a discriminator with losses and optimizers of their own",
    "tf.contrib.hooks": "tf.train.ProfilerHook and the other hooks of tf.train",
    "tf.contrib.image": "tf.image and the rest of tf.contrib.image",
    "tf.contrib.kfac": "the optimizers of tf.train and tf.contrib.opt",
    "tf.contrib.layers": "tf.layers and the rest of tf.contrib.layers",
    "tf.contrib.learn": "tf.estimator, and tf.data for the inputs",
    "tf.contrib.learn.monitors": "tf.train.SessionRunHook",
    "tf.contrib.lookup": "tf.lookup",
    "tf.contrib.losses.metric_learning": "tf.reduce_sum of the embeddings' squared differences",
    "tf.contrib.metrics": "tf.metrics",
    "tf.contrib.nccl": "tf.add_n, which adds up what towers give",
    "tf.contrib.opt": "tf.train.Optimizer to derive from",
    "tf.contrib.rnn.CompiledWrapper": "the cell itself: nothing is compiled",
    "tf.contrib.tensorboard": "tf.summary writes what TensorBoard shows",
    "tf.contrib.tensorrt": "a frozen graph as it is: graphs are optimised without being asked",
    "tf.contrib.text": "tf.nn.log_uniform_candidate_sampler, and NumPy for skip-grams",
    "tf.contrib.tpu": "TPUs are left out; tf.contrib.tpu.TPUEstimator(use_tpu=False) trains on CPUs",
    "tf.contrib.training": "tf.train and tf.data",
    "tf.contrib.data.LMDBDataset": "TFRecord files, or tf.data.Dataset.from_generator over the package lmdb",
    "tf.data.experimental.TensorArrayStructure": "elements without TensorArrays",
    "tf.distribute": "the strategies there, or tf.train.SyncReplicasOptimizer",
    "tf.distribute.cluster_resolver": "TFConfigClusterResolver reads TF_CONFIG, and "
                                      "tf.train.ClusterSpec takes the addresses",
    "tf.distributions": "tf.contrib.distributions, tf.random",
    "tf.feature_column": "the rest of tf.feature_column, or tf.nn.embedding_lookup_sparse",
    "tf.keras": "tf.keras has the common layers, losses, metrics, optimizers and "
                "callbacks; beside them tf.layers and tf.train",
    "tf.keras.applications": "the other networks of tf.keras.applications, or a model's frozen "
                             "graph with tf.import_graph_def",
    "tf.keras.callbacks": "tf.train.SessionRunHook",
    "tf.keras.layers": "tf.layers, tf.nn and tf.keras.layers.Lambda",
    "tf.keras.losses": "tf.losses",
    "tf.keras.metrics": "tf.metrics",
    "tf.keras.models": "Model.save_weights and load_weights; graphs with tf.saved_model",
    "tf.keras.optimizers": "tf.train.AdamOptimizer and the other optimizers of tf.train",
    "tf.keras.utils": "tf.one_hot",
    "tf.lite": "tf.graph_util.convert_variables_to_constants",
    "tf.tpu": "TPUs are left out",
    "tf.xla": "graphs are optimised without being asked",
}

# Ops of TensorFlow 1.15 that are not here.
OPS = """
    AdjustContrast AllToAll AnonymousMultiDeviceIterator AssertNextDataset AutoShardDataset
    Batch BatchFunction ChooseFastestBranchDataset ChooseFastestDataset CollectivePermute
    ConfigureDistributedTPU ConfigureTPUEmbedding CrossReplicaSum CudnnRNNBackpropV2
    CudnnRNNBackpropV3 CudnnRNNCanonicalToParams
    CudnnRNNCanonicalToParamsV2 CudnnRNNParamsToCanonical CudnnRNNParamsToCanonicalV2
    CudnnRNNV2 CudnnRNNV3 DatasetFromGraph DatasetToGraph DebugGradientIdentity
    DebugGradientRefIdentity DecodeProtoV2 DeleteMultiDeviceIterator DenseToSparseBatchDataset
    EagerPyFunc EncodeProto EnqueueTPUEmbeddingIntegerBatch
    EnqueueTPUEmbeddingSparseBatch EnqueueTPUEmbeddingSparseTensorBatch
    ExperimentalAssertNextDataset ExperimentalAutoShardDataset
    ExperimentalChooseFastestDataset
    ExperimentalDenseToSparseBatchDataset ExperimentalGroupByReducerDataset
    ExperimentalLMDBDataset ExperimentalRebatchDataset
    ExperimentalSqlDataset
    ExperimentalThreadPoolDataset ExperimentalThreadPoolHandle Fact
    FilterByLastComponentDataset GroupByReducerDataset InfeedDequeue InfeedDequeueTuple
    InfeedEnqueue InfeedEnqueuePrelinearizedBuffer InfeedEnqueueTuple LMDBDataset
    LoadTPUEmbeddingADAMParameters
    LoadTPUEmbeddingADAMParametersGradAccumDebug LoadTPUEmbeddingAdadeltaParameters
    LoadTPUEmbeddingAdadeltaParametersGradAccumDebug LoadTPUEmbeddingAdagradParameters
    LoadTPUEmbeddingAdagradParametersGradAccumDebug LoadTPUEmbeddingCenteredRMSPropParameters
    LoadTPUEmbeddingFTRLParameters LoadTPUEmbeddingFTRLParametersGradAccumDebug
    LoadTPUEmbeddingMDLAdagradLightParameters LoadTPUEmbeddingMomentumParameters
    LoadTPUEmbeddingMomentumParametersGradAccumDebug LoadTPUEmbeddingProximalAdagradParameters
    LoadTPUEmbeddingProximalAdagradParametersGradAccumDebug LoadTPUEmbeddingRMSPropParameters
    LoadTPUEmbeddingRMSPropParametersGradAccumDebug
    LoadTPUEmbeddingStochasticGradientDescentParameters MapDefun MultiDeviceIterator
    MultiDeviceIteratorFromStringHandle MultiDeviceIteratorGetNextFromShard
    MultiDeviceIteratorInit MultiDeviceIteratorToStringHandle NcclAllReduce NcclBroadcast
    NcclReduce OutfeedDequeue OutfeedDequeueTuple OutfeedEnqueue OutfeedEnqueueTuple
    Prelinearize PrelinearizeTuple RandomCrop RebatchDataset RecvTPUEmbeddingActivations
    RetrieveTPUEmbeddingADAMParameters RetrieveTPUEmbeddingADAMParametersGradAccumDebug
    RetrieveTPUEmbeddingAdadeltaParameters
    RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug RetrieveTPUEmbeddingAdagradParameters
    RetrieveTPUEmbeddingAdagradParametersGradAccumDebug
    RetrieveTPUEmbeddingCenteredRMSPropParameters RetrieveTPUEmbeddingFTRLParameters
    RetrieveTPUEmbeddingFTRLParametersGradAccumDebug
    RetrieveTPUEmbeddingMDLAdagradLightParameters RetrieveTPUEmbeddingMomentumParameters
    RetrieveTPUEmbeddingMomentumParametersGradAccumDebug
    RetrieveTPUEmbeddingProximalAdagradParameters
    RetrieveTPUEmbeddingProximalAdagradParametersGradAccumDebug
    RetrieveTPUEmbeddingRMSPropParameters RetrieveTPUEmbeddingRMSPropParametersGradAccumDebug
    RetrieveTPUEmbeddingStochasticGradientDescentParameters SamplingDataset
    SendTPUEmbeddingGradients ShutdownDistributedTPU SnapshotDataset SqlDataset
    StatsAggregatorHandleV2 StatsAggregatorSetSummaryWriter TPUCompilationResult
    TPUEmbeddingActivations TPUOrdinalSelector TPUPartitionedCall TPUReplicateMetadata
    TPUReplicatedInput TPUReplicatedOutput ThreadPoolDataset ThreadPoolHandle Unbatch
    UnbatchGrad UnwrapDatasetVariant WorkerHeartbeat WrapDatasetVariant"""


def replaced(space, name):
    """What replaced a name of before TensorFlow 1.0, or None."""
    for entry in REPLACED.get(space, "").split():
        old, _, new = entry.partition("=")
        if old == name:
            return new
    return None


def nearest(full):
    """What to use in place of a name that is left out, or None."""
    found = [known for known in NEAREST if full.startswith(known)]
    return NEAREST[max(found, key=len)] if found else None
