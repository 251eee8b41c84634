"""Signatures: which tensors of a graph are a model's inputs and outputs."""
from headrace._src.framework import dtypes
from headrace._src.framework.graph import get_default_graph
from headrace._src.framework.messages import SignatureDef, TensorInfo
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.saved_model import constants
from headrace._src.variables.records import under_scope


def build_tensor_info(tensor):
    """The TensorInfo of a Tensor, a variable or a SparseTensor: name, type and
    shape. TypeError for a RaggedTensor."""
    if hasattr(tensor, "ragged_rank"):
        raise TypeError("a RaggedTensor has no TensorInfo here; give its "
                        "flat_values and each of its nested_row_splits a name "
                        "of their own")
    info = TensorInfo(dtype=dtypes.as_dtype(tensor.dtype).base_dtype
                      .as_datatype_enum)
    info.tensor_shape.CopyFrom(tensor.get_shape().as_proto())
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def get_tensor_from_tensor_info(tensor_info, graph=None, import_scope=None):
    """The Tensor or SparseTensor that a TensorInfo names in `graph`, under
    `import_scope`. KeyError if it is not there, ValueError for a message that
    names none."""
    graph = graph or get_default_graph()

    def find(name):
        return graph.get_tensor_by_name(under_scope(name, import_scope))
    kind = tensor_info.WhichOneof("encoding")
    if kind == "name":
        return find(tensor_info.name)
    if kind == "coo_sparse":
        sparse = tensor_info.coo_sparse
        return SparseTensor(find(sparse.indices_tensor_name),
                            find(sparse.values_tensor_name),
                            find(sparse.dense_shape_tensor_name))
    raise ValueError("Invalid TensorInfo.encoding: %s" % kind)


def build_signature_def(inputs=None, outputs=None, method_name=None):
    """A SignatureDef of {key: TensorInfo} for inputs and outputs."""
    signature = SignatureDef()
    for key, info in (inputs or {}).items():
        signature.inputs[key].CopyFrom(info)
    for key, info in (outputs or {}).items():
        signature.outputs[key].CopyFrom(info)
    if method_name is not None:
        signature.method_name = method_name
    return signature


def _infos(tensors):
    return {key: build_tensor_info(tensor) for key, tensor in tensors.items()}


def predict_signature_def(inputs, outputs):
    """The signature of a model with {key: Tensor} as inputs and outputs."""
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(_infos(inputs), _infos(outputs),
                               constants.PREDICT_METHOD_NAME)


def _checked(tensor, what, dtype):
    info = build_tensor_info(tensor)
    if info.dtype != dtype.as_datatype_enum:
        raise ValueError("%s must be a %s Tensor. Got %s." % (
            what, "string" if dtype == dtypes.string else "float",
            dtypes.as_dtype(info.dtype).name))
    return info


def _examples(examples, what):
    if examples is None:
        raise ValueError("%s examples cannot be None." % what)
    if not hasattr(examples, "get_shape"):
        raise ValueError("%s examples must be a string Tensor." % what)
    return _checked(examples, "%s examples" % what, dtypes.string)


def regression_signature_def(examples, predictions):
    """The signature of a model from serialised Examples to floats."""
    inputs = _examples(examples, "Regression")
    if predictions is None:
        raise ValueError("Regression predictions cannot be None.")
    output = _checked(convert_to_tensor(predictions),
                      "Regression output", dtypes.float32)
    return build_signature_def({constants.REGRESS_INPUTS: inputs},
                               {constants.REGRESS_OUTPUTS: output},
                               constants.REGRESS_METHOD_NAME)


def classification_signature_def(examples, classes, scores):
    """The signature of a model from serialised Examples to the names of classes
    or their scores, or both."""
    inputs = _examples(examples, "Classification")
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be "
                         "None.")
    outputs = {}
    if classes is not None:
        outputs[constants.CLASSIFY_OUTPUT_CLASSES] = _checked(
            classes, "Classification classes", dtypes.string)
    if scores is not None:
        outputs[constants.CLASSIFY_OUTPUT_SCORES] = _checked(
            scores, "Classification scores", dtypes.float32)
    return build_signature_def({constants.CLASSIFY_INPUTS: inputs}, outputs,
                               constants.CLASSIFY_METHOD_NAME)


def _keys_and_types(infos, wanted):
    return set(infos) <= set(wanted) and all(
        info.dtype == wanted[key].as_datatype_enum
        for key, info in infos.items())


def is_valid_signature(signature_def):
    """True for a SignatureDef that a server can use: of a known method, with
    its keys and types."""
    if signature_def is None:
        return False
    inputs, outputs = dict(signature_def.inputs), dict(signature_def.outputs)
    if not inputs or not outputs:
        return False
    method = signature_def.method_name
    if method == constants.PREDICT_METHOD_NAME:
        return True
    examples = set(inputs) == {"inputs"} and _keys_and_types(
        inputs, {"inputs": dtypes.string})
    if method == constants.REGRESS_METHOD_NAME:
        return examples and _keys_and_types(
            outputs, {constants.REGRESS_OUTPUTS: dtypes.float32})
    if method == constants.CLASSIFY_METHOD_NAME:
        return examples and _keys_and_types(outputs, {
            constants.CLASSIFY_OUTPUT_CLASSES: dtypes.string,
            constants.CLASSIFY_OUTPUT_SCORES: dtypes.float32})
    return False
