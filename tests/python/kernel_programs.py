"""Programs of ops that the other tests without memory do not reach: kernels
that want inputs which fit one another, and ops that work on a state.

PROGRAMS has functions by name; each builds into the default graph and returns
steps, lists of what is fetched in one run. Those of FILE_PROGRAMS get a folder.
"""
import inspect

import numpy as np

import headrace as tf

raw = tf.raw_ops
FLOAT, INT64, STRING = tf.float32, tf.int64, tf.string


def ramp(*shape, dtype=np.float32):
    return tf.constant(np.arange(np.prod(shape)).reshape(shape) % 7, dtype)


def long(values):
    return tf.constant(values, INT64)


def flat(*results):
    """Of results that are tensors, operations or tuples of these."""
    out = []
    for r in results:
        out += flat(*r) if isinstance(r, (tuple, list)) else [r]
    return out


def of_old_graphs():
    """Lets the graph have ops that newer GraphDefs may not."""
    old = tf.GraphDef()
    old.versions.producer = 6
    tf.import_graph_def(old)


# Variables.

STATE = ("var", "accum", "accum_update", "linear", "m", "v", "vhat", "ms",
         "mom", "mg", "gradient_accumulator", "gradient_squared_accumulator")


def handle(name, value):
    """(the handle, what gives it the value)."""
    made = raw.VarHandleOp(dtype=value.dtype, shape=value.shape,
                           shared_name=name)
    return made, raw.AssignVariableOp(resource=made, value=value)


def optimizer(op):
    make = getattr(raw, op)
    arguments, initializers = {}, []
    for name, parameter in inspect.signature(make).parameters.items():
        if name in STATE and op.startswith("Resource"):
            arguments[name], initial = handle(name, ramp(3, 2) + 1)
            initializers.append(initial)
        elif name in STATE:
            arguments[name] = raw.VariableV2(shape=[3, 2], dtype=FLOAT)
            initializers.append(raw.Assign(ref=arguments[name],
                                           value=ramp(3, 2) + 1).op)
        elif name in ("grad", "delta"):
            arguments[name] = ramp(2 if "Sparse" in op else 3, 2)
        elif name == "indices":
            arguments[name] = [2, 0]
        elif name == "global_step":
            arguments[name] = long(2)
        elif name == "lr_power":
            arguments[name] = -.5
        elif parameter.default is inspect.Parameter.empty:
            arguments[name] = .5
    return [initializers, flat(make(**arguments))]


OPTIMIZERS = [op for op in dir(raw) if op.startswith(
    ("ResourceApply", "ResourceSparseApply", "SparseApply"))]


def resource_scatters():
    v, initial = handle("v", ramp(4, 3))
    small, small_initial = handle("small", long(0))
    steps = [[initial, small_initial]]
    for op in ("Sub", "Mul", "Div", "Min", "Max"):
        steps.append([getattr(raw, "ResourceScatter" + op)(
            resource=v, indices=[1, 3], updates=ramp(2, 3) + 1)])
    for op in ("Add", "Sub", "Min", "Max", "Update"):
        steps.append([getattr(raw, "ResourceScatterNd" + op)(
            ref=v, indices=[[1], [3]], updates=ramp(2, 3))])
    return steps + [
        [raw.ResourceGatherNd(resource=v, indices=[[1, 2]], dtype=FLOAT)],
        [raw.ResourceCountUpTo(resource=small, limit=3, T=INT64)],
        [raw.VariableShape(input=v)], [raw.DisableCopyOnRead(resource=v)],
        [raw.DestroyResourceOp(resource=v)]]


def reference_variables():
    v = raw.VariableV2(shape=[4, 3], dtype=FLOAT)
    old = raw.Variable(shape=[4, 3], dtype=FLOAT)
    n = raw.VariableV2(shape=[], dtype=tf.int32)
    temporary = raw.Assign(
        ref=raw.TemporaryVariable(shape=[2], dtype=FLOAT, var_name="t"),
        value=[1., 2.])
    return [
        [raw.Assign(ref=v, value=ramp(4, 3)), raw.Assign(ref=n, value=0),
         raw.Assign(ref=old, value=ramp(4, 3))],
        [raw.CountUpTo(ref=n, limit=3)],
        [raw.DestroyTemporaryVariable(ref=temporary, var_name="t")],
        [raw.ScatterNdAdd(ref=v, indices=[[1]], updates=ramp(1, 3))],
        [raw.ScatterNdSub(ref=v, indices=[[1]], updates=ramp(1, 3))]]


