"""tensorflow.python.util.tf_stack and framework.traceable_stack: where a program
calls, and objects that know where they were made."""
import collections
import inspect
import linecache
import threading

from headrace._src.compat.inspection import get_func_code, get_func_name

TB_FILENAME, TB_LINENO, TB_FUNCNAME, TB_CODEDICT = range(4)

StackFrame = collections.namedtuple(
    "StackFrame", "filename lineno name globals func_start_lineno")

_source_mapper_stacks: dict = collections.defaultdict(list)  # by thread
_source_filter_stacks: dict = collections.defaultdict(list)


class StackTraceTransform:
    """A context in which extract_stack shows other frames."""
    _stack_dict: dict
    parent = None

    def __enter__(self):
        self.reset()
        stack = self._stack_dict[threading.get_ident()]
        self.parent = stack[-1] if stack else None
        stack.append(self)
        return self

    def __exit__(self, *error):
        top = self._stack_dict[threading.get_ident()].pop()
        assert top is self, "Concurrent access?"

    def reset(self):
        """Called at the start of the context."""


class StackTraceMapper(StackTraceTransform):
    """Frames come from other source code:
    get_effective_source_map() is {(file, line): (file, line, function)}."""
    _stack_dict = _source_mapper_stacks

    def reset(self):
        self._effective_source_map = None

    def get_effective_source_map(self):
        raise NotImplementedError("subclasses need to override this")


class StackTraceFilter(StackTraceTransform):
    """Frames of the files that get_filtered_filenames() names are left out."""
    _stack_dict = _source_filter_stacks

    def reset(self):
        self._filtered_filenames = None

    def get_filtered_filenames(self):
        raise NotImplementedError("subclasses need to override this")


class CurrentModuleFilter(StackTraceFilter):
    """Leaves out the frames of the file that makes it."""

    def __init__(self):
        self._filename = inspect.currentframe().f_back.f_code.co_filename

    def get_filtered_filenames(self):
        if self._filtered_filenames is None:
            outer = (self.parent.get_filtered_filenames() if self.parent
                     else frozenset())
            self._filtered_filenames = outer | {self._filename}
        return self._filtered_filenames


def extract_stack(limit=-1):
    """The StackFrames of the caller, its own last; `limit` of them if it is not
    negative."""
    thread = threading.get_ident()
    mappers = _source_mapper_stacks[thread]
    filters = _source_filter_stacks[thread]
    sources = mappers[-1].get_effective_source_map() if mappers else {}
    left_out = filters[-1].get_filtered_filenames() if filters else ()
    found, frame = [], inspect.currentframe().f_back
    while frame is not None and (limit is None or len(found) != limit):
        code = frame.f_code
        place = code.co_filename, frame.f_lineno, code.co_name
        place = sources.get(place[:2], place)
        if place[0] not in left_out:
            found.append(StackFrame(*place, frame.f_globals,
                                    code.co_firstlineno))
        frame = frame.f_back
    return found[::-1]


def convert_stack(stack, include_func_start_lineno=False):
    """Frames as traceback has them: (file, line, function, source line or None),
    and the function's first line if asked for."""
    found = []
    for frame in stack:
        linecache.checkcache(frame.filename)
        line = linecache.getline(frame.filename, frame.lineno, frame.globals)
        found.append((frame.filename, frame.lineno, frame.name,
                      line.strip() if line else None)
                     + ((frame.func_start_lineno,)
                        if include_func_start_lineno else ()))
    return tuple(found)


class TraceableObject:
    """An object and the line where it was given."""
    SUCCESS, HEURISTIC_USED, FAILURE = range(3)

    def __init__(self, obj, filename=None, lineno=None):
        self.obj = obj
        self.filename = filename
        self.lineno = lineno

    def set_filename_and_line_from_caller(self, offset=0):
        """Notes the line of the caller, or of one of those around it: the
        outermost one, with HEURISTIC_USED, if there are not so many."""
        frame, left = inspect.currentframe().f_back, offset
        while left and frame.f_back is not None:
            frame, left = frame.f_back, left - 1
        self.filename, self.lineno = frame.f_code.co_filename, frame.f_lineno
        return self.HEURISTIC_USED if left else self.SUCCESS

    def copy_metadata(self):
        """The line without the object."""
        return type(self)(None, self.filename, self.lineno)


class TraceableStack:
    """A stack of TraceableObjects."""

    def __init__(self, existing_stack=None):
        self._stack = list(existing_stack or ())

    def push_obj(self, obj, offset=0):
        """Puts an object on top, with the line of the caller, or of one of
        those around it."""
        self._stack.append(TraceableObject(obj))
        return self._stack[-1].set_filename_and_line_from_caller(offset + 1)

    def pop_obj(self):
        return self._stack.pop().obj

    def peek_top_obj(self):
        return self._stack[-1].obj

    def peek_objs(self):
        """The objects, the newest first."""
        return (x.obj for x in reversed(self._stack))

    def peek_traceable_objs(self):
        return reversed(self._stack)

    def __len__(self):
        return len(self._stack)

    def copy(self):
        return type(self)(self._stack)


def device_blocks(places):
    """[TraceableObject], the innermost first, of Graph._device_places."""
    return [TraceableObject(_display_name(wanted), *place)
            for wanted, *place in reversed(places)]


def _display_name(wanted):
    if not callable(wanted):
        return str(wanted)
    code = get_func_code(wanted)
    return "%s<%s, %d>" % (
        get_func_name(wanted), code.co_filename if code else "unknown",
        code.co_firstlineno if code else -1)


def places_by_name(places):
    """{name: TraceableObject without an object} of Graph._colocation_places."""
    return {name: TraceableObject(None, *place)
            for name, place in places.items()}
