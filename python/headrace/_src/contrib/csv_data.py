"""tf.contrib.learn.datasets.base: small data sets of CSV files, as NumPy arrays."""
import collections
import csv

import numpy as np

from headrace._src.platform.file_io import GFile

Dataset = collections.namedtuple("Dataset", ["data", "target"])
Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])


def load_csv_with_header(filename, target_dtype, features_dtype,
                         target_column=-1):
    """Dataset(data, target) of a CSV file: `data` is [n, features] of
    features_dtype, `target` [n] of target_dtype, taken from the column
    target_column. The first line begins with n and the number of features.

    NotFoundError for a missing file; ValueError for a first line that is no
    such line, for rows of other lengths or another number of them, and for
    text that is no number."""
    with GFile(filename) as file:
        rows = csv.reader(file)
        header = next(rows, [])
        try:
            samples, features = int(header[0]), int(header[1])
        except (IndexError, ValueError):
            raise ValueError(
                "load_csv_with_header: the first line of %s is to begin with "
                "the numbers of rows and of features, got %r"
                % (filename, ",".join(header))) from None
        rows = list(rows)
    if len(rows) > samples:
        raise ValueError("load_csv_with_header: the first line of %s says %d "
                         "rows, got %d" % (filename, samples, len(rows)))
    data = np.zeros((samples, features), features_dtype)
    target = np.zeros((samples,), target_dtype)
    for i, row in enumerate(rows):
        target[i] = np.asarray(row.pop(target_column), target_dtype)
        if len(row) != features:
            raise ValueError(
                "load_csv_with_header: the first line of %s says %d features, "
                "row %d has %d" % (filename, features, i, len(row)))
        data[i] = np.asarray(row, features_dtype)
    return Dataset(data=data, target=target)


def load_csv_without_header(filename, target_dtype, features_dtype,
                            target_column=-1):
    """Dataset(data, target) of a CSV file without a first line of names:
    `data` is [n, features] of features_dtype, `target` [n] of target_dtype,
    taken from the column target_column.

    NotFoundError for a missing file; ValueError for rows of different lengths
    and for text that is no number."""
    data, target = [], []
    with GFile(filename) as file:
        for row in csv.reader(file):
            target.append(row.pop(target_column))
            data.append(np.asarray(row, features_dtype))
    return Dataset(data=np.array(data, features_dtype),
                   target=np.array(target).astype(target_dtype))
