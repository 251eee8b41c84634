"""`python -m headrace.compat`: runs a program as `python` would, with `import
tensorflow` importing Headrace."""
import builtins
import importlib.machinery
import importlib.util
import os
import sys
import types

from headrace import _names
from headrace._src.compat import finder

USAGE = """usage: python -m headrace.compat [OPTION] PROGRAM.py [ARGUMENT...]
       python -m headrace.compat [OPTION] -m MODULE [ARGUMENT...]

Runs a program that was written for TensorFlow 1.x: `import tensorflow` gives it
Headrace. Arguments, exit status and tracebacks are those of `python PROGRAM.py`.
Of tensorflow.python.tools there are freeze_graph, import_pb_to_tensorboard,
inspect_checkpoint, optimize_for_inference, saved_model_cli and strip_unused.

Names that newer Pythons and NumPys removed (np.int, np.product,
collections.Mapping, time.clock, inspect.getargspec...) are there again, but
methods of built-in classes, as ndarray.tostring.
  --no-removed-names   leaves them out
"""


def main(argv):
    """Runs what the command line `argv`, without the program's own name, says.
    It returns when the program has ended, and raises what the program raises."""
    if not argv or argv[0] in ("-h", "--help"):
        (sys.stdout if argv else sys.stderr).write(USAGE)
        sys.exit(0 if argv else 2)
    removed_names = argv[0] != "--no-removed-names"
    argv = argv if removed_names else argv[1:]
    finder.install(removed_names)
    if not argv:
        sys.stderr.write(USAGE)
        sys.exit(2)
    if argv[0] == "-m":
        if len(argv) < 2:
            sys.stderr.write("python -m headrace.compat: -m needs a module\n")
            sys.exit(2)
        _run_module(argv[1], argv[1:])
    elif argv[0].startswith("-"):
        sys.stderr.write("python -m headrace.compat: no option %s\n%s"
                         % (argv[0], USAGE))
        sys.exit(2)
    else:
        _run_file(argv[0], argv)


def _run_file(path, argv):
    if os.path.isdir(path):
        path = os.path.join(path, "__main__.py")
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        sys.stderr.write("%s: can't open file %r: [Errno %d] %s\n" % (
            sys.executable, os.path.abspath(path), error.errno, error.strerror))
        sys.exit(2)
    path = os.path.abspath(path)
    _set_path(os.path.dirname(path))
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    _run(source, path, argv, None, loader)


def _run_module(name, argv):
    _set_path(os.getcwd())
    package, _, program = name.rpartition(".")
    if package == "tensorflow.python.tools":
        commands = _names.load("compat.commands")
        if program in commands.PROGRAMS:
            commands.main(program, argv[1:])
            return
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        name += ".__main__"
        spec = importlib.util.find_spec(name)
    if spec is None or not hasattr(spec.loader, "get_code"):
        sys.stderr.write("%s: No module named %s\n" % (sys.executable, name))
        sys.exit(1)
    code = spec.loader.get_code(name)
    _run(code, spec.origin, [spec.origin] + argv[1:], spec, spec.loader)


def _set_path(folder):
    """The folder of the program takes the place of the current one, which
    `python -m` put first."""
    if getattr(sys.flags, "safe_path", False) or sys.flags.isolated:
        return
    if sys.path and sys.path[0] in ("", os.getcwd()):
        sys.path[0] = folder
    else:
        sys.path.insert(0, folder)


def _run(code, path, argv, spec, loader):
    module = types.ModuleType("__main__")
    vars(module).update(
        __file__=path, __spec__=spec, __loader__=loader, __builtins__=builtins,
        __package__=spec.parent if spec else None, __annotations__={},
        __cached__=None)
    sys.argv[:] = argv
    # The old module is kept: its end would clear what this frame uses.
    module.__dict__["__headrace_main__"] = sys.modules["__main__"]
    sys.modules["__main__"] = module
    try:
        if isinstance(code, bytes):
            code = compile(code, path, "exec", dont_inherit=True)
        exec(code, vars(module))
    except SystemExit:
        raise
    except BaseException:
        sys.excepthook = _ShortTraceback(sys.excepthook)
        raise


class _ShortTraceback:
    """An excepthook without the frames that lead to the program."""

    def __init__(self, hook):
        self._hook = hook

    def __call__(self, kind, value, traceback):
        here = __file__
        tail = traceback
        while tail is not None and tail.tb_frame.f_code.co_filename != here:
            tail = tail.tb_next
        while tail is not None and tail.tb_frame.f_code.co_filename == here:
            tail = tail.tb_next
        if tail is not None or isinstance(value, SyntaxError):
            value = value.with_traceback(tail)
            traceback = tail
        self._hook(kind, value, traceback)
