"""Loads modules of the package when they are needed, beside threads that fork."""
import importlib
import os
import sys
import threading


class _Loading:
    """The threads that load modules. In a child of fork, a module that another
    thread was loading stays locked for ever; so the forking thread waits for
    the others."""
    LONGEST = 10  # seconds that a fork waits

    def __init__(self):
        self._changed = threading.Condition()
        self._depths = {}  # by thread
        os.register_at_fork(before=self._before_fork,
                            after_in_parent=self._changed.release,
                            after_in_child=self._after_fork)

    def __enter__(self):
        me = threading.get_ident()
        with self._changed:
            self._depths[me] = self._depths.get(me, 0) + 1

    def __exit__(self, *unused):
        me = threading.get_ident()
        with self._changed:
            self._depths[me] -= 1
            if not self._depths[me]:
                del self._depths[me]
                self._changed.notify_all()

    def _others(self):
        return any(thread != threading.get_ident() for thread in self._depths)

    def _before_fork(self):
        self._changed.acquire()
        self._changed.wait_for(lambda: not self._others(), self.LONGEST)

    def _after_fork(self):
        me = threading.get_ident()
        self._depths = {t: n for t, n in self._depths.items() if t == me}
        self._changed.release()


_loading = _Loading()


def load(module):
    """A module of the package, by its name there."""
    with _loading:
        return importlib.import_module("headrace." + module)


def loaded(module):
    """Whether a module of the package was loaded, by its name there."""
    return "headrace." + module in sys.modules
