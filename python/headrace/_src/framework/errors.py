"""Errors of runs: one class for each status code, under TensorFlow's names.

Every class derives from OpError, which holds `message`, `error_code`, and,
where the failing node is known, `node_def` and `op`.
"""
import re

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """What a failed run raises. The message names node, argument, what was
    got and wanted, and the line of the program that made the node."""

    def __init__(self, node_def, op, message, error_code):
        super().__init__(message)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code

    @property
    def message(self):
        return self._message

    @property
    def error_code(self):
        return self._error_code

    @property
    def op(self):
        """The Operation that failed, or None if it is not known."""
        return self._op

    @property
    def node_def(self):
        """The NodeDef of the operation that failed, or None."""
        if self._node_def is None and self._op is not None:
            self._node_def = self._op.node_def
        return self._node_def

    def __str__(self):
        return self._message

    def __reduce__(self):
        # Not the operation, with which the whole graph would go.
        if type(self) in (OpError, UnknownError):
            return type(self), (self._node_def, None, self._message,
                                self._error_code)
        return type(self), (self._node_def, None, self._message)


def _define(name, code, doc):
    def init(self, node_def, op, message):
        OpError.__init__(self, node_def, op, message, code)
    cls = type(name, (OpError,), {
        "__init__": init, "__doc__": doc, "__module__": __name__})
    _classes[code] = cls
    return cls


_classes = {}
CancelledError = _define(
    "CancelledError", CANCELLED, "The run or the session was cancelled.")


class UnknownError(OpError):
    """An error of no known kind."""

    def __init__(self, node_def, op, message, error_code=UNKNOWN):
        super().__init__(node_def, op, message, error_code)


_classes[UNKNOWN] = UnknownError
InvalidArgumentError = _define(
    "InvalidArgumentError", INVALID_ARGUMENT,
    "A value, shape or attribute that an operation cannot take.")
DeadlineExceededError = _define(
    "DeadlineExceededError", DEADLINE_EXCEEDED, "The time was up.")
NotFoundError = _define(
    "NotFoundError", NOT_FOUND, "A file, key, node or kernel is not there.")
AlreadyExistsError = _define(
    "AlreadyExistsError", ALREADY_EXISTS, "What was to be made exists.")
PermissionDeniedError = _define(
    "PermissionDeniedError", PERMISSION_DENIED, "The caller may not do that.")
ResourceExhaustedError = _define(
    "ResourceExhaustedError", RESOURCE_EXHAUSTED,
    "Memory or another resource ran out.")
FailedPreconditionError = _define(
    "FailedPreconditionError", FAILED_PRECONDITION,
    "The state is not ready, as when a variable has no value yet.")
AbortedError = _define("AbortedError", ABORTED, "The operation was aborted.")
OutOfRangeError = _define(
    "OutOfRangeError", OUT_OF_RANGE, """Past the end, as of a queue, a file
    or a dataset's iterator: what ends an epoch.

    `op` and `node_def` are those of the node that failed, whatever its shapes and
    dtypes, or None; `message` says why. As every OpError, str() gives the
    message.""")
UnimplementedError = _define(
    "UnimplementedError", UNIMPLEMENTED, "Not supported.")
InternalError = _define(
    "InternalError", INTERNAL, "An error of the runtime itself.")
UnavailableError = _define(
    "UnavailableError", UNAVAILABLE, "A peer cannot be reached now.")
DataLossError = _define("DataLossError", DATA_LOSS, "Data are damaged.")
UnauthenticatedError = _define(
    "UnauthenticatedError", UNAUTHENTICATED,
    "The request has no valid credentials.")

_NODE = r"\{\{node ([^ }]+)\}\}"
_RETVAL = r"_retval_(.+)_\d+_\d+$"  # the node of a fetch


# What to do about an error whose message has this text.
_ADVICE = (
    (FAILED_PRECONDITION, "Table not initialized",
     "Run tf.tables_initializer() in this session first."),
    (INVALID_ARGUMENT, "You must feed a value for placeholder",
     "Give it one by the feed_dict of run()."),
    (INVALID_ARGUMENT, "Cannot assign a device",
     "tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) places such "
     "nodes where they can run."),
    (OUT_OF_RANGE, "End of sequence",
     "The dataset has no more elements: run the iterator's initializer again, "
     "make the dataset longer by repeat(), or catch tf.errors.OutOfRangeError."),
    (OUT_OF_RANGE, "is closed and has insufficient elements",
     "The queue's producers have ended, or none was started: "
     "tf.train.start_queue_runners() starts them."),
)
_MOST_INPUTS = 4


def _advice(code, message, graph):
    """What to do, where that is known, or ""."""
    unset = re.search(r"Attempting to use uninitialized value (\S+)|"
                      r"Error while reading resource variable (\S+) from",
                      message)
    if code in (FAILED_PRECONDITION, NOT_FOUND) and unset is not None:
        name = unset.group(1) or unset.group(2)
        local = graph is not None and any(
            getattr(getattr(v, "op", None), "name", None) == name
            for v in graph._collections.get("local_variables", ()))
        return ("Run tf.%s_variables_initializer() in this session first%s."
                % (("local", "") if local else
                   ("global", ", or restore a checkpoint by tf.train.Saver")))
    for of_code, text, advice in _ADVICE:
        if code == of_code and text in message:
            return advice
    return ""


def _input_lines(op):
    """Where the inputs of the operation were made, if not in its own line."""
    lines = []
    for i, t in enumerate(op.inputs):
        source = t.op.source
        if source and source != op.source and len(lines) < _MOST_INPUTS:
            lines.append("\n\t input %d: '%s' made at %s" % (i, t.name, source))
    return "".join(lines)


def make(code, message, graph):
    """The exception for a status; `graph` finds the operation it names, whose
    inputs are named too. What to do comes last."""
    op = None
    found = re.search(_NODE, message)
    if graph is not None and found is not None:
        op = graph._operation(found.group(1))
        fetched = re.match(_RETVAL, found.group(1))
        if op is None and fetched is not None:
            op = graph._operation(fetched.group(1))
    if op is not None:
        message += _input_lines(op)
    advice = _advice(code, message, graph)
    if advice:
        message += "\n\t " + advice
    cls = _classes.get(code)
    if cls is None:
        return OpError(None, op, message, code)
    return cls(None, op, message)


def exception_type_from_error_code(error_code):
    """The class for a status code."""
    return _classes[error_code]


def error_code_from_exception_type(cls):
    """The status code of a class."""
    return cls(None, None, "").error_code


class raise_exception_on_not_ok_status:
    """`with raise_exception_on_not_ok_status() as status`: the error of `status`
    is raised at the end of the block, as programs of the C API expect.

    The functions here raise their errors themselves, so `status`, with `code` and
    `message`, stays as it is unless the program sets it. No tensor is made, so
    shapes and dtypes do not matter. OpError of the class of the code that was
    set."""

    class _Status:
        code = OK
        message = ""

    def __enter__(self):
        self._status = self._Status()
        return self._status

    def __exit__(self, kind, error, trace):
        code, message = self._status.code, self._status.message
        if kind is None and code != OK:
            raise exception_type_from_error_code(code)(None, None, message)
        return False