def stateful_random():
    state, initial = handle("state", long([1, 2, 3]))
    shape, algorithm = long([3]), long(1)
    return [[initial]] + [[r] for r in (
        raw.StatefulStandardNormalV2(resource=state, algorithm=algorithm,
                                     shape=shape),
        raw.StatefulTruncatedNormal(resource=state, algorithm=algorithm,
                                    shape=shape),
        raw.StatefulUniformInt(resource=state, algorithm=algorithm,
                               shape=shape, minval=long(0), maxval=long(9)),
        raw.StatefulUniformFullInt(resource=state, algorithm=algorithm,
                                   shape=shape, dtype=tf.uint64),
        raw.StatefulRandomBinomial(
            resource=state, algorithm=algorithm, shape=shape,
            counts=tf.constant(9., tf.float64), probs=tf.constant(
                .5, tf.float64), dtype=INT64),
        raw.RngSkip(resource=state, algorithm=algorithm, delta=long(3)))]


# Kernels.

def convolutions():
    x, w = ramp(1, 5, 5, 2), ramp(3, 3, 2, 3)
    y = ramp(1, 5, 5, 3)
    x3 = ramp(1, 4, 4, 4, 2)
    one, same = [1] * 4, "SAME"
    return [[
        raw.Conv2DBackpropFilterV2(input=x, filter=w, out_backprop=y,
                                   strides=one, padding=same),
        raw.Conv2DBackpropInputV2(input=x, filter=w, out_backprop=y,
                                  strides=one, padding=same),
        raw.Dilation2DBackpropFilter(input=x, filter=ramp(3, 3, 2),
                                     out_backprop=x, strides=one, rates=one,
                                     padding=same),
        raw.Dilation2DBackpropInput(input=x, filter=ramp(3, 3, 2),
                                    out_backprop=x, strides=one, rates=one,
                                    padding=same),
        raw.FusedPadConv2D(input=x, paddings=[[0, 0], [1, 1], [1, 1], [0, 0]],
                           filter=w, mode="REFLECT", strides=one,
                           padding=same),
        raw.FusedResizeAndPadConv2D(
            input=x, size=[6, 6], paddings=[[0, 0], [1, 1], [1, 1], [0, 0]],
            filter=w, mode="REFLECT", strides=one, padding=same),
        raw.ExtractVolumePatches(input=x3, ksizes=[1, 2, 2, 2, 1],
                                 strides=[1] * 5, padding=same)]]


def pools():
    x, y = ramp(1, 6, 6, 2), ramp(1, 3, 3, 2)
    two, same = [1, 2, 2, 1], {"padding": "SAME"}
    window = {"ksize": two, "strides": two, **same}
    x3, y3 = ramp(1, 4, 4, 4, 2), ramp(1, 2, 2, 2, 2)
    window3 = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], **same}
    largest = raw.MaxPoolV2(input=x, **window)
    with_argmax = raw.MaxPoolWithArgmax(input=x, **window)
    largest3 = raw.MaxPool3D(input=x3, **window3)
    fractional = raw.FractionalMaxPool(value=x, pooling_ratio=[1., 2., 2., 1.],
                                       deterministic=True, seed=1, seed2=2)
    between = {"row_pooling_sequence": fractional[1],
               "col_pooling_sequence": fractional[2],
               "out_backprop": fractional[0]}
    return [flat(
        largest,
        raw.AvgPool3DGrad(orig_input_shape=[1, 4, 4, 4, 2], grad=y3, **window3),
        raw.MaxPool3DGrad(orig_input=x3, orig_output=largest3, grad=y3,
                          **window3),
        raw.MaxPool3DGradGrad(orig_input=x3, orig_output=largest3, grad=x3,
                              **window3),
        raw.MaxPoolGradV2(orig_input=x, orig_output=largest, grad=y, **window),
        raw.MaxPoolGradGrad(orig_input=x, orig_output=largest, grad=x,
                            **window),
        raw.MaxPoolGradGradV2(orig_input=x, orig_output=largest, grad=x,
                              **window),
        raw.MaxPoolGradGradWithArgmax(input=x, grad=x, argmax=with_argmax[1],
                                      **window),
        raw.FractionalAvgPoolGrad(
            orig_input_tensor_shape=long([1, 6, 6, 2]), **between),
        raw.FractionalMaxPoolGrad(orig_input=x, orig_output=fractional[0],
                                  **between))]


