"""tf.flags and tf.app.run beside absl: flags of either are parsed by either."""
import importlib.util
import os
import subprocess
import sys
import textwrap

import pytest

# What TensorFlow's flags use of absl, for where it is not installed.
STAND_IN = {
    "__init__": "",
    "flags": """
        class Error(Exception): pass
        class Flag:
            def __init__(self, parse, value):
                self.parse, self.value = parse, value
        class FlagValues:
            def __init__(self):
                self.__dict__.update(_flags={}, _parsed=False)
            def __contains__(self, name): return name in self._flags
            def __getitem__(self, name): return self._flags[name]
            def __getattr__(self, name):
                if name not in self.__dict__["_flags"]:
                    raise AttributeError(name)
                if not self._parsed:
                    raise Error("unparsed")
                return self._flags[name].value
            def is_parsed(self): return self._parsed
            def __call__(self, argv, known_only=False):
                rest = []
                for arg in argv:
                    name, _, value = arg.lstrip("-").partition("=")
                    if arg.startswith("-") and name in self._flags:
                        self._flags[name].value = self._flags[name].parse(value)
                    elif arg.startswith("-") and not known_only:
                        raise Error("Unknown command line flag %r" % name)
                    else:
                        rest.append(arg)
                self.__dict__["_parsed"] = True
                return rest
        FLAGS = FlagValues()
        def disclaim_key_flags(): pass
        def _define(parse):
            def define(name, default, help):
                FLAGS._flags[name] = Flag(parse, default)
            return define
        DEFINE_string = _define(str)
        DEFINE_integer = _define(int)
        DEFINE_float = _define(float)
        DEFINE_boolean = DEFINE_bool = _define(lambda s: s != "false")
        """,
    "app": """
        import sys
        from absl import flags
        def run(main, argv=None, flags_parser=None):
            argv = sys.argv if argv is None else argv
            sys.exit(main((flags_parser or flags.FLAGS)(argv)))
        """,
}
ABSL = importlib.util.find_spec("absl") is not None

BY_TENSORFLOW = """
    from absl import flags
    import headrace as tf
    flags.DEFINE_integer("n", 3, "n")
    tf.flags.DEFINE_string("s", default_value="x", docstring="s")
    def main(argv):
        print(flags.FLAGS.n, tf.flags.FLAGS.s, tf.app.flags.FLAGS.n,
              flags.FLAGS.s, "s" in flags.FLAGS, argv[1:])
        return 4
    if __name__ == "__main__":
        tf.app.run()
    """
BY_ABSL = """
    import headrace as tf
    tf.app.flags.DEFINE_integer("n", 3, "n")
    tf.app.flags.DEFINE_string("s", "x", "s")
    from absl import app, flags
    FLAGS = flags.FLAGS
    def main(argv):
        print(FLAGS.n, FLAGS.s, tf.flags.FLAGS.n, tf.flags.FLAGS.s,
              "n" in tf.flags.FLAGS, argv[1:])
        return 4
    app.run(main)
    """
BEFORE_RUN = """
    from absl import flags
    import headrace as tf
    flags.DEFINE_integer("n", 3, "n")
    flags.DEFINE_string("s", "x", "s")
    print(tf.flags.FLAGS.n, flags.FLAGS.s, flags.FLAGS.n, tf.flags.FLAGS.s,
          tf.flags.FLAGS is not None, [])
    raise SystemExit(4)
    """


@pytest.fixture(params=["stand-in", "absl"])
def run(request, tmp_path):
    """Runs a program with a command line."""
    env = dict(os.environ)
    if request.param == "stand-in":
        (tmp_path / "absl").mkdir()
        for name, text in STAND_IN.items():
            (tmp_path / "absl" / (name + ".py")).write_text(
                textwrap.dedent(text))
    elif not ABSL:
        pytest.skip("absl-py is not installed")

    def run(program, *line):
        (tmp_path / "p.py").write_text(textwrap.dedent(program))
        return subprocess.run([sys.executable, str(tmp_path / "p.py"), *line],
                              env=env, text=True, capture_output=True)
    return run


@pytest.mark.parametrize("program", [BY_TENSORFLOW, BY_ABSL, BEFORE_RUN])
def test_flags_of_both_are_parsed(run, program):
    done = run(program)
    assert (done.stdout, done.returncode) == ("3 x 3 x True []\n", 4), done.stderr
    done = run(program, "--n=5", "--s=y")
    assert (done.stdout, done.returncode) == ("5 y 5 y True []\n", 4), done.stderr


def test_only_tensorflows_run_leaves_unknown_flags(run):
    done = run(BY_TENSORFLOW, "--n=1", "--nosuch=2")
    assert (done.stdout, done.returncode) == (
        "1 x 1 x True ['--nosuch=2']\n", 4), done.stderr
    done = run(BY_ABSL, "--n=1", "--nosuch=2")
    assert done.returncode not in (0, 4)
    assert "Unknown command line flag 'nosuch'" in done.stderr


def test_objects_are_absls(run):
    done = run("""
        import headrace as tf
        from absl import flags
        assert tf.flags.Flag is flags.Flag and tf.app.flags.Error is flags.Error
        assert tf.flags is not flags
        """)
    assert done.returncode == 0, done.stderr


def test_without_absl(tmp_path):
    (tmp_path / "p.py").write_text(textwrap.dedent("""
        import sys
        sys.modules["absl"] = None
        import headrace as tf
        tf.app.flags.DEFINE_integer("n", 3, "n")
        def main(argv):
            print(tf.flags.FLAGS.n, argv[1:])
        tf.app.run()
        """))
    done = subprocess.run([sys.executable, str(tmp_path / "p.py"), "--n=5", "a"],
                          text=True, capture_output=True)
    assert (done.stdout, done.returncode) == ("5 ['a']\n", 0), done.stderr
