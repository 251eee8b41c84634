"""rejection_resample: a dataset in which classes have other shares."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.control.control_flow import cond
from headrace._src.control.control_flow_ops import Print
from headrace._src.data.datasets import Dataset
from headrace._src.data.experimental import sample_from_datasets, scan
from headrace._src.framework import dtypes
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.random_ops import random_uniform

_BATCH = 32  # elements whose classes are counted at once
_SEEN = 10   # how often each class counts as seen before the first element


def rejection_resample(class_func, target_dist, initial_dist=None, seed=None):
    """A function for Dataset.apply: (class, element), with elements left out so
    that the classes have the shares `target_dist`.

    class_func(element): a scalar int32 class. `initial_dist`: the shares in the
    dataset; without it they are counted meanwhile. Shares are floats of one
    type, vectors of one length."""
    def resample(dataset):
        target = convert_to_tensor(target_dist, name="target_dist")
        classes = dataset.map(class_func)
        if initial_dist is None:
            whole = None
            initials = _counted_shares(target, classes)
            both = initials.map(lambda initial: _accepted(initial, target))
            accepted = both.map(lambda accept, _: accept)
            unchanged = both.map(lambda _, share: share)
        else:
            initial = convert_to_tensor(initial_dist, name="initial_dist")
            whole = _known_unchanged(initial, target)
            accept, share = _accepted(initial, target)
            initials, accepted, unchanged = [
                Dataset.from_tensors(t).repeat()
                for t in (initial, accept, share)]
        filtered = _filtered(dataset, accepted, initials, classes, seed)
        filtered = filtered.prefetch(3)
        if whole == 1:
            return Dataset.zip((classes, dataset))
        if whole == 0:
            return filtered
        return sample_from_datasets(
            [Dataset.zip((classes, dataset)), filtered],
            weights=unchanged.map(lambda share: _array.stack([share, 1.0 - share])),
            seed=seed)
    return resample


def _known_unchanged(initial, target):
    """The share of elements that are taken unseen, if it is known."""
    initial, target = constant_value(initial), constant_value(target)
    if initial is None or target is None:
        return None
    return np.min(target / initial)


def _accepted(initial, target):
    """(the probability that an element is taken, by its class; the share of
    elements that may be taken without a look at their class)"""
    tiny = np.finfo(initial.dtype.as_numpy_dtype).tiny
    ratios = target / (initial + tiny)
    most, least = _math.reduce_max(ratios), _math.reduce_min(ratios)
    return (ratios - least) / (most - least), least


def _filtered(dataset, accepted, initials, classes, seed):
    def warned(accept, initial):
        rejected = _math.reduce_sum((1 - accept) * initial)
        return cond(
            _math.less(rejected, 0.5), lambda: accept, lambda: Print(
                accept, [rejected, initial, accept],
                message="Proportion of examples rejected by sampler is high: ",
                summarize=100, first_n=10))

    accepted = Dataset.zip((accepted, initials)).map(warned)
    drawn = Dataset.zip((classes, accepted, dataset)).map(
        lambda class_, accept, element: (
            class_, _array.gather(accept, class_), element))
    kept = drawn.filter(lambda class_, probability, element: _math.less(
        random_uniform([], seed=seed), probability))
    return kept.map(lambda class_, probability, element: (class_, element))


def _counted_shares(target, classes):
    """The shares of the classes so far, one for each element."""
    count = target.shape[0] or _array.shape(target)[0]

    def add(seen, batch):
        seen = seen + _math.reduce_sum(_array.one_hot(
            batch, seen.get_shape().as_list()[0], dtype=dtypes.int64), 0)
        shares = _math.cast(_math.truediv(seen, _math.reduce_sum(seen)),
                            dtypes.float32)
        return seen, _array.tile(_array.expand_dims(shares, 0), [_BATCH, 1])

    return classes.batch(_BATCH).apply(scan(
        _raw.Fill([count], np.int64(_SEEN)), add)).unbatch()
