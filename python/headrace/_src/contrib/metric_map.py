"""tf.contrib.slim.metrics and tf.contrib.metrics."""
from headrace._src.metrics import counts as _counts
from headrace._src.metrics import means as _means
from headrace._src.metrics.streaming import mean as _mean


def aggregate_metric_map(names_to_tuples):
    """({name: value}, {name: update}) of {name: (value, update)}."""
    return ({name: pair[0] for name, pair in names_to_tuples.items()},
            {name: pair[1] for name, pair in names_to_tuples.items()})


def streaming_mean(values, weights=None, metrics_collections=None,
                   updates_collections=None, name=None):
    """tf.metrics.mean."""
    return _mean(values, weights, metrics_collections, updates_collections,
                 name)


def streaming_accuracy(predictions, labels, weights=None,
                       metrics_collections=None, updates_collections=None,
                       name=None):
    """tf.metrics.accuracy, with the predictions first."""
    return _means.accuracy(labels, predictions, weights, metrics_collections,
                           updates_collections, name)


def streaming_precision(predictions, labels, weights=None,
                        metrics_collections=None, updates_collections=None,
                        name=None):
    """tf.metrics.precision, with the predictions first."""
    return _counts.precision(labels, predictions, weights,
                             metrics_collections, updates_collections, name)


def streaming_recall(predictions, labels, weights=None,
                     metrics_collections=None, updates_collections=None,
                     name=None):
    """tf.metrics.recall, with the predictions first."""
    return _counts.recall(labels, predictions, weights, metrics_collections,
                          updates_collections, name)


def analyze_vars(variables, print_info=False):
    """(numbers in all variables, their bytes); prints a line for each if asked
    to.

    `variables`: a list of Variables of any dtype, whose shapes are known. Both
    are ints. ValueError for a shape that is not known, AttributeError for what
    is no variable."""
    if print_info:
        print("---------\nVariables: name (type shape) [size]\n---------")
    numbers = bytes_ = 0
    for v in variables:
        shape = v.get_shape()
        n = shape.num_elements() or 0
        numbers += n
        bytes_ += n * v.dtype.base_dtype.size
        if print_info:
            print(v.name, "(%s %s) [%d, bytes: %d]"
                  % (v.dtype.name, "x".join(map(str, shape.as_list())), n,
                     n * v.dtype.base_dtype.size))
    if print_info:
        print("Total size of variables: %d" % numbers)
        print("Total bytes of variables: %d" % bytes_)
    return numbers, bytes_