def recurrent():
    x, h, w_ru, w_c = ramp(2, 3), ramp(2, 4), ramp(7, 8), ramp(7, 4)
    gru = {"x": x, "h_prev": h, "w_ru": w_ru, "w_c": w_c, "b_ru": ramp(8),
           "b_c": ramp(4)}
    lstm = {"cs_prev": h, "h_prev": h, "w": ramp(7, 16), "wci": ramp(4),
            "wcf": ramp(4), "wco": ramp(4), "b": ramp(16)}
    r, u, c, _ = raw.GRUBlockCell(**gru)
    cell = raw.LSTMBlockCell(x=x, **lstm)
    states = dict(zip(("i", "cs", "f", "o", "ci", "co", "h"), cell))
    del states["h"]
    long_x, grad = ramp(2, 2, 3), ramp(2, 2, 4)
    block = raw.BlockLSTM(seq_len_max=long(2), x=long_x, **lstm)
    all_states = dict(zip(("i", "cs", "f", "o", "ci", "co", "h"), block))
    back = {"seq_len_max": long(2), "x": long_x, **lstm, **all_states,
            "cs_grad": grad, "h_grad": grad, "use_peephole": False}
    return [flat(
        raw.GRUBlockCellGrad(**gru, r=r, u=u, c=c, d_h=h),
        raw.LSTMBlockCellGrad(x=x, **lstm, **states, cs_grad=h, h_grad=h,
                              use_peephole=False),
        raw.BlockLSTMV2(seq_len_max=long(2), x=long_x, **lstm),
        raw.BlockLSTMGrad(**back), raw.BlockLSTMGradV2(**back),
        raw.CTCLossV2(inputs=ramp(4, 1, 3), labels_indices=long([[0, 0]]),
                      labels_values=[1], sequence_length=[4]))]


def image_kernels():
    images, boxes = ramp(1, 6, 6, 2), [[.1, .1, .8, .9]]
    transform = ramp(1, 8)
    scale = {"scale": [.5, .5], "translation": [1., 1.]}
    box = {"bounding_boxes": [[[.1, .1, .8, .9]]], "image_size": [6, 6, 2],
           "aspect_ratio_range": [.75, 1.33], "area_range": [.05, 1.]}
    return [flat(
        raw.CropAndResizeGradBoxes(grads=ramp(1, 3, 3, 2), image=images,
                                   boxes=boxes, box_ind=[0]),
        raw.CropAndResizeGradImage(grads=ramp(1, 3, 3, 2), boxes=boxes,
                                   box_ind=[0], image_size=[1, 6, 6, 2],
                                   T=FLOAT),
        raw.ImageProjectiveTransformV2(images=images, transforms=transform,
                                       output_shape=[5, 5],
                                       interpolation="BILINEAR"),
        raw.ImageProjectiveTransformV3(images=images, transforms=transform,
                                       output_shape=[5, 5], fill_value=1.,
                                       interpolation="BILINEAR"),
        raw.ScaleAndTranslate(images=images, size=[3, 3], **scale),
        raw.ScaleAndTranslateGrad(grads=ramp(1, 3, 3, 2),
                                  original_image=images, **scale),
        raw.SampleDistortedBoundingBox(**box, seed=1),
        raw.StatelessSampleDistortedBoundingBox(
            **box, min_object_covered=.1, seed=[1, 2]),
        raw.NonMaxSuppressionV5(
            boxes=[[0., 0, 1, 1], [0, 0, 1, .9]], scores=[.9, .8],
            max_output_size=2, iou_threshold=.5, score_threshold=0.,
            soft_nms_sigma=0.))]


def array_kernels():
    return [flat(
        raw.MatrixSetDiagV3(input=ramp(3, 3), diagonal=ramp(3), k=0),
        raw.BatchMatMulV3(x=ramp(2, 2, 3), y=ramp(2, 3, 2), Tout=FLOAT),
        raw.InplaceAdd(x=ramp(3, 2), i=[1], v=ramp(1, 2)),
        raw.InplaceUpdate(x=ramp(3, 2), i=[1], v=ramp(1, 2)),
        raw.ParallelConcat(values=[ramp(1, 2), ramp(1, 2)], shape=[2, 2]),
        raw.ParseTensor(serialized=raw.SerializeTensor(tensor=ramp(40)),
                        out_type=FLOAT),
        raw.TensorScatterMin(tensor=ramp(4), indices=[[1]], updates=[-1.]),
        raw.Timestamp(),
        raw.RandomIndexShuffle(index=3, seed=[1, 2, 3], max_index=9),
        raw.UnicodeDecode(input=["h\u00e4user", "\u263a"],
                          input_encoding="UTF-8"),
        raw.SparseSliceGrad(
            backprop_val_grad=ramp(1), input_indices=long([[0, 1], [2, 2]]),
            input_start=long([0, 0]), output_indices=long([[0, 1]])))]


