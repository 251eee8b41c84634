"""Expressions with ragged tensors, and what they give.

    PYTHON tests/python/ragged_cases.py >tests/python/ragged_values.tsv

records them with an interpreter PYTHON that has TensorFlow 1.15.
test_ragged.py compares. One line a case: the expression, then the value with its
type and static shape, or the error and when it is raised: as the graph is made
or as it runs.
"""
import numpy as np

CASES = r"""
# Constants.
R([[1, 2], [], [3]])
R([[1, 2], [], [3]], dtype=tf.float32)
R([[b"a", b"bc"], [b""]])
R([["a"], []])
R([[[1], [2, 3]], [], [[]]])
R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
R([[[1, 2]], [[3, 4], [5, 6]]], inner_shape=(2,))
R([[[[1, 2]]], [[[3, 4]], []]], ragged_rank=2)
R([[1, 2], [3, 4]], ragged_rank=0)
R([[], []], dtype=tf.int64)
R([[[]], []])
R([[], []], ragged_rank=1, inner_shape=(2,))
R([1, 2])
R(5)
R([])
R([[]], ragged_rank=3)
R((np.array([1, 2]), np.array([3])))
R([[1], 2])
R([[1, 2], [3]], ragged_rank=2)
R([[1, 2], [3]], ragged_rank=0)
R([[1, 2], [3]], ragged_rank=-1)
R([[[1, 2]], [[3]]], ragged_rank=1)
R([[1]], inner_shape=(3,), ragged_rank=1)
R(5, ragged_rank=1)
R(5, inner_shape=(1,))
R([[[]], [1]])
R([["a", 1]])
R([[1.5]], dtype=tf.int32)
R(V([[1]]))
R([[1]], row_splits_dtype=tf.int32)
R([[1]], row_splits_dtype=tf.float32)
V([[1, 2], [], [3]])
V([[1, 2], [], [3]], dtype=np.float32, row_splits_dtype=np.int32)
V([[1, 2], []], dtype=tf.int16)
V([[[1, 2]], []], ragged_rank=1)
V([1, 2])
V(3)
V([[1], 2])
V([[1]]).to_list()
V([[[1], []], []]).shape
V([[[1], []], []]).ragged_rank
V([[[1], []], []]).nested_row_splits
V([[[1], []], []]).flat_values
str(V([[1], []]))
repr(V([[1], []], dtype=np.int32))
tf.ragged.RaggedTensorValue(np.array([1]), np.array([0, 1]))
tf.ragged.RaggedTensorValue(np.array([1]), [0, 1])
tf.ragged.RaggedTensorValue([1], np.array([0, 1]))
tf.ragged.RaggedTensorValue(np.array([1]), np.array([0., 1.]))
tf.ragged.RaggedTensorValue(np.array([1]), np.array([[0, 1]]))
tf.ragged.RaggedTensorValue(V([[1]]), np.array([0, 1], np.int32))
str(R([[1], []]))
repr(R([[[1]], []]))
# Placeholders and feeds.
fed([[1, 2], []])
fed([[[1], [2]], []])
fed([[[1, 2]], []], value_shape=[2], ragged_rank=1)
tf.ragged.placeholder(tf.int32, 0, [2]).shape
tf.ragged.placeholder(tf.int32, 2, [2, None]).shape
fed([[1, 2], []]) + 1
fed([[1, 2], []], row_splits_dtype=np.int32)
# Row partitions.
RT.from_value_rowids([3, 1, 4, 1, 5], [0, 0, 1, 1, 4])
RT.from_value_rowids([3, 1], [0, 0], nrows=3)
RT.from_value_rowids([], [])
RT.from_value_rowids([3, 1], [0, 3], nrows=2)
RT.from_value_rowids([3, 1], [0, 3], nrows=-2)
RT.from_value_rowids([3, 1], [1, 0])
RT.from_value_rowids([3, 1], [0])
RT.from_value_rowids([3, 1], dense([1, 0]))
RT.from_value_rowids(dense([3, 1]), dense([0, 2], np.int64))
RT.from_value_rowids(dense([3, 1]), dense([0, 2], np.int64), nrows=dense(4, np.int64))
RT.from_value_rowids(dense([3, 1]), dense([0, 2], np.int64), nrows=dense(2, np.int64))
RT.from_value_rowids([3, 1], [0., 1.])
RT.from_value_rowids([3, 1], np.array([0, 1], np.int32))
RT.from_value_rowids(5, [0])
RT.from_value_rowids([[1, 2], [3, 4]], [0, 2])
RT.from_row_splits([3, 1, 4], [0, 2, 2, 3])
RT.from_row_splits([3, 1, 4], [0, 2, 2, 2])
RT.from_row_splits([3, 1, 4], [1, 2, 2, 3])
RT.from_row_splits([3, 1, 4], [0, 2, 1, 3])
RT.from_row_splits([3, 1, 4], [])
RT.from_row_splits([3, 1, 4], [[0, 3]])
RT.from_row_splits([3, 1, 4], dense([0, 1]))
RT.from_row_splits([3, 1, 4], dense([0, 1]), validate=False).row_splits
RT.from_row_splits([3, 1, 4], [0, 3], validate=1)
RT.from_row_splits([], [0])
RT.from_row_splits([], [0, 0])
RT.from_row_splits(R([[1], [2, 3]]), [0, 2])
RT.from_row_splits(R([[1], [2, 3]]), np.array([0, 2], np.int32))
RT.from_row_splits(R([[1], [2, 3]]), tf.constant([0, 2]))
RT.from_row_splits(R([[1], [2, 3]]), tf.constant([0., 2.]))
RT.from_row_splits([1], ["a"])
RT.from_row_lengths([3, 1, 4], [2, 0, 1])
RT.from_row_lengths([3, 1, 4], [2, 0])
RT.from_row_lengths([3, 1, 4], [-1, 4])
RT.from_row_lengths([3, 1, 4], dense([-1, 4]))
RT.from_row_lengths([], [])
RT.from_row_starts([3, 1, 4], [0, 2, 2])
RT.from_row_starts([3, 1, 4], [0, 2, 5])
RT.from_row_starts([3, 1, 4], [1, 2])
RT.from_row_starts([], [])
RT.from_row_limits([3, 1, 4], [2, 2, 3])
RT.from_row_limits([3, 1, 4], [2, 1, 3])
RT.from_row_limits([3, 1, 4], [2])
RT.from_row_limits([], [])
RT.from_nested_value_rowids([1, 2, 3], [[0, 1], [0, 0, 1]])
RT.from_nested_value_rowids([1, 2, 3], [[0, 1], [0, 0, 1]], [3, 2])
RT.from_nested_value_rowids([1, 2, 3], [[0, 1], [0, 0, 1]], [3])
RT.from_nested_value_rowids([1, 2, 3], tf.constant([[0]]))
RT.from_nested_row_splits([1, 2, 3], [[0, 1, 2], [0, 2, 3]])
RT.from_nested_row_splits([1, 2, 3], [])
RT.from_nested_row_splits([1, 2, 3], tf.constant([[0, 3]]))
RT.from_nested_row_lengths([1, 2, 3], [[1, 1], [2, 1]])
RT.from_nested_row_lengths([1, 2, 3], tf.constant([[3]]))
RT(tf.constant([1]), tf.constant([0, 1]))
RT(tf.constant([1]), tf.constant([0, 1]), internal=True)
RT(tf.constant([1]), [0, 1], internal=True)
RT([1], tf.constant([0, 1]), internal=True)
RT(tf.constant([1]), tf.constant([0, 1]), cached_nrows=1, internal=True)
RT(tf.constant([1]), tf.constant([0, 1]), cached_nrows=tf.constant(1.), internal=True)
(lambda n: RT.from_value_rowids([1], tf.constant([0], tf.int64), n).nrows() is n)(tf.constant(1, tf.int64))
(lambda i: RT.from_value_rowids([1], i, validate=False).value_rowids() is i)(tf.constant([0], tf.int64))
RT(tf.constant([1]), tf.constant([0., 1]), internal=True)
tf.ragged.row_splits_to_segment_ids([0, 2, 2, 5])
tf.ragged.row_splits_to_segment_ids([0])
tf.ragged.row_splits_to_segment_ids([])
tf.ragged.row_splits_to_segment_ids([0., 1.])
tf.ragged.row_splits_to_segment_ids([[0, 1]])
tf.ragged.row_splits_to_segment_ids(dense([0, 2, 2, 5]))
tf.ragged.row_splits_to_segment_ids([0, 2, 2, 5], out_type=tf.int32)
tf.ragged.segment_ids_to_row_splits([0, 0, 2])
tf.ragged.segment_ids_to_row_splits([0, 0, 2], num_segments=5)
tf.ragged.segment_ids_to_row_splits([])
tf.ragged.segment_ids_to_row_splits(tf.constant([0, 0, 2]))
tf.ragged.segment_ids_to_row_splits([0, 0, 2], out_type=tf.int32)
tf.ragged.segment_ids_to_row_splits([[0]])
tf.ragged.segment_ids_to_row_splits([0.5])
# Properties.
R([[1, 2], [], [3]]).values
R([[1, 2], [], [3]]).row_splits
R([[1, 2], [], [3]]).value_rowids()
R([[1, 2], [], [3]]).nrows()
R([[1, 2], [], [3]]).nrows(out_type=tf.int32)
R([[1, 2], [], [3]]).row_starts()
R([[1, 2], [], [3]]).row_limits()
R([[1, 2], [], [3]]).row_lengths()
R([[1, 2], [], [3]]).row_lengths(axis=0)
R([[1, 2], [], [3]]).row_lengths(axis=-1)
R([[1, 2], [], [3]]).row_lengths(axis=2)
R([[1, 2], [], [3]]).row_lengths(axis="a")
R([[[1], [2, 3]], [], [[]]]).row_lengths(axis=2)
R([[[1, 2], [3, 4]], []], ragged_rank=1).row_lengths(axis=2)
R([[[1], [2, 3]], [], [[]]]).nested_row_lengths()
R([[[1], [2, 3]], [], [[]]]).nested_row_splits
R([[[1], [2, 3]], [], [[]]]).nested_value_rowids()
R([[[1], [2, 3]], [], [[]]]).flat_values
R([[[1], [2, 3]], [], [[]]]).ragged_rank
R([[[1], [2, 3]], [], [[]]]).dtype
R([[[1, 2]], []], ragged_rank=1).shape
R([[[1], [2, 3]], [], [[]]]).bounding_shape()
R([[[1], [2, 3]], [], [[]]]).bounding_shape(axis=0)
R([[[1], [2, 3]], [], [[]]]).bounding_shape(axis=1)
R([[[1], [2, 3]], [], [[]]]).bounding_shape(axis=2)
R([[[1], [2, 3]], [], [[]]]).bounding_shape(axis=-1)
R([[[1], [2, 3]], [], [[]]]).bounding_shape(axis=[0, 2])
R([[[1], [2, 3]], [], [[]]]).bounding_shape(out_type=tf.int32)
R([[[1, 2, 3]], []], ragged_rank=1).bounding_shape()
R([[], []], dtype=tf.int32).bounding_shape()
R([[1, 2], [3]]).with_values(tf.constant(["a", "b", "c"]))
R([[1, 2], [3]]).with_values(tf.constant(["a", "b"]))
R([[1, 2], [3]]).with_values(tf.constant("a"))
R([[1, 2], [3]]).with_values(R([[1], [], [2]]))
R([[1, 2], [3]]).with_values(R([[1], [], [2]], row_splits_dtype=tf.int32))
R([[[1], [2, 3]], []]).with_flat_values(tf.constant([4., 5., 6.]))
R([[[1], [2, 3]], []]).with_row_splits_dtype(tf.int32)
R([[1]]).with_row_splits_dtype(tf.float32)
R([[1], []]).to_list()
bool(R([[1]]))
len(R([[1]]))
R([[1]]).consumers()
[op.type for op in (lambda rt: (tf.identity(rt.values), rt.consumers())[1])(R([[1]]))]
R([[1]])._type_spec
R([[1]]) == R([[1]])
# To and from other tensors.
RT.from_tensor([[1, 2], [3, 4]])
RT.from_tensor([[1, 2], [3, 4]], lengths=[1, 2])
RT.from_tensor([[1, 2], [3, 4]], lengths=[1, 5])
RT.from_tensor([[1, 2], [3, 4]], lengths=[-1, 1])
RT.from_tensor([[1, 2], [3, 4]], lengths=[1])
RT.from_tensor([[1, 2], [3, 4]], lengths=1)
RT.from_tensor([[1, 2], [3, 4]], lengths=[1.0, 2.0])
RT.from_tensor([[5, 0, 7], [0, 3, 0], [0, 0, 0]], padding=0)
RT.from_tensor([[[1, 2], [0, 0]], [[0, 0], [0, 0]]], padding=[0, 0])
RT.from_tensor([[[1, 2], [0, 0]], [[0, 0], [0, 3]]], padding=[0, 0], ragged_rank=1)
RT.from_tensor([[[1, 0], [0, 0]], [[0, 0], [0, 3]]], padding=0, ragged_rank=2)
RT.from_tensor([[[1, 0], [0, 0]]], padding=0)
RT.from_tensor([[1, 2]], padding="a")
RT.from_tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], ragged_rank=2)
RT.from_tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], ragged_rank=2, lengths=[1, 2, 0, 1])
RT.from_tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], lengths=([1, 2], [1, 2, 1]))
RT.from_tensor(dense([[1, 2], [3, 4]]))
RT.from_tensor(dense(np.ones([2, 0], np.int32)))
RT.from_tensor(dense(np.ones([0, 3], np.int32)))
RT.from_tensor([1, 2])
RT.from_tensor([[1, 2]], ragged_rank=2)
RT.from_tensor([[1, 2]], ragged_rank=0)
RT.from_tensor([[1, 2]], ragged_rank=1.0)
RT.from_tensor([[1, 2]], lengths=[1], padding=0)
RT.from_tensor([[1, 2]], row_splits_dtype=tf.int32)
R([[1, 2], [], [3]]).to_tensor()
R([[1, 2], [], [3]]).to_tensor(default_value=-1)
R([[1, 2], [], [3]]).to_tensor(default_value="a")
R([[1, 2], [], [3]]).to_tensor(default_value=[1, 2])
R([["a"], [], ["b", "c"]]).to_tensor()
R([[True], [], [True, True]]).to_tensor()
R([[[1], [2, 3]], [], [[]]]).to_tensor()
R([[[1], [2, 3]], [], [[]]]).to_tensor(default_value=9)
R([[[1, 2]], [], [[3, 4], [5, 6]]], ragged_rank=1).to_tensor(default_value=[7, 8])
R([[[1, 2]], [], [[3, 4], [5, 6]]], ragged_rank=1).to_tensor(default_value=9)
R([[], []], dtype=tf.int32).to_tensor()
fed([[1, 2], [], [3]]).to_tensor()
R([[1, 2], [], [3]]).to_sparse()
R([[[1], [2, 3]], [], [[]]]).to_sparse()
R([[[1, 2]], []], ragged_rank=1).to_sparse()
RT.from_sparse(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [4, 3]))
RT.from_sparse(tf.SparseTensor([[0, 0], [0, 2]], [1, 2], [4, 3]))
RT.from_sparse(tf.SparseTensor([[0, 1]], [1], [4, 3]))
RT.from_sparse(tf.SparseTensor([[0, 0]], [1], [4, 3]), row_splits_dtype=tf.int32)
RT.from_sparse(tf.SparseTensor([[0, 0, 0]], [1], [4, 3, 2]))
RT.from_sparse([[1]])
RT.from_sparse(R([[1, 2], [], [3]]).to_sparse())
# tf.ragged.
tf.ragged.map_flat_values(tf.add, R([[1, 2], [3]]), 1)
tf.ragged.map_flat_values(tf.add, R([[1, 2], [3]]), R([[10, 20], [30]]))
tf.ragged.map_flat_values(tf.add, R([[1, 2], [3]]), R([[10], [20, 30]]))
tf.ragged.map_flat_values(tf.add, R([[1, 2], [3]]), R([[10, 20], [30]], row_splits_dtype=tf.int32))
tf.ragged.map_flat_values(tf.add, R([[[1, 2], [3]]]), R([[10, 20, 30]]))
tf.ragged.map_flat_values(tf.concat, [R([[1, 2], [3]]), R([[10, 20], [30]])], axis=0)
tf.ragged.map_flat_values(lambda x, y: x * y["k"], R([[1, 2]]), y={"k": R([[3, 4]])})
tf.ragged.map_flat_values(tf.reduce_sum, R([[1, 2], [3]]))
tf.ragged.map_flat_values(tf.one_hot, R([[1, 2], [0]]), 3)
tf.ragged.map_flat_values(tf.negative, [1, 2])
tf.ragged.map_flat_values(tf.negative, V([[1, 2], []]))
tf.ragged.range([3, 5, 2])
tf.ragged.range([0, 5, 8], [3, 3, 12])
tf.ragged.range([0, 5, 8], [3, 3, 12], 2)
tf.ragged.range([0, 5], [3, 3], [1, -1])
tf.ragged.range([0, 5], [3, 3], [0, 1])
tf.ragged.range([0, 5], [3, 3, 3])
tf.ragged.range(3)
tf.ragged.range(0.5, 2.5)
tf.ragged.range([1], [2.5])
tf.ragged.range([1], [3], dtype=tf.float64)
tf.ragged.range([3], row_splits_dtype=tf.int32)
tf.ragged.range([[3]])
tf.ragged.range(["a"])
tf.ragged.stack([R([[1, 2], [3]]), R([[4], [5, 6]])])
tf.ragged.stack([R([[1, 2], [3]]), R([[4], [5, 6]])], axis=1)
tf.ragged.stack([R([[1, 2], [3]]), R([[4], [5, 6]])], axis=2)
tf.ragged.stack([R([[1, 2], [3]]), R([[4, 5], [6]])], axis=2)
tf.ragged.stack([R([[1, 2], [3]]), R([[4]])], axis=0)
tf.ragged.stack([R([[1, 2], [3]]), R([[4]])], axis=1)
tf.ragged.stack([R([[1, 2], [3]]), R([[4], [5, 6]])], axis=-1)
tf.ragged.stack([R([[1, 2], [3]]), R([[4], [5, 6]])], axis=3)
tf.ragged.stack([R([[1, 2], [3]]), [[4, 5]]], axis=0)
tf.ragged.stack([[1, 2], [3, 4]])
tf.ragged.stack([[1, 2], [3]])
tf.ragged.stack([[[1, 2]], [[3], [4]]])
tf.ragged.stack([[[1, 2]], [[3], [4]]], axis=1)
tf.ragged.stack([[[1, 2]], [[3, 4]]], axis=1)
tf.ragged.stack([[[1, 2]], [[3, 4]]], axis=2)
tf.ragged.stack([R([[1, 2], [3]])])
tf.ragged.stack([R([[1, 2], [3]])], axis=1)
tf.ragged.stack(R([[1, 2], [3]]))
tf.ragged.stack([])
tf.ragged.stack([R([[1]]), [1]])
tf.ragged.stack([1, 2])
tf.ragged.stack([R([[[1], [2, 3]], []]), R([[[4]], [[5], []]])], axis=0)
tf.ragged.stack([R([[[1], [2, 3]], []]), R([[[4]], [[5], []]])], axis=1)
tf.ragged.stack([R([[[1], [2, 3]], []]), R([[[4], [5, 6, 7]], []])], axis=2)
tf.ragged.boolean_mask([1, 2, 3], [True, False, True])
tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]])
tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [True, False])
tf.ragged.boolean_mask([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [[[True, False], [True, True]], [[False, False], [False, True]]])
tf.ragged.boolean_mask([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [[True, False], [True, True]])
tf.ragged.boolean_mask(R([[1, 2], [], [3]]), R([[True, False], [], [True]]))
tf.ragged.boolean_mask(R([[1, 2], [], [3]]), [True, True, False])
tf.ragged.boolean_mask(R([[[1], [2, 3]], [], [[]]]), [True, False, True])
tf.ragged.boolean_mask(R([[[1], [2, 3]], [], [[]]]), R([[False, True], [], [True]]))
tf.ragged.boolean_mask(R([[[1], [2, 3]], [], [[]]]), R([[[True], [False, True]], [], [[]]]))
tf.ragged.boolean_mask([[1, 2], [3, 4]], R([[True, False], [False, True]]))
tf.ragged.boolean_mask(R([[1, 2], [3, 4]]), [[True, False], [False, True]])
tf.ragged.boolean_mask(R([[1, 2], [3, 4]]), R([[True], [False, True]]))
tf.ragged.boolean_mask(R([[1, 2], [3, 4]]), True)
tf.ragged.boolean_mask(R([[1, 2], [3, 4]]), [1, 0])
tf.ragged.boolean_mask(R([[1, 2], [3, 4]]), dense([True, False]))
tf.ragged.boolean_mask(["a", "b"], [True, False])
tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [2, 0, 2], 4)
tf.ragged.stack_dynamic_partitions(R([[1, 2], [], [3]]), [1, 0, 1], 2)
tf.ragged.stack_dynamic_partitions(R([[1, 2], [], [3]]), R([[1, 0], [], [1]]), 2)
tf.ragged.stack_dynamic_partitions([[1, 2], [3, 4]], [[0, 1], [1, 1]], 3)
tf.ragged.stack_dynamic_partitions([[1, 2], [3, 4]], [0, 0], 3)
tf.ragged.stack_dynamic_partitions(["a", "b"], [2, 0], 2)
tf.ragged.stack_dynamic_partitions(["a", "b"], [2], 2)
tf.ragged.stack_dynamic_partitions("a", 1, 3)
tf.ragged.stack_dynamic_partitions(["a"], dense([1]), 2)
# Elementwise.
R([[1, 2], [], [3]]) + 1
1 + R([[1, 2], [], [3]])
R([[1, 2], [], [3]]) + R([[10, 20], [], [30]])
R([[1, 2], [], [3]]) + R([[10, 20], [5], [30]])
R([[1, 2], [], [3]]) + [[10], [20], [30]]
R([[1, 2], [], [3]]) + [[10]]
R([[1, 2], [], [3]]) + [10]
R([[1, 2], [3, 4]]) + [10, 20]
R([[1, 2], [3, 4]]) + [[10, 20], [30, 40]]
R([[1, 2], [3]]) + R([[10, 20]])
R([[1, 2], [3, 4]]) + R([[10, 20]])
R([[1, 2], [3]]) + R([[10], [20]])
R([[1, 2], [3]]) + tf.constant([[10], [20]])
tf.constant([[10], [20]]) + R([[1, 2], [3]])
tf.constant([[10], [20]]) - R([[1, 2], [3]])
tf.constant(5) - R([[1, 2], [3]])
tf.constant(5) * R([[1, 2], [3]])
tf.constant(5.) / R([[1., 2], [4]])
tf.constant(5) // R([[1, 2], [3]])
tf.constant(5) % R([[1, 2], [3]])
tf.constant(5) ** R([[1, 2], [3]])
tf.constant(2) < R([[1, 2], [3]])
tf.constant(2) >= R([[1, 2], [3]])
R([[1, 2], [3]]) + 1.5
R([[1, 2], [3]]) + "a"
R([[1, 2], [3]]) + None
R([[1, 2], [3]]) + R([[1., 2], [3]])
R([[1, 2], [3]]) + R([[1, 2], [3]], row_splits_dtype=tf.int32)
R([["a", "b"], ["c"]]) + "x"
R([["a", "b"], ["c"]]) + R([["d", "e"], ["f"]])
R([[1, 2], [3]]) - 1
10 - R([[1, 2], [3]])
R([[1, 2], [3]]) * 2
2 * R([[1, 2], [3]])
R([[1, 2], [3]]) / 2
2 / R([[1, 2], [4]])
R([[1, 2], [3]]) // 2
7 // R([[1, 2], [3]])
R([[1, 2], [3]]) % 2
7 % R([[1, 2], [3]])
R([[1, 2], [3]]) ** 2
2 ** R([[1, 2], [3]])
-R([[1, 2], [3]])
abs(R([[-1, 2], [-3]]))
~R([[True, False], [True]])
R([[True, False], [True]]) & R([[True, True], [False]])
R([[True, False], [True]]) | False
True ^ R([[True, False], [True]])
R([[1, 2], [3]]) < 2
R([[1, 2], [3]]) <= R([[1, 1], [4]])
R([[1, 2], [3]]) > 2
R([[1, 2], [3]]) >= 2
R([[[1], [2, 3]], [], [[]]]) + 1
R([[[1], [2, 3]], [], [[]]]) + R([[[10], [20, 30]], [], [[]]])
R([[[1], [2, 3]], [[4]]]) + R([[10, 20], [30]])
R([[[1], [2, 3]], [[4]]]) + [[[10]], [[20]]]
R([[[1], [2, 3]], [[4]]]) + [[[10], [20]]]
R([[[1], [2, 3]], [[4]]]) + R([[[10], [20, 30]]])
R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1) + [10, 20]
R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1) + [[10], [20]]
R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1) + [[[10, 20]]]
R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1) + [[[10]], [[20]]]
R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1) + R([[[10, 20]], [[30, 40], [50, 60]]])
R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1) * R([[10], [20, 30]])
fed([[1, 2], [], [3]]) * dense([[10], [20], [30]])
fed([[1, 2], [], [3]]) * dense([10], known=False)
fed([[1, 2], [], [3]]) + fed([[1, 2], [], [3]])
fed([[1, 2], [], [3]]) + fed([[1, 2], [3]])
R([], ragged_rank=1, dtype=tf.int32) + R([], ragged_rank=1, dtype=tf.int32)
tf.add(R([[1, 2], [3]]), V([[10, 20], [30]]))
tf.add(V([[1, 2], [3]], dtype=np.int32), 1)
tf.add(1, R([[1, 2], [3]]), name="x").values.name
tf.add(y=1, x=R([[1, 2], [3]]))
tf.add(R([[1]]), tf.SparseTensor([[0, 0]], [1], [1, 1]))
tf.subtract(R([[1, 2], [3]]), [[1], [2]])
tf.multiply(R([[1, 2], [3]]), [[1], [2]])
tf.divide(R([[1, 2], [3]]), [[1], [2]])
tf.truediv(R([[1, 2], [3]]), [[1], [2]])
tf.floordiv(R([[1, 2], [3]]), [[1], [2]])
tf.floormod(R([[1, 2], [3]]), 2)
tf.mod(R([[1, 2], [3]]), 2)
tf.realdiv(R([[1., 2], [3]]), 2.)
tf.truncatediv(R([[1, -2], [-3]]), 2)
tf.truncatemod(R([[1, -2], [-3]]), 2)
tf.pow(R([[1, 2], [3]]), 2)
tf.pow(2, R([[1, 2], [3]]))
tf.math.div_no_nan(R([[1., 2], [3]]), [[0.], [2.]])
tf.math.atan2(R([[1., 2], [3]]), 1.)
tf.math.squared_difference(R([[1, 2], [3]]), 5)
tf.complex(R([[1., 2], [3]]), 1.)
tf.complex(1., R([[1., 2], [3]]))
tf.maximum(R([[1, 2], [3]]), 2)
tf.minimum(2, R([[1, 2], [3]]))
tf.equal(R([[1, 2], [3]]), 2)
tf.equal(R([["a", "b"], []]), "b")
tf.not_equal(R([[1, 2], [3]]), R([[1, 3], [3]]))
tf.greater(R([[1, 2], [3]]), 2)
tf.less_equal(R([[1, 2], [3]]), 2)
tf.logical_and(R([[True, False], [True]]), True)
tf.logical_or(R([[True, False], [True]]), R([[True, False], [False]]))
tf.logical_xor(R([[True, False], [True]]), [[True], [False]])
tf.bitwise.bitwise_and(R([[1, 2], [3]]), 2)
tf.bitwise.bitwise_or(R([[1, 2], [3]]), 2)
tf.bitwise.bitwise_xor(R([[1, 2], [3]]), 2)
tf.bitwise.left_shift(R([[1, 2], [3]]), 2)
tf.bitwise.right_shift(R([[1, 2], [3]]), 1)
tf.bitwise.invert(R([[1, 2], [3]]))
tf.abs(R([[-1, 2], [3]]))
tf.identity(R([[-1, 2], [3]]))
tf.ones_like(R([[-1, 2], [3]]))
tf.ones_like(R([[-1, 2], [3]]), dtype=tf.float32)
tf.zeros_like(R([["a"], []]))
tf.zeros_like(R([[1]]), dtype=tf.string)
tf.clip_by_value(R([[1, 2], [3]]), 2, 2)
tf.cast(R([[1, 2], [3]]), tf.float32)
tf.cast(V([[1, 2], [3]]), tf.float32)
tf.saturate_cast(R([[1000, 2], [-3]]), tf.uint8)
tf.exp(R([[0., 1], [2]]))
tf.log(R([[1.], []]))
tf.sqrt(R([[4., 9], []]))
tf.square(R([[4, 9], []]))
tf.sign(R([[4, -9], []]))
tf.negative(R([[4, -9], []]))
tf.round(R([[0.5, 1.5], []]))
tf.floor(R([[0.5, 1.5], []]))
tf.ceil(R([[0.5, 1.5], []]))
tf.rint(R([[0.5, 1.5], []]))
tf.rsqrt(R([[4.], []]))
tf.reciprocal(R([[4.], []]))
tf.real(R([[1 + 2j], []]))
tf.imag(R([[1 + 2j], []]))
tf.conj(R([[1 + 2j], []]))
tf.angle(R([[2j], []]))
tf.is_nan(R([[1., float("nan")], []]))
tf.is_finite(R([[1., float("nan")], []]))
tf.is_inf(R([[1., float("inf")], []]))
tf.logical_not(R([[True, False], []]))
tf.log_sigmoid(R([[0.], []]))
tf.erf(R([[0.], []]))
tf.sin(R([[0.], []]))
tf.check_numerics(R([[1.], []]), "m")
tf.check_numerics(R([[float("nan")], []]), "m")
tf.as_string(R([[1, 2], []]))
tf.string_to_number(R([["1", "2"], []]))
tf.strings.to_number(R([["1", "2"], []]), tf.int32)
tf.string_to_number(R([["x"]]))
tf.string_to_hash_bucket(R([["1", "2"], []]), 10)
tf.string_to_hash_bucket_fast(R([["1", "2"], []]), 10)
tf.string_to_hash_bucket_strong(R([["1", "2"], []]), 10, [1, 2])
tf.strings.length(R([["a", "bc"], []]))
tf.strings.substr(R([["abc", "bcd"], []]), 1, 2)
tf.substr(R([["abc", "bcd"], []]), 1, 2)
tf.strings.strip(R([[" a ", "bc"], []]))
tf.string_strip(R([[" a ", "bc"], []]))
tf.strings.regex_replace(R([["abc", "bcd"], []]), "b", "x")
tf.strings.regex_full_match(R([["abc", "b"], []]), "b")
tf.strings.lower(R([["A"]]))
tf.strings.unicode_script(R([[97, 945], []]))
tf.encode_base64(R([["a"], []]))
tf.decode_base64(R([["YQ"], []]))
tf.io.decode_compressed(R([["a"], []]))
tf.add_n([R([[1, 2], []]), R([[3, 4], []])])
tf.add_n([R([[1, 2], []]), R([[3], []])])
tf.add_n([R([[1, 2], []])])
tf.string_join([R([["a", "b"], []]), R([["c", "d"], []])], separator="-")
tf.strings.join([R([["a", "b"], []]), "x"])
tf.strings.join(["y", R([["a", "b"], []]), "x"])
tf.nn.relu(R([[1.]]))
tf.nn.dropout(R([[1.]]), 0.5)
tf.stop_gradient(R([[1.]]))
tf.shape(R([[1.]]))
tf.reshape(R([[1.]]), [1])
tf.transpose(R([[1.]]))
tf.matmul(R([[1.]]), [[1.]])
tf.split(R([[1.]]), 1)
tf.div(R([[1]]), 1)
tf.convert_to_tensor(R([[1.]]))
tf.constant(R([[1.]]))
tf.is_tensor(R([[1.]]))
# Reductions.
tf.reduce_sum(R([[1, 2], [], [3]]))
tf.reduce_sum(R([[1, 2], [], [3]]), axis=0)
tf.reduce_sum(R([[1, 2], [], [3]]), axis=1)
tf.reduce_sum(R([[1, 2], [], [3]]), axis=-1)
tf.reduce_sum(R([[1, 2], [], [3]]), axis=[0, 1])
tf.reduce_sum(R([[1, 2], [], [3]]), axis=[1])
tf.reduce_sum(R([[1, 2], [], [3]]), axis=[])
tf.reduce_sum(R([[1, 2], [], [3]]), axis=tf.constant(1))
tf.reduce_sum(R([[1, 2], [], [3]]), axis=dense(1))
tf.reduce_sum(R([[1, 2], [], [3]]), axis=2)
tf.reduce_sum(R([[1, 2], [], [3]]), axis="a")
tf.reduce_sum(R([[1, 2], [], [3]]), axis=1, keepdims=True)
tf.reduce_sum(R([[1, 2], [], [3]]), 1, keep_dims=True)
tf.reduce_sum(R([[1, 2], [], [3]]), reduction_indices=1)
tf.reduce_sum(R([[[1], [2, 3]], [], [[]]]), axis=0)
tf.reduce_sum(R([[[1], [2, 3]], [], [[]]]), axis=1)
tf.reduce_sum(R([[[1], [2, 3]], [], [[]]]), axis=2)
tf.reduce_sum(R([[[1], [2, 3]], [], [[]]]), axis=[0, 2])
tf.reduce_sum(R([[[1], [2, 3]], [], [[]]]), axis=[1, 2])
tf.reduce_sum(R([[[1], [2, 3]], [], [[]]]), axis=[0, 1, -1])
tf.reduce_sum(R([[[1], [2, 3]], [], [[]]]))
tf.reduce_sum(R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1), axis=2)
tf.reduce_sum(R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1), axis=1)
tf.reduce_sum(R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1), axis=0)
tf.reduce_sum(V([[1, 2], [], [3]]), axis=1)
tf.reduce_sum(fed([[1, 2], [], [3]]), axis=1)
tf.reduce_prod(R([[1, 2], [], [3]]), axis=1)
tf.reduce_prod(R([[1, 2], [], [3]]))
tf.reduce_max(R([[1, 2], [], [3]]), axis=1)
tf.reduce_max(R([[1, 2], [], [3]]), axis=0)
tf.reduce_min(R([[1., 2], [], [3]]), axis=1)
tf.reduce_mean(R([[1, 2], [3]]), axis=1)
tf.reduce_mean(R([[1., 2], [], [3]]), axis=1)
tf.reduce_mean(R([[1., 2], [], [3]]), axis=0)
tf.reduce_mean(R([[1., 2], [], [3]]))
tf.reduce_mean(R([[[1.], [2, 3]], [], [[]]]), axis=2)
tf.reduce_all(R([[True, False], [], [True]]), axis=1)
tf.reduce_all(R([[True, False], [], [True]]))
tf.reduce_all(R([[True, False], [], [True]]), axis=0)
tf.reduce_any(R([[True, False], [], [False]]), axis=1)
tf.reduce_any(R([[True, False], [], [True]]))
tf.reduce_any(R([[[True], [False]], []]), axis=2)
tf.reduce_logsumexp(R([[1.]]), axis=1)
tf.reduce_join(R([["a", "b"], [], ["c"]]), axis=1)
tf.strings.reduce_join(R([["a", "b"], [], ["c"]]), axis=0, separator="-")
tf.strings.reduce_join(R([["a", "b"], [], ["c"]]), axis=-1, separator="-")
tf.strings.reduce_join(R([["a", "b"], [], ["c"]]))
tf.strings.reduce_join(R([[["a", "b"], ["c"]], []]), axis=[1, 2], separator="-")
# Segments.
tf.math.unsorted_segment_sum(R([[1, 2], [], [3]]), [1, 0, 1], 2)
tf.math.unsorted_segment_sum(R([[1, 2], [], [3]]), [1, 0, 1], 4)
tf.math.unsorted_segment_sum(R([[1, 2], [], [3]]), R([[1, 0], [], [1]]), 2)
tf.math.unsorted_segment_sum([[1, 2], [3, 4]], R([[1, 0], [1]]), 2)
tf.math.unsorted_segment_sum(R([[1, 2], [], [3]]), R([[1], [], [1]]), 2)
tf.math.unsorted_segment_sum(R([[1, 2], [], [3]]), [0., 1., 1.], 2)
tf.math.unsorted_segment_prod(R([[1, 2], [], [3]]), [1, 0, 1], 2)
tf.math.unsorted_segment_min(R([[1, 2], [], [3]]), [1, 0, 1], 2)
tf.math.unsorted_segment_max(R([[1, 2], [], [3]]), [1, 0, 1], 2)
tf.math.unsorted_segment_mean(R([[1., 2], [], [3]]), [1, 0, 1], 2)
tf.math.unsorted_segment_sqrt_n(R([[1., 2], [], [3]]), [1, 0, 1], 2)
tf.unsorted_segment_sum(R([[[1], [2, 3]], [[4, 5]]]), [0, 0], 1)
# Arrays.
tf.concat([R([[1, 2], [3]]), R([[4], [5, 6]])], axis=0)
tf.concat([R([[1, 2], [3]]), R([[4], [5, 6]])], axis=1)
tf.concat([R([[1, 2], [3]]), R([[4], [5, 6]])], axis=-1)
tf.concat([R([[1, 2], [3]]), R([[4], [5, 6]])], axis=2)
tf.concat([R([[1, 2], [3]]), R([[4], [5, 6], []])], axis=1)
tf.concat([R([[1, 2], [3]]), [[4, 5], [6, 7]]], axis=0)
tf.concat([R([[1, 2], [3]]), [[4, 5], [6, 7]]], axis=1)
tf.concat([[[4, 5], [6, 7]], R([[1, 2], [3]])], axis=1)
tf.concat([R([[1, 2], [3]]), [4, 5]], axis=0)
tf.concat([R([[1, 2], [3]])], axis=0)
tf.concat(R([[1, 2], [3]]), axis=0)
tf.concat([R([[1, 2], [3]]), R([["a"]])], axis=0)
tf.concat([R([[1, 2], [3]]), R([[4]], row_splits_dtype=tf.int32)], axis=0)
tf.concat([R([[[1], [2, 3]], []]), R([[[4]], [[5], []]])], axis=0)
tf.concat([R([[[1], [2, 3]], []]), R([[[4]], [[5], []]])], axis=1)
tf.concat([R([[[1], [2, 3]], []]), R([[[4], [5, 6, 7]], []])], axis=2)
tf.concat([R([[[1], [2, 3]], []]), R([[[4]], []])], axis=2)
tf.concat([R([[[1, 2]], []], ragged_rank=1), R([[[3, 4]], [[5, 6]]], ragged_rank=1)], axis=1)
tf.concat([R([[[1, 2]], []], ragged_rank=1), R([[[3]], []], ragged_rank=1)], axis=2)
tf.concat([R([[1, 2], [3]]), R([[4], [5, 6]]), R([[7], [8]])], axis=1)
tf.concat([R([[1, 2], [3]]), R([[4], [5, 6]])], axis=tf.constant(0))
tf.stack([R([[1, 2], [3]]), R([[4], [5, 6]])])
tf.stack([R([[1, 2], [3]]), R([[4], [5, 6]])], axis=1)
tf.stack([R([[1, 2], [3]]), [[4], [5]]], axis=1)
tf.expand_dims(R([[1, 2], [3]]), 0)
tf.expand_dims(R([[1, 2], [3]]), 1)
tf.expand_dims(R([[1, 2], [3]]), 2)
tf.expand_dims(R([[1, 2], [3]]), -1)
tf.expand_dims(R([[1, 2], [3]]), -2)
tf.expand_dims(R([[1, 2], [3]]), 3)
tf.expand_dims(R([[1, 2], [3]]), dim=1)
tf.expand_dims(R([[[1, 2]], []], ragged_rank=1), 2)
tf.size(R([[1, 2], [3]]))
tf.size(R([[1, 2], [3]]), out_type=tf.int64)
tf.size(V([[1, 2], [3]]))
tf.size(R([[[1, 2]], []], ragged_rank=1))
tf.rank(R([[1, 2], [3]]))
tf.rank(R([[[1, 2]], []], ragged_rank=1))
tf.gather(R([[1, 2], [], [3]]), [2, 0])
tf.gather(R([[1, 2], [], [3]]), 0)
tf.gather(R([[1, 2], [], [3]]), [[0, 1], [2, 0]])
tf.gather(R([[1, 2], [], [3]]), R([[0], [], [2, 0]]))
tf.gather(["a", "b", "c"], R([[0], [], [2, 0]]))
tf.gather([[1, 2], [3, 4]], R([[0], [], [1, 0]]))
tf.gather(R([[[1], [2, 3]], [], [[]]]), [2, 0])
tf.gather(R([[[1], [2, 3]], [], [[]]]), 0)
tf.gather(R([[1, 2], [], [3]]), [3])
tf.gather(R([[1, 2], [], [3]]), [-1])
tf.gather(R([[1, 2], [], [3]]), [0], axis=1)
tf.gather(R([[1, 2], [], [3]]), [0], batch_dims=1)
tf.gather(R([[1, 2], [], [3]]), dense([0, 2], known=False))
tf.gather(R([[[1, 2]], [], [[3, 4], [5, 6]]], ragged_rank=1), [2, 0])
tf.gather_nd(R([[1, 2], [], [3]]), [[0, 1], [2, 0]])
tf.gather_nd(R([[1, 2], [], [3]]), [[2], [0]])
tf.gather_nd(R([[1, 2], [], [3]]), [0, 1])
tf.gather_nd(R([[1, 2], [], [3]]), [[[0, 1]], [[2, 0]]])
tf.gather_nd(R([[1, 2], [], [3]]), [[[0]], [[2]]])
tf.gather_nd(R([[[1], [2, 3]], [], [[]]]), [[0, 1]])
tf.gather_nd(R([[[1], [2, 3]], [], [[]]]), [[0, 1, 1]])
tf.gather_nd(R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1), [[1, 0], [1, 1]])
tf.gather_nd(R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1), [[1, 0, 1], [1, 1, 0]])
tf.gather_nd([[1, 2], [3, 4]], R([[[0, 1]], [[1, 0], [1, 1]]], ragged_rank=1))
tf.gather_nd([[1, 2], [3, 4]], R([[[0, 1]], [[1, 0], [1, 1]]]))
tf.gather_nd(R([[1, 2], [], [3]]), 0)
tf.gather_nd(R([[1, 2], [], [3]]), [[0]], batch_dims=1)
tf.batch_gather(R([[1, 2], [], [3]]), R([[1, 0], [], [0, 0]]))
tf.batch_gather(R([[1, 2], [4], [3]]), [[0], [0], [0]])
tf.batch_gather([[1, 2], [3, 4]], R([[1], [0, 1]]))
tf.batch_gather(R([[1, 2], [4], [3]]), [0, 2])
tf.batch_gather(R([[[1], [2, 3]], [[4]]]), R([[[0], [1]], [[0, 0]]]))
tf.tile(R([[1, 2], [3]]), [2, 1])
tf.tile(R([[1, 2], [3]]), [1, 2])
tf.tile(R([[1, 2], [3]]), [2, 2])
tf.tile(R([[1, 2], [3]]), [0, 2])
tf.tile(R([[1, 2], [3]]), dense([2, 3]))
tf.tile(R([[[1], [2, 3]], [], [[]]]), [2, 1, 2])
tf.tile(R([[[1], [2, 3]], [], [[]]]), [1, 2, 1])
tf.tile(R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1), [1, 1, 2])
tf.tile(R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1), [1, 2, 2])
tf.tile(R([[1, 2], [3]]), [[2, 1]])
tf.one_hot(R([[1, 2], [0]]), 3)
tf.one_hot(R([[1, 2], [0]]), 3, axis=-1)
tf.one_hot(R([[1, 2], [0]]), 3, on_value=5, off_value=-5)
tf.one_hot(R([[1, 2], [0]]), 3, axis=0)
tf.where(R([[True, False], [], [True]]))
tf.where(R([[[True], [False, True]], [], [[]]]))
tf.where(R([[True, False], [True]]), R([[1, 2], [3]]), R([[4, 5], [6]]))
tf.where(R([[True, False], [True]]), R([[1, 2], [3]]), R([[4], [5, 6]]))
tf.where([True, False], R([[1, 2], [3]]), R([[4], [5, 6]]))
tf.where([True, False], R([[1, 2], [3]]), [[4], [5]])
tf.where(True, R([[1, 2], [3]]), R([[4], [5, 6]]))
tf.where(R([[True, False], [True]]), R([[1, 2], [3]]), 0)
tf.where(R([[True, False], [True]]), R([[1, 2], [3]]))
tf.squeeze(R([[[1], [2]], [[3]]]), 2)
tf.squeeze(R([[[1, 2], [3]]]), 0)
tf.squeeze(R([[[1, 2]], [[3]]]), 1)
tf.squeeze(R([[[1, 2]]]), [0, 1])
tf.squeeze(R([[1]]), [0, 1])
tf.squeeze(R([[[1], [2]]], ragged_rank=1), 2)
tf.squeeze(R([[1, 2], [3]]), 1)
tf.squeeze(R([[1, 2], [3]]), 0)
tf.squeeze(R([[1, 2], [3]]))
tf.squeeze(R([[1, 2], [3]]), "a")
tf.squeeze(R([[1, 2], [3]]), 2)
tf.squeeze(R([[1], [3]]), squeeze_dims=1)
tf.dynamic_partition(R([[1, 2], [], [3]]), [1, 0, 1], 2)
tf.dynamic_partition(R([[1, 2], [], [3]]), R([[1, 0], [], [1]]), 2)
tf.dynamic_partition(R([[1, 2], [], [3]]), [1, 0, 1], -1)
tf.boolean_mask(R([[1, 2], [], [3]]), [True, True, False])
# Indexing.
R([[1, 2], [], [3]])[0]
R([[1, 2], [], [3]])[-1]
R([[1, 2], [], [3]])[3]
R([[1, 2], [], [3]])[tf.constant(2)]
R([[1, 2], [], [3]])[dense(0)]
R([[1, 2], [], [3]])[0, 1]
R([[1, 2], [], [3]])[0, -1]
R([[1, 2], [], [3]])[0, :1]
R([[1, 2], [], [3]])[0, 0, 0]
R([[1, 2], [], [3]])[:]
R([[1, 2], [], [3]])[1:]
R([[1, 2], [], [3]])[:2]
R([[1, 2], [], [3]])[1:2]
R([[1, 2], [], [3]])[-2:]
R([[1, 2], [], [3]])[:-1]
R([[1, 2], [], [3]])[2:1]
R([[1, 2], [], [3]])[5:]
R([[1, 2], [], [3]])[::2]
R([[1, 2], [], [3]])[::-1]
R([[1, 2], [], [3]])[tf.constant(1):]
R([[1, 2], [], [3]])[dense(1):dense(3)]
R([[1, 2], [], [3]])["a"]
R([[1, 2], [], [3]])[1.5]
R([[1, 2], [], [3]])[[0, 1]]
R([[1, 2], [], [3]])[...]
R([[1, 2], [], [3]])[..., 1:]
R([[1, 2], [], [3]])[1, ...]
R([[1, 2], [], [3]])[..., 0]
R([[1, 2], [], [3]])[:, 0]
R([[1, 2], [], [3]])[:, 1:]
R([[1, 2], [], [3]])[:, :1]
R([[1, 2], [], [3]])[:, -1:]
R([[1, 2, 4], [], [3]])[:, :-1]
R([[1, 2, 4], [], [3]])[:, 1:2]
R([[1, 2, 4], [], [3]])[:, ::2]
R([[1, 2, 4], [], [3]])[:, ::-1]
R([[1, 2, 4], [], [3]])[:, 1::-1]
R([[1, 2, 4], [], [3]])[:, :-3:-1]
R([[1, 2, 4], [], [3]])[:, :0]
R([[1, 2, 4], [], [3]])[:, 0:1]
R([[1, 2, 4], [], [3]])[:, 5:]
R([[1, 2, 4], [], [3]])[:, -5:5]
R([[1, 2, 4], [], [3]])[:, tf.constant(1):]
R([[1, 2, 4], [], [3]])[:, dense(-1):]
R([[1, 2, 4], [], [3]])[:, 1.5:]
R([[1, 2, 4], [], [3]])[:, ::1.5]
R([[1, 2, 4], [], [3]])[1:, :1]
R([[1, 2], [], [3]])[tf.newaxis]
R([[1, 2], [], [3]])[:, tf.newaxis]
R([[1, 2], [], [3]])[:, :, tf.newaxis]
R([[1, 2], [], [3]])[..., tf.newaxis]
R([[[1], [2, 3]], [], [[]]])[0]
R([[[1], [2, 3]], [], [[]]])[0, 1]
R([[[1], [2, 3]], [], [[]]])[0, 1, 0]
R([[[1], [2, 3]], [], [[]]])[:, 1:]
R([[[1], [2, 3]], [], [[]]])[:, :, :1]
R([[[1], [2, 3]], [], [[]]])[:, 1:, 1:]
R([[[1], [2, 3]], [], [[]]])[0, :, :1]
R([[[1], [2, 3]], [], [[]]])[..., -1:]
R([[[1], [2, 3]], [], [[]]])[1:, ..., :1]
R([[[1], [2, 3]], [], [[]]])[:, :, 0]
R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)[:, :, 0]
R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)[..., 1]
R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)[:, 1:, 1]
R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)[1, 0, 1]
R([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)[:, :, ::-1]
fed([[1, 2], [], [3]])[1:]
fed([[1, 2], [], [3]])[0]
# Strings.
tf.strings.unicode_decode(["héllo", ""], "UTF-8")
tf.strings.unicode_decode("héllo", "UTF-8")
tf.strings.unicode_decode([["a", "bc"], ["", "d"]], "UTF-8")
tf.strings.unicode_decode(R([["a", "bc"], ["d"]]), "UTF-8")
tf.strings.unicode_decode(R([[["a", "bc"]], [["d", "ef"], ["g", ""]]], ragged_rank=2), "UTF-8")
tf.strings.unicode_decode(dense(["a"], known=False), "UTF-8")
tf.strings.unicode_decode([b"\xff"], "UTF-8")
tf.strings.unicode_decode([b"a\xffb"], "UTF-8", errors="ignore")
tf.strings.unicode_decode([b"a\xffb"], "UTF-8", errors="strict")
tf.strings.unicode_decode([b"a\xffb"], "UTF-8", replacement_char=33)
tf.strings.unicode_decode(["a"], "UTF-9")
tf.strings.unicode_decode_with_offsets(["héllo", ""], "UTF-8")
tf.strings.unicode_decode_with_offsets("héllo", "UTF-8")
tf.strings.unicode_decode_with_offsets([["h"], ["éa"]], "UTF-8")
tf.strings.unicode_split(["héllo", ""], "UTF-8")
tf.strings.unicode_split("héllo", "UTF-8")
tf.strings.unicode_split([["ab"], ["éa"]], "UTF-8")
tf.strings.unicode_split(R([["ab", ""], ["éa"]]), "UTF-8")
tf.strings.unicode_split_with_offsets(["hé", ""], "UTF-8")
tf.strings.unicode_encode([72, 105], "UTF-8")
tf.strings.unicode_encode([[72, 105], [66, 67]], "UTF-8")
tf.strings.unicode_encode([[[72, 105], [66, 67]]], "UTF-8")
tf.strings.unicode_encode(R([[72, 105], [], [233]]), "UTF-8")
tf.strings.unicode_encode(R([[72, 105], [], [233]]), "UTF-16-BE")
tf.strings.unicode_encode(R([[[72, 105], []], [[233]]]), "UTF-8")
tf.strings.unicode_encode(R([[[72, 105]], [[66, 67], [68, 69]]], ragged_rank=1), "UTF-8")
tf.strings.unicode_encode(72, "UTF-8")
tf.strings.bytes_split(["ab", "", "c"])
tf.strings.bytes_split("abc")
tf.strings.bytes_split([["ab", "c"], ["", "d"]])
tf.strings.bytes_split(R([["ab", "c"], [""]]))
tf.strings.bytes_split(dense(["ab"], known=False))
tf.strings.bytes_split(1)
tf.string_split(["a b", "", "c"])
tf.string_split(["a b", "", "c"], result_type="RaggedTensor")
tf.string_split(["a--b", "", "c"], "-", skip_empty=False, result_type="RaggedTensor")
tf.string_split(["a"], result_type="x")
tf.strings.split(["a b", "", "c"])
tf.strings.split(["a b", "", "c"], result_type="RaggedTensor")
tf.strings.split(["a-b", "", "c"], "-", result_type="RaggedTensor")
tf.strings.split("a b c", result_type="RaggedTensor")
tf.strings.split("a b c", maxsplit=1, result_type="RaggedTensor")
tf.strings.split([["a b"], ["c"]], result_type="RaggedTensor")
tf.strings.split([["a b"], ["c"]])
tf.strings.split(R([["a b"], ["c", ""]]), result_type="RaggedTensor")
tf.strings.split(R([["a b"], ["c", ""]]))
tf.strings.split(["a"], result_type="x")
tf.strings.ngrams(["a", "b", "c"], 2)
tf.strings.ngrams([["a", "b", "c"], ["d", "e", "f"]], 2)
tf.strings.ngrams(R([["a", "b", "c"], [], ["d"]]), 2)
tf.strings.ngrams(R([["a", "b", "c"], [], ["d"]]), 2, separator="|")
tf.strings.ngrams(R([["a", "b", "c"], [], ["d"]]), [1, 2])
tf.strings.ngrams(R([["a", "b", "c"], [], ["d"]]), 3, pad_values="P")
tf.strings.ngrams(R([["a", "b", "c"], [], ["d"]]), 3, pad_values=("L", "R"), padding_width=1)
tf.strings.ngrams(R([["a", "b", "c"], [], ["d"]]), 2, preserve_short_sequences=True)
tf.strings.ngrams(R([[["a", "b"], ["c"]], []]), 2)
tf.strings.ngrams(["a"], 0)
tf.strings.ngrams(["a"], 2, padding_width=1)
tf.strings.ngrams(["a"], 2, pad_values="x", padding_width=0)
tf.strings.ngrams(["a"], 2, pad_values=1)
tf.strings.ngrams("a", 2)
tf.strings.ngrams([1], 2)
# Specs and structures.
tf.RaggedTensorSpec()
tf.RaggedTensorSpec([None, None])
tf.RaggedTensorSpec([3, None, 2], tf.int32, 1, tf.int32)
tf.RaggedTensorSpec(None, tf.int32, 2)
tf.RaggedTensorSpec([None], ragged_rank=1)
tf.RaggedTensorSpec([None, None], ragged_rank="a")
tf.RaggedTensorSpec([3])
tf.RaggedTensorSpec([None, None]).value_type is RT
tf.RaggedTensorSpec([None]).value_type is tf.Tensor
tf.RaggedTensorSpec.from_value(R([[1]]))
tf.RaggedTensorSpec.from_value(V([[1]], dtype=np.int32))
tf.RaggedTensorSpec([None, None], tf.int32).is_compatible_with(R([[1]]))
tf.RaggedTensorSpec([2, None], tf.int32).is_compatible_with(R([[1]]))
tf.RaggedTensorSpec([None, None], tf.int64).is_compatible_with(R([[1]]))
tf.RaggedTensorSpec([2, None]).most_specific_compatible_type(tf.RaggedTensorSpec([3, None]))
tf.RaggedTensorSpec([2, None]).most_specific_compatible_type(tf.RaggedTensorSpec([3, None], tf.int32))
tf.RaggedTensorSpec([3, None, 2], tf.int32, 1)._component_specs
tf.RaggedTensorSpec(None, tf.int32, 2)._component_specs
tf.RaggedTensorSpec([None, None]) == tf.RaggedTensorSpec([None, None])
hash(tf.RaggedTensorSpec([None, None])) == hash(tf.RaggedTensorSpec([None, None]))
tf.nest.map_structure(lambda x: x * 2, {"a": R([[1], []])})
tf.nest.map_structure(lambda x: x, [R([[1], []]), 3], expand_composites=True)[0]
len(tf.nest.flatten([R([[[1]], []])], expand_composites=True))
tf.nest.assert_same_structure(R([[1]]), R([[2], []]), expand_composites=True)
tf.nest.assert_same_structure(R([[1]]), tf.constant(1), expand_composites=True)
tf.nest.assert_same_structure(R([[1]]), R([[[1]]]), expand_composites=True)
tf.nest.assert_same_structure(R([[1]]), tf.SparseTensor([[0]], [1], [2]), expand_composites=True)
tf.nest.assert_same_structure(R([[1]]), tf.SparseTensor([[0]], [1], [2]))
# Control flow.
tf.cond(dense(True), lambda: R([[1], []]), lambda: R([[2, 3], []]))
tf.cond(dense(False), lambda: R([[1], []]), lambda: R([[[1]], []]))
tf.cond(dense(False), lambda: R([[1], []]), lambda: tf.constant(1))
tf.cond(dense(False), lambda: R([[1], []]), lambda: R([["a"], []]))
tf.while_loop(lambda i, r: i < 2, lambda i, r: (i + 1, tf.concat([r, r], 1)), [0, R([[1], [2]])], shape_invariants=[tf.TensorShape([]), tf.RaggedTensorSpec([None, None], tf.int32)])
tf.while_loop(lambda i, r: i < 2, lambda i, r: (i + 1, 1), [0, R([[1], [2]])])
tf.while_loop(lambda i, r: i < 2, lambda i, r: (i + 1, R([[[1]]])), [0, R([[1], [2]])])
tf.case([(dense(True), lambda: R([[1], []]))], default=lambda: R([[2]]))
tf.cond(dense(False), lambda: R([[1], []]), lambda: R([[2, 3], []]))
tf.while_loop(lambda i, r: i < 3, lambda i, r: (i + 1, r + 1), [0, R([[1], []])])
tf.while_loop(lambda i, r: i < 2, lambda i, r: (i + 1, tf.concat([r, r], 1)), [0, R([[1], [2]])], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, None])])
tf.while_loop(lambda i, r: i < 2, lambda i, r: (i + 1, tf.concat([r, r], 0)), [0, R([[1], [2]])], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, None])])
tf.while_loop(lambda i, r: i < 2, lambda i, r: (i + 1, tf.concat([r, r], 0)), [0, R([[1], [2]])])
tf.map_fn(lambda x: x, R([[1]]))
tf.group(R([[1]]))
tf.while_loop(lambda i, r: i < 3, lambda i, r: [i + 1, r * 2], [0, R([[1], []])], maximum_iterations=2)
tf.while_loop(lambda i, r: i < 3, lambda i, r: (i + 1, {"a": r["a"] * 2}), [0, {"a": R([[[1]], []])}])
tf.while_loop(lambda r: tf.reduce_sum(r) < 9, lambda r: r * 2, [R([[1], [1]])])
tf.cond(dense(True), lambda: [R([[1], []]), tf.constant(1)], lambda: [R([[2]]), tf.constant(2)])
tf.cond(dense(True), lambda: R([[1]]), lambda: tf.SparseTensor([[0]], [1], [2]))
tf.contrib.framework.smart_cond(dense(True), lambda: R([[1]]), lambda: R([[2]]))
# Gradients.
grads(lambda v: tf.reduce_sum(R([[1, 2], [3]]).with_values(v) ** 2), [1., 2., 3.])
grads(lambda v: R([[1, 2], [], [3]]).with_values(v).to_tensor(default_value=9.) * [[1., 2.]], [1., 2., 3.])
grads(lambda v: tf.reduce_mean(R([[1, 2], [3]]).with_values(v), axis=1), [1., 2., 3.])
grads(lambda v: tf.reduce_max(R([[1, 2], [3]]).with_values(v), axis=1), [1., 2., 3.])
grads(lambda v: (R([[1, 2], [3]]).with_values(v) * [[2.], [3.]]).values, [1., 2., 3.])
grads(lambda v: (R([[1, 2], [3]], dtype=tf.float32) * v).values, [[2.], [3.]])
grads(lambda v: tf.gather(R([[1, 2], [3]]).with_values(v), [1, 1, 0]).values, [1., 2., 3.])
grads(lambda v: R([[1, 2], [3]]).with_values(v).to_sparse().values * [1., 2., 3.], [1., 2., 3.])
grads(lambda v: R([[1, 2], [3]]).with_values(v)[:, 1:].values, [1., 2., 3.])
grads(lambda v: R([[1, 2], [3]]).with_values(v)[0], [1., 2., 3.])
grads(lambda v: tf.concat([R([[1, 2], [3]]).with_values(v), [[1.], [2.]]], 1).values, [1., 2., 3.])
grads(lambda v: RT.from_tensor(v, padding=0.).values ** 2, [[1., 0.], [2., 3.]])
grads(lambda v: tf.tile(R([[1, 2], [3]]).with_values(v), [1, 2]).values, [1., 2., 3.])
grads(lambda v: tf.cond(dense(True), lambda: R([[1, 2], [3]]).with_values(v) * 2., lambda: R([[1, 2], [3]]).with_values(v)).values, [1., 2., 3.])
grads(lambda v: tf.while_loop(lambda i, r: i < 3, lambda i, r: (i + 1, r * r), [0, R([[1, 2], [3]]).with_values(v)])[1].values, [1., 2., 1.5])
grads(lambda v: tf.reduce_prod(R([[1, 2], [3]]).with_values(v), 1), [1., 2., 3.])
grads(lambda v: tf.reduce_sum(R([[1, 2], [3]]).with_values(v), 0) * [1., 5.], [1., 2., 3.])
grads(lambda v: tf.reduce_min(R([[1, 2], [3]]).with_values(v), 0) * [1., 5.], [1., 2., 3.])
grads(lambda v: tf.where([True, False], R([[1, 2], [3]]).with_values(v), R([[1., 2.], [3.]])).values, [1., 2., 3.])
grads(lambda v: tf.stack([R([[1, 2], [3]]).with_values(v), R([[1., 2.], [3.]])], 1).flat_values * v[0], [1., 2., 3.])
grads(lambda v: tf.ragged.boolean_mask(R([[1, 2], [3]]).with_values(v), R([[True, False], [True]])).values, [1., 2., 3.])
grads(lambda v: tf.gather_nd(R([[1, 2], [3]]).with_values(v), [[0, 1], [1, 0]]), [1., 2., 3.])
grads(lambda v: (R([[1, 2], [3]]).with_values(v) + R([[1, 2], [3]]).with_values(v * v)).values, [1., 2., 3.])
grads(lambda v: (R([[1, 2], [3]]).with_values(v) * R([[1., 2.], [3.]])).values, [1., 2., 3.])
grads(lambda v: (R([[1, 2], [1, 3]], ragged_rank=1).with_values(v) * R([[1., 2.]])).values, [1., 2., 3., 4.])
grads(lambda v: tf.squeeze(tf.expand_dims(R([[1, 2], [3]]).with_values(v), 0), 0).values * v, [1., 2., 3.])
grads(lambda v: tf.math.unsorted_segment_sum(R([[1, 2], [3]]).with_values(v), [0, 0], 1).values * [1., 4.], [1., 2., 3.])
grads(lambda v: RT._from_variant(R([[1, 2], [3]]).with_values(v)._to_variant(), tf.float32, 1).values, [1., 2., 3.])
# Names of nodes.
R([[1]], name="n").values.name
R([[1]], name="n").row_splits.name
tf.ragged.placeholder(tf.int32, 1, name="n").row_splits.name
tf.ragged.placeholder(tf.int32, 1, name="n").flat_values.name
tf.ragged.range([1], name="n").values.name
tf.ragged.stack([R([[1]]), R([[2]])], name="n").flat_values.name
tf.concat([R([[1]]), R([[2]])], 0, name="n").values.name
tf.add(R([[1]]), R([[2]]), name="n").values.name
tf.exp(R([[1.]]), name="n").values.name
tf.reduce_sum(R([[1]]), 1, name="n").name
tf.reduce_sum(R([[1]])).name
tf.reduce_max(R([[1]]), 1).name
tf.gather(R([[1]]), [0], name="n").values.name
tf.size(R([[1]]), name="n").name
tf.strings.unicode_decode(["a"], "UTF-8", name="n").values.name
R([[1]]).to_sparse(name="n").values.name
# Datasets.
elements(tf.data.Dataset.from_tensors(R([[1, 2], []])))
elements(tf.data.Dataset.from_tensors(V([[1, 2], []])))
elements(tf.data.Dataset.from_tensors({"a": R([[1, 2], []]), "b": 3}))
elements(tf.data.Dataset.from_tensors(R([[[1], [2, 3]], []])))
elements(tf.data.Dataset.from_tensor_slices(R([[[1], [2, 3]], [], [[]]])))
elements(tf.data.Dataset.from_tensor_slices(V([[[1], [2, 3]], [], [[]]])))
elements(tf.data.Dataset.from_tensor_slices((R([[[1], [2, 3]], []]), [7, 8])))
elements(tf.data.Dataset.from_tensor_slices(R([[1, 2], []])))
elements(tf.data.Dataset.from_tensors(R([[1, 2], []])).repeat(2).batch(2))
elements(tf.data.Dataset.from_tensor_slices(R([[[1], [2, 3]], [], [[]]])).batch(2))
elements(tf.data.Dataset.from_tensors(R([[1, 2], []])).map(lambda x: x + 1))
elements(tf.data.Dataset.range(3).map(lambda i: tf.ragged.range(tf.stack([i, i + 1]))))
elements(tf.data.Dataset.range(3).map(lambda i: tf.ragged.range(tf.stack([i, i + 1]))).batch(2))
elements(tf.data.Dataset.from_tensor_slices(["a b", "c"]).map(lambda s: tf.strings.split([s], result_type="RaggedTensor")))
elements(tf.data.Dataset.from_tensors(R([[1, 2], []])).batch(1).map(lambda x: x.to_tensor()))
elements(tf.data.Dataset.from_tensors(R([[1, 2], []])).filter(lambda x: tf.equal(tf.size(x), 2)))
elements(tf.data.Dataset.from_tensors(R([[[1]], [[2]]])).flat_map(tf.data.Dataset.from_tensor_slices))
elements(tf.data.Dataset.from_tensors(R([[1, 2], []])).concatenate(tf.data.Dataset.from_tensors(R([[5], [6]]))))
elements(tf.data.Dataset.from_tensors(R([[1, 2], []])).shuffle(2).take(1))
elements(tf.data.Dataset.from_tensors(R([[1, 2], []])).prefetch(1).cache().repeat(2))
elements(tf.data.Dataset.zip((tf.data.Dataset.from_tensors(R([[1, 2], []])), tf.data.Dataset.range(1))))
elements(tf.data.Dataset.from_tensor_slices(R([[[1], [2, 3]], [], [[]]])).skip(1))
elements(tf.data.Dataset.from_tensor_slices(R([[[1], [2, 3]], [], [[]]])).batch(2, drop_remainder=True))
elements(tf.data.Dataset.from_tensor_slices(R([[[1], [2, 3]], [], [[]]])).shard(2, 0))
elements(tf.data.Dataset.range(2).interleave(lambda i: tf.data.Dataset.from_tensors(tf.ragged.range(tf.stack([i, i + 1]))), 2))
elements(tf.data.Dataset.range(3).map(lambda i: tf.ragged.range(tf.stack([i, i + 1])), num_parallel_calls=2))
elements(tf.data.Dataset.range(4).map(lambda i: tf.ragged.range(tf.stack([i, i + 1]))).batch(2).unbatch())
elements(tf.data.Dataset.range(4).apply(tf.data.experimental.map_and_batch(lambda i: tf.ragged.range(tf.stack([i, i + 1])), 2)))
elements(tf.data.Dataset.range(3).map(lambda i: R([[1.5, 2.5], []]) * tf.cast(i, tf.float32)))
elements(tf.data.Dataset.range(2).map(lambda i: R([["a", "b"], []])).batch(2))
elements(tf.data.Dataset.range(2).map(lambda i: (R([["a", "b"], []]), tf.SparseTensor([[0]], [i], [2]), i)).batch(2))
elements(tf.data.Dataset.range(2).map(lambda i: R([[[1, 2]], []], ragged_rank=1)).batch(2))
elements(tf.data.Dataset.range(2).map(lambda i: R([[1]], row_splits_dtype=tf.int32)))
elements(tf.data.Dataset.range(2).window(2).flat_map(lambda d: d.map(lambda i: R([[1], []]))))
elements(tf.data.Dataset.from_tensors(R([[1, 2], []])).map(lambda x: tf.reduce_sum(x, 1)))
tf.data.Dataset.from_tensors(R([[1, 2], []])).reduce(0, lambda s, x: s + tf.reduce_sum(x))
tf.data.Dataset.range(3).reduce(R([[1], []]), lambda r, i: r + tf.cast(i, tf.int32))
elements(tf.data.Dataset.range(3).apply(tf.data.experimental.scan(R([[1], []]), lambda r, i: (r + 1, r))))
elements(tf.data.Dataset.from_tensors(R([[1, 2], []])).concatenate(tf.data.Dataset.from_tensors(R([[5.], [6.]]))))
elements(tf.data.Dataset.from_tensors(R([[1, 2], []])).concatenate(tf.data.Dataset.from_tensors(R([[[5]], [[6]]]))))
elements(tf.data.Dataset.from_tensors(R([[[1], [2, 3]], []])).unbatch())
elements(tf.data.Dataset.from_tensors((R([[[1], [2, 3]], []]), [5, 6])).unbatch())
elements(tf.data.Dataset.from_tensors(R([[1, 2], []])).unbatch())
elements(tf.data.Dataset.from_tensors(tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [2, 3])).unbatch())
elements(tf.data.Dataset.from_tensors({"s": tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [2, 3]), "r": R([[["a"]], []]), "t": [1, 2]}).unbatch())
elements(tf.data.Dataset.from_tensor_slices(tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [2, 3])).batch(2).unbatch())
tf.data.experimental.get_structure(tf.data.Dataset.from_tensors({"a": R([[1]]), "b": (1, tf.SparseTensor([[0]], [1], [2]))}))
tf.data.experimental.get_structure(tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensors(R([[1]]))))
tf.data.experimental.get_structure(3)
tf.data.experimental.RaggedTensorStructure(tf.int32, [2, None], 1)
tf.data.experimental.SparseTensorStructure(tf.int32, [2])
tf.data.experimental.TensorStructure(tf.int32, [2])
tf.data.experimental.Structure is tf.TypeSpec
tf.data.Dataset.from_tensors(R([[1, 2], []])).output_types
tf.data.Dataset.from_tensors(R([[1, 2], []])).output_shapes
tf.data.Dataset.from_tensors(R([[1, 2], []])).output_classes
tf.data.Dataset.from_tensors(R([[1, 2], []])).batch(2).output_classes
tf.data.Dataset.from_tensors(R([[[1]], []])).apply(tf.data.experimental.unbatch()).output_classes
"""


