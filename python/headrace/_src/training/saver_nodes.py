"""The nodes by which a Saver saves and restores, and what they ask of a
checkpoint."""
import collections
import re
import uuid

from headrace import _headrace
from headrace import raw_ops as _raw
from headrace._src.control.control_flow_ops import group, with_dependencies
from headrace._src.framework import errors
from headrace._src.framework.tensor import constant, constant_value
from headrace._src.framework.graph import (
    colocate_with, control_dependencies, device, name_scope)
from headrace._src.framework.messages import SaverDef
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.variables.saveables import (
    SaveSpec, SaveableObject, op_list_to_dict, saveables, shape_of)


class BulkSaverBuilder:
    """Makes the nodes: all variables of a device are saved by one node and
    restored by one."""

    # As programs name them that derive classes.
    SaveSpec = SaveSpec
    SaveableObject = SaveableObject
    OpListToDict = staticmethod(op_list_to_dict)

    def __init__(self, write_version=SaverDef.V2):
        self._write_version = write_version

    def _build_internal(self, names_to_saveables, reshape=False, sharded=False,
                        max_to_keep=5, keep_checkpoint_every_n_hours=10000.0,
                        name=None, restore_sequentially=False,
                        filename="model", build_save=True, build_restore=True):
        """The SaverDef with the names of new nodes in the default graph. One
        node reads all, so restore_sequentially makes no difference."""
        del restore_sequentially
        items = saveables(names_to_saveables)
        with name_scope(name, "save", [s.op for s in items]):
            default = constant(filename or "model", name="filename/input")
            path = _raw.PlaceholderWithDefault(default, [], name="filename")
            path = _raw.PlaceholderWithDefault(path, [], name="Const")
            save = restore = None
            shards = _by_device(items) if sharded else [(None, items)]
            if build_save:
                save = (self._save_shards(path, shards) if sharded
                        else self._save(path, items))
            if build_restore:
                restore = self._restore(path, shards, sharded, reshape)
        return SaverDef(
            filename_tensor_name=path.name,
            save_tensor_name=save.name if build_save else "",
            restore_op_name=restore.name if build_restore else "",
            max_to_keep=max_to_keep or 0, sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version)

    def _save(self, path, items):
        """`path`, there once the tensors are written."""
        specs = [spec for item in items for spec in item.specs]
        names = [spec.name for spec in specs]
        slices = [spec.slice_spec for spec in specs]
        tensors = [spec.tensor for spec in specs]
        if self._write_version == SaverDef.V2:
            save = _raw.SaveV2(path, names, slices, tensors)
        else:
            save = _raw.SaveSlices(path, names, slices, tensors, name="save")
        with colocate_with(path):
            return with_dependencies([save], path)

    def _save_shards(self, path, shards):
        v2 = self._write_version == SaverDef.V2
        prefix = path
        if v2:
            prefix = _raw.StringJoin(
                [path, "_temp_%s/part" % uuid.uuid4().hex])
        number = constant(len(shards), name="num_shards")
        files, done = [], []
        for i, (where, items) in enumerate(shards):
            with device(_on_cpu(where) if v2 else where):
                files.append(_raw.ShardedFilename(prefix, i, number))
                done.append(self._save(files[-1], items).op)
        if not v2:
            with control_dependencies(done):
                return _raw.ShardedFilespec(path, number)
        with device(_on_cpu(shards[-1][0])):
            with control_dependencies(done):
                merge = _raw.MergeV2Checkpoints(files, path,
                                                delete_old_dirs=True)
                with control_dependencies([merge]):
                    return _raw.Identity(path)

    @staticmethod
    def _restore(path, shards, sharded, reshape):
        """The operation that restores all."""
        parts = []
        for where, items in shards:
            with device(where):
                assigned = _restore_items(path, items, reshape)
                if sharded:
                    parts.append(group(*assigned, name="restore_shard"))
                else:
                    parts += assigned
        return group(*parts, name="restore_all")


def _restore_items(path, items, reshape):
    specs = [spec for item in items for spec in item.specs]
    values = []
    if specs:
        with device("/device:CPU:0"):
            values = _raw.RestoreV2(path, [s.name for s in specs],
                                    [s.slice_spec for s in specs],
                                    [s.dtype for s in specs])
    values, assigned = iter(values), []
    for item in items:
        tensors = [next(values) for _ in item.specs]
        shapes = None
        if reshape and hasattr(item.op, "get_shape"):
            shapes = [shape_of(item)]
        assigned.append(item.restore(tensors, shapes))
    return assigned


def _by_device(items):
    """[(device, saveables)], by the name of the device."""
    shards = collections.defaultdict(list)
    for item in items:
        shards[_headrace.merge_devices("", item.device or "")].append(item)
    return sorted(shards.items())


def _on_cpu(where):
    """The first CPU of the task of a device."""
    task = re.sub(r"/device:.*", "", where or "")
    return task + "/device:CPU:0"