def crosses():
    sparse = {"indices": [long([[0, 0], [1, 0]])], "shapes": [long([2, 1])],
              "values": [tf.constant(["a", "b"])]}
    dense = [tf.constant([["c"], ["d"]])]
    ragged = raw.RaggedCross(
        ragged_values=[tf.constant(["a", "b", "c"])],
        ragged_row_splits=[long([0, 2, 3])], sparse_indices=[],
        sparse_values=[], sparse_shape=[], dense_inputs=dense, input_order="RD",
        hashed_output=False, num_buckets=0, hash_key=1, out_values_type=STRING,
        out_row_splits_type=INT64)
    variant = raw.RaggedTensorToVariant(
        rt_nested_splits=[long([0, 2, 3])], rt_dense_values=ramp(3),
        batched_input=True)
    return [flat(
        raw.SparseCrossV2(**sparse, dense_inputs=dense, sep="_"),
        raw.SparseCrossHashed(**sparse, dense_inputs=dense,
                              num_buckets=long(9), strong_hash=False,
                              salt=long([1, 2])),
        ragged,
        raw.RaggedTensorToTensor(
            shape=long([2, 3]), values=ramp(3), default_value=0.,
            row_partition_tensors=[long([0, 2, 3])],
            row_partition_types=["ROW_SPLITS"]),
        raw.RaggedTensorFromVariant(
            encoded_ragged=variant, input_ragged_rank=0, output_ragged_rank=1,
            Tvalues=FLOAT),
        raw.RaggedTensorToVariantGradient(
            encoded_ragged_grad=raw.RaggedTensorToVariant(
                rt_nested_splits=[long([0, 2, 3])], rt_dense_values=ramp(3),
                batched_input=True),
            row_splits=long([0, 2, 3]), dense_values_shape=[3],
            Tvalues=FLOAT))]


# Quantized kernels: each input from what its name and type say.

def quantized_input(name, dtype, op):
    shapes = {"input": [1, 5, 5, 2], "filter": [3, 3, 2, 2], "a": [2, 3],
              "b": [3, 2], "x": [2, 3], "y": [2, 3], "features": [2, 3],
              "t": [1, 2, 2, 3], "m": [3], "v": [3], "beta": [3], "gamma": [3],
              "bias": [4] if "Depthwise" in op else [2],
              "summand": [1, 5, 5, 2]}
    if "PerChannel" in op and name in ("min_filter", "max_filter"):
        shapes[name] = [2]
    low = "min" in name.split("_")
    if name not in shapes or "_" in name:
        return tf.constant(np.full(shapes.get(name, []), -1. if low else 6.),
                           FLOAT)
    if dtype == FLOAT:
        return ramp(*shapes[name])
    numbers = np.arange(np.prod(shapes[name])).reshape(shapes[name]) % 7
    plain = {tf.quint8: tf.uint8, tf.qint8: tf.int8, tf.qint32: tf.int32}[dtype]
    return raw.Bitcast(input=tf.constant(numbers, plain), type=dtype)


QUANTIZED_TYPES = {"bias": FLOAT, "filter": tf.qint8, "b": tf.qint8,
                   "summand": FLOAT}


def quantized(op):
    make = getattr(raw, op)
    arguments = {}
    for name, parameter in inspect.signature(make).parameters.items():
        if name in ("strides", "padding", "name", "out_type", "Toutput") or \
                parameter.default is not inspect.Parameter.empty:
            continue
        dtype = QUANTIZED_TYPES.get(name, tf.quint8)
        if name == "b" and "Bias" not in op:
            dtype = tf.quint8
        if name == "bias" and op == "QuantizedBiasAdd":
            dtype = tf.quint8
        if name in ("input",) and op in ("QuantizeDownAndShrinkRange",
                                         "Requantize"):
            dtype = tf.qint32
        if name == "summand" and op.endswith("Requantize"):
            dtype = tf.qint8 if "Signed" in op else tf.quint8
        arguments[name] = quantized_input(name, dtype, op)
    if "Conv" in op:
        arguments.update(strides=[1] * 4, padding="SAME")
    if op in ("QuantizeDownAndShrinkRange", "Requantize"):
        arguments["out_type"] = tf.quint8
    if op == "QuantizedBiasAdd":
        arguments["out_type"] = tf.qint32
    if op.endswith("Dequantize"):
        arguments["Toutput"] = FLOAT
    if op == "QuantizedBatchNormWithGlobalNormalization":
        arguments.update(out_type=tf.qint32, variance_epsilon=.1,
                         scale_after_normalization=True)
    return [flat(make(**arguments))]


