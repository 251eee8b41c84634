"""tf.distribute.CrossDeviceOps: how values of several devices become one, and
how one value comes to several devices."""
from headrace._headrace import Tensor
from headrace._src.distribute.devices import resolved
from headrace._src.distribute.strategy import ReduceOp
from headrace._src.distribute.values import (
    Mirrored, PerReplica, is_distributed, regroup)
from headrace._src.framework.errors import UnimplementedError
from headrace._src.framework.graph import colocate_with, device
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import is_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables.base import Variable


def devices_of(destinations):
    """The devices that a variable, a tensor, a value of several devices or a
    device's name stands for."""
    if is_distributed(destinations) or isinstance(destinations, OnDevices):
        return destinations.devices
    if not isinstance(destinations, str):
        destinations = destinations.device
    return (resolved(destinations),)


class OnDevices:
    """Stands for these devices where values go to."""

    def __init__(self, devices):
        self.devices = tuple(devices)


def _check_destinations(destinations):
    if not (is_distributed(destinations)
            or isinstance(destinations, (Tensor, Variable, str, OnDevices))):
        raise ValueError("destinations must be one of a `DistributedValues` "
                         "object, a tf.Variable object, or a device string, "
                         "got %r" % (destinations,))
    name = destinations if isinstance(destinations, str) else getattr(
        destinations, "device", "") if isinstance(
            destinations, (Tensor, Variable)) else "several"
    if not name:
        raise ValueError("destinations can not be empty")


def _as_per_replica(value):
    if is_distributed(value):
        return value
    if isinstance(value, (tuple, list)):
        raise ValueError("Cannot convert `input_tensor` to a `PerReplica` "
                         "object, got %r but expected a object that is not a "
                         "tuple or list." % (value,))
    if not hasattr(value, "device"):
        raise ValueError("Cannot convert `input_tensor` to a `PerReplica` "
                         "object because it doesn't have device set: %r"
                         % (value,))
    return PerReplica((resolved(value.device),), (value,))


def _pairs(pairs):
    found = []
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError("Each element of `value_destination_pairs` should "
                             "be a tuple of size 2, got %r" % (pair,))
        found.append((_as_per_replica(pair[0]), pair[1]))
    return found


def _same_devices(a, b):
    return set(devices_of(a)) == set(devices_of(b))


def _all_same_devices(pairs):
    return all(_same_devices(v, d) and _same_devices(v, pairs[0][0])
               for v, d in pairs)


def is_sparse(value):
    """Whether a value is, or has in each replica, IndexedSlices."""
    if is_distributed(value):
        return all(isinstance(v, IndexedSlices) for v in value.values)
    return isinstance(value, IndexedSlices)


def add_up(values, add=None):
    """The sum of tensors; of IndexedSlices, all their slices."""
    if not any(isinstance(v, IndexedSlices) for v in values):
        return (add or _math.add_n)(values)
    values = [v if isinstance(v, IndexedSlices) else IndexedSlices(
        v, _math.range(_array.shape(v)[0]), _array.shape(v)) for v in values]
    if len(values) == 1:
        return values[0]
    return IndexedSlices(_array.concat([v.values for v in values], 0),
                         _array.concat([v.indices for v in values], 0),
                         values[0].dense_shape)


def divide(value, n):
    if isinstance(value, IndexedSlices):
        return IndexedSlices(value.values / n, value.indices,
                             value.dense_shape)
    return value / n


def copied(value, name):
    """A copy on a device."""
    with device(name):
        if not isinstance(value, IndexedSlices):
            return _array.identity(value)
        return IndexedSlices(
            _array.identity(value.values), _array.identity(value.indices),
            None if value.dense_shape is None
            else _array.identity(value.dense_shape))


def broadcast(value, destinations, is_mirrored=False):
    """`value` on the devices of `destinations`: a Mirrored, or with one device
    and without `is_mirrored` a tensor."""
    devices = devices_of(destinations)
    if len(devices) == 1 and not is_mirrored:
        return copied(value, devices[0])
    return regroup(devices, [copied(value, d) for d in devices], Mirrored)


def reduce_same(reduce_op, replicas, value, destinations):
    """Reduces what is one value in all replicas. ValueError for the sum over
    several."""
    if not is_tensor(value) and not isinstance(value, IndexedSlices) and (
            value == 0):
        return 0
    if reduce_op is ReduceOp.MEAN:
        return value
    _check_destinations(destinations)
    if replicas != 1:
        raise ValueError(
            "A non-DistributedValues value %s cannot be reduced with the given "
            "reduce op %s." % (value, reduce_op))
    return broadcast(value, destinations)


