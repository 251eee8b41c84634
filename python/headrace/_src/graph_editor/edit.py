"""tf.contrib.graph_editor: taking parts of a graph out and putting them
together."""
from headrace._src.graph_editor import reroute, select, subgraph, util
from headrace._src.ops import array_ops


def detach_control_inputs(sgv):
    """The operations of a part wait for none outside. `sgv`: a view, or what
    make_view takes, with tensors of any shape and dtype; TypeError for other
    things."""
    sgv = subgraph.make_view(sgv)
    own = set(sgv.ops)
    for op in sgv.ops:
        reroute.remove_control_inputs(
            op, [c for c in op.control_inputs if c not in own])


def detach_control_outputs(sgv, control_outputs):
    """No operation outside waits for one of a part.

    sgv: a view, or what make_view takes, with tensors of any shape and dtype.
    control_outputs: the ControlOutputs of the graph; TypeError if it is
    none."""
    if not isinstance(control_outputs, util.ControlOutputs):
        raise TypeError("detach_control_outputs: control_outputs must be a "
                        "util.ControlOutputs, got: %s" % type(control_outputs))
    control_outputs.update()
    sgv = subgraph.make_view(sgv)
    own = set(sgv.ops)
    for op in sgv.ops:
        for after in control_outputs.get(op):
            if after not in own:
                reroute.remove_control_inputs(after, op)


def detach_inputs(sgv, control_inputs=False):
    """A part takes placeholders in the place of its inputs.

    sgv: a view, or what make_view takes, with inputs of any shape and dtype.
    control_inputs: it waits for no operation outside either. Returns the view,
    changed in place, and the list of placeholders. TypeError and ValueError as
    from make_view."""
    sgv = subgraph.make_view(sgv)
    with sgv.graph.as_default():
        placeholders = [array_ops.placeholder(
            t.dtype, name=util.placeholder_name(t)) for t in sgv.inputs]
    reroute.swap_inputs(sgv, placeholders)
    if control_inputs:
        detach_control_inputs(sgv)
    return sgv, placeholders


def detach_outputs(sgv, control_outputs=None):
    """What takes outputs of a part takes placeholders in their place.

    sgv: a view, or what make_view takes, with outputs of any shape and dtype.
    control_outputs: a ControlOutputs; then no operation outside waits for the
    part either. Returns a view with the outputs that were taken, and the list
    of placeholders. TypeError and ValueError as from make_view."""
    sgv = subgraph.make_view(sgv)
    sgv = sgv.remap_outputs(
        [i for i, t in enumerate(sgv.outputs) if t.consumers()])
    own = set(sgv.outputs)
    taken = [t for t in subgraph.SubGraphView(sgv.consumers()).inputs
             if t in own]
    if sgv.graph is None:
        return sgv, []
    with sgv.graph.as_default():
        placeholders = [util.make_placeholder_from_tensor(t) for t in taken]
    reroute.swap_outputs(sgv, placeholders)
    if control_outputs is not None:
        detach_control_outputs(sgv, control_outputs)
    return sgv, placeholders


def detach(sgv, control_inputs=False, control_outputs=None, control_ios=None):
    """detach_inputs and detach_outputs.

    sgv: a view, or what make_view takes, with tensors of any shape and dtype.
    control_ios: a ControlOutputs, for control inputs and outputs. Returns the
    view and the lists of placeholders for inputs and for outputs. TypeError and
    ValueError as from make_view and check_cios."""
    control_inputs, control_outputs = select.check_cios(
        control_inputs, control_outputs, control_ios)
    sgv = subgraph.make_view(sgv)
    _, inputs = detach_inputs(sgv, control_inputs)
    _, outputs = detach_outputs(sgv, control_outputs)
    return sgv, inputs, outputs


def connect(sgv0, sgv1, disconnect_first=False):
    """The part `sgv1` takes the outputs of `sgv0`.

    sgv0, sgv1: views, or what make_view takes; outputs and inputs fit in
    number, shape and dtype. disconnect_first: what took the outputs takes
    placeholders. Returns both views. TypeError and ValueError as from make_view
    and reroute_ts."""
    sgv0, sgv1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    util.check_graphs(sgv0, sgv1)
    if disconnect_first:
        detach_outputs(sgv0)
    outputs = subgraph.SubGraphView(passthrough_ts=sgv0.outputs)
    reroute.reroute_inputs(outputs, sgv1)
    return sgv0, sgv1


def bypass(sgv):
    """What takes the outputs of a part takes its inputs.

    sgv: a view, or what make_view takes; inputs and outputs fit in number,
    shape and dtype. Returns the view, which takes placeholders now, and their
    list. TypeError and ValueError as from make_view and reroute_ts."""
    sgv = subgraph.make_view(sgv)
    inputs = list(sgv.inputs)
    sgv, placeholders = detach_inputs(sgv)
    reroute.reroute_ts(inputs, sgv.outputs)
    return sgv, placeholders
