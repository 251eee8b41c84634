"""make_tensor_proto and make_ndarray: TensorFlow's own bytes, and back."""
import numpy as np
import pytest

import headrace as tf

# (arguments, the message that TensorFlow 1.15 writes)
PROTOS = {
    "f": ('1.5', "080112002a040000c03f"),
    "i": ('3', "080312003a0103"),
    "l": ('[1, 2, 3]', "0803120412020803220c010000000200000003000000"),
    "big": ('2**40', "080912005206808080808020"),
    "s": ("'abc'", "080712004203616263"),
    "bool": ('True', "080a12005a0101"),
    "bl": ('[True, False]', "080a1204120208025a020100"),
    "np32": (
        'np.arange(6, dtype=np.int32).reshape(2, 3)',
        "080312081202080212020803221800000000010000000200000003000000"
        "0400000005000000"),
    "npf16": ('np.float16([1.5, 2])', "08131204120208026a05807c808001"),
    "npf16s": ('np.float16(1.5)', "081312006a02807c"),
    "u8": ('np.uint8([1, 2])', "080412041202080222020102"),
    "u8s": ('np.uint8(7)', "080412003a0107"),
    "i16s": ('np.int16(-7)', "080512003a0af9ffffffffffffffff01"),
    "c64": ('np.complex64([1+2j, 3])',
        "08081204120208024a100000803f000000400000404000000000"),
    "c64s": ('np.complex64(1+2j)', "080812004a080000803f00000040"),
    "c128s": ('np.complex128(1+2j)',
        "081212006210000000000000f03f0000000000000040"),
    "f64": ('np.float64([1, 2])',
        "08021204120208022210000000000000f03f0000000000000040"),
    "f64s": ('np.float64(2)', "0802120032080000000000000040"),
    "i64s": ('np.int64(2)', "08091200520102"),
    "u32": ('np.uint32([5, 6])', "081612041202080222080500000006000000"),
    "u32s": ('np.uint32(5)', "0816120082010105"),
    "u64s": ('np.uint64(5)', "081712008a010105"),
    "i8": ('np.int8([-1, 2])', "08061204120208022202ff02"),
    "i8s": ('np.int8(-1)', "080612003a0affffffffffffffffff01"),
    "empty": ('[]', "080112021200"),
    "empty2": ('np.zeros([0, 2], np.float32)', "08011206120012020802"),
    "emptys": ('np.zeros([0], object)', "080712021200"),
    "nested": ('[[1., 2.], [3., 4.]]',
        "08011208120208021202080222100000803f000000400000404000008040"),
    "npb": ("np.array([b'a', b'bc\\0'])", "080712041202080242016142026263"),
    "obj": ("np.array(['a', b'bc'], object)", "080712041202080242016142026263"),
    "boolnp": ('np.array(True)', "080a12005a0101"),
    "same": ('[5, 5, 5, 5]',
        "0803120412020804221005000000050000000500000005000000"),
    "one": ('[7]', "08031204120208013a0107"),
    "mixed2": ('[1, 2.5]', "080112041202080222080000803f00002040"),
    "f32one": ('np.float32([[2.5]])', "0801120812020801120208012a0400002040"),
    "dt": ('1, tf.float64', "080212003208000000000000f03f"),
    "dt2": ('[1, 2], tf.int64',
        "0809120412020802221001000000000000000200000000000000"),
    "dt7": ('[1, 2], tf.float16', "08131204120208026a058078808001"),
    "sh": ('[1, 2, 3, 4], shape=[2, 2]',
        "080312081202080212020802221001000000020000000300000004000000"),
    "sh1": ('7, shape=[2, 3]', "0803120812020802120208033a0107"),
    "sh2": ('[1, 2], shape=[4]', "08031204120208043a020102"),
    "shs": ("'a', shape=[3]", "0807120412020803420161"),
    "shv": ('[1, 2], shape=[2], verify_shape=True',
        "080312041202080222080100000002000000"),
    "bc2": ('7., tf.float32, [2, 2], False, True',
        "0801120812020802120208022a040000e040"),
    "u": ('[1, 2], tf.uint64',
        "0817120412020802221001000000000000000200000000000000"),
    "u16": ('[1, 2], tf.uint16', "08111204120208023a020102"),
    "u16s": ('1, tf.uint16', "081112003a0101"),
    "cx": ('[1, 2], tf.complex64',
        "08081204120208024a100000803f000000000000004000000000"),
    "half1": ('1.5, tf.half', "081312006a02807c"),
    "np_dt": ('np.float32([1, 2]), tf.float64',
        "08021204120208022210000000000000f03f0000000000000040"),
    "np_dt2": ('np.float64([1, 2]), tf.float32',
        "080112041202080222080000803f00000040"),
    "np_i": ('np.int64([1, 2]), tf.int32',
        "080312041202080222080100000002000000"),
    "e": ('[], tf.int32', "080312021200"),
    "es": ('[], tf.string', "080712021200"),
    "e_sh": ('[], tf.float32, [0, 3]', "08011206120012020803"),
    "e_sh2": ('[], tf.float32, [2]', "0801120412020802"),
}


