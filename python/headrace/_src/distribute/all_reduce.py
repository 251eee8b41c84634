"""tensorflow.python.distribute.all_reduce: graphs in which devices reduce
tensors by sending parts to each other: in a ring, in pairs, by way of other
devices, and inside of a task first.

Each function takes a list of tensors of one known shape and one type, each on
its device, and returns a list with the result on each of them."""
import collections

from headrace._src.distribute import nccl
from headrace._src.framework.device_spec import DeviceSpec
from headrace._src.framework.graph import (
    colocate_with, control_dependencies, device)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def _flatten_tensors(tensors):
    """(vectors, shape) of tensors. ValueError for none, for different shapes
    and for unknown ones."""
    if not tensors:
        raise ValueError("tensors cannot be empty")
    shape = tensors[0].shape
    for t in tensors:
        shape = shape.merge_with(t.shape)
    if not shape.is_fully_defined():
        raise ValueError("Tensors must have statically known shape.")
    if shape.ndims == 1:
        return tensors, shape
    return _reshape_tensors(tensors, [-1]), shape


def _reshape_tensors(tensors, shape):
    results = []
    for t in tensors:
        with colocate_with(t):
            results.append(_array.reshape(t, shape))
    return results


def _length(tensor):
    if tensor.shape.ndims != 1:
        raise ValueError("input tensor must be 1D")
    return tensor.shape.as_list()[0]


