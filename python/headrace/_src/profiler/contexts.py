"""tf.contrib.tfprof.ProfileContext: profiles the runs of all sessions in it."""
import os
import random
import threading

from headrace._src.framework import errors, nest
from headrace._src.framework.graph import get_default_graph
from headrace._src.framework.messages import RunMetadata, RunOptions
from headrace._src.platform.file_io import GFile, exists, makedirs
from headrace._src.profiler.model_analyzer import Profiler
from headrace._src.session.session import Session

WARMUP_STEPS = 10
MAX_TRACED_STEPS = 100

_active = None


class ProfileContext:
    """Within it, runs of sessions are counted from 0, some are traced, and their
    profile is written to `profile_dir`.

    `trace_steps`: which to trace; None: the first run of each set of fetches
    after 10, and a few more. `dump_steps`: after which to write the file
    profile_N; None: after 100. `enabled` False: nothing is done. `debug`:
    writes the RunMetadata too, as text. Shapes and dtypes may be any.
    ValueError without a folder and for more than 100 steps, InternalError
    within another one."""

    def __init__(self, profile_dir, trace_steps=None, dump_steps=None,
                 enabled=True, debug=False):
        self._enabled = enabled
        if not enabled:
            return
        if not profile_dir:
            raise ValueError("Must have a directory for profile.\n")
        if trace_steps is not None and len(trace_steps) > MAX_TRACED_STEPS:
            raise ValueError("Only support tracing up to 100 steps.\n")
        self._debug, self._profiler_dir = debug, profile_dir
        self._auto_tracing = trace_steps is None
        self._trace_steps = set(trace_steps or ())
        self._dump_steps = (set([MAX_TRACED_STEPS]) if dump_steps is None
                            else set(dump_steps))
        self._rng = random.Random(111)
        self._fetched = set()
        self._slow_path_steps = self._dump_steps | self._trace_steps
        self._trace_next_step = self._dump_next_step = False
        self._step = self._traced_steps = 0
        self._auto_profiles = []
        self._profiler = None
        self._views = {}
        self._lock = threading.Lock()

    def get_profiles(self, cmd):
        """{step: what the profiler gave} of add_auto_profiling(cmd, ...).
        ValueError if it never ran."""
        if cmd not in self._views:
            raise ValueError("No autoprofiler for command: {}, was run".format(
                cmd))
        return self._views[cmd]

    def add_auto_profiling(self, cmd, options, profile_steps):
        """Traces and shows these steps: `cmd` is "scope", "graph", "op" or
        "code", `options` as for tf.profiler.profile."""
        if not self._enabled:
            return
        self._auto_profiles.append((cmd, options, profile_steps[:]))
        self._slow_path_steps |= set(profile_steps)
        self._trace_steps |= set(profile_steps)

    @property
    def profiler(self):
        """The Profiler with the steps that were traced; None if not enabled."""
        if not self._enabled:
            return None
        if self._profiler is None:
            self._profiler = Profiler(get_default_graph())
        return self._profiler

    def trace_next_step(self):
        """Traces the next run."""
        if self._enabled:
            self._trace_next_step = True
            self._slow_path_steps.add(self._step)

    def dump_next_step(self):
        """Writes the profile after the next run."""
        if self._enabled:
            self._dump_next_step = True
            self._slow_path_steps.add(self._step)

    def _is_fast_path(self, step):
        return step not in self._slow_path_steps and not (
            self._auto_tracing and step > WARMUP_STEPS
            and self._traced_steps <= MAX_TRACED_STEPS)

    def _should_trace(self, step, fetches):
        if self._traced_steps > MAX_TRACED_STEPS:
            return False
        if step in self._trace_steps or self._trace_next_step:
            self._traced_steps += 1
            return True
        if not self._auto_tracing or step <= WARMUP_STEPS:
            return False
        names = "-".join(sorted(str(getattr(x, "name", x))
                                for x in nest.flatten(fetches)))
        if names not in self._fetched:
            self._fetched.add(names)
        elif not (self.profiler._coverage < 0.5 and step < MAX_TRACED_STEPS
                  and self._rng.randint(0, 10) < 2):
            return False
        self._traced_steps += 1
        return True

    def _run(self, session, run, fetches, feed_dict, options, run_metadata,
             **kwargs):
        acquired = self._lock.acquire(False)
        step = self._step
        try:
            if not acquired or self._is_fast_path(step):
                return run(session, fetches, feed_dict, options, run_metadata,
                           **kwargs)
            if self._should_trace(step, fetches):
                result = self._traced(session, run, step, fetches, feed_dict,
                                      options, run_metadata, kwargs)
            else:
                result = run(session, fetches, feed_dict, options,
                             run_metadata, **kwargs)
            if step in self._dump_steps or self._dump_next_step:
                self._make_folder()
                self.profiler._write_profile(os.path.join(
                    self._profiler_dir, "profile_%d" % step))
            self._show(step)
            return result
        finally:
            self._step += 1
            self._trace_next_step = self._dump_next_step = False
            if acquired:
                self._lock.release()

    def _traced(self, session, run, step, fetches, feed_dict, options,
                run_metadata, kwargs):
        metadata = run_metadata or RunMetadata()
        traced = RunOptions()
        if options is not None:
            traced.CopyFrom(options)
        traced.trace_level = RunOptions.FULL_TRACE
        result = run(session, fetches, feed_dict, traced, metadata, **kwargs)
        if self._debug:
            self._make_folder()
            with GFile(os.path.join(self._profiler_dir,
                                    "run_meta_%d" % step), "w") as f:
                f.write(str(metadata))
        self.profiler._graph = session.graph
        self.profiler.add_step(step, metadata)
        return result

    def _show(self, step):
        views = {"graph": "profile_graph", "scope": "profile_name_scope",
                 "op": "profile_operations", "code": "profile_python"}
        for cmd, options, steps in self._auto_profiles:
            if step not in steps:
                continue
            if cmd not in views:
                raise ValueError("Unknown cmd: %s\n" % cmd)
            self._views.setdefault(cmd, {})[step] = getattr(
                self.profiler, views[cmd])(options)

    def _make_folder(self):
        if not exists(self._profiler_dir):
            makedirs(self._profiler_dir)

    def __enter__(self):
        global _active
        if not self._enabled:
            return self
        if _active is not None:
            raise errors.InternalError(
                None, None, "Already in context or context not cleaned.")
        _active, run = self, Session.run

        def profiled(session, fetches, feed_dict=None, options=None,
                     run_metadata=None, **kwargs):
            return self._run(session, run, fetches, feed_dict, options,
                             run_metadata, **kwargs)
        self._old_run = run
        Session.run = profiled  # type: ignore
        return self

    def __exit__(self, *unused):
        global _active
        if self._enabled:
            Session.run = self._old_run  # type: ignore
            _active = None