@pytest.mark.parametrize("case", PROTOS)
def test_bytes(case):
    arguments, wanted = PROTOS[case]
    proto = eval("tf.make_tensor_proto(%s)" % arguments)
    assert isinstance(proto, tf.headrace.messages.TensorProto)
    assert proto.SerializeToString().hex() == wanted
    array = tf.make_ndarray(proto)
    assert tf.as_dtype(proto.dtype).as_numpy_dtype == array.dtype
    again = tf.make_tensor_proto(array, tf.as_dtype(proto.dtype))
    np.testing.assert_array_equal(tf.make_ndarray(again), array)


def test_nul_bytes_at_the_end_of_strings_stay():
    values = [b"ab\0\0", b"\0", b""]
    proto = tf.make_tensor_proto(values)
    assert list(proto.string_val) == values
    assert tf.make_ndarray(proto).tolist() == values
    array = tf.make_ndarray(tf.make_tensor_proto(values[0]))
    assert array.shape == () and array.item() == values[0]


def test_the_last_value_fills_the_shape():
    for values, shape, wanted in (
            ([1, 2], [4], [1, 2, 2, 2]), (7., [2, 2], [[7, 7], [7, 7]]),
            (["a"], [3], [b"a"] * 3), ([], [0, 3], np.zeros([0, 3]))):
        array = tf.make_ndarray(tf.make_tensor_proto(values, shape=shape))
        np.testing.assert_array_equal(array, wanted)
    zeros = tf.headrace.messages.TensorProto(dtype=tf.string.as_datatype_enum)
    zeros.tensor_shape.dim.add(size=2)
    assert tf.make_ndarray(zeros).tolist() == [b"", b""]


def test_bfloat16_is_rounded_to_even():
    proto = tf.make_tensor_proto([1., 1.00390625, 1.01171875], tf.bfloat16)
    assert list(proto.half_val) == [0x3f80, 0x3f80, 0x3f82]


def test_constants_of_graphs():
    for value in ([1, 2], [b"a", b"b"], [[0., 0.], [0., 0.]], True):
        node = tf.constant(value).op.node_def
        array = tf.make_ndarray(node.attr["value"].tensor)
        assert array.tolist() == value


def test_a_message_is_taken_as_it_is():
    proto = tf.make_tensor_proto([1, 2])
    assert tf.make_tensor_proto(proto) is proto


@pytest.mark.parametrize("build, error, message", [
    (lambda: tf.make_tensor_proto([1, 2], shape=[2, 1], verify_shape=True),
     TypeError, r"Expected Tensor's shape: \(2, 1\), got \(2,\)"),
    (lambda: tf.make_tensor_proto([1, 2], shape=[3], allow_broadcast=True),
     TypeError, "Expected Tensor's shape"),
    (lambda: tf.make_tensor_proto([1, 2, 3], shape=[2]), ValueError,
     "Too many elements"),
    (lambda: tf.make_tensor_proto(1, shape=[2], verify_shape=True,
                                  allow_broadcast=True), ValueError,
     "not both allowed"),
    (lambda: tf.make_tensor_proto([1.5], tf.int32), TypeError,
     "Expected int32"),
    (lambda: tf.make_tensor_proto("a", tf.int32), TypeError, "Expected int32"),
    (lambda: tf.make_tensor_proto(1, tf.string), TypeError, "Expected string"),
    (lambda: tf.make_tensor_proto(None), ValueError, "None values"),
    (lambda: tf.make_tensor_proto(tf.constant(1)), TypeError, "node"),
    (lambda: tf.make_ndarray(tf.headrace.messages.TensorProto(
        dtype=tf.variant.as_datatype_enum)), TypeError, "Unsupported"),
    (lambda: tf.make_ndarray(tf.headrace.messages.TensorProto(dtype=1, float_val=[1, 2])),
     ValueError, "2 elements"),
])
def test_refused(build, error, message):
    with pytest.raises(error, match=message):
        build()


@pytest.mark.parametrize("values, shape", [
    ([(21,)], [1]), ([[(1,), (2,)]], [1, 2]), ([21, 22], [2])])
def test_quantized_numbers_may_be_records(values, shape):
    message = tf.make_tensor_proto(values, dtype=tf.qint16)
    assert [dim.size for dim in message.tensor_shape.dim] == shape


def test_a_tensor_proto_stands_for_its_value():
    two = tf.make_tensor_proto([2, 2])
    x = tf.reshape(tf.constant(tf.make_tensor_proto([1., 2, 3, 4])), two)
    assert x.shape.as_list() == [2, 2] and x.dtype == tf.float32
    nodes = tf.get_default_graph().as_graph_def().node
    attr = [n for n in nodes if n.op == "Const"][0].attr["value"].tensor
    with tf.Session() as sess:
        assert sess.run(tf.add(two, [3, 4])).tolist() == [5, 6]
        assert sess.run(tf.convert_to_tensor(attr)).tolist() == [1, 2, 3, 4]
