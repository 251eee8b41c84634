"""tf.app.run: absl's where absl is installed, as in TensorFlow; our own
otherwise."""
import sys

from headrace import _loading
from headrace._src.platform import flags as _flags


def run(main=None, argv=None):
    """Parses the command line `argv`, by default sys.argv, and ends the program
    with main(arguments that are no flags).

    `main` is by default the function of this name in the program. --help prints
    the flags of the program, --helpfull those of all modules. A flag that nobody
    defined is left to main; any other command line that is wrong ends the
    program with status 1. With absl installed, flags that were defined by
    absl.flags are parsed too.

    There are no shapes and dtypes here. An exception of `main` goes through;
    otherwise SystemExit is raised with what main returns."""
    main = main or sys.modules["__main__"].main
    if _flags.IS_ABSL:
        from absl import app
        app.run(main=main, argv=argv, flags_parser=_tolerate_unknown)
    else:
        _loading.load("_src.platform.own_app").run(main, argv)


def _tolerate_unknown(argv):
    return _flags.FLAGS(sys.argv if argv is None else argv, known_only=True)