QUANTIZED = [op for op in dir(raw) if op.startswith((
    "QuantizedConv2D", "QuantizedDepthwise", "QuantizedMatMul",
    "QuantizedRelu", "QuantizedBiasAdd", "QuantizedBatchNorm",
    "QuantizeDown"))] + ["QuantizedAdd", "QuantizedMul", "Requantize"]


def quantized_concats():
    x = [quantized_input("x", tf.quint8, "")] * 2
    ends = {"input_mins": [0., 0.], "input_maxes": [6., 5.]}
    return [flat(raw.QuantizedConcat(concat_dim=0, values=x, **ends),
                 raw.QuantizedConcatV2(values=x, axis=1, **ends))]


# Lists, maps, arrays, stacks.

def tensor_lists():
    shape = long([2])
    a = raw.TensorListFromTensor(tensor=ramp(3, 2), element_shape=shape)
    b = raw.TensorListSplit(tensor=ramp(3, 2), element_shape=long([-1, 2]),
                            lengths=long([1, 2]))
    c = raw.TensorListScatterV2(tensor=ramp(2, 2), indices=[0, 2],
                                element_shape=shape, num_elements=3)
    back = raw.TensorListPushBackBatch(
        input_handles=raw.Pack(values=[a, c]), tensor=ramp(2, 2))
    return [flat(
        raw.TensorListLength(input_handle=b),
        raw.TensorListConcat(input_handle=a, element_dtype=FLOAT),
        raw.TensorListConcatV2(input_handle=a, element_dtype=FLOAT,
                               element_shape=shape, leading_dims=long([])),
        raw.TensorListGather(input_handle=a, indices=[2, 0],
                             element_shape=[2], element_dtype=FLOAT),
        raw.TensorListElementShape(input_handle=a, shape_type=INT64),
        raw.Shape(input=back),
        *[raw.TensorListLength(input_handle=x) for x in (
            raw.TensorListResize(input_handle=a, size=5),
            raw.TensorListConcatLists(input_a=a, input_b=a,
                                      element_dtype=FLOAT),
            raw.TensorListScatterIntoExistingList(
                input_handle=a, tensor=ramp(1, 2), indices=[1]))])]


def sparse_maps():
    put = raw.AddManySparseToTensorsMap(
        sparse_indices=long([[0, 1], [1, 0]]), sparse_values=[1., 2.],
        sparse_shape=long([2, 3]), shared_name="sparse")
    return [flat(raw.TakeManySparseFromTensorsMap(
        sparse_handles=put, dtype=FLOAT, shared_name="sparse"))]


def tensor_maps():
    m = raw.TensorMapInsert(input_handle=raw.EmptyTensorMap(), key="k",
                            value=ramp(2))
    return [[raw.TensorMapHasKey(input_handle=m, key="k"),
             raw.TensorMapStackKeys(input_handle=m, key_dtype=STRING),
             raw.TensorMapSize(input_handle=raw.TensorMapErase(
                 input_handle=m, key="k", value_dtype=FLOAT))]]


def tensor_arrays(spelling="V3"):
    """All ops on TensorArrays; V2's are called the same but for the end."""
    if spelling != "V3":
        of_old_graphs()

    def op(name, **arguments):
        return getattr(raw, "TensorArray" + name + spelling)(**arguments)

    array, flow = op("", size=3, dtype=FLOAT, element_shape=[2],
                     clear_after_read=False) if spelling == "V3" else (
        op("", size=3, dtype=FLOAT, element_shape=[2],
           clear_after_read=False), tf.constant(0.))
    flow = op("Scatter", handle=array, indices=[0, 1, 2], value=ramp(3, 2),
              flow_in=flow)
    results = [
        op("Read", handle=array, index=1, flow_in=flow, dtype=FLOAT),
        op("Gather", handle=array, indices=[0, 2], flow_in=flow, dtype=FLOAT),
        op("Concat", handle=array, flow_in=flow, dtype=FLOAT),
        op("Size", handle=array, flow_in=flow)]
    other = op("", size=2, dtype=FLOAT)
    other, other_flow = other if spelling == "V3" else (other, tf.constant(0.))
    with tf.control_dependencies([op("Write", handle=other, index=0,
                                     value=ramp(2), flow_in=other_flow)]):
        close = op("Close", handle=other)
    split = op("", size=2, dtype=FLOAT)
    split, split_flow = split if spelling == "V3" else (split, tf.constant(0.))
    results.append(op("Split", handle=split, value=ramp(4),
                      lengths=long([1, 3]), flow_in=split_flow))
    grad = op("Grad", handle=array, flow_in=flow, source="g")
    if spelling == "V3":
        results += [grad[1], raw.TensorArrayGradWithShape(
            handle=array, flow_in=flow, shape_to_prepend=[2], source="s")[1]]
    else:
        results.append(grad)
    return [flat(results), [close]]