class Run:
    """The namespace of one expression, and what it feeds."""

    def __init__(self, tf):
        self.tf = tf
        self.feeds = {}
        self.names = {
            "tf": tf, "np": np, "R": tf.ragged.constant,
            "V": tf.ragged.constant_value, "RT": tf.RaggedTensor,
            "fed": self.fed, "dense": self.dense, "grads": self.grads,
            "elements": self.elements}

    def fed(self, pylist, ragged_rank=None, value_shape=(), **options):
        value = self.tf.ragged.constant_value(pylist, ragged_rank=ragged_rank,
                                              dtype=np.int32, **options)
        key = self.tf.ragged.placeholder(self.tf.int32, value.ragged_rank,
                                         value_shape)
        self.feeds[key] = value
        return key

    def dense(self, value, dtype=None, known=True):
        value = np.array(value, dtype)
        if value.dtype == np.int64 and dtype is None:
            value = value.astype(np.int32)
        kind = (self.tf.string if value.dtype.kind == "U"
                else self.tf.as_dtype(value.dtype))
        key = self.tf.placeholder(kind, [None] * value.ndim if known else None)
        self.feeds[key] = value
        return key

    def grads(self, function, at):
        v = self.tf.constant(at)
        return self.tf.convert_to_tensor(
            self.tf.gradients(function(v), v)[0])

    def elements(self, dataset):
        tf = self.tf
        return Elements(tf.data.make_one_shot_iterator(dataset).get_next())


