"""tensorflow.contrib.learn.python.learn.estimators._sklearn: what programs use
where scikit-learn is not installed."""
import numpy as np


def accuracy_score(y_true, y_pred):
    """The share of equal elements."""
    return np.average(y_true == y_pred)


def mean_squared_error(y_true, y_pred):
    """The mean of the squared differences, without dimensions of size 1."""
    return np.average((np.squeeze(y_true) - np.squeeze(y_pred)) ** 2)


def train_test_split(*args, test_size=None, train_size=None,
                     random_state=None):
    """Of each array the rows of a random part, by default three quarters, and the
    other rows."""
    if train_size is None:
        train_size = 0.75 if test_size is None else 1 - test_size
    count = args[0].shape[0]
    np.random.seed(random_state)
    order = np.random.permutation(count)
    first = int(train_size * count)
    return tuple(part for x in args for part in (
        x.take(order[:first], axis=0), x.take(order[first:], axis=0)))
