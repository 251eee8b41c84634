"""tf.headrace.progress: how far a loop is, in terminals and notebooks."""
import html
import sys
import time

_SECONDS = .1  # between two drawings
_WIDTH = 30


def progress(iterable, total=None, title=""):
    """Yields the items of `iterable` and shows how far it is: a bar on stderr if
    that is a terminal, in a notebook one below the cell, elsewhere nothing.

        for step in tf.headrace.progress(range(1000), title="training"):
            sess.run(train_op)

    `total`: how many items there are, by default len(iterable) where it has one;
    if nobody knows, the items are counted."""
    if total is None:
        try:
            total = len(iterable)
        except TypeError:
            pass
    display = _display()
    done, start, shown = 0, time.monotonic(), 0.
    try:
        for item in iterable:
            now = time.monotonic()
            if display is not None and (not shown or now - shown >= _SECONDS):
                display.show(_Progress(title, done, total, now - start))
                shown = now
            yield item
            done += 1
    finally:  # an error or a break leaves the bar where it was
        if display is not None:
            display.show(_Progress(title, done, total,
                                   time.monotonic() - start))
            display.end()


class _Progress:
    """What is shown: as text, and as HTML."""

    def __init__(self, title, done, total, seconds):
        self._title, self._done, self._total = str(title), done, total
        self._seconds = seconds

    def _fraction(self):
        return min(self._done / self._total, 1.) if self._total else None

    def _numbers(self):
        rate = self._done / self._seconds if self._seconds > 0 else 0.
        parts = ["%d/%d" % (self._done, self._total) if self._total is not None
                 else "%d" % self._done, _time(self._seconds)]
        if self._done:
            parts.append("%.4g/s" % rate)
            if self._total and self._done < self._total and rate:
                parts.append(_time((self._total - self._done) / rate) + " left")
        return ", ".join(parts)

    def __repr__(self):
        fraction = self._fraction()
        title = self._title + " " if self._title else ""
        if fraction is None:
            return title + self._numbers()
        full = int(fraction * _WIDTH)
        return "%s[%s%s] %s" % (title, "#" * full, "-" * (_WIDTH - full),
                                self._numbers())

    def _repr_html_(self):
        fraction = self._fraction()
        bar = "" if fraction is None else (
            "<progress value='%.4f' max='1'></progress> " % fraction)
        return "<div>%s %s%s</div>" % (html.escape(self._title), bar,
                                       html.escape(self._numbers()))


def _time(seconds):
    seconds = int(seconds)
    if seconds >= 3600:
        return "%d:%02d:%02d" % (seconds // 3600, seconds // 60 % 60,
                                 seconds % 60)
    return "%d:%02d" % (seconds // 60, seconds % 60)


def _display():
    """What shows progress here, or None."""
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python is not None else None
    # Notebooks have a kernel; IPython in a terminal has none.
    if getattr(shell, "kernel", None) is not None:
        return _Notebook(sys.modules["IPython"])
    if sys.stderr is not None and sys.stderr.isatty():
        return _Terminal(sys.stderr)
    return None


class _Terminal:
    def __init__(self, out):
        self._out, self._length = out, 0

    def show(self, state):
        text = repr(state)
        self._out.write("\r" + text.ljust(self._length))
        self._out.flush()
        self._length = len(text)

    def end(self):
        self._out.write("\n")
        self._out.flush()


class _Notebook:
    def __init__(self, python):
        self._python, self._handle = python, None

    def show(self, state):
        if self._handle is None:
            self._handle = self._python.display.display(state, display_id=True)
        else:
            self._handle.update(state)

    def end(self):
        pass