def stacks():
    stack = raw.StackV2(max_size=5, elem_type=FLOAT)
    push = raw.StackPushV2(handle=stack, elem=ramp(3))
    with tf.control_dependencies([push]):
        pop = raw.StackPopV2(handle=stack, elem_type=FLOAT)
    with tf.control_dependencies([pop]):
        return [[pop, raw.StackCloseV2(handle=stack)]]


# Queues and the like, by reference.

def old_queues():
    q = raw.FIFOQueue(component_types=[FLOAT], shapes=[[2]], shared_name="q")
    take = {"handle": q, "component_types": [FLOAT]}
    return [[raw.QueueEnqueue(handle=q, components=[ramp(2)])],
            [raw.QueueEnqueueMany(handle=q, components=[ramp(4, 2)])],
            flat(raw.QueueSize(handle=q), raw.QueueIsClosed(handle=q)),
            flat(raw.QueueDequeue(**take)), flat(raw.QueueDequeueMany(
                n=2, **take)), flat(raw.QueueDequeueUpTo(n=2, **take)),
            [raw.QueueClose(handle=q)],
            [raw.FakeQueue(resource=raw.FIFOQueueV2(component_types=[FLOAT]))]]


def old_accumulators():
    a = raw.ConditionalAccumulator(dtype=FLOAT, shape=[2], shared_name="a")
    return [[raw.AccumulatorApplyGradient(handle=a, local_step=long(0),
                                          gradient=ramp(2))],
            [raw.AccumulatorNumAccumulated(handle=a)],
            [raw.AccumulatorTakeGradient(handle=a, num_required=1,
                                         dtype=FLOAT)],
            [raw.AccumulatorSetGlobalStep(handle=a, new_global_step=long(3))]]


def old_tables():
    t = raw.HashTable(key_dtype=STRING, value_dtype=INT64, shared_name="t")
    m = raw.MutableHashTable(key_dtype=STRING, value_dtype=INT64,
                             shared_name="m")
    new = raw.HashTableV2(key_dtype=STRING, value_dtype=INT64, shared_name="n")
    keys, values = tf.constant(["a", "b" * 30]), long([1, 2])
    return [[raw.InitializeTable(table_handle=t, keys=keys, values=values),
             raw.InitializeTableV2(table_handle=new, keys=keys, values=values)],
            [raw.LookupTableFind(table_handle=t, keys=keys,
                                 default_value=long(0)),
             raw.LookupTableSize(table_handle=t)],
            [raw.LookupTableInsert(table_handle=m, keys=keys, values=values)],
            flat(raw.LookupTableExport(table_handle=m, Tkeys=STRING,
                                       Tvalues=INT64)),
            [raw.LookupTableImport(table_handle=m, keys=keys, values=values)]]


def staged_maps():
    steps = []
    for kind in ("Map", "OrderedMap"):
        common = {"dtypes": [FLOAT], "shared_name": kind}
        steps += [
            [getattr(raw, kind + "Stage")(key=long(1), indices=[0],
                                          values=[ramp(2)], **common)],
            flat(getattr(raw, kind + "Peek")(key=long(1), indices=[0],
                                             **common)),
            [getattr(raw, kind + "Clear")(**common)]]
    return steps


# Ops of old graphs.

def old_linear_algebra():
    of_old_graphs()
    a = tf.constant(np.array([[[4., 1.], [1., 3.]]]), tf.float32)
    z = tf.constant(np.ones((1, 2, 2, 2)), tf.complex64)
    b = ramp(1, 2, 2) + 1
    return [flat(
        raw.BatchCholesky(input=a), raw.BatchCholeskyGrad(l=a, grad=b),
        raw.BatchFFT(input=z), raw.BatchFFT2D(input=z), raw.BatchFFT3D(input=z),
        raw.BatchIFFT(input=z), raw.BatchIFFT2D(input=z),
        raw.BatchIFFT3D(input=z),
        raw.BatchMatrixBandPart(input=a, num_lower=long(1), num_upper=long(0)),
        raw.BatchMatrixDeterminant(input=a), raw.BatchMatrixDiag(diagonal=b),
        raw.BatchMatrixDiagPart(input=a), raw.BatchMatrixInverse(input=a),
        raw.BatchMatrixSetDiag(input=a, diagonal=ramp(1, 2)),
        raw.BatchMatrixSolve(matrix=a, rhs=b),
        raw.BatchMatrixSolveLs(matrix=a, rhs=b, l2_regularizer=tf.constant(
            .1, tf.float64)),
        raw.BatchMatrixTriangularSolve(matrix=a, rhs=b),
        raw.BatchSelfAdjointEig(input=a), raw.BatchSelfAdjointEigV2(input=a),
        raw.BatchSvd(input=a), raw.SelfAdjointEig(input=a[0]),
        raw.RandomPoisson(shape=[5], rate=[3., 20.], seed=1),
        raw.MatrixExponential(input=a[0]), raw.TopK(input=ramp(5), k=2))]


