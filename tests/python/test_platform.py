"""What every script uses: flags, files, messages."""
import enum
import logging
import os
import subprocess
import sys
import textwrap
import types

import pytest

import headrace as tf
from headrace._src.platform import flag_parsers, own_flags

# What tf.flags has where absl is not installed.
flags = types.SimpleNamespace(**{**vars(own_flags), **vars(flag_parsers)})


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def some_flags():
    values = flags.FlagValues()
    given = dict(flag_values=values)
    flags.DEFINE_string("name", "x", "the name", **given)
    flags.DEFINE_string("none", None, "nothing", **given)
    flags.DEFINE_integer("n", 3, "how many", lower_bound=0, **given)
    flags.DEFINE_float("rate", .5, "how fast", upper_bound=1, **given)
    flags.DEFINE_boolean("b", True, "whether", **given)
    flags.DEFINE_bool("c", False, "whether", short_name="x", **given)
    flags.DEFINE_enum("e", "a", ["a", "b"], "which", **given)
    flags.DEFINE_enum_class("colour", Colour.RED, Colour, "which", **given)
    flags.DEFINE_list("l", ["1", "2"], "some", **given)
    flags.DEFINE_spaceseplist("s", "p q", "some", **given)
    flags.DEFINE_multi_integer("m", [1], "some", **given)
    flags.DEFINE_multi_string("ms", None, "some", **given)
    flags.DEFINE_alias("alias", "name", **given)
    return values


@pytest.mark.parametrize("line, name, value", [
    ("", "name", "x"), ("--name=y", "name", "y"), ("-name y", "name", "y"),
    ("--alias=z", "name", "z"), ("--n 7", "n", 7), ("--n=0x10", "n", 16),
    ("--rate=.25", "rate", .25), ("--rate=-3", "rate", -3.0),
    ("--nob", "b", False), ("--b=false", "b", False), ("-x", "c", True),
    ("--e=b", "e", "b"), ("--colour=BLUE", "colour", Colour.BLUE),
    ("--colour=red", "colour", Colour.RED), ("--l=a,b", "l", ["a", "b"]),
    ("--l=", "l", []), ("", "s", ["p", "q"]), ("", "m", [1]),
    ("--m=2 --m=3", "m", [2, 3]), ("--ms=a", "ms", ["a"]), ("", "ms", None),
    ("--n=5 --n=6", "n", 6), ("rest --n=5", "n", 3), ("-- --n=5", "n", 3),
    ("--undefok=zzz --zzz=1", "n", 3)])
def test_command_lines(line, name, value):
    values = some_flags()
    rest = values(["program"] + line.split())
    assert getattr(values, name) == value
    assert rest[0] == "program" and values.is_parsed()
    assert rest[1:] == {"rest --n=5": ["rest", "--n=5"],
                        "-- --n=5": ["--n=5"]}.get(line, [])


@pytest.mark.parametrize("line, error, message", [
    ("--n=-1", flags.IllegalFlagValueError,
     "flag --n=-1: -1 is not a non-negative integer"),
    ("--n=x", flags.IllegalFlagValueError, "flag --n=x: invalid literal"),
    ("--rate=2", flags.IllegalFlagValueError, "2.0 is not a number <= 1"),
    ("--b=maybe", flags.IllegalFlagValueError, "Non-boolean argument"),
    ("--e=c", flags.IllegalFlagValueError, "value should be one of <a|b>"),
    ("--colour=green", flags.IllegalFlagValueError, "one of <red|blue>"),
    ("--nmae=x", flags.UnrecognizedFlagError,
     "Unknown command line flag 'nmae'. Did you mean: name"),
    ("--name", flags.Error, "Missing value for flag --name"),
    ("--flagfile=/no/such", flags.CantOpenFlagFileError, "Unable to open")])
def test_wrong_command_lines(line, error, message):
    with pytest.raises(error) as caught:
        some_flags()(["program"] + line.split())
    assert message in str(caught.value)


def test_wrong_definitions():
    values = some_flags()
    with pytest.raises(flags.DuplicateFlagError, match="'n' is defined twice"):
        flags.DEFINE_integer("n", 1, "again", flag_values=values)
    with pytest.raises(flags.IllegalFlagValueError, match="--q=x"):
        flags.DEFINE_integer("q", "x", "", flag_values=values)
    with pytest.raises(flags.FlagNameConflictsWithMethodError):
        flags.DEFINE_string("get_help", "", "", flag_values=values)
    for name in ("nosuch", "__nosuch__"):
        with pytest.raises(AttributeError):
            getattr(values, name)
    with pytest.raises(AttributeError):
        values.nosuch = 3


