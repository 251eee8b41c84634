"""tf.contrib.learn.datasets: small data sets, of files that the program has."""
import csv
import importlib.util
import os

import numpy as np

from headrace._src.contrib.csv_data import load_csv_with_header
from headrace._src.platform.file_io import GFile
from headrace._src.tutorials.input_data import read_data_sets


def _iris_of_scikit_learn():
    package = importlib.util.find_spec("sklearn")
    path = package and os.path.join(os.path.dirname(package.origin),
                                    "datasets", "data", "iris.csv")
    if not path or not os.path.exists(path):
        raise FileNotFoundError(
            "The data set iris is no part of Headrace. Give its file as "
            "data_path, or install scikit-learn, which has it.")
    return path


def load_iris(data_path=None):
    """Dataset(data, target) of flowers: float64 [150, 4], int64 [150].

    `data_path`: a CSV file as load_csv_with_header's; by default the one of
    scikit-learn. FileNotFoundError without one."""
    return load_csv_with_header(data_path or _iris_of_scikit_learn(),
                                target_dtype=np.int64,
                                features_dtype=np.float64)


def load_boston(data_path=None):
    """Dataset(data, target) of prices of houses: float64 [506, 13], float64 [506],
    of a CSV file as load_csv_with_header's. FileNotFoundError without one."""
    if data_path is None:
        raise FileNotFoundError(
            "The data set boston is no part of Headrace. Give its file as "
            "data_path.")
    return load_csv_with_header(data_path, target_dtype=np.float64,
                                features_dtype=np.float64)


def load_mnist(train_dir="MNIST-data"):
    """The Datasets of read_data_sets: pictures and labels of a folder. Errors are
    read_data_sets'."""
    return read_data_sets(train_dir)


def load_dataset(name, size="small", test_with_fake_data=False):
    """The data set "iris", "boston" or "mnist" of its function here, whose shapes,
    dtypes and errors it has. ValueError for another name; NotImplementedError
    for "dbpedia", which is not downloaded."""
    if name == "dbpedia":
        raise NotImplementedError(
            "load_dataset: dbpedia is not downloaded: read its files with "
            "tf.contrib.learn.datasets.base.load_csv_without_header")
    load = {"iris": load_iris, "boston": load_boston,
            "mnist": load_mnist}.get(name)
    if load is None:
        raise ValueError("Name of dataset is not found: %s" % name)
    return load()


def shrink_csv(filename, ratio):
    """Writes <filename>_small: each ratio-th line of a CSV file. It makes no
    arrays. NotFoundError for a missing file."""
    small = filename.replace(".", "_small.")
    with GFile(filename) as file, GFile(small, "w") as out:
        writer = csv.writer(out)
        for i, row in enumerate(csv.reader(file)):
            if i % ratio == 0:
                writer.writerow(row)
