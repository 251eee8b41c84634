"""tf.keras.utils.Progbar: a bar of what is done, with values."""
import sys
import time

import numpy as np


class Progbar:
    """Prints how much of `target` (None: unknown) is done. `verbose` 1: a bar
    that moves; 2: a line at the end; 0: nothing. Values are averaged over the
    steps, except those of `stateful_metrics`."""

    def __init__(self, target, width=30, verbose=1, interval=0.05,
                 stateful_metrics=None, unit_name="step", averages=True):
        self.target = target
        self.width = width
        self.verbose = verbose
        self.interval = interval
        self.stateful_metrics = set(stateful_metrics or ())
        self.unit_name = unit_name
        self._averages = averages
        self._values = {}
        self._start = self._last = time.time()
        self._seen = self._length = 0

    def update(self, current, values=None):
        """`current` is done; `values`: [(name, value)]."""
        for name, value in values or ():
            if self._averages and name not in self.stateful_metrics:
                total, weight = self._values.get(name, (0., 0))
                step = max(current - self._seen, 1)
                self._values[name] = total + value * step, weight + step
            else:
                self._values[name] = value, 1
        self._seen = current
        now = time.time()
        done = self.target is not None and current >= self.target
        if not self.verbose or not done and (
                self.verbose == 2 or now - self._last < self.interval):
            return
        self._last = now
        text = "" if self.verbose == 2 else self._bar(current)
        if self.verbose == 2:
            text = "%d/%d" % (current, self.target)
        seconds = now - self._start
        each = seconds / max(current, 1)
        if done:
            text += " - %.0fs %s/%s" % (
                seconds, "%.0fs" % each if each >= 1 else "%.0fms" % (each * 1e3)
                if each >= 1e-3 else "%.0fus" % (each * 1e6), self.unit_name)
        elif self.target is not None and self.verbose == 1:
            text += " - ETA: %ds" % (each * (self.target - current))
        for name, (total, weight) in self._values.items():
            mean = np.mean(total / max(weight, 1))
            text += " - %s: %s" % (name, "%.4f" % mean if abs(mean) > 1e-3
                                   else "%.4e" % mean)
        if self.verbose == 1:
            sys.stdout.write("\r" + text.ljust(self._length))
            self._length = len(text)
            if done:
                sys.stdout.write("\n")
        elif done:
            sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def _bar(self, current):
        if self.target is None:
            return "%7d/Unknown" % current
        digits = len(str(self.target))
        filled = min(int(self.width * current / max(self.target, 1)),
                     self.width)
        bar = "=" * filled
        if filled < self.width:
            bar = bar[:-1] + ">" if filled else ""
        return "%*d/%d [%s]" % (digits, current, self.target,
                                bar.ljust(self.width, "."))

    def add(self, n, values=None):
        self.update(self._seen + n, values)