def test_values_of_flags(tmp_path):
    values = some_flags()
    values(["program"])
    values.n = 9
    values.set_default("name", "other")
    assert (values.n, values.name, "n" in values) == (9, "other", True)
    assert values.get_flag_value("none", 4) == 4
    holder = flags.DEFINE_integer("held", 1, "", flag_values=values)
    assert (holder.value, holder.name, holder.default) == (1, "held", 1)
    (tmp_path / "file").write_text("# a comment\n--n=4\n--nob\n")
    values(["program", "--flagfile=%s" % (tmp_path / "file"), "--name=q"])
    assert (values.n, values.b, values.name) == (4, False, "q")
    text = values.flags_into_string()
    assert "--n=4\n" in text and "--nob\n" in text
    assert values.flag_values_dict()["n"] == 4
    del values.n
    assert "n" not in values
    help_text = values.get_help()
    assert "--[no]b: whether" in help_text and "(a number <= 1)" in help_text
    assert list(flags.flag_dict_to_args({"a": True, "b": False, "c": 1,
                                         "d": ["x", "y"]})) == [
        "--a", "--nob", "--c=1", "--d=x,y"]


def test_validators():
    values = some_flags()
    flags.register_validator("n", lambda n: n % 2, "n must be odd",
                             flag_values=values)
    flags.mark_flag_as_required("none", flag_values=values)
    flags.mark_flags_as_mutual_exclusive(["ms", "none"], flag_values=values)
    with pytest.raises(flags.IllegalFlagValueError,
                       match="--none must have a value other than None"):
        values(["program"])
    values(["program", "--none=x"])
    with pytest.raises(flags.IllegalFlagValueError, match="n must be odd"):
        values.n = 4
    with pytest.raises(flags.IllegalFlagValueError, match="At most one of"):
        values(["program", "--none=x", "--ms=y"])


PROGRAM = """
    import sys
    sys.modules["absl"] = None
    import headrace as tf
    tf.app.flags.DEFINE_integer("n", 3, "how many")
    FLAGS = tf.flags.FLAGS
    def main(argv):
        print(argv[1:], FLAGS.n)
        return FLAGS.n
    if __name__ == "__main__":
        tf.app.run()
    """


@pytest.mark.parametrize("line, out, error, code", [
    ("", "[] 3\n", "", 3), ("a --n=0 --other", "['a', '--other'] 0\n", "", 0),
    ("--n=x", "", "FATAL Flags parsing error: flag --n=x", 1),
    ("--help", "--n: how many\n    (default: '3')\n    (an integer)", "", 1)])
def test_app_run(tmp_path, line, out, error, code):
    (tmp_path / "p.py").write_text(textwrap.dedent(PROGRAM))
    done = subprocess.run([sys.executable, str(tmp_path / "p.py"),
                           *line.split()], text=True, capture_output=True)
    assert done.returncode == code
    assert out in done.stdout and error in done.stderr


# Files.

def test_gfile(tmp_path):
    path = str(tmp_path / "f")
    with tf.gfile.GFile(path, "w") as f:
        f.write("one\ntwo\nthrée")
        assert f.tell() == 14
    with tf.gfile.Open(path) as f:
        assert (f.size(), f.readline(), f.tell()) == (14, "one\n", 4)
        assert f.readlines() == ["two\n", "thrée"] and f.read() == ""
        f.seek(1)
        assert f.read(2) == "ne"
        f.seek(-3, 2)
        assert f.tell() == 11
        f.seek(0)
        assert list(f) == ["one\n", "two\n", "thrée"]
        with pytest.raises(tf.errors.OutOfRangeError):
            f.seek(100)
        with pytest.raises(tf.errors.PermissionDeniedError, match="writing"):
            f.write("x")
    with tf.gfile.FastGFile(path, "ab") as f:
        f.write(b"\xff")
    assert tf.io.gfile.GFile(path, "rb").read()[-1:] == b"\xff"
    with tf.gfile.GFile(path, "w") as f:
        with pytest.raises(tf.errors.PermissionDeniedError, match="reading"):
            f.read()
    assert tf.gfile.Stat(path).length == 0


