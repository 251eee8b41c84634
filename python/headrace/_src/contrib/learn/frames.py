"""tf.contrib.learn: data of pandas and of dask as arrays. Neither package is
needed."""
import sys

# What numbers of pandas become. Other types are refused.
_NUMBERS = {
    "int8": "int", "int16": "int", "int32": "int", "int64": "int",
    "uint8": "int", "uint16": "int", "uint32": "int", "uint64": "int",
    "float16": "float", "float32": "float", "float64": "float", "bool": "i"}


def is_frame(x, *names):
    """Whether `x` is of one of these classes of pandas. A program that has such
    an object has loaded pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(
        x, tuple(getattr(pandas, name) for name in names))


def is_dask(x):
    """Whether `x` is a DataFrame or a Series of dask."""
    frames = sys.modules.get("dask.dataframe")
    return frames is not None and isinstance(x, (frames.DataFrame,
                                                 frames.Series))


def extract_pandas_data(data):
    """Columns of a pandas DataFrame as an array [rows, columns] of float64; what
    is no DataFrame as it is. ValueError for columns that are not of numbers or
    booleans."""
    if not is_frame(data, "DataFrame"):
        return data
    bad = [column for column in data
           if data[column].dtype.name not in _NUMBERS]
    if bad:
        raise ValueError(
            "Data types for extracting pandas data must be int, float, or "
            "bool. Found: " + ", ".join(
                "'%s' type='%s'" % (column, data[column].dtype.name)
                for column in bad))
    return data.values.astype("float")


def extract_pandas_matrix(data):
    """The values of a pandas DataFrame, an array of its shape and dtypes; what is
    none as it is. It raises nothing."""
    return data.values if is_frame(data, "DataFrame") else data


def extract_pandas_labels(labels):
    """The column of a pandas DataFrame as an array [rows, 1], or a Series; what is
    neither as it is. ValueError for more columns than one and for a dtype that
    is not of numbers or booleans."""
    if not is_frame(labels, "DataFrame"):
        return labels
    if len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    bad = [column for column in labels
           if labels[column].dtype.name not in _NUMBERS]
    if bad:
        raise ValueError(
            "Data types for extracting labels must be int, float, or bool. "
            "Found: " + ", ".join("'%s' type=%s" % (
                column, labels[column].dtype.name) for column in bad))
    return labels.values


def _known_divisions(frame, column):
    """A frame of dask whose index counts all rows."""
    frame = frame.assign(**{column: 1})
    frame[column] = frame[column].cumsum()
    return frame.set_index(column)


def extract_dask_data(data):
    """A DataFrame or Series of dask with an index of row numbers; what is neither
    as it is. Its shape and dtypes stay. It raises what dask does."""
    if not is_dask(data):
        return data
    frame = data.to_frame() if hasattr(data, "to_frame") and not hasattr(
        data, "columns") else data
    return _known_divisions(frame, "tf_row_number")


def extract_dask_labels(labels):
    """The same of labels. ValueError for more columns than one."""
    if not is_dask(labels):
        return labels
    if hasattr(labels, "columns") and len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    return extract_dask_data(labels)
