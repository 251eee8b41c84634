"""tf.contrib.learn.datasets.base. What is expected, TensorFlow 1.15 gives, but
for the errors about rows and first lines, where it fails elsewhere."""
import numpy as np
import pytest

import headrace as tf

base = tf.contrib.learn.datasets.base
ROWS = "5.1,3.5,0\n4.9,3.0,1\n6.1,2.0,2\n"


def written(tmp_path, text):
    path = tmp_path / "data.csv"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("column, data, target", [
    (-1, [[5.1, 3.5], [4.9, 3.], [6.1, 2.]], [0, 1, 2]),
    (0, [[3.5, 0.], [3., 1.], [2., 2.]], [5.1, 4.9, 6.1])])
@pytest.mark.parametrize("load, first", [
    (base.load_csv_with_header, "3,2,setosa,versicolor\n"),
    (base.load_csv_without_header, "")])
def test_data_and_target_of_a_file(tmp_path, load, first, column, data, target):
    dtype = np.float32 if column == 0 else np.int64
    found = load(written(tmp_path, first + ROWS), dtype, np.float64,
                 target_column=column)
    assert type(found) is base.Dataset
    assert (found.data.dtype, found.target.dtype) == (np.float64, dtype)
    np.testing.assert_array_equal(found.data, data)
    np.testing.assert_array_equal(found.target, np.array(target, dtype))


def test_fewer_rows_than_the_first_line_says_leave_zeros(tmp_path):
    found = base.load_csv_with_header(
        written(tmp_path, "5,2,s\n1,2,3\n"), np.int64, np.float32)
    assert found.data.tolist() == [[1., 2.]] + [[0., 0.]] * 4
    assert found.target.tolist() == [3, 0, 0, 0, 0]


@pytest.mark.parametrize("load, text, message", [
    (base.load_csv_with_header, "", "is to begin with the numbers of rows"),
    (base.load_csv_with_header, "a,b\n" + ROWS, "got 'a,b'"),
    (base.load_csv_with_header, "1,2\n" + ROWS, "says 1 rows, got 3"),
    (base.load_csv_with_header, "3,4\n" + ROWS, "4 features, row 0 has 2"),
    (base.load_csv_with_header, "1,2\n1,x,0\n", "could not convert"),
    (base.load_csv_without_header, "1,2,0\n1,2\n", "inhomogeneous|sequence")])
def test_files_that_are_refused(tmp_path, load, text, message):
    with pytest.raises(ValueError, match=message):
        load(written(tmp_path, text), np.int64, np.float32)


def test_a_missing_file(tmp_path):
    for load in base.load_csv_with_header, base.load_csv_without_header:
        with pytest.raises(tf.errors.NotFoundError, match="none.csv"):
            load(str(tmp_path / "none.csv"), np.int64, np.float32)
