"""Writes a bench network (a frozen GraphDef of nets.py) as ONNX.

    to_onnx.py MODEL.pb MODEL.onnx

ONNX computes images as NCHW: the input is transposed once, weights are written
in ONNX's order. MODEL.json says what the input is. Covers the ops that nets.py uses and refuses any other. (tf2onnx
takes many minutes and gigabytes for VGG16's 553 MB.)
"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tensorflow.core.framework import graph_pb2
from tensorflow.python.framework import tensor_util

OPSET = 15


class Converter:
    def __init__(self, graph_def):
        self.defs = {n.name: n for n in graph_def.node}
        self.nodes, self.weights = [], {}  # weights: tensors by name
        self.images = set()  # names of tensors that are NCHW

    def constant(self, name):
        """The value of a constant node, or None."""
        if ":" in name:
            return None
        node = self.defs[name]
        while node.op == "Identity":
            node = self.defs[node.input[0]]
        return tensor_util.MakeNdarray(node.attr["value"].tensor) if node.op == "Const" else None

    def weight(self, name, value):
        if name not in self.weights:
            self.weights[name] = numpy_helper.from_array(np.asarray(value, order="C"), name)
        return name

    def emit(self, op, inputs, output, **attrs):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attrs))

    def operand(self, name):
        """The ONNX name of an operand: constants become initializers."""
        value = self.constant(name)
        return name if value is None else self.weight(f"{name}/constant", value)

    def window(self, node, sizes=None):
        """Strides, padding and window of a convolution or pooling."""
        attrs = {"strides": list(node.attr["strides"].list.i)[1:3],
                 "auto_pad": {b"SAME": "SAME_UPPER", b"VALID": "VALID"}[node.attr["padding"].s]}
        attrs["kernel_shape"] = list(sizes) if sizes is not None else list(node.attr["ksize"].list.i)[1:3]
        return attrs

    def convert(self, node):
        inputs = list(node.input)
        x, name, op = inputs[0] if inputs else "", node.name, node.op
        image = x in self.images
        if op == "Const":
            return
        if op == "Placeholder":
            image = len(node.attr["shape"].shape.dim) == 4
            if image:
                self.emit("Transpose", ["input"], name, perm=[0, 3, 1, 2])
            else:
                self.emit("Identity", ["input"], name)
        elif op in ("Conv2D", "DepthwiseConv2dNative"):
            w = self.constant(inputs[1])
            attrs = self.window(node, w.shape[:2])
            if op == "Conv2D":
                w = w.transpose(3, 2, 0, 1)
            else:
                attrs["group"] = w.shape[2]
                w = w.transpose(2, 3, 0, 1).reshape(-1, 1, *w.shape[:2])
            self.emit("Conv", [x, self.weight(f"{name}/w", w)], name, **attrs)
        elif op == "BiasAdd":
            bias = self.constant(inputs[1])
            shape = (-1, 1, 1) if image else (-1,)
            self.emit("Add", [x, self.weight(f"{name}/b", bias.reshape(shape))], name)
        elif op in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
            statistics = [self.weight(f"{name}/{i}", self.constant(n)) for i, n in enumerate(inputs[1:5])]
            self.emit("BatchNormalization", [x, *statistics], name, epsilon=node.attr["epsilon"].f)
        elif op == "Relu":
            self.emit("Relu", [x], name)
        elif op == "Relu6":
            limits = [self.weight(f"{name}/{v}", np.float32(v)) for v in (0, 6)]
            self.emit("Clip", [x, *limits], name)
        elif op in ("Add", "AddV2", "Mul"):
            self.emit(op[:3], [self.operand(i) for i in inputs], name)
            image = any(i in self.images for i in inputs)
        elif op == "ConcatV2":
            axis = int(self.constant(inputs[-1]))
            self.emit("Concat", inputs[:-1], name, axis={3: 1}[axis] if image else axis)
        elif op in ("Sigmoid", "Tanh"):
            self.emit(op, [x], name)
        elif op == "Split":
            outputs = [name] + [f"{name}:{i}" for i in range(1, node.attr["num_split"].i)]
            self.nodes.append(helper.make_node("Split", [inputs[1]], outputs, name=name, axis=int(self.constant(x))))
        elif op == "GatherV2":
            self.emit("Gather", [self.operand(x), inputs[1]], name, axis=int(self.constant(inputs[2])))
        elif op == "ZerosLike":
            self.emit("Mul", [x, self.weight(f"{name}/zero", np.float32(0))], name)
        elif op == "StridedSlice":  # x[:, t, :]
            begin, masks = self.constant(inputs[1]), [node.attr[a].i for a in ("begin_mask", "end_mask", "shrink_axis_mask")]
            if masks != [5, 5, 2]:
                raise SystemExit(f"to_onnx.py: StridedSlice {node.name} is not x[:, t, :]")
            self.emit("Gather", [x, self.weight(f"{name}/t", np.int64(begin[1]))], name, axis=1)
        elif op == "Pack":
            axes, parts = self.weight(f"{name}/axis", np.array([node.attr["axis"].i], np.int64)), []
            for i, source in enumerate(inputs):
                parts.append(f"{name}/{i}")
                self.emit("Unsqueeze", [source, axes], parts[-1])
            self.emit("Concat", parts, name, axis=node.attr["axis"].i)
        elif op == "MatMul":
            self.emit("MatMul", [x, self.weight(f"{inputs[1]}/w", self.constant(inputs[1]))], name)
        elif op == "MaxPool":
            self.emit("MaxPool", [x], name, **self.window(node))
        elif op == "AvgPool":
            self.emit("AveragePool", [x], name, **self.window(node))
        elif op == "Pad":
            pads = self.constant(inputs[1])[[0, 3, 1, 2]]
            self.emit("Pad", [x, self.weight(f"{name}/pads", pads.T.reshape(-1).astype(np.int64))], name)
        elif op == "Mean":
            self.emit("ReduceMean", [x], name, axes=[2, 3], keepdims=0)
            image = False
        elif op == "Squeeze":
            axes = self.weight(f"{name}/axes", np.array([2, 3], np.int64))
            self.emit("Squeeze", [x, axes], name)
            image = False
        elif op == "Reshape":
            if image:
                self.emit("Transpose", [x], f"{name}/nhwc", perm=[0, 2, 3, 1])
                x = f"{name}/nhwc"
            shape = self.weight(f"{name}/shape", self.constant(inputs[1]).astype(np.int64))
            self.emit("Reshape", [x, shape], name)
            image = False
        elif op in ("Softmax", "Identity"):
            self.emit(op, [x], name)
        else:
            raise SystemExit(f"to_onnx.py: no rule for op {op} (node {name})")
        if image:
            self.images.add(name)


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    graph_def = graph_pb2.GraphDef()
    with open(sys.argv[1], "rb") as f:
        graph_def.ParseFromString(f.read())
    with open(sys.argv[1].replace(".pb", ".json")) as f:
        [feed] = json.load(f)["feeds"]
    converter = Converter(graph_def)
    for node in graph_def.node:
        # The placeholder's own name stays that of the model's input.
        if node.op == "Placeholder":
            node.name = "input/read"
        for i, name in enumerate(node.input):
            if name == "input":
                node.input[i] = "input/read"
        converter.convert(node)
    graph = helper.make_graph(
        converter.nodes, "bench",
        [helper.make_tensor_value_info("input", helper.np_dtype_to_tensor_dtype(np.dtype(feed["dtype"])), feed["shape"])],
        [helper.make_tensor_value_info("prob", TensorProto.FLOAT, [None, None])], list(converter.weights.values()))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = 8
    onnx.save(model, sys.argv[2])


if __name__ == "__main__":
    main()