class Elements:
    """The elements of a dataset, as a run gives them one after the other."""

    def __init__(self, element):
        self.element = element


def shown(tf, value):
    """A value of a run with its types."""
    if isinstance(value, tf.ragged.RaggedTensorValue):
        return "ragged %s %s %s" % (value.flat_values.dtype,
                                    value.row_splits.dtype.name,
                                    floats(value.to_list()))
    if isinstance(value, tf.SparseTensorValue):
        return "sparse(%s)" % ", ".join(shown(tf, part) for part in value)
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(shown(tf, part) for part in value)
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s: %s" % (k, shown(tf, value[k]))
                                  for k in sorted(value))
    if isinstance(value, (np.ndarray, np.generic)):
        return "%s %s" % (value.dtype, floats(value.tolist()))
    return repr(value)


def floats(x):
    """Rounded, so that the last bits do not count."""
    if isinstance(x, list):
        return [floats(v) for v in x]
    if isinstance(x, float):
        return float("%.5g" % x)
    if isinstance(x, complex):
        return complex(floats(x.real), floats(x.imag))
    return x


def static(tf, x):
    if isinstance(x, (tf.Tensor, tf.RaggedTensor)):
        return str(x.shape)
    if isinstance(x, (list, tuple)):
        return "[%s]" % ", ".join(static(tf, part) for part in x)
    return "-"