@pytest.mark.parametrize("error, message, call", [
    (tf.errors.NotFoundError, "No such file", lambda d:
     tf.gfile.GFile(d + "/no").read()),
    (tf.errors.NotFoundError, "No such file", lambda d:
     tf.gfile.GFile(d + "/no/f", "w").write("")),
    (tf.errors.NotFoundError, "No such file", lambda d:
     tf.gfile.Remove(d + "/no")),
    (tf.errors.NotFoundError, "Could not find directory", lambda d:
     tf.gfile.ListDirectory(d + "/no")),
    (tf.errors.NotFoundError, "No such file", lambda d:
     tf.gfile.Stat(d + "/no")),
    (tf.errors.NotFoundError, "No such file", lambda d:
     tf.gfile.DeleteRecursively(d + "/no")),
    (tf.errors.NotFoundError, "No such file", lambda d:
     tf.gfile.MkDir(d + "/no/no")),
    (tf.errors.AlreadyExistsError, "File exists", lambda d:
     tf.gfile.MkDir(d)),
    (tf.errors.AlreadyExistsError, "already exists", lambda d:
     tf.gfile.Copy(d + "/a", d + "/b")),
    (tf.errors.AlreadyExistsError, "already exists", lambda d:
     tf.gfile.Rename(d + "/a", d + "/b")),
    (tf.errors.InvalidArgumentError, "mode is not", lambda d:
     tf.gfile.GFile(d, "x")),
    (tf.errors.UnimplementedError, "scheme 'gs' not implemented", lambda d:
     tf.gfile.Exists("gs://a/b"))])
def test_errors_of_files(tmp_path, error, message, call):
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    with pytest.raises(error, match=message):
        call(str(tmp_path))


def test_folders(tmp_path):
    d = str(tmp_path)
    tf.gfile.MakeDirs(d + "/x/y")
    tf.gfile.MakeDirs(d + "/x/y")
    for name in ("a", "x/b"):
        (tmp_path / name).write_text(name)
    assert tf.gfile.Exists(d + "/a") and not tf.gfile.Exists(d + "/c")
    assert tf.gfile.IsDirectory(d) and not tf.gfile.IsDirectory(d + "/a")
    assert sorted(tf.gfile.ListDirectory(d)) == ["a", "x"]
    assert tf.gfile.Glob(d + "/*") == [d + "/a", d + "/x"]
    assert tf.io.gfile.glob([d + "/a", d + "/x/*", d + "/no*"]) == [
        d + "/a", d + "/x/b", d + "/x/y"]
    down = [(d, ["x"], ["a"]), (d + "/x", ["y"], ["b"]), (d + "/x/y", [], [])]
    assert list(tf.gfile.Walk(d)) == down
    assert list(tf.gfile.Walk(d, in_order=False)) == down[::-1]
    assert list(tf.io.gfile.walk(d + "/no")) == []
    tf.gfile.Copy(d + "/a", d + "/c")
    tf.gfile.Copy(d + "/x/b", d + "/c", overwrite=True)
    tf.gfile.Rename(d + "/c", d + "/e")
    assert tf.gfile.GFile(d + "/e").read() == "x/b"
    stat = tf.gfile.Stat(d + "/e")
    assert (stat.length, stat.is_directory) == (3, False)
    tf.gfile.Remove(d + "/e")
    tf.gfile.DeleteRecursively(d + "/x")
    assert os.listdir(d) == ["a"]


# Messages.

def test_logging():
    done = subprocess.run([sys.executable, "-c", textwrap.dedent("""
        import headrace as tf
        tf.logging.info("hidden")
        tf.logging.warn("seen %d", 1)
        assert tf.logging.get_verbosity() == tf.logging.WARN
        tf.logging.set_verbosity(tf.logging.INFO)
        tf.logging.info("seen too")
        for i in range(4):
            tf.logging.log_first_n(tf.logging.ERROR, "first %d", 2, i)
            tf.logging.log_every_n(tf.logging.ERROR, "every %d", 3, i)
            tf.logging.log_if(tf.logging.ERROR, "if %d", i == 2, i)
        tf.logging.fatal("last")
        """)], text=True, capture_output=True)
    assert done.returncode == 0 and done.stdout == ""
    assert done.stderr.splitlines() == [
        "WARNING:tensorflow:seen 1", "INFO:tensorflow:seen too",
        "ERROR:tensorflow:first 0", "ERROR:tensorflow:every 0",
        "ERROR:tensorflow:first 1", "ERROR:tensorflow:if 2",
        "ERROR:tensorflow:every 3", "CRITICAL:tensorflow:last"]
    assert tf.get_logger() is logging.getLogger("tensorflow")


