"""Branches and loops: cond, case, while_loop; Assert."""
import contextlib
import functools

import numpy as np

from headrace import raw_ops as _raw
from headrace._headrace import EagerTensor, Tensor, executing_eagerly
from headrace._loading import load
from headrace._src.control.contexts import (
    CondContext, WhileContext, collapse, expand, merge, switch)
from headrace._src.framework import dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework import nest
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import (
    constant, constant_value, convert_n_to_tensor, convert_to_tensor)
from headrace._src.framework.tensor_shape import TensorShape


def _is_symbolic(x):
    """True for a tensor of a graph."""
    return isinstance(x, Tensor) and type(x) is not EagerTensor


def _unpack_if_single(result):
    if (isinstance(result, (list, tuple)) and not hasattr(result, "_fields")
            and len(result) == 1):
        return result[0]
    return result


def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None,
         fn2=None):
    """What `true_fn()` or `false_fn()` returns, as the scalar bool `pred`
    says; only the nodes of that one run.

    Both return the same structure, of the same types. A list or tuple of one
    element comes back as the element, unless `strict`. Nodes made outside of
    the functions run in any case. Raises TypeError or ValueError if the
    functions, or what they return, do not fit.

    The results have the type of both branches and what their shapes have in
    common. `pred`: a bool scalar; Python's bool and tensors of another type are
    TypeErrors."""
    if fn1 is not None:
        if true_fn is not None:
            raise TypeError("cond(): true_fn and fn1 may not be set "
                            "simultaneously.")
        true_fn = fn1
    if fn2 is not None:
        if false_fn is not None:
            raise TypeError("cond(): false_fn and fn2 may not be set "
                            "simultaneously.")
        false_fn = fn2
    if not callable(true_fn):
        raise TypeError("true_fn must be callable.")
    if not callable(false_fn):
        raise TypeError("false_fn must be callable.")
    if executing_eagerly() and not _is_symbolic(pred):
        result = true_fn() if pred else false_fn()
        return result if strict else _unpack_if_single(result)
    with _graph.name_scope(name, "cond", [pred]):
        if isinstance(pred, bool):
            raise TypeError("pred must not be a Python bool")
        pred = convert_to_tensor(pred)
        if_false, if_true = switch(pred, pred)
        pivot_true = _raw.Identity(if_true, name="switch_t")
        pivot_false = _raw.Identity(if_false, name="switch_f")
        pred = _raw.Identity(pred, name="pred_id")

        results, contexts = [], []
        for function, pivot, branch, what in (
                (true_fn, pivot_true, 1, "true_fn"),
                (false_fn, pivot_false, 0, "false_fn")):
            context = CondContext(pred, pivot, branch)
            contexts.append(context)
            with context._inside():
                original, flat = context.build(function)
                if original is None:
                    raise ValueError("%s must have a return value." % what)
                context._leave(flat)
            results.append((original, flat))
        (original, flat_true), (original_false, flat_false) = results
        if not strict:
            original = _unpack_if_single(original)
            original_false = _unpack_if_single(original_false)
        # An Operation stands for a tensor. Indices of IndexedSlices may have
        # two types.
        try:
            nest._assert_same(original, original_false, True, True, False)
        except (TypeError, ValueError) as error:
            raise type(error)("Incompatible return types of true_fn and "
                              "false_fn: %s" % error) from None
        if not flat_true:
            raise ValueError("true_fn and false_fn must return at least one "
                             "result.")
        _widen_indices(original, original_false, contexts, results)
        merges = []
        for t, f in zip(flat_true, flat_false):
            if t.dtype.base_dtype != f.dtype.base_dtype:
                raise ValueError(
                    "Outputs of true_fn and false_fn must have the same type: "
                    "%s, %s" % (t.dtype.name, f.dtype.name))
            merges.append(merge([f, t]))
        merges = collapse(nest.flatten(original), merges)
        result = nest.pack_sequence_as(original, merges)
        return result if strict else _unpack_if_single(result)