def old_random():
    of_old_graphs()
    state, initial = handle("state", long([1, 2, 3, 4]))
    return [[initial],
            [raw.StatefulStandardNormal(resource=state, shape=long([3]))]]


def old_neural():
    of_old_graphs()
    t, one = ramp(1, 2, 2, 3), ramp(3) + 1
    norm = {"t": t, "m": one, "v": one, "gamma": one, "variance_epsilon": .1,
            "scale_after_normalization": True}
    x3, w3 = ramp(1, 4, 4, 4, 2), ramp(2, 2, 2, 2, 2)
    back3 = {"input": x3, "filter": w3, "out_backprop": x3,
             "strides": [1] * 5, "padding": "SAME"}
    return [flat(
        raw.BatchNormWithGlobalNormalization(beta=one, **norm),
        raw.BatchNormWithGlobalNormalizationGrad(backprop=t, **norm),
        raw.Conv3DBackpropFilter(**back3), raw.Conv3DBackpropInput(**back3),
        raw.QuantizeAndDequantize(input=t), raw.AudioSummary(
            tag="a", tensor=ramp(1, 50, 1) / 9, sample_rate=44.))]


def oldest_tensor_arrays():
    of_old_graphs()
    array = raw.TensorArray(size=3, dtype=FLOAT, clear_after_read=False)
    flow = raw.TensorArrayUnpack(handle=array, value=ramp(3, 2), flow_in=0.)
    results = [
        raw.TensorArrayRead(handle=array, index=1, flow_in=flow, dtype=FLOAT),
        raw.TensorArrayPack(handle=array, flow_in=flow, dtype=FLOAT),
        raw.TensorArrayGather(handle=array, indices=[0, 2], flow_in=flow,
                              dtype=FLOAT),
        raw.TensorArrayConcat(handle=array, flow_in=flow, dtype=FLOAT),
        raw.TensorArraySize(handle=array, flow_in=flow),
        raw.TensorArrayGrad(handle=raw.Identity(input=array), flow_in=flow,
                            source="g")]
    others = [raw.TensorArray(size=2, dtype=FLOAT) for _ in range(3)]
    written = [
        raw.TensorArrayWrite(handle=others[0], index=0, value=ramp(2),
                             flow_in=0.),
        raw.TensorArrayScatter(handle=others[1], indices=[0, 1],
                               value=ramp(2, 2), flow_in=0.),
        raw.TensorArraySplit(handle=others[2], value=ramp(4),
                             lengths=long([1, 3]), flow_in=0.)]
    with tf.control_dependencies([written[0].op]):
        close = raw.TensorArrayClose(handle=others[0])
    return [flat(results, written[1:]), [close]]


def oldest_stacks():
    of_old_graphs()
    stack = raw.Stack(elem_type=FLOAT)
    with tf.control_dependencies([raw.StackPush(handle=stack, elem=ramp(3))]):
        pop = raw.StackPop(handle=stack, elem_type=FLOAT)
    with tf.control_dependencies([pop]):
        return [[pop, raw.StackClose(handle=stack)]]


def skipgram(folder):
    of_old_graphs()
    text = folder / "text"
    text.write_text("the quick brown fox jumps over the lazy dog " * 30)
    return [flat(raw.Skipgram(filename=str(text), batch_size=4, min_count=1))]


# Summaries and files.

def summary_writer(folder):
    w = raw.SummaryWriter(shared_name="w")
    step = {"writer": w, "step": long(1)}
    event = tf.Event(wall_time=1., step=3) if hasattr(tf, "Event") else None
    serialized = event.SerializeToString() if event else b""
    return [
        [raw.CreateSummaryFileWriter(
            writer=w, logdir=str(folder / "logs"), max_queue=9,
            flush_millis=1000, filename_suffix=".x")],
        [raw.WriteScalarSummary(tag="a", value=1., **step)],
        [raw.WriteHistogramSummary(tag="b", values=ramp(20), **step)],
        [raw.WriteImageSummary(tag="c", tensor=ramp(1, 4, 4, 3),
                               bad_color=tf.constant([255, 0, 0, 255],
                                                     tf.uint8), **step)],
        [raw.WriteAudioSummary(tag="d", tensor=ramp(1, 50, 1) / 9,
                               sample_rate=44., **step)],
        [raw.WriteSummary(tag="e", tensor=ramp(2), summary_metadata="",
                          **step)],
        [raw.WriteGraphSummary(tensor="", **step)],
        [raw.WriteRawProtoSummary(tensor="", **step)],
        [raw.ImportEvent(writer=w, event=serialized)],
        [raw.FlushSummaryWriter(writer=w)], [raw.CloseSummaryWriter(writer=w)]]