def _summed(value, where, add, reduce_op):
    values = value.values
    if not values:
        raise ValueError("`per_replica_value` must be non-empty")
    if len(values) == 1 and values[0].device == where:
        return values[0]
    if reduce_op not in (ReduceOp.SUM, ReduceOp.MEAN):
        raise ValueError("`reduce_op` must be Reduce.SUM or Reduce.MEAN.")
    with device(where):
        result = add_up(values, add)
        if reduce_op is ReduceOp.MEAN:
            result = divide(result, len(values))
    return result


class CrossDeviceOps:
    """Reduces values to devices and copies them there. A subclass defines
    reduce_implementation and batch_reduce_implementation.

    Values are tensors of any shape and numeric dtype, one for each replica;
    destinations are variables, values on several devices, or names of
    devices. ValueError for others."""

    _num_between_graph_workers = 1

    def reduce(self, reduce_op, per_replica_value, destinations):
        """The sum or mean of the replicas' values on `destinations`."""
        value = _as_per_replica(per_replica_value)
        _check_destinations(destinations)
        if self._num_between_graph_workers == 1 and (
                len(value.values) == 1 and _same_devices(value, destinations)):
            return regroup(value.devices, value.values, Mirrored)
        return self.reduce_implementation(reduce_op, value, destinations)

    def batch_reduce(self, reduce_op, value_destination_pairs):
        """reduce() for a list of pairs of a value and destinations."""
        pairs = _pairs(value_destination_pairs)
        for _, destinations in pairs:
            _check_destinations(destinations)
        if self._num_between_graph_workers == 1 and _all_same_devices(
                pairs) and len(pairs[0][0].values) == 1:
            return [regroup(v.devices, v.values, Mirrored) for v, _ in pairs]
        return self.batch_reduce_implementation(reduce_op, pairs)

    def broadcast(self, tensor, destinations):
        """A copy of `tensor` on each device of `destinations`."""
        _check_destinations(destinations)
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(self, reduce_op, per_replica_value,
                              destinations):
        """reduce() of values of several devices."""
        raise NotImplementedError(
            "_reduce method must be implemented in descendants.")

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs):
        """batch_reduce() of values of several devices."""
        raise NotImplementedError(
            "_batch_reduce method must be implemented in descendants.")

    def broadcast_implementation(self, tensor, destinations):
        """broadcast() of a tensor."""
        return broadcast(tensor, destinations, is_mirrored=True)


class ReductionToOneDevice(CrossDeviceOps):
    """Reduces on `reduce_to_device`, by default the first of the destinations,
    with `accumulation_fn`, by default tf.add_n, and copies the result from
    there. Values are tensors of any shape and numeric dtype, or
    IndexedSlices. ValueError for another reduce_op than SUM and MEAN."""

    def __init__(self, reduce_to_device=None, accumulation_fn=None):
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn

    def reduce_implementation(self, reduce_op, per_replica_value,
                              destinations):
        where = self.reduce_to_device or devices_of(destinations)[0]
        return self.broadcast(
            _summed(per_replica_value, where, self.accumulation_fn, reduce_op),
            destinations)

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs):
        return [self.reduce_implementation(reduce_op, value, destinations)
                for value, destinations in value_destination_pairs]


class _Packs:
    """All values of a device as `num_packs` vectors."""

    def __init__(self, grouped, num_packs):
        self._shapes, self._sizes = [], []
        self.packs = []
        for values in grouped:
            with colocate_with(values[0]):
                flat = [_array.reshape(v, [-1]) for v in values]
                self._shapes.append([_array.shape(v) for v in values])
                self._sizes.append([_array.size(v) for v in values])
                whole = _array.concat(flat, 0)
                if all(v.shape.is_fully_defined() for v in values):
                    total = sum(v.shape.num_elements() for v in values)
                else:
                    total = _array.size(whole)
                part = total // num_packs
                self.packs.append(_array.split(
                    whole, [part] * (num_packs - 1)
                    + [total - part * (num_packs - 1)]))

    def unpacked(self, packs):
        for parts, shapes, sizes in zip(packs, self._shapes, self._sizes):
            with colocate_with(parts[0]):
                whole = _array.concat(parts, 0)
                yield [_array.reshape(v, s) for v, s in zip(
                    _array.split(whole, sizes), shapes)]