def tensors(tf, x):
    if isinstance(x, (list, tuple)):
        return any(tensors(tf, part) for part in x)
    if isinstance(x, dict):
        return any(tensors(tf, part) for part in x.values())
    return isinstance(x, (tf.Tensor, tf.RaggedTensor, tf.SparseTensor))


def outcome(tf, expression):
    """What the expression gives, as one line."""
    with tf.Graph().as_default():
        run = Run(tf)
        try:
            result = eval(expression, run.names)
        except Exception as error:  # noqa: BLE001: whatever it is
            return "%s as the graph is made" % type(error).__name__
        if isinstance(result, tf.Operation):
            return "an Operation"
        every = isinstance(result, Elements)
        if not every and not tensors(tf, result):
            return shown(tf, result).replace("\n", " ")
        result = result.element if every else result
        values = []
        with tf.Session() as session:
            try:
                values.append(session.run(result, run.feeds))
                while every and len(values) < 9:
                    values.append(session.run(result, run.feeds))
            except tf.errors.OutOfRangeError:
                pass
            except Exception as error:  # noqa: BLE001
                return "%s as it runs" % type(error).__name__
        return "%s %s" % (static(tf, result), shown(
            tf, values if every else values[0]))


def expressions():
    return [line for line in CASES.strip().splitlines()
            if not line.startswith("#")]


if __name__ == "__main__":
    import tensorflow

    for line in expressions():
        print("%s\t%s" % (line, outcome(tensorflow, line)), flush=True)
