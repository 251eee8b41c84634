"""tf.contrib.graph_editor: giving operations other inputs and control
inputs."""
from headrace._headrace import Operation
from headrace._src.graph_editor import subgraph, util

_SWAP, _FIRST = True, False  # both ways, or the first tensors to both


def _check_fit(ts0, ts1):
    if len(ts0) != len(ts1):
        raise ValueError("ts0 and ts1 have different sizes: %d != %d"
                         % (len(ts0), len(ts1)))
    for t0, t1 in zip(ts0, ts1):
        if not t0.dtype.is_compatible_with(t1.dtype):
            raise ValueError("Dtypes %s and %s are not compatible."
                             % (t0.dtype, t1.dtype))
        if not t0.shape.is_compatible_with(t1.shape):
            raise ValueError("Shapes %s and %s are not compatible."
                             % (t0.shape, t1.shape))


def _reroute(ts0, ts1, swap, can_modify=None, cannot_modify=None):
    ts0, ts1 = util.make_list_of_t(ts0), util.make_list_of_t(ts1)
    _check_fit(ts0, ts1)
    if can_modify is not None:
        can_modify = set(util.make_list_of_op(can_modify))
    if cannot_modify is not None:
        cannot_modify = set(util.make_list_of_op(cannot_modify))

    def may_change(op):
        return (can_modify is None or op in can_modify) and (
            cannot_modify is None or op not in cannot_modify)

    # A tensor may stand in several pairs, so its takers are found before
    # anything changes.
    pairs = [pair for t0, t1 in zip(ts0, ts1) if t0 is not t1
             for pair in ((t0, t1), (t1, t0))[:2 if swap else 1]]
    takers = [list(filter(may_change, dict.fromkeys(old.consumers())))
              for _, old in pairs]
    # A swap of one pair must not take back its first half.
    number, count = 0, 2 if swap else 1
    for at in range(0, len(pairs), count):
        changes = [(op, i, new) for (new, old), ops in zip(
            pairs[at:at + count], takers[at:at + count]) for op in ops
            for i, t in enumerate(op.inputs) if t is old]
        for op, i, new in changes:
            op._update_input(i, new)
        number += len(changes)
    return number


def swap_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """For each pair of tensors, what takes one takes the other from now on.

    ts0, ts1: as make_list_of_t takes them; the tensors of a pair fit in shape
    and dtype. can_modify: the only operations that may change. cannot_modify:
    operations that do not. Returns the number of changed inputs. TypeError for
    what is no tensor or operation; ValueError for tensors that do not fit."""
    return _reroute(ts0, ts1, _SWAP, can_modify, cannot_modify)


def reroute_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """For each pair of tensors, what takes the one of `ts1` takes the one of
    `ts0` from now on. Arguments, shapes and dtypes, result and errors are those
    of swap_ts."""
    return _reroute(ts0, ts1, _FIRST, can_modify, cannot_modify)


def _follow_inputs(sgv0, sgv1, swap):
    """The views get the inputs that their operations have now."""
    old0, old1 = sgv0.copy(), sgv1.copy()

    def take(view, was, other):
        view._input_ts = list(other._input_ts)
        view._passthrough_ts = list(other._passthrough_ts)

        # The output of a tensor that went straight through follows its input.
        now = {t: new for t, new in zip(was._input_ts, view._input_ts)
               if was.is_passthrough(t)}
        view._output_ts = [now.get(t, t) for t in was._output_ts]

    take(sgv1, old1, old0)
    if swap:
        take(sgv0, old0, old1)


def _views(sgv0, sgv1):
    sgv0, sgv1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    util.check_graphs(sgv0, sgv1)
    return sgv0, sgv1


def _reroute_inputs(sgv0, sgv1, swap):
    sgv0, sgv1 = _views(sgv0, sgv1)
    takers = (sgv0.ops + sgv1.ops + util.get_consuming_ops(sgv0.passthroughs)
              + util.get_consuming_ops(sgv1.passthroughs))
    _reroute(sgv0.inputs, sgv1.inputs, swap, can_modify=takers)
    _follow_inputs(sgv0, sgv1, swap)
    return sgv0, sgv1


def _reroute_outputs(sgv0, sgv1, swap):
    sgv0, sgv1 = _views(sgv0, sgv1)
    _reroute(sgv0.outputs, sgv1.outputs, swap,
             cannot_modify=sgv0.ops + sgv1.ops)
    return sgv0, sgv1


def swap_inputs(sgv0, sgv1):
    """Two parts of a graph take each other's inputs.

    sgv0, sgv1: views, or what make_view takes; their inputs fit in number,
    shape and dtype. Returns both views, which are changed in place. TypeError
    and ValueError as from make_view and swap_ts."""
    return _reroute_inputs(sgv0, sgv1, _SWAP)


def reroute_inputs(sgv0, sgv1):
    """The part `sgv1` takes the inputs of `sgv0`. Arguments, shapes and dtypes,
    results and errors are those of swap_inputs."""
    return _reroute_inputs(sgv0, sgv1, _FIRST)


def swap_outputs(sgv0, sgv1):
    """What takes the outputs of one part of a graph takes those of the other.
    Arguments, shapes and dtypes, results and errors are those of
    swap_inputs."""
    return _reroute_outputs(sgv0, sgv1, _SWAP)


def reroute_outputs(sgv0, sgv1):
    """What takes the outputs of `sgv1` takes those of `sgv0`. Arguments, shapes
    and dtypes, results and errors are those of swap_inputs."""
    return _reroute_outputs(sgv0, sgv1, _FIRST)


def swap_ios(sgv0, sgv1):
    """swap_outputs and swap_inputs. Arguments, shapes and dtypes, results and
    errors are those of swap_inputs."""
    return swap_inputs(*swap_outputs(sgv0, sgv1))


def reroute_ios(sgv0, sgv1):
    """reroute_outputs and reroute_inputs. Arguments, shapes and dtypes, results
    and errors are those of swap_inputs."""
    return reroute_inputs(*reroute_outputs(sgv0, sgv1))


def _control_inputs(name, op, cops):
    if not isinstance(op, Operation):
        raise TypeError("%s: op must be a tf.Operation, got: %s"
                        % (name, type(op)))
    return util.make_list_of_op(cops, allow_graph=False)


def remove_control_inputs(op, cops):
    """Operation `op` does not wait for `cops` any longer.

    cops: an operation or several, with outputs of any shape and dtype.
    TypeError for what is no operation; ValueError if `op` does not wait for one
    of them."""
    cops = _control_inputs("remove_control_inputs", op, cops)
    old = op.control_inputs
    for cop in cops:
        if cop not in old:
            raise ValueError("%s is not a control_input of %s"
                             % (cop.name, op.name))
    if cops:
        op._remove_all_control_inputs()
        op._add_control_inputs([c for c in old if c not in cops])


def add_control_inputs(op, cops):
    """Operation `op` waits for `cops`, too.

    cops: an operation or several, with outputs of any shape and dtype.
    TypeError for what is no operation; ValueError if `op` waits for one of them
    already."""
    cops = _control_inputs("add_control_inputs", op, cops)
    for cop in cops:
        if cop in op.control_inputs:
            raise ValueError("%s is already a control_input of %s"
                             % (cop.name, op.name))
    op._add_control_inputs(cops)