class _AllReduce(CrossDeviceOps):
    """Values that go to the devices from which they come are added up on all
    of them."""
    _what: str

    def __init__(self, num_packs=1):
        if num_packs < 0:
            raise ValueError("%s requires num_packs >= 0, but %d is specified"
                             % (self._what, num_packs))
        self._num_packs = num_packs
        self._simple = ReductionToOneDevice()

    def reduce_implementation(self, reduce_op, per_replica_value,
                              destinations):
        if _same_devices(per_replica_value, destinations):
            return self._all_reduced(reduce_op, [per_replica_value])[0]
        return self._simple.reduce(reduce_op, per_replica_value, destinations)

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs):
        if _all_same_devices(value_destination_pairs):
            return self._all_reduced(
                reduce_op, [v for v, _ in value_destination_pairs])
        return [self.reduce_implementation(reduce_op, v, d)
                for v, d in value_destination_pairs]

    def _all_reduced(self, reduce_op, values):
        dense = [v for v in values if not is_sparse(v)]
        results = iter(self._dense(reduce_op, dense) if dense else ())
        sparse = iter([self._simple.reduce(reduce_op, v, v)
                       for v in values if is_sparse(v)])
        return [next(sparse if is_sparse(v) else results) for v in values]

    def _dense(self, reduce_op, values):
        devices = values[0].devices
        grouped = list(zip(*[v.values for v in values]))
        packs = self._num_packs and _Packs(grouped, self._num_packs)
        summed = self._summed(devices, packs.packs if packs else grouped)
        if packs:
            summed = list(packs.unpacked(summed))
        results = []
        for on_devices in zip(*summed):
            if reduce_op is ReduceOp.MEAN:
                mean = []
                for v in on_devices:
                    with device(v.device):
                        mean.append(v / len(devices))
                on_devices = mean
            results.append(regroup(devices, on_devices, Mirrored))
        return results

    def _summed(self, devices, grouped):
        """For each device a list of sums, from a list of values for each."""
        raise NotImplementedError


class AllReduceCrossDeviceOps(CrossDeviceOps):
    """HierarchicalCopyAllReduce or NcclAllReduce, as `all_reduce_alg` says:
    "hierarchical_copy" or "nccl", which raises UnimplementedError where dense
    values are reduced. Tensors are of any shape and numeric dtype.
    `agg_small_grads_max_bytes` and `agg_small_grads_max_group` change no value
    and are not used. ValueError for another algorithm."""

    def __init__(self, all_reduce_alg="nccl", num_packs=1,
                 agg_small_grads_max_bytes=0, agg_small_grads_max_group=10):
        kinds = {"hierarchical_copy": HierarchicalCopyAllReduce,
                 "nccl": NcclAllReduce}
        if all_reduce_alg not in kinds:
            raise ValueError("AllReduceCrossDeviceOps: all_reduce_alg must be "
                             "one of %s, got %r" % (sorted(kinds),
                                                    all_reduce_alg))
        made = kinds[all_reduce_alg](num_packs)
        self.reduce_implementation = made.reduce_implementation
        self.batch_reduce_implementation = made.batch_reduce_implementation


class NcclAllReduce(_AllReduce):
    """All-reduce by NCCL, in `num_packs` parts. Tensors may be of any shape.
    It needs the op NcclAllReduce and several GPUs, which Headrace has not:
    UnimplementedError where dense values are reduced. ValueError for a
    negative `num_packs`."""
    _what = "NCCL all-reduce"

    def _summed(self, devices, grouped):
        raise UnimplementedError(
            None, None, "NcclAllReduce: no op NcclAllReduce for the devices "
            "%s; use tf.distribute.ReductionToOneDevice or "
            "HierarchicalCopyAllReduce" % ", ".join(devices))


class HierarchicalCopyAllReduce(_AllReduce):
    """All-reduce in two groups of devices, then between the groups, in
    `num_packs` parts (0: each value alone). Tensors of any shape and numeric
    dtype. ValueError for a negative `num_packs`."""
    _what = "HierarchicalCopy"

    def _summed(self, devices, grouped):
        half = len(devices) // 2
        results = []
        for i, values in enumerate(zip(*grouped)):
            first = i % len(devices)
            second = (first + half) % len(devices)
            begins = (0, half) if first < half else (half, 0)
            parts = []
            for where, begin in zip((first, second), begins):
                with device(devices[where]):
                    parts.append(_math.add_n(list(
                        values[begin:begin + half])))
            with device(devices[first]):
                total = _math.add_n(parts)
                of_first = _array.identity(total)
            with device(devices[second]):
                of_second = _array.identity(total)
            copies = []
            for j, name in enumerate(devices):
                with device(name):
                    copies.append(_array.identity(
                        of_first if (first < half) == (j < half)
                        else of_second))
            results.append(copies)
        return list(zip(*results))
