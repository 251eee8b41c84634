"""tf.profiler.ProfileOptionBuilder, and options as a message."""
import copy

from headrace._src.framework.messages import AdvisorOptionsProto, OptionsProto

TRAINABLE_VARIABLES = "_trainable_variables"
ALL_ADVICE: dict = {name: {} for name in (
    "ExpensiveOperationChecker", "AcceleratorUtilizationChecker", "JobChecker",
    "OperationChecker")}

_NUMBERS = ("max_depth", "min_bytes", "min_peak_bytes", "min_residual_bytes",
            "min_output_bytes", "min_micros", "min_accelerator_micros",
            "min_cpu_micros", "min_params", "min_float_ops", "min_occurrence")
_LISTS = ("account_type_regexes", "start_name_regexes", "trim_name_regexes",
          "show_name_regexes", "hide_name_regexes")


def _preset(**changed):
    return {
        "max_depth": 10000, "min_bytes": 0, "min_micros": 0, "min_params": 0,
        "min_float_ops": 0, "min_occurrence": 0, "order_by": "name",
        "account_type_regexes": [".*"], "start_name_regexes": [".*"],
        "trim_name_regexes": [], "show_name_regexes": [".*"],
        "hide_name_regexes": [], "account_displayed_op_only": True,
        "select": ["micros"], "step": -1, "output": "stdout", **changed}


class ProfileOptionBuilder:
    """Makes the dict of options for tf.profiler.profile and tf.profiler.Profiler.
    Without `options` to begin with: all types and names, by name, with the
    times. Each method sets some and returns the builder; build() returns a
    copy. Shapes and dtypes do not matter here, and nothing is raised: profiling
    checks the options."""

    def __init__(self, options=None):
        self._options = (
            _preset(max_depth=100, account_displayed_op_only=False)
            if options is None else copy.deepcopy(options))

    @staticmethod
    def trainable_variables_parameter():
        """For the numbers of parameters of the trainable variables."""
        return _preset(account_type_regexes=[TRAINABLE_VARIABLES],
                       select=["params"])

    @staticmethod
    def float_operation():
        """For the numbers of floating point operations, the largest first."""
        return _preset(min_float_ops=1, order_by="float_ops",
                       select=["float_ops"])

    @staticmethod
    def time_and_memory(min_micros=1, min_bytes=1, min_accelerator_micros=0,
                        min_cpu_micros=0, min_peak_bytes=0,
                        min_residual_bytes=0, min_output_bytes=0):
        """For times and memory, the longest time first, of nodes with at least
        these."""
        return _preset(
            min_bytes=min_bytes, min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes, min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros, order_by="micros",
            select=["micros", "bytes"])

    def build(self):
        """A copy of the options."""
        return copy.deepcopy(self._options)

    def _set(self, **options):
        self._options.update(options)
        return self

    def with_max_depth(self, max_depth):
        return self._set(max_depth=max_depth)

    def with_min_memory(self, min_bytes=0, min_peak_bytes=0,
                        min_residual_bytes=0, min_output_bytes=0):
        return self._set(
            min_bytes=min_bytes, min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes)

    def with_min_execution_time(self, min_micros=0, min_accelerator_micros=0,
                                min_cpu_micros=0):
        return self._set(
            min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros)

    def with_min_parameters(self, min_params):
        return self._set(min_params=min_params)

    def with_min_occurrence(self, min_occurrence):
        return self._set(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops):
        return self._set(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes):
        """Counts only nodes with a type that one of the expressions fits: the op,
        the device, or a type of an OpLogProto."""
        return self._set(account_type_regexes=copy.copy(account_type_regexes))

    def with_node_names(self, start_name_regexes=None, show_name_regexes=None,
                        hide_name_regexes=None, trim_name_regexes=None):
        """By names: where to begin, what to show, what to leave out, and below
        what to stop. None changes nothing."""
        given = {"start_name_regexes": start_name_regexes,
                 "show_name_regexes": show_name_regexes,
                 "hide_name_regexes": hide_name_regexes,
                 "trim_name_regexes": trim_name_regexes}
        return self._set(**{name: copy.copy(value)
                            for name, value in given.items()
                            if value is not None})

    def account_displayed_op_only(self, is_true):
        return self._set(account_displayed_op_only=is_true)

    def with_empty_output(self):
        return self._set(output="none")

    def with_stdout_output(self):
        return self._set(output="stdout")

    def with_file_output(self, outfile):
        return self._set(output="file:outfile=%s" % outfile)

    def with_timeline_output(self, timeline_file):
        """A file for chrome://tracing; its name gets the step's number."""
        return self._set(output="timeline:outfile=%s" % timeline_file)

    def with_pprof_output(self, pprof_file):
        return self._set(output="pprof:outfile=%s" % pprof_file)

    def order_by(self, attribute):
        return self._set(order_by=attribute)

    def select(self, attributes):
        return self._set(select=copy.copy(attributes))

    def with_step(self, step):
        """The step of Profiler.add_step; -1 is the average of all."""
        return self._set(step=step)


def to_message(options):
    """An OptionsProto of a dict."""
    message = OptionsProto()
    for name in _NUMBERS:
        setattr(message, name,
                options.get(name, 10 if name == "max_depth" else 0))
    message.step = options.get("step", -1)
    message.order_by = options.get("order_by", "name")
    message.output = options.get("output", "stdout")
    message.dump_to_file = options.get("dump_to_file", "")
    message.account_displayed_op_only = options.get(
        "account_displayed_op_only", False)
    for name in (*_LISTS, "select"):
        getattr(message, name).extend(options.get(name, []))
    return message


def advice_message(options):
    """An AdvisorOptionsProto of {checker: {option: value}}, or None."""
    message = AdvisorOptionsProto()
    for checker, values in (options or {}).items():
        entry = message.checkers[checker]
        for name, value in values.items():
            entry.options[name] = value
    return message


_OUTPUTS = {"file": ("outfile",), "none": (), "pprof": ("outfile",),
            "stdout": (), "timeline": ("outfile",)}


class Output:
    """Where a view goes: `kind` and its options. ValueError, whose text names
    what was wrong, for others."""

    def __init__(self, text):
        self.kind, _, rest = text.partition(":")
        if self.kind not in _OUTPUTS:
            raise ValueError("Unknown output type: %s, valid types: %s"
                             % (self.kind, ",".join(_OUTPUTS)))
        entries = [e.partition("=") for e in rest.split(",") if e]
        self.options = {name: value for name, _, value in entries}
        for name in self.options:
            if name not in _OUTPUTS[self.kind]:
                raise ValueError("Unrecognized option %s of output %s"
                                 % (name, self.kind))
        for name in _OUTPUTS[self.kind]:
            if name not in self.options:
                raise ValueError("Missing option %s of output %s, as in "
                                 "%s:%s=FILE" % (name, self.kind, self.kind,
                                                 name))

    def __str__(self):
        return self.kind + ":" + ",".join(
            "%s=%s" % x for x in self.options.items())


def as_text(options, output):
    """The options as the table that goes before a report."""
    rows = [(name, getattr(options, name)) for name in _NUMBERS]
    rows += [("step", options.step), ("order_by", options.order_by)]
    rows += [(name, ",".join(getattr(options, name))) for name in _LISTS]
    rows += [("account_displayed_op_only",
              "true" if options.account_displayed_op_only else "false"),
             ("select", ",".join(sorted(set(options.select)))),
             ("output", output)]
    return "".join("%-28s%s\n" % ("-" + name, value) for name, value in rows)
