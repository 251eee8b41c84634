"""tensorflow.python.ops.control_flow_util: what nodes do in conditions and
loops, and the contexts that they are in."""
from headrace._src.control import contexts as _contexts

# Conditions and loops are nodes, not functions.
ENABLE_CONTROL_FLOW_V2 = False


def EnableControlFlowV2(graph):
    """False: see ENABLE_CONTROL_FLOW_V2."""
    return False


def IsInXLAContext(op):
    """False: there is no XLA."""
    return False


def _context(op):
    return op._get_control_flow_context()


def _is(*types):
    def check(op):
        return op.type in types
    return check


IsSwitch = _is("Switch", "RefSwitch")
IsMerge = _is("Merge", "RefMerge")
IsLoopEnter = _is("Enter", "RefEnter")
IsLoopExit = _is("Exit", "RefExit")

GetOutputContext = _contexts.output_context


def _around(context):
    """The context and those around it, innermost first."""
    while context is not None:
        yield context
        context = context.outer_context


def GetContainingWhileContext(ctxt, stop_ctxt=None):
    """The innermost loop around a context, or stop_ctxt if that comes first."""
    return next((c for c in _around(ctxt)
                 if c.IsWhileContext() or c is stop_ctxt), None)


def GetContainingCondContext(ctxt):
    """The innermost condition around a context."""
    return next((c for c in _around(ctxt) if c.IsCondContext()), None)


def GetContainingXLAContext(ctxt):
    """None: there is no XLA."""
    return None


def IsContainingContext(ctxt, maybe_containing_ctxt):
    """Whether a context, or None for the graph, lies around ctxt or is it."""
    return (maybe_containing_ctxt is None
            or any(c is maybe_containing_ctxt for c in _around(ctxt)))


def OpInContext(op, ctxt):
    return IsContainingContext(_context(op), ctxt)


def TensorInContext(tensor, ctxt):
    return OpInContext(tensor.op, ctxt)


def GetWhileContext(op):
    """The innermost loop that an operation is in."""
    return GetContainingWhileContext(_context(op))


def IsInWhileLoop(op):
    return GetWhileContext(op) is not None


def IsInCond(op):
    return GetContainingCondContext(_context(op)) is not None


def IsCondSwitch(op):
    """Whether a Switch is of a condition: all that take its outputs are."""
    if not IsSwitch(op) or not op.outputs:
        return False
    for consumer in (c for out in op.outputs for c in out.consumers()):
        context = _context(consumer)
        if IsLoopEnter(consumer) and context is not None:
            context = context.outer_context
        if context is None or not context.IsCondContext():
            return False
    return True


def IsCondMerge(op):
    """Whether a Merge is of a condition: all its inputs are."""
    if not IsMerge(op) or not op.inputs:
        return False
    contexts = [GetOutputContext(x.op) for x in op.inputs]
    return all(c is not None and c.IsCondContext() for c in contexts)


def _of_loop(op):
    context = _context(op)
    return context is not None and context.IsWhileContext()


def IsLoopSwitch(op):
    return IsSwitch(op) and _of_loop(op) and not IsCondSwitch(op)


def IsLoopMerge(op):
    return IsMerge(op) and _of_loop(op) and not IsCondMerge(op)


def IsLoopConstantEnter(op):
    """Whether an Enter takes a value that is the same in all iterations."""
    return IsLoopEnter(op) and bool(op.get_attr("is_constant"))


def GetLoopConstantEnter(value):
    """The Enter of a constant of a loop that `value` is, or None."""
    op = value.op
    while op.type in ("Switch", "RefSwitch", "Identity", "RefIdentity"):
        op = op.inputs[0].op
    return op if IsLoopConstantEnter(op) else None
