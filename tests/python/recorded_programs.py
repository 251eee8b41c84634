"""A pytest plugin (-p recorded_programs) that writes down what sessions run,
for tests/conformance/run_programs_without_memory.py to run again.

RECORDED_PROGRAMS names the file that it writes, a pickled list of (name,
GraphDef's bytes, steps). Of all sessions those are kept that run an op which
none before them ran, nor RECORDED_BUT, a file of names, has.
"""
import os
import pathlib
import pickle

import numpy as np

import headrace as tf

NOT_NUMPY = (tf.string, tf.resource, tf.variant)


def called_functions(node, functions):
    """The FunctionDefs that its attrs name, and what those call."""
    found, todo = {}, [node]
    while todo:
        for attr in todo.pop().attr.values():
            for name in [attr.func.name] + [f.name for f in attr.list.func]:
                if name in functions and name not in found:
                    found[name] = functions[name]
                    todo += functions[name].node_def
    return found.values()


def ops_run(graph_def, steps):
    """The ops of the nodes that the steps need, and of the functions that those
    call."""
    nodes = {n.name: n for n in graph_def.node}
    functions = {f.signature.name: f for f in graph_def.library.function}
    todo = [name.rsplit(":", 1)[0] for step in steps for name in step[0]]
    todo += [name for step in steps for name in step[1]]
    seen, ops = set(), set()
    while todo:
        name = todo.pop()
        if name in seen or name not in nodes:
            continue
        seen.add(name)
        node = nodes[name]
        ops.add(node.op)
        if node.op in functions:
            ops.update(n.op for n in functions[node.op].node_def)
        for function in called_functions(node, functions):
            ops.update(n.op for n in function.node_def)
        todo += [i.lstrip("^").split(":")[0] for i in node.input]
    return ops


def ops_run_by(program):
    _, graph_def, steps = program
    return ops_run(tf.GraphDef.FromString(graph_def), steps)


def endpoints(graph, fetches):
    """(names of tensors, names of operations) of anything fetched."""
    if isinstance(fetches, dict):
        fetches = list(fetches.values())
    if isinstance(fetches, (list, tuple)) and not hasattr(fetches, "indices"):
        pairs = [endpoints(graph, f) for f in fetches]
        return ([t for ts, _ in pairs for t in ts],
                [o for _, os in pairs for o in os])
    if hasattr(fetches, "indices"):
        return endpoints(graph, [fetches.indices, fetches.values])
    found = graph.as_graph_element(fetches)
    if isinstance(found, tf.Operation):
        return [], [found.name]
    return [found.name], []


def fed(graph, feed_dict):
    """(name, value) of plain numbers."""
    pairs = []
    for key, value in (feed_dict or {}).items():
        tensor = graph.as_graph_element(key)
        if tensor.dtype.base_dtype in NOT_NUMPY:
            raise TypeError("no plain numbers")
        pairs.append((tensor.name, np.array(
            value, tensor.dtype.base_dtype.as_numpy_dtype)))
    return pairs


class Recorder:
    def __init__(self, path, known):
        self.path, self.known = path, known
        self.sessions, self.programs, self.test = {}, [], ""

    def ran(self, session, fetches, feed_dict):
        key = id(session)
        if key not in self.sessions:
            self.sessions[key] = (session, [])
        try:
            tensors, operations = endpoints(session.graph, fetches)
            step = (tensors, operations, fed(session.graph, feed_dict))
        except (AttributeError, TypeError, ValueError, KeyError):
            return  # the steps that need it fail without it
        self.sessions[key][1].append(step)

    def end_of_test(self):
        for session, steps in self.sessions.values():
            if not steps or len(steps) > 60:
                continue
            graph_def = session.graph.as_graph_def()
            ops = ops_run(graph_def, steps)
            if ops <= self.known or "PyFunc" in str(sorted(ops)):
                continue
            self.known |= ops
            self.programs.append((self.test, graph_def.SerializeToString(),
                                  steps))
        self.sessions.clear()


recorder = None


def pytest_configure(config):
    global recorder
    known = os.environ.get("RECORDED_BUT")
    recorder = Recorder(
        pathlib.Path(os.environ["RECORDED_PROGRAMS"]),
        set(pathlib.Path(known).read_text().split()) if known else set())
    plain = tf.Session.run

    def run(session, fetches, feed_dict=None, *rest, **options):
        result = plain(session, fetches, feed_dict, *rest, **options)
        recorder.ran(session, fetches, feed_dict)
        return result

    tf.Session.run = run


def pytest_runtest_setup(item):
    recorder.test = item.nodeid.replace(" ", "_")


def pytest_runtest_teardown(item):
    recorder.end_of_test()


def pytest_unconfigure(config):
    recorder.path.write_bytes(pickle.dumps(recorder.programs))