def _widen_indices(original, original_false, contexts, results):
    """Where one branch gives IndexedSlices with indices of int64 and the other
    of int32, both become int64."""
    at = 0  # among the flat tensors
    for pair in zip(nest.flatten(original), nest.flatten(original_false)):
        if all(isinstance(x, IndexedSlices) for x in pair):
            types = {x.indices.dtype.base_dtype for x in pair}
            for context, (_, flat) in zip(contexts, results):
                if len(types) > 1 and flat[at + 1].dtype != dtypes.int64:
                    with context._inside():
                        flat[at + 1] = _raw.Cast(flat[at + 1],
                                                 DstT=dtypes.int64)
        at += len(expand(pair[:1]))


def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """cond, or a plain call where `pred` is known now."""
    for argument, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError("smart_cond: `%s` must be callable. Got %r"
                            % (argument, function))
    value = pred
    if isinstance(pred, Tensor):
        value = constant_value(pred)
    if value is None:
        return cond(pred, true_fn, false_fn, name=name)
    return true_fn() if value else false_fn()


def smart_constant_value(pred):
    """The value of a bool scalar if it is known now, or None: of a Tensor, of a
    bool of Python, of 0 and of 1. TypeError for anything else."""
    if isinstance(pred, Tensor):
        return constant_value(pred)
    if isinstance(pred, (bool, np.bool_)) or isinstance(pred, int) and (
            pred in (0, 1)):
        return bool(pred)
    raise TypeError("`pred` must be a Tensor, or a Python bool, or 1 or 0. "
                    "Found instead: %s" % type(pred))


def smart_case(pred_fn_pairs, default=None, exclusive=False, name="smart_case"):
    """case, where the functions of predicates that are known now are called or
    left out. Predicates may be bools of Python too.

    `pred_fn_pairs`: pairs of a bool scalar and a function, or a dict of them.
    Returns what the function of the first true predicate returns, or that of
    `default`. `exclusive`: InvalidArgumentError in the run if several are true.
    TypeError for what is no such pair."""
    return case_by(smart_cond, pred_fn_pairs, default, exclusive, name,
                   allow_python_preds=True)


