"""The graph of objects that checkpoints of tf.train.Checkpoint and of Keras keep:
which object has which under what name, and where the value of each variable is.

An object says what it has by `_checkpoint_children`, [(name, object)], and an
optimizer its slots by `_checkpoint_slots`, [(slot's name, variable, slot)].
Lists and dicts have their elements. Tuples are not followed, as in TensorFlow."""
from headrace._src.framework.messages import TrackableObjectGraph
from headrace._src.training.python_state import PythonState
from headrace._src.variables.base import Variable

KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
_SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"
VALUE = "VARIABLE_VALUE"
_STATE_SUFFIX = "/.ATTRIBUTES/py_state"
_STATE = "py_state"
# Of iterators, which make what is saved of them by `_checkpoint_saveable`.
_ITERATOR_SUFFIX = "/.ATTRIBUTES/ITERATOR"
_ITERATOR = "ITERATOR"


def is_object(thing):
    """Whether checkpoints follow a value."""
    return isinstance(thing, (Variable, list, dict)) or hasattr(
        thing, "_checkpoint_children")


def children(thing):
    """[(name, object)]: what an object has. ValueError for a dict with keys that
    are no strings but have variables."""
    if isinstance(thing, Variable):
        return []
    if isinstance(thing, dict):
        found = [(key, x) for key, x in thing.items() if is_object(x)]
        for key, x in found:
            if not isinstance(key, str) and variables_of(x):
                raise ValueError("A dict that a checkpoint has needs strings as "
                                 "keys, got %r" % (key,))
        return [(key, x) for key, x in found if isinstance(key, str)]
    if isinstance(thing, list):
        return [(str(i), x) for i, x in enumerate(thing) if is_object(x)]
    return [(name, x) for name, x in thing._checkpoint_children()
            if is_object(x)]


def slots(thing):
    made = getattr(thing, "_checkpoint_slots", None)
    return made() if made else []


def variables_of(root):
    """The variables that an object and those below have, once each."""
    return [x for x in _objects(root)[0] if isinstance(x, Variable)]


def _objects(root):
    """(objects, the nearest first; {id: path from the root})"""
    found, paths = [root], {id(root): ()}
    for thing in found:
        for name, child in children(thing):
            if id(child) not in paths:
                paths[id(child)] = paths[id(thing)] + (name,)
                found.append(child)
    return found, paths


def _escaped(name):
    # "/" separates names, and what begins with one "." is the format's.
    return name.replace(".", "..").replace("/", ".S")


def _path(names):
    return "/".join(_escaped(name) for name in names)


def _with_slots(root):
    """(objects, the nearest first, then slots; {id: place in it}; their paths in
    a checkpoint; [(place of an optimizer, slot's name, variable, slot)])"""
    found, paths = _objects(root)
    numbers = {id(x): i for i, x in enumerate(found)}
    names = [_path(paths[id(x)]) for x in found]
    all_slots = []
    for owner, thing in enumerate(list(found)):
        made = slots(thing)
        order = {name: i for i, (name, _, _) in reversed(list(enumerate(made)))}
        made = sorted((s for s in made if id(s[1]) in numbers), key=lambda s: (
            order[s[0]], numbers[id(s[1])]))
        for name, variable, slot in made:
            if id(slot) in numbers:
                continue
            numbers[id(slot)] = len(found)
            found.append(slot)
            names.append("%s/.OPTIMIZER_SLOT/%s/%s" % (
                names[numbers[id(variable)]], names[owner], _escaped(name)))
            all_slots.append((owner, name, variable, slot))
    return found, numbers, names, all_slots


def list_objects(root_trackable):
    """What a checkpoint of `root_trackable` describes, in a list: the object,
    what it has, the nearest first, and the slots of optimizers for variables
    among them."""
    return _with_slots(root_trackable)[0]