def checkpoints(folder):
    names, values = ["v", "w"], [ramp(3, 2), tf.constant("text " * 9)]
    all_of = tf.constant(["", ""])
    old, new, merged = (str(folder / n) for n in ("old", "new", "merged"))
    read = {"file_pattern": old, "tensor_name": "v"}
    return [
        [raw.Save(filename=old, tensor_names=names[:1], data=values[:1])],
        [raw.Restore(dt=FLOAT, **read)],
        [raw.SaveSlices(filename=old, tensor_names=names[:1],
                        shapes_and_slices=[""], data=values[:1])],
        [raw.RestoreSlice(dt=FLOAT, shape_and_slice="", **read)],
        [raw.SaveV2(prefix=new, tensor_names=names, shape_and_slices=all_of,
                    tensors=values)],
        [raw.LoadAndRemapMatrix(
            ckpt_path=new, old_tensor_name="v", row_remapping=long([2, 0]),
            col_remapping=long([]), initializing_values=[], num_rows=2,
            num_cols=2)],
        [raw.MergeV2Checkpoints(checkpoint_prefixes=[new],
                                destination_prefix=merged,
                                delete_old_dirs=False)],
        flat(raw.RestoreV2(prefix=merged, tensor_names=names,
                           shape_and_slices=all_of, dtypes=[FLOAT, STRING]))]


def files(folder):
    words, other = folder / "words", folder / "other"
    words.write_text("a\nb\nc\n")
    other.write_text("c\na\n")
    return [
        [raw.WriteFile(filename=str(folder / "written"), contents="x" * 99),
         raw.ReadFile(filename=str(words))],
        flat(raw.GenerateVocabRemapping(
            new_vocab_file=str(words), old_vocab_file=str(other),
            new_vocab_offset=0, num_new_vocab=3))]


def old_readers(folder):
    path = folder / "lines"
    path.write_text("".join("line %d\n" % i for i in range(20)))
    q = raw.FIFOQueue(component_types=[STRING], shared_name="q")
    r = raw.TextLineReader(shared_name="r")
    state = raw.ReaderSerializeState(
        reader_handle=raw.IdentityReader(shared_name="i"))
    return [
        [raw.QueueEnqueue(handle=q, components=[tf.constant(str(path))])],
        flat(raw.ReaderRead(reader_handle=r, queue_handle=q)),
        flat(raw.ReaderReadUpTo(reader_handle=r, queue_handle=q,
                                num_records=long(3))),
        [raw.ReaderNumRecordsProduced(reader_handle=r),
         raw.ReaderNumWorkUnitsCompleted(reader_handle=r)],
        [raw.ReaderReset(reader_handle=r)],
        [raw.ReaderRestoreState(
            reader_handle=raw.IdentityReader(shared_name="i"), state=state)]]


def session_handles():
    kept = raw.GetSessionHandle(value=ramp(3), name="kept")
    handle = tf.constant("kept;0;/job:localhost/replica:0/task:0/device:CPU:0")
    return [[kept], [raw.GetSessionTensor(handle=handle, dtype=FLOAT)],
            [raw.DeleteSessionTensor(handle=handle)]]


PROGRAMS = {
    f.__name__: f for f in (
        resource_scatters, reference_variables, stateful_random, convolutions,
        pools, recurrent, image_kernels, array_kernels, crosses,
        quantized_concats, tensor_lists, sparse_maps, tensor_maps,
        tensor_arrays, stacks, old_queues, old_accumulators, old_tables, staged_maps,
        session_handles, old_linear_algebra, old_random, old_neural,
        oldest_tensor_arrays, oldest_stacks)}
PROGRAMS["tensor_arrays_v2"] = lambda: tensor_arrays("V2")
for name in OPTIMIZERS:
    PROGRAMS[name] = lambda op=name: optimizer(op)
for name in QUANTIZED:
    PROGRAMS[name] = lambda op=name: quantized(op)
FILE_PROGRAMS = {f.__name__: f for f in (
    summary_writer, checkpoints, files, old_readers, skipgram)}
