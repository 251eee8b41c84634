"""FunctionDefs of nodes of a graph."""
from headrace._headrace import Tensor
from headrace._src.framework import messages


_count = 0


def next_number():
    """What makes a function's name unique."""
    global _count
    _count += 1
    return _count


def function_def(name, operations, arguments, results, out_names=None):
    """What `operations` do between arguments and results, as a FunctionDef:
    there an output is named by its argument in the op's signature."""
    definition = messages.FunctionDef()
    definition.signature.name = name
    inputs = {}
    for t in arguments:
        arg = definition.signature.input_arg.add()
        arg.name = t.op.name + ("_o%d" % t.value_index if t.value_index else "")
        arg.type = int(t.dtype)
        inputs[t.op._id, t.value_index] = arg.name
    outside = {t.op._id for t in arguments if all(
        (t.op._id, i) in inputs for i in range(len(t.op.outputs)))}

    def reference(tensor):
        if (tensor.op._id, tensor.value_index) in inputs:
            return inputs[tensor.op._id, tensor.value_index]
        return "%s:%s" % (tensor.op.name, _output_name(tensor))

    # Names of nodes may hold "/" here too.
    for op in operations:
        if op._id in outside:
            continue
        node = op.node_def
        del node.input[:]
        node.input.extend([reference(t) for t in op.inputs])
        node.input.extend(["^" + c.name for c in op.control_inputs
                           if c._id not in outside])
        definition.node_def.extend([node])
        if op.op_def.is_stateful:
            definition.signature.is_stateful = True
    for i, t in enumerate(results):
        arg = definition.signature.output_arg.add()
        arg.name = out_names[i] if out_names else "out%d" % i
        arg.type = int(t.dtype.base_dtype)
        definition.ret[arg.name] = reference(t)
    return definition


def _output_name(tensor):
    assert isinstance(tensor, Tensor)
    at = tensor.value_index
    for arg in tensor.op.op_def.output_arg:
        n = 1
        if arg.number_attr:
            n = int(tensor.op.get_attr(arg.number_attr))
        elif arg.type_list_attr:
            n = len(tensor.op.get_attr(arg.type_list_attr))
        if at < n:
            return "%s:%d" % (arg.name, at)
        at -= n
    raise ValueError("%s has no such output" % tensor.name)