def describe(root):
    """(TrackableObjectGraph, {key in a checkpoint: variable, PythonState or
    SaveableObject})."""
    found, numbers, names, all_slots = _with_slots(root)
    graph, keys = TrackableObjectGraph(), {}
    for number, thing in enumerate(found):
        node = graph.nodes.add()
        for name, child in children(thing):
            node.children.add(node_id=numbers[id(child)], local_name=name)
        if isinstance(thing, Variable):
            key = names[number] + _SUFFIX
            node.attributes.add(name=VALUE, full_name=thing._shared_name,
                                checkpoint_key=key)
            keys[key] = thing
        elif isinstance(thing, PythonState):
            key = names[number] + _STATE_SUFFIX
            node.attributes.add(name=_STATE, checkpoint_key=key)
            keys[key] = thing
        elif hasattr(thing, "_checkpoint_saveable"):
            key = names[number] + _ITERATOR_SUFFIX
            node.attributes.add(name=_ITERATOR, checkpoint_key=key)
            keys[key] = thing._checkpoint_saveable(key)
    for owner, name, variable, slot in all_slots:
        graph.nodes[owner].slot_variables.add(
            slot_name=name, original_variable_node_id=numbers[id(variable)],
            slot_variable_node_id=numbers[id(slot)])
    return graph, keys


class Match:
    """The objects below a root beside those of a checkpoint's graph.

    `values`: {key in the checkpoint: variable}; `states`: {key in the
    checkpoint: PythonState}; `missing`: what the checkpoint
    has a value for, and no object; `unbound`: objects that the checkpoint has
    not; `not_restored`: variables that it has no value for."""

    def __init__(self, root, graph):
        nodes = graph.nodes
        matched, todo = {0: root}, [0]
        while todo:
            number = todo.pop(0)
            have = dict(children(matched[number]))
            look_up = getattr(matched[number], "_lookup_dependency", None)
            for child in nodes[number].children:
                if child.node_id >= len(nodes) or child.node_id < 0:
                    raise ValueError("The checkpoint's graph of objects has no "
                                     "node %d" % child.node_id)
                found = have.get(child.local_name)
                if found is None and look_up is not None:
                    found = look_up(child.local_name)
                if child.node_id not in matched and found is not None:
                    matched[child.node_id] = found
                    todo.append(child.node_id)
        for number, thing in list(matched.items()):
            have = {(name, id(v)): slot for name, v, slot in slots(thing)}
            for slot in nodes[number].slot_variables:
                variable = matched.get(slot.original_variable_node_id)
                found = have.get((slot.slot_name, id(variable)))
                if variable is not None and found is not None:
                    matched[slot.slot_variable_node_id] = found
        self.values, self.states, self.missing = {}, {}, []
        for number, node in enumerate(nodes):
            thing = matched.get(number)
            for attribute in node.attributes:
                if isinstance(thing, Variable):
                    self.values[attribute.checkpoint_key] = thing
                elif isinstance(thing, PythonState):
                    self.states[attribute.checkpoint_key] = thing
                elif hasattr(thing, "_checkpoint_saveable"):
                    self.values[attribute.checkpoint_key] = (
                        thing._checkpoint_saveable(attribute.checkpoint_key))
                else:
                    self.missing.append(attribute.checkpoint_key)
        bound = {id(x) for x in matched.values()}
        found = _objects(root)[0]
        found += [slot for x in list(found) for _, v, slot in slots(x)]
        self.unbound = [x for x in found if id(x) not in bound
                        and not (isinstance(x, (list, dict))
                                 and not children(x))]
        restored = {id(x) for x in self.values.values()}
        self.not_restored = list({id(x): x for x in found
                                  if isinstance(x, Variable)
                                  and id(x) not in restored}.values())


class MatchByName:
    """The variables below a root beside the names of a checkpoint of
    tf.train.Saver. As Match; `optional`: a variable that may be missing."""

    def __init__(self, root, names, optional):
        variables = variables_of(root)
        self.values = {v._shared_name: v for v in variables
                       if v._shared_name in names}
        self.missing = sorted(set(names) - set(self.values))
        self.not_restored = [v for v in variables
                             if v._shared_name not in names]
        self.unbound = [v for v in self.not_restored if v is not optional]