def test_resources(tmp_path):
    here = os.path.dirname(__file__)
    assert tf.resource_loader.get_data_files_path() == here
    assert tf.resource_loader.get_path_to_datafile("a") == here + "/a"
    assert b"TensorFlow" in tf.resource_loader.load_resource("__init__.py")
    assert tf.resource_loader.readahead_file_path("p") == "p"
    library = os.path.join(tf.sysconfig.get_lib(), "libheadrace.so")
    assert os.path.exists(library)
    assert any("libheadrace" in flag for flag in tf.sysconfig.get_link_flags())


# (pattern, what TensorFlow 1.15 finds among the files of test_globs)
GLOBS = [
    ("*", "./.h.txt ./A.txt ./[x].txt ./a-b ./a.txt ./a]b ./b.txt ./dangling "
          "./q? ./sub"),
    (".*", "./.h.txt"), ("*.txt", "./.h.txt ./A.txt ./[x].txt ./a.txt ./b.txt"),
    ("[^a].txt", "./A.txt ./b.txt"), ("[!a].txt", "./A.txt ./b.txt"),
    ("[a-b].txt", "./a.txt ./b.txt"), ("[[:upper:]]*", "./A.txt"),
    ("a[^]]b", "./a-b"), ("a[]]b", "./a]b"), ("\\[x\\].txt", "./[x].txt"),
    ("q\\?", "./q?"), ("*/*", "./sub/.b ./sub/a.txt ./sub/deep"),
    ("sub/*", "sub/.b sub/a.txt sub/deep"), ("sub", "./sub"), ("sub/", ""),
    ("sub/*/", ""), ("sub/.", ""), ("sub//*", ""), ("sub/./*",
     "sub/./.b sub/./a.txt sub/./deep"), ("**/c.txt", ""),
    ("s*/d*/c*", "./sub/deep/c.txt"), ("./[ab].txt", "./a.txt ./b.txt"),
    ("dangling", "./dangling"), ("nope*", ""), ("", ""), ("[", "")]


@pytest.fixture
def globbed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt", ".h.txt", "A.txt", "[x].txt", "a-b", "a]b",
                 "q?", "sub/.b", "sub/a.txt", "sub/deep/c.txt"):
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        open(name, "w").close()
    os.symlink("nowhere", "dangling")


@pytest.mark.parametrize("pattern, wanted", GLOBS)
def test_globs(globbed, pattern, wanted):
    wanted = wanted.split()
    assert tf.gfile.Glob(pattern) == wanted
    with tf.Session() as session:
        found = session.run(tf.matching_files(pattern))
        assert [name.decode() for name in found] == wanted
        if wanted:
            files = tf.data.Dataset.list_files(pattern, shuffle=False)
            item = files.make_one_shot_iterator().get_next()
            assert [session.run(item).decode() for _ in wanted] == wanted


def test_globs_of_several_patterns_and_of_missing_folders(globbed):
    assert tf.io.gfile.glob(["[ab].txt", "a*"]) == [
        "./a.txt", "./b.txt", "./a-b", "./a.txt", "./a]b"]
    with pytest.raises(tf.errors.NotFoundError, match="nope"):
        tf.gfile.Glob("nope/*")
    with pytest.raises(tf.errors.FailedPreconditionError, match="a.txt"):
        tf.gfile.Glob("a.txt/*")
    with tf.Session() as session:
        with pytest.raises(tf.errors.NotFoundError, match="nope"):
            session.run(tf.matching_files("nope/*"))


def test_seeking_out_of_a_file(tmp_path):
    path = str(tmp_path / "f")
    with tf.gfile.GFile(path, "w") as f:
        f.write("abc")
    with tf.gfile.GFile(path) as f:
        with pytest.raises(tf.errors.InvalidArgumentError, match="negative"):
            f.seek(-1)
        with pytest.raises(tf.errors.OutOfRangeError):
            f.seek(4)
        f.seek(1)
        assert f.read() == "bc"
