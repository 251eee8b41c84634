"""tf.app.run where absl is not installed: parses the flags and runs main."""
import errno
import sys

from headrace._src.platform import own_flags as _flags


def _show_help(message=None, everything=False):
    out = sys.stderr if message else sys.stdout
    if message:
        out.write("FATAL Flags parsing error: %s\n"
                  "Pass --helpshort or --helpfull to see help on flags.\n"
                  % message)
    else:
        doc = sys.modules["__main__"].__doc__ or "\nUSAGE: %s [flags]\n" % (
            sys.argv[0])
        out.write(doc.rstrip() + "\n\nflags:\n\n")
        help_text = (_flags.FLAGS.get_help() if everything
                     else _flags.FLAGS.main_module_help())
        out.write(help_text + "\n")
    sys.exit(1)


def _wants_help(argv):
    """Which help the command line asks for, if any."""
    for arg in argv[1:]:
        if arg == "--":
            return None
        name = arg.lstrip("-")
        if arg.startswith("-") and name in ("help", "h", "helpshort", "helpfull",
                                            "?") and name not in _flags.FLAGS:
            return name
    return None


def run(main, argv):
    """See platform.app.run."""
    argv = list(argv or sys.argv)
    asked = _wants_help(argv)
    if asked is not None:
        _show_help(everything=asked == "helpfull")
    try:
        rest = _flags.FLAGS(argv, known_only=True)
    except _flags.Error as error:
        _show_help(message=str(error))
    try:
        sys.exit(main(rest))
    except OSError as error:
        if error.errno == errno.EPIPE:
            sys.exit(1)
        raise
