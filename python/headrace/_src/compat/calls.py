"""tensorflow.python.ops.functional_ops: ops that call functions of the graph,
each a Defun."""
from headrace import raw_ops as _raw
from headrace._src.framework import errors
from headrace._src.framework import graph as _graph
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.functions.defun import Defun


def _names(*functions):
    """The functions' names, once the graph knows them."""
    for function in functions:
        function.add_to_graph(_graph.get_default_graph())
    return [function.name for function in functions]


def remote_call(target, args, Tout, f, name=None):
    """What a function of `args` gives on the device `target`, as a list."""
    return _raw.RemoteCall(target, args, Tout=Tout, f=_names(f)[0], name=name)


def _result_types(function):
    function.name  # traces it
    return function._result_types


def If(cond, inputs, then_branch, else_branch, name=None):
    """What one of two functions of `inputs` gives, as a list."""
    then_name, else_name = _names(then_branch, else_branch)
    return _raw.If(cond, inputs, Tout=_result_types(then_branch),
                   then_branch=then_name, else_branch=else_name, name=name)


def partitioned_call(args, f, tout=None, executing_eagerly=None, config=None,
                     executor_type=None):
    """What a function of `args` gives, as a list. `tout`: the results' types, by
    default those of `f`. `executor_type`: a name that is kept with the node;
    `executing_eagerly` and `config` change nothing."""
    function = _names(f)[0]
    types = _result_types(f) if tout is None else tout
    inputs = [convert_to_tensor(x) for x in args] + list(f.captured_inputs)
    op = _raw.StatefulPartitionedCall if f.stateful_ops else _raw.PartitionedCall
    out = op(inputs, Tout=types, f=function, executor_type=executor_type or "")
    return out if types else [out]


def _with_captures(body, before):
    """A Defun like `body`, whose captured tensors follow its arguments and, but
    for the first `before` arguments, come back as results too."""
    kept = [t.dtype.base_dtype for t in body.captured_inputs]
    own = list(body.declared_input_types)

    @Defun(*(own + kept), func_name="%s_Wrapper" % body.name)
    def wrapped(*args):
        out = _raw.StatefulPartitionedCall(
            list(args), Tout=_result_types(body), f=_names(body)[0])
        return list(out) + list(args[len(own):])
    return wrapped


def _check_results(loop, body, wanted):
    if len(_result_types(body)) != wanted:
        raise errors.InvalidArgumentError(
            None, None, "%s loop body returned %d arguments. Expected: %d"
            % (loop, len(_result_types(body)), wanted))


def While(input_, cond, body, name=None, hostmem=None):
    """The last values of `input_`, which `body` changes while `cond` of them
    is true. `hostmem` is taken and changes nothing. ValueError if `cond` captures
    tensors, or takes other types than `body`; InvalidArgumentError if one of
    them has more or fewer results than it should."""
    if cond.captured_inputs:
        raise ValueError("While op 'cond' argument must be a function "
                         "without implicitly captured inputs.")
    types = body.declared_input_types
    if cond.declared_input_types != types:
        raise ValueError("While op 'cond' and 'body' signatures do not match. "
                         "%r vs %r" % (cond.declared_input_types, types))
    if len(_result_types(cond)) != 1:
        raise errors.InvalidArgumentError(
            None, None, "Expected a single scalar return value from WhileOp "
            "cond, got %d tensors." % len(_result_types(cond)))
    _check_results("While", body, len(types))
    captured = list(body.captured_inputs)
    if captured:
        test, body = cond, _with_captures(body, 0)

        @Defun(*body.declared_input_types, func_name="%s_Wrapper" % test.name)
        def cond(*args):
            return test(*args[:len(types)])
    inputs = [convert_to_tensor(x) for x in input_] + captured
    cond_name, body_name = _names(cond, body)
    out = _raw.While(inputs, cond=cond_name, body=body_name, name=name)
    return out[:len(types)]


def For(start, limit, delta, inputs, body, name=None, hostmem=None,
        rewrite_with_while=None):
    """The last values of `inputs`, which `body`, a function of the number and
    of them, changes for each number of range(start, limit, delta).
    rewrite_with_while: by While. `hostmem` is taken and changes nothing."""
    inputs = [convert_to_tensor(x) for x in inputs]
    if rewrite_with_while:
        return _for_by_while(start, limit, delta, inputs, body, name)
    _check_results("For", body, len(inputs))
    captured = list(body.captured_inputs)
    if captured:
        body = _with_captures(body, 1)
    out = _raw.For(start, limit, delta, inputs + captured,
                   body=_names(body)[0], name=name)
    return out[:len(inputs)]


def _for_by_while(start, limit, delta, inputs, body, name):
    start, limit, delta = (convert_to_tensor(x) for x in (start, limit, delta))
    count = _raw.FloorDiv(limit - start + delta - 1, delta)
    own = body.declared_input_types[1:]
    kinds = [count.dtype] * 4 + list(own)

    @Defun(*kinds, func_name="%s_Cond" % body.name)
    def more(i, n, *_):
        return i < n

    @Defun(*kinds, func_name="%s_Body" % body.name)
    def step(i, n, first, by, *args):
        out = body(first + i * by, *args)
        out = list(out) if isinstance(out, (list, tuple)) else [out]
        return [i + 1, n, first, by] + out
    zero = _raw.ZerosLike(count)
    return While([zero, count, start, delta] + inputs, more, step, name)[4:]


def Gradient(inputs, f, name=None):
    """The gradients of the function f by its arguments: `inputs` are the
    arguments and the gradients of its results."""
    return _raw.SymbolicGradient(inputs, Tout=list(f.declared_input_types),
                                 f=_names(f)[0], name=name)


def symbolic_gradient(input, Tout, f, name=None):
    """The gradients of the function of the name `f`, or of a Defun, by its
    arguments: `input` are the arguments and the gradients of its results."""
    return _raw.SymbolicGradient(
        input, Tout=Tout, f=f if isinstance(f, str) else _names(f)[0],
        name=name)