def while_loop(cond, body, loop_vars, shape_invariants=None,
               parallel_iterations=10, back_prop=True, swap_memory=False,
               name=None, maximum_iterations=None,
               return_same_structure=False):
    """Repeats `body` while `cond` holds; returns the loop variables' last
    values.

    Both functions take the loop variables, a (nested) list or tuple of tensors
    and TensorArrays; `cond` returns a scalar bool, `body` new values in the
    same structure, of the same types. Their shapes may not become less
    specific from one iteration to the next, unless `shape_invariants` (the
    structure again, of TensorShapes) says so. At most `parallel_iterations`
    iterations run at a time, and `maximum_iterations` in all. A single loop
    variable comes back without its list unless `return_same_structure`.

    Tensors may be of any shape and dtype. TypeError for functions that cannot
    be called and another structure; ValueError for no loop variables, another
    type, a shape that is less specific, or a `cond` that gives no scalar."""
    with _graph.name_scope(name, "while", nest.flatten(loop_vars)
                           if nest.is_nested(loop_vars) else [loop_vars]):
        if not loop_vars:
            raise ValueError("No loop variables provided")
        if not callable(cond):
            raise TypeError("cond must be callable.")
        if not callable(body):
            raise TypeError("body must be callable.")
        if parallel_iterations < 1:
            raise TypeError("parallel_iterations must be a positive integer.")
        one = len(loop_vars) == 1 and not return_same_structure
        if maximum_iterations is not None:
            maximum = convert_to_tensor(maximum_iterations,
                                        name="maximum_iterations")
            if maximum.get_shape().ndims != 0:
                raise ValueError("maximum_iterations must be a scalar, saw "
                                 "shape: %s" % maximum.get_shape())
            counter = constant(0, dtype=maximum.dtype.base_dtype,
                               name="iteration_counter")
            user_cond, user_body = cond, body
            if one:
                loop_vars = (counter, loop_vars[0])

                def cond(i, v):
                    return _raw.LogicalAnd(i < maximum, user_cond(v))

                def body(i, v):
                    following = i + 1  # before the user's nodes
                    result = user_body(v)
                    if isinstance(result, (list, tuple)) and not nest.is_nested(
                            v) and len(result) == 1:
                        result = result[0]
                    return following, result
            else:
                loop_vars = (counter, loop_vars)

                def cond(i, v):
                    return _raw.LogicalAnd(i < maximum, user_cond(*v))

                def body(i, v):
                    following = i + 1
                    result = user_body(*v)
                    if nest.is_nested(result) and type(result) is not type(v):
                        result = type(v)(result) if isinstance(
                            v, (list, tuple)) and not hasattr(
                                v, "_fields") else result
                    return following, result
        if _graph.get_default_graph()._eager:
            result = load("_src.eager.control").while_loop(
                cond, body, loop_vars,
                return_same_structure or maximum_iterations is not None)
            return result if maximum_iterations is None else result[1]
        if shape_invariants is not None:
            if maximum_iterations is not None:
                if one and isinstance(shape_invariants, (list, tuple)):
                    shape_invariants = shape_invariants[0]
                shape_invariants = (TensorShape([]), shape_invariants)
            shape_invariants = _shapes_like(loop_vars, shape_invariants)
        context = WhileContext(parallel_iterations, back_prop, swap_memory,
                               maximum_iterations)
        result = context.build(cond, body, loop_vars, shape_invariants,
                               return_same_structure)
        return result if maximum_iterations is None else result[1]


def _shapes_like(loop_vars, invariants):
    """The invariants in the structure of the variables: a TensorShape for each
    tensor, a list of them for an object of several."""
    if not nest.is_nested(loop_vars):
        if hasattr(invariants, "_component_specs"):  # a TypeSpec
            return _shapes_of(loop_vars, invariants)
        if hasattr(loop_vars, "_flow_components"):
            return loop_vars._flow_invariants(TensorShape(invariants))
        return TensorShape(invariants)
    if isinstance(loop_vars, dict):
        return {k: _shapes_like(v, invariants[k])
                for k, v in loop_vars.items()}
    if (not isinstance(invariants, (list, tuple))
            or len(invariants) != len(loop_vars)):
        raise ValueError("The two structures don't have the same nested "
                         "structure: loop_vars %s, shape_invariants %s"
                         % (loop_vars, invariants))
    return [_shapes_like(v, s) for v, s in zip(loop_vars, invariants)]


def _shapes_of(variable, spec):
    """The shapes of the tensors of values of a TypeSpec, of which the variable
    is one."""
    if not spec.is_compatible_with(variable):
        raise TypeError("The shape invariant %s is not that of %s"
                        % (spec, variable))
    specs = nest.flatten(spec._component_specs)
    if not hasattr(variable, "_flow_components"):
        return specs[0].shape
    return [part.shape for part in specs]


def Assert(condition, data, summarize=None, name=None):
    """An Operation that fails with `data` in its message unless `condition`
    holds. Of `data`, only strings and int32 are computed where it holds.

    `condition`: a scalar bool; `data`: a list of tensors of any types and
    shapes; `summarize`: how many elements of each are shown (3). The run fails
    with InvalidArgumentError. ValueError or TypeError for what cannot become a
    tensor."""
    if executing_eagerly():
        return load("_src.eager.control").check(condition, data, summarize)
    with _graph.name_scope(name, "Assert", [condition] + list(data)):
        tensors = convert_n_to_tensor(data)  # nodes that TensorFlow makes too
        condition = convert_to_tensor(condition, name="Condition")

        def check():
            return _raw.Assert(condition, list(data), name="Assert",
                               summarize=3 if summarize is None else summarize)

        if all(x.dtype.base_dtype in (dtypes.string, dtypes.int32)
               for x in tensors):
            return check()
        return cond(condition, _raw.NoOp, check, name="AssertGuard").op


