"""`python -m headrace.compat PROGRAM.py ARGUMENTS`."""
import sys

from headrace._src.compat import launcher

if __name__ == "__main__":
    launcher.main(sys.argv[1:])
