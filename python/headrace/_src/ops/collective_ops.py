"""Ops on tensors of several devices at once, one op on each of them."""
from headrace import raw_ops
from headrace._src.framework.device_spec import DeviceSpec


def _check(t, group_size, what):
    if t is not None:
        if not DeviceSpec.from_string(t.device or "").to_string():
            raise ValueError("Device assignment required for collective ops")
    if group_size <= 1:
        raise ValueError(
            "Parameter group_size to %s must be at least 2." % what)


def all_reduce(t, group_size, group_key, instance_key, merge_op, final_op,
               subdiv_offsets=(0,), communication_hint="auto"):
    """The `merge_op` of the tensors of all devices of the group, divided by
    their number if `final_op` is "Div". Each device gets it."""
    _check(t, group_size, "all_reduce")
    return raw_ops.CollectiveReduce(
        input=t, group_size=group_size, group_key=group_key,
        instance_key=instance_key, merge_op=merge_op, final_op=final_op,
        subdiv_offsets=list(subdiv_offsets),
        communication_hint=communication_hint)


def all_gather(t, group_size, group_key, instance_key,
               communication_hint="auto"):
    """The rows of the tensors of all devices, in the order of the devices."""
    _check(t, group_size, "all_gather")
    return raw_ops.CollectiveGather(
        input=t, shape=[0], group_size=group_size, group_key=group_key,
        instance_key=instance_key, communication_hint=communication_hint)


def broadcast_send(t, shape, dtype, group_size, group_key, instance_key,
                   communication_hint="auto"):
    """Sends `t` to the other devices of the group."""
    _check(t, group_size, "broadcast_send")
    if t.shape != shape:
        raise ValueError(
            "Shape of broadcast_send tensor not equal to declared shape")
    if t.dtype != dtype:
        raise ValueError(
            "Type of broadcast_send tensor not equal to declared type")
    return raw_ops.CollectiveBcastSend(
        input=t, shape=shape, group_size=group_size, group_key=group_key,
        instance_key=instance_key, communication_hint=communication_hint)


def broadcast_recv(shape, dtype, group_size, group_key, instance_key,
                   communication_hint="auto"):
    """What another device of the group gives to broadcast_send."""
    _check(None, group_size, "broadcast_recv")
    return raw_ops.CollectiveBcastRecv(
        shape=shape, T=dtype, group_size=group_size, group_key=group_key,
        instance_key=instance_key, communication_hint=communication_hint)


def all_reduce_v2(t, group_size, group_key, instance_key, merge_op="Add",
                  final_op="Id", communication_hint="auto", timeout=0,
                  ordering_token=None):
    """As all_reduce; size and keys may be tensors."""
    return raw_ops.CollectiveReduceV2(
        input=t, group_size=group_size, group_key=group_key,
        instance_key=instance_key, merge_op=merge_op, final_op=final_op,
        communication_hint=communication_hint.lower(), timeout_seconds=timeout,
        ordering_token=[] if ordering_token is None else [ordering_token])


def all_gather_v2(t, group_size, group_key, instance_key,
                  communication_hint="auto", timeout=0, ordering_token=None):
    """As all_gather; size and keys may be tensors."""
    return raw_ops.CollectiveGatherV2(
        input=t, group_size=group_size, group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint.lower(), timeout_seconds=timeout,
        ordering_token=[] if ordering_token is None else [ordering_token])


def broadcast_send_v2(t, group_size, group_key, instance_key,
                      communication_hint="auto", timeout=0):
    """As broadcast_send; size and keys may be tensors."""
    return raw_ops.CollectiveBcastSendV2(
        input=t, group_size=group_size, group_key=group_key,
        instance_key=instance_key,
        communication_hint=communication_hint.lower(), timeout_seconds=timeout)


def broadcast_recv_v2(shape, dtype, group_size, group_key, instance_key,
                      communication_hint="auto", timeout=0):
    """As broadcast_recv; size, keys and shape may be tensors."""
    return raw_ops.CollectiveBcastRecvV2(
        T=dtype, group_size=group_size, group_key=group_key,
        instance_key=instance_key, shape=shape,
        communication_hint=communication_hint.lower(), timeout_seconds=timeout)