# What the nodes that restore ask of a checkpoint.

class _Wanted:
    """A tensor that RestoreV2 gives: its name in the checkpoint, type, whole shape (None: any), the slice
    (""; or as SaveV2 spells it), whether only the number of elements must
    agree."""

    def __init__(self, tensor, key, shape, spec, reshaped):
        self.tensor = tensor
        self.key = key
        self.dtype = tensor.dtype
        self.shape = shape
        self.spec = spec
        self.reshaped = reshaped


def _assigned_shapes(op):
    """{(RestoreV2, output): (shape, reshaped)} of what `op` assigns."""
    value, reshaped = op.inputs[1], False
    while value.op.type in ("Reshape", "Identity"):
        reshaped = reshaped or value.op.type == "Reshape"
        value = value.op.inputs[0]
    if value.op.type != "RestoreV2":
        return {}
    target = op.inputs[0]
    if op.type == "AssignVariableOp":
        shape = (TensorShape(target.op._attr("shape"))
                 if target.op.type == "VarHandleOp" else TensorShape(None))
    else:
        shape = target.get_shape()
        if not op.get_attr("validate_shape") and not reshaped:
            shape = TensorShape(None)
    return {(value.op._id, value.value_index): (shape, reshaped)}


def wanted_of(restore_op):
    """The _Wanted tensors of the nodes before `restore_op`."""
    shapes, readers, seen, left = {}, [], set(), [restore_op]
    while left:
        op = left.pop()
        if op._id in seen:
            continue
        seen.add(op._id)
        if op.type in ("Assign", "AssignVariableOp"):
            shapes.update(_assigned_shapes(op))
        elif op.type == "RestoreV2":
            readers.append(op)
        left += op.control_inputs
        left += [t.op for t in op.inputs]
    found = []
    for op in readers:
        keys, specs = (constant_value(t) for t in op.inputs[1:3])
        if keys is None or specs is None:
            continue  # computed in the run
        for i, (key, spec) in enumerate(zip(keys, specs)):
            shape, reshaped = shapes.get((op._id, i),
                                         (TensorShape(None), False))
            found.append(_Wanted(op.outputs[i], key.decode(), shape,
                                 spec.decode(), reshaped))
    return sorted(found, key=lambda w: w.key)


def _show(dtype, dims):
    return "%s %s" % (dtype.name, "?" if dims is None else "[%s]" % ", ".join(
        "?" if d is None else str(d) for d in dims))


def _problem(wanted, entries):
    """(problem, what the graph wants, what the checkpoint has), or None."""
    dims = wanted.shape.as_list() if wanted.shape.ndims is not None else None
    if wanted.spec:
        dims = [int(d) for d in wanted.spec.split()[:-1]]
    ours = _show(wanted.dtype, dims)
    if wanted.key not in entries:
        return "not found in checkpoint", ours, "-"
    dtype, shape = entries[wanted.key]
    theirs = _show(dtype, shape)
    if dtype != wanted.dtype:
        return "another type", ours, theirs
    if dims is None:
        return None
    have, want = TensorShape(shape), TensorShape(dims)
    if wanted.reshaped and not wanted.spec:
        if want.is_fully_defined() and (
                have.num_elements() != want.num_elements()):
            return "another number of elements", ours, theirs
    elif not want.is_compatible_with(have):
        return "another shape", ours, theirs
    return None


def check_fits(restore_op, path, entries):
    """Raises for what the nodes before `restore_op` would not find in the
    checkpoint, with a table: NotFoundError if a tensor is missing, else
    InvalidArgumentError. `entries`: {name: (DType, shape)}."""
    wanted = wanted_of(restore_op)
    rows = [(w.key, *found) for w in wanted
            for found in [_problem(w, entries)] if found]
    if not rows:
        return
    rows = sorted(set(rows))
    missing = [row for row in rows if row[1] == "not found in checkpoint"]
    text = ["Restoring from checkpoint failed. This is most likely due to a %s. "
            "%s does not fit the graph. No variable was changed." % (
                "Variable name or other graph key that is missing from the "
                "checkpoint" if missing else "mismatch between the current "
                "graph and the graph from the checkpoint", path)]
    head = ("name", "problem", "graph", "checkpoint")
    widths = [max(len(row[i]) for row in [head] + rows) for i in range(4)]
    text += ["  " + "  ".join(
        cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
        for row in [head] + rows]
    unused = sorted(set(entries) - {w.key for w in wanted})
    text += ["Key %s not found in checkpoint" % row[0] for row in missing]
    if unused:
        text.append("The checkpoint also has: %s%s" % (
            ", ".join(unused[:10]),
            " and %d more" % (len(unused) - 10) if len(unused) > 10 else ""))
    kind = (errors.NotFoundError if missing else errors.InvalidArgumentError)
    raise kind(None, restore_op, "\n".join(text))