def _padded_split(tensor, pieces):
    """(parts of one length, how many zeros were put to the last). ValueError
    for what is no vector."""
    length = _length(tensor)
    size = -(-length // pieces)
    padding = size * pieces - length
    with colocate_with(tensor):
        if not padding:
            return _array.split(tensor, pieces), 0
        last = length - (pieces - 1) * size
        zeros = _array.zeros([padding], dtype=tensor.dtype)
        if last > 0:
            parts = _array.split(tensor, [size] * (pieces - 1) + [last])
            parts[-1] = _array.concat([parts[-1], zeros], 0)
            return parts, padding
        return _array.split(_array.concat([tensor, zeros], 0), pieces), padding


def _strip_padding(tensors, pad_len):
    """Vectors without their last elements. ValueError for no tensors, for
    matrices and if there are fewer elements."""
    if not tensors:
        raise ValueError("tensors cannot be empty")
    shape = tensors[0].shape
    if shape.ndims > 1:
        raise ValueError("tensors must be 1D")
    kept = shape.as_list()[0] - pad_len
    if kept < 0:
        raise ValueError("pad_len longer than tensor")
    results = []
    for t in tensors:
        with colocate_with(t):
            results.append(_array.slice(t, [0], [kept]))
    return results


def _ragged_split(tensor, pieces):
    """Parts of one length, but the last may be longer. ValueError for what is
    no vector."""
    length = _length(tensor)
    size = length // pieces
    with colocate_with(tensor):
        if length == size * pieces:
            return _array.split(tensor, pieces)
        return _array.split(tensor, [size] * (pieces - 1) + [
            length - size * (pieces - 1)])


def _ring_permutations(num_workers, num_subchunks, gpu_perm):
    """(before, rank): for each subchunk a list with the device before each
    device, and with its place, in a ring of the workers' GPUs. The rings of
    subchunks begin at other GPUs. ValueError for more subchunks than GPUs."""
    gpus = len(gpu_perm)
    devices = num_workers * gpus
    if devices == 0:
        return [], []
    if num_subchunks > gpus:
        raise ValueError("num_subchunks %d must be <= num_gpus %d"
                         % (num_subchunks, gpus))
    step = max(1, gpus // num_subchunks)
    before, rank = [], []
    for s in range(num_subchunks):
        turned = gpu_perm[s * step:] + gpu_perm[:s * step]
        ring = [w * gpus + i for w in range(num_workers) for i in turned]
        place = {d: i for i, d in enumerate(ring)}
        rank.append([place[d] for d in range(devices)])
        before.append([ring[place[d] - 1] for d in range(devices)])
    return before, rank


def _around(before, rank, subchunks, parts, first, take):
    """Lets each device take the parts of the one before it, all but one round
    of the ring. `first`: how far behind its own the first part is.
    take(device, theirs, mine) makes the new part."""
    devices = len(parts)
    for tick in range(devices - 1):
        made = {}
        for d in range(devices):
            for s in range(subchunks):
                segment = (rank[s][d] + devices - (first + tick)) % devices
                chunk = segment * subchunks + s
                made[d, chunk] = take(d, parts[before[s][d]][chunk],
                                      parts[d][chunk])
        for (d, chunk), value in made.items():
            parts[d][chunk] = value


def build_ring_all_reduce(input_tensors, num_workers, num_subchunks, gpu_perm,
                          red_op, un_op=None):
    """Reduces in a ring of `num_workers` tasks, each with GPUs in the order of
    `gpu_perm`, by red_op(a, b), then un_op(x). Each device works on
    `num_subchunks` parts at once. ValueError for fewer than two tensors, and
    for more subchunks than GPUs."""
    if len(input_tensors) < 2:
        raise ValueError("input_tensors must be length 2 or longer")
    vectors, shape = _flatten_tensors(input_tensors)
    devices = [t.device for t in vectors]
    before, rank = _ring_permutations(num_workers, num_subchunks, gpu_perm)
    parts, padding = [], 0
    for where, t in zip(devices, vectors):
        with device(where):
            split, padding = _padded_split(t, len(vectors) * num_subchunks)
            parts.append(split)

    def reduce(d, theirs, mine):
        with device(devices[d]):
            return red_op(theirs, mine)

    def pass_on(d, theirs, mine):
        with device(devices[d]):
            return _array.identity(theirs)
    _around(before, rank, num_subchunks, parts, 2, reduce)
    if un_op:
        for d, where in enumerate(devices):
            with device(where):
                parts[d] = [un_op(x) for x in parts[d]]
    _around(before, rank, num_subchunks, parts, 1, pass_on)
    results = []
    for where, mine in zip(devices, parts):
        with device(where):
            results.append(_array.concat(mine, 0))
    if padding:
        results = _strip_padding(results, padding)
    return results if shape.ndims == 1 else _reshape_tensors(results, shape)


def build_recursive_hd_all_reduce(input_tensors, red_op, un_op=None):
    """Reduces by red_op(a, b) in pairs that exchange halves, at twice the
    distance each time, then un_op(x), and joins the halves the same way back.
    ValueError unless the number of tensors is a power of two."""
    devices = [t.device for t in input_tensors]
    vectors, shape = _flatten_tensors(input_tensors)
    count = len(devices)
    if count & (count - 1):
        raise ValueError("num_devices must be a power of 2, got %d" % count)
    spans = [1 << h for h in range(count.bit_length() - 1)]

    def pairs(span):
        return [(d, d + span) for d in range(count) if d & span == 0]
    parts = list(vectors)
    for span in spans:
        for left, right in pairs(span):
            a = _array.split(parts[left], 2)
            b = _array.split(parts[right], 2)
            with device(devices[left]):
                parts[left] = red_op(a[0], b[0])
            with device(devices[right]):
                parts[right] = red_op(a[1], b[1])
    if un_op:
        parts = [un_op(x) for x in parts]
    for span in reversed(spans):
        for left, right in pairs(span):
            both = [parts[left], parts[right]]
            for d in left, right:
                with device(devices[d]):
                    parts[d] = _array.concat(both, 0)
    return parts if shape.ndims == 1 else _reshape_tensors(parts, shape)


def _gathered(vectors, gather_devices, red_op, un_op=None):
    """A part of the result on each of the devices."""
    if vectors[0].shape.ndims != 1:
        raise ValueError("input_tensors must be 1D")
    split = []
    for t in vectors:
        with colocate_with(t):
            split.append(_ragged_split(t, len(gather_devices)))
    shards = []
    for where, parts in zip(gather_devices, zip(*split)):
        with device(where):
            shard = red_op(list(parts))
            shards.append(un_op(shard) if un_op else shard)
    return shards


def _scattered(shards, devices):
    results = []
    for where in devices:
        with device(where):
            results.append(_array.concat(shards, 0))
    return results


def build_shuffle_all_reduce(input_tensors, gather_devices, red_op,
                             un_op=None):
    """Reduces a part on each of `gather_devices`, by red_op([a, b, ...]) and
    un_op(x), as parameter servers do."""
    vectors, shape = _flatten_tensors(input_tensors)
    results = _scattered(_gathered(vectors, gather_devices, red_op, un_op),
                         [t.device for t in vectors])
    return results if shape.ndims == 1 else _reshape_tensors(results, shape)


def _split_by_task(devices, values):
    """(devices, values) as lists with a list for each task. ValueError if there
    are not as many of both, and for a device without a task."""
    if len(devices) != len(values):
        raise ValueError("len(devices) must equal len(values), got %d and %d"
                         % (len(devices), len(values)))
    tasks = collections.OrderedDict()
    for name, value in zip(devices, values):
        spec = DeviceSpec.from_string(name)
        if spec.task is None:
            raise ValueError("failed to parse device %s: it has no task" % name)
        tasks.setdefault((spec.job or "localhost", spec.replica or 0,
                          spec.task), []).append((name, value))
    return ([[n for n, _ in pairs] for pairs in tasks.values()],
            [[v for _, v in pairs] for pairs in tasks.values()])


def build_nccl_all_reduce(input_tensors, red_op, un_op=None):
    """Reduces by NCCL, which Headrace has not: UnimplementedError. ValueError
    for another `red_op` than tf.add."""
    if red_op != _math.add:
        raise ValueError("red_op not supported by NCCL all-reduce: ", red_op)
    results = nccl.all_sum(input_tensors)
    if not un_op:
        return results
    changed = []
    for t in results:
        with colocate_with(t):
            changed.append(un_op(t))
    return changed


def _nccl_hybrid(input_tensors, red_op, across):
    """NCCL inside of each task, across(tensors) between them."""
    vectors, shape = _flatten_tensors(input_tensors)
    devices, values = _split_by_task([t.device for t in vectors], vectors)
    firsts = []
    for mine in values:
        reduced = build_nccl_all_reduce(mine, red_op)
        # All parts of an operation of NCCL must run.
        with control_dependencies(reduced), device(reduced[0].device):
            firsts.append(_array.identity(reduced[0]))
    results = []
    for names, total in zip(devices, across(firsts)):
        with device(names[0]):
            sent = nccl.broadcast(_array.identity(total))
        for name in names:
            with device(name):
                results.append(_array.identity(sent))
    return results if shape.ndims == 1 else _reshape_tensors(results, shape)


def _if_several(tensors, reduce, un_op):
    """reduce(tensors), or un_op of the only one."""
    if len(tensors) > 1:
        return reduce(tensors)
    if not un_op:
        return tensors
    with colocate_with(tensors[0]):
        return [un_op(tensors[0])]


def _ring_of_tasks(subdiv, red_op, un_op):
    return lambda tensors: _if_several(
        tensors, lambda x: build_ring_all_reduce(x, len(x), subdiv, [0],
                                                 red_op, un_op), un_op)


def build_nccl_then_ring(input_tensors, subdiv, red_op, un_op=None):
    """NCCL inside of each task, a ring between them."""
    return _nccl_hybrid(input_tensors, red_op,
                        _ring_of_tasks(subdiv, red_op, un_op))


def build_nccl_then_recursive_hd(input_tensors, red_op, un_op=None):
    """NCCL inside of each task, pairs between them."""
    return _nccl_hybrid(
        input_tensors, red_op,
        lambda x: build_recursive_hd_all_reduce(x, red_op, un_op))


def build_nccl_then_shuffle(input_tensors, gather_devices, nccl_red_op,
                            shuffle_red_op, un_op=None):
    """NCCL inside of each task, `gather_devices` between them."""
    return _nccl_hybrid(
        input_tensors, nccl_red_op,
        lambda x: build_shuffle_all_reduce(x, gather_devices, shuffle_red_op,
                                           un_op))


def _shuffle_hybrid(input_tensors, gather_devices, red_op, across):
    """One of `gather_devices` for each task, across(tensors) between them."""
    vectors, shape = _flatten_tensors(input_tensors)
    devices, values = _split_by_task([t.device for t in vectors], vectors)
    if len(gather_devices) != len(devices):
        raise ValueError("For shuffle hybrid, gather_devices must contain one "
                         "device per worker. Got %d for %d workers"
                         % (len(gather_devices), len(devices)))
    firsts = [_gathered(mine, [where], red_op)[0]
              for mine, where in zip(values, gather_devices)]
    results = []
    for names, total in zip(devices, across(firsts)):
        results += _scattered([total], names)
    return results if shape.ndims == 1 else _reshape_tensors(results, shape)


def build_shuffle_then_ring(input_tensors, gather_devices, subdiv, red_n_op,
                            red_op, un_op=None):
    """One of `gather_devices` for each task, by red_n_op([a, b, ...]), a ring
    between them. ValueError unless there is a device for each task."""
    return _shuffle_hybrid(input_tensors, gather_devices, red_n_op,
                           _ring_of_tasks(subdiv, red_op, un_op))


def build_shuffle_then_shuffle(input_tensors, first_gather_devices,
                               second_gather_devices, red_op, un_op=None):
    """One of `first_gather_devices` for each task, the second ones between
    them. ValueError unless there is a first one for each task."""
    return _shuffle_hybrid(
        input_tensors, first_gather_devices, red_op,
        lambda tensors: _if_several(
            tensors, lambda x: build_shuffle_all_reduce(
                x, second_gather_devices, red_op, un_op), un_op))
