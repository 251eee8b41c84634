"""google.protobuf.text_format for programs that import tensorflow: it stands in
where protobuf is not installed, and extends protobuf's own where it is."""
import subprocess
import sys

import pytest

import headrace as tf

PROGRAM = """
import headrace.compat
headrace.compat.install()
import tensorflow as tf
from google.protobuf import text_format
import google.protobuf.text_format as again
assert again is text_format
config = tf.ConfigProto(allow_soft_placement=True, device_count={"CPU": 2})
text = text_format.MessageToString(config)
assert text == str(config), text
assert text_format.MessageToString(config, as_one_line=True) == (
    'device_count { key: "CPU" value: 2 } allow_soft_placement: true')
assert text_format.Parse(text, tf.ConfigProto()) == config
graph_def = tf.GraphDef()
for data in ('node { name: "a" op: "NoOp" }', b'node { name: "b" op: "NoOp" }'):
    assert text_format.Merge(data, graph_def) is graph_def
assert [n.name for n in graph_def.node] == ["a", "b"]
try:
    text_format.Parse("nodes { }", tf.GraphDef())
except text_format.ParseError as error:
    assert "no field named" in str(error), error
else:
    raise AssertionError
"""

# What stands for an installed protobuf.
INSTALLED = """
class ParseError(Exception):
    pass


def MessageToString(message, as_one_line=False):
    return "own %s" % message


def Merge(text, message, allow_unknown_extension=False):
    return "own merge"


Parse = Merge
"""


def run(program, folder):
    done = subprocess.run([sys.executable, "-c", program], text=True,
                          capture_output=True, cwd=folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("first", ["", "import google.protobuf.text_format\n"])
def test_protobuf_that_is_installed(tmp_path, first):
    package = tmp_path / "google" / "protobuf"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").write_text("")
    (package / "text_format.py").write_text(INSTALLED)
    run(first + PROGRAM + """
assert text_format.MessageToString(3) == "own 3"
assert text_format.Merge("x", 4) == "own merge"
assert text_format.__file__.endswith("text_format.py")
""", tmp_path)


def test_protobuf_that_is_not_installed(tmp_path):
    run("""
import sys
try:
    import google.protobuf
except ImportError:
    pass
else:
    sys.exit()  # it is installed
""" + PROGRAM + """
try:
    import google.protobuf.json_util
except ModuleNotFoundError as error:
    assert error.name == "google.protobuf.json_util"
else:
    raise AssertionError
""", tmp_path)


class Foreign:
    """A message of another library."""

    def __init__(self, message):
        self._data = message.SerializeToString()

    def SerializeToString(self):
        return self._data


def test_messages_of_other_libraries():
    graph_def = tf.GraphDef()
    graph_def.node.add(name="x", op="NoOp")
    tf.import_graph_def(Foreign(graph_def), name="there")
    config = Foreign(tf.ConfigProto(allow_soft_placement=True))
    options = Foreign(tf.RunOptions(timeout_in_ms=10000))
    with tf.Session(config=config) as session:
        session.run("there/x", options=options)
    with pytest.raises(TypeError, match="config must be a tf.ConfigProto"):
        tf.Session(config=3)