def case(pred_fn_pairs, default=None, exclusive=False, strict=False,
         name="case"):
    """What the function of the first true predicate returns; that of `default`
    if none is true. `pred_fn_pairs`: [(bool scalar, function)] or a dict.
    `exclusive`: it is an error if more than one is true. Without a default it
    is an error if none is."""
    return case_by(functools.partial(cond, name="cond"), pred_fn_pairs, default,
                   exclusive, name, strict=strict)


def case_by(cond_fn, pred_fn_pairs, default, exclusive, name,
            allow_python_preds=False, **cond_kwargs):
    """As `case`, by calls cond_fn(pred, true_fn, false_fn, **cond_kwargs).
    `allow_python_preds`: predicates may be bools of Python."""
    pairs = _checked_pairs(pred_fn_pairs, allow_python_preds)
    if default is not None and not callable(default):
        raise TypeError("default must be callable.")
    predicates = [p for p, _ in pairs]
    with _graph.name_scope(name, "case", predicates):
        checks = []
        if exclusive and len(pairs) > 1:
            stacked = _raw.Pack(predicates, name="preds_c")
            count = _raw.Sum(_raw.Cast(stacked, DstT="int32"), constant([0]),
                             name="num_true_conds")
            checks.append(Assert(
                _raw.LessEqual(count, constant(1, name="n_true_conds")),
                ["Input error: exclusive=True: more than 1 conditions (%s) "
                 "evaluated as True:" % _names(predicates), stacked],
                summarize=len(predicates)))
        if default is None:
            # The last function is what remains.
            last_pred, last_fn = pairs[-1]
            pairs = pairs[:-1]
            any_true = predicates[0]
            for p in predicates[1:]:
                any_true = _raw.LogicalOr(any_true, p)
            message = ("Input error: None of conditions evaluated as True. "
                       "Conditions: (%s), Values:" % _names(predicates))

            def default():
                check = Assert(any_true, [message, _raw.Pack(predicates)],
                               summarize=len(predicates))
                with _graph.control_dependencies([check]):
                    return last_fn()

        def chain(rest):
            if not rest:
                return default
            pred, function = rest[0]
            return lambda: cond_fn(pred, function, chain(rest[1:]),
                                   **cond_kwargs)

        with _graph.control_dependencies(checks) if checks else \
                contextlib.nullcontext():
            return chain(pairs)()


def _checked_pairs(pred_fn_pairs, allow_python_preds):
    """[(predicate, function)]; TypeError or ValueError for what is not."""
    if not isinstance(pred_fn_pairs, (list, tuple, dict)):
        raise TypeError("fns must be a list, tuple, or dict")
    if isinstance(pred_fn_pairs, dict):
        pairs = sorted(pred_fn_pairs.items(), key=lambda item: item[0].name)
    else:
        pairs = list(pred_fn_pairs)
    for pair in pairs:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        pred, function = pair
        if not callable(function):
            raise TypeError("fn for pred %s must be callable."
                            % _names([pred]))
        if allow_python_preds and isinstance(pred, bool):
            continue
        if not isinstance(pred, Tensor) and not hasattr(
                pred, "_as_graph_element"):
            raise TypeError("pred must be a Tensor, got: %s" % (pred,))
        if pred.dtype.base_dtype.name != "bool":
            raise TypeError("pred must be Tensor of type bool: %s" % _names([pred]))
    if not pairs:
        raise ValueError("pred_fn_pairs must not be empty")
    return pairs


def _names(predicates):
    return ", ".join(str(p) if isinstance(p, EagerTensor)
                     else getattr(p, "name", str(p)) for p in predicates)
