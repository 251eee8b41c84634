"""tensorflow.python.eager.function and ops.template: functions whose calls are
kept apart, and templates of them."""
import itertools

from headrace._src.autograph.function import function
from headrace._src.variables.template import make_template


def defun(func=None, input_signature=None, autograph=True,
          experimental_autograph_options=None,
          experimental_relax_shapes=False):
    """tf.function: each call adds the nodes of the Python function to the
    graph. Without `func`, a decorator."""
    return function(func, input_signature, autograph,
                    experimental_autograph_options, experimental_relax_shapes)


def defun_with_attributes(func=None, input_signature=None, attributes=None,
                          autograph=True, experimental_autograph_options=None,
                          experimental_relax_shapes=False):
    """defun; `attributes` tell other runtimes how to run the function, and
    change nothing here."""
    del attributes
    return defun(func, input_signature, autograph,
                 experimental_autograph_options, experimental_relax_shapes)


def make_template_internal(name_, func_, create_scope_now_=False,
                           unique_name_=None, custom_getter_=None,
                           create_graph_function_=False, **kwargs):
    """make_template; with create_graph_function_, of defun(func_)."""
    if create_graph_function_:
        func_ = defun(func_)
    return make_template(name_, func_, create_scope_now_, unique_name_,
                         custom_getter_, **kwargs)


def skip_common_stack_elements(stacktrace, base_case):
    """The end of a list, from where another list is different; at least the
    last element."""
    same = sum(1 for _ in itertools.takewhile(
        lambda pair: pair[0] == pair[1], zip(stacktrace, base_case)))
    return stacktrace[min(same, len(stacktrace) - 1):] if stacktrace else []
